#include "compiler/driver/commands/Report.h"
#include "compiler/driver/ModelFacts.h"
#include "compiler/driver/Text.h"
#include "compiler/report/Json.h"
#include "compiler/support/SymbolNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::driver {

void writePhases(llvm::json::OStream &json, const pipeline::Result &result) {
  json.attributeArray("phases", [&] {
    for (const pipeline::PhaseTime &phase : result.phases) {
      json.object([&] {
        json.attribute("name", phase.name);
        json.attribute("seconds", phase.seconds);
      });
    }
  });
}

void printMemories(llvm::raw_ostream &out, const pipeline::Result &result) {
  if (!result.memories.empty()) {
    out << "memories\n";
  }
  for (const plan::MemoryInfo &memory : result.memories) {
    auto buffersOf = [&](const pipeline::Result &variant) {
      return llvm::count_if(variant.buffers, [&](const auto &buffer) { return buffer.memory == memory.name; });
    };
    int64_t buffers = buffersOf(result);
    for (const pipeline::Result &variant : result.variants) { // the bytes are the most of any, too
      buffers = std::max<int64_t>(buffers, buffersOf(variant));
    }
    out << "  " << memory.name << "  " << countText(memory.workspaceBytes) << " of " << countText(memory.mostBytes)
        << " bytes, " << buffers << " buffers, " << countText(memory.trafficBytes) << " bytes read and written in a run"
        << (memory.workspaceBytes > memory.mostBytes ? "; it does not fit" : "") << '\n';
  }
}

void printStream(llvm::raw_ostream &out, const pipeline::Result &result) {
  if (result.reads.empty()) {
    return;
  }
  out << "streamed weights\n  " << countText(result.streamedBytes) << " bytes, in " << result.reads.size()
      << " reads; at one time they take "
      << (result.streamBytes < 0 ? "what depends on sizes" : "at most " + countText(result.streamBytes) + " bytes")
      << " of the workspace\n";
}

void printAllocations(llvm::raw_ostream &out, const pipeline::Result &result, size_t most) {
  if (result.allocations.empty()) {
    return;
  }
  out << "memory that every run asks for (ingot_exec.allocate), as nothing bounds it\n";
  for (const plan::AllocationInfo &allocation : llvm::ArrayRef(result.allocations).take_front(most)) {
    out << "  " << allocation.bytes << " bytes for node '" << plainName(allocation.node) << "'";
    if (allocation.output >= 0) {
      out << ", output '" << plainName(result.outputs[size_t(allocation.output)]) << "'";
    }
    out << "; " << plainName(allocation.why) << '\n';
  }
  if (result.allocations.size() > most) {
    out << "  and " << result.allocations.size() - most << " more: see the manifest, or --json\n";
  }
}

static size_t openLaunches(const pipeline::Result &result) {
  return size_t(llvm::count_if(result.launches,
                               [](const pipeline::GraphNode &launch) { return !launch.launch.symbols.empty(); }));
}

void printSizes(llvm::raw_ostream &out, const pipeline::Result &result, size_t most) {
  out << "sizes that every run chooses\n";
  for (const plan::SymbolInfo &size : result.openSizes) {
    out << "  " << plainName(support::symbolName(size.name)) << "  " << size.least << " to "
        << (size.most < 0 ? "any" : std::to_string(size.most));
    if (!size.boundedBy.empty()) {
      out << ", bounded by " << plainName(size.boundedBy);
    }
    if (!size.sizes.empty()) {
      out << ", with a variant of its own for ";
      llvm::interleaveComma(size.sizes, out);
    }
    if (!size.from.empty()) {
      out << ": " << plainName(size.from);
    }
    out << '\n';
  }
  if (!result.launches.empty()) {
    out << "  " << openLaunches(result) << " of " << result.launches.size() << " kernels depend on them"
        << (result.arenaBytes < 0 ? ", and the workspace\n" : "; the workspace does not\n");
  }
  if (result.requirements.empty()) {
    return;
  }
  out << "every run is checked for\n";
  for (const plan::RequirementInfo &requirement : llvm::ArrayRef(result.requirements).take_front(most)) {
    out << "  " << plainName(requirement.text);
    out << (requirement.node.empty() ? ", by --dim\n" : ", for node '" + plainName(requirement.node) + "'\n");
  }
  if (result.requirements.size() > most) {
    out << "  and " << result.requirements.size() - most << " more: see the manifest, or --json\n";
  }
}

/// Returns the bytes of weights that more than one of several machines reads.
static int64_t sharedBytes(const pipeline::Result &result) {
  int64_t shared = result.weightBytes;
  for (const plan::LevelInfo &level : result.levels) {
    shared -= level.ownWeightBytes;
  }
  return shared;
}

void writeLevels(llvm::json::OStream &json, const pipeline::Result &result) {
  if (result.levels.empty()) {
    return;
  }
  json.attribute("shared_weight_bytes", sharedBytes(result));
  report::writeLevels(json, result);
}

void printLevels(llvm::raw_ostream &out, const pipeline::Result &result) {
  if (result.levels.empty()) {
    return;
  }
  out << "of the weights, " << bytesText(sharedBytes(result)) << " are shared by levels";
  for (const plan::LevelInfo &level : result.levels) {
    out << "; " << level.spec << " reads " << bytesText(level.weightBytes) << ", " << bytesText(level.ownWeightBytes)
        << " alone";
  }
  out << '\n';
}

void writeArena(llvm::json::OStream &json, llvm::StringRef key, int64_t bytes) {
  json.attribute(key, bytes < 0 ? llvm::json::Value(nullptr) : llvm::json::Value(bytes));
}

std::vector<pipeline::NodePlacement> fallbacks(const pipeline::Result &result) {
  std::vector<pipeline::NodePlacement> moved;
  for (const pipeline::NodePlacement &placement : result.placement) {
    if (!placement.whyNot.empty()) {
      moved.push_back(placement);
    }
  }
  return moved;
}

/// Prints nodes as "'a' (Exp), 'b' (Sin) and 3 more".
static void printNodes(llvm::raw_ostream &out, llvm::ArrayRef<pipeline::NodePlacement> nodes, size_t most) {
  llvm::interleaveComma(nodes.take_front(most), out, [&](const pipeline::NodePlacement &node) {
    out << "'" << plainName(node.node) << "' (" << node.op << ")";
  });
  if (nodes.size() > most) {
    out << " and " << nodes.size() - most << " more";
  }
}

void printPlacements(llvm::raw_ostream &out, llvm::ArrayRef<pipeline::NodePlacement> placements) {
  while (!placements.empty()) {
    const pipeline::NodePlacement &first = placements.front();
    auto same = placements.take_while([&](const pipeline::NodePlacement &other) {
      return other.target == first.target && other.whyNot == first.whyNot;
    });
    bool one = same.size() == 1;
    out << (one ? "  node " : "  nodes ");
    printNodes(out, same, /*most=*/8);
    out << (one ? " runs " : " run ") << (first.target.empty() ? "nowhere" : "on " + first.target) << ": "
        << first.whyNot << '\n';
    placements = placements.drop_front(same.size());
  }
}

void printPieces(llvm::raw_ostream &out, const pipeline::Result &result) {
  std::map<int, std::vector<pipeline::NodePlacement>> pieces;
  for (const pipeline::NodePlacement &placement : result.placement) {
    if (placement.piece >= 0) {
      pieces[placement.piece].push_back(placement);
    }
  }
  if (!pieces.empty()) {
    out << "pieces for targets with memories of their own (times are estimates)\n";
  }
  for (const auto &[number, nodes] : pieces) {
    double seconds = 0;
    for (const pipeline::NodePlacement &node : nodes) {
      seconds += node.seconds;
    }
    out << "  " << nodes.front().target << ", " << llvm::format("%.3g us: ", seconds * 1e6);
    printNodes(out, nodes, /*most=*/1000);
    out << '\n';
  }
}

/// Prints a transfer as "131.1 kB: input 'x', for 'first' (MatMul)".
static void printTransfer(llvm::raw_ostream &out, const pipeline::Transfer &transfer) {
  out << (transfer.bytes < 0 ? plainName(transfer.bytesText) + " bytes" : bytesText(transfer.bytes)) << ": "
      << plainName(transfer.value) << ", for ";
  llvm::interleaveComma(transfer.readers, out, [&](const std::string &reader) { out << plainName(reader); });
  out << '\n';
}

void printTransfers(llvm::raw_ostream &out, const pipeline::Result &result, size_t most) {
  if (result.transfers.empty()) {
    return;
  }
  int copies = result.transfers.back().copy + 1;
  out << copies << " copies between memories\n";
  llvm::ArrayRef<pipeline::Transfer> left = result.transfers;
  while (!left.empty() && static_cast<size_t>(left.front().copy) < most) {
    const pipeline::Transfer &first = left.front();
    auto together = left.take_while([&](const pipeline::Transfer &other) { return other.copy == first.copy; });
    out << "  " << (first.to.empty() ? "from " + first.from : "to " + first.to) << ", ";
    if (together.size() > 1) {
      out << together.size() << " small values in one copy, "
          << llvm::format("%.3g us less than one by one\n", first.saved * 1e6);
    }
    for (const pipeline::Transfer &transfer : together) {
      out << (together.size() > 1 ? "    " : "");
      printTransfer(out, transfer);
    }
    left = left.drop_front(together.size());
  }
  if (!left.empty()) {
    out << "  and " << copies - left.front().copy << " more: see ingot inspect, or --json\n";
  }
  for (const plan::DeviceInfo &device : result.devices) {
    out << "memory of " << device.spec << ": workspace " << arenaText(device.workspaceBytes) << ", weights "
        << bytesText(device.weightBytes) << '\n';
  }
}

} // namespace ingot::driver
