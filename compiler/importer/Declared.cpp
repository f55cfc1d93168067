// Outputs whose declared type contradicts what the nodes compute: ONNX Runtime refuses other element types and warns of
// other shapes. A program that the manifest or a header tells of the one would read memory of the other, so that both
// are refused here. None of the real models that the project knows does either.
#include "compiler/onnx/Declared.h"
#include "compiler/importer/ElementType.h"
#include "compiler/importer/Importer.h"
#include "compiler/onnx/ElementTypes.h"

using namespace mlir;

namespace ingot::importer {

static SmallVector<int64_t> dimsOf(const pb::TensorShapeProto &shape) {
  SmallVector<int64_t> dims;
  for (const pb::TensorShapeProto::Dimension &dim : shape.dim()) { // some tools write 0 or -1 for an open one
    dims.push_back(dim.dim_value() > 0 ? dim.dim_value() : ShapedType::kDynamic);
  }
  return dims;
}

void Importer::compareDeclared(func::FuncOp function, unsigned number, const pb::ValueInfoProto &output,
                               const ImportOptions &options) {
  if (!output.type().has_tensor_type()) {
    return;
  }
  const pb::TypeProto::Tensor &type = output.type().tensor_type();
  auto computed = cast<TensorType>(function.getResultTypes()[number]);
  auto maker =
      llvm::find_if(graph.nodes, [&](const Node &node) { return llvm::is_contained(node.outputs, output.name()); });
  Where where = maker == graph.nodes.end() ? Where() : maker->where();
  Type element = elementType(context, type.elem_type());
  if (type.elem_type() && element != computed.getElementType()) {
    auto own = static_cast<int32_t>(onnx::numberOfElement(computed.getElementType()));
    problems->add(where, "gives output " + quoted(output.name()) + " the element type " + elementName(own) +
                             ", but the model declares " + elementName(type.elem_type()));
  }
  // The sizes that a user gives or bounds are not all of those that the model speaks of.
  bool isUsers = !options.shapes.empty() || !options.dims.empty() || !options.bounds.empty();
  if (!type.has_shape() || isUsers) {
    return;
  }
  SmallVector<int64_t> dims = dimsOf(type.shape());
  auto ranked = dyn_cast<RankedTensorType>(computed);
  if (ranked && onnx::contradicts(ranked, dims)) {
    problems->add(where, onnx::contradictionText(output.name(), ranked, dims));
  } else if (!ranked || llvm::any_of(llvm::zip_equal(ranked.getShape(), dims), [](auto pair) {
               return ShapedType::isDynamic(std::get<0>(pair)) && !ShapedType::isDynamic(std::get<1>(pair));
             })) {
    function.setResultAttr(number, onnx::declaredShapeName, builder.getDenseI64ArrayAttr(dims));
  }
}

} // namespace ingot::importer
