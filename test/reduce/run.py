"""ingot-reduce: the smallest model that still fails, which is valid, computes what its data set says, and fails in the same way.

    run.py --tool compiler/tools/ingot-reduce

Most cases call the tool's Reducer with a function for the command; the last ones run the program."""
import argparse
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import ingot_run  # says what is missing
import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

NETWORK = """<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,6,20,20] image, float[6] unused, int64[batch,4] ids) => (float[batch,30] scores, float[batch,4,8] words) {
  weights = Constant<value: tensor = float[1] {2.5}>()
  a = Conv<kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]>(image, filter, bias)
  b = Relu(a)
  c = Mul(b, weights)
  d = MaxPool<kernel_shape=[2,2], strides=[2,2]>(c)
  shape = Shape(d)
  zero = Constant<value_int: int = 0>()
  first = Gather<axis=0>(shape, zero)
  axes = Constant<value: tensor = int64[1] {0}>()
  count = Unsqueeze(first, axes)
  rest = Constant<value: tensor = int64[1] {-1}>()
  target = Concat<axis=0>(count, rest)
  e = Reshape(d, target)
  f = Gemm<alpha=0.5, transB=1>(e, dense)
  g = Softplus(f)
  scores = Add(g, offset)
  words = Gather(table, ids)
}"""
BRANCHES = """<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x, bool c) => (float[4] y) {
  a = Neg(x)
  b = If(c) <then_branch = t () => (float[4] p) { q = Exp(a)  p = Tanh(q) }, else_branch = f () => (float[4] r) { r = Relu(a) }>
  y = Abs(b)
}"""


def network():
    model, rng = onnx.parser.parse_model(NETWORK), np.random.default_rng(1)
    shapes = {"filter": [12, 6, 3, 3], "bias": [12], "dense": [30, 300], "offset": [30], "table": [9, 8]}
    for name, shape in shapes.items():
        model.graph.initializer.append(numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name))
    feeds = {"image": rng.standard_normal([3, 6, 20, 20]).astype(np.float32), "unused": np.ones(6, np.float32), "ids": rng.integers(0, 9, [3, 4])}
    return model, feeds


def operators(model):
    return [node.op_type for node in model.graph.node]


class Cases:
    def __init__(self, tool):
        loader = importlib.machinery.SourceFileLoader("ingot_reduce", str(tool))
        self.tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("ingot_reduce", loader))
        sys.dont_write_bytecode = True
        loader.exec_module(self.tool)
        self.path, self.failed, self.count = tool, 0, 0

    def reduce(self, model, feeds, fails):
        """The reduced model; each that is tried is valid and its outputs are right."""

        def checked(model, feeds, outputs):
            onnx.checker.check_model(model)
            assert outputs is not None and len(outputs) == len(model.graph.output)
            return fails(model, feeds)

        best = self.tool.Reducer(model, feeds, checked, 300).reduce()
        return best.model(), best.feeds

    def check(self, name, condition, seen=""):
        self.count += 1
        if not condition:
            self.failed += 1
            print(f"{name}: {seen}")

    def nodes(self):
        model, feeds = self.reduce(*network(), lambda model, feeds: "Softplus" in operators(model))
        self.check("one operator is left", operators(model) == ["Softplus"], operators(model))
        self.check("its input is small", feeds["x0"].size == 1 and not model.graph.initializer, feeds)
        self.check("names are plain", [model.graph.input[0].name, model.graph.output[0].name, model.graph.node[0].name] == ["x0", "y0", "n0"], model.graph)

    def weights(self):
        model, _ = self.reduce(*network(), lambda model, feeds: any(node.op_type == "Conv" and len(node.input) > 1 for node in model.graph.node))
        [node] = model.graph.node
        self.check("the weights are as small as the inputs", [list(tensor.dims) for tensor in model.graph.initializer] in ([[1, 1, 1, 1]], [[1, 1, 3, 3]]), model.graph)
        self.check("attributes and the bias are gone", len(node.attribute) <= 1 and len(node.input) == 2, node)

    def sizes(self):
        def fails(model, feeds):
            return any(node.op_type == "Gemm" and feeds_or_weights(model, feeds, node.input[0])[1:] == (7,) for node in model.graph.node)

        rng = np.random.default_rng(1)
        model = onnx.parser.parse_model("<ir_version: 8, opset_import: [\"\" : 17]> g (float[5,7] x, float[7,9] w) => (float[5,9] y) { a = Gemm(x, w)  y = Relu(a) }")
        model, feeds = self.reduce(model, {"x": rng.standard_normal([5, 7]).astype(np.float32), "w": rng.standard_normal([7, 9]).astype(np.float32)}, fails)
        self.check("sizes that matter stay, others are 1", sorted(array.shape for array in feeds.values()) == [(1, 7), (7, 1)], feeds)

    def open_sizes(self):
        def fails(model, feeds):
            return "Gather" in operators(model) and any(dim.dim_param for value in model.graph.input for dim in value.type.tensor_type.shape.dim)

        model, _ = self.reduce(*network(), fails)
        symbols = [dim.dim_param for value in model.graph.input for dim in value.type.tensor_type.shape.dim if dim.dim_param]
        self.check("symbols stay open where it matters", "Gather" in operators(model) and len(operators(model)) <= 2 and len(symbols) == 1, model.graph)
        model, _ = self.reduce(*network(), lambda model, feeds: "Gather" in operators(model))
        self.check("and nowhere else", not any(dim.dim_param for value in model.graph.input for dim in value.type.tensor_type.shape.dim), model.graph)

    def values(self):
        """A failure that speaks of results: 2.5 times what a relu gives is above 3 somewhere."""

        def fails(model, feeds):
            return any((output > 3).any() for output in self.tool.evaluated(model, feeds) if output.dtype == np.float32) and "Mul" in operators(model)

        model, feeds = self.reduce(*network(), fails)
        self.check("results are computed anew", len(model.graph.node) == 1 and fails(model, feeds), model.graph)

    def branches(self):
        feeds = {"x": np.float32([1, 2, 3, 4]), "c": np.array(True)}
        model, _ = self.reduce(onnx.parser.parse_model(BRANCHES), feeds, lambda model, feeds: "Tanh" in str(model.graph))
        self.check("a branch stands for the If", operators(model) == ["Tanh"], operators(model))

    def program(self, folder):
        model, feeds = network()
        self.tool.save(model, feeds, None, folder)
        call = lambda *words: subprocess.run([sys.executable, self.path, *map(str, words)], capture_output=True, text=True)
        failing = ["sh", "-c", "if grep -q Softplus {model}; then test -f {data}/output_0.pb && exit 7; fi; exit 0"]
        done = call(folder / "model.onnx", "--data", folder / "test_data_set_0", "-o", folder / "out", "--", *failing)
        small = onnx.load(folder / "out" / "model.onnx") if done.returncode == 0 else None
        self.check("the program reduces", small is not None and operators(small) == ["Softplus"], done.stderr)
        recorded = numpy_helper.to_array(onnx.load_tensor(str(folder / "out" / "test_data_set_0" / "output_0.pb")))
        wanted = self.tool.evaluated(small, self.tool.read_feeds(small, folder / "out" / "test_data_set_0"))
        self.check("its data set is right", np.array_equal(recorded, wanted[0]), recorded)
        for name, words, message in [
            ("a command that does not fail", [folder / "model.onnx", "-o", folder / "o", "--", "true", "{model}"], "the command does not fail on the model"),
            ("a command without a model", [folder / "model.onnx", "-o", folder / "o", "--", "false"], "the command has no {model}"),
            ("no command", [folder / "model.onnx", "-o", folder / "o"], "no command is given behind --"),
            ("another message", [folder / "model.onnx", "-o", folder / "o", "--match", "abc", "--", "sh", "-c", "echo xyz; exit 1 # {model}"], "says nothing like 'abc': xyz"),
            ("no model", [folder / "nothing.onnx", "-o", folder / "o", "--", "false", "{model}"], "cannot be read"),
            ("inputs that are missing", [folder / "model.onnx", "--data", folder / "out", "-o", folder / "o", "--", "false", "{model}"], "is missing: the model has 3 inputs"),
        ]:
            done = call(*words)
            self.check(name, done.returncode in (1, 2) and message in done.stderr, done.stderr)


def feeds_or_weights(model, feeds, name):
    weights = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    return weights.get(name) or np.shape(feeds.get(name, 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", type=pathlib.Path, required=True)
    cases = Cases(parser.parse_args().tool)
    for case in (cases.nodes, cases.weights, cases.sizes, cases.open_sizes, cases.values, cases.branches):
        case()
    with tempfile.TemporaryDirectory(prefix="ingot-reduce-test-") as folder:
        cases.program(pathlib.Path(folder))
    print(f"{cases.count - cases.failed} passed, {cases.failed} failed")
    sys.exit(cases.failed > 0)


if __name__ == "__main__":
    main()
