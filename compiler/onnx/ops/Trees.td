// Declares ensembles of decision trees.
include "compiler/onnx/Onnx.td"

def Onnx_TreesOp : Onnx_CoreOp<"Trees"> {
  let summary = "for each row of a matrix, what the leaves that it reaches in many trees give together";
  let description = [{
    Node n compares element `links[n] mod 2^31` of the row with `splits[n]`; the row goes on at node `links[n] >> 32` where it is not greater, else at
    the one behind that. `missing` says where one goes whose element is NaN: never to the first, always to it, or (mixed) to it where bit 31 of the
    node's link is set. A leaf's split is NaN, and its link leads to itself. Trees begin at `roots`, no way through tree t is longer than `depths[t]`.

    A leaf n gives `weights[n]` to the target `targets[t]` of its tree, or without `targets` one of `weights[n, :]` to each target. All that a target
    gets is combined as `combine` says, in the order of the trees.
  }];
  let arguments = (ins Onnx_Floats:$x, Onnx_Floats:$splits, Onnx_Int64s:$links, Onnx_Floats:$weights, Onnx_Int64s:$roots, Onnx_Int64s:$depths,
    Onnx_OptionalOf<Onnx_Int64s>:$targets, I64Attr:$features, I64Attr:$count, StrAttr:$missing, StrAttr:$combine);
  let results = (outs AnyTensor:$y);
}

class Onnx_NodesForm<string mnemonic> : Onnx_MlAlias<mnemonic, 1> {
  dag nodes = (ins OptionalAttr<DenseF32ArrayAttr>:$base_values, OptionalAttr<ElementsAttr>:$base_values_as_tensor,
    OptionalAttr<DenseI64ArrayAttr>:$nodes_falsenodeids, OptionalAttr<DenseI64ArrayAttr>:$nodes_featureids, OptionalAttr<DenseF32ArrayAttr>:$nodes_hitrates,
    OptionalAttr<ElementsAttr>:$nodes_hitrates_as_tensor, OptionalAttr<DenseI64ArrayAttr>:$nodes_missing_value_tracks_true,
    OptionalAttr<ArrayAttr>:$nodes_modes, OptionalAttr<DenseI64ArrayAttr>:$nodes_nodeids, OptionalAttr<DenseI64ArrayAttr>:$nodes_treeids,
    OptionalAttr<DenseI64ArrayAttr>:$nodes_truenodeids, OptionalAttr<DenseF32ArrayAttr>:$nodes_values, OptionalAttr<ElementsAttr>:$nodes_values_as_tensor,
    OptionalAttr<StrAttr>:$post_transform);
}
def Onnx_TreeEnsembleClassifierOp : Onnx_NodesForm<"TreeEnsembleClassifier">, Since<5> {
  let attributes = !con(nodes, (ins OptionalAttr<DenseI64ArrayAttr>:$class_ids, OptionalAttr<DenseI64ArrayAttr>:$class_nodeids,
    OptionalAttr<DenseI64ArrayAttr>:$class_treeids, OptionalAttr<DenseF32ArrayAttr>:$class_weights, OptionalAttr<ElementsAttr>:$class_weights_as_tensor,
    OptionalAttr<DenseI64ArrayAttr>:$classlabels_int64s, OptionalAttr<ArrayAttr>:$classlabels_strings));
}
def Onnx_TreeEnsembleRegressorOp : Onnx_NodesForm<"TreeEnsembleRegressor">, Since<5> {
  let attributes = !con(nodes, (ins OptionalAttr<StrAttr>:$aggregate_function, OptionalAttr<I64Attr>:$n_targets,
    OptionalAttr<DenseI64ArrayAttr>:$target_ids, OptionalAttr<DenseI64ArrayAttr>:$target_nodeids, OptionalAttr<DenseI64ArrayAttr>:$target_treeids,
    OptionalAttr<DenseF32ArrayAttr>:$target_weights, OptionalAttr<ElementsAttr>:$target_weights_as_tensor));
}
def Onnx_TreeEnsembleOp : Onnx_MlAlias<"TreeEnsemble", 1>, Since<5> {
  let attributes = (ins OptionalAttr<I64Attr>:$aggregate_function, OptionalAttr<DenseI64ArrayAttr>:$leaf_targetids, OptionalAttr<ElementsAttr>:$leaf_weights,
    OptionalAttr<ElementsAttr>:$membership_values, OptionalAttr<I64Attr>:$n_targets, OptionalAttr<DenseI64ArrayAttr>:$nodes_falseleafs,
    OptionalAttr<DenseI64ArrayAttr>:$nodes_falsenodeids, OptionalAttr<DenseI64ArrayAttr>:$nodes_featureids, OptionalAttr<ElementsAttr>:$nodes_hitrates,
    OptionalAttr<DenseI64ArrayAttr>:$nodes_missing_value_tracks_true, OptionalAttr<ElementsAttr>:$nodes_modes, OptionalAttr<ElementsAttr>:$nodes_splits,
    OptionalAttr<DenseI64ArrayAttr>:$nodes_trueleafs, OptionalAttr<DenseI64ArrayAttr>:$nodes_truenodeids, OptionalAttr<I64Attr>:$post_transform,
    OptionalAttr<DenseI64ArrayAttr>:$tree_roots);
}
