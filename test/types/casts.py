"""Element types: what Cast makes of every code of each narrow type, and of numbers around them, into it; and that elements of all types are moved
as they are, also those that share a byte.

    casts.py --ingot build/bin/ingot [--target T] [--only NAMES]

Expected is what onnx's reference evaluator gives (numpy with ml_dtypes), bit by bit but for the bits of NaN.
"""
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import ingot_run
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference.ops.op_cast import cast_to

NARROW = ["FLOAT16", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT8E8M0", "FLOAT4E2M1", "INT4", "UINT4", "INT2", "UINT2"]  # fmt: skip
SATURATING = {"FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"}


def dtype(kind):
    return helper.tensor_dtype_to_np_dtype(getattr(TensorProto, kind))


def codes(kind):
    """Every value of a type; an odd number, so that the last byte of packed ones is not full."""
    bits = {"4": 4, "2": 2}.get(kind[-1] if "INT" in kind else "", 4 if kind == "FLOAT4E2M1" else 16 if kind.endswith("16") else 8)
    all_codes = np.arange(2**bits)
    if bits < 8:
        all_codes = np.concatenate([all_codes, all_codes, [1]])
    return all_codes.astype(np.uint16 if bits == 16 else np.uint8).view(dtype(kind)) if bits >= 8 else from_codes(all_codes, kind, bits)


def from_codes(all_codes, kind, bits):
    if kind == "FLOAT4E2M1":
        return all_codes.astype(np.uint8).view(dtype(kind))
    signed = np.where(all_codes >= 2 ** (bits - 1), all_codes - 2**bits, all_codes) if kind.startswith("INT") else all_codes
    return signed.astype(dtype(kind))


def numbers(kind, wide):
    """Values of the type, the middles between neighbours and their neighbours, and what is too large, in float32 or float64."""
    if "INT" in kind:
        low, high = (-8, 7) if kind == "INT4" else (0, 15) if kind == "UINT4" else (-2, 1) if kind == "INT2" else (0, 3)
        return np.arange(low * 8 - 0.5, high * 8 + 8, 0.5).astype(wide)
    values = codes(kind).astype(np.float64)
    values = np.unique(values[np.isfinite(values)])
    values = np.concatenate([values, -values]) if kind == "FLOAT8E8M0" else values
    middles = (values[1:] + values[:-1]) / 2
    middles = np.concatenate([middles, [values[-1] + (values[-1] - values[-2]) / 2]])  # beyond the largest
    all_values = np.concatenate([values, middles, -middles, np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf), [1e30, -1e30, 1e-40, 0.0, -0.0]])
    with np.errstate(over="ignore"):
        all_values = all_values.astype(wide)
        around = np.concatenate([np.nextafter(all_values, wide(np.inf)), np.nextafter(all_values, wide(-np.inf))])
    return np.concatenate([all_values, around, np.array([np.inf, -np.inf, np.nan], wide)])


class Case:
    """One model of casts and movements; `expected` has a value for each output."""

    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.values, self.expected = [], [], [], [], []

    def input(self, value, kind):
        self.inputs.append(helper.make_tensor_value_info(f"x{len(self.inputs)}", getattr(TensorProto, kind), value.shape))
        self.values.append(value)
        return self.inputs[-1].name

    def add(self, op, operands, kind, expected, **attributes):
        name = f"y{len(self.outputs)}"
        self.nodes.append(helper.make_node(op, operands, [name], name=name, **attributes))
        self.outputs.append(helper.make_tensor_value_info(name, getattr(TensorProto, kind), expected.shape))
        self.expected.append(expected)

    def write(self, folder):
        data = folder / "test_data_set_0"
        data.mkdir()
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.constants if hasattr(self, "constants") else [])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=12), folder / "model.onnx")
        for k, value in enumerate(self.values):
            onnx.save_tensor(numpy_helper.from_array(value), data / f"input_{k}.pb")


def out_of(kind):
    """Every value of the type as other types."""
    case, value = Case(), codes(kind)
    x = case.input(value, kind)
    others = ["FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "BOOL"] + (["INT8", "INT32", "INT64", "UINT8"] if "INT" in kind else [])
    for other in [o for o in others if o != kind]:
        with np.errstate(all="ignore"):
            case.add("Cast", [x], other, cast_to(value.astype(np.float32) if "INT" not in kind else value, getattr(TensorProto, other), True), to=getattr(TensorProto, other))
    return case


def into(kind):
    case = Case()
    for wide, name in ((np.float32, "FLOAT"), (np.float64, "DOUBLE"), (dtype("FLOAT16"), "FLOAT16")):
        if name == kind:
            continue
        with np.errstate(all="ignore"):
            value = numbers(kind, np.float32).astype(wide) if name == "FLOAT16" else numbers(kind, wide)
        if "INT" in kind:
            value = value[np.isfinite(value)]
        x = case.input(value, name)
        for saturate in (1, 0) if kind in SATURATING | {"FLOAT8E8M0"} else (1,):
            for how in ("up", "down", "nearest") if kind == "FLOAT8E8M0" else ("up",):
                flags = {"saturate": saturate} if kind in SATURATING | {"FLOAT8E8M0"} else {}
                flags |= {"round_mode": how} if kind == "FLOAT8E8M0" else {}
                with np.errstate(all="ignore"):
                    case.add("Cast", [x], kind, expected(value, kind, saturate, how), to=getattr(TensorProto, kind), **flags)
    return case


def expected(value, kind, saturate, how):
    if "INT" in kind:  # towards zero, and what does not fit wraps
        return cast_to(value.astype(np.int64).astype(np.int8), getattr(TensorProto, kind), True)
    return cast_to(to_odd(value) if value.dtype == np.float64 and kind not in ("FLOAT16", "FLOAT8E8M0") else value, getattr(TensorProto, kind), saturate, how)


def to_odd(value):
    """A float64 as the float32 that rounds as it does: towards zero, with the last bit set where that is not exact. (numpy rounds twice.)"""
    nearest = value.astype(np.float32)
    bits = nearest.view(np.uint32)
    above = np.abs(nearest.astype(np.float64)) > np.abs(value)
    inexact = (nearest != value) & ~np.isnan(value)
    return np.where(inexact, (bits - above) | 1, bits).astype(np.uint32).view(np.float32)


def moved(kind):
    case, value = Case(), codes(kind)[:255]
    value = np.resize(value, 5 * 7).reshape(5, 7)
    x = case.input(value, kind)
    case.add("Identity", [x], kind, value)
    case.add("Transpose", [x], kind, value.T.copy())
    case.add("Reshape", [x, "shape"], kind, value.reshape(7, 5))
    case.add("Concat", [x, "w"], kind, np.concatenate([value, value[::-1]]), axis=0)
    case.add("Gather", [x, "rows"], kind, value[[3, 0, 3]])
    case.constants = [numpy_helper.from_array(np.array([7, 5], np.int64), "shape"), numpy_helper.from_array(np.array([3, 0, 3], np.int64), "rows"),
                      numpy_helper.from_array(value[::-1].copy(), "w")]  # fmt: skip
    return case


def bits_differ(got, want):
    if text := ingot_run.different_kind(got, want):
        return text
    with np.errstate(all="ignore"):
        a, b = got.astype(np.float64), want.astype(np.float64)
    same = (a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)
    if same.all():
        return None
    first = np.argwhere(~same)[0]
    return f"{np.count_nonzero(~same)} of {want.size} differ, first at {first.tolist()}: {a[tuple(first)]}, expected {b[tuple(first)]}"


CASES = {f"{what.__name__}-{kind}": (what, kind) for kind in NARROW for what in (out_of, into, moved)}


def one(arguments, name):
    what, kind = CASES[name]
    case = what(kind)
    with tempfile.TemporaryDirectory(prefix="ingot-casts-") as folder:
        folder = pathlib.Path(folder)
        case.write(folder)
        verdict, text = ingot_run.run(arguments.ingot, folder, folder / "out", arguments.target)
        wrong = [] if verdict == "pass" else [text]
        for k, want in enumerate(case.expected if verdict == "pass" else []):
            if text := bits_differ(ingot_run.load(folder / "out" / f"output_{k}.pb"), want):
                node = case.nodes[k]
                wrong.append(f"{node.op_type} {[(a.name, onnx.helper.get_attribute_value(a)) for a in node.attribute]} of {node.input[0]}: {text}")
    return name, wrong


if __name__ == "__main__":
    ingot_run.run_named(__doc__, CASES, one, most_lines=6)
