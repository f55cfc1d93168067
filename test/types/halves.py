"""float16 and bfloat16: what operators of each kernel family compute in them is within 2 units in the last place of what ONNX Runtime computes of the
same numbers in float32, rounded.

    halves.py --ingot build/bin/ingot [--target T] [--only NAMES] [--strict]

Sums that cancel have fewer correct digits in float32, too: inputs and weights are mostly positive.
"""
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import ingot_run
import numpy as np
import onnx
import peer
from onnx import TensorProto, helper, numpy_helper

KINDS = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}
UNITS = {"f16": (2.0**-10, 2.0**-24), "bf16": (2.0**-7, 2.0**-133)}  # of 1, and the least

X, W = object(), object()  # a drawn tensor as an input, as a constant
# name: operator, operands (X or W with a shape, or integers), outputs, attributes
CASES = {
    "add": ("Add", [(X, 3, 37), (W, 37)], 1, {}),
    "sub-broadcast": ("Sub", [(X, 2, 1, 19), (X, 5, 1)], 1, {}),
    "mul": ("Mul", [(X, 129), (X, 129)], 1, {}),
    "div": ("Div", [(X, 4, 33), (X, 4, 33)], 1, {}),
    "pow": ("Pow", [(X, 40), (W,)], 1, {}),
    "max": ("Max", [(X, 3, 9), (X, 3, 1), (W, 9)], 1, {}),
    "mod": ("Mod", [(X, 40), (X, 40)], 1, {"fmod": 1}),
    "exp": ("Exp", [(X, 7, 11)], 1, {}),
    "log": ("Log", [(X, 50)], 1, {}),
    "sqrt": ("Sqrt", [(X, 50)], 1, {}),
    "tanh": ("Tanh", [(X, 50)], 1, {}),
    "erf": ("Erf", [(X, 50)], 1, {}),
    **{name.lower(): (name, [(X, 50)], 1, {}) for name in ("Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Atanh")},
    "sigmoid": ("Sigmoid", [(X, 50)], 1, {}),
    "gelu": ("Gelu", [(X, 50)], 1, {}),
    "softplus": ("Softplus", [(X, 50)], 1, {}),
    "floor": ("Floor", [(X, 50)], 1, {}),
    "where": ("Where", [("bools", 4, 9), (X, 4, 9), (W, 9)], 1, {}),
    "clip": ("Clip", [(X, 33), (W,)], 1, {}),
    "equal": ("Equal", [(X, 33), (X, 33)], 1, {}),
    "softmax": ("Softmax", [(X, 5, 67)], 1, {}),
    "softmax-long": ("Softmax", [(X, 2, 1000)], 1, {}),
    "log-softmax-outer": ("LogSoftmax", [(X, 9, 6)], 1, {"axis": 0}),
    "reduce-sum": ("ReduceSum", [(X, 4, 300)], 1, {}),
    "reduce-mean": ("ReduceMean", [(X, 6, 50, 3)], 1, {}),
    "reduce-l2": ("ReduceL2", [(X, 5, 100)], 1, {}),
    "reduce-max": ("ReduceMax", [(X, 5, 100)], 1, {}),
    "reduce-log-sum-exp": ("ReduceLogSumExp", [(X, 5, 100)], 1, {}),
    "arg-max": ("ArgMax", [(X, 5, 100)], 1, {"axis": 1}),
    "top-k": ("TopK", [(X, 5, 100), [7]], 2, {}),
    "cum-sum": ("CumSum", [(X, 5, 60), 1], 1, {}),
    "layer-norm": ("LayerNormalization", [(X, 5, 64), (W, 64), (W, 64)], 1, {}),
    "rms-norm": ("RMSNormalization", [(X, 5, 64), (W, 64)], 1, {}),
    "instance-norm": ("InstanceNormalization", [(X, 2, 3, 40), (W, 3), (W, 3)], 1, {}),
    "group-norm": ("GroupNormalization", [(X, 2, 6, 5, 7), (W, 6), (W, 6)], 1, {"num_groups": 3}),
    "batch-norm": ("BatchNormalization", [(X, 2, 5, 7), (W, 5), (W, 5), (W, 5), (W, 5)], 1, {}),
    "lp-norm": ("LpNormalization", [(X, 5, 30)], 1, {}),
    "lrn": ("LRN", [(X, 1, 9, 4, 4)], 1, {"size": 3}),
    "max-pool": ("MaxPool", [(X, 1, 20, 13, 13)], 1, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "average-pool": ("AveragePool", [(X, 1, 5, 13, 13)], 1, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    "global-average-pool": ("GlobalAveragePool", [(X, 2, 17, 9, 9)], 1, {}),
    "matmul-constant": ("MatMul", [(X, 13, 70), (W, 70, 50)], 1, {}),
    "matmul-row": ("MatMul", [(X, 1, 200), (W, 200, 100)], 1, {}),
    "matmul": ("MatMul", [(X, 2, 9, 33), (X, 2, 33, 21)], 1, {}),
    "matmul-many": ("MatMul", [(X, 64, 40), (X, 40, 35)], 1, {}),
    "gemm": ("Gemm", [(X, 9, 30), (W, 20, 30), (W, 20)], 1, {"transB": 1, "alpha": 0.5}),
    "gemm-transposed": ("Gemm", [(X, 30, 9), (X, 20, 30)], 1, {"transA": 1, "transB": 1}),
    "einsum": ("Einsum", [(X, 4, 9, 6), (X, 4, 6, 5)], 1, {"equation": "bij,bjk->bik"}),
    "conv": ("Conv", [(X, 1, 16, 12, 12), (W, 24, 16, 3, 3), (W, 24)], 1, {"pads": [1, 1, 1, 1]}),
    "conv-tiles": ("Conv", [(X, 1, 64, 29, 30), (W, 64, 64, 3, 3), (W, 64)], 1, {"pads": [1, 1, 1, 1]}),  # by Winograd, but if strict
    "conv-odd": ("Conv", [(X, 2, 5, 9, 11), (W, 7, 5, 3, 2), (W, 7)], 1, {"strides": [2, 1]}),
    "conv-pointwise": ("Conv", [(X, 1, 32, 7, 7), (W, 40, 32, 1, 1)], 1, {}),
    "conv-stem": ("Conv", [(X, 1, 3, 31, 31), (W, 16, 3, 7, 7)], 1, {"pads": [3, 3, 3, 3], "strides": [2, 2]}),
    "conv-depthwise": ("Conv", [(X, 1, 24, 10, 10), (W, 24, 1, 3, 3), (W, 24)], 1, {"pads": [1, 1, 1, 1], "group": 24}),
    "conv-grouped": ("Conv", [(X, 1, 8, 10), (W, 12, 4, 3)], 1, {"group": 2}),
    "conv-data": ("Conv", [(X, 1, 4, 8, 8), (X, 6, 4, 3, 3), (X, 6)], 1, {}),
    "conv-transpose": ("ConvTranspose", [(X, 1, 8, 6, 6), (W, 8, 5, 4, 4), (W, 5)], 1, {"strides": [2, 2]}),
    "lstm": ("LSTM", [(X, 4, 2, 6), (W, 1, 20, 6), (W, 1, 20, 5), (W, 1, 40)], 3, {"hidden_size": 5}),
    "gru-data": ("GRU", [(X, 3, 2, 6), (X, 1, 15, 6), (X, 1, 15, 5)], 2, {"hidden_size": 5}),
    "attention": ("Attention", [(X, 1, 2, 9, 16), (X, 1, 2, 20, 16), (X, 1, 2, 20, 16)], 1, {}),
    "resize-linear": ("Resize", [("positive", 1, 3, 5, 5), None, [1.0, 1.0, 2.0, 1.7]], 1, {"mode": "linear"}),
    "resize-nearest": ("Resize", [(X, 1, 3, 5, 5), None, [1.0, 1.0, 2.0, 2.0]], 1, {"mode": "nearest"}),
    "grid-sample": ("GridSample", [(X, 1, 2, 6, 6), (X, 1, 4, 4, 2)], 1, {}),
    "gather": ("Gather", [(X, 6, 9), [4, 0, 4]], 1, {}),
    "gather-elements": ("GatherElements", [(X, 2, 3), [[0, 1, 0]]], 1, {}),
    "scatter-add": ("ScatterElements", [(X, 3, 3), [[0, 2, 0], [0, 1, 2]], (X, 2, 3)], 1, {"reduction": "add"}),
    "scatter-nd": ("ScatterND", [(X, 8), [[1], [6]], (X, 2)], 1, {}),
    "concat": ("Concat", [(X, 3, 5), (W, 2, 5)], 1, {"axis": 0}),
    "pad": ("Pad", [(X, 3, 5), [1, 2, 0, 1], (W,)], 1, {}),
    "pad-reflect": ("Pad", [(X, 5, 6), [1, 2, 2, 1]], 1, {"mode": "reflect"}),
    "transpose": ("Transpose", [(X, 3, 33, 17)], 1, {"perm": [2, 0, 1]}),
    "slice": ("Slice", [(X, 9, 20), [1, 15], [8, 2], [0, 1], [2, -3]], 1, {}),
    "expand": ("Expand", [(X, 3, 1), [2, 3, 6]], 1, {}),
    "tile": ("Tile", [(X, 3, 2), [2, 3]], 1, {}),
    "trilu": ("Trilu", [(X, 6, 6)], 1, {}),
    "one-hot-values": ("OneHot", [[1, 3], 5, (X, 2)], 1, {}),
    "depth-to-space": ("DepthToSpace", [(X, 1, 8, 3, 3)], 1, {"blocksize": 2}),
    "unique": ("Unique", [(X, 20)], 1, {}),
    "non-zero": ("NonZero", [(X, 5, 5)], 1, {}),
    "is-nan": ("IsNaN", [(X, 9)], 1, {}),
    "nll": ("SoftmaxCrossEntropyLoss", [(X, 5, 9), [1, 0, 8, 3, 2]], 1, {}),
}  # fmt: skip


def drawn(random, kind, shape):
    """Positive mostly, near 1."""
    value = random.uniform(-0.25, 1.75, shape).astype(np.float32)
    return value.astype(helper.tensor_dtype_to_np_dtype(KINDS[kind]))


def models(kind, name, random):
    """The model in the type and in float32, with inputs for each."""
    op, operands, count, attributes = CASES[name]
    names, graphs = [], {kind: ([], [], []), "f32": ([], [], [])}  # inputs, their values, constants
    for number, operand in enumerate(operands):
        names.append(f"a{number}" if operand is not None else "")
        if operand is None:
            continue
        if isinstance(operand, tuple):
            value = random.integers(0, 2, operand[1:]).astype(bool) if operand[0] == "bools" else drawn(random, kind, operand[1:])
            value = np.abs(value) if operand[0] == "positive" else value
        else:
            value = np.array(operand, np.float32 if isinstance(operand, list) and isinstance(operand[0], float) else np.int64)
        for which, (inputs, values, constants) in graphs.items():
            own = value.astype(np.float32) if which == "f32" and value.dtype not in (np.int64, np.bool_) else value
            if isinstance(operand, tuple) and operand[0] is not W:
                inputs.append(helper.make_tensor_value_info(names[-1], helper.np_dtype_to_tensor_dtype(own.dtype), own.shape))
                values.append(own)
            else:
                constants.append(numpy_helper.from_array(own, names[-1]))
    node = helper.make_node(op, names, [f"y{k}" for k in range(count)], **attributes)
    result = {}
    for which, (inputs, values, constants) in graphs.items():
        outputs = [helper.make_empty_tensor_value_info(f"y{k}") for k in range(count)]
        graph = helper.make_graph([node], "g", inputs, outputs, constants)
        result[which] = (helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10), values)
    return result


def typed(model, values, kind):
    """The types of the outputs, which a model must say."""
    for output, value in zip(model.graph.output, values):
        element = KINDS[kind] if value.dtype == np.float32 else helper.np_dtype_to_tensor_dtype(value.dtype)
        output.CopyFrom(helper.make_tensor_value_info(output.name, element, value.shape))


def differs(got, want, kind):
    if want.dtype != np.float32:
        return ingot_run.difference(got, want)
    rounded = want.astype(got.dtype)
    if text := ingot_run.different_kind(got, rounded):
        return text
    a, b = got.astype(np.float64), rounded.astype(np.float64)
    unit = np.maximum(2.0 ** np.floor(np.log2(np.maximum(np.abs(b), 1e-40))) * UNITS[kind][0], UNITS[kind][1])
    wrong = np.argwhere(~((np.abs(a - b) <= 2 * unit) | (a == b) | (np.isnan(a) & np.isnan(b))))
    if not len(wrong):
        return None
    first = tuple(wrong[0])
    return f"{len(wrong)} of {want.size} differ, first at {wrong[0].tolist()}: {a[first]}, expected {b[first]}"


def one(arguments, name):
    wrong = []
    for kind in KINDS:
        pair = models(kind, name, np.random.default_rng(sum(map(ord, name))))
        model, values = pair["f32"]
        inputs = {value.name: array for value, array in zip(model.graph.input, values)}
        try:
            want = peer.session(model).run(None, inputs)
        except Exception as error:
            return name, [f"the case is wrong: {str(error)[:200]}"]
        model, values = pair[kind]
        typed(model, want, kind)
        with tempfile.TemporaryDirectory(prefix="ingot-halves-") as folder:
            folder = pathlib.Path(folder)
            (folder / "test_data_set_0").mkdir()
            onnx.save(model, folder / "model.onnx")
            for k, value in enumerate(values):
                onnx.save_tensor(numpy_helper.from_array(value), folder / "test_data_set_0" / f"input_{k}.pb")
            verdict, text = ingot_run.run(arguments.ingot, folder, folder / "out", arguments.target, flags=["--accuracy", "strict"] if arguments.strict else [])
            if verdict != "pass":
                wrong.append(f"{kind}: {text}")
            for k, value in enumerate(want if verdict == "pass" else []):
                if text := differs(ingot_run.load(folder / "out" / f"output_{k}.pb"), value, kind):
                    wrong.append(f"{kind}: output {k}: {text}")
    return name, wrong


if __name__ == "__main__":
    ingot_run.run_named(__doc__, CASES, one, most_lines=4, switches=["strict"])
