"""Graphs of thousands of operators, as code that writes models makes them: each compiles, and gives what numpy gives.

    long.py --ingot build/bin/ingot [--target T] [--only NAMES]

What looks at a graph by recursion, or at each operator again for each operator, meets its end here.
"""
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import ingot_run
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIZES = [3, 64]
SECONDS = 120


class Graph:
    """Nodes, and beside each value what numpy makes of it."""

    def __init__(self):
        rng = np.random.default_rng(11)
        self.nodes, self.weights, self.known = [], [], {"x": rng.standard_normal(SIZES).astype(np.float32)}
        self.offset = self.constant("offset", rng.standard_normal(64) / 4)
        self.half = self.constant("half", 0.5)

    def constant(self, name, value):
        self.known[name] = np.float32(value)
        self.weights.append(numpy_helper.from_array(self.known[name], name))
        return name

    def __call__(self, op, function, *operands, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, operands, [name], **attributes))
        self.known[name] = function(*(self.known[operand] for operand in operands))
        return name

    def add(self, a, b):
        return self("Add", np.add, a, b)

    def model(self, result):
        self.nodes.append(helper.make_node("Identity", [result], ["y"]))
        values = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)] for name, shape in (("x", SIZES), ("y", self.known[result].shape))]
        graph = helper.make_graph(self.nodes, "long", *values, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def chain(g):
    """20,000 elementwise operators, one behind the other."""
    v = "x"
    for _ in range(10000):
        v = g("Abs", np.abs, g.add(v, g.offset))
        v = g("Mul", np.multiply, v, g.half) if len(g.nodes) % 7 == 0 else v
    return v


def ladder(g):
    """Each reads the two before it."""
    a, b = "x", g("Abs", np.abs, "x")
    for _ in range(3000):
        a, b = b, g("Mul", np.multiply, g.add(a, b), g.half)
    return b


def tree(g):
    """The sum of 4,096 products, two by two."""
    row = [g("Mul", np.multiply, "x", g.constant(f"k{i}", i % 13 / 4096)) for i in range(4096)]
    while len(row) > 1:
        row = [g.add(a, b) for a, b in zip(row[::2], row[1::2])]
    return row[0]


def fan(g):
    """A Sum of 500 values, and each of them again in a Concat."""
    row = [g("Mul", np.multiply, "x", g.constant(f"k{i}", i % 13 / 500)) for i in range(500)]
    total = g("Sum", lambda *all: np.sum(all, axis=0, dtype=np.float64).astype(np.float32), *row)
    return g("Concat", lambda *all: np.concatenate(all, axis=1), total, *row, axis=1)


def kernels(g):
    """1,000 softmaxes: nothing of them joins what is before it."""
    v = "x"
    for _ in range(1000):
        e = np.exp(g.known[v] - g.known[v].max(-1, keepdims=True))
        v = g("Softmax", lambda _: e / e.sum(-1, keepdims=True), v, axis=-1)
        v = g.add(v, g.offset)
    return v


def views(g):
    """5,000 reshapes and transposes between one value and the next."""
    v = "x"
    for i in range(2500):
        v = g("Transpose", np.transpose, v, perm=[1, 0])
        v = g("Flatten", lambda a: a.reshape(a.shape[0], -1), v, axis=1)
    return g("Abs", np.abs, v)


CASES = {case.__name__: case for case in (chain, ladder, tree, fan, kernels, views)}


def one(arguments, name):
    graph = Graph()
    model = graph.model(CASES[name](graph))
    want = graph.known[model.graph.node[-1].input[0]]
    with tempfile.TemporaryDirectory(prefix="ingot-long-") as scratch:
        folder = pathlib.Path(scratch)
        data = folder / "test_data_set_0"
        data.mkdir()
        onnx.save(model, folder / "model.onnx")
        (data / "input_0.pb").write_bytes(numpy_helper.from_array(graph.known["x"]).SerializeToString())
        verdict, text = ingot_run.run(arguments.ingot, folder, folder / "out", arguments.target, SECONDS)
        if verdict == "pass":
            text = ingot_run.difference(ingot_run.load(folder / "out" / "output_0.pb"), want)
        return name, [text] if text else []


if __name__ == "__main__":
    ingot_run.run_named(__doc__, CASES, one)
