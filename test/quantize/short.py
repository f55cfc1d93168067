"""Products and convolutions of bytes by weights at the bound below which sums of two or four products fit 16 bits, at it and above, with activations that are 255 where it hurts: results
are those of numpy, at every level. Where the bound holds the weights are packed as bytes, else as pairs of 16 bits.

    short.py --ingot build/bin/ingot"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import host
import ingot_run
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

KINDS = ["pairs", "fours", "over", "one over"]  # what fits: two products, four, none, none in one place
PRODUCTS = [(1, 1, 1), (7, 13, 19), (3, 64, 40), (6, 8, 16), (5, 100, 33), (13, 259, 70)]  # rows, depth, columns
# Channels, outputs, size of the kernel, stride, groups.
CONVOLUTIONS = [(3, 20, 3, 2, 1), (17, 20, 3, 2, 1), (64, 24, 1, 1, 1), (12, 9, 5, 1, 1), (24, 16, 3, 2, 2), (20, 20, 3, 1, 5), (8, 8, 1, 1, 1), (9, 40, 1, 2, 1), (30, 10, 2, 1, 2), (5, 5, 3, 1, 5), (17, 17, 3, 2, 17), (16, 16, 3, 1, 16)]
TARGETS = [["--target", "x86-64-v3"], ["--target", "x86-64-v2"], ["--levels", "x86-64-v4,x86-64-v3,x86-64-v2", "--as", "x86-64-v3"]]
draw = np.random.default_rng(5)


def column(depth, kind):
    """Weights by channel, of one output: the largest sums that `kind` says, of one sign or of both in turn."""
    weights, sign = np.zeros(depth + 8, int), draw.choice([-1, 1])
    if kind == "pairs":
        first = draw.integers(1, 128, depth // 2 + 1)
        weights[0 : 2 * len(first) : 2], weights[1 : 2 * len(first) : 2] = first * sign, (128 - first) * sign
    elif kind == "fours":
        for step in range(0, depth, 8):
            for lane in (0, 2):
                weights[[step + lane, step + lane + 1, step + lane + 4, step + lane + 5]] = draw.multinomial(128, [0.25] * 4) * sign
    elif kind == "over":
        weights[:] = draw.choice([127, -128])
    else:
        weights[:] = draw.integers(-30, 31, depth + 8)
        weights[:2] = 100
    return np.clip(weights[:depth], -128, 127).astype(np.int8)


def plane(kind):
    """Of a depthwise convolution: two neighbouring rows, and two columns, are together at the bound, or over it in one place."""
    weights = np.zeros((3, 3), int)
    for share in draw.multinomial(64, [0.25] * 4):
        weights[np.arange(3), draw.permutation(3)] += share
    weights[1, 1] += kind == "one over"
    return (np.full((3, 3), 127) if kind == "over" else weights * draw.choice([-1, 1])).astype(np.int8)


def activations(shape):
    return np.where(draw.random(shape) < 0.8, 255, draw.integers(0, 256, shape)).astype(np.uint8)


def convolved(x, w, stride, groups):
    pad, size = w.shape[2] // 2, w.shape[2]
    padded, inside = np.pad(x.astype(int), ((0, 0), (0, 0), (pad, pad), (pad, pad))), w.shape[1]
    extent = (x.shape[2] + 2 * pad - size) // stride + 1
    y = np.zeros((1, len(w), extent, extent), int)
    for o in range(len(w)):
        first = o // (len(w) // groups) * inside
        for i, j in np.ndindex(size, size):
            part = padded[0, first : first + inside, i : i + stride * (extent - 1) + 1 : stride, j : j + stride * (extent - 1) + 1 : stride]
            y[0, o] += np.tensordot(w[o, :, i, j].astype(int), part, 1)
    return y


class Model:
    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.weights, self.feeds, self.results = [], [], [], [], [], []

    def add(self, op, x, w, y, **attributes):
        number = len(self.nodes)
        self.nodes.append(helper.make_node(op, [f"x{number}", f"w{number}"], [f"y{number}"], **attributes))
        self.inputs.append(helper.make_tensor_value_info(f"x{number}", TensorProto.UINT8, x.shape))
        self.outputs.append(helper.make_tensor_value_info(f"y{number}", TensorProto.INT32, y.shape))
        self.weights.append(numpy_helper.from_array(w, f"w{number}")), self.feeds.append(x), self.results.append(y.astype(np.int32))

    def save(self, folder):
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        graph = helper.make_graph(self.nodes, "short", self.inputs, self.outputs, self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), folder / "model.onnx")
        for kind, arrays in (("input", self.feeds), ("output", self.results)):
            for i, array in enumerate(arrays):
                (data / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def model_of(kind):
    model = Model()
    for rows, depth, columns in PRODUCTS:
        w, x = np.stack([column(depth, kind) for _ in range(columns)], 1), activations((rows, depth))
        model.add("MatMulInteger", x, w, x.astype(int) @ w.astype(int))
    for channels, outputs, size, stride, groups in CONVOLUTIONS:
        w = np.stack([column(channels // groups, kind) for _ in range(outputs * size * size)]).reshape(outputs, size, size, channels // groups).transpose(0, 3, 1, 2)
        if groups == channels:
            w = np.stack([plane(kind) for _ in range(outputs)])[:, None]
        x = activations((1, channels, 11, 11))
        model.add("ConvInteger", x, np.ascontiguousarray(w), convolved(x, w, stride, groups), pads=[size // 2] * 4, strides=[stride] * 2, group=groups)
    return model


def weight_bytes(ingot, folder, scratch):
    subprocess.run([ingot, "compile", folder / "model.onnx", "--name", "m", "--target", "x86-64-v3", "--winograd", "off", "-o", scratch], check=True, capture_output=True)
    return json.loads((scratch / "m.json").read_text())["weight_bytes"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ingot", required=True)
    ingot, failed, sizes = parser.parse_args().ingot, 0, {}
    with tempfile.TemporaryDirectory(prefix="ingot-short-") as scratch:
        for kind in KINDS:
            folder = pathlib.Path(scratch) / kind.replace(" ", "-")
            model_of(kind).save(folder)
            for target in TARGETS:
                if lack := host.lacking(ingot, target[-1]):
                    ingot_run.skip(f"{kind} as {target[-1]}", f"this host lacks {lack[1]}")
                    continue
                done = subprocess.run([ingot, "verify", folder / "model.onnx", "--data", folder / "test_data_set_0", *target], capture_output=True, text=True)
                if done.returncode:
                    failed += 1
                    print(f"{kind}, {' '.join(target)}: {done.stdout}{done.stderr}")
            sizes[kind] = weight_bytes(ingot, folder, folder)
    print("bytes of weights:", sizes)
    if not max(sizes["pairs"], sizes["fours"]) < 0.75 * min(sizes["over"], sizes["one over"]):
        failed += 1
        print("weights of short sums are not packed as bytes, or others are")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
