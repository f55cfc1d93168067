"""Integer kernels beside ingot's own fp32 and beside ONNX Runtime and OpenVINO: single kernels, one run, interleaved, pinned to one core, medians.

    integers.py --ingot build/bin/ingot[,ANOTHER] [--only REGEX] [--target native] [--core 1] [--rounds 5] [--seconds 0.1] [--peers]

A convolution is measured in a chain of some alike, whose time is divided by their number, so that layouts at the edges count little; the integer form is
QDQ (uint8 activations, int8 weights per channel) with a Relu, the fp32 form has the same operators without the pairs. `of 4 bits` are products of one row by
MatMulNBits (blocks of 32) beside fp32 weights. GOP/s count a multiplication and an addition as two; `x fp32` is how many times as fast as ingot's fp32 the
integers are, `x ort` and `x ov` the peers' time by ingot's, both of integers. With two compilers `x` is the second's time by the first's.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

import compare
import numpy as np
import onnx
from onnx import helper, numpy_helper

draw = np.random.default_rng(1)


class Chain:
    """A graph of nodes, one behind the other; `integers`: with pairs of QuantizeLinear and DequantizeLinear."""

    def __init__(self, shape, integers):
        self.nodes, self.weights, self.integers, self.at, self.shape = [], [], integers, "x", shape
        if integers:
            self.dequantize("x")

    def name(self, stem):
        return f"{stem}{len(self.nodes)}_{len(self.weights)}"

    def weight(self, array):
        name = self.name("w")
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def add(self, op, operands, **attributes):
        name = self.name(op)
        self.nodes.append(helper.make_node(op, operands, [name], **attributes))
        self.at = name

    def numbers(self):
        return self.weight(np.array(0.05, np.float32)), self.weight(np.array(128, np.uint8))

    def dequantize(self, name):
        self.add("DequantizeLinear", [name, *self.numbers()])

    def quantize(self):
        if self.integers:
            self.add("QuantizeLinear", [self.at, *self.numbers()])
            self.dequantize(self.at)

    def parameters(self, shape, axis):
        """Weights, by channel of `axis`."""
        if not self.integers:
            return self.weight((draw.standard_normal(shape) * 0.05).astype(np.float32))
        before, scales = self.at, (draw.random(shape[axis]) * 0.01 + 0.001).astype(np.float32)
        self.add("DequantizeLinear", [self.weight(draw.integers(-127, 128, shape).astype(np.int8)), self.weight(scales), self.weight(np.zeros(shape[axis], np.int8))], axis=axis)
        name, self.at = self.at, before
        return name

    def conv(self, out, into, kernel, stride=1, group=1):
        pad = kernel // 2
        weights = self.parameters((out, into // group, kernel, kernel), 0)
        self.add("Conv", [self.at, weights], pads=[pad] * 4, strides=[stride] * 2, group=group)
        self.add("Relu", [self.at])
        self.quantize()

    def matmul(self, k, n):
        weights = self.parameters((k, n), 1)
        self.add("MatMul", [self.at, weights])
        self.quantize()

    def fewBits(self, k, n, bits, block):
        """One row by weights of a few bits, or of fp32."""
        if not self.integers:
            return self.matmul(k, n)
        self.at = "x"
        self.nodes, self.weights = [], []
        packed = self.weight(draw.integers(0, 256, (n, k // block, block * bits // 8)).astype(np.uint8))
        scales = self.weight((draw.random(n * k // block) * 0.01).astype(np.float32))
        self.add("MatMulNBits", [self.at, packed, scales], domain="com.microsoft", K=k, N=n, bits=bits, block_size=block)

    def save(self, folder, floats=False):
        if self.integers and not floats:
            # What the last one dequantizes is left out.
            self.nodes.pop()
            self.at = self.nodes[-1].output[0]
        element = onnx.TensorProto.UINT8 if self.integers and not floats else onnx.TensorProto.FLOAT
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", element, self.shape)], [helper.make_tensor_value_info(self.at, element, None)], self.weights)
        imports = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
        model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=imports, ir_version=8))
        (folder / "test_data_set_0").mkdir(parents=True)
        onnx.save(model, folder / "model.onnx")
        x = draw.integers(0, 256, self.shape).astype(np.uint8) if element == onnx.TensorProto.UINT8 else draw.random(self.shape).astype(np.float32)
        (folder / "test_data_set_0" / "input_0.pb").write_bytes(numpy_helper.from_array(x).SerializeToString())


def conv(channels, size, kernel, other=None, stride=1, group=1, count=4):
    """A chain, and the multiplications of one of its convolutions. `other`: channels between."""
    other = other or channels

    def build(integers):
        chain = Chain([1, channels, size, size], integers)
        for i in range(count):
            chain.conv(other if i % 2 == 0 else channels, channels if i % 2 == 0 else other, kernel, stride, group)
        return chain

    out = size // stride
    return build, count, other * channels // group * kernel * kernel * out * out, False


def matmul(m, k, n):
    def build(integers):
        chain = Chain([m, k], integers)
        chain.matmul(k, n), chain.matmul(n, k)
        return chain

    return build, 2, m * k * n, False


def few(k, n, bits=4, block=32):
    def build(integers):
        chain = Chain([1, k], integers)
        chain.fewBits(k, n, bits, block)
        return chain

    return build, 1, k * n, True


kernels = {
    "3x3 64@56": conv(64, 56, 3), "3x3 128@28": conv(128, 28, 3), "3x3 256@14": conv(256, 14, 3), "3x3 512@7": conv(512, 7, 3),
    "1x1 64-256@56": conv(64, 56, 1, 256), "1x1 256-1024@14": conv(256, 14, 1, 1024), "1x1 24-144@56": conv(24, 56, 1, 144), "1x1 160-960@7": conv(160, 7, 1, 960),
    "depthwise 144@56": conv(144, 56, 3, group=144), "depthwise 384@14": conv(384, 14, 3, group=384), "depthwise 96@112 stride 2": conv(96, 112, 3, stride=2, group=96, count=1),
    "stem 3-32@224 stride 2": conv(3, 224, 3, 32, stride=2, count=1), "stem 7x7 3-64@224 stride 2": conv(3, 224, 7, 64, stride=2, count=1),
    "product 512 512 512": matmul(512, 512, 512), "product 128 768 3072": matmul(128, 768, 3072), "product 1 768 3072": matmul(1, 768, 3072),
    "1 row 768 768 of 4 bits": few(768, 768), "1 row 768 3072 of 4 bits": few(768, 3072), "1 row 4096 4096 of 4 bits": few(4096, 4096), "1 row 4096 4096 of 2 bits": few(4096, 4096, 2),
}


def compiled(ingot, target, folder, scratch):
    name = "m_" + re.sub(r"\W", "_", folder.name)
    scratch.mkdir(exist_ok=True)
    done = subprocess.run([ingot, "compile", folder / "model.onnx", "--name", name, "-o", scratch, "--emit", "shared", "--target", target], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)

    def round(seconds):
        command = [ingot, "bench", scratch / f"{name}.json", "--data", folder / "test_data_set_0", "--threads", "1", "--json", "--seconds", str(seconds)]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["median_us"]

    return round


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", default="build/bin/ingot"), parser.add_argument("--only", default="."), parser.add_argument("--target", default="native")
    parser.add_argument("--core", type=int, default=1), parser.add_argument("--rounds", type=int, default=5), parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--peers", action="store_true")
    arguments = parser.parse_args()
    arguments.threads = 1
    compilers = [os.path.abspath(path) for path in arguments.ingot.split(",")]
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[arguments.core % len(cores)]})
    second = " second | x |" if len(compilers) > 1 else ""
    peers = " ONNX Runtime | OpenVINO | x ort | x ov |" if arguments.peers else ""
    print(f"| kernel, {arguments.target} | fp32 us | integers us | GOP/s | x fp32 |{second}{peers}")
    print("|---|" + "--:|" * (4 + second.count("|") + peers.count("|")))
    for title, (build, count, products, floats) in kernels.items():
        if not re.search(arguments.only, title):
            continue
        with tempfile.TemporaryDirectory(prefix="ingot-integers-") as scratch:
            scratch = pathlib.Path(scratch)
            build(False).save(scratch / "fp32", floats)
            build(True).save(scratch / "integers", floats)
            engines = {"fp32": compiled(compilers[0], arguments.target, scratch / "fp32", scratch / "a")}
            for i, ingot in enumerate(compilers):
                engines[f"integers{i}"] = compiled(ingot, arguments.target, scratch / "integers", scratch / f"b{i}")
            if arguments.peers:
                engines["ort"] = compare.OnnxRuntime(arguments, scratch / "integers").round
                try:
                    engines["ov"] = compare.OpenVino(arguments, scratch / "integers").round
                except Exception:  # what it does not know
                    pass
            times = {name: [] for name in engines}
            for _ in range(arguments.rounds):
                for name, engine in engines.items():
                    times[name].append(engine(arguments.seconds) / count)
            t = {name: statistics.median(list) for name, list in times.items()}
            row = f"| {title} | {t['fp32']:.1f} | {t['integers0']:.1f} | {2e-3 * products / t['integers0']:.0f} | {t['fp32'] / t['integers0']:.2f} |"
            if len(compilers) > 1:
                row += f" {t['integers1']:.1f} | {t['integers1'] / t['integers0']:.2f} |"
            if arguments.peers:
                ov = t.get("ov")
                row += f" {t['ort']:.1f} | {format(ov, '.1f') if ov else ''} | {t['ort'] / t['integers0']:.2f} | {format(ov / t['integers0'], '.2f') if ov else ''} |"
            print(row, flush=True)


if __name__ == "__main__":
    main()
