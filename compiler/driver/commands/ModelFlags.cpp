// Declares the flags that concern the model, which are the same for every subcommand that compiles one.
#include "compiler/driver/commands/ModelFlags.h"
#include "compiler/driver/commands/Goals.h"
#include "compiler/driver/execution/Manifest.h"
#include "compiler/support/Sequences.h"
#include <algorithm>
#include <charconv>

namespace ingot::driver {
namespace {

using Texts = std::vector<std::string>;

/// Splits "NAME=TEXT" at the last '=', since names of values may hold one.
std::pair<std::string, std::string> splitAssignment(const std::string &flag, const std::string &text,
                                                    const char *form) {
  size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    throw CLI::ValidationError(flag, "'" + text + "' is not of the form " + form);
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

int64_t parseSize(const std::string &flag, const std::string &whole, std::string_view text) {
  int64_t value = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    throw CLI::ValidationError(flag, "'" + whole + "': '" + std::string(text) + "' is not a size");
  }
  return value;
}

/// Parses "A..B" or "A..".
pipeline::RequestedBounds parseRange(const std::string &whole, std::string_view text) {
  size_t dots = text.find("..");
  pipeline::RequestedBounds bounds{parseSize("--dim", whole, text.substr(0, dots)), std::nullopt};
  if (std::string_view most = text.substr(dots + 2); !most.empty()) {
    bounds.most = parseSize("--dim", whole, most);
  }
  if (bounds.most && bounds.least > *bounds.most) {
    throw CLI::ValidationError("--dim", "'" + whole + "': the range is empty");
  }
  return bounds;
}

/// Parses "64,128,512", perhaps with "*" or a range at the end for all other sizes; "*" alone: no size has a variant of
/// its own.
void parseChoice(const std::string &name, const std::string &whole, std::string_view text, pipeline::Options &options) {
  pipeline::SpecializedSizes choice;
  for (size_t begin = 0; begin <= text.size();) {
    std::string_view item = text.substr(begin, std::min(text.find(',', begin), text.size()) - begin);
    begin += item.size() + 1;
    bool isRange = item.find("..") != std::string_view::npos;
    if (choice.others) {
      throw CLI::ValidationError("--dim", "'" + whole + "': '*' or a range stands for all other sizes, at the end");
    }
    choice.others = isRange || item == "*";
    if (isRange) {
      options.bounds.emplace(name, parseRange(whole, item));
    } else if (!choice.others) {
      choice.sizes.push_back(parseSize("--dim", whole, item));
    }
  }
  std::sort(choice.sizes.begin(), choice.sizes.end());
  choice.sizes.erase(std::unique(choice.sizes.begin(), choice.sizes.end()), choice.sizes.end());
  if (!choice.others) {
    options.bounds.emplace(name, pipeline::RequestedBounds{choice.sizes.front(), choice.sizes.back()});
  }
  options.choices.emplace(name, std::move(choice));
}

void parseDim(const std::string &text, pipeline::Options &options) {
  auto [name, value] = splitAssignment("--dim", text, "NAME=SIZE");
  if (options.dims.count(name) || options.bounds.count(name) || options.choices.count(name)) {
    throw CLI::ValidationError("--dim", "dimension '" + name + "' is given twice");
  }
  if (value == "*" || value.find(',') != std::string::npos) {
    parseChoice(name, text, value, options);
  } else if (value.find("..") != std::string::npos) {
    pipeline::RequestedBounds bounds = parseRange(text, value);
    if (bounds.least == bounds.most) {
      options.dims.emplace(name, bounds.least);
    } else {
      options.bounds.emplace(name, bounds);
    }
  } else {
    options.dims.emplace(name, parseSize("--dim", text, value));
  }
}

void parseShape(const std::string &text, pipeline::Options &options) {
  auto [name, value] = splitAssignment("--shape", text, "INPUT=1x3x224x224");
  std::vector<int64_t> dims;
  for (size_t begin = 0; begin < value.size() || (begin > 0 && begin == value.size());) {
    size_t end = std::min(value.find('x', begin), value.size());
    dims.push_back(parseSize("--shape", text, std::string_view(value).substr(begin, end - begin)));
    begin = end + 1;
  }
  if (!options.shapes.emplace(name, dims).second) {
    throw CLI::ValidationError("--shape", "input '" + name + "' is given twice");
  }
}

void parseSequence(const std::string &text, pipeline::Options &options) {
  auto [name, value] = splitAssignment("--sequence", text, "INPUT=3");
  int64_t length = value == "none" ? support::absentLength : parseSize("--sequence", text, value);
  if (!options.sequences.emplace(name, length).second) {
    throw CLI::ValidationError("--sequence", "input '" + name + "' is given twice");
  }
}

/// Adds "dtcm=64K@1" to the memories; one without a number of cycles takes twice as many as the one before. Returns
/// what is wrong with the text; nothing where it is right.
std::string addMemory(llvm::StringRef text, std::vector<plan::MemoryInfo> &memories) {
  constexpr size_t mostMemories = 8;
  constexpr int64_t mostCycles = 1000000;
  auto [name, rest] = text.split('=');
  auto [amount, speed] = rest.split('@');
  if (!isIdentifier(name)) {
    return "'" + name.str() + "' is no identifier of C; a memory is NAME=BYTES, such as dtcm=64K";
  }
  if (llvm::any_of(memories, [&](const plan::MemoryInfo &other) { return name.equals_insensitive(other.name); })) {
    return "memory '" + name.str() + "' is given twice";
  }
  std::optional<int64_t> bytes = parseAmount(amount, 1024), cycles = parseAmount(speed, 1000);
  if (!bytes) {
    return "'" + amount.str() + "' is no number of bytes, such as 65536, 64K or 1M";
  }
  if (rest.contains('@') && (!cycles || *cycles < 1 || *cycles > mostCycles)) {
    return "'" + speed.str() + "' is no number of cycles from 1 to " + std::to_string(mostCycles);
  }
  if (memories.size() == mostMemories) {
    return "there are more than " + std::to_string(mostMemories) + " memories";
  }
  plan::MemoryInfo memory;
  memory.name = name.str(), memory.mostBytes = *bytes;
  memory.wordCycles = cycles.value_or(memories.empty() ? 1 : std::min(2 * memories.back().wordCycles, mostCycles));
  memories.push_back(std::move(memory));
  return "";
}

constexpr support::Word<bool> kPartitions[] = {{false, "greedy", "all that they take"},
                                               {true, "cost", "what gains more than its copies cost, by estimate"}};

/// Returns what is wrong with a model's name; nothing where it will do.
std::string wrongName(const std::string &name) {
  if (name == "ingot") {
    return "'ingot' is the support library's own name";
  }
  return isIdentifier(name) ? "" : "'" + name + "' is no identifier of C";
}

std::vector<std::string> phaseNames() {
  std::vector<std::string> names;
  for (const pipeline::PhaseInfo &phase : pipeline::phases()) {
    names.push_back(phase.name);
  }
  return names;
}

std::string phaseList() {
  std::string text;
  for (const pipeline::PhaseInfo &phase : pipeline::phases()) {
    text += (text.empty() ? "" : ", ") + phase.name;
  }
  return text;
}
/// Adds an option whose values are assignments, each of the form `form`, that are added to `all`.
CLI::Option *addAssignments(CLI::App &app, const char *flag, const char *form,
                            std::vector<std::pair<std::string, std::string>> &all, const char *description) {
  auto add = [flag, form, &all](const Texts &texts) {
    for (const std::string &text : texts) {
      all.push_back(splitAssignment(flag, text, form));
    }
  };
  return repeated(app.add_option_function<Texts>(flag, add, description));
}

/// Adds a flag that may be repeated, each text of which is parsed into the options.
CLI::Option *addParsed(CLI::App &app, const char *flag, void (*parse)(const std::string &, pipeline::Options &),
                       pipeline::Options &options, const char *help) {
  auto each = [parse, &options](const Texts &texts) {
    for (const std::string &text : texts) {
      parse(text, options);
    }
  };
  return repeated(app.add_option_function<Texts>(flag, each, help));
}

} // namespace

std::string WordList::sentence(const std::string &what, const std::string &standard) const {
  std::string text = what + ": ";
  for (size_t i = 0; i < meanings.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == meanings.size() ? " or " : ", ") + meanings[i];
  }
  return text + "; default: " + standard;
}

CLI::Option *repeated(CLI::Option *option) { return option->allow_extra_args(false)->take_all(); }

void addLoadTarget(CLI::App &app, Invocation &invocation) {
  repeated(app.add_option("--load-target", invocation.model.plugIns,
                          "A shared object with a target of its own (docs/first-target.md); may be repeated"))
      ->group("Target")
      ->type_name("FILE.so");
}

void beginGroup(CLI::App &app, const char *title) { app.option_defaults()->group(title); }

namespace {

void addSizes(CLI::App &app, pipeline::Options &options) {
  beginGroup(app, "Model");
  app.add_option("--name", options.name, "C name of the model, prefix of all its symbols; default: from the file name")
      ->check(CLI::Validator(wrongName, ""))
      ->type_name("NAME");
  addParsed(app, "--dim", parseDim, options,
            "Fix a symbolic dimension, which each run chooses otherwise, bound it (A..B, A..), or make variants for "
            "some sizes (A,B,C) and, with * or a range behind them, for all others; * alone: no size has a variant of "
            "its own; may be repeated")
      ->type_name("NAME=SIZE|A..B|A,B,...");
  app.add_flag("--independent-dims{*}", options.independentDims,
               "Axes that the model calls NAME may have different sizes, unless its operators need them equal; without "
               "=NAME, axes of all names; may be repeated")
      ->type_name("[=NAME]");
  addParsed(app, "--shape", parseShape, options, "Fix the shape of an input; may be repeated")
      ->type_name("INPUT=1x3x224x224");
  addParsed(app, "--sequence", parseSequence, options,
            "How many tensors an input has that is a sequence; they are inputs called 'INPUT[0]', 'INPUT[1]', ...; "
            "may be repeated")
      ->type_name("INPUT=3");
  addAssignments(app, "--cache", "INPUT=OUTPUT", options.caches,
                 "An output that continues an input (past.*=present.*) is the same memory, with room for rows to come")
      ->type_name("INPUT=OUTPUT");
  app.add_option("--cache-room", options.cacheRoom, "Rows that caches have room for; default: each run says")
      ->check(CLI::NonNegativeNumber)
      ->type_name("ROWS");
  repeated(app.add_option("--last-row", options.lastRows,
                          "Compute only the last row (along the last axis but one) of an output, such as the scores "
                          "of the next token; may be repeated"))
      ->type_name("OUTPUT");

  app.add_option("--patches", options.patches,
                 "Let the first layers compute their maps in N parts of rows, one after the other, in less memory and "
                 "more time; default: 1, or as few as `compile --budget ram=BYTES` or --memories take")
      ->check(CLI::Range(1, 64))
      ->type_name("N");

  auto setMemories = [&options](const Texts &texts) {
    for (const std::string &text : texts) {
      if (std::string wrong = addMemory(text, options.memories); !wrong.empty()) {
        throw CLI::ValidationError("--memories", "'" + text + "': " + wrong);
      }
    }
  };
  repeated(
      app.add_option_function<Texts>(
          "--memories", setMemories,
          "Memories that share the workspace, the fastest first, each with its size and perhaps the cycles of a word: "
          "dtcm=64K@1,sram=256K@2; a run takes a part of each. K and M are 1024 and 1024 * 1024 bytes; without "
          "cycles a memory takes twice those of the one before"))
      ->delimiter(',')
      ->type_name("NAME=BYTES[@CYCLES],...");

  addAssignments(app, "--bind", "NAME=DEVICE", options.bindings,
                 "The caller has this input or output in the memory of a device; may be repeated")
      ->type_name("NAME=DEVICE");
}

/// Adds the flags for machines, and for which nodes run on which.
void addPlaces(CLI::App &app, Invocation &invocation) {
  pipeline::Options &options = invocation.model;
  beginGroup(app, "Target");
  repeated(app.add_option("--target", options.targets,
                          "Where to run, in order of preference; default: native. See `ingot targets`"))
      ->delimiter(',')
      ->type_name("T,...");
  addLoadTarget(app, invocation);
  repeated(
      app.add_option("--levels", options.levels,
                     "Levels of machines (`ingot targets`), with a variant for each in one library; a run takes the "
                     "highest that its machine has; instead of --target"))
      ->delimiter(',')
      ->type_name("T,...");
  app.add_option("--triple", options.triple,
                 "System and object format that the code is for, as LLVM names them: arm64-apple-macos, "
                 "aarch64-windows-msvc; default: Linux")
      ->type_name("TRIPLE");
  app.add_flag_callback(
      "--no-fallback", [&options] { options.fallback = false; }, "Fail where a node cannot run on the first target");
  app.add_flag("--with-host-fallback", options.hostFallback,
               "Code for the host alone as well, for runs where a target with a memory of its own is missing");
  addWord<bool>(app, "--partition", options.byCost, "What targets with memories of their own keep", "", kPartitions)
      ->type_name("HOW");
  addAssignments(app, "--require", "T=Conv,MatMul", options.demands,
                 "Fail where one of these operators does not run on the target; may be repeated")
      ->type_name("T=OP,...");
  app.add_option("--placement", options.placementFile,
                 "File with a target for nodes: a line for each, with its name or a glob and the target")
      ->type_name("FILE");
  app.add_flag_callback(
      "--no-allocate", [&options] { options.allocate = false; },
      "Fail where only the run can tell how much memory a node needs (ingot_exec.allocate)");
}

/// Adds an option for a number of bytes.
void addBytes(CLI::App &app, const char *flag, std::optional<int64_t> &bytes, const char *help) {
  auto set = [flag, &bytes](const std::string &text) {
    bytes = parseAmount(text, 1024);
    if (!bytes) {
      throw CLI::ValidationError(flag, "'" + text + "' is no number of bytes, such as 512 or 4K");
    }
  };
  app.add_option_function<std::string>(flag, set, help)->type_name("BYTES");
}

/// Adds the flags that say how kernels are computed.
void addArithmetic(CLI::App &app, Invocation &invocation) {
  pipeline::Options &options = invocation.model;
  beginGroup(app, "Target");
  addGoal(app, invocation.goal);
  addWord(app, "--accuracy", options.accuracy, "Freedom of arithmetic")->type_name("POLICY");
  const char *faster = "where it is expected to be faster";
  addWord(app, "--winograd", options.winograd, "3x3 convolutions by Winograd's algorithm", faster)->type_name("HOW");
  addWord(app, "--strassen", options.strassen, "Products of many rows with a constant matrix by Strassen's algorithm",
          faster)
      ->type_name("HOW");
  addWord(app, "--split-floats", options.splitFloats,
          "Products of float32 with constants in matrix registers (AMX), each factor as the sum of bfloat16", faster)
      ->type_name("HOW");
  addWord(app, "--chains", options.chains,
          "Convolutions and what follows as one kernel that goes over the image in strips of rows", faster)
      ->type_name("WHERE");
  addWord(app, "--weights", options.weights, "Where the weights go")->type_name("PLACE");
  addBytes(
      app, "--stream-least", options.leastStreamed,
      "Of --weights stream: the bytes of the smallest constants that a run reads; smaller ones stay in the object; "
      "default: 512");
  addBytes(app, "--stream-buffer", options.streamBuffer,
           "Of --weights stream: bytes of the workspace that these weights may take at one time; default: what two "
           "kernels take, one of which runs while those of the next one are read");

  addWord(app, "--optimize", options.optimize, "What code is made for")->type_name("AIM");
  addWord(app, "--symbols", options.symbols, "Functions outside that an object may refer to")->type_name("WHICH");
  app.add_option("--flash-wait-states", options.flashWaitStates,
                 "Cycles that a read of a microcontroller's flash waits, which the estimate of a run's cycles counts; "
                 "default: 0")
      ->check(CLI::Range(0, 1000))
      ->type_name("N");

  app.add_option("--tuning", options.tuningFile,
                 "Schedules that `ingot tune` measured, for the kernels that they were measured of")
      ->type_name("FILE");

  app.add_option("--jobs,-j", options.jobs,
                 "Threads that make code, which is the same whatever their number; 0: one for each processor; "
                 "default: 0")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
}

void addLooking(CLI::App &app, Invocation &invocation) {
  pipeline::Options &options = invocation.model;
  beginGroup(app, "Looking inside");
  std::string phases = "; phases: " + phaseList();
  repeated(app.add_option("--dump-after", options.dumpAfter, "Print the IR after these phases to stderr"))
      ->delimiter(',')
      ->check(CLI::IsMember(phaseNames()))
      ->type_name("PHASE,...");
  app.add_option("--stop-after", options.stopAfter, "Stop after a phase and print the IR to stdout" + phases)
      ->check(CLI::IsMember(phaseNames()))
      ->type_name("PHASE");
  app.add_flag("--verbose", options.verbose, "Say for which kernels the file of --tuning has no schedule")
      ->needs(app.get_option("--tuning"));
  app.add_flag("--remarks{*}", options.remarks,
               "Say which algorithm computes the kernel of a node, and what else there was; without =NODE, of all "
               "kernels that "
               "tell one; may be repeated")
      ->type_name("[=NODE]");
  app.add_flag("--timing", invocation.timing, "Print the time of each phase to stderr");
  app.add_flag("--json", invocation.json, "Print one JSON object instead of text");
}

} // namespace

void addModelFlags(CLI::App &app, Invocation &invocation, const char *modelHelp) {
  app.add_option("model", invocation.model.modelPath, modelHelp)->required()->type_name("FILE");
  addSizes(app, invocation.model);
  addPlaces(app, invocation);
  addArithmetic(app, invocation);
  addLooking(app, invocation);
}

std::vector<std::string> givenCompileFlags(const CLI::App &app) {
  Invocation unused;
  CLI::App compiles("", "");
  addModelFlags(compiles, unused, "");
  Texts given;
  for (const CLI::Option *flag : std::as_const(compiles).get_options()) {
    std::string name = flag->get_name();
    bool compilesOnly = !flag->get_positional() && name != "--help" && name != "--json";
    const CLI::Option *option = compilesOnly ? app.get_option_no_throw(name) : nullptr;
    if (option && option->count()) {
      given.push_back(name);
    }
  }
  return given;
}

} // namespace ingot::driver
