"""Operators that walk down many columns together (lower/core/Columns.h), beside numpy in double precision: sizes around those of vectors and strips,
open rows, NaN and infinities, types of 1, 4 and 8 bytes.

    columns.py --ingot build/bin/ingot [--target T] [--only NAMES]
"""
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import ingot_run
import numpy as np
import onnx.parser
from onnx import numpy_helper

TYPES = {"float": np.float32, "int32": np.int32, "int64": np.int64, "uint8": np.uint8, "double": np.float64}
SHAPES = [(16, 256), (17, 257), (37, 1031), (150, 512), (3, 19, 640), (1, 2049)]


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def running(x, axis, reverse, exclusive):
    x = np.flip(x, axis) if reverse else x
    y = np.cumsum(x, axis=axis)
    if exclusive:
        first = np.zeros_like(np.take(y, [0], axis))
        y = np.concatenate([first, np.delete(y, -1, axis)], axis)
    return np.flip(y, axis) if reverse else y


# name: the node, with {axis}; the types; what numpy makes of x and the axis; the tolerance for each element that is added up
OPERATORS = {
    "sum": ("y = ReduceSum<keepdims=0>(x, axes)", ("float", "int32", "double"), lambda x, a: x.sum(axis=a), 1e-7),
    "max": ("y = ReduceMax<keepdims=0>(x, axes)", ("float", "uint8", "int64"), lambda x, a: x.max(axis=a), 0),
    "mean": ("y = ReduceMean<keepdims=1>(x, axes)", ("float",), lambda x, a: x.mean(axis=a, keepdims=True), 1e-7),
    "l2": ("y = ReduceL2<keepdims=0>(x, axes)", ("float",), lambda x, a: np.sqrt((x * x).sum(axis=a)), 1e-7),
    "scaled-sum": ("s = ReduceSum<keepdims=0>(x, axes) y = Tanh(s)", ("float",), lambda x, a: np.tanh(x.sum(axis=a)), 1e-7),
    "softmax": ("y = Softmax<axis={axis}>(x)", ("float", "double"), softmax, 1e-8),
    "log-softmax": ("y = LogSoftmax<axis={axis}>(x)", ("float",), lambda x, a: np.log(softmax(x, a)), 1e-7),
    "softmax-plus": ("s = Softmax<axis={axis}>(x) y = Add(s, x)", ("float",), lambda x, a: softmax(x, a) + x, 1e-8),
    "arg-max": ("y = ArgMax<axis={axis}, keepdims=0>(x)", ("float", "int32", "uint8"), lambda x, a: x.argmax(axis=a), 0),
    "arg-min-last": ("y = ArgMin<axis={axis}, keepdims=0, select_last_index=1>(x)", ("float",), lambda x, a: x.shape[a] - 1 - np.flip(x, a).argmin(axis=a), 0),
    "running": ("y = CumSum(x, axis)", ("float", "int64"), lambda x, a: running(x, a, False, False), 1e-6),
    "running-back": ("y = CumSum<reverse=1>(x, axis)", ("float",), lambda x, a: running(x, a, True, False), 1e-6),
    "running-before": ("y = CumSum<exclusive=1, reverse=1>(x, axis)", ("float", "int32"), lambda x, a: running(x, a, True, True), 1e-6),
    "running-half": ("s = CumSum(x, axis) half = Constant<value_float=0.5>() y = Mul(s, half)", ("float",), lambda x, a: running(x, a, False, False) / 2, 1e-6),
}  # fmt: skip
CASES = {f"{name}-{kind}-{'x'.join(map(str, shape))}": (name, kind, shape) for name, row in OPERATORS.items() for kind in row[1] for shape in SHAPES}


def values(kind, shape, rng):
    if kind == "uint8":
        return rng.integers(0, 256, shape).astype(np.uint8)
    if kind.startswith("int"):
        return rng.integers(-1000, 1000, shape).astype(TYPES[kind])
    x = rng.standard_normal(shape).astype(TYPES[kind])
    x[..., 3:5] = rng.integers(0, 3, (*shape[:-1], 2))  # some are equal
    x[..., 0, 7], x[..., -1, 8], x[..., shape[-2] // 2, -1] = np.nan, np.nan, np.inf
    return x


def wrong(got, want, tolerance):
    if got.shape != want.shape:
        return f"the shape is {got.shape}, expected {want.shape}"
    if tolerance == 0 or got.dtype.kind != "f":
        bad = ~((got == want) | ((got != got) & (want != want)))
    else:
        with np.errstate(invalid="ignore"):
            near = np.abs(got - want) <= tolerance * (1 + np.abs(want)) + 1e-6 * np.abs(want)
        bad = ~(near | (got == want) | (np.isnan(got) & np.isnan(want)))
    return f"{bad.sum()} of {bad.size} differ, first at {np.argwhere(bad)[0].tolist()}: {got[bad][0]}, expected {want[bad][0]}" if bad.any() else None


def one(arguments, case):
    name, kind, shape = CASES[case]
    body, _, reference, each = OPERATORS[name]
    axis = len(shape) - 2
    x = values(kind, shape, np.random.default_rng(sum(map(ord, case))))
    with np.errstate(all="ignore"):
        want = reference(x.astype(np.float64) if x.dtype.kind == "f" else x, axis)
    output = "int64" if name.startswith("arg") else kind
    for rows in (shape[axis], "n"):
        dims = ",".join(str(rows if k == axis else size) for k, size in enumerate(shape))
        operand = {"axes": f"int64[1] axes = {{{axis}}}", "axis)": f"int64 axis = {{{axis}}}"}
        constants = ", ".join(text for word, text in operand.items() if word in body)
        text = f'<ir_version: 10, opset_import: ["": 20]> g ({kind}[{dims}] x) => ({output} y) <{constants}> {{ {body.format(axis=axis)} }}'
        model = onnx.parser.parse_model(text)
        value = model.graph.output[0].type.tensor_type
        value.ClearField("shape")
        with tempfile.TemporaryDirectory(prefix="ingot-columns-") as folder:
            folder = pathlib.Path(folder)
            (folder / "test_data_set_0").mkdir()
            onnx.save(model, folder / "model.onnx")
            onnx.save_tensor(numpy_helper.from_array(x), folder / "test_data_set_0" / "input_0.pb")
            verdict, text = ingot_run.run(arguments.ingot, folder, folder / "out", arguments.target)
            if verdict == "pass":
                text = wrong(ingot_run.load(folder / "out" / "output_0.pb"), want, each * shape[axis])
            if text:
                return case, [f"{rows} rows: {text}"]
    return case, []


if __name__ == "__main__":
    ingot_run.run_named(__doc__, CASES, one)
