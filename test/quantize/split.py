"""Products, convolutions and attention of float32 in matrix registers, factors split into parts of bfloat16: of three parts they are as exact as float32, with --accuracy close within 2^-15 of
each product; where a machine has no such registers, or with --accuracy strict, nothing changes. Other cases in each run, whose seed is printed.

How far a result may be off follows from the number of its additions and from its terms (rounding.py). That no part is left out shows where nothing is rounded: results that are one product of a
number and a power of two have to be exact.

    split.py --ingot build/bin/ingot [--target T] [--seed N] [--draws N]
"""
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import ingot_run
import numpy as np
import onnx
import rounding
from onnx import helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from fast import convolved

PRODUCTS = 6  # of parts, for each product of two factors of three parts; the three that are left out are below 2^-24 of it each
OTHERS = 8  # roundings of an element besides those of its sum: scale, bias, what is added
LEFT_OUT = {"default": 3 * 2.0**-24, "close": 2.0**-15, "strict": 0}  # of each product, at most
COUNTS = "INGOT_AMX_COUNT"  # where the emulator of test/amx says what it executed


class Case:
    """A model of one input, `x`, its result in float64, and how far from it one in float32 may be: what rounding `terms` products makes of their absolute sum and that of their
    squares."""

    def __init__(self, name, nodes, weights, shape, x, want, sums, terms, squares=None, half=False):
        self.name, self.x, self.want, self.sums, self.half, self.exact = name, x, want, sums, half, False
        additions = PRODUCTS * terms + OTHERS
        self.rounded = additions * rounding.UNIT * sums if squares is None else rounding.of_sum(additions, sums, squares, want)
        kind = onnx.TensorProto.FLOAT16 if half else onnx.TensorProto.FLOAT
        constants = [numpy_helper.from_array(value, key) for key, value in weights.items()]
        info = helper.make_tensor_value_info("x", kind, shape)
        graph = helper.make_graph(nodes, "split", [info], [helper.make_tensor_value_info(nodes[-1].output[0], kind, None)], constants)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def normal(draw, half, *shape):
    """Of sizes that differ from element to element, so that lower parts count."""
    values = draw.standard_normal(shape) * 10.0 ** draw.uniform(-1, 1, shape[-1:])
    return values.astype(np.float16 if half else np.float32)


def product(draw, lead, rows, depth, columns, is_open=False, matrices=False, turned=False, half=False, relu=False):
    x = normal(draw, half, *lead, rows, depth)
    w = normal(draw, half, *(lead if matrices else ()), *((columns, depth) if turned else (depth, columns)))
    b = normal(draw, half, columns)
    right = np.swapaxes(w, -1, -2) if turned else w
    axes = list(range(w.ndim))
    nodes = [helper.make_node("Transpose", ["w"], ["t"], perm=[*axes[:-2], axes[-1], axes[-2]])] if turned else []
    nodes += [helper.make_node("MatMul", ["x", "t" if turned else "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["y"])]
    wide = [v.astype(np.float64) for v in (x, right, b)]
    want, sums, squares = (f(wide[0]) @ f(wide[1]) + f(wide[2]) for f in (lambda v: v, np.abs, np.square))
    if relu:
        nodes.append(helper.make_node("Relu", ["y"], ["z"]))
        want = np.maximum(want, 0)
    name = f"{'x'.join(map(str, (*lead, rows)))} by {depth}x{columns}" + " open" * is_open + " matrices" * matrices + " transposed" * turned + " float16" * half
    return Case(name, nodes, {"w": w, "b": b}, [*lead, "m" if is_open else rows, depth], x, want, sums, depth, squares, half)


def selected(draw, rows, depth, columns, of_weights):
    """Every result is one number times a power of two, with zeros beside it: all of the number's bits have to be there, in whichever part they are."""
    powers = lambda *shape: np.exp2(draw.integers(-4, 5, shape)).astype(np.float32)
    x, w = normal(draw, False, rows, depth), np.zeros((depth, columns), np.float32)
    w[draw.integers(depth, size=columns), np.arange(columns)] = powers(columns)
    if of_weights:
        x, w = np.zeros((rows, depth), np.float32), normal(draw, False, depth, columns)
        x[np.arange(rows), draw.integers(depth, size=rows)] = powers(rows)
    want = x.astype(np.float64) @ w.astype(np.float64)
    name = f"{rows} rows by {depth}x{columns}, one number of {'weights' if of_weights else 'the input'} each"
    case = Case(name, [helper.make_node("MatMul", ["x", "w"], ["y"])], {"w": w}, list(x.shape), x, want, np.abs(want), 1)
    case.exact = True
    return case


def shared(draw, few, many, depth, columns):
    """Few rows and many with the same weights, which are split on the way for the one product only."""
    x, w = normal(draw, False, many, depth), normal(draw, False, depth, columns)
    nodes = [helper.make_node("Slice", ["x", "begin", "few"], ["part"]), helper.make_node("MatMul", ["part", "w"], ["p"]), helper.make_node("MatMul", ["x", "w"], ["q"])]
    nodes.append(helper.make_node("Concat", ["p", "q"], ["y"], axis=0))
    rows = np.concatenate([x[:few], x]).astype(np.float64)
    weights = {"w": w, "begin": np.array([0]), "few": np.array([few])}
    want, sums, squares = (f(rows) @ f(w.astype(np.float64)) for f in (lambda v: v, np.abs, np.square))
    return Case(f"{few} and {many} rows by {depth}x{columns}", nodes, weights, list(x.shape), x, want, sums, depth, squares)


def convolution(draw, batch, channels, outputs, size, taps, strides, pads, dilation=1, residual=False, half=False):
    x, w, b = normal(draw, half, batch, channels, *size), normal(draw, half, outputs, channels, *taps), normal(draw, half, outputs)
    # A Relu in front: the image is a value in channel blocks.
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Conv", ["r", "w", "b"], ["y"], strides=strides, pads=pads, dilations=[dilation] * len(taps))]
    image = np.maximum(x, 0).astype(np.float64)
    want, sums, squares = (convolved(f(image), f(w.astype(np.float64)), f(b.astype(np.float64)), strides, pads, dilation) for f in (lambda v: v, np.abs, np.square))
    if residual:
        nodes.append(helper.make_node("Add", ["y", "r"], ["z"]))
        want, sums, squares = want + image, sums + image, squares + np.square(image)
    name = f"{batch}x{channels}x{'x'.join(map(str, size))} to {outputs}, taps {taps}, strides {strides}, pads {pads}, dilation {dilation}" + " residual" * residual + " float16" * half
    return Case(name, nodes, {"w": w, "b": b}, list(x.shape), x, want, sums, w[0].size, squares, half)


def attention(draw, heads, rows, keys, width, columns, masked=False):
    """Queries, keys and values are parts of the input. An error of a score is one of its weight, and so of all that it weighs."""
    count = max(rows, keys)
    x = np.concatenate([draw.standard_normal((heads, count, 2 * width)), draw.standard_normal((heads, count, columns)) * 10.0 ** draw.uniform(-1, 1, columns)], -1).astype(np.float32)
    mask = np.where(draw.random((rows, keys)) < 0.2, -np.inf, draw.standard_normal((rows, keys))).astype(np.float32)
    mask[:, 0] = 0  # a row without a key is NaN
    scale = np.float32(width**-0.5)
    weights = {"parts": np.array([width, width, columns]), "rows": np.array([rows]), "keys": np.array([keys]), "zero": np.array([0]), "axis": np.array([1]), "scale": scale}
    nodes = [helper.make_node("Split", ["x", "parts"], ["q0", "k0", "v0"], axis=2)]
    nodes += [helper.make_node("Slice", [f"{name}0", "zero", end, "axis"], [name]) for name, end in (("q", "rows"), ("k", "keys"), ("v", "keys"))]
    nodes += [helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]), helper.make_node("MatMul", ["q", "kt"], ["p"]), helper.make_node("Mul", ["p", "scale"], ["s"])]
    if masked:
        weights["mask"] = mask
        nodes.append(helper.make_node("Add", ["s", "mask"], ["m"]))
    nodes += [helper.make_node("Softmax", ["m" if masked else "s"], ["w"], axis=-1), helper.make_node("MatMul", ["w", "v"], ["y"])]
    q, k, v = (part.astype(np.float64) for part in np.split(x, [width, 2 * width], -1))
    q, k, v = q[:, :rows], k[:, :keys], v[:, :keys]
    score = q @ np.swapaxes(k, 1, 2) * scale + (mask if masked else 0)
    weight = np.exp(score - score.max(-1, keepdims=True))
    weight /= weight.sum(-1, keepdims=True)
    worst = (np.abs(q) @ np.swapaxes(np.abs(k), 1, 2)).max(-1, keepdims=True) * scale
    name = f"attention of {heads} heads, {rows} rows, {keys} keys, {width} wide, {columns} columns" + " masked" * masked
    return Case(name, nodes, weights, list(x.shape), x, weight @ v, (weight @ np.abs(v)) * (3 + 2 * worst), width + keys)


def fixed(draw):
    """Several parts of the depth, of which a last one is short; rows that end in a block; weights in parts, maps of which the outputs are one row, and images and matrices of several strips; at last what has no kernel in tiles, or is not certain to."""
    yield product(draw, (), 128, 1500, 33)
    for of_weights in False, True:
        yield selected(draw, 64, 70, 48, of_weights)
    yield product(draw, (), 70, 2100, 48)
    yield product(draw, (), 33, 31, 17)
    yield product(draw, (), 300, 100, 80, relu=True)
    yield shared(draw, 70, 300, 96, 80)
    yield product(draw, (2, 3), 20, 40, 16, matrices=True, turned=True)
    yield product(draw, (), 50, 64, 64, is_open=True)
    yield product(draw, (), 40, 100, 32, half=True)
    yield convolution(draw, 1, 64, 64, (14, 14), (3, 3), (1, 1), (1, 1, 1, 1), residual=True)
    yield convolution(draw, 1, 64, 64, (7, 7), (3, 3), (1, 1), (1, 1, 1, 1), residual=True)
    yield convolution(draw, 2, 96, 80, (15, 14), (3, 3), (2, 2), (1, 0, 1, 1))
    yield convolution(draw, 1, 64, 48, (20, 20), (5, 3), (1, 1), (4, 1, 4, 2), dilation=2)
    yield convolution(draw, 2, 40, 17, (9, 20), (1, 1), (2, 2), (0, 0, 0, 0))
    yield convolution(draw, 1, 24, 40, (33,), (5,), (1,), (2, 2), dilation=2)
    yield convolution(draw, 1, 32, 32, (17, 9), (3, 3), (2, 1), (1, 0, 0, 1), half=True)
    yield product(draw, (), 197, 768, 192)
    yield product(draw, (3,), 145, 500, 50)
    yield convolution(draw, 1, 64, 96, (31, 29), (1, 1), (1, 1), (0, 0, 0, 0))
    yield convolution(draw, 3, 48, 80, (30, 34), (3, 3), (1, 1), (1, 1, 1, 1))
    yield convolution(draw, 2, 64, 40, (28, 28), (3, 3), (2, 2), (1, 1, 1, 1))
    yield convolution(draw, 1, 33, 24, (1000,), (3,), (1,), (1, 1))
    yield attention(draw, 2, 300, 150, 64, 48, masked=True)
    yield attention(draw, 3, 21, 40, 32, 16)
    yield from [product(draw, (), 16, 1, 1), product(draw, (), 0, 64, 64, is_open=True), convolution(draw, 1, 3, 32, (20, 20), (3, 3), (1, 1), (1, 1, 1, 1))]


def drawn(draw):
    pick = lambda *of: of[int(draw.integers(len(of)))]
    if pick(0, 0, 0, 0, 1):
        return attention(draw, pick(1, 2, 5), pick(7, 16, 33, 48, 53, 64, 100, 197, 270), pick(1, 16, 31, 32, 33, 64, 65, 129, 300), pick(16, 32, 64, 96), pick(7, 16, 32, 40, 48, 64), pick(0, 1))
    if pick(0, 1):
        lead = pick((), (), (2,), (3, 2))
        return product(draw, lead, pick(1, 2, 7, 13, 16, 17, 31, 32, 33, 61, 97, 130, 300), pick(1, 2, 3, 15, 16, 31, 32, 33, 64, 65, 100, 200, 777), pick(1, 7, 15, 16, 17, 31, 33, 48, 64, 65, 130),
                       pick(0, 0, 0, 1), bool(lead) and pick(0, 1), pick(0, 1), pick(0, 0, 0, 1), pick(0, 1))  # fmt: skip
    axes, channels = pick(1, 2, 2, 2), pick(5, 8, 16, 17, 24, 32, 33, 48, 64, 96, 130)
    taps, strides, dilation = [pick(1, 1, 2, 3, 3, 5) for _ in range(axes)], [pick(1, 1, 2, 3) for _ in range(axes)], pick(1, 1, 1, 2)
    size = [max(pick(1, 3, 7, 8, 13, 14, 16, 17, 20, 33), (k - 1) * dilation + 1) for k in taps]
    pads = [pick(*range(k)) for k in taps * 2]
    return convolution(draw, pick(1, 1, 2, 3), channels, pick(7, 16, 17, 24, 32, 33, 48, 100), size, taps, strides, pads, dilation, False, pick(0, 0, 0, 1))


def executed(path):
    """Products of tiles in the last run."""
    said = path.read_text().split("\n") if path.exists() else []
    path.unlink(missing_ok=True)
    return sum(int(line.split()[1]) for line in said if line.startswith("tdpbf16"))


def check(arguments, case, accuracy, wanted=None):
    """Null, or what is wrong; `wanted`: whether tiles are expected to be used, where the emulator counts."""
    with tempfile.TemporaryDirectory(prefix="split-") as folder:
        path = pathlib.Path(folder)
        os.environ[COUNTS] = str(path / "count")
        onnx.save(case.model, path / "m.onnx")
        (path / "input_0.pb").write_bytes(numpy_helper.from_array(case.x, "x").SerializeToString())
        flags = ["--target", arguments.target] * bool(arguments.target) + ["--accuracy", accuracy]
        if accuracy != "strict":  # on vectors convolutions would be by Winograd's algorithm, whose sums are less exact
            flags += ["--split-floats", "on", "--winograd", "off"]
        run = ingot_run.call([arguments.ingot, "run", path / "m.onnx", "--data", path, "--out", path / "out", "--threads", "3" if accuracy == "close" else "2", *flags], path, {0: "pass"})
        if run[0] != "pass":
            return f"{run[0]}: {run[1]}"
        got, products = numpy_helper.to_array(onnx.load_tensor(path / "out" / "output_0.pb")).astype(np.float64), executed(path / "count")
        if wanted is not None and arguments.target == "tiles!" and bool(products) != wanted:
            return f"{products} products of tiles"
        if got.shape != case.want.shape:
            return f"{got.shape}, expected {case.want.shape}"
        bound = 0 if case.exact and accuracy != "close" else case.rounded + LEFT_OUT[accuracy] * case.sums + (2.0**-10 * np.abs(case.want) + 1e-7 if case.half else 0)
        worst = ((np.abs(got - case.want) - bound) / np.maximum(case.sums, 1e-30)).max(initial=-1)
        return None if worst <= 0 else f"differs by {worst:.2g} of the sum of absolute products more than it may, at {np.unravel_index(np.argmax(np.abs(got - case.want) - bound), got.shape)}"


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--draws", type=int, default=12, help="anew in each run"), parser.add_argument("--drawn-only", action="store_true")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"), help="of the first draw")
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    print(f"seed {arguments.seed}")
    count, known = ingot_run.Count("split"), [] if arguments.drawn_only else list(fixed(np.random.default_rng(arguments.seed)))
    cases = [*known, *(drawn(np.random.default_rng(seed)) for seed in range(arguments.seed, arguments.seed + arguments.draws))]
    for index, case in enumerate(cases):
        for accuracy in "default", "close":
            count.add(f"{case.name}, {accuracy}", check(arguments, case, accuracy, index < len(known) - 3 or None))
    for case in known[:1]:
        count.add("strict", check(arguments, case, "strict", False))
    count.finish()


if __name__ == "__main__":
    main()
