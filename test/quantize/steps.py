"""Convolutions and products of bytes that become bytes again, behind activations and with zero points of all kinds, at sizes where vectors, tiles and rows end anywhere: each result is a
number next to what float64 gives before it is rounded, and no further from it than half a step and what float32 or a function of which bytes are left may be off (AWAY). Hardly any result is the
second nearest. Other cases in each run, whose seed is printed.
cascadelake (AVX512-VNNI) and alderlake (AVX-VNNI) run only where this machine has their instructions: else each is skipped (test/skips.txt), with what is lacking.

    steps.py --ingot build/bin/ingot [--target "T FLAG..."] [--seed N] [--draws N]"""
import argparse
import math
import pathlib
import shlex
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import host
import ingot_run
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Steps by which a result may be off before it is rounded. Functions of which bytes are left: an eighth (lower/bytes/ByteCurve.cpp), and what float32 computes. Others: sums of integers are exact,
# scale and bias take some roundings of float32 of numbers of hundreds of steps.
AWAY = {"curve": 0.125 + 0.01, "other": 0.01}
SECOND_NEAREST = {"curve": 0.04, "other": 0.02}  # the share of results over all layers of a kind
CURVED = ["Sigmoid", "silu", "gelu", "Tanh"]
TARGETS = [["native"], ["x86-64-v3"], ["x86-64-v2"], ["native", "--accuracy", "strict"], [None, "--levels", "x86-64-v4,x86-64-v3,x86-64-v2"], ["source:g++:portable-128"], ["source:clang++-14:x86-64-v3"], ["cascadelake"], ["alderlake"]]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


erf = np.vectorize(math.erf, otypes=[np.float64])


class Model:
    def __init__(self, draw):
        self.draw, self.nodes, self.weights, self.inputs, self.feeds, self.outputs, self.wanted, self.names = draw, [], [], [], [], [], [], []

    def constant(self, array, name):
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op, operands, name, **attributes):
        self.nodes.append(helper.make_node(op, operands, [name], name, **attributes))
        return name

    def activation(self, at, y, name):
        """The name and the numbers behind it."""
        scale = float(y.std()) + 1e-3
        kind = self.draw.choice(["none", "Relu", "relu6", "Clip", *CURVED, "HardSwish", "LeakyRelu"])
        self.names[-1] += f" {kind}"
        if kind == "none":
            return at, y
        if kind in ("relu6", "Clip"):
            low, high = (0.0, 6.0) if kind == "relu6" else np.sort(self.draw.normal(0, scale, 2))
            bounds = [self.constant(np.float32(low), f"{name}_low"), self.constant(np.float32(high), f"{name}_high")]
            if kind == "Clip" and self.draw.random() < 0.4:
                left = self.draw.integers(2)
                bounds[left], low, high = "", low if left else -np.inf, np.inf if left else high
            return self.node("Clip", [at, *bounds], f"{name}_clip"), np.clip(y, np.float32(low), np.float32(high))
        if kind == "silu":
            part = self.node("Sigmoid", [at], f"{name}_sigmoid")
            return self.node("Mul", [at, part] if self.draw.random() < 0.5 else [part, at], f"{name}_silu"), y * sigmoid(y)
        if kind == "gelu":
            part = self.node("Erf", [self.node("Div", [at, self.constant(np.float32(np.sqrt(2)), f"{name}_root")], f"{name}_u")], f"{name}_erf")
            part = self.node("Mul", [at, self.node("Add", [part, self.constant(np.float32(1), f"{name}_one")], f"{name}_t")], f"{name}_v")
            return self.node("Mul", [part, self.constant(np.float32(0.5), f"{name}_half")], f"{name}_gelu"), y * 0.5 * (1 + erf(y / np.sqrt(2)))
        y = {"Relu": lambda: np.maximum(y, 0), "Sigmoid": lambda: sigmoid(y), "Tanh": lambda: np.tanh(y), "HardSwish": lambda: y * np.clip(y / 6 + 0.5, 0, 1), "LeakyRelu": lambda: np.where(y < 0, 0.1 * y, y)}[kind]()
        return self.node(kind, [at], f"{name}_{kind}", **({"alpha": 0.1} if kind == "LeakyRelu" else {})), y

    def requantize(self, at, y, name):
        kind = self.draw.choice([np.uint8, np.int8])
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        zero = kind(self.draw.choice([low, high, low + 1, 0, self.draw.integers(low, high + 1)]))
        spread = float(np.abs(y).max()) + 1e-6
        scale = np.float32(spread / 255 * self.draw.choice([0.3, 1.0, 1.7]))  # the first one saturates
        self.names[-1] += f" {np.dtype(kind).name} zero {zero}"
        self.node("QuantizeLinear", [at, self.constant(scale, f"{name}_scale"), self.constant(np.array(zero), f"{name}_zero")], name)
        self.outputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), y.shape))
        self.wanted.append((np.dtype(kind), np.clip(y / np.float64(scale) + float(zero), low, high)))

    def quantized(self, shape, name):
        """An input of bytes and the numbers that they stand for."""
        kind = self.draw.choice([np.uint8, np.int8])
        info = np.iinfo(kind)
        x, zero, scale = self.draw.integers(info.min, info.max + 1, shape).astype(kind), kind(self.draw.integers(info.min, info.max + 1)), np.float32(self.draw.uniform(0.005, 0.05))
        self.inputs.append(helper.make_tensor_value_info(f"{name}_x", helper.np_dtype_to_tensor_dtype(x.dtype), shape)), self.feeds.append(x)
        at = self.node("DequantizeLinear", [f"{name}_x", self.constant(scale, f"{name}_xs"), self.constant(np.array(zero), f"{name}_xz")], f"{name}_xf")
        return at, (x.astype(np.float64) - float(zero)) * np.float64(scale)

    def weight(self, shape, axis, name):
        w, scales = self.draw.integers(-127, 128, shape).astype(np.int8), self.draw.uniform(0.001, 0.01, shape[axis]).astype(np.float32)
        zeros = np.zeros(shape[axis], np.int8)
        operands = [self.constant(array, f"{name}_{kind}") for array, kind in ((w, "w"), (scales, "ws"), (zeros, "wz"))]
        along = [-1 if i == axis else 1 for i in range(len(shape))]
        return self.node("DequantizeLinear", operands, f"{name}_wf", axis=axis), w * scales.astype(np.float64).reshape(along), scales

    def convolution(self, number):
        name, draw = f"conv{number}", self.draw
        depthwise, taps, stride = draw.random() < 0.25, int(draw.choice([1, 1, 3, 3, 3, 5, 7])), int(draw.choice([1, 1, 2]))
        channels = int(draw.choice([1, 3, 16, 17, 24, 32, 40, 64, 80]))
        outputs = channels if depthwise else int(draw.choice([1, 7, 16, 20, 32, 33, 48, 64]))
        size, groups = [int(n) for n in draw.choice([1, 2, 4, 7, 8, 13, 14, 19, 28], 2)], channels if depthwise else 1
        self.names.append(f"{channels}->{outputs} {taps}x{taps} by {stride} of {size} groups {groups}")
        at, x = self.quantized((1, channels, *size), name)
        weights, w, scales = self.weight((outputs, channels // groups, taps, taps), 0, name)
        pad = taps // 2
        extent = [(n + 2 * pad - taps) // stride + 1 for n in size]
        padded, y = np.pad(x[0], ((0, 0), (pad, pad), (pad, pad))), np.zeros((outputs, *extent))
        for i, j in np.ndindex(taps, taps):
            part = padded[:, i : i + stride * (extent[0] - 1) + 1 : stride, j : j + stride * (extent[1] - 1) + 1 : stride]
            y += w[:, 0, i, j][:, None, None] * part if depthwise else np.tensordot(w[:, :, i, j], part, 1)
        operands, y = [at, weights], y[None]
        if draw.random() < 0.7:
            bias = draw.normal(draw.choice([0, 0, 0, -4]) * y.std(), y.std() + 1e-3, outputs).astype(np.float32)  # far below 0 a SiLU is almost 0
            operands.append(self.constant(bias, f"{name}_b"))
            y = y + bias.astype(np.float64)[None, :, None, None]
        return self.requantize(*self.activation(self.node("Conv", operands, f"{name}_f", pads=[pad] * 4, strides=[stride] * 2, group=groups), y, name), name)

    def product(self, number):
        name, draw = f"product{number}", self.draw
        rows, depth, columns = (int(n) for n in draw.choice([1, 2, 5, 7, 13, 16, 31, 64, 70, 100], 3))
        self.names.append(f"{rows}x{depth}x{columns}")
        at, x = self.quantized((rows, depth), name)
        weights, w, _ = self.weight((depth, columns), 1, name)
        self.requantize(*self.activation(self.node("MatMul", [at, weights], f"{name}_f"), x @ w, name), name)

    def save(self, folder):
        graph = helper.make_graph(self.nodes, "steps", self.inputs, self.outputs, self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx")
        data = folder / "test_data_set_0"
        data.mkdir()
        for k, x in enumerate(self.feeds):
            (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(x).SerializeToString())


def differences(model, got, seen):
    """What is wrong, in words; counts in `seen` how many results of a kind there are, and how many are not the nearest number."""
    for name, (dtype, want), array in zip(model.names, model.wanted, got):
        if array.shape != want.shape or array.dtype != dtype:
            yield f"{name}: {array.dtype}{array.shape}, expected {dtype}{want.shape}"
            continue
        kind = "curve" if any(f" {curve} " in name for curve in CURVED) else "other"
        away = np.abs(array.astype(np.float64) - want)
        seen[kind][0] += away.size
        seen[kind][1] += int((away > 0.5 + 1e-6).sum())
        if away.max(initial=0) > 0.5 + AWAY[kind]:
            yield f"{name}: {away.max()} steps from the exact number at {np.unravel_index(away.argmax(), away.shape)}"


def too_many(seen):
    """What is wrong with a kind of layer as a whole: more second nearest numbers than its share, beyond what chance does in one of 10^15 runs."""
    for kind, (count, second) in seen.items():
        expected = SECOND_NEAREST[kind] * count
        if second > expected + 8 * expected**0.5 + 8:
            yield f"{second} of {count} results of kind '{kind}' are the second nearest number"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--target", type=shlex.split, help="only there, with flags")
    parser.add_argument("--seed", type=int, default=int.from_bytes(np.random.default_rng().bytes(4), "little"))
    parser.add_argument("--draws", type=int, default=3)
    options, failed = parser.parse_args(), 0
    for seed in range(options.seed, options.seed + options.draws):
        model = Model(np.random.default_rng(seed))
        for number in range(12):
            model.convolution(number) if number % 3 else model.product(number)
        with tempfile.TemporaryDirectory(prefix="ingot-steps-") as scratch:
            folder = pathlib.Path(scratch)
            model.save(folder)
            for target, *flags in [options.target] if options.target else TARGETS:
                lack = host.lacking(options.ingot, target)
                verdict, text = ("skip", f"this host lacks {lack[1]}") if lack else ingot_run.run(options.ingot, folder, folder / "out", target, flags=flags)
                if verdict == "skip" or "this host cannot run it" in text:
                    ingot_run.skip((target or "").replace(":", " "), text)
                    continue
                outputs = (numpy_helper.to_array(onnx.load_tensor(folder / "out" / f"output_{k}.pb")) for k in range(len(model.wanted)))
                seen = {kind: [0, 0] for kind in AWAY}
                for wrong in [*differences(model, outputs, seen), *too_many(seen)] if verdict == "pass" else [text]:
                    failed += 1
                    print(f"--seed {seed} --target '{' '.join([target or 'native', *flags])}': {wrong}")
    print(f"seeds from {options.seed}, {options.draws} models of 12 layers: {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
