"""`ingot quantize`: small models of the kinds that people quantize, by each scheme. onnx.checker takes what is written, ONNX Runtime and ingot compute the same with it, both
are near the float model, and the file has what the scheme says. Then data of all forms, and bad ones.

    tool.py --ingot build/bin/ingot"""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import wave
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


def single(op, *operands, opset=13, shape=(2, 3), **attributes):
    g = Graph(opset, x=list(shape))
    return g.model(g.add(op, "x", *operands, **attributes))


# Scheme and flags; the least cosine of the outputs; types that weights then have.
SCHEMES = {
    "int8": ([], 0.995, {"INT8", "UINT8"}),
    "int8 quick": (["--effort", "quick"], 0.995, {"INT8", "UINT8"}),
    "int8 thorough": (["--effort", "thorough"], 0.995, {"INT8", "UINT8"}),
    "int8 mean": (["--method", "mean", "--smooth", "0"], 0.98, {"INT8"}),
    "int8 percentile": (["--method", "percentile", "--percentile", "99.9"], 0.98, {"INT8"}),
    "int8 entropy": (["--method", "entropy"], 0.98, {"INT8"}),
    "int8 mse": (["--method", "mse"], 0.99, {"INT8"}),
    "int8 signed": (["--activations", "int8"], 0.99, {"INT8"}),
    "int8 per tensor": (["--per-tensor"], 0.98, {"INT8"}),
    "int8 short sums": (["--short-sums"], 0.99, {"INT8"}),
    "int8 short sums per tensor": (["--short-sums", "--per-tensor"], 0.98, {"INT8"}),
    "int8 smooth": (["--smooth", "0.5", "--correct-bias"], 0.995, {"INT8"}),
    "int8-dynamic": (["--scheme", "int8-dynamic"], 0.99, {"INT8"}),
    "int8-weights": (["--scheme", "int8-weights", "--block", "64"], 0.9999, {"UINT8"}),
    "int4": (["--scheme", "int4"], 0.97, {"UINT4"}),
    "int4 gptq": (["--scheme", "int4", "--gptq", "--block", "16"], 0.97, {"UINT4"}),
    "int2": (["--scheme", "int2", "--gptq", "--block", "16"], 0.7, {"UINT2"}),
    "mixed": (["--scheme", "mixed", "--max-drop", "0.005"], 0.995, set()),
    "fp16-weights": (["--scheme", "fp16-weights"], 0.9999, {"FLOAT16"}),
    "fp16": (["--scheme", "fp16", "--keep-io"], 0.9999, {"FLOAT16"}),
    "bf16": (["--scheme", "bf16", "--keep-io"], 0.999, {"BFLOAT16"}),
}
SHORT = 128  # what positive weights of a sum of 16 bits may be together, and negative ones, since they are multiplied with bytes up to 255
RUNTIME_LACKS = {"bf16"}  # operators of ONNX Runtime on CPUs


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


def largest_short_sum(model):
    """Of the weights of positive or negative sign in two neighbours of input channels and in those four further on."""
    weights, most = {t.name: numpy_helper.to_array(t).astype(int) for t in model.graph.initializer}, 0
    made = {node.output[0]: node for node in model.graph.node}
    for node in model.graph.node:
        source = made.get(node.input[1]) if node.op_type in ("Conv", "MatMul", "Gemm") else None
        if source is None or source.op_type != "DequantizeLinear":
            continue
        values = weights[source.input[0]]
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        groups = attributes.get("group", 1)
        rows = values if node.op_type == "Conv" or attributes.get("transB", 0) else values.T
        rows = rows.reshape(*rows.shape[:2], -1)
        for output, row in enumerate(rows):
            first = output * groups // len(rows) * len(row)
            for sign in (1, -1):
                sums = {}
                for channel, taps in enumerate(row):
                    at = ((first + channel) // 8, (first + channel) % 4 // 2)
                    sums[at] = sums.get(at, 0) + np.maximum(sign * taps, 0)
                most = max([most, *(int(sum.max()) for sum in sums.values())])
    return most


def check_scheme(tool, model, samples, name):
    """What is wrong, or None."""
    flags, least, types = SCHEMES[name]
    place = tool.place(model, samples)
    report, wrong = tool.report(place, *flags)
    if wrong:
        return wrong
    quantized = onnx.load(place / "q.onnx")
    onnx.checker.check_model(quantized, full_check=True)
    if not types <= types_of(quantized):
        return f"weights are of {types_of(quantized)}"
    if quantized.graph.doc_string != "stays" or quantized.metadata_props[0].value != "stays":
        return "doc string or metadata are lost"
    if [o.name for o in quantized.graph.output] != [o.name for o in model.graph.output]:
        return "outputs have other names"
    if "--short-sums" in flags and not SHORT * 0.9 < largest_short_sum(quantized) <= SHORT:
        return f"sums of weights are up to {largest_short_sum(quantized)}"
    if report["cosine"] < least:
        return f"cosine {report['cosine']}"
    want = session(model).run(None, {"x": samples[0]})[0]
    got = tool.outputs(place, place / "test_data_set_0")
    if got is None or abs(cosine(want, got) - 1) > 1 - least:
        return "a run of the result is not near the model"
    if name not in RUNTIME_LACKS:
        other = session(quantized).run(None, {"x": samples[0]})[0]
        if cosine(other, got) < 0.9999:
            return f"ONNX Runtime computes something else: cosine {cosine(other, got)}"
    return None


def check_schemes(tool, count):
    made = {"cnn": cnn(), "transformer": transformer(), "lstm": lstm(), "recurrent": recurrent(), "branch": branch(), "factors": factors()}
    for kind, model in made.items():
        shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
        samples = [f(*shape) for _ in range(3)]
        result = session(model).run(None, {"x": samples[0]})[0]
        model.graph.output[0].CopyFrom(helper.make_tensor_value_info(model.graph.output[0].name, FLOAT, result.shape))
        for name in SCHEMES:
            if kind == "branch" and name not in ("int8-dynamic", "int8-weights", "int4", "fp16-weights", "fp16", "bf16"):
                continue  # nothing in a body is observed
            if kind == "recurrent" and (name.startswith(("int8-weights", "int4", "int2")) or "short" in name):
                continue  # no layer is left, or none has short sums
            count.add(f"{kind}, {name}", check_scheme(tool, model, samples, name))


def check_recurrent(tool, count):
    """W and R are bytes with a scale for each row, which both directions share; the state is not quantized."""
    samples = [f(6, 2, 24) for _ in range(3)]
    for scheme in "int8", "int8-dynamic":
        place = tool.place(recurrent(), samples)
        report, wrong = tool.report(place, "--scheme", scheme)
        graph = onnx.load(place / "q.onnx").graph
        made, weights = {node.output[0]: node for node in graph.node}, {tensor.name: tensor for tensor in graph.initializer}
        for node in graph.node:
            for k in (1, 2) if node.op_type in ("GRU", "RNN") else ():
                source = made.get(node.input[k])
                values, scales = (weights.get(name) for name in source.input[:2]) if source else (None, None)
                fine = values and values.data_type == TensorProto.INT8 and list(scales.dims) == [values.dims[1]] and helper.get_node_attr_value(source, "axis") == 1
                wrong = wrong or (None if fine else f"operand {k} of {node.name} is not quantized by rows")
            if node.op_type in ("GRU", "RNN") and made[node.input[0]].op_type != "DequantizeLinear":
                wrong = f"{node.name} reads floats"
        layers = {layer["operator"]: layer for layer in report["layers"]} if report else {}
        sizes = {"GRU": 4 * 2 * 144 * 72, "RNN": 4 * 50 * 146}
        wrong = wrong or (None if {name: layer["weight_bytes_before"] for name, layer in layers.items()} == sizes and all(layer["quantized"] for layer in layers.values()) else f"layers are {layers}")
        count.add(f"recurrent layers by {scheme}", wrong)
    report, wrong = tool.report(place, "--max-drop", 1e-9)
    count.add("recurrent layers by themselves", "one is not kept" if report else None if "nothing is left to quantize" in wrong else wrong)
    done = tool.quantize(place, "--scheme", "int4")
    count.add("recurrent layers by int4", None if done.returncode == 1 and "nothing is left to quantize: weights by block are for products of matrices" in done.stderr else done.stderr)
    report, wrong = tool.report(place, "--keep", "RNN_last", "--smooth", "0.5", "--correct-bias", "--per-tensor")
    count.add("a recurrent layer is kept", wrong or (None if [layer["quantized"] for layer in report["layers"]] == [True, False] and report["cosine"] > 0.99 else f"{report}"))


def check_choices(tool, count):
    model, samples = transformer(), [f(2, 7, 32) for _ in range(4)]
    place = tool.place(model, samples)
    plain, wrong = tool.report(place)
    count.add("report", wrong or (None if plain["bytes_after"] < plain["bytes_before"] and all(layer["quantized"] for layer in plain["layers"]) else "a layer is not quantized"))
    layer = plain["layers"][0]["name"]
    report, wrong = tool.report(place, "--keep", layer)
    names = {node.name: node for node in onnx.load(place / "q.onnx").graph.node}
    floats = {tensor.name for tensor in onnx.load(place / "q.onnx").graph.initializer if tensor.data_type == FLOAT}
    count.add("keep", wrong or (None if not report["layers"][0]["quantized"] and names[layer].input[1] in floats else "the layer is quantized"))
    bare, wrong = tool.report(place, "--method", "min-max", "--smooth", "0")
    smooth, more = tool.report(place, "--smooth", "0.5")
    count.add("smooth gains", wrong or more or (None if smooth["cosine"] > bare["cosine"] else f"{smooth['cosine']}, without {bare['cosine']}"))
    # The outlier behind the normalization is what a default has to see.
    fine = plain["cosine"] > bare["cosine"] and any("smoothing" in layer for layer in plain["layers"]) and all("range_by" in layer for layer in plain["layers"])
    count.add("no flag gains", None if fine and plain["effort"] == "default" and plain["samples_held_out"] == 1 else f"{plain}, without {bare['cosine']}")
    text = tool.quantize(place).stdout
    count.add("what was chosen", None if "range by" in text and "ranges and smoothing chosen on 1 of 4 samples in " in text and "(--effort default)" in text else text)
    drop = (1 - bare["cosine"]) / 4
    report, wrong = tool.report(place, "--method", "min-max", "--smooth", "0", "--max-drop", drop)
    kept = [layer for layer in report["layers"] if not layer["quantized"]] if report else []
    fine = report and 1 - report["cosine"] <= drop and 0 < len(kept) < len(report["layers"]) and all("drop_alone" in layer for layer in report["layers"])
    count.add("max-drop", wrong or (None if fine else f"{len(kept)} kept, cosine {report['cosine']}, allowed {1 - drop}"))
    nearest, wrong = tool.report(place, "--scheme", "int4")
    gptq, more = tool.report(place, "--scheme", "int4", "--gptq")
    count.add("gptq gains", wrong or more or (None if gptq["cosine"] > nearest["cosine"] else f"{gptq['cosine']}, to the nearest {nearest['cosine']}"))
    report, wrong = tool.report(place, "--scheme", "fp16", "--keep", layer)
    count.add("keep in fp16", wrong or (None if report["nodes_kept"] == 1 else f"{report['nodes_kept']} kept"))
    report, wrong = tool.report(place, "--scheme", "fp16")
    types = {value.type.tensor_type.elem_type for value in [*onnx.load(place / "q.onnx").graph.input, *onnx.load(place / "q.onnx").graph.output]}
    count.add("fp16 inputs", wrong or (None if types == {TensorProto.FLOAT16} else "inputs or outputs are not float16"))
    report, wrong = tool.report(place, "--bench", "--seconds", "0.05", "--report", place / "r.json")
    fine = report and report["us_before"] > 0 and any("us_after" in layer for layer in report["layers"]) and json.loads((place / "r.json").read_text())["model"]
    fine = fine and all(0 < layer["share"] < 1.5 for layer in report["layers"] if "us_after" in layer)
    count.add("bench", wrong or (None if fine else "no times"))
    report, wrong = tool.report(place, "--report", place / "r.html")
    page = (place / "r.html").read_text() if report else ""
    shown = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1)) if page else {"layers": []}
    pictured = [layer for layer in shown["layers"] if "weights" in layer]
    counted = all(4 * sum(layer["weights"]["counts"]) == layer["weight_bytes_before"] and sum(layer["reads"]["counts"]) > 0 and layer["reads"]["low"] < layer["reads"]["high"] for layer in pictured)
    count.add("page", wrong or (None if len(pictured) == len(report["layers"]) and counted and page.startswith("<!DOCTYPE html>") else f"{shown['layers']}"))


def layered(own):
    """A table, a convolution, products of which some are much more sensitive than others, and a GRU."""
    w = lambda *shape: own.normal(0, 0.3, shape).astype(np.float32)
    g = Graph(17, x=[1, 8, 16, 16])
    y = g.add("Relu", g.add("Conv", "x", w(32, 8, 3, 3), w(32), pads=[1, 1, 1, 1]))
    y = g.add("Reshape", y, np.array([16, 1, 512], np.int64))
    y, _ = g.add("GRU", y, w(1, 192, 512) / 8, w(1, 192, 64) / 2, w(1, 384), hidden_size=64, outputs=2)
    y = g.add("Reshape", y, np.array([16, 64], np.int64))
    rows = g.add("Gather", own.normal(0, 0.3, (4096, 64)).astype(np.float32), g.add("ArgMax", g.add("Reshape", "x", np.array([16, 128], np.int64)), axis=1, keepdims=0))
    y = g.add("Add", y, rows)
    for scale in 1, 1, 8:  # a product of which the largest weights stand alone loses most
        weight = w(64, 64) / 4
        weight[3, 5] *= scale * 4
        y = g.add("Relu", g.add("Add", g.add("MatMul", y, weight), w(64) / 4))
    return g.model(g.add("Gemm", y, w(64, 10), w(10)))


def check_mixed(tool, count):
    """Each budget holds, of the file and of the model that is read from it; more room means less loss; what cannot be is refused with the least that can."""
    own = np.random.default_rng(5)
    model = layered(own)
    samples = [own.normal(size=(1, 8, 16, 16)).astype(np.float32) for _ in range(4)]
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info(model.graph.output[0].name, FLOAT, [16, 10]))
    place = tool.place(model, samples)
    whole, want = (place / "m.onnx").stat().st_size, [session(model).run(None, {"x": x})[0] for x in samples]

    def mixed(*flags):
        report, wrong = tool.report(place, "--scheme", "mixed", *flags)
        if wrong:
            return None, wrong
        quantized = onnx.load(place / "q.onnx")
        onnx.checker.check_model(quantized, full_check=True)
        got = [session(quantized).run(None, {"x": x})[0] for x in samples]
        least = cosine(np.concatenate(want), np.concatenate(got))
        if abs(least - report["cosine"]) > 1e-3 * (1 - least) + 2e-4:
            return None, f"cosine {least} in ONNX Runtime, {report['cosine']} in the report"
        if (place / "q.onnx").stat().st_size != report["bytes_after"]:
            return None, "the file has another size than is said"
        report["forms"] = [layer["scheme"] for layer in report["layers"]]
        return report, None

    last = 2
    for part in 0.26, 0.3, 0.5, 2:
        report, wrong = mixed("--size", int(whole * part))
        fine = report and report["bytes_after"] <= whole * part and 1 - report["cosine"] <= last + 1e-6
        count.add(f"mixed, {part} of the size", wrong or (None if fine else f"{report}"))
        last = 1 - report["cosine"] if report else last
    count.add("mixed, all the size there is", None if set(report["forms"]) == {"float"} and report["cosine"] > 0.999999 else f"{report}")
    count.add("mixed, that nothing is quantized", None if "all layers stay in float" in tool.quantize(place, "--scheme", "mixed", "--size", "9M").stderr else "is not said")
    report, wrong = mixed("--size", int(whole * 0.3), "--max-drop", 0.01)
    count.add("mixed, two budgets", wrong or (None if report["bytes_after"] <= whole * 0.3 and 1 - report["cosine"] <= 0.01 and len(set(report["forms"])) > 1 else f"{report}"))
    report, wrong = mixed("--max-drop", 0.002, "--latency", "1s")
    count.add("mixed, the smallest", wrong or (None if 1 - report["cosine"] <= 0.002 and report["bytes_after"] < whole * 0.4 else f"{report}"))
    report, wrong = mixed("--size", int(whole * 0.254))
    table = [layer for layer in report["layers"] if layer["operator"] == "Gather"] if report else []
    count.add("mixed, a table in bytes", wrong or (None if table and table[0]["scheme"] == "int8-weights" and "int4" in report["forms"] else f"{report}"))
    for flags, text in (["--size", "9K"], "no forms of its layers keep to the budgets; with the least of each alone the file has "), (["--latency", "0.001us"], "keep to the budgets; with the least of each alone a run takes "), (["--size", int(whole * 0.26), "--max-drop", "1e-9"], "keep to the budgets; "), ([], "--scheme mixed is for a budget: give --max-drop, --size or --latency"), (["--size", "3L"], "'3L' is no number of bytes"), (["--latency", "3"], "'3' is no time, such as 150us or 2.5ms"):
        done = tool.quantize(place, "--scheme", "mixed", *flags)
        count.add(f"mixed, refused {flags}", None if done.returncode == 1 and text in done.stderr else f"exit {done.returncode}: {done.stderr}")
    done = tool.quantize(place, "--size", "1M")
    count.add("a budget of int8", None if "--size has no effect on --scheme int8: it is for mixed" in done.stderr else done.stderr)


def spread(own):
    """A convolution, a depthwise one and another, whose channels have been multiplied by 1/16 to 16 and divided again behind them; with a Clip between two there is no way for such a factor."""
    factor = np.exp2(own.integers(-4, 5, 16)).astype(np.float32)
    w = lambda *shape: own.normal(0, 0.4, shape).astype(np.float32)
    g = Graph(13, x=[1, 4, 9, 9])
    y = g.add("Relu", g.add("Conv", "x", w(16, 4, 1, 1) * factor.reshape(16, 1, 1, 1), w(16) * factor))
    y = g.add("Relu", g.add("Conv", y, w(16, 1, 3, 3) / factor.reshape(16, 1, 1, 1), w(16), group=16, pads=[1, 1, 1, 1]))
    return g.model(g.add("Conv", y, w(6, 16, 1, 1)))


def check_equalized(tool, count):
    """Channels of a depthwise layer that are spread get ranges that are alike, in the weights alone: the file has no node for it."""
    own = np.random.default_rng(12)
    model, samples = spread(own), [own.normal(size=(1, 4, 9, 9)).astype(np.float32) for _ in range(4)]
    place = tool.place(model, samples)
    bare, wrong = tool.report(place, "--method", "min-max", "--smooth", "0")
    report, more = tool.report(place)
    ops = [node.op_type for node in onnx.load(place / "q.onnx").graph.node if "Linear" not in node.op_type]
    fine = report and 1 - report["cosine"] < (1 - bare["cosine"]) / 3 and ops == [node.op_type for node in model.graph.node]
    count.add("spread channels", wrong or more or (None if fine else f"cosine {report['cosine']}, without {bare['cosine']}, nodes {ops}"))
    clipped = spread(np.random.default_rng(12))
    clipped.graph.node[1].op_type = "Clip"
    clipped.graph.initializer.extend([numpy_helper.from_array(np.float32(0), "least"), numpy_helper.from_array(np.float32(6), "most")])
    clipped.graph.node[1].input.extend(["least", "most"])
    report, wrong = tool.report(tool.place(clipped, samples))
    smoothed = [layer["name"] for layer in report["layers"] if "smoothing" in layer] if report else []
    count.add("nothing goes through a Clip", wrong or (None if "Conv_2" not in smoothed else f"{smoothed} are smoothed"))


def check_tables(tool, count):
    """A table of embeddings is bytes in every scheme of integers, whoever reads it, and equal constants are one."""
    own = np.random.default_rng(13)
    g, table, w = Graph(13, x=[2, 5]), own.normal(size=(5000, 64)).astype(np.float32), own.normal(0, 0.1, (64, 64)).astype(np.float32)
    picked = [g.add("Gather", table, "x"), g.add("Gather", table, g.add("Add", "x", np.array(1)))]
    x = g.add("Add", *picked)
    model = g.model(g.add("Add", g.add("Mul", x, np.linspace(0, 1, 640, dtype=np.float32).reshape(2, 5, 64)), g.add("Add", g.add("MatMul", x, w), np.linspace(0, 1, 640, dtype=np.float32).reshape(2, 5, 64))))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info(model.graph.output[0].name, FLOAT, [2, 5, 64]))
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    samples = [own.integers(0, 4999, (2, 5)) for _ in range(3)]
    for scheme in "int8", "int8-dynamic":
        place = tool.place(model, samples)
        report, wrong = tool.report(place, "--scheme", scheme)
        if not wrong:
            made = onnx.load(place / "q.onnx")
            onnx.checker.check_model(made, full_check=True)
            sizes = [np.prod(tensor.dims, dtype=int) for tensor in made.graph.initializer if tensor.data_type == FLOAT]
            tables = [tensor for tensor in made.graph.initializer if list(tensor.dims) == [5000, 64]]
            layers = [layer for layer in report["layers"] if layer["operator"] == "Gather"]
            (other,), (want,) = (session(m).run(None, {"x": samples[0]}) for m in (made, model))
            got = tool.outputs(place, place / "test_data_set_0")
            # The two tables of the model are one constant in the file, and so are the two of 640 numbers.
            fine = [tensor.data_type for tensor in tables] == [TensorProto.INT8] and sizes.count(640) == 1 and len(layers) == 2
            fine = fine and min(cosine(other, want), cosine(got, want)) > 0.999 and report["bytes_after"] < 5000 * 64 * 1.1
            wrong = None if fine else f"cosines {cosine(other, want)}, {cosine(got, want)}, {report}"
        count.add(f"tables by {scheme}", wrong)
    place = tool.place(model, samples)
    report, wrong = tool.report(place, "--keep", "Gather_0")
    kept = [layer["quantized"] for layer in report["layers"] if layer["operator"] == "Gather"] if report else []
    count.add("a table that is kept", wrong or (None if kept == [False, True] and {FLOAT, TensorProto.INT8} == {t.data_type for t in onnx.load(place / "q.onnx").graph.initializer if list(t.dims) == [5000, 64]} else f"{report}"))


UNTYPED = """<ir_version: 8, opset_import: ["" : 13]>
g (float[3,4] x) => (float[3,4] y) <float[4,4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}> {
  n = Constant <value = int64 {2}> () c = Constant <value = bool {1}> ()
  a = Relu(x)
  y = Loop(n, c, a) <body = b (i, go, h) => (bool more, float[3,4] r) { more = Identity(go) k = MatMul(h, w) r = Tanh(k) }>
}"""


def check_odd_nodes(tool, count):
    """A constant that is an output, and nodes of which nobody can read a result."""
    g = Graph(13, x=[2, 3])
    model = g.model(g.add("MatMul", "x", f(3, 4)), "k")
    model.graph.node.append(helper.make_node("Constant", [], ["k"], value=numpy_helper.from_array(f(3))))
    model.graph.node.append(helper.make_node("Relu", ["x"], []))
    for scheme in "int8", "int8-dynamic", "int4", "fp16":
        place = tool.place(model, [f(2, 3)])
        report, wrong = tool.report(place, "--scheme", scheme)
        count.add(f"odd nodes, {scheme}", wrong or (None if report["cosine"] > 0.9 else f"cosine {report['cosine']}"))
    own = np.random.default_rng(9)
    g = Graph(13, x=[1, 8, 9, 9])

    def conv(x):
        return g.add("Conv", x, own.normal(0, 0.2, (8, 8, 3, 3)).astype(np.float32))

    padded = g.add("Pad", conv("x"), np.array([0, 0, 1, 1, 0, 0, 1, 1]), np.array(np.finfo(np.float32).min))
    report, wrong = tool.report(tool.place(g.model(conv(g.add("MaxPool", padded, kernel_shape=[3, 3], strides=[2, 2]))), [own.normal(size=(1, 8, 9, 9)).astype(np.float32)]))
    count.add("padding by the lowest number", wrong or (None if report["cosine"] > 0.99 else f"cosine {report['cosine']}"))
    report, wrong = tool.report(tool.place(onnx.parser.parse_model(UNTYPED), [own.normal(size=(3, 4)).astype(np.float32)]), "--scheme", "fp16")
    count.add("a body whose inputs have no types", wrong or (None if report["cosine"] > 0.999 else f"cosine {report['cosine']}"))


def check_float16_range(tool, count):
    """Values that float16 does not have, in the middle of a model, in a body's reader, below the least one, and as an output."""
    own = np.random.default_rng(11)
    x = own.uniform(0.5, 1, (2, 8)).astype(np.float32)

    def large(g, value):
        return g.add("Relu", g.add("MatMul", value, np.full((8, 8), 5e4, np.float32)))

    g = Graph(13, x=[2, 8])
    middle = g.model(g.add("Tanh", g.add("Mul", large(g, "x"), np.array(2e-6, np.float32))))
    g = Graph(13, x=[2, 8])
    summed = g.add("CumSum", g.add("Mul", "x", np.array(3e4, np.float32)), np.array(1))  # has no narrow form itself
    after = g.model(g.add("Mul", g.add("Mul", summed, np.array(0.01, np.float32)), np.array(0.01, np.float32)))
    g = Graph(13, x=[2, 8])
    least = g.add("Max", g.add("Sub", "x", np.array(2, np.float32)), np.array(1e-10, np.float32))
    small = g.model(g.add("Log", least))
    g = Graph(13, x=[2, 8])
    mask = g.add("Mul", g.add("Floor", "x"), np.array(-1e9, np.float32))
    masked = g.model(g.add("Softmax", g.add("Add", g.add("Add", "x", mask), mask), axis=-1))
    ones = x.copy()
    ones[:, 3] = 1  # these are masked
    for name, model, values, kept in [("middle", middle, x, {"MatMul", "Relu", "Mul"}), ("behind a wide node", after, x, {"CumSum", "Mul"}), ("too small", small, x, {"Max", "Log"}), ("masked", masked, ones, set())]:
        place = tool.place(model, [values])
        report, wrong = tool.report(place, "--scheme", "fp16")
        if not wrong and report["cosine"] < 0.999:
            wrong = f"cosine {report['cosine']}"
        if not wrong and {node["operator"] for node in report["kept"]} != kept:
            wrong = f"kept {report['kept']}"
        if not wrong:
            (got,) = session(onnx.load(place / "q.onnx")).run(None, {"x": values.astype(np.float16)})
            (expected,) = session(model).run(None, {"x": values})
            wrong = None if cosine(got, expected) > 0.999 else f"cosine {cosine(got, expected)} in ONNX Runtime"
        count.add(f"range of float16, {name}", wrong)
    g = Graph(13, x=[2, 8])
    output = tool.place(g.model(large(g, g.add("Sqrt", "x"))), [x])
    report, wrong = tool.report(output, "--scheme", "fp16")
    count.add("an output beyond float16", wrong or (None if report["cosine"] == 0 and report["outputs"][0]["sqnr_db"] is None else f"{report['outputs']}"))
    text = tool.quantize(output, "--scheme", "fp16").stdout
    count.add("an output beyond float16, said", None if "not finite in float16; --keep-io keeps it in float32" in text else text)
    g = Graph(13, x=[2, 8])
    text = tool.quantize(tool.place(g.model(large(g, "x")), [x]), "--scheme", "fp16").stderr
    count.add("all beyond float16", None if "nothing to convert: float16 loses values of all nodes" in text else text)
    report, wrong = tool.report(output, "--scheme", "fp16", "--keep-io")
    count.add("an output beyond float16, kept", wrong or (None if report["cosine"] > 0.999 else f"cosine {report['cosine']}"))


def png(pixels):
    """A picture of rows by columns by 3."""
    rows, columns, _ = pixels.shape

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    raw = b"".join(b"\0" + row.tobytes() for row in pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def ranges(tool, place, *flags):
    report, wrong = tool.report(place, "--method", "min-max", "--smooth", "0", *flags)
    return (report["layers"][0]["low"], report["layers"][0]["high"]) if report else wrong


def check_data(tool, count):
    """The range of the first layer says what was read."""
    conv = Graph(13, x=[1, 3, 8, 10])
    place = tool.place(conv.model(conv.add("Conv", "x", f(4, 3, 3, 3))), [])
    folder = place / "data"
    folder.mkdir()
    pixels = np.zeros((8, 10, 3), np.uint8)
    pixels[..., 1] = 100
    pixels[..., 2] = 255
    cases = {"a.png": png(pixels), "a.ppm": b"P6 10 8 255\n" + pixels.tobytes()}
    for name, content in cases.items():
        (folder / name).write_bytes(content)
        low, high = ranges(tool, place, "--data", folder, "--scale", 1 / 255, "--mean", "0.5,0,0", "--deviation", "1,1,2")
        count.add(name, None if np.allclose([low, high], [-0.5, 0.5], atol=0.01) else f"range {low} to {high}")
        (folder / name).unlink()
    np.save(folder / "a.npy", np.linspace(-3, 5, 240, dtype=np.float32).reshape(1, 3, 8, 10))
    np.savez_compressed(folder / "b.npz", x=np.full((1, 3, 8, 10), 7, np.float32), y=np.zeros(3))
    count.add("arrays", None if np.allclose(ranges(tool, place, "--data", folder), [-3, 7], atol=0.05) else "other values")
    dense = Graph(13, x=[1, 160])
    place = tool.place(dense.model(dense.add("MatMul", "x", f(160, 8))), [])
    (place / "data").mkdir()
    with wave.open(str(place / "data" / "a.wav"), "wb") as sound:
        sound.setnchannels(2), sound.setsampwidth(2), sound.setframerate(16000)
        sound.writeframes((np.stack([np.full(100, -8192), np.full(100, -24576)], 1)).astype("<i2").tobytes())
    count.add("sound", None if np.allclose(ranges(tool, place, "--data", place / "data"), [-0.5, 0], atol=0.01) else "other values")


def check_refused(tool, count):
    ready = tool.place(transformer(), [f(2, 7, 32)])

    def expect(name, message, done):
        fine = done.returncode == 1 and message in done.stderr and "error: " in done.stderr
        count.add(name, None if fine else f"exit {done.returncode}: {done.stderr}")

    def data_file(place, name, content):
        folder = place / ("data_" + name.replace(".", "_"))
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
        return tool.quantize(place, "--data", folder)

    expect("no data", "no --data is given, and there is no test_data_set_* beside the model: ranges are those of values that a model has on data", tool.quantize(tool.place(transformer(), [])))
    empty = tool.folder / "empty"
    empty.mkdir()
    expect("an empty folder", "has neither input_0.pb nor a .npy, .npz, .png, .jpg, .bmp, .ppm, .pgm or .wav file", tool.quantize(ready, "--data", empty))
    expect("no folder", "is not a folder", tool.quantize(ready, "--data", "nowhere"))
    expect("NaN", "input 'x' has values that are no numbers", tool.quantize(tool.place(transformer(), [np.full((2, 7, 32), np.nan, np.float32)])))
    expect("another shape", "the tensor has shape [2, 7, 31], but input 'x' is float32[2,7,32]", tool.quantize(tool.place(transformer(), [f(2, 7, 31)])))
    tool.quantize(ready)
    again = tool.place(onnx.load(ready / "q.onnx"), [f(2, 7, 32)])
    expect("again", "the model is quantized already", tool.quantize(again))
    expect("keep nobody", "--keep nobody: the model has no layer of this name; its first is 'MatMul_1'", tool.quantize(ready, "--keep", "nobody"))
    expect("keep no node", "--keep nobody: the model has no node of this name", tool.quantize(ready, "--scheme", "fp16", "--keep", "nobody"))
    expect("no layer", "nothing to quantize: no convolution, product or recurrent layer with constant float32 weights", tool.quantize(tool.place(single("Relu"), [f(2, 3)])))
    one = tool.place(single("MatMul", f(3, 4)), [f(2, 3)])
    expect("all kept", "nothing to quantize: no layer is left by --keep", tool.quantize(one, "--keep", "MatMul_0"))
    broken = single("MatMul", f(3, 4))
    broken.graph.node.append(helper.make_node("BatchNormalization", [], ["z"], name="n"))
    for scheme in "int8", "fp16":
        expect(f"no operands, {scheme}", "node 'n' (BatchNormalization, opset 13): has too few inputs: the first is missing", tool.quantize(tool.place(broken, [f(2, 3)]), "--scheme", scheme))
    other = helper.make_node("Normalizer", ["x"], ["y"], domain="ai.onnx.ml", norm="L1")
    other = helper.make_graph([other], "g", [helper.make_tensor_value_info("x", FLOAT, [2, 3])], [helper.make_tensor_value_info("y", FLOAT, [2, 3])])
    other = helper.make_model(other, opset_imports=[helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8)
    expect("another domain", "nothing to quantize: no convolution", tool.quantize(tool.place(other, [f(2, 3)])))
    expect("body", "nothing is left to quantize: it is in a body of control flow, whose values are not observed", tool.quantize(tool.place(branch(), [f(3, 32)])))
    infinite = Graph(13, x=[2, 3])
    infinite = infinite.model(infinite.add("MatMul", infinite.add("Div", "x", np.zeros(3, np.float32)), f(3, 4)))
    expect("infinite", "nothing is left to quantize: what it reads, 'v0_0', is infinite or no number in ", tool.quantize(tool.place(infinite, [f(2, 3)])))
    conv = Graph(13, x=[1, 3, 8, 10])
    conv = tool.place(conv.model(conv.add("Conv", "x", f(4, 3, 3, 3))), [f(1, 3, 8, 10)])
    expect("GPTQ in a body", "nothing is left to quantize: it is in a body of control flow", tool.quantize(tool.place(branch(), [f(3, 32)]), "--scheme", "int4", "--gptq"))
    expect("int4 of a convolution", "nothing is left to quantize: weights by block are for products of matrices", tool.quantize(conv, "--scheme", "int4"))
    whole = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.INT32, [2])], [helper.make_tensor_value_info("y", TensorProto.INT32, [2])])
    whole = tool.place(helper.make_model(whole, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), [])
    expect("fp16 of integers", "nothing to convert: no node computes with float32", tool.quantize(whole, "--scheme", "fp16"))
    old = single("MatMul", f(3, 4), opset=6)
    expect("an old opset", "the model has opset 6, the quantized model needs 13, and it can be raised from 7 on", tool.quantize(tool.place(old, [f(2, 3)])))
    groups = single("GroupNormalization", np.ones(2, np.float32), np.ones(2, np.float32), opset=18, shape=(1, 4, 3), num_groups=2)
    expect("no newer definition", "has no definition of opset 21, which the quantized model needs", tool.quantize(tool.place(groups, []), "--scheme", "int4"))
    own = single("MatMul", f(3, 4), opset=11)
    own.functions.append(helper.make_function("own", "F", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], [helper.make_opsetid("", 11)]))
    own.ir_version = 8
    expect("functions", "and one with functions of its own cannot be raised", tool.quantize(tool.place(own, [f(2, 3)])))
    expect("no output", "cannot be written: ", subprocess.run([tool.ingot, "quantize", one / "m.onnx", "-o", "/nowhere/q.onnx"], capture_output=True, text=True))
    picture = png(np.zeros((4, 4, 3), np.uint8))
    array = b"\x93NUMPY\1\0" + struct.pack("<H", 200)
    for name, content, message, place in [
        ("a.npy", b"hello, world", "is no array of numpy", one),
        ("b.npy", array + b"{}", "is an array of numpy that ends in its header", one),
        ("c.npy", array[:8] + struct.pack("<H", 60) + b"{'descr': '<U4', 'fortran_order': False, 'shape': (2, 3), }".ljust(60), "has elements of numpy's type '<U4', which is unsupported", one),
        ("d.npy", array[:8] + struct.pack("<H", 60) + b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, x), }".ljust(60), "is an array of numpy with a damaged shape", one),
        ("e.npy", array[:8] + struct.pack("<H", 60) + b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".ljust(60), "is an array of numpy whose size is not that of its shape", one),
        ("f.npz", b"PK\3\4", "is a damaged archive", one),
        ("g.npz", b"PK\5\6".ljust(22, b"\0"), "has no array for input 'x'", one),
        ("h.png", picture, "is a picture, which input 'x' is not: it is float32[2,3]", one),
        ("i.png", picture[:30], "the picture cannot be read: ", conv),
        ("j.wav", b"hello, world", "is no sound in RIFF", one),
        ("k.wav", b"RIFF\0\0\0\0WAVE", "is a sound without samples", one),
        ("l.wav", b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 1, 1, 1, 24) + b"data" + struct.pack("<I", 0), "is a sound whose samples are neither of 8, 16 or 32 bits nor floats of 32", one),
        ("m.wav", b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 1, 1, 1, 8) + b"data" + struct.pack("<I", 0), "is a sound, which input 'x' is not: it is float32[2,3]", one),
    ]:
        expect(name, message, data_file(place, name, content))
    two = Graph(13, x=[2, 3], z=[2, 3])
    two = tool.place(two.model(two.add("MatMul", two.add("Add", "x", "z"), f(3, 4))), [])
    expect("one array for two inputs", "is one tensor, but the model has 2 inputs; a .npz has an array for each", data_file(two, "n.npy", b""))
    wide = Graph(13, x=[1, 3, 4, 4])
    wide = wide.model(wide.add("Cast", "x", to=FLOAT))
    wide.graph.input[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    wide.graph.node.append(helper.make_node("Conv", [wide.graph.output[0].name, "w"], ["y"]))
    wide.graph.initializer.append(numpy_helper.from_array(f(2, 3, 1, 1), "w"))
    expect("a picture of doubles", "cannot be read for input 'x', which is float64[1,3,4,4]", data_file(tool.place(wide, []), "o.png", picture))
    for flags, message in [
        (["--scheme", "fp16", "--method", "mse"], "--method has no effect on --scheme fp16: it is for int8"),
        (["--scheme", "int4", "--smooth", "0.5"], "--smooth has no effect on --scheme int4: it is for int8, int8-dynamic"),
        (["--percentile", "99"], "--percentile is for --method percentile"),
        (["--seconds", "1"], "--seconds is for measuring: use it with --bench"),
        (["--levels", "x86-64-v2"], "quantize runs the model here: --levels, --stop-after and --cache are for compile"),
    ]:
        expect(" ".join(flags), message, tool.quantize(one, *flags))


def check_faults(tool, count):
    import faults  # which reads this module

    faults.check(tool, count)


def main():
    arguments = ingot_run.parser(__doc__).parse_args()
    count = ingot_run.Count("quantized")
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(os.path.abspath(arguments.ingot), pathlib.Path(folder))
        for check in check_schemes, check_choices, check_mixed, check_equalized, check_tables, check_recurrent, check_odd_nodes, check_float16_range, check_data, check_refused, check_faults:
            check(tool, count)
    count.finish()


if __name__ == "__main__":
    main()
