"""Ensembles of trees of ai.onnx.ml."""
import numpy as np
from onnx import TensorProto, helper

from families import op

TRANSFORMS = [None, "NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"]
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def grow(c, tree, depth, features, modes, nodes):
    """Appends a random tree in preorder; returns the number of its root. `nodes` has rows (tree, node, mode, feature, value, yes, no)."""
    number = sum(row[0] == tree for row in nodes)
    row = [tree, number, "LEAF", 0, 0.0, 0, 0]
    nodes.append(row)
    if depth and c.chance(0.85):
        # Values that elements have, too: they are multiples of a 64th.
        row[2:5] = c.choice(modes), c.choice(range(features)), c.choice(range(-64, 65)) / 64
        row[5] = grow(c, tree, depth - 1, features, modes, nodes)
        row[6] = grow(c, tree, depth - 1, features, modes, nodes)
    return number


def matrix(c, x):
    """Rows of few numbers, so that some are equal to what they are compared with; some are missing."""
    rows, features = c.size(70), c.choice([1, 2, 3, 5, 17])
    c.need(x is None and rows)
    array = np.round(c.numbers([rows, features], np.float32, -1.0, 1.0) * 8) / 8
    if c.chance(0.4):
        array[np.asarray(c.numbers(array.shape, np.int64, 0, 4)) == 0] = np.nan
    return c.tensor(array.astype(np.float32), constant=False)


def forest(c, features):
    """The nodes as attributes, and the (tree, node) of all leaves."""
    nodes, deep = [], c.choice([1, 3, 5, 11])
    modes = [c.choice(MODES)] if c.chance(0.6) else MODES
    for tree in range(c.choice([1, 2, 7, 8, 19]) if deep < 11 else 2):
        grow(c, tree, deep, features, modes, nodes)
    c.need(len(nodes) < 3000)
    trees, numbers, modes, ids, values, yes, no = map(list, zip(*nodes))
    attributes = dict(nodes_treeids=trees, nodes_nodeids=numbers, nodes_modes=modes, nodes_featureids=ids, nodes_values=values, nodes_truenodeids=yes, nodes_falsenodeids=no)
    missing = c.choice([None, 0, 1, "some"])
    if missing is not None:
        attributes["nodes_missing_value_tracks_true"] = [c.choice([0, 1]) if missing == "some" else missing for _ in nodes]
    return attributes, [(tree, number) for tree, number, mode, *_ in nodes if mode == "LEAF"]


def gifts(c, prefix, leaves, targets, low=-64):
    """What leaves give: all to one target, each tree to one, or each leaf to several."""
    way = "one" if targets == 1 else c.choice(["tree", "all"])
    c.need(way != "tree" or len({tree for tree, _ in leaves}) >= targets)
    rows = []
    for tree, number in leaves:
        for target in range(targets) if way == "all" else [0 if way == "one" else tree % targets]:
            rows.append((tree, number, target, c.choice(range(low, 65)) / 64))
    trees, numbers, ids, weights = map(list, zip(*rows))
    return {f"{prefix}_treeids": trees, f"{prefix}_nodeids": numbers, f"{prefix}_ids": ids, f"{prefix}_weights": weights}


@op("ai.onnx.ml.TreeEnsembleRegressor", weight=3)
def regressor(c, x):
    x = matrix(c, x)
    attributes, leaves = forest(c, x.shape[1])
    targets = c.choice([1, 1, 2, 3])
    base = [c.choice(range(-64, 65)) / 64 for _ in range(targets)] if c.chance(0.4) else None
    transform = c.choice(TRANSFORMS if targets > 1 else [None, "NONE"])
    c.node("ai.onnx.ml.TreeEnsembleRegressor", [x], n_targets=targets, base_values=base, post_transform=transform, aggregate_function=c.choice([None, "SUM", "AVERAGE", "MIN", "MAX"]),
           **attributes, **gifts(c, "target", leaves, targets))  # fmt: skip


@op("ai.onnx.ml.TreeEnsembleClassifier", weight=3)
def classifier(c, x):
    x = matrix(c, x)
    attributes, leaves = forest(c, x.shape[1])
    classes = c.choice([2, 2, 3, 5])
    one = classes == 2  # where leaves speak of both, labels of ONNX Runtime depend on the second score only, and are no labels
    given = gifts(c, "class", leaves, 1 if one else classes, c.choice([-64, 0]))
    base = [c.choice(range(-64, 65)) / 64 for _ in range(1 if one else classes)] if c.chance(0.3) else None
    c.node("ai.onnx.ml.TreeEnsembleClassifier", [x], outputs=2, classlabels_int64s=[10 + 3 * k for k in range(classes)], base_values=base, post_transform=c.choice(TRANSFORMS), **attributes, **given)


@op("ai.onnx.ml.TreeEnsemble", weight=2)
def ensemble(c, x):
    """Inner nodes and leaves are apart here."""
    x = matrix(c, x)
    inner, leaves, roots = [], [], []

    def grow_here(depth):
        """(whether it is a leaf, its number)"""
        if not depth or (depth < 3 and inner and c.chance(0.2)):
            leaves.append((c.choice(range(targets)), c.choice(range(-64, 65)) / 64))
            return 1, len(leaves) - 1
        row = [c.choice(range(6)), c.choice(range(x.shape[1])), c.choice(range(-8, 9)) / 8, None, None]
        inner.append(row)
        number = len(inner) - 1
        row[3], row[4] = grow_here(depth - 1), grow_here(depth - 1)
        return 0, number

    targets = c.choice([1, 1, 3])
    for _ in range(c.choice([1, 2, 9])):
        roots.append(len(inner))
        grow_here(c.choice([1, 3, 5]))
    c.need(inner and all(root < len(inner) for root in roots) and len({target for target, _ in leaves}) == targets)
    tensor = lambda values, kind: helper.make_tensor("", kind, [len(values)], values)
    missing = [c.choice([0, 1]) for _ in inner] if c.chance(0.4) else None
    c.node("ai.onnx.ml.TreeEnsemble", [x], n_targets=targets, aggregate_function=c.choice([None, 1]), post_transform=c.choice([None, 0]), tree_roots=roots,
           nodes_modes=tensor([row[0] for row in inner], TensorProto.UINT8), nodes_featureids=[row[1] for row in inner], nodes_splits=tensor([row[2] for row in inner], TensorProto.FLOAT),
           nodes_truenodeids=[row[3][1] for row in inner], nodes_trueleafs=[row[3][0] for row in inner], nodes_falsenodeids=[row[4][1] for row in inner], nodes_falseleafs=[row[4][0] for row in inner],
           nodes_missing_value_tracks_true=missing, leaf_targetids=[target for target, _ in leaves], leaf_weights=tensor([weight for _, weight in leaves], TensorProto.FLOAT))  # fmt: skip
