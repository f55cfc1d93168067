#include "compiler/driver/commands/Reproduce.h"
#include "compiler/support/Sequences.h"
#include "compiler/target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace ingot::driver {
namespace {

namespace path = llvm::sys::path;

/// The names of the files of --placement and --tuning, beside the model.
const char *const placementName = "placement.txt", *const tuningName = "tuning.txt";

std::string baseName(const std::string &file) { return path::filename(file).str(); }

/// Returns a flag with its value.
std::string flag(const std::string &name, const std::string &value) { return " " + name + " " + shellQuoted(value); }

/// Returns a flag with the word of its value; nothing for a default that has none.
template <typename Value> std::string wordFlag(const char *name, Value value) {
  std::string word = support::wordOf(value);
  return word.empty() ? "" : flag(name, word);
}

/// Returns the flags of machines as this host knows them: another one takes the CPU's name for `native`.
std::string machineFlags(const pipeline::Options &options) {
  std::string triple = options.triple.empty() ? "" : flag("--triple", options.triple);
  if (!options.levels.empty()) {
    return triple + flag("--levels", llvm::join(options.levels, ","));
  }
  std::string text = triple + " --target ", cpu = target::hostCpu();
  std::string native =
      R"("$(case $("$ingot" targets) in "this host: )" + cpu + R"(,"*) echo native;; *) echo )" + cpu + ";; esac)\"";
  for (const std::string &spec : options.targets) {
    text += (text.back() == ' ' ? "" : ",") + (spec == "native" ? native : shellQuoted(spec));
  }
  return options.targets.empty() ? text + native : text;
}

std::string rangeText(const pipeline::RequestedBounds &bounds) {
  return std::to_string(bounds.least) + ".." + (bounds.most ? std::to_string(*bounds.most) : "");
}

std::string sizeFlags(const pipeline::Options &options) {
  std::string text;
  for (const auto &[name, size] : options.dims) {
    text += flag("--dim", name + "=" + std::to_string(size));
  }
  for (const std::string &name : options.independentDims) {
    text += " --independent-dims" + (name == "*" ? "" : "=" + shellQuoted(name));
  }
  for (const auto &[name, shape] : options.shapes) {
    std::string dims = llvm::join(llvm::map_range(shape, [](int64_t size) { return std::to_string(size); }), "x");
    text += flag("--shape", name + "=" + dims);
  }
  for (const auto &[name, length] : options.sequences) {
    text += flag("--sequence", name + "=" + (length == support::absentLength ? "none" : std::to_string(length)));
  }
  for (const auto &[name, choice] : options.choices) {
    auto bounds = options.bounds.find(name);
    std::string list =
        llvm::join(llvm::map_range(choice.sizes, [](int64_t size) { return std::to_string(size); }), ",");
    if (choice.others) {
      list += (list.empty() ? "" : ",") + (bounds == options.bounds.end() ? "*" : rangeText(bounds->second));
    } else if (choice.sizes.size() == 1) {
      list += "," + list;
    }
    text += flag("--dim", name + "=" + list);
  }
  for (const auto &[name, bounds] : options.bounds) {
    text += options.choices.count(name) ? "" : flag("--dim", name + "=" + rangeText(bounds));
  }
  for (const auto &[input, output] : options.caches) {
    text += flag("--cache", input + "=" + output);
  }
  for (const auto &[name, device] : options.bindings) {
    text += flag("--bind", name + "=" + device);
  }
  for (const std::string &output : options.lastRows) {
    text += flag("--last-row", output);
  }
  return options.cacheRoom < 0 ? text : text + flag("--cache-room", std::to_string(options.cacheRoom));
}

/// Adds the files of a folder with data as files of `to`.
void addData(Reproduction &reproduction, const std::string &folder, const std::string &to) {
  std::error_code error;
  llvm::sys::fs::directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    llvm::StringRef name = path::filename(entry->path());
    if ((name.starts_with("input_") || name.starts_with("output_")) && name.ends_with(".pb")) {
      reproduction.files.push_back({to + "/" + name.str(), entry->path()});
    }
  }
  llvm::sort(reproduction.files, [](const auto &a, const auto &b) { return a.name < b.name; });
}

} // namespace

Reproduction reproductionOf(const pipeline::Options &options, const std::map<std::string, std::string> &external) {
  Reproduction made;
  made.files.push_back({baseName(options.modelPath), options.modelPath});
  for (const auto &[name, file] : external) {
    made.files.push_back({name, file});
  }
  made.words = "compile " + shellQuoted(baseName(options.modelPath)) + " -o out";
  made.words += options.name.empty() ? "" : flag("--name", options.name);
  for (const std::string &file : options.plugIns) {
    made.files.push_back({baseName(file), file});
    made.words += flag("--load-target", baseName(file));
  }
  made.words += sizeFlags(options) + machineFlags(options);
  made.words += options.fallback ? "" : " --no-fallback";
  made.words += options.hostFallback ? " --with-host-fallback" : "";
  made.words += options.byCost ? "" : " --partition greedy";
  for (const auto &[target, operators] : options.demands) {
    made.words += flag("--require", target + "=" + operators);
  }
  if (!options.placementFile.empty()) {
    made.files.push_back({placementName, options.placementFile});
    made.words += flag("--placement", placementName);
  }
  if (!options.tuningFile.empty()) {
    made.files.push_back({tuningName, options.tuningFile});
    made.words += flag("--tuning", tuningName);
  }
  made.words += options.allocate ? "" : " --no-allocate";
  made.words += wordFlag("--accuracy", options.accuracy) + wordFlag("--weights", options.weights) +
                wordFlag("--winograd", options.winograd) + wordFlag("--strassen", options.strassen) +
                wordFlag("--split-floats", options.splitFloats) + wordFlag("--chains", options.chains);
  made.words += options.leastStreamed ? flag("--stream-least", std::to_string(*options.leastStreamed)) : std::string();
  made.words += options.streamBuffer ? flag("--stream-buffer", std::to_string(*options.streamBuffer)) : std::string();
  made.words += options.optimize == emit::Optimize::Balanced ? "" : wordFlag("--optimize", options.optimize);
  for (const plan::MemoryInfo &memory : options.memories) {
    made.words += flag("--memories",
                       memory.name + "=" + std::to_string(memory.mostBytes) + "@" + std::to_string(memory.wordCycles));
  }
  made.words += options.symbols == emit::Symbols::Libraries ? "" : wordFlag("--symbols", options.symbols);
  made.words += options.patches > 0 ? flag("--patches", std::to_string(options.patches)) : std::string();
  made.words +=
      options.flashWaitStates ? flag("--flash-wait-states", std::to_string(options.flashWaitStates)) : std::string();
  std::string kinds =
      llvm::join(llvm::map_range(options.emit, [](emit::Kind kind) { return support::wordOf(kind); }), ",");
  made.words += kinds.empty() ? "" : flag("--emit", kinds);
  made.words += options.profile ? " --profile" : "";
  made.words += options.stopAfter.empty() ? "" : flag("--stop-after", options.stopAfter);
  return made;
}

Reproduction reproductionOf(const Invocation &invocation, int argc, const char *const *argv) {
  Reproduction made;
  // The names, in the folder of the reproducer, of what the command line names.
  std::map<std::string, std::string> names;
  const std::string &model = invocation.model.modelPath;
  if (!model.empty()) {
    names[model] = baseName(model);
    made.files.push_back({names[model], model});
  }
  for (const std::string &file : invocation.model.plugIns) {
    names[file] = baseName(file);
    made.files.push_back({names[file], file});
  }
  if (isManifest(model)) {
    std::string stem = model.substr(0, model.size() - 5);
    made.files.push_back({baseName(stem + ".so"), stem + ".so"});
    made.files.push_back({baseName(stem + ".weights"), stem + ".weights"});
  }
  if (const std::string &file = invocation.model.placementFile; !file.empty()) {
    names[file] = placementName;
    made.files.push_back({placementName, file});
  }
  if (const std::string &file = invocation.model.tuningFile; !file.empty()) {
    names[file] = tuningName;
    made.files.push_back({tuningName, file});
  }
  for (auto [i, folder] : llvm::enumerate(invocation.data)) {
    names[folder] = "data" + std::to_string(i);
    addData(made, folder, names[folder]);
  }
  for (auto [i, folder] : llvm::enumerate(invocation.out)) {
    names[folder] = "out" + std::to_string(i);
  }
  for (int i = 1; i < argc; ++i) {
    auto [option, value] = llvm::StringRef(argv[i]).split('=');
    auto whole = names.find(argv[i]), part = names.find(value.str());
    made.words += i > 1 ? " " : "";
    made.words += shellQuoted(whole != names.end()                              ? whole->second
                              : option.starts_with("--") && part != names.end() ? option.str() + "=" + part->second
                                                                                : argv[i]);
  }
  return made;
}

} // namespace ingot::driver
