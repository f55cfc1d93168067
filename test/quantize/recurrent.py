"""LSTM, GRU and RNN whose weights are dequantized give ONNX Runtime's numbers; with --accuracy strict the very bits of the same model with weights of floats.

    recurrent.py --ingot build/bin/ingot

Between the steps nothing is quantized, so that products of bytes may only round as those of floats do. Which machines multiply bytes, and from which size on, is a table below."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import ingot_run
import numpy as np
import onnx
import peer
from onnx import TensorProto, helper, numpy_helper

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


class Network:
    """A recurrent node with dequantized weights, and the same with floats. `scales`: one, of rows, of directions and rows, columns or blocks."""

    def __init__(self, kind, hidden, batch=1, steps=5, inputs=9, ways=1, dtype=np.int8, scales="rows", bias=True, lengths=False, state=0.0, peephole=False, quantized_input=False, half=False, layout=0, opened=False, seed=1, **attributes):
        self.random, self.element = np.random.default_rng([seed, hidden, batch]), np.float16 if half else np.float32
        self.nodes, self.floats, self.inputs, self.weights = [], [], {}, []
        self.sizes = {batch: "rows", steps: "steps"} if opened else {}  # axes that only the run knows
        rows = GATES[kind] * hidden
        x = self.given("x", [batch, steps, inputs] if layout else [steps, batch, inputs])
        if quantized_input:
            ends = [self.constant("x_scale", np.array(2**-5, self.element)), self.constant("x_zero", np.array(119, np.uint8))]
            self.both("QuantizeLinear", [x, *ends], "xq")
            x = self.both("DequantizeLinear", ["xq", *ends], "xd")
        operands = [x, self.dequantized("W", ways, rows, inputs, dtype, scales), self.dequantized("R", ways, rows, hidden, dtype, scales)]
        operands.append(self.constant("B", self.draw(ways, 2 * rows) * 0.2) if bias else "")
        operands.append(self.constant("lengths", np.array(([steps, 2, 0, 1] * batch)[:batch], np.int32)) if lengths else "")
        shape = [batch, ways, hidden] if layout else [ways, batch, hidden]
        operands += [self.given(name, shape, state) if state else "" for name in ("h", "c")[: 2 if kind == "LSTM" else 1]]
        if peephole:
            operands.append(self.constant("P", self.draw(ways, 3 * hidden) * 0.5))
        self.results = ["y", "y_h"] + ["y_c"] * (kind == "LSTM")
        self.both(kind, operands, *self.results, hidden_size=hidden, direction="bidirectional" if ways == 2 else "forward", layout=layout, **attributes)

    def draw(self, *shape):
        return self.random.standard_normal(shape).astype(self.element)

    def given(self, name, shape, scale=1.0):
        self.inputs[name] = self.draw(*shape) * self.element(scale)
        return name

    def constant(self, name, value):
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def both(self, op, operands, *results, **attributes):
        node = helper.make_node(op, operands, results, **attributes)
        self.nodes.append(node), self.floats.append(node)
        return results[0]

    def dequantized(self, name, ways, rows, columns, dtype, scales):
        numbers = self.random.integers(-128, 128, [ways, rows, columns])
        shape = {"one": [], "rows": [rows], "columns": [columns], "blocks": [ways, rows, -(-columns // 16)]}[scales]
        zero = self.random.integers(-9, 10, shape) if dtype == np.uint8 or scales == "one" else np.zeros(shape, int)
        factors = ((self.random.random(shape) + 0.5) / 80 / columns**0.5).astype(self.element)
        along = {"axis": {"rows": 1, "columns": 2}[scales]} if scales in ("rows", "columns") else {"axis": 2, "block_size": 16} if scales == "blocks" else {}
        spread = lambda v: np.repeat(v, 16, axis=2)[:, :, :columns] if scales == "blocks" else v.reshape(-1, 1) if scales == "rows" else v
        self.weights.append(numpy_helper.from_array(((numbers - spread(zero)) * spread(factors).astype(self.element)).astype(self.element), name + "_float"))
        shift = 128 if dtype == np.uint8 else 0
        operands = [self.constant(name + "_numbers", (numbers + shift).astype(dtype)), self.constant(name + "_scale", factors), self.constant(name + "_zero", (zero + shift).astype(dtype))]
        self.nodes.append(helper.make_node("DequantizeLinear", operands, [name], **along))
        self.floats.append(helper.make_node("Identity", [name + "_float"], [name]))
        return name

    def model(self, floats=False):
        element = TensorProto.FLOAT16 if self.element == np.float16 else TensorProto.FLOAT
        nodes, declared = self.floats if floats else self.nodes, [helper.make_tensor_value_info(name, element, [self.sizes.get(size, size) for size in array.shape]) for name, array in self.inputs.items()]
        read = {name for node in nodes for name in node.input}
        graph = helper.make_graph(nodes, "recurrent", declared, [helper.make_tensor_value_info(name, element, None) for name in self.results], [tensor for tensor in self.weights if tensor.name in read])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)

    def expected(self):
        return peer.session(self.model()).run(None, self.inputs)

    def run(self, ingot, target, *flags, floats=False):
        """The outputs, or what was said."""
        with tempfile.TemporaryDirectory(prefix="ingot-recurrent-") as folder:
            path = pathlib.Path(folder)
            (path / "test_data_set_0").mkdir()
            onnx.save(self.model(floats), path / "model.onnx")
            for k, (name, array) in enumerate(self.inputs.items()):
                (path / "test_data_set_0" / f"input_{k}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
            verdict, text = ingot_run.run(ingot, path, path / "out", target, flags=flags)
            return text if verdict != "pass" else [ingot_run.load(path / "out" / f"output_{k}.pb") for k in range(len(self.results))]

    def multiplies_bytes(self, ingot, *flags):
        with tempfile.TemporaryDirectory(prefix="ingot-recurrent-") as folder:
            onnx.save(self.model(), pathlib.Path(folder) / "model.onnx")
            done = subprocess.run([ingot, "compile", pathlib.Path(folder) / "model.onnx", "--stop-after", "partition", *flags], capture_output=True, text=True, check=True)
        lines = [line for line in done.stdout.split("\n") if "onnx.Recurrence" in line]
        assert lines
        return all("xi8>" in line for line in lines)


def farthest(got, want):
    return max(np.abs(a.astype(np.float64) - b).max(initial=0) for a, b in zip(got, want))


def differs(got, want, limit):
    """No element may be farther off, in parts of the largest one that is above 1."""
    if isinstance(got, str):
        return got
    if any(a.shape != b.shape or a.dtype != b.dtype for a, b in zip(got, want)):
        return f"shapes {[a.shape for a in got]}, expected {[a.shape for a in want]}"
    far = farthest(got, want) / max(1, *(np.abs(a).max(initial=0) for a in want))
    return None if far <= limit else f"differs by {far}"


# Where pairs of bytes are multiplied, and units of an LSTM that are enough there.
PAIRS_512, PAIRS_256, PAIRS_128 = ("x86-64-v4", 92), ("x86-64-v3", 183), ("x86-64-v2", 131)


def shapes():
    """(what, target, network): each kind in the forms that a machine has."""
    for kind in GATES:
        for hidden, batch, ways, dtype, scales in (48, 1, 1, np.int8, "one"), (61, 1, 2, np.uint8, "rows"), (64, 3, 1, np.uint8, "one"), (53, 7, 2, np.int8, "rows"), (100, 8, 1, np.int8, "rows"):
            yield f"{kind} of {hidden}, {batch} rows, {ways} ways, {np.dtype(dtype).name}, scales of {scales}", "native", Network(kind, hidden, batch, ways=ways, dtype=dtype, scales=scales)
        # Of fewer units, and where the machine is slower by bytes, these are floats.
        for hidden, batch in (1, 1), (7, 2), (13, 1):
            yield f"{kind} of {hidden}", "native", Network(kind, hidden, batch, ways=2, dtype=np.uint8)
        for target, hidden in PAIRS_512, PAIRS_256, PAIRS_128:
            more = {"LSTM": 1.0, "GRU": 1.2, "RNN": 2.0}[kind]
            for dtype, scales in (np.int8, "rows"), (np.uint8, "one"):
                yield f"{kind} by pairs, {np.dtype(dtype).name}, {target}", target, Network(kind, int(hidden * more) | 1, steps=3, dtype=dtype, scales=scales, quantized_input=scales == "one")
    for dtype in np.int8, np.uint8:
        yield f"bytes as floats, {np.dtype(dtype).name}", "x86-64-v3", Network("LSTM", 731, 2, steps=2, dtype=dtype)
    yield "bytes as floats, GRU", "x86-64-v3", Network("GRU", 843, 3, steps=2, dtype=np.uint8)


def features():
    """What nodes may have besides, for the machine of this test."""
    for kind in GATES:
        yield f"{kind}: states of its own", Network(kind, 56, 3, ways=2, state=0.5)
        yield f"{kind}: states beyond one", Network(kind, 56, 2, state=7.0)
        yield f"{kind}: lengths", Network(kind, 51, 4, ways=2, lengths=True, state=0.5, dtype=np.uint8)
        yield f"{kind}: no bias, clip", Network(kind, 50, 2, bias=False, clip=0.4)
        for batch in 1, 4:
            yield f"{kind}: {batch} of an open number of rows", Network(kind, 53, batch, steps=6, ways=1 + (batch == 1), dtype=np.uint8, state=0.5, opened=True)
        yield f"{kind}: quantized input", Network(kind, 49, 3, ways=2, quantized_input=True)
    for dtype in np.int8, np.uint8:
        yield f"linear before reset {np.dtype(dtype).name}", Network("GRU", 51, 3, dtype=dtype, linear_before_reset=1, state=0.5)
    yield "peepholes", Network("LSTM", 55, 2, ways=2, peephole=True, state=0.5)
    yield "input and forget", Network("LSTM", 55, 2, input_forget=1)
    yield "hard activations", Network("LSTM", 55, 2, activations=["HardSigmoid", "Softsign", "ScaledTanh"], activation_alpha=[0.3, 1.5], activation_beta=[0.4, 0.5])
    yield "affine activations stay floats", Network("RNN", 55, 2, activations=["Relu"])
    yield "scales of columns stay floats", Network("LSTM", 55, 2, scales="columns")


def choices(ingot):
    """Whether bytes are multiplied, by flags and size."""
    big, halves = Network("LSTM", 64), Network("LSTM", 64, half=True)
    for what, network, flags, wanted in (
        ("byte dots", big, ["--target", "cascadelake"], True), ("byte dots of several rows", Network("LSTM", 48, 5), ["--target", "cascadelake"], True), ("of few units", Network("LSTM", 47), ["--target", "cascadelake"], False),
        ("strict", big, ["--target", "cascadelake", "--accuracy", "strict"], False), ("byte dots of 256 bits", big, ["--target", "alderlake"], True), ("i8mm", big, ["--target", "armv8.6-a"], True), ("NEON", big, ["--target", "armv8-a"], False),
        ("floats of 16 bits", halves, ["--target", "cascadelake"], False), ("scales of columns", Network("GRU", 64, scales="columns"), ["--target", "cascadelake"], False), ("scales of blocks", Network("GRU", 64, scales="blocks"), ["--target", "cascadelake"], False),
        ("no bounded state", Network("RNN", 64, activations=["Relu"]), ["--target", "cascadelake"], False), ("all levels are pairs", Network("LSTM", 200), ["--levels", "x86-64-v4,x86-64-v3,x86-64-v2"], True), ("one level is not", big, ["--levels", "armv8.6-a,armv8-a"], False),
        ("pairs", Network("LSTM", 183), ["--target", "x86-64-v3"], True), ("fewer pairs", Network("LSTM", 179), ["--target", "x86-64-v3"], False), ("pairs of several rows", Network("LSTM", 183, 2), ["--target", "x86-64-v3"], False),
        ("pairs of 512 bits", Network("LSTM", 92), ["--target", "x86-64-v4"], True), ("pairs of 128 bits", Network("LSTM", 131), ["--target", "x86-64-v2"], True), ("bytes as floats", Network("LSTM", 731, 2), ["--target", "x86-64-v3"], True)):  # fmt: skip
        found = network.multiplies_bytes(ingot, *flags)
        yield f"choice: {what}", None if found == wanted else f"bytes are {'' if found else 'not '}multiplied"


def accuracies(ingot):
    """Two digits are worse by what they leave of a state; NaN and infinity make NaN of their row alone."""
    network = Network("LSTM", 64, 2, steps=8)
    yield "two digits", differs(network.run(ingot, "native", "--accuracy", "fast"), network.expected(), 1e-3)
    if network.multiplies_bytes(ingot, "--target", "native"):
        far = farthest(network.run(ingot, "native", "--accuracy", "fast"), network.expected())
        yield "two digits, not three", None if far > 2e-6 else f"differ by {far}"
    for bad in np.nan, np.inf:
        network = Network("GRU", 64, 3, steps=2, state=0.5)
        want = network.expected()
        network.inputs["h"][0, 1, 17] = bad
        got = network.run(ingot, "native")
        alike = not isinstance(got, str) and np.isnan(got[0][:, 0, 1, 17]).all() and differs([np.delete(a, 1, -2) for a in got], [np.delete(a, 1, -2) for a in want], 2e-6) is None
        yield f"a state with {bad}", None if alike else f"gives {got}"


def main():
    arguments = ingot_run.parser(__doc__).parse_args()
    count, ingot = ingot_run.Count("recurrent"), os.path.abspath(arguments.ingot)
    here = {"native"} | {f"x86-64-v{level}" for level in ingot_run.levels_here(ingot, [2, 3, 4], "recurrent networks by pairs")}
    for what, target, network in shapes():
        if target in here:
            count.add(what, differs(network.run(ingot, target), network.expected(), 2e-6))
    for what, network in features():
        count.add(what, differs(network.run(ingot, "native"), network.expected(), 4e-6))
        strict = network.run(ingot, "native", "--accuracy", "strict")
        count.add(f"{what}, strict", differs(strict, network.run(ingot, "native", "--accuracy", "strict", floats=True), 0))
    first = Network("LSTM", 60, 3, ways=2, layout=1, state=0.5)
    count.add("batches first", differs(first.run(ingot, "native"), first.run(ingot, "native", "--accuracy", "strict"), 2e-6))
    source = Network("GRU", 53, 2, ways=2, dtype=np.uint8)
    count.add("through C++ source", differs(source.run(ingot, "source:g++"), source.expected(), 2e-6))
    for what, said in [*choices(ingot), *accuracies(ingot)]:
        count.add(what, said)
    count.finish()


if __name__ == "__main__":
    main()
