#include "compiler/driver/commands/Budget.h"
#include "compiler/driver/ModelFacts.h"
#include "compiler/plan/Model.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::driver {
namespace {

/// A line of the table, with what it is made of.
struct Part {
  std::string what;
  int64_t bytes = 0;
  std::vector<Part> parts = {};
};

/// Sorts parts by size, the largest first, and then by name.
void sortParts(std::vector<Part> &parts) {
  llvm::sort(parts,
             [](const Part &a, const Part &b) { return std::pair(-a.bytes, a.what) < std::pair(-b.bytes, b.what); });
  llvm::for_each(parts, [](Part &part) { sortParts(part.parts); });
}

void print(llvm::raw_ostream &out, const std::vector<Part> &parts, unsigned indent) {
  constexpr size_t most = 8;
  llvm::ArrayRef<Part> shown = llvm::ArrayRef(parts).take_front(indent == 1 ? parts.size() : most);
  for (const Part &part : shown) {
    if (part.bytes > 0) {
      out << '\n'
          << std::string(2 * indent, ' ') << llvm::format("%12lld  ", static_cast<long long>(part.bytes)) << part.what;
      print(out, part.parts, indent + 1);
    }
  }
  if (parts.size() > shown.size()) {
    out << '\n' << std::string(2 * indent + 14, ' ') << "and " << parts.size() - shown.size() << " smaller ones";
  }
}

std::vector<Part> flashParts(const plan::ModelInfo &model, const emit::BuildSizes &sizes) {
  Part code{"code", sizes.code}, weights{"weights", model.weightBytes};
  for (const emit::FunctionSize &function : sizes.functions) {
    code.parts.push_back({function.name, function.bytes});
  }
  for (const plan::LaunchInfo &launch : model.launches) {
    if (launch.weightBytes.isNumber() && launch.weightBytes.number() > 0) {
      weights.parts.push_back({"read by " + launch.kernel, launch.weightBytes.number()});
    }
  }
  return {code,
          weights,
          {"constants, with the model's descriptor", sizes.constants},
          {"initial values of writable data", sizes.data}};
}

/// Returns the buffers of the workspace that live when most of it is used; of one memory, where its name is given.
std::vector<Part> buffersAtPeak(const pipeline::Result &result, llvm::StringRef memory = "") {
  auto isLive = [&](const pipeline::BufferLife &buffer, int step) {
    bool isThere = buffer.target.empty() && (memory.empty() || buffer.memory == memory);
    return isThere && buffer.first <= step && step <= buffer.last;
  };
  int64_t most = 0;
  std::vector<Part> at;
  for (const pipeline::BufferLife &begins : result.buffers) { // the peak is where some buffer begins
    int64_t sum = 0;
    std::vector<Part> parts;
    for (const pipeline::BufferLife &buffer : result.buffers) {
      if (isLive(buffer, begins.first)) {
        sum += buffer.bytes;
        parts.push_back({plainName(buffer.name), buffer.bytes});
      }
    }
    if (sum > most) {
      most = sum, at = std::move(parts);
    }
  }
  return at;
}

std::vector<Part> ramParts(const pipeline::Result &result, const plan::ModelInfo &model,
                           const emit::BuildSizes &sizes) {
  std::vector<Part> parts{
      {"workspace; its buffers where most are used at once", model.workspaceBytes, buffersAtPeak(result)},
      {"writable data", sizes.data + sizes.zeroed}};
  for (auto [kind, tensors] : {std::pair("input '", &model.inputs), {"output '", &model.outputs}}) {
    for (const plan::TensorInfo &tensor : *tensors) {
      parts.push_back({kind + plainName(tensor.name) + "', which the caller holds", emit::callerBytes(tensor, model)});
    }
  }
  return parts;
}

/// Returns the frames of the calls by which most is taken.
std::vector<Part> stackParts(const emit::StackBound &stack) {
  std::vector<Part> parts;
  parts.reserve(stack.path.size());
  for (const emit::FunctionSize &frame : stack.path) {
    parts.push_back({frame.name, frame.bytes});
  }
  return parts;
}

/// Returns what makes a model take less flash, of flags that it was not compiled with.
std::vector<std::string> flashHints(const pipeline::Options &options, const plan::ModelInfo &model,
                                    const emit::BuildSizes &sizes) {
  std::vector<std::string> hints;
  auto isWinograd = [](const plan::LaunchInfo &launch) {
    return llvm::StringRef(launch.choice).starts_with("winograd");
  };
  if (options.winograd != lower::Winograd::Off && llvm::any_of(model.launches, isWinograd)) {
    hints.push_back("--winograd off: weights of Winograd's algorithm take more room than the model's");
  }
  if (model.weightBytes > sizes.code) {
    hints.push_back("ingot quantize: int8 takes a quarter of float32's weights, --scheme int4 about an eighth");
  }
  if (options.weights == plan::WeightsPlace::Embed && model.weightBytes > sizes.code) {
    hints.push_back("--weights stream: a run reads them, from memory that need not have addresses");
  }
  if (model.weightsPlace == plan::WeightsPlace::Stream && model.weightBytes > sizes.code) {
    hints.push_back("--stream-least with fewer bytes: smaller constants are read, too");
  }
  if (options.profile) {
    hints.push_back("no --profile: its calls are code around every kernel");
  }
  if (options.levels.size() > 1) {
    hints.push_back("fewer --levels: each has code of its own");
  }
  if (!options.choices.empty()) {
    hints.push_back("--dim with fewer sizes: each of the list has code of its own");
  }
  return hints;
}

std::vector<std::string> ramHints(const pipeline::Options &options, const pipeline::Result &result,
                                  const plan::ModelInfo &model) {
  std::vector<std::string> hints;
  if (!model.symbols.empty()) {
    hints.push_back("--dim or --shape with smaller sizes or bounds");
  }
  auto isFloat = [](const plan::TensorInfo &tensor) { return tensor.type == 1; }; // ONNX's FLOAT
  if (llvm::any_of(model.inputs, isFloat)) {
    hints.push_back("ingot quantize --scheme int8: values between layers take a byte each");
  }
  if (model.streamBytes > 0) {
    hints.push_back("--stream-buffer with fewer bytes: the weights of two kernels at one time take up to " +
                    std::to_string(model.streamBytes) + " of the workspace, those of one take less");
    hints.push_back("--stream-least with more bytes: constants that are not read stay in flash");
  }
  if (options.patches == 1) {
    hints.push_back("without --patches 1 the first layers may compute their maps in parts, in more time");
  }
  if (result.leastPatches > 1) {
    hints.push_back("--patches " + std::to_string(result.leastPatches) +
                    " takes least of the numbers of patches that were tried: " + std::to_string(result.leastRam) +
                    " bytes of ram");
  }
  return hints;
}

/// Returns the part of the workspace in a memory, with its buffers.
std::vector<Part> memoryParts(const pipeline::Result &result, const plan::MemoryInfo &memory) {
  return {{"its part of the workspace; buffers where most are used at once", memory.workspaceBytes,
           buffersAtPeak(result, memory.name)}};
}

std::vector<Part> cycleParts(const emit::CycleEstimate &estimate) {
  std::vector<Part> parts;
  parts.reserve(estimate.functions.size());
  for (const emit::FunctionCycles &function : estimate.functions) {
    parts.push_back({function.name, function.cycles});
  }
  return parts;
}

std::vector<std::string> cycleHints(const plan::ModelInfo &model) {
  auto isOfFloats = [](const plan::LaunchInfo &launch) {
    return llvm::StringRef(launch.kernel).starts_with("conv") || llvm::StringRef(launch.kernel).starts_with("matmul");
  };
  bool helps = llvm::any_of(model.launches, isOfFloats);
  return helps ? std::vector<std::string>{"ingot quantize --scheme int8: products of bytes take a fraction of the time"}
               : std::vector<std::string>();
}

/// Returns why a budget of cycles cannot be compared with the estimate; empty: it can, or there is none.
std::string whyNoCycles(const Budget &budget, const plan::ModelInfo &model, const emit::CycleEstimate &estimate) {
  if (!budget.cycles) {
    return "";
  }
  bool isOther = !budget.core.empty() && budget.core != model.target;
  return isOther               ? "it is of " + budget.core + ", and the model is compiled for " + model.target
         : estimate.cycles < 0 ? estimate.why
                               : "";
}

/// Returns the message about something (such as "bytes of flash") of which a flag allows less than is taken, with its
/// table and hints; empty where it allows that.
std::string exceedsOne(const std::string &what, const std::string &flag, int64_t most, int64_t taken,
                       std::vector<Part> parts, const std::vector<std::string> &hints) {
  if (taken <= most) {
    return "";
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "takes " << taken << " " << what << ", which is " << taken - most << " more than " << flag << "=" << most
      << " allows; nothing was written";
  sortParts(parts);
  print(out, parts, 1);
  for (const std::string &hint : hints) {
    out << "\n  " << (&hint == &hints.front() ? "what may help: " : "               ") << hint;
  }
  return text;
}

} // namespace

std::optional<int64_t> parseAmount(llvm::StringRef text, int64_t thousand) {
  int64_t number = 0;
  int64_t unit = text.consume_back("K") ? thousand : text.consume_back("M") ? thousand * thousand : 1;
  if (text.empty() || !llvm::all_of(text, llvm::isDigit) || text.getAsInteger(10, number) ||
      number > INT64_MAX / unit) {
    return std::nullopt;
  }
  return number * unit;
}

std::string parseBudget(const std::string &text, Budget &budget) {
  auto [kind, amount] = llvm::StringRef(text).split('=');
  bool isTime = kind == "cycles";
  if (kind != "flash" && kind != "ram" && kind != "stack" && !isTime) {
    return "'" + text +
           "': a budget is flash=BYTES, ram=BYTES, stack=BYTES or cycles=NUMBER@TARGET, such as flash=256K";
  }
  llvm::StringRef core;
  if (isTime) {
    std::tie(amount, core) = amount.split('@');
  }
  std::optional<int64_t> number = parseAmount(amount, isTime ? 1000 : 1024);
  if (!number) {
    return "'" + text + "': '" + amount.str() + "' is no number of " +
           (isTime ? "cycles, such as 20M" : "bytes, such as 65536, 64K or 1M");
  }
  budget.core = isTime ? core.str() : budget.core;
  std::optional<int64_t> &most = kind == "flash"   ? budget.flash
                                 : kind == "ram"   ? budget.ram
                                 : kind == "stack" ? budget.stack
                                                   : budget.cycles;
  if (most) {
    return "the budget of " + kind.str() + " is given twice";
  }
  most = number;
  return "";
}

std::string exceeds(const Budget &budget, const pipeline::Options &options, const pipeline::Result &result,
                    const plan::ModelInfo &model, const emit::BuildSizes &sizes) {
  if (budget.ram && sizes.ram < 0) {
    return "--budget ram cannot be checked: " +
           std::string(model.makesStrings ? "nothing bounds the strings that a run makes"
                                          : "what a run takes depends on sizes of which no largest is known; fix or "
                                            "bound them with --dim or --shape") +
           "; nothing was written";
  }
  if (budget.stack && sizes.stack.bytes < 0) {
    return "--budget stack cannot be checked: " + sizes.stack.why + "; nothing was written";
  }
  if (std::string why = whyNoCycles(budget, model, sizes.cycles); !why.empty()) {
    return "--budget cycles cannot be checked: " + why + "; nothing was written";
  }
  std::vector<std::string> said;
  if (budget.flash) {
    said.push_back(exceedsOne("bytes of flash", "--budget flash", *budget.flash, sizes.flash, flashParts(model, sizes),
                              flashHints(options, model, sizes)));
  }
  if (budget.ram) {
    said.push_back(exceedsOne("bytes of ram", "--budget ram", *budget.ram, sizes.ram, ramParts(result, model, sizes),
                              ramHints(options, result, model)));
  }
  if (budget.stack) {
    said.push_back(
        exceedsOne("bytes of stack", "--budget stack", *budget.stack, sizes.stack.bytes, stackParts(sizes.stack), {}));
  }
  if (budget.cycles) {
    said.push_back(exceedsOne("cycles by estimate", "--budget cycles", *budget.cycles, sizes.cycles.cycles,
                              cycleParts(sizes.cycles), cycleHints(model)));
  }
  for (const plan::MemoryInfo &memory : model.memories) {
    said.push_back(exceedsOne("bytes of memory '" + memory.name + "'", "--memories " + memory.name, memory.mostBytes,
                              memory.workspaceBytes, memoryParts(result, memory), ramHints(options, result, model)));
  }
  llvm::erase_if(said, [](const std::string &text) { return text.empty(); });
  return llvm::join(said, "\n" + options.modelPath + ": error: ");
}

} // namespace ingot::driver
