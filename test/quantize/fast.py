"""--accuracy fast: products with constant matrices in bfloat16, where the machine has an instruction for them, and convolutions, where it has tiles: factors rounded once,
sums of float32. How far a result may be off follows from its terms (rounding.py).

    fast.py --ingot build/bin/ingot [--target T] [--draws N] [--seed S] [--drawn-only]
"""
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import ingot_run
import ml_dtypes
import numpy as np
import onnx
import rounding
from onnx import helper, numpy_helper

random = np.random.default_rng(1)


OTHERS = 8  # roundings of an element besides those of its sum


def bounds(flags, rounded, terms, result, absolute, squares):
    """How far sums may be off: products of bfloat16 are exact in float32; where all that can be is in tiles, other factors are in two parts, which leave out 2^-15 of each product."""
    two_parts = not rounded and flags[-1:] == ["tiles!"]
    return rounding.of_sum((4 if two_parts else 1) * terms + OTHERS, absolute, squares, result) + (2.0**-15 * absolute if two_parts else 0)


# rows of x (a name: open, and how many there are), depth, columns, whether the matrix is transposed, operators behind
CASES = [
    ((1,), 64, 48, False, []), ((13,), 30, 17, True, ["Relu"]), ((7, 5), 768, 70, False, ["Add"]), ((100,), 96, 200, True, ["Add", "Relu"]), ((2, 1, 3), 16, 16, False, []),
    (("rows", 1), 256, 130, False, ["Add"]), (("rows", 31), 66, 64, True, []), ((3, 40), 130, 33, False, ["Add"]), ((4,), 31, 40, False, []), ((4,), 40, 9, False, []),
]  # fmt: skip

# batch, channels of the image and of the result, size, taps, strides, pads, whether a convolution of bfloat16 is expected where there are tiles
IMAGES = [
    (1, 32, 16, (8, 8), (3, 3), (1, 1), (1, 1, 1, 1), True), (2, 64, 33, (7, 7), (1, 1), (1, 1), (0, 0, 0, 0), True), (1, 48, 70, (17, 20), (3, 3), (2, 2), (0, 1, 1, 0), True),
    (3, 16, 64, (33, 9), (3, 1), (1, 2), (1, 0, 1, 0), True), (1, 128, 32, (100,), (5,), (1,), (2, 2), True), (1, 80, 24, (14, 14), (2, 2), (1, 1), (0, 0, 1, 1), True), (1, 96, 100, (5, 31), (1, 1), (2, 2), (0, 0, 0, 0), True),
    (1, 3, 64, (40, 52), (7, 7), (2, 2), (3, 3, 3, 3), True), (2, 1, 64, (17, 19), (5, 5), (1, 1), (2, 1, 2, 3), True), (1, 4, 16, (64, 64), (4, 4), (4, 4), (0, 0, 0, 0), True), (1, 2, 72, (18, 40), (3, 3), (1, 1), (0, 1, 0, 1), True), (2, 1, 24, (17, 19), (3, 3), (1, 1), (1, 0, 1, 2), False),
    (1, 24, 32, (9, 9), (3, 3), (1, 1), (1, 1, 1, 1), False), (1, 32, 8, (9, 9), (3, 3), (1, 1), (1, 1, 1, 1), False), (1, 64, 64, (3, 3), (1, 1), (1, 1), (0, 0, 0, 0), False), (1, 16, 16, (30, 30), (1, 1), (1, 1), (0, 0, 0, 0), False),
]  # fmt: skip


def halves(array):
    return array.astype(ml_dtypes.bfloat16).astype(np.float64)


def model(rows, depth, columns, turned, behind):
    shape = [rows[0], depth] if isinstance(rows[0], str) else [*rows, depth]
    w, bias = random.standard_normal((columns, depth) if turned else (depth, columns)).astype(np.float32), random.standard_normal(columns).astype(np.float32)
    nodes, at = [], "w"
    if turned:
        nodes.append(helper.make_node("Transpose", ["w"], ["t"]))
        at = "t"
    nodes.append(helper.make_node("MatMul", ["x", at], ["y0"]))
    for k, op in enumerate(behind):
        nodes.append(helper.make_node(op, [f"y{k}"] + ["b"] * (op == "Add"), [f"y{k + 1}"]))
    info = lambda name, dims: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims)
    weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(bias, "b")]
    graph = helper.make_graph(nodes, "fast", [info("x", shape)], [helper.make_empty_tensor_value_info(f"y{len(behind)}")], weights)
    x = random.standard_normal([rows[1] if isinstance(rows[0], str) else size for size in shape[:1]] + [*shape[1:]]).astype(np.float32)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), x, (w.T if turned else w), bias


def expected(x, w, bias, behind, rounded):
    """The result, and for it the sums of the terms' absolute values and of their squares."""
    x, w = (halves(x), halves(w)) if rounded else (x.astype(np.float64), w.astype(np.float64))
    y, absolute, squares = (f(x) @ f(w) for f in (lambda v: v, np.abs, np.square))
    for op in behind:
        y = y + bias if op == "Add" else np.maximum(y, 0)
        absolute, squares = (absolute + np.abs(bias), squares + np.square(bias)) if op == "Add" else (absolute, squares)
    return y, absolute, squares


def convolved(x, w, bias, strides, pads, dilation=1):
    """In float64."""
    axes = len(strides)
    apart = np.zeros([*w.shape[:2], *((k - 1) * dilation + 1 for k in w.shape[2:])])
    apart[(slice(None), slice(None), *[slice(None, None, dilation)] * axes)] = w
    w = apart
    around = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *zip(pads[:axes], pads[axes:])])
    views = np.lib.stride_tricks.sliding_window_view(around, w.shape[2:], axis=tuple(range(2, 2 + axes)))
    views = views[(slice(None), slice(None), *(slice(None, None, s) for s in strides))]
    letters = "hw"[:axes], "kl"[:axes]
    return np.einsum(f"nc{letters[0]}{letters[1]},oc{letters[1]}->no{letters[0]}", views, w.astype(np.float64)) + bias.reshape(-1, *[1] * axes)


def image_model(batch, channels, outputs, size, taps, strides, pads, residual, dilation=1):
    """A convolution behind a Relu; `residual`: the image is added, and the two are joined for a second convolution, of one tap."""
    normal = lambda *shape: random.standard_normal(shape).astype(np.float32)
    w = {"w": normal(outputs, channels, *taps), "b": normal(outputs)}
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Conv", ["r", "w", "b"], ["y"], strides=strides, pads=pads, dilations=[dilation] * len(taps))]
    if residual:
        w |= {"w2": normal(16, 2 * channels, *[1] * len(taps)), "b2": normal(16)}
        nodes += [helper.make_node("Add", ["y", "r"], ["s"]), helper.make_node("Concat", ["s", "r"], ["j"], axis=1), helper.make_node("Conv", ["j", "w2", "b2"], ["z"])]
    info = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [batch, channels, *size])
    graph = helper.make_graph(nodes, "fast", [info], [helper.make_empty_tensor_value_info(nodes[-1].output[0])], [numpy_helper.from_array(v, k) for k, v in w.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), normal(batch, channels, *size), w


def drawn(seed):
    """An image and a convolution of it, of bfloat16 or not."""
    pick = np.random.default_rng(seed).choice
    axes, channels = int(pick([1, 2, 2, 2])), int(pick([1, 2, 3, 3, 4, 16, 32, 48, 64, 80, 96, 112, 160]))
    taps, strides = [int(pick([1, 1, 2, 3, 3, 5])) for _ in range(axes)], [int(pick([1, 1, 2, 3])) for _ in range(axes)]
    size = [max(int(pick([1, 3, 7, 8, 13, 14, 16, 17, 20, 33, 56] if channels > 4 else [13, 16, 17, 31, 33, 56, 67])), k) for k in taps]
    pads = [int(pick(range(k))) for k in taps * 2]
    return (int(pick([1, 1, 2, 3])), channels, int(pick([16, 17, 24, 32, 33, 48, 64, 100])), tuple(size), tuple(taps), tuple(strides), tuple(pads), None)


def uses_bf16(ingot, path, flags, op="MatMul"):
    code, out, err = ingot_run.invoke([ingot, "compile", path, "--stop-after", "partition", *flags])
    assert code == 0, err
    return f"formats.Bf16{op}" in out


def run_fast(ingot, flags, made, x, op):
    """The output, and whether factors are rounded; or what was said."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        onnx.save(made, path / "m.onnx")
        (path / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
        flags = [*flags, "--accuracy", "fast"]
        rounded = uses_bf16(ingot, path / "m.onnx", flags, op)
        code, _, err = ingot_run.invoke([ingot, "run", path / "m.onnx", "--data", path, "--out", path / "out", *flags])
        if code:
            return err, rounded
        return numpy_helper.to_array(onnx.load_tensor(path / "out" / "output_0.pb")), rounded


def check_image(ingot, flags, case, residual, dilation=1):
    *sizes, wanted = case
    made, x, w = image_model(*sizes, residual, dilation)
    got, rounded = run_fast(ingot, flags, made, x, "Conv")
    if isinstance(got, str):
        return got
    if rounded and wanted is False:
        return "a convolution that is not worth it became one of bfloat16"
    if wanted and not rounded and flags[-1:] == ["tiles!"]:
        return "no convolution of bfloat16"
    half = halves if rounded else lambda v: v.astype(np.float64)

    def sums(image, weights, bias, *geometry):
        """The result of a convolution, and for it the sums of the terms' absolute values and of their squares."""
        return [convolved(f(image), f(half(weights)), f(bias.astype(np.float64)), *geometry) for f in (lambda v: v, np.abs, np.square)]

    image = half(np.maximum(x, 0))
    want, *terms = sums(image, w["w"], w["b"], *sizes[5:], dilation)
    most = bounds(flags, rounded, w["w"][0].size, want, *terms)
    if residual:
        ones = [1] * len(sizes[3]), [0] * 2 * len(sizes[3])
        joined = np.concatenate([want + image, image], 1)
        # What comes in is off by as much as above; a sum that is nearly between two bfloat16 may become either.
        off = np.concatenate([most + np.abs(want + image) * 2.0**-24, np.zeros_like(image)], 1) + (2.0**-8 * np.abs(joined) if rounded else 0)
        want, *terms = sums(half(joined), w["w2"], w["b2"], *ones)
        most = bounds(flags, rounded, w["w2"][0].size, want, *terms) + convolved(off, np.abs(half(w["w2"])), np.zeros(len(w["w2"])), *ones)
    return differs(got, want, most)


def differs(got, want, most):
    if got.shape != want.shape:
        return f"{got.shape}, expected {want.shape}"
    error = np.abs(got - want)
    return None if np.all(error <= most) else f"differs by {error.max()}, {(error / most).max():.2f} times what it may"


def check(ingot, flags, case):
    made, x, w, bias = model(*case)
    _, depth, columns, _, behind = case
    got, rounded = run_fast(ingot, flags, made, x, "MatMul")
    if isinstance(got, str):
        return got
    if rounded and (depth % 2 or columns < 16):
        return "a product without a kernel became one of bfloat16"
    want, *terms = expected(x, w, bias, behind, rounded)
    return differs(got, want, bounds(flags, rounded, depth, want, *terms))


def choices(ingot):
    """Which machines have it, and that nothing else asks for it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "m.onnx")
        onnx.save(model(*CASES[0])[0], path)
        for flags, wanted in (
            (["--target", "cooperlake", "--accuracy", "fast"], True), (["--target", "cooperlake"], False), (["--target", "cooperlake", "--accuracy", "strict"], False),
            (["--target", "cascadelake", "--accuracy", "fast"], False), (["--levels", "x86-64-v4,x86-64-v3", "--accuracy", "fast"], False),
            (["--target", "cooperlake", "--accuracy", "fast", "--emit", "cpp"], False)):  # fmt: skip
            yield f"bf16 with {' '.join(flags)}", None if uses_bf16(ingot, path, flags) == wanted else f"are {'not ' if wanted else ''}used"
        onnx.save(image_model(*IMAGES[0][:-1], residual=False)[0], path)
        for flags, wanted in ((["--target", "sapphirerapids"], True), (["--target", "cooperlake"], False), (["--target", "sapphirerapids", "--emit", "cpp"], False)):
            used = uses_bf16(ingot, path, [*flags, "--accuracy", "fast"], "Conv")
            yield f"convolutions with {' '.join(flags)}", None if used == wanted else f"are {'not ' if wanted else ''}used"


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--draws", type=int, default=10, help="of images, anew in each run"), parser.add_argument("--drawn-only", action="store_true")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"), help="of the first draw")
    arguments = parser.parse_args()
    count, ingot = ingot_run.Count("fast"), os.path.abspath(arguments.ingot)
    flags = ["--target", arguments.target] if arguments.target else []
    if not arguments.drawn_only:
        fixed(count, ingot, flags)
    for seed in range(arguments.seed, arguments.seed + arguments.draws):
        case = drawn(seed)
        random.bit_generator.state = np.random.default_rng(seed).bit_generator.state  # the numbers, too, are the seed's
        count.add(f"image {case}, seed {seed}", check_image(ingot, flags, case, residual=False))
    count.finish()


def fixed(count, ingot, flags):
    for case in CASES:
        count.add(str(case), check(ingot, flags, case))
    for case in IMAGES:
        count.add(f"image {case}", check_image(ingot, flags, case, residual=False))
    for dilation, case in (3, (1, 32, 48, (24, 40), (3, 3), (1, 1), (3, 3, 3, 3), True)), (16, (2, 64, 32, (300,), (3,), (1,), (0, 0), True)), (12, (1, 32, 32, (14, 14), (3, 3), (1, 1), (12,) * 4, False)):
        count.add(f"image {case}, dilation {dilation}", check_image(ingot, flags, case, residual=False, dilation=dilation))
    for size in (8, 8), (40, 17), (3, 100):
        case = (2, 32, 32, size, (3, 3), (1, 1), (1, 1, 1, 1), True)
        count.add(f"residual {case}", check_image(ingot, flags, case, residual=True))
    for name, problem in choices(ingot):
        count.add(name, problem)


if __name__ == "__main__":
    main()
