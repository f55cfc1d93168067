// Runs `ingot inspect`, which prints first what the file says by itself, then what a compilation that writes nothing
// finds out.
#include "compiler/driver/Driver.h"
#include "compiler/driver/ModelFacts.h"
#include "compiler/driver/Text.h"
#include "compiler/driver/commands/Report.h"
#include "compiler/importer/ElementType.h"
#include "compiler/pipeline/Coverage.h"
#include "compiler/plan/SymbolBounds.h"
#include "compiler/report/Json.h"
#include "compiler/support/SymbolNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <set>
#include <tuple>

namespace ingot::driver {
namespace {

using llvm::json::fixUTF8;

std::vector<std::pair<std::string, int64_t>> opsByCount(const ModelFacts &facts) {
  std::vector<std::pair<std::string, int64_t>> ops(facts.ops.begin(), facts.ops.end());
  std::sort(ops.begin(), ops.end(),
            [](const auto &a, const auto &b) { return std::pair(-a.second, a.first) < std::pair(-b.second, b.first); });
  return ops;
}

/// Prints what a caller passes and a file holds in vain.
void printUnread(const ModelFacts &facts) {
  if (!facts.unreadInputs.empty() || !facts.unreadParameters.empty()) {
    llvm::outs() << "read by no node\n";
  }
  for (const std::string &input : facts.unreadInputs) {
    llvm::outs() << "  input " << plainName(input) << '\n';
  }
  for (const auto &[name, bytes] : facts.unreadParameters) {
    llvm::outs() << "  initializer " << plainName(name) << "  " << bytesText(bytes) << '\n';
  }
}

/// Returns the `most` constants with the most bytes.
llvm::ArrayRef<ConstantFacts> largestConstants(const ModelFacts &facts, int64_t most) {
  return llvm::ArrayRef(facts.constants).take_front(most);
}

void printLargestConstants(const ModelFacts &facts, int64_t most) {
  llvm::outs() << "largest constants\n";
  for (const ConstantFacts &constant : largestConstants(facts, most)) {
    llvm::outs() << "  " << plainName(constant.value.name) << "  " << constant.value.text() << "  "
                 << countText(constant.bytes) << " bytes, read by "
                 << (constant.readers.empty() ? "no node" : llvm::join(constant.readers, ", ")) << '\n';
  }
}

void printFacts(const ModelFacts &facts) {
  llvm::outs() << "ONNX IR " << facts.irVersion;
  for (const auto &[domain, version] : facts.opsets) {
    llvm::outs() << ", " << (domain.empty() ? "" : plainName(domain) + " ") << "opset " << version;
  }
  if (!facts.producer.empty()) {
    llvm::outs() << ", by " << plainName(facts.producer);
  }
  llvm::outs() << "\ninputs\n";
  for (const ValueFacts &input : facts.inputs) {
    llvm::outs() << "  " << plainName(input.name) << "  " << input.text() << '\n';
  }
  llvm::outs() << "outputs\n";
  for (const ValueFacts &output : facts.outputs) {
    llvm::outs() << "  " << plainName(output.name) << "  " << output.text() << '\n';
  }
  llvm::outs() << "parameters\n  " << countText(facts.parameters) << " in " << facts.parameterTensors << " tensors, "
               << bytesText(facts.parameterBytes) << "\nnodes\n";
  for (const auto &[op, count] : opsByCount(facts)) {
    llvm::outs() << llvm::format("  %6lld  ", (long long)count) << plainName(op) << '\n';
  }
  llvm::outs() << llvm::format("  %6lld  in all\n", (long long)facts.nodes);
  printUnread(facts);
}

/// Prints nodes and kernels by target, in the order of first appearance.
void printTargets(const pipeline::Result &result) {
  std::vector<std::pair<std::string, int64_t>> counts;
  for (const pipeline::NodePlacement &placement : result.placement) {
    auto found =
        std::find_if(counts.begin(), counts.end(), [&](const auto &entry) { return entry.first == placement.target; });
    if (found == counts.end()) {
      counts.push_back({placement.target, 0});
      found = counts.end() - 1;
    }
    ++found->second;
  }
  llvm::outs() << "targets (nodes after simplification)\n";
  for (const auto &[target, count] : counts) {
    llvm::outs() << llvm::format("  %6lld  ", (long long)count) << (target.empty() ? "nowhere" : target) << '\n';
  }
  printPlacements(llvm::outs(), fallbacks(result));
  printPieces(llvm::outs(), result);
  printTransfers(llvm::outs(), result, /*most=*/1000);
}

/// A symbol of the model that is a number here, and who decided that.
struct FixedSize {
  std::string name, decidedBy;
  int64_t value;
};

std::vector<FixedSize> fixedSizes(const ModelFacts &facts, const pipeline::Options &options,
                                  const pipeline::Result &result) {
  std::vector<FixedSize> fixed;
  auto isOpen = [&](const std::string &name) {
    return llvm::any_of(result.openSizes,
                        [&](const plan::SymbolInfo &size) { return support::symbolName(size.name) == name; });
  };
  auto add = [&](const std::string &name, int64_t value, const std::string &by) {
    if (llvm::none_of(fixed, [&](const FixedSize &size) { return size.name == name; })) {
      fixed.push_back({name, by, value});
    }
  };
  for (const auto &[name, value] : options.dims) {
    if (!isOpen(name)) {
      add(name, value, "--dim");
    }
  }
  for (const ValueFacts &input : facts.inputs) {
    auto given = options.shapes.find(input.name);
    if (given == options.shapes.end() || !input.shape) {
      continue;
    }
    for (auto [dim, value] : llvm::zip(*input.shape, given->second)) {
      if (!dim.symbol.empty() && !isOpen(dim.symbol)) {
        add(dim.symbol, value, "--shape " + input.name);
      }
    }
  }
  return fixed;
}

void printFixedSizes(const std::vector<FixedSize> &fixed) {
  llvm::outs() << "sizes that are fixed\n";
  for (const FixedSize &size : fixed) {
    llvm::outs() << "  " << plainName(size.name) << "  " << size.value << ", by " << plainName(size.decidedBy) << '\n';
  }
}

/// Prints how kernels are computed that tell it, each kernel once.
void printChoices(const pipeline::Result &result) {
  std::set<std::string> printed;
  for (const pipeline::GraphNode &launch : result.launches) {
    if (!launch.launch.choice.empty() && printed.insert(launch.name).second) {
      if (printed.size() == 1) {
        llvm::outs() << "algorithms" << (result.variant.empty() ? "" : " of the code for " + result.variant) << '\n';
      }
      llvm::outs() << "  " << plainName(launch.name) << " chosen: " << launch.launch.choice << '\n';
    }
  }
  llvm::for_each(result.variants, printChoices);
}

void writeChoices(llvm::json::OStream &json, const pipeline::Result &result) {
  for (const pipeline::GraphNode &launch : result.launches) {
    if (!launch.launch.choice.empty()) {
      json.object([&] {
        json.attribute("kernel", fixUTF8(launch.name));
        if (!result.variant.empty()) {
          json.attribute("body", fixUTF8(result.variant));
        }
        json.attribute("chosen", fixUTF8(launch.launch.choice));
      });
    }
  }
  for (const pipeline::Result &variant : result.variants) {
    writeChoices(json, variant);
  }
}

/// A kernel call and how much work it is.
struct LargeKernel {
  const pipeline::GraphNode *node;
  int64_t macs, bytes; ///< of one call, for some size of each axis that is open
};

/// Returns the `most` kernel calls of a variant with the most multiply-adds, then with the most bytes. Where sizes of
/// the model are open, they are compared at their bounds, or where they have none at `someSize`.
std::vector<LargeKernel> largestKernels(const pipeline::Result &model, const pipeline::Result &variant, int64_t most) {
  constexpr int64_t someSize = 128;
  auto some = [&](support::Symbol symbol) -> std::optional<int64_t> {
    if (symbol.kind() == support::SymbolKind::Presence) {
      return 1;
    }
    return plan::boundsOf(model.openSizes, symbol.text()).most.value_or(someSize);
  };
  std::vector<LargeKernel> kernels;
  kernels.reserve(variant.launches.size());
  for (const pipeline::GraphNode &node : variant.launches) {
    kernels.push_back(
        {&node, node.launch.macs.evaluate(some).value_or(0), node.launch.bytes.evaluate(some).value_or(0)});
  }
  std::sort(kernels.begin(), kernels.end(), [](const LargeKernel &a, const LargeKernel &b) {
    return std::tuple(-a.macs, -a.bytes, a.node) < std::tuple(-b.macs, -b.bytes, b.node); // equal ones: as they run
  });
  kernels.resize(std::min(kernels.size(), static_cast<size_t>(most)));
  return kernels;
}

/// Returns a size as a number, or as an expression of the open sizes.
std::string sizeText(const support::Size &size) {
  return size.isNumber() ? countText(size.number()) : plainName(size.text());
}

void printLargest(const pipeline::Result &model, const pipeline::Result &variant, int64_t most) {
  llvm::outs() << "largest kernels" << (variant.variant.empty() ? "" : " of the code for " + variant.variant) << '\n';
  for (const LargeKernel &kernel : largestKernels(model, variant, most)) {
    const plan::LaunchInfo &launch = kernel.node->launch;
    llvm::outs() << "  " << plainName(kernel.node->name) << "  " << sizeText(launch.macs) << " multiply-adds, "
                 << sizeText(launch.bytes) << " bytes, of nodes " << plainName(llvm::join(launch.nodes, ", ")) << '\n';
  }
  llvm::for_each(variant.variants, [&](const pipeline::Result &other) { printLargest(model, other, most); });
}

llvm::json::Value sizeValue(const support::Size &size) {
  return size.isNumber() ? llvm::json::Value(size.number()) : llvm::json::Value(fixUTF8(size.text()));
}

void writeLargest(llvm::json::OStream &json, const pipeline::Result &model, const pipeline::Result &variant,
                  int64_t most) {
  for (const LargeKernel &kernel : largestKernels(model, variant, most)) {
    const plan::LaunchInfo &launch = kernel.node->launch;
    json.object([&] {
      json.attribute("kernel", fixUTF8(kernel.node->name));
      if (!variant.variant.empty()) {
        json.attribute("body", fixUTF8(variant.variant));
      }
      json.attribute("macs", sizeValue(launch.macs));
      json.attribute("bytes", sizeValue(launch.bytes));
      json.attributeArray("nodes", [&] {
        for (const std::string &node : launch.nodes) {
          json.value(fixUTF8(node));
        }
      });
    });
  }
  llvm::for_each(variant.variants, [&](const pipeline::Result &other) { writeLargest(json, model, other, most); });
}

/// Returns the nodes of all launches of a kernel, in the order of the run.
std::vector<std::string> nodesOf(const std::string &kernel, const pipeline::Result &result) {
  std::vector<std::string> nodes;
  for (const pipeline::GraphNode &node : result.launches) {
    if (node.launch.kernel == kernel) {
      llvm::copy_if(node.launch.nodes, std::back_inserter(nodes),
                    [&](const std::string &name) { return !llvm::is_contained(nodes, name); });
    }
  }
  return nodes;
}

/// Returns the `most` functions that take most cycles.
llvm::ArrayRef<emit::FunctionCycles> slowestFunctions(const pipeline::Result &result, int64_t most) {
  return llvm::ArrayRef(result.functionCycles).take_front(most);
}

void printSlowest(const pipeline::Result &result, int64_t most) {
  llvm::outs() << "most cycles, by estimate\n";
  for (const emit::FunctionCycles &function : slowestFunctions(result, most)) {
    std::vector<std::string> nodes = nodesOf(function.name, result);
    double share = 100.0 * double(function.cycles) / double(std::max<int64_t>(result.cycles, 1));
    llvm::outs() << "  " << plainName(function.name) << "  " << countText(function.cycles) << " cycles, "
                 << llvm::format("%.1f %%", share)
                 << (nodes.empty() ? "" : ", of nodes " + plainName(llvm::join(nodes, ", "))) << '\n';
  }
}

void writeSlowest(llvm::json::OStream &json, const pipeline::Result &result, int64_t most) {
  for (const emit::FunctionCycles &function : slowestFunctions(result, most)) {
    json.object([&] {
      json.attribute("function", fixUTF8(function.name));
      json.attribute("cycles", function.cycles);
      json.attributeArray("nodes", [&] {
        for (const std::string &node : nodesOf(function.name, result)) {
          json.value(fixUTF8(node));
        }
      });
    });
  }
}

/// Returns the `most` buffers of a variant's memory plan with the most bytes; of equal ones, those first that are
/// written first.
std::vector<pipeline::BufferLife> largestBuffers(const pipeline::Result &variant, int64_t most) {
  std::vector<pipeline::BufferLife> buffers = variant.buffers;
  llvm::sort(buffers, [](const auto &a, const auto &b) {
    return std::tuple(-a.bytes, a.first, a.last, a.name) < std::tuple(-b.bytes, b.first, b.last, b.name);
  });
  buffers.resize(std::min(buffers.size(), static_cast<size_t>(most)));
  return buffers;
}

/// Returns the nodes of the kernel that first writes a buffer. There are none where a copy or control flow does.
llvm::ArrayRef<std::string> writersOf(const pipeline::BufferLife &buffer, const pipeline::Result &variant) {
  auto launch =
      llvm::find_if(variant.launches, [&](const pipeline::GraphNode &node) { return node.step == buffer.first; });
  return launch == variant.launches.end() ? llvm::ArrayRef<std::string>() : llvm::ArrayRef(launch->launch.nodes);
}

void printLargestBuffers(const pipeline::Result &variant, int64_t most) {
  llvm::outs() << "largest buffers" << (variant.variant.empty() ? "" : " of the code for " + variant.variant) << '\n';
  for (const pipeline::BufferLife &buffer : largestBuffers(variant, most)) {
    llvm::ArrayRef<std::string> writers = writersOf(buffer, variant);
    llvm::outs() << "  " << plainName(buffer.name) << "  " << countText(buffer.bytes) << " bytes, "
                 << (buffer.target.empty() ? "" : "on " + buffer.target + ", ")
                 << (buffer.memory.empty() ? "" : "in " + buffer.memory + ", ") << "steps " << buffer.first << " to "
                 << buffer.last << (writers.empty() ? "" : ", written by " + plainName(llvm::join(writers, ", ")))
                 << '\n';
  }
  llvm::for_each(variant.variants, [&](const pipeline::Result &other) { printLargestBuffers(other, most); });
}

void writeLargestBuffers(llvm::json::OStream &json, const pipeline::Result &variant, int64_t most) {
  for (const pipeline::BufferLife &buffer : largestBuffers(variant, most)) {
    json.object([&] {
      json.attribute("buffer", fixUTF8(buffer.name));
      if (!variant.variant.empty()) {
        json.attribute("body", fixUTF8(variant.variant));
      }
      if (!buffer.target.empty()) {
        json.attribute("target", fixUTF8(buffer.target));
      }
      if (!buffer.memory.empty()) {
        json.attribute("memory", buffer.memory);
      }
      json.attribute("bytes", buffer.bytes);
      json.attribute("first", buffer.first);
      json.attribute("last", buffer.last);
      json.attributeArray("nodes", [&] {
        for (const std::string &node : writersOf(buffer, variant)) {
          json.value(fixUTF8(node));
        }
      });
    });
  }
  llvm::for_each(variant.variants, [&](const pipeline::Result &other) { writeLargestBuffers(json, other, most); });
}

void printResult(const pipeline::Result &result, const Invocation &invocation) {
  if (!result.openSizes.empty()) {
    printSizes(llvm::outs(), result, /*most=*/1000);
  }
  printAllocations(llvm::outs(), result, /*most=*/1000);
  printTargets(result);
  printChoices(result);
  llvm::outs() << "cost\n  " << (result.macs < 0 ? result.macsText : countText(result.macs)) << " multiply-adds, "
               << result.kernels << " kernels\n  arena " << arenaText(result.arenaBytes) << " (largest live set "
               << arenaText(result.arenaLowerBound) << "), weights " << bytesText(result.weightBytes) << '\n';
  if (result.cycles >= 0) {
    llvm::outs() << "  a run takes about " << countText(result.cycles) << " cycles, by estimate; stack "
                 << (result.stackBytes < 0 ? "unknown" : bytesText(result.stackBytes)) << ", flash "
                 << arenaText(result.flashBytes) << ", RAM " << arenaText(result.ramBytes) << '\n';
  }
  printMemories(llvm::outs(), result);
  printStream(llvm::outs(), result);
  if (invocation.largestKernels > 0) {
    printLargest(result, result, invocation.largestKernels);
    if (result.cycles >= 0) {
      printSlowest(result, invocation.largestKernels);
    }
  }
  if (invocation.largestBuffers > 0) {
    printLargestBuffers(result, invocation.largestBuffers);
  }
  if (invocation.memory) {
    llvm::outs() << "memory plan\n" << result.memoryPlan;
  }
}

/// Writes the name, the type and the axes of a value into the object that is open.
void writeValue(llvm::json::OStream &json, const ValueFacts &value) {
  json.attribute("name", fixUTF8(value.name));
  json.attribute("type", importer::elementName(value.type));
  if (!value.shape) {
    return;
  }
  json.attributeArray("dims", [&] {
    for (const ValueFacts::Dim &dim : *value.shape) {
      dim.size >= 0 ? json.value(dim.size) : json.value(fixUTF8(dim.symbol.empty() ? "?" : dim.symbol));
    }
  });
}

void writeValues(llvm::json::OStream &json, llvm::StringRef key, const std::vector<ValueFacts> &values) {
  json.attributeArray(key, [&] {
    for (const ValueFacts &value : values) {
      json.object([&] { writeValue(json, value); });
    }
  });
}

void writeLargestConstants(llvm::json::OStream &json, const ModelFacts &facts, int64_t most) {
  json.attributeArray("largest_constants", [&] {
    for (const ConstantFacts &constant : largestConstants(facts, most)) {
      json.object([&] {
        writeValue(json, constant.value);
        json.attribute("bytes", constant.bytes);
        json.attributeArray("readers", [&] {
          for (const std::string &reader : constant.readers) {
            json.value(fixUTF8(reader));
          }
        });
      });
    }
  });
}

void writeFacts(llvm::json::OStream &json, const ModelFacts &facts) {
  json.attribute("ir_version", facts.irVersion);
  json.attribute("producer", fixUTF8(facts.producer));
  json.attributeObject("opsets", [&] {
    for (const auto &[domain, version] : facts.opsets) {
      json.attribute(domain.empty() ? "ai.onnx" : fixUTF8(domain), version);
    }
  });
  writeValues(json, "inputs", facts.inputs);
  writeValues(json, "outputs", facts.outputs);
  json.attribute("parameters", facts.parameters);
  json.attribute("parameter_tensors", facts.parameterTensors);
  json.attribute("parameter_bytes", facts.parameterBytes);
  json.attributeArray("unread_inputs", [&] {
    for (const std::string &input : facts.unreadInputs) {
      json.value(fixUTF8(input));
    }
  });
  json.attributeArray("unread_parameters", [&] {
    for (const auto &[name, bytes] : facts.unreadParameters) {
      json.object([&, &name = name, &bytes = bytes] {
        json.attribute("name", fixUTF8(name));
        json.attribute("bytes", bytes);
      });
    }
  });
  json.attribute("nodes", facts.nodes);
  json.attributeObject("ops", [&] {
    for (const auto &[op, count] : opsByCount(facts)) {
      json.attribute(fixUTF8(op), count);
    }
  });
}

/// Returns the domain and the name of an operator as ModelFacts has it.
std::pair<llvm::StringRef, llvm::StringRef> partsOf(const std::string &op) {
  auto [domain, name] = llvm::StringRef(op).rsplit('.');
  return name.empty() ? std::pair(llvm::StringRef(), domain) : std::pair(domain, name);
}

/// Returns the types of inputs; those behind the last one that differs are like it.
std::string typesOf(const pipeline::Coverage &coverage) {
  std::vector<std::string> types = coverage.types;
  while (types.size() > 1 && types.back() == types[types.size() - 2]) {
    types.pop_back();
  }
  return llvm::join(types, " | ");
}

void printCoverage(const ModelFacts &facts, bool asJson) {
  llvm::json::Array rows;
  for (const auto &[op, count] : opsByCount(facts)) {
    auto [domain, name] = partsOf(op);
    auto version = facts.opsets.find(domain.str());
    int64_t opset = version == facts.opsets.end() ? 1 : version->second;
    pipeline::Coverage coverage = pipeline::coverageOf(domain.str(), name.str(), opset);
    if (facts.functions.count(op)) {
      coverage = {"function of the model", "", 0};
    }
    rows.push_back(llvm::json::Object{{"op", fixUTF8(op)},
                                      {"opset", opset},
                                      {"nodes", count},
                                      {"how", coverage.how},
                                      {"why", coverage.why},
                                      {"types", llvm::json::Array(coverage.types)}});
    if (!asJson) {
      llvm::outs() << llvm::format("%7lld  ", static_cast<long long>(count)) << plainName(op) << ", opset " << opset
                   << ": " << coverage.how << (coverage.why.empty() ? "" : ": " + coverage.why)
                   << (coverage.types.empty() ? "" : "; of " + typesOf(coverage)) << '\n';
    }
  }
  if (asJson) {
    llvm::outs() << llvm::json::Value(llvm::json::Object{{"coverage", std::move(rows)}}) << '\n';
  }
}

void writeResult(llvm::json::OStream &json, const pipeline::Result &result, const Invocation &invocation) {
  json.attribute("macs", result.macs < 0 ? llvm::json::Value(result.macsText) : llvm::json::Value(result.macs));
  json.attribute("kernels", result.kernels);
  writeArena(json, "arena_bytes", result.arenaBytes);
  writeArena(json, "arena_lower_bound", result.arenaLowerBound);
  json.attribute("weight_bytes", result.weightBytes);
  writeArena(json, "flash_bytes", result.flashBytes);
  writeArena(json, "ram_bytes", result.ramBytes);
  writeArena(json, "stack_bytes", result.stackBytes);
  writeArena(json, "cycles", result.cycles);
  report::writeSizes(json, result);
  report::writeAllocations(json, result);
  json.attributeArray("algorithms", [&] { writeChoices(json, result); });
  json.attributeArray("placement", [&] {
    for (const pipeline::NodePlacement &placement : result.placement) {
      report::writePlacement(json, placement);
    }
  });
  report::writeTransfers(json, result);
  report::writeDevices(json, result);
  report::writeMemories(json, result);
  report::writeStream(json, result);
  if (invocation.largestKernels > 0) {
    json.attributeArray("largest_kernels", [&] { writeLargest(json, result, result, invocation.largestKernels); });
    json.attributeArray("slowest_functions", [&] { writeSlowest(json, result, invocation.largestKernels); });
  }
  if (invocation.largestBuffers > 0) {
    json.attributeArray("largest_buffers", [&] { writeLargestBuffers(json, result, invocation.largestBuffers); });
  }
  if (invocation.memory) {
    json.attribute("memory_plan", result.memoryPlan);
  }
}

} // namespace

llvm::Error inspectCommand(const Invocation &invocation) {
  llvm::Expected<ModelFacts> facts = readModelFacts(invocation.model.modelPath);
  if (!facts) {
    return facts.takeError();
  }
  if (invocation.coverage) {
    printCoverage(*facts, invocation.json);
    return llvm::Error::success();
  }
  if (!invocation.json && invocation.model.stopAfter.empty()) {
    printFacts(*facts);
    if (invocation.largestConstants > 0) {
      printLargestConstants(*facts, invocation.largestConstants);
    }
    llvm::outs().flush(); // this comes before the diagnostics of the compilation
  }
  pipeline::Options options = invocation.model;
  options.outDir.clear();
  options.emit = {emit::Kind::Obj};
  options.measures = true;
  llvm::Expected<pipeline::Result> result = compileModel(invocation, options);
  if (invocation.json && (!result || options.stopAfter.empty())) {
    llvm::json::OStream json(llvm::outs());
    json.object([&] {
      json.attribute("model", fixUTF8(options.modelPath));
      writeFacts(json, *facts);
      if (invocation.largestConstants > 0) {
        writeLargestConstants(json, *facts, invocation.largestConstants);
      }
      json.attribute("compiles", bool(result));
      if (result) {
        writeResult(json, *result, invocation);
        json.attributeArray("fixed_sizes", [&] {
          for (const FixedSize &size : fixedSizes(*facts, options, *result)) {
            json.object([&] {
              json.attribute("name", fixUTF8(size.name));
              json.attribute("value", size.value);
              json.attribute("decided_by", fixUTF8(size.decidedBy));
            });
          }
        });
      }
    });
    llvm::outs() << '\n';
  }
  if (!result) {
    return result.takeError();
  }
  if (!invocation.json && options.stopAfter.empty()) {
    if (std::vector<FixedSize> fixed = fixedSizes(*facts, options, *result); !fixed.empty()) {
      printFixedSizes(fixed);
    }
    printResult(*result, invocation);
  }
  return llvm::Error::success();
}

} // namespace ingot::driver
