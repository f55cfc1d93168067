"""`ingot quantize`: small models of the kinds that people quantize, by each scheme. onnx.checker takes what is written, ONNX Runtime and ingot compute the same with it, both
are near the float model, and the file has what the scheme says. Then recurrent layers, tables, odd nodes and what float16 cannot hold.

    tool.py --ingot build/bin/ingot"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from quantized_models import FLOAT, Graph, batched, branch, cnn, cosine, f, factors, lstm, recurrent, run, session, transformer, types_of

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
    "int8 smooth": (["--smooth", "0.5"], 0.995, {"INT8"}),
    "int8-dynamic": (["--scheme", "int8-dynamic"], 0.99, {"INT8"}),
    "int8-weights": (["--scheme", "int8-weights", "--block", "64"], 0.9999, {"UINT8"}),
    "int4": (["--scheme", "int4"], 0.97, {"UINT4"}),
    "int4 gptq": (["--scheme", "int4", "--gptq", "--block", "16"], 0.97, {"UINT4"}),
    "int2": (["--scheme", "int2", "--gptq", "--block", "16"], 0.7, {"UINT2"}),
    "mixed": (["--scheme", "mixed", "--max-drop", "0.005"], 0.995, set()),
    "fp8": (["--scheme", "fp8"], 0.99, {"FLOAT8E4M3FN"}),
    "fp8-weights": (["--scheme", "fp8-weights"], 0.997, {"FLOAT8E4M3FN"}),
    "fp16-weights": (["--scheme", "fp16-weights"], 0.9999, {"FLOAT16"}),
    "fp16": (["--scheme", "fp16", "--keep-io"], 0.9999, {"FLOAT16"}),
    "bf16": (["--scheme", "bf16", "--keep-io"], 0.999, {"BFLOAT16"}),
}
SHORT = 128  # what positive weights of a sum of 16 bits may be together, and negative ones, since they are multiplied with bytes up to 255
RUNTIME_LACKS = {"bf16"}  # operators of ONNX Runtime on CPUs

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
    # What mixed may lose it loses of all samples together, by whatever forms were fast just then; of one it may be more.
    run = range(len(samples)) if name == "mixed" else range(1)
    exact = session(model)
    wants = [exact.run(None, {"x": samples[k]})[0] for k in run]
    gots = [tool.outputs(place, place / f"test_data_set_{k}") for k in run]
    got = gots[0]
    if any(one is None for one in gots) or abs(cosine(np.concatenate(wants, None), np.concatenate(gots, None)) - 1) > 1 - least:
        return "a run of the result is not near the model"
    if name not in RUNTIME_LACKS:
        other = session(quantized).run(None, {"x": samples[0]})[0]
        if cosine(other, got) < 0.9999:
            return f"ONNX Runtime computes something else: cosine {cosine(other, got)}"
    return None


def check_schemes(tool, count):
    made = {"cnn": cnn(), "transformer": transformer(), "lstm": lstm(), "recurrent": recurrent(), "branch": branch(), "factors": factors(), "batched": batched()}
    for kind, model in made.items():
        shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
        samples = [f(*shape) for _ in range(3)]
        result = session(model).run(None, {"x": samples[0]})[0]
        model.graph.output[0].CopyFrom(helper.make_tensor_value_info(model.graph.output[0].name, FLOAT, result.shape))
        for name in SCHEMES:
            if kind == "branch" and name not in ("int8-dynamic", "int8-weights", "int4", "fp8-weights", "fp16-weights", "fp16", "bf16"):
                continue  # nothing in a body is observed
            if kind == "recurrent" and (name.startswith(("int8-weights", "int4", "int2")) or "short" in name):
                continue  # no layer is left, or none has short sums
            if kind == "batched" and ("short" in name or "entropy" in name):
                continue  # several matrices do without; entropy cuts off ends of ranges that so few values say little of
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
    report, wrong = tool.report(place, "--keep", "RNN_last", "--smooth", "0.5", "--per-tensor")
    count.add("a recurrent layer is kept", wrong or (None if [layer["quantized"] for layer in report["layers"]] == [True, False] and report["cosine"] > 0.99 else f"{report}"))


def check_run_forms(tool, count):
    """An LSTM's state is bytes, too, where held-out samples lose little by that; its weights are bytes up to 63, with a scale for each row."""
    own = np.random.default_rng(21)
    w = lambda *shape, scale: own.normal(0, scale, shape).astype(np.float32)
    for name, louder, flags, wanted in ("both ways", 1, (), "DynamicQuantizeLSTM"), ("layout said", 1, (), "DynamicQuantizeLSTM"), ("by run", 1, ("--scheme", "int8-dynamic"), "DynamicQuantizeLSTM"), ("quick", 1, ("--effort", "quick"), "LSTM"), ("loud", 40, (), "LSTM"):
        g = Graph(14, x=[6, 1, 24])
        y, last, cell = g.add("LSTM", "x", w(2, 64, 24, scale=0.3), w(2, 64, 16, scale=0.2 * louder), w(2, 128, scale=0.1), "", "", "", w(2, 48, scale=0.1), direction="bidirectional", hidden_size=16, outputs=3, **({"layout": 0} if name == "layout said" else {}))
        model = g.model(g.add("Mul", y, np.float32(2)))
        model.graph.output[0].CopyFrom(helper.make_tensor_value_info(model.graph.output[0].name, FLOAT, [6, 2, 1, 16]))
        samples = [w(6, 1, 24, scale=1) for _ in range(8)]
        place = tool.place(model, samples)
        report, wrong = tool.report(place, *flags)
        if not wrong:
            made = onnx.load(place / "q.onnx")
            onnx.checker.check_model(made, full_check=True)
            ops = [node.op_type for node in made.graph.node if "LSTM" in node.op_type]
            (other,), (want,) = (session(m).run(None, {"x": samples[0]}) for m in (made, model))
            got = tool.outputs(place, place / "test_data_set_0")
            near = min(cosine(other, want), cosine(got, want)) > (0.999 if louder == 1 else 0.9) and cosine(other, got) > 0.9999
            wrong = None if ops == [wanted] and near else f"{ops}, cosines {cosine(other, want)}, {cosine(got, want)}"
        count.add(f"an LSTM, {name}", wrong)


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


def check_biases(tool, count):
    """A bias behind a product is float16 in the file where that is nothing beside the rounding of what the product reads, and is added as float32."""
    own = np.random.default_rng(15)
    samples = [own.normal(size=(3, 48)).astype(np.float32) for _ in range(3)]
    fine = own.normal(0, 0.1, 256).astype(np.float32)
    loud = fine.copy()
    loud[7] = 1000.3  # float16 has steps of a half there
    for name, bias, narrow in ("small", fine, True), ("loud", loud, False), ("beyond", np.float32(1e5) + fine, False), ("few", fine[:255], False), ("row", fine[None], True):
        g = Graph(17, x=[3, 48])
        total = g.add("Add", bias, g.add("MatMul", "x", own.normal(0, 0.2, (48, bias.size)).astype(np.float32)))
        model = g.model(g.add("Sub", total, bias.copy()))  # what is added alone would hide what is lost
        model.graph.output[0].CopyFrom(helper.make_tensor_value_info(model.graph.output[0].name, FLOAT, [3, bias.size]))
        place = tool.place(model, samples)
        report, wrong = tool.report(place)
        if not wrong:
            made = onnx.load(place / "q.onnx")
            onnx.checker.check_model(made, full_check=True)
            (other,), (want,) = (session(m).run(None, {"x": samples[0]}) for m in (made, model))
            got = tool.outputs(place, place / "test_data_set_0")
            right = ("FLOAT16" in types_of(made)) == narrow and min(cosine(other, want), cosine(got, want)) > 0.999
            wrong = None if right else f"types {types_of(made)}, cosines {cosine(other, want)}, {cosine(got, want)}"
        count.add(f"a bias of float16, {name}", wrong)


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
    for opset in 19, 22, 23, 24, 25, 26, 27, 28:  # each wants an IR version of its own
        g = Graph(opset, x=[2, 8])
        model = g.model(g.add("MatMul", "x", f(8, 8)))
        place = tool.place(model, [f(2, 8)])
        report, wrong = tool.report(place, "--scheme", "int8")
        least = helper.find_min_ir_version_for([helper.make_opsetid("", opset)])
        count.add(f"opset {opset}", wrong or (None if onnx.load(place / "q.onnx").ir_version == least and report["cosine"] > 0.99 else f"IR version {onnx.load(place / 'q.onnx').ir_version}, and {least} is wanted"))
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


if __name__ == "__main__":
    run(__doc__, "quantized", check_schemes, check_tables, check_biases, check_recurrent, check_run_forms, check_odd_nodes, check_float16_range)
