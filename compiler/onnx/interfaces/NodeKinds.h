// Has the trait of operators of whose nodes graph::resolve does not make an op each.
#pragma once
#include "mlir/IR/OpDefinition.h"

namespace ingot::onnx {

/// The trait of operators whose nodes have a rule in graph/resolve/nodes: those with subgraphs that become regions of
/// loops and branches, and those about sequences and optional values.
template <typename Op> class ResolvedByRule : public mlir::OpTrait::TraitBase<Op, ResolvedByRule> {};

} // namespace ingot::onnx
