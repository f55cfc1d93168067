#include "compiler/quantizer/Overflow.h"
#include "compiler/support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace ingot::quantizer {
namespace {

/// Half of the largest float16: values of a converted model are not quite those of the model as it was.
constexpr double kLarge = 65504.0 / 2;

class OverflowSearch {
public:
  OverflowSearch(Model &model, const std::map<std::string, Reach> &reaches)
      : model(model), graph(*model.proto.mutable_graph()), index(model, graph), reaches(reaches) {}

  std::vector<KeptNode> find();

private:
  bool isLost(const std::string &value) const {
    auto found = reaches.find(value);
    return found != reaches.end() && found->second.isLost;
  }
  void keep(const pb::NodeProto &node, const std::string &why);
  void keepMaker(const std::string &value, const std::string &why);
  void keepReaders(const std::string &value, const std::string &why);

  Model &model;
  pb::GraphProto &graph;
  Index index;
  const std::map<std::string, Reach> &reaches;
  std::vector<KeptNode> kept;
  llvm::StringSet<> names; ///< of these
};

void OverflowSearch::keep(const pb::NodeProto &node, const std::string &why) {
  if (names.insert(nameOf(node)).second) {
    kept.push_back({nameOf(node), node.op_type(), why});
  }
}

void OverflowSearch::keepMaker(const std::string &value, const std::string &why) {
  if (int producer = index.producer(value); producer >= 0) {
    keep(graph.node(producer), why);
  }
}

void OverflowSearch::keepReaders(const std::string &value, const std::string &why) {
  for (const pb::GraphProto *any : model.graphs()) {
    for (const pb::NodeProto &node : any->node()) {
      if (llvm::is_contained(node.input(), value)) {
        keep(node, why);
      }
    }
  }
}

std::vector<KeptNode> OverflowSearch::find() {
  for (const auto &[value, reach] : reaches) {
    if (!reach.isLost) {
      continue;
    }
    int producer = index.producer(value);
    if (reach.largest > kLarge) {
      std::string why = support::quoted(value) + llvm::formatv(" goes to {0:e2}", reach.largest).str();
      keepMaker(value, why);
      keepReaders(value, why);
    } else if (producer >= 0 && llvm::none_of(graph.node(producer).input(), [&](auto &name) { return isLost(name); })) {
      std::string why = support::quoted(value) + " is not finite in float16";
      keep(graph.node(producer), why);
      for (const std::string &operand : graph.node(producer).input()) {
        keepMaker(operand, why);
      }
    }
  }
  return std::move(kept);
}

} // namespace

std::vector<KeptNode> nodesBeyondFloat16(Model &model, const std::map<std::string, Reach> &reaches) {
  return OverflowSearch(model, reaches).find();
}

} // namespace ingot::quantizer
