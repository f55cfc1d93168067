"""Integers of 32 and 64 bits that no float holds (times, ids, hashes, masks, the ends of the types): every operator that takes them, exactly.

    integers.py --ingot build/bin/ingot [--target T] [--only NAMES]

Expected is what numpy gives in the type itself. Each operator is computed with its later operands as constants, with all operands as inputs whose axes are
open, and with all of them as constants, which the compiler folds; some of them on sizes that are open, and in loops.
"""
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import ingot_run
import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

I64, U64, I32, U32 = np.int64, np.uint64, np.int32, np.uint32
MOST, LEAST, ID, NOW = 2**63 - 1, -(2**63), 2**53 + 1, 1700000000123456789
TIMES = np.array([NOW, NOW + 1, NOW + 21, NOW - 1000, NOW + 3_600_000_000_001], I64)
SIGNED = np.array([MOST, LEAST, ID, -ID, 3, MOST - 1, 0, 2**60 + 1], I64)
UNSIGNED = np.array([2**64 - 1, 2**63, 2**63 + 1, ID, 0, 1, 2**64 - 2], U64)
SHORT = np.array([2**32 - 1, 2**31, 0, 2, 2**24 + 1], U32)
ROWS = []  # name, operator, operands, expected, number of the first operand that is always a constant, attributes


def row(op, operands, expected, fixed=None, **attributes):
    name = f"{op}-{sum(other[1] == op for other in ROWS)}"
    ROWS.append((name, op, operands, expected if isinstance(expected, list) else [expected], len(operands) if fixed is None else fixed, attributes))


def alike(number, kind):
    return np.array(number, kind)


def products(a, b, kind):
    """A matrix product of Python's integers, of which the type keeps the low bits."""
    bits = 8 * np.dtype(kind).itemsize
    exact = [[sum(int(x) * int(y) for x, y in zip(line, column)) % 2**bits for column in b.T] for line in a]
    return np.array(exact, np.dtype(f"u{bits // 8}")).view(kind)


with np.errstate(all="ignore"):
    for kind, x, numbers in [(I64, SIGNED, [MOST, LEAST, -ID]), (I64, TIMES, [NOW]), (U64, UNSIGNED, [2**64 - 1]), (U32, SHORT, [2**24 + 1])]:
        for number in numbers:
            c = alike(number, kind)
            row("Add", [x, c], x + c)
            row("Sub", [x, c], x - c)
            row("Mul", [x, c], x * c)
            row("Less", [x, c], x < c)
            row("Equal", [x, c], x == c)
            row("GreaterOrEqual", [x, c], x >= c)
            row("Min", [x, c], np.minimum(x, c))
            row("Max", [x, c], np.maximum(x, c))
            row("BitwiseAnd", [x, c], x & c)
            row("BitwiseXor", [x, c], x ^ c)
            row("Div", [x, c], np.array([abs(int(n)) // abs(number) * (1 if (n < 0) == (number < 0) else -1) % 2**64 for n in x], U64).astype(kind))
            row("Mod", [x, c], np.array([int(n) % number for n in x], kind))
            row("Where", [x > 3, x, c], np.where(x > 3, x, c))
            row("Clip", [x, alike(3, kind), c], np.minimum(np.maximum(x, alike(3, kind)), c))
            row("Pad", [x, np.array([1, 2], I64), c], np.pad(x, (1, 2), constant_values=c), fixed=1)
            row("Concat", [x, c.reshape(1)], np.concatenate([x, [c]]), axis=0)
            row("ScatterElements", [x, np.array([1], I64), c.reshape(1)], np.concatenate([x[:1], [c], x[2:]]))
            row("CumSum", [x, alike(0, I64)], np.cumsum(x, dtype=kind), fixed=1)
        row("ReduceMin", [x], x.min(keepdims=True))
        row("ReduceMax", [x], x.max(keepdims=True))
        row("ReduceSum", [x], x.sum(keepdims=True, dtype=kind))
        row("ArgMax", [x], np.array([x.argmax()]))
        row("ArgMin", [x], np.array([x.argmin()]))
        row("TopK", [x, np.array([2], I64)], [np.sort(x)[::-1][:2].copy(), np.argsort(-x.astype(object), kind="stable")[:2].astype(I64)], fixed=1, axis=0)
        for exponent in (2, 3, 5, 63):
            row("Pow", [x, alike(exponent, kind)], np.array([pow(int(n), exponent, 2**64) for n in x], U64).astype(kind))
        row("Einsum", [x, x], products(x.reshape(1, -1), x.reshape(-1, 1), kind).reshape(()), equation="i,i->")
        for target in (np.float32, np.float64, I32, U32, I64, U64, bool):
            row("Cast", [x], x.astype(target), to=helper.np_dtype_to_tensor_dtype(np.dtype(target)))
    # Rounded once: by way of float64 it would be the float below.
    row("Cast", [np.array([2**60 + 2**36 + 1, -(2**60 + 2**36 + 1)], I64)], np.array([2**60 + 2**37, -(2**60 + 2**37)], np.float32), to=TensorProto.FLOAT)
    row("Cast", [np.array([2**53 + 2.0, 9.21e18, -9.21e18, float(LEAST)])], np.array([2**53 + 2, int(9.21e18), int(-9.21e18), LEAST], I64), to=TensorProto.INT64)
    row("Cast", [np.array([9.21e18, 1.8e19, 2.0**63])], np.array([int(9.21e18), int(1.8e19), 2**63], U64), to=TensorProto.UINT64)
    row("Range", [alike(NOW, I64), alike(NOW + 7, I64), alike(3, I64)], np.arange(NOW, NOW + 7, 3, I64))
    row("Range", [alike(MOST, I64), alike(MOST - 9, I64), alike(-4, I64)], np.array([MOST, MOST - 4, MOST - 8], I64))
    row("Slice", [np.arange(5.0, dtype=np.float32), np.array([-1], I64), np.array([MOST], I64), np.array([0], I64), np.array([-1], I64)], np.zeros(0, np.float32), fixed=1)
    row("Slice", [np.arange(5.0, dtype=np.float32), np.array([MOST], I64), np.array([LEAST], I64), np.array([0], I64), np.array([-2], I64)], np.array([4, 2, 0], np.float32), fixed=1)
    hot = lambda indices, off, on, depth=3: np.where(np.asarray(indices).astype(object)[:, None] == np.arange(depth), on, off)
    for kind, indices in [(U64, [0, 2, 2**64 - 1, 2**63, 1, 3]), (U32, [2**32 - 1, 1, 2]), (np.uint8, [255, 1, 2]), (np.uint16, [65535, 0])]:
        row("OneHot", [np.array(indices, kind), alike(3, I64), np.array([ID, MOST], I64)], hot(indices, ID, MOST).astype(I64), fixed=1)
    row("OneHot", [np.array([0, -1, 2, -3, 3, -4, LEAST, MOST], I64), alike(3, I64), np.array([0.0, 1.0], np.float32)],
        hot([0, 2, 2, 0, 3, 3, 3, 3], 0.0, 1.0).astype(np.float32), fixed=1)
    # Roots of integers are taken in float32, as the standard's function does, and come back as the type.
    for kind in (U64, U32, I64, I32):
        row("ReduceL2", [np.array([3, 4], kind)], np.array([5], kind))
        row("ReduceL1", [np.array([3, 4], kind)], np.array([7], kind))
    a, b = SIGNED[:6].reshape(2, 3), SIGNED[2:8].reshape(3, 2)
    row("MatMul", [a, b], products(a, b, I64))
    row("Gemm", [a, b, alike(ID, I64).reshape(1)], products(3 * a.astype(object), b, I64) - 2 * alike(ID, I64), alpha=3.0, beta=-2.0)
    row("Gemm", [np.array([[3, 5]], I32), np.array([[7], [2]], I32), np.array([5], I32)], np.array([[18]], I32), alpha=0.5, beta=0.6)
    for kind in (np.int8, np.uint8, np.int16, np.uint16):
        limits = np.iinfo(kind)
        x = np.array([[limits.min, limits.max, 3], [7, limits.max - 1, 100]], kind)
        row("Einsum", [x, x], products(x, x.T, kind), equation="ij,kj->ik")
        row("Einsum", [x], x.sum(axis=1, dtype=kind), equation="ij->i")


class Model:
    """`mode`: "constants" has the first operand as an input, "inputs" all that are not fixed, with open axes, "folded" none."""

    def __init__(self, mode, rows=None):
        self.mode, self.feeds, self.inputs, self.constants, self.nodes, self.outputs, self.expected, self.names = mode, [], [], [], [], [], [], []
        for name, op, operands, expected, fixed, attributes in rows or ROWS:
            results = [f"{name}.{k}" for k in range(len(expected))]
            self.nodes.append(helper.make_node(op, [self.operand(f"{name}_{k}", v, k, fixed) for k, v in enumerate(operands)], results, name=name, **attributes))
            self.outputs += [helper.make_empty_tensor_value_info(result) for result in results]
            self.expected += expected
            self.names += results

    def operand(self, name, value, number, fixed):
        if number >= fixed or self.mode == "folded" or (self.mode == "constants" and number):
            self.constants.append(numpy_helper.from_array(value, name))
        else:
            shape = value.shape if self.mode == "constants" else [f"{name}_{axis}" for axis in range(value.ndim)]
            self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), shape))
            self.feeds.append(value)
        return name

    def write(self, folder):
        data = folder / "test_data_set_0"
        data.mkdir()
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), folder / "model.onnx")
        for k, value in enumerate(self.feeds):
            onnx.save_tensor(numpy_helper.from_array(value), data / f"input_{k}.pb")


SIZES = """< ir_version: 8, opset_import: ["" : 18] >
g (float[n, 3] x) => (int64[2] a, bool[2] b, int64[2] c, int64[2] d, int64[2] e, int64[2] f, int64[2] h, bool[2] k, float[m, 3] l, int64 p)
  <int64 most = {9223372036854775807}, int64 id = {9007199254740993}, int64 one = {1}, bool yes = {1}, int64 few = {3},
   int64[1] from = {1}, int64[1] to = {9223372036854775807}>
{
  s = Shape (x)
  less = Sub (s, one)
  a = Min (less, most)
  b = Less (s, most)
  c = Add (s, id)
  d = Sub (most, s)
  e = Max (s, id)
  f = Mul (s, id)
  h = Where (b, s, most)
  k = Equal (s, id)
  l = Slice (x, from, to)
  p = Loop (most, yes, id) <body = step (int64 i, bool before, int64 sum) => (bool goes, int64 next) {
    goes = Less (i, few)
    next = Add (sum, id)
  }>
}
"""


class OnSizes:
    """Sizes that a run says, beside large numbers, and a loop without a bound."""

    def __init__(self):
        self.x = np.arange(15, dtype=np.float32).reshape(5, 3)
        s = np.array([5, 3], I64)
        self.expected = [s - 1, s < MOST, s + ID, MOST - s, np.maximum(s, ID), s * ID, s, s == ID, self.x[1:], np.array(ID * 5, I64)]
        self.names = "abcdefhklp"

    def write(self, folder):
        (folder / "test_data_set_0").mkdir()
        onnx.save(onnx.parser.parse_model(SIZES), folder / "model.onnx")
        onnx.save_tensor(numpy_helper.from_array(self.x), folder / "test_data_set_0" / "input_0.pb")


def differs(got, want):
    want = np.asarray(want)
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    return None if np.array_equal(got, want) else f"{got.tolist()}, expected {want.tolist()}"


# All operators of a mode in one model, which is compiled in little more time than one of them. A few, for the compilers of C++ source.
CASES = {**{mode: lambda mode=mode: Model(mode) for mode in ("constants", "inputs", "folded")}, "sizes": OnSizes, "literals": lambda: Model("constants", ROWS[:18])}


def one(arguments, name):
    model = CASES[name]()
    with tempfile.TemporaryDirectory(prefix="ingot-integers-") as folder:
        folder = pathlib.Path(folder)
        model.write(folder)
        verdict, text = ingot_run.run(arguments.ingot, folder, folder / "out", arguments.target)
        wrong = [] if verdict == "pass" else [text]
        for k, want in enumerate(model.expected if verdict == "pass" else []):
            if text := differs(ingot_run.load(folder / "out" / f"output_{k}.pb"), want):
                wrong.append(f"{model.names[k]}: {text}")
    return name, wrong


if __name__ == "__main__":
    ingot_run.run_named(__doc__, CASES, one, most_lines=12)
