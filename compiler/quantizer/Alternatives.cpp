#include "compiler/quantizer/Alternatives.h"
#include "llvm/ADT/STLExtras.h"

namespace ingot::quantizer {

/// Whether two models are the same but for the values of their constants.
static bool areAlike(const pb::GraphProto &a, const pb::GraphProto &b) {
  auto areNodesAlike = [](const pb::NodeProto &own, const pb::NodeProto &other) {
    return own.SerializeAsString() == other.SerializeAsString();
  };
  auto areTensorsAlike = [](const pb::TensorProto &own, const pb::TensorProto &other) {
    return own.name() == other.name() && own.data_type() == other.data_type() && dimsOf(own) == dimsOf(other);
  };
  return llvm::equal(a.node(), b.node(), areNodesAlike) &&
         llvm::equal(a.initializer(), b.initializer(), areTensorsAlike);
}

std::optional<Alternatives> alternativesOf(llvm::ArrayRef<Model> models) {
  const pb::GraphProto &first = models.front().proto.graph();
  for (const Model &other : models.drop_front()) {
    if (!areAlike(first, other.proto.graph())) {
      return std::nullopt;
    }
  }
  Alternatives all{models.front(), std::vector<std::vector<pb::TensorProto>>(models.size())};
  pb::GraphProto &graph = *all.model.proto.mutable_graph();
  for (int i = 0; i < first.initializer_size(); ++i) {
    const pb::TensorProto &tensor = first.initializer(i);
    bool isSame = llvm::all_of(
        models, [&](const Model &other) { return other.proto.graph().initializer(i).raw_data() == tensor.raw_data(); });
    if (isSame) {
      continue;
    }
    pb::ValueInfoProto &input = *graph.add_input();
    input.set_name(tensor.name());
    auto &type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(tensor.data_type());
    auto &shape = *type.mutable_shape();
    for (int64_t dim : dimsOf(tensor)) {
      shape.add_dim()->set_dim_value(dim);
    }
    for (auto [own, model] : llvm::zip(all.values, models)) {
      own.push_back(model.proto.graph().initializer(i));
    }
  }
  auto isInput = [&](const pb::TensorProto &tensor) {
    return llvm::any_of(all.values.front(), [&](const pb::TensorProto &own) { return own.name() == tensor.name(); });
  };
  auto *constants = graph.mutable_initializer();
  constants->erase(llvm::remove_if(*constants, isInput), constants->end());
  return all;
}

} // namespace ingot::quantizer
