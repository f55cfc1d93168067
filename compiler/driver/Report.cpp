#include "compiler/driver/Report.h"
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

void writePlacement(llvm::json::OStream &json, const pipeline::NodePlacement &placement) {
  json.object([&] {
    json.attribute("node", llvm::json::fixUTF8(placement.node));
    json.attribute("op", llvm::json::fixUTF8(placement.op));
    json.attribute("kernel", placement.kernel);
    json.attribute("target", placement.target);
    json.attribute("why_not", placement.whyNot);
  });
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

void printPlacements(const std::vector<pipeline::NodePlacement> &placements) {
  for (const pipeline::NodePlacement &placement : placements) {
    llvm::outs() << "  node '" << placement.node << "' (" << placement.op << ") ";
    llvm::outs() << (placement.target.empty() ? "runs nowhere" : "runs on " + placement.target) << ": "
                 << placement.whyNot << '\n';
  }
}

} // namespace ingot::driver
