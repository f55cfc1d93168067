// Has traits of operators of whose nodes graph::resolve does not make an op each.
#pragma once
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ingot::onnx {

/// The trait of nodes with subgraphs, of which loops and branches are made; see isControl().
template <typename Op> class ControlNode : public mlir::OpTrait::TraitBase<Op, ControlNode> {};
/// The trait of nodes about sequences, which are lists of tensors in graph::resolve.
template <typename Op> class SequenceNode : public mlir::OpTrait::TraitBase<Op, SequenceNode> {};
/// The trait of nodes about optional values.
template <typename Op> class OptionalNode : public mlir::OpTrait::TraitBase<Op, OptionalNode> {};

/// Whether nodes have subgraphs of which loops and branches are made. The loop and the branch themselves are the ops
/// whose regions run as parts of them.
inline bool isControl(mlir::OperationName name) {
  return name.hasTrait<ControlNode>() || name.hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>();
}

} // namespace ingot::onnx
