#include "compiler/quantizer/GivenWeights.h"
#include "compiler/importer/ElementType.h"

namespace ingot::quantizer {

void giveWeights(Model &model, llvm::ArrayRef<Layer> layers) {
  pb::GraphProto &graph = *model.proto.mutable_graph();
  Names names(model.proto);
  for (const Layer &layer : layers) {
    pb::ValueInfoProto &input = *graph.add_input();
    input.set_name(names.fresh(layer.weight + "_given"));
    auto &type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(importer::kFloat);
    for (int64_t dim : layer.dims) {
      type.mutable_shape()->add_dim()->set_dim_value(dim);
    }
    graph.mutable_node(layer.node)->set_input(isTable(layer) ? 0 : 1, input.name());
  }
  model.dropUnused();
}

} // namespace ingot::quantizer
