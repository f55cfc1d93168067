"""Floats that are too small to be normal: x86's kernels of products take them for zeros, all others and strict accuracy keep them.

    denormals.py --ingot build/bin/ingot [--target T] [--only NAMES]

A machine takes a hundred times as long for a product of a denormal number, and trained weights have them by the thousand (lower/core/Denormals.cpp).
"""
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import ingot_run
import numpy as np
import onnx.parser
from onnx import numpy_helper

TINY = np.float32(2**-126)
rng = np.random.default_rng(7)
x = rng.standard_normal((24, 64)).astype(np.float32)
worn = np.float32(rng.standard_normal((64, 48)) * np.where(np.arange(48) % 3 == 1, 1e-40, 1.0))  # a third of the columns
image = rng.standard_normal((1, 16, 9, 11)).astype(np.float32)
filters = np.float32(rng.standard_normal((32, 16, 3, 3)) * np.where(np.arange(32) % 3 == 1, 1e-40, 1.0)[:, None, None, None])
numerator, denominator = np.float32(rng.random((3, 1000)) * 1e-39), np.float32((1 + rng.random((3, 1000))) * 1e-39)


def convolved(image, filters):
    padded = np.pad(image[0].astype(np.float64), ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    return np.einsum("cyxij,ocij->oyx", windows, filters.astype(np.float64))[None]


# name: (graph, inputs, constants, expected, whether its tiny results become zeros)
CASES = {
    "matmul": ("(float[24,64] x) => (float[24,48] y) { y = MatMul(x, w) }", [x], {"w": worn}, x.astype(np.float64) @ worn.astype(np.float64), True),
    "matmul-open": ("(float[n,64] x) => (float[n,48] y) { y = MatMul(x, w) }", [x], {"w": worn}, x.astype(np.float64) @ worn.astype(np.float64), True),
    "conv": ("(float[1,16,9,11] x) => (float[1,32,9,11] y) { y = Conv<pads=[1,1,1,1]>(x, w) }", [image], {"w": filters}, convolved(image, filters), True),
    "quotients": ("(float[3,1000] a, float[3,1000] b) => (float[3,1000] y) { y = Div(a, b) }", [numerator, denominator], {}, numerator.astype(np.float64) / denominator, False),
    "sums": ("(float[3,1000] a, float[3,1000] b) => (float[3,1000] y) { y = Add(a, b) }", [numerator, denominator], {}, numerator.astype(np.float64) + denominator, False),
}


def verdict(got, expected, zeros):
    """None, or what is wrong."""
    tiny = np.abs(expected) < TINY
    least = TINY * 1e3 if zeros else 1e-42  # what is left out; the distance of two denormal numbers times some
    if (np.abs(got - expected) > 2e-5 * np.abs(expected) + 2e-5 * ~tiny + least).any():
        return f"wrong by {np.abs(got - expected).max()}"
    if zeros and tiny.any() and got[tiny].any():
        return "tiny results that are no zeros"
    return None


def one(arguments, name):
    graph, inputs, constants, expected, isProduct = CASES[name]
    model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]> g ' + graph)
    model.graph.initializer.extend(numpy_helper.from_array(value, key) for key, value in constants.items())
    onX86 = not arguments.target or arguments.target == "native" or arguments.target.startswith("x86-64")
    wrong = []
    isSource = (arguments.target or "").startswith("source:")
    for flags in ([],) if isSource else ([], ["--accuracy", "strict"]):
        with tempfile.TemporaryDirectory(prefix="ingot-denormals-") as scratch:
            folder, out = pathlib.Path(scratch), pathlib.Path(scratch) / "out"
            (folder / "test_data_set_0").mkdir()
            onnx.save(model, folder / "model.onnx")
            for k, value in enumerate(inputs):
                onnx.save_tensor(numpy_helper.from_array(value), folder / "test_data_set_0" / f"input_{k}.pb")
            ends, said = ingot_run.run(arguments.ingot, folder, out, arguments.target, flags=flags)
            if ends == "pass":
                said = verdict(ingot_run.load(out / "output_0.pb"), expected, isProduct and onX86 and not flags)
            wrong += [f"{' '.join(flags) or 'default'}: {said}"] if said else []
    return name, wrong


if __name__ == "__main__":
    ingot_run.run_named(__doc__, CASES, one)
