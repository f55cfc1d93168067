"""Elementwise operators at the edges of floats: zeros of both signs, infinities, NaN, the smallest and largest numbers, and what is far beyond.

    edges.py --ingot build/bin/ingot [--target T] [--only NAMES]

Constants of an operator, and operators around it, let the compiler write others in its place (x^-0.5 as 1/sqrt(x), gates as one function): each such form must
be what the model's own operators give, of numpy in float64, rounded after each of them. Formulas of several operators may differ in rounding, but not in what is
infinite, NaN or zero, and not in the sign of a zero.
"""
import math
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import ingot_run
import numpy as np
from onnx import TensorProto, helper, numpy_helper

np.seterr(all="ignore")
# numpy takes the root of what has the exponent 0.5 as one number, which is another function: arrays it gives to the C library.
TYPES = {"float": (np.float32, TensorProto.FLOAT), "double": (np.float64, TensorProto.DOUBLE), "float16": (np.float16, TensorProto.FLOAT16)}
erf = np.vectorize(math.erf, otypes=[np.float64])
sigmoid = lambda x: 1 / (1 + np.exp(-x))
softplus = lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
maximum = lambda x, y: np.where((x == 0) & (y == 0), x + y, np.maximum(x, y))  # of two zeros the one that IEEE 754 says
FUNCTIONS = {  # of float64
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": lambda x, y: np.power(*map(np.copy, np.broadcast_arrays(x, y))), "Mod": np.fmod,
    "Max": maximum, "Min": lambda x, y: -maximum(-x, -y), "Clip": lambda x, low, high: np.where(x < low, low, np.where(x > high, high, x)), "Neg": np.negative, "Abs": np.abs, "Sqrt": np.sqrt,
    "Reciprocal": lambda x: 1 / x, "Exp": np.exp, "Log": np.log, "Erf": erf, "Tanh": np.tanh, "Sigmoid": sigmoid, "Softplus": softplus,
    "Sin": np.sin, "Cos": np.cos, "Tan": np.tan, "Atan": np.arctan, "Asinh": np.arcsinh, "Floor": np.floor, "Round": np.round, "Sign": np.sign,
    "Relu": lambda x: np.where(x < 0, 0, x), "LeakyRelu": lambda x, alpha: np.where(x < 0, alpha * x, x), "Softsign": lambda x: x / (1 + np.abs(x)),
    "Elu": lambda x, alpha: np.where(x < 0, alpha * (np.exp(x) - 1), x), "HardSigmoid": lambda x: np.minimum(np.maximum(x * np.float32(0.2) + 0.5, 0), 1),
    "HardSwish": lambda x: x * np.minimum(np.maximum(x / 6 + 0.5, 0), 1), "Swish": lambda x, alpha: x / (1 + np.exp(-np.float32(alpha) * x)),
    "Gelu": lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))), "Mish": lambda x: x * np.tanh(softplus(x)),
}  # fmt: skip


class Graph:
    """A model and what it gives, made together."""

    def __init__(self, kind):
        self.dtype, self.number = TYPES[kind]
        self.nodes, self.constants, self.outputs, self.values, self.small = [], [], [], {}, set()
        largest, least, normal = (float(value) for value in (np.finfo(self.dtype).max, np.finfo(self.dtype).smallest_subnormal, np.finfo(self.dtype).tiny))
        root = math.sqrt(largest)
        numbers = [0, np.inf, least, 3 * least, normal / 4, normal, largest, largest / 3, root, root / 2, 1 / root, largest**0.25, 0.5, 1, 2, 3, 7.5, 11, 88, 104, 1e3, 2e4]
        numbers += [] if kind == "float16" else [1e6, 2e6, 1e8, 1e15, 1e18, 1e20, 1e30, 2.0**29 + 8, 2.0**53 + 2, 16367173 * 2.0**72]
        numbers += [1e100, 1e300, 6381956970095103 * 2.0**797] if kind == "double" else []
        signed = np.array([*numbers, *(-number for number in numbers), np.nan]).astype(self.dtype)
        self.x = self.input("x", signed)
        self.inputs = {"x": signed}

    def input(self, name, value):
        self.values[name] = value.astype(np.float64)
        return name

    def constant(self, number):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(number, self.dtype), name))
        return self.input(name, np.array(number, self.dtype))

    def op(self, kind, *operands, **attributes):
        operands = [value if isinstance(value, str) else self.constant(value) for value in operands]
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, operands, [name], fmod=1) if kind == "Mod" else helper.make_node(kind, operands, [name], **attributes))
        exact = FUNCTIONS[kind](*(self.values[value] for value in operands), *attributes.values())
        self.values[name] = np.asarray(exact).astype(self.dtype).astype(np.float64)
        return name

    def result(self, name):
        self.outputs.append(name)

    def model(self):
        value = lambda name, shape: helper.make_tensor_value_info(name, self.number, shape)
        graph = helper.make_graph(self.nodes, "edges", [value(name, array.shape) for name, array in self.inputs.items()],
                                  [value(name, self.values[name].shape) for name in self.outputs], self.constants)  # fmt: skip
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)


def functions(g):
    for name in ("Neg", "Abs", "Sqrt", "Reciprocal", "Exp", "Log", "Erf", "Tanh", "Sigmoid", "Softplus", "Sin", "Cos", "Tan", "Atan", "Asinh", "Floor", "Round",
                 "Relu", "Softsign", "HardSigmoid", "HardSwish", "Mish"):  # fmt: skip
        g.result(g.op(name, g.x))
    g.result(g.op("Gelu", g.x))
    g.small.add(g.outputs[-1])
    g.result(g.op("LeakyRelu", g.x, alpha=0.25))
    g.result(g.op("Elu", g.x, alpha=0.5))
    g.result(g.op("Swish", g.x, alpha=1.5))


def powers(g):
    for exponent in (-0.5, 0.5, 0, 1, 2, 3, 4, 5, 16, 17, -1, -2, -3, -4, -16, 0.25, -1.5, 1.5, np.inf, -np.inf, np.nan):
        g.result(g.op("Pow", g.x, exponent))
    for base in (0, -0.0, 1, 2, 10, -1, np.inf, -np.inf, np.nan):
        g.result(g.op("Pow", base, g.x))


def remainders(g):
    for other in (3, -0.3, 1, 2, 7.5, np.inf, 0, float(np.finfo(g.dtype).smallest_subnormal), float(np.finfo(g.dtype).tiny), float(np.finfo(g.dtype).max)):
        g.result(g.op("Mod", g.x, other))
        g.result(g.op("Mod", other, g.x))


def constants(g):
    """One operand is known."""
    small, large = float(np.finfo(g.dtype).tiny) / 4, float(np.finfo(g.dtype).max)
    for name in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
        for number in (0, -0.0, 1, -1, 2, 3, small, large, np.inf, -np.inf, np.nan):
            g.result(g.op(name, g.x, number))
            g.result(g.op(name, number, g.x))
    for low, high in ((0, 6), (-np.inf, np.inf), (-1, np.inf), (-large, large)):
        g.result(g.op("Clip", g.x, low, high))


def pairs(g):
    """An operator behind another one, both with a number that is known."""
    large = float(np.finfo(g.dtype).max)
    for first in ("Add", "Sub", "Mul", "Div"):
        for second in ("Add", "Sub", "Mul", "Div"):
            for a, b in ((3, 1 / 3), (large, large), (large, 0.5), (0.5, 0.25)):
                g.result(g.op(second, g.op(first, g.x, a), b))
    for first in ("Neg", "Abs", "Sqrt", "Reciprocal", "Exp", "Log", "Relu"):
        for second in ("Neg", "Abs", "Sqrt", "Reciprocal", "Exp", "Log", "Relu"):
            g.result(g.op(second, g.op(first, g.x)))


def gates(g):
    """Activations as exporters write them."""
    x = g.x
    g.result(g.op("Mul", x, g.op("Sigmoid", x)))
    g.result(g.op("Mul", g.op("Sigmoid", x), x))
    g.result(g.op("Mul", x, g.op("Sigmoid", g.op("Mul", x, 1.702))))
    g.result(g.op("Div", x, g.op("Add", g.op("Exp", g.op("Neg", x)), 1)))
    g.result(g.op("Div", 1, g.op("Add", g.op("Exp", g.op("Neg", x)), 1)))
    gate = lambda: g.op("Add", g.op("Erf", g.op("Div", x, math.sqrt(2))), 1)
    g.result(g.op("Mul", g.op("Mul", x, 0.5), gate()))
    g.result(g.op("Mul", g.op("Mul", x, gate()), 0.5))
    g.result(g.op("Mul", x, g.op("Mul", gate(), 0.5)))
    cube = g.op("Mul", g.op("Pow", x, 3), 0.044715)
    g.result(g.op("Mul", g.op("Mul", x, 0.5), g.op("Add", g.op("Tanh", g.op("Mul", g.op("Add", x, cube), math.sqrt(2 / math.pi))), 1)))
    clip = lambda: g.op("Clip", g.op("Add", x, 3), 0, 6)
    g.result(g.op("Mul", x, g.op("Div", clip(), 6)))
    g.result(g.op("Div", g.op("Mul", x, clip()), 6))
    g.result(g.op("Div", clip(), 6))
    g.result(g.op("Mul", x, g.op("Tanh", g.op("Softplus", x))))
    g.result(g.op("Log", g.op("Add", g.op("Exp", x), 1)))
    g.result(g.op("Mul", x, g.op("Reciprocal", g.op("Sqrt", g.op("Add", g.op("Mul", x, x), 1e-5)))))
    g.result(g.op("Div", x, g.op("Sqrt", g.op("Add", g.op("Pow", x, 2), 1e-5))))
    g.result(g.op("Mul", x, g.op("Pow", g.op("Add", g.op("Pow", x, 2), 1e-5), -0.5)))


def positions(g):
    """Where rows and columns have their extremes: the first or last NaN, as numpy has it, before every number."""
    rows = np.stack([np.roll(g.inputs["x"], k) for k in range(len(g.inputs["x"]))])
    rows[::3][np.isnan(rows[::3])] = -np.inf
    rows[5], rows[-1], rows[1:, 2], rows[:, -2] = -np.inf, np.nan, np.inf, np.nan
    g.inputs["rows"], g.values["rows"] = rows, rows
    short = g.inputs["short"] = g.values["short"] = np.ascontiguousarray(rows[:, 1:4])
    for kind, best in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
        for name, axis, data in (("rows", 1, rows), ("rows", 0, rows), ("short", 1, short)):
            for last in (0, 1):
                found = data.shape[axis] - 1 - best(np.flip(data, axis), axis) if last else best(data, axis)
                place, result = f"place{len(g.nodes)}", f"v{len(g.nodes)}"
                g.nodes.append(helper.make_node(kind, [name], [place], axis=axis, keepdims=0, select_last_index=last))
                g.nodes.append(helper.make_node("Cast", [place], [result], to=g.number))
                g.values[result] = found.astype(np.float64)
                g.result(result)


CASES = {f"{case.__name__}-{kind}": (case, kind) for case in (functions, powers, remainders, constants, pairs, gates, positions) for kind in TYPES}
for case in (pairs, gates):
    del CASES[f"{case.__name__}-float16"]  # what stays in registers is not rounded to 16 bits


def verdict(g, name, got):
    """None, or what is wrong: where a value is of another kind, or further away than a few roundings of the largest of what was added up."""
    wanted, x, got = g.values[name], g.values["x"], got.astype(np.float64)
    finite = np.isfinite(wanted)
    same = np.where(finite, np.isfinite(got), (got == wanted) | (np.isnan(got) & np.isnan(wanted)))
    same &= (got != 0) | (wanted != 0) | (np.signbit(got) == np.signbit(wanted))
    relative = {np.float32: 2e-6, np.float64: 5e-13, np.float16: 3e-3}[g.dtype]
    # A Gelu of what is far below zero is exact to 1e-7 only.
    least = 1e-7 if name in g.small else float(np.finfo(g.dtype).smallest_subnormal)
    same &= ~finite | (np.abs(got - wanted) <= relative * np.abs(wanted) + 2 * least * np.nan_to_num(np.maximum(1, np.abs(x))))
    if same.all():
        return None
    at = np.argwhere(~same)[0][0]
    node = next(node for node in g.nodes if node.output[0] == name)
    return f"{text_of(g, node)} is {got[at]} where x is {x[at]}, not {wanted[at]} ({(~same).sum()} of {same.size})"


def text_of(g, node):
    def text(name):
        made = [node for node in g.nodes if node.output[0] == name]
        return text_of(g, made[0]) if made else name if name in g.inputs else str(g.values[name])

    return f"{node.op_type}({', '.join(map(text, node.input))})"


def one(arguments, name):
    case, kind = CASES[name]
    g = Graph(kind)
    case(g)
    wrong = []
    for flags in ([], ["--accuracy", "strict"]) if arguments.target == "native" else ([],):
        with tempfile.TemporaryDirectory(prefix="ingot-edges-") as scratch:
            folder, out = pathlib.Path(scratch), pathlib.Path(scratch) / "out"
            (folder / "test_data_set_0").mkdir()
            (folder / "model.onnx").write_bytes(g.model().SerializeToString())
            for k, value in enumerate(g.inputs.values()):
                (folder / "test_data_set_0" / f"input_{k}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())
            ends, said = ingot_run.run(arguments.ingot, folder, out, arguments.target, flags=flags)
            if ends != "pass":
                wrong.append(f"{' '.join(flags) or 'default'}: {said}")
                continue
            for k, output in enumerate(g.outputs):
                if said := verdict(g, output, ingot_run.load(out / f"output_{k}.pb")):
                    wrong.append(f"{' '.join(flags) or 'default'}: {said}")
    return name, wrong


if __name__ == "__main__":
    ingot_run.run_named(__doc__, CASES, one)
