"""Ensembles of decision trees beside ONNX Runtime, as scikit-learn, XGBoost and LightGBM write them: random trees, one thread, interleaved.

    trees.py --ingot build/bin/ingot [--only REGEX] [--core 1] [--rounds 5] [--seconds 0.2] [--target native]

Both times are those of bench/strings.py: a whole call of ingot's, and of ONNX Runtime's what its profile says of the node alone."""
import sys

import numpy as np
from strings import FLOAT, INT, benchmark

FEATURES = 30


def tree(rng, number, depth, early, leaves):
    """Attributes of one tree, whose nodes end before `depth` with the chance `early`; `leaves` gets (number of the node, its tree)."""
    nodes, waiting = [], [(0, 0)]
    taken = 1
    while waiting:
        node, level = waiting.pop()
        if level == depth or (level > 2 and rng.random() < early):
            nodes.append((number, node, 0, "LEAF", 0.0, 0, 0))
            leaves.append((number, node))
        else:
            nodes.append((number, node, int(rng.integers(FEATURES)), "BRANCH_LEQ", float(np.float32(rng.normal())), taken, taken + 1))
            waiting += [(taken + 1, level + 1), (taken, level + 1)]
            taken += 2
    return nodes


def ensemble(rng, count, depth, early, outputs, kind):
    """Attributes of TreeEnsembleClassifier (kind "class") or -Regressor ("target") with weights for `outputs` numbers in every leaf."""
    leaves, nodes = [], []
    for number in range(count):
        nodes += tree(rng, number, depth, early, leaves)
    names = ("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_modes", "nodes_values", "nodes_truenodeids", "nodes_falsenodeids")
    attributes = dict(zip(names, map(list, zip(*nodes))))
    weights = [(*leaf, output, float(np.float32(rng.random()))) for leaf in leaves for output in range(outputs)]
    attributes.update(zip((f"{kind}_treeids", f"{kind}_nodeids", f"{kind}_ids", f"{kind}_weights"), map(list, zip(*weights))))
    return attributes


def cases():
    """(name, nodes, feeds, outputs)"""
    rng = np.random.default_rng(1)
    forest = ensemble(rng, 100, 10, 0.1, 3, "class") | dict(classlabels_int64s=[0, 1, 2], post_transform="NONE")
    logistic = ensemble(rng, 300, 5, 0.05, 1, "class") | dict(classlabels_int64s=[0, 1], post_transform="LOGISTIC", base_values=[0.1])
    boosted = ensemble(rng, 500, 6, 0.05, 1, "target") | dict(n_targets=1, base_values=[0.5])
    small = ensemble(rng, 20, 4, 0.0, 1, "target") | dict(n_targets=1)
    for batch in (1, 1000):
        feeds = {"x": rng.normal(size=(batch, FEATURES)).astype(np.float32)}
        for name, op, attributes in (
            ("forest, 100 trees of depth 10, 3 classes", "Classifier", forest), ("boosted, 300 trees of depth 5, 2 classes", "Classifier", logistic),
            ("boosted, 500 trees of depth 6", "Regressor", boosted), ("20 trees of depth 4", "Regressor", small),
        ):  # fmt: skip
            results = {"label": INT, "scores": FLOAT} if op == "Classifier" else {"y": FLOAT}
            yield f"{name}, batch {batch}", [(f"ML.TreeEnsemble{op}", ["x"], list(results), attributes)], feeds, results


if __name__ == "__main__":
    sys.exit(benchmark(__doc__, "trees", list(cases())))
