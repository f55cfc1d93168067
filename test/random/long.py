"""Products of few rows and convolutions of small images whose weights do not stay in the second cache: kernels go over a panel of them in parts, and the sums
wait in memory meanwhile. Sizes are drawn anew in each run, of rows also open ones; compared with numpy's sums of doubles, from which a result may be as far off as its terms allow
(rounding.py), and bit by bit with runs whose work is done in pieces.

    long.py --ingot build/bin/ingot [--target T] [--cases 6] [--seed S]
"""
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import ingot_run
import numpy as np
import rounding
from onnx import TensorProto, helper, numpy_helper

from trial import Compiled

MEANINGS = (lambda v: v, np.abs, np.square)  # a result, and for it the sums of the terms' absolute values and of their squares


def product(draw, rng):
    """(what it is, nodes, constants, input's sizes, given, number of terms, their sums by MEANINGS)"""
    rows, depth = draw.choice([2, 7, 10, 13, 24, 31, 48, 64, 71]), draw.choice([1024, 2304, 3072, 4100, 2050])
    columns = draw.randrange(700, 1100)  # enough panels for all threads, so that each goes over all rows
    weights = rng.standard_normal([depth, columns], np.float32)
    given = rng.standard_normal([rows, depth], np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["s"]), helper.make_node("Relu", ["s"], ["y"])]
    sums = [f(given.astype(np.float64)) @ f(weights.astype(np.float64)) for f in MEANINGS]
    isOpen = draw.random() < 0.5
    return f"{rows}{' (open)' * isOpen} x {depth} x {columns}", nodes, {"w": weights}, ["rows" if isOpen else rows, depth], given, depth, sums


def convolution(draw, rng):
    """As `product` gives it."""
    taps, stride, size = draw.choice([1, 3]), draw.choice([1, 2]), draw.randrange(5, 16)
    size = min(size, 8) if stride == 1 else size
    inputs = draw.choice([128, 256, 320, 512]) if taps == 3 else draw.choice([1024, 1536, 2048])
    outputs = draw.randrange(2_400_000 // (inputs * taps * taps) // 4 + 1, 4_000_000 // (inputs * taps * taps) // 4)
    weights = rng.standard_normal([outputs, inputs, taps, taps], np.float32)
    given = rng.standard_normal([1, inputs, size, size], np.float32)
    pad = taps // 2
    padded = np.pad(given.astype(np.float64), [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    out = (size + 2 * pad - taps) // stride + 1
    sums = [np.zeros([1, outputs, out, out]) for _ in MEANINGS]
    for y in range(taps):
        for x in range(taps):
            window = padded[0, :, y : y + (out - 1) * stride + 1 : stride, x : x + (out - 1) * stride + 1 : stride]
            for total, f in zip(sums, MEANINGS):
                total[0] += np.tensordot(f(weights[:, :, y, x].astype(np.float64)), f(window), 1)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["s"], strides=[stride, stride], pads=[pad] * 4, kernel_shape=[taps, taps]),
        helper.make_node("Relu", ["s"], ["y"]),
    ]
    return f"{taps}x{taps} {inputs} to {outputs} of {size}x{size} by {stride}", nodes, {"w": weights}, list(given.shape), given, weights[0].size, sums


def wrong_with(arguments, seed):
    """What is wrong with one case, or nothing."""
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    what, nodes, constants, sizes, given, terms, (wanted, *of_terms) = draw.choice([product, convolution])(draw, rng)
    graph = helper.make_graph(
        nodes,
        "long",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    with Compiled(arguments.ingot, model, arguments.target, ["--winograd", "off", "--strassen", "off"]) as compiled:
        (result,) = compiled.at({"x": given})
        (pieces,) = compiled.in_threads({"x": given}, 4, seed)
    error, most = np.abs(result - np.maximum(wanted, 0)), rounding.of_sum(terms + 1, *of_terms, wanted)
    if not np.all(error <= most):
        return f"{what}, seed {seed}: an error of {error.max():.1e}, {(error / most).max():.2f} times what it may be"
    return None if np.array_equal(result, pieces) else f"{what}, seed {seed}: other bits in pieces"


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--cases", type=int, default=6), parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    first = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1 << 32)
    wrong = [line for line in (wrong_with(arguments, first + k) for k in range(arguments.cases)) if line]
    print("\n".join(wrong))
    print(f"{arguments.cases - len(wrong)} passed, {len(wrong)} failed, from seed {first} on")
    sys.exit(len(wrong) > 0)


if __name__ == "__main__":
    main()
