"""Small models of the kinds that people quantize, and a folder for each with samples, in which `ingot quantize` is run."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import ingot_run
import numpy as np
import onnx
import peer
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(7)
FLOAT = TensorProto.FLOAT


def f(*shape, scale=1.0):
    return (random.standard_normal(shape) * scale).astype(np.float32)


class Graph:
    """Nodes in the order in which they are added; arrays among their operands are weights."""

    def __init__(self, opset, **inputs):
        self.opset, self.inputs, self.nodes, self.weights = opset, inputs, [], []

    def add(self, op, *operands, outputs=1, **attributes):
        names = []
        for operand in operands:
            names.append(operand if isinstance(operand, str) else f"w{len(self.weights)}")
            if not isinstance(operand, str):
                self.weights.append(numpy_helper.from_array(operand, names[-1]))
        results = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, names, results, name=f"{op}_{len(self.nodes)}", **attributes))
        return results[0] if outputs == 1 else results

    def model(self, *outputs):
        declared = [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in self.inputs.items()]
        graph = helper.make_graph(self.nodes, "small", declared, [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs], self.weights)
        graph.doc_string = "stays"
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=6 if self.opset < 13 else 8)
        helper.set_model_props(made, {"licence": "stays"})
        return made


def normalization(g, x, channels):
    return g.add("BatchNormalization", x, 1 + f(channels, scale=0.1), f(channels), f(channels), np.abs(f(channels)) + 0.5, epsilon=1e-3)


def cnn():
    """Of opset 9: Clip, Softmax, Upsample and Slice have another form since."""
    g = Graph(9, x=[1, 3, 13, 17])
    stem = g.add("Clip", normalization(g, g.add("Conv", "x", f(16, 3, 3, 3, scale=0.3), pads=[1, 1, 1, 1]), 16), min=0.0, max=6.0)
    deep = g.add("Relu", g.add("Conv", stem, f(16, 1, 3, 3, scale=0.4), f(16), group=16, pads=[1, 1, 1, 1]))
    point = g.add("Add", g.add("Conv", deep, f(16, 16, 1, 1, scale=0.3), f(16)), stem)
    pooled = g.add("MaxPool", g.add("Concat", point, stem, axis=1), kernel_shape=[2, 2], strides=[2, 2])
    mixed = g.add("Conv", pooled, f(20, 32, 3, 3, scale=0.1), f(20), strides=[2, 2], dilations=[1, 1])
    larger = g.add("Upsample", g.add("Slice", mixed, axes=[1], starts=[0], ends=[12]), np.array([1, 1, 2, 2], np.float32), mode="nearest")
    flat = g.add("Flatten", g.add("AveragePool", larger, kernel_shape=[2, 2], strides=[2, 2]))
    return g.model(g.add("Softmax", g.add("Gemm", flat, f(72 // 2 * 2, 10, scale=0.2), f(10))))


def transformer():
    g, width = Graph(17, x=[2, 7, 32]), 32

    def dense(x, columns):
        return g.add("Add", g.add("MatMul", x, f(int(g.width), columns, scale=0.2)), f(columns))

    g.width = width
    outliers = np.ones(width, np.float32)
    outliers[5] = 40
    before = g.add("LayerNormalization", "x", outliers, f(width))
    heads = [g.add("Transpose", g.add("Reshape", dense(before, width), np.array([2, 7, 4, 8], np.int64)), perm=perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])]
    scores = g.add("Softmax", g.add("Mul", g.add("MatMul", heads[0], heads[1]), np.array(0.05, np.float32)), axis=-1)
    joined = g.add("Reshape", g.add("Transpose", g.add("MatMul", scores, heads[2]), perm=[0, 2, 1, 3]), np.array([2, 7, width], np.int64))
    middle = g.add("Add", dense(joined, width), "x")
    hidden = dense(g.add("LayerNormalization", middle, np.ones(width, np.float32), f(width)), 64)
    gelu = g.add("Mul", hidden, g.add("Add", g.add("Erf", g.add("Mul", hidden, np.array(0.7071, np.float32))), np.array(1, np.float32)))
    g.width = 64
    return g.model(g.add("Add", dense(gelu, width), middle))


def lstm():
    g = Graph(14, x=[6, 1, 24])
    y, _, _ = g.add("LSTM", "x", f(1, 64, 24, scale=0.3), f(1, 64, 16, scale=0.3), f(1, 128, scale=0.1), hidden_size=16, outputs=3)
    return g.model(g.add("Gemm", g.add("Reshape", y, np.array([6, 16], np.int64)), f(9, 16), f(9), transB=1))


def recurrent():
    """Recurrent layers alone, in two ways and one; of the RNN only the last state is read."""
    g, own = Graph(14, x=[6, 2, 24]), np.random.default_rng(8)
    f = lambda *shape, scale: (own.standard_normal(shape) * scale).astype(np.float32)
    y, _ = g.add("GRU", "x", f(2, 144, 24, scale=0.3), f(2, 144, 48, scale=0.1), f(2, 288, scale=0.1), hidden_size=48, direction="bidirectional", linear_before_reset=1, outputs=2)
    joined = g.add("Reshape", g.add("Transpose", y, perm=[0, 2, 1, 3]), np.array([6, 2, 96], np.int64))
    g.nodes.append(helper.make_node("RNN", [joined, *(g.weights.append(numpy_helper.from_array(v, n)) or n for n, v in (("W", f(1, 50, 96, scale=0.1)), ("R", f(1, 50, 50, scale=0.1))))], ["", "last"], name="RNN_last", hidden_size=50))
    return g.model("last")


def branch():
    """A layer that is in a body, with weights from around it."""
    g = Graph(13, x=[3, 32])
    total = g.add("Greater", g.add("ReduceSum", "x", keepdims=0), np.array(0, np.float32))
    weight = numpy_helper.from_array(f(32, 8), "outer")
    g.weights.append(weight)

    def body(name, sign):
        nodes = [helper.make_node("MatMul", ["x", "outer"], [name + "_m"], name=name), helper.make_node("Mul", [name + "_m", name + "_s"], [name + "_y"])]
        return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(name + "_y", FLOAT, [3, 8])], [numpy_helper.from_array(np.array(sign, np.float32), name + "_s")])

    return g.model(g.add("If", total, then_branch=body("then", 1), else_branch=body("else", -1)))


def factors():
    """Gemm with all that it may have; an operator without a form of 16 bits, and one that takes sequences only by its name."""
    own = np.random.default_rng(8)
    g = Graph(13, x=[48, 6])

    def w(*shape):
        return own.normal(0, 0.3, shape).astype(np.float32)

    y = g.add("Celu", g.add("Gemm", "x", w(48, 32), w(6, 1), alpha=0.5, beta=2.0, transA=1))
    turned = g.add("ReverseSequence", y, np.array([6] * 32, np.int64), batch_axis=1, time_axis=0)
    return g.model(g.add("Gemm", turned, w(20, 32), w(20), alpha=-1.5, beta=0.0, transB=1))


def batched():
    """Products with several constant matrices, of the same sizes, each of which meets rows of its own, or all rows; one of them is much louder."""
    g, own = Graph(13, x=[3, 7, 40]), np.random.default_rng(14)
    w = lambda *shape: (own.normal(0, 0.2, shape) * np.array([1, 1, 3]).reshape(3, 1, 1)).astype(np.float32)
    hidden = g.add("Relu", g.add("Add", g.add("MatMul", "x", w(3, 40, 24)), own.normal(size=(3, 1, 24)).astype(np.float32)))
    wide = g.add("MatMul", g.add("Unsqueeze", hidden, np.array([1])), np.stack([w(3, 24, 16)] * 2)[:1])
    return g.model(g.add("MatMul", g.add("ReduceSum", wide, np.array([0, 1]), keepdims=0), w(3, 16, 17)))


def single(op, *operands, opset=13, shape=(2, 3), **attributes):
    g = Graph(opset, x=list(shape))
    return g.model(g.add(op, "x", *operands, **attributes))


# Scheme and flags; the least cosine of the outputs; types that weights then have.


def cosine(a, b):
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    return a @ b / max(np.sqrt((a @ a) * (b @ b)), 1e-300)


def session(model):
    return peer.session(model)


def graphs(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from graphs(attribute.g)


def types_of(model):
    return {TensorProto.DataType.Name(tensor.data_type) for graph in graphs(model.graph) for tensor in graph.initializer}


class Tool:
    def __init__(self, ingot, folder):
        self.ingot, self.folder, self.number = ingot, folder, 0

    def place(self, model, samples):
        """A folder with the model, and one for each sample."""
        self.number += 1
        place = self.folder / str(self.number)
        place.mkdir()
        onnx.save(model, place / "m.onnx")
        for i, values in enumerate(samples):
            (place / f"test_data_set_{i}").mkdir()
            (place / f"test_data_set_{i}" / "input_0.pb").write_bytes(numpy_helper.from_array(values).SerializeToString())
        return place

    def quantize(self, place, *flags):
        """The finished process."""
        return subprocess.run([self.ingot, "quantize", place / "m.onnx", "-o", place / "q.onnx", *map(str, flags)], capture_output=True, text=True)

    def report(self, place, *flags):
        done = self.quantize(place, "--json", *flags)
        return (json.loads(done.stdout), None) if done.returncode == 0 else (None, f"exit {done.returncode}: {done.stderr}")

    def outputs(self, place, data):
        done = subprocess.run([self.ingot, "run", place / "q.onnx", "--data", data, "--out", place / "out"], capture_output=True, text=True)
        if done.returncode:
            return None
        return numpy_helper.to_array(onnx.load_tensor(place / "out" / "output_0.pb"))


def png(pixels):
    """A picture of rows by columns by 3."""
    rows, columns, _ = pixels.shape

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    raw = b"".join(b"\0" + row.tobytes() for row in pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def run(doc, name, *checks):
    """Runs checks, which get a Tool and the count."""
    arguments = ingot_run.parser(doc).parse_args()
    count = ingot_run.Count(name)
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(os.path.abspath(arguments.ingot), pathlib.Path(folder))
        for check in checks:
            check(tool, count)
    count.finish()
