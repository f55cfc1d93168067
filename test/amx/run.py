"""Models in tiles give what the same models give on vectors, bit for bit, and what numpy says; with forbidden pages around all buffers.

    run.py --ingot build/bin/ingot-with-scalar --emulator build/test/amx/libamx.so --guarded build/bin/guarded build/lib/libingot_rt.a [--seeds N] [--first SEED]

The machine is this host with AMX (test/targets/tiles), whose instructions the preloaded emulator executes."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import gate
import ingot_run
import numpy as np
import onnx
from onnx import helper, numpy_helper

TYPES = {np.dtype(np.uint8): onnx.TensorProto.UINT8, np.dtype(np.int32): onnx.TensorProto.INT32, np.dtype(np.float32): onnx.TensorProto.FLOAT}
ODD = [1, 2, 3, 7, 13, 15, 16, 17, 29, 31, 32, 33, 47, 48, 61, 64, 67, 97]


def made(nodes, weights, x, y, shape, results):
    """A model of one input and one output, of given types and sizes."""
    info = lambda name, kind, dims: helper.make_tensor_value_info(name, TYPES[np.dtype(kind)], dims)
    constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "tiles", [info("x", x, shape)], [info("y", y, results)], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def requantized(sums, factor, zero):
    return np.clip(np.rint(sums * factor) + zero, 0, 255).astype(np.uint8)


class Product:
    """MatMulInteger or QLinearMatMul by a constant matrix."""

    def __init__(self, random, rows, depth, columns, opened=False, batch=(), matrices=False, quantized=False):
        self.name = f"{'x'.join(map(str, (*batch, rows)))} by {depth}x{columns}{' open' * opened}{' matrices' * matrices}{' quantized' * quantized}"
        lead = list(batch)
        b = random.integers(-128, 128, [*(lead if matrices else []), depth, columns]).astype(np.int8)
        self.x = random.integers(0, 256, [*lead, rows, depth]).astype(np.uint8)
        shape, results = [*lead, "m" if opened else rows, depth], [*lead, "m" if opened else rows, columns]
        sums = self.x.astype(np.int64) @ b.astype(np.int64)
        if quantized:
            factor, zero = np.float32(2.0**-6 / max(1, depth)), np.uint8(100)
            names = {"xs": np.float32(1), "xz": np.uint8(3), "b": b, "bs": factor, "bz": np.int8(0), "ys": np.float32(1), "yz": zero}
            node = helper.make_node("QLinearMatMul", ["x", "xs", "xz", "b", "bs", "bz", "ys", "yz"], ["y"])
            self.model = made([node], names, np.uint8, np.uint8, shape, results)
            self.want = requantized((sums - 3 * b.astype(np.int64).sum(-2, keepdims=True)).astype(np.float32), factor, int(zero))
            self.steps = 1  # numpy rounds a product of float32 in another order
        else:
            node = helper.make_node("MatMulInteger", ["x", "b"], ["y"])
            self.model, self.want, self.steps = made([node], {"b": b}, np.uint8, np.int32, shape, results), sums.astype(np.int32), 0


def products(random):
    pick = lambda of=ODD: int(random.choice(of))
    kind = int(random.integers(0, 5))
    rows, depth, columns = pick(), pick(ODD + [128, 192, 200]), pick(ODD + [130])
    batch = [(), (), (2,), (3, 2), (1, 1, 2)][int(random.integers(0, 5))]
    return Product(random, rows, depth, columns, kind == 1, batch, kind == 2 and bool(batch), kind >= 3)


class Convolution:
    """ConvInteger or QLinearConv with constant weights."""

    def __init__(self, random, batch, channels, outputs, size, kernel, strides, pads, dilations, opened=False, quantized=False, group=1):
        axes = len(size)
        names = [f"{'x'.join(map(str, (batch, channels, *size)))} to {outputs}", f"taps {kernel}", f"strides {strides}", f"pads {pads}", f"dilations {dilations}"]
        self.name = " ".join(names) + " open" * opened + " quantized" * quantized + f" in {group} groups" * (group > 1)
        w = random.integers(-128, 128, [outputs, channels // group, *kernel]).astype(np.int8)
        self.x = random.integers(0, 256, [batch, channels, *size]).astype(np.uint8)
        zero = np.uint8(random.integers(0, 256))
        around = np.pad(self.x.astype(np.int64) - zero, [(0, 0), (0, 0), *zip(pads[:axes], pads[axes:])])
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
        views = np.lib.stride_tricks.sliding_window_view(around, reach, axis=tuple(range(2, 2 + axes)))
        views = views[(slice(None), slice(None), *(slice(None, None, s) for s in strides), *(slice(None, None, d) for d in dilations))]
        letters = "hwd"[:axes], "klm"[:axes]
        parts = [np.einsum(f"nc{letters[0]}{letters[1]},oc{letters[1]}->no{letters[0]}", v, u.astype(np.int64))
                 for v, u in zip(np.split(views, group, 1), np.split(w, group, 0))]  # fmt: skip
        sums = np.concatenate(parts, 1)
        lead = "n" if opened else batch
        attributes = dict(kernel_shape=list(kernel), strides=list(strides), pads=list(pads), dilations=list(dilations), group=group)
        shape, results = [lead, channels, *size], [lead, *sums.shape[1:]]
        if quantized:
            factor, bias = np.float32(2.0**-6 / w[0].size), random.integers(-9999, 9999, outputs).astype(np.int32)
            weights = {"xs": np.float32(1), "xz": zero, "w": w, "ws": factor, "wz": np.int8(0), "ys": np.float32(1), "yz": np.uint8(100), "bias": bias}
            node = helper.make_node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "bias"], ["y"], **attributes)
            self.model = made([node], weights, np.uint8, np.uint8, shape, results)
            self.want = requantized((sums + bias.reshape(-1, *[1] * axes)).astype(np.float32), factor, 100)
        else:
            node = helper.make_node("ConvInteger", ["x", "w", "xz"], ["y"], **attributes)
            self.model, self.want = made([node], {"w": w, "xz": zero}, np.uint8, np.int32, shape, results), sums.astype(np.int32)
        self.steps = int(quantized)


def convolutions(random):
    pick = lambda *of: int(random.choice(of))
    axes = pick(1, 2, 2, 2, 2)
    kernel = [pick(1, 1, 2, 3, 3, 5) for _ in range(axes)] if pick(0, 1, 1) else [1] * axes
    dilations = [pick(1, 1, 1, 2) for _ in kernel]
    channels = pick(1, 2, 3, 4, 8, 16, 17, 24, 32, 48, 64, 65, 100)
    size = [pick(*(1, 3, 7, 8, 13, 14, 16, 17, 20, 33), *((40, 63, 64) if channels <= 4 else ())) for _ in kernel]
    pads = [pick(0, 0, 1, 2) for _ in kernel * 2]
    size = [max(s, (k - 1) * d + 1) for s, k, d in zip(size, kernel, dilations)]
    return Convolution(random, pick(1, 1, 2, 3), channels, pick(1, 7, 16, 17, 32, 33, 48, 80), size, kernel, [pick(1, 1, 1, 2, 3) for _ in kernel], pads, dilations,
                       opened=pick(0, 0, 0, 1) == 1, quantized=pick(0, 1) == 1)  # fmt: skip


PLANE = ((3, 3), (1, 1), (1, 1, 1, 1), (1, 1))
CONVOLUTIONS = [
    ((1, 64, 64, (56, 56), *PLANE), {}, True), ((1, 128, 128, (28, 28), *PLANE), {}, True), ((1, 256, 256, (14, 14), *PLANE), {"quantized": True}, True),
    ((1, 512, 64, (7, 7), *PLANE), {"quantized": True}, True), ((1, 256, 64, (56, 56), (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)), {"quantized": True}, True),
    ((2, 64, 128, (28, 28), (1, 1), (2, 2), (0, 0, 0, 0), (1, 1)), {}, True), ((1, 3, 16, (8, 8), (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)), {}, False),
    ((1, 64, 64, (14, 14), *PLANE), {"group": 2}, False), ((2, 3, 32, (33, 50), (7, 7), (2, 2), (3, 3, 3, 3), (1, 1)), {"quantized": True}, True), ((3, 16, 32, (40, 17), *PLANE), {"opened": True}, True),
]  # fmt: skip


FIXED = [
    ((64, 64, 64), {}, True), ((1, 64, 64), {}, False), ((512, 768, 192), {}, True), ((33, 4, 16), {}, False), ((100, 130, 40), {"opened": True}, True),
    ((1, 256, 256), {"opened": True}, True), ((0, 64, 64), {"opened": True}, False), ((49, 576, 33), {"quantized": True}, True), ((8, 300, 90), {}, True),
]  # fmt: skip


class Check:
    def __init__(self, arguments):
        self.ingot, self.guarded = os.path.abspath(arguments.ingot), [os.path.abspath(path) for path in arguments.guarded or []]
        self.counted = None

    def run(self, path, out, target, threads=1):
        """The output, or what was said."""
        done = subprocess.run([self.ingot, "run", path / "model.onnx", "--data", path / "test_data_set_0", "--out", out, "--target", target, "--threads", str(threads)],
                              capture_output=True, text=True, env=os.environ | {"INGOT_AMX_COUNT": str(path / "count")})  # fmt: skip
        if done.returncode:
            return None, done.stderr.strip()[-300:] or f"exit code {done.returncode}"
        return numpy_helper.to_array(onnx.load_tensor(out / "output_0.pb")), None

    def executed(self, path):
        """How many products of tiles the last run had."""
        counts = (path / "count").read_text().split("\n") if (path / "count").exists() else []
        (path / "count").unlink(missing_ok=True)
        return sum(int(line.split()[1]) for line in counts if line.startswith("tdp"))

    def one(self, case, target, wanted=None, guards=False):
        """Null, or what is wrong; `wanted`: whether tiles are expected to be used."""
        with tempfile.TemporaryDirectory(prefix="amx-") as folder:
            path = pathlib.Path(folder)
            data = path / "test_data_set_0"
            data.mkdir()
            onnx.save(case.model, path / "model.onnx")
            for name, value in (("input_0", case.x), ("output_0", case.want)):
                (data / f"{name}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
            got, said = self.run(path, path / "tiles", target, threads=1 if guards else 2)
            if got is None:
                return said
            products = self.executed(path)
            if wanted is not None and bool(products) != wanted:
                return f"{products} products of tiles"
            if got.shape != case.want.shape or got.dtype != case.want.dtype:
                return f"{got.dtype}{got.shape}, expected {case.want.dtype}{case.want.shape}"
            if np.abs(got.astype(np.int64) - case.want).max(initial=0) > case.steps:
                return f"differs from numpy's by {np.abs(got.astype(np.int64) - case.want).max()}"
            vectors, said = self.run(path, path / "vectors", "native")
            if vectors is None or not np.array_equal(got, vectors):
                return said or "differs from what vectors give"
            if guards and self.guarded and all(dim.dim_value for dim in case.model.graph.input[0].type.tensor_type.shape.dim):
                verdict, text = ingot_run.run_guarded(self.ingot, *self.guarded, path, path / "guarded", target)
                if verdict != "pass":
                    return f"{verdict}: {text}"
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True), parser.add_argument("--emulator", required=True), parser.add_argument("--guarded", nargs=2)
    parser.add_argument("--seeds", type=int, default=40), parser.add_argument("--first", type=int, default=1)
    arguments = parser.parse_args()
    if gate.LACKS["no-avx512"](arguments.ingot):
        print("skipped: tiles stand beside vectors of AVX-512")
        sys.exit(77)
    os.environ["LD_PRELOAD"] = os.path.abspath(arguments.emulator)
    count, check = ingot_run.Count("amx"), Check(arguments)
    for sizes, flags, wanted in FIXED:
        case = Product(np.random.default_rng(1), *sizes, **flags)
        count.add(f"product {case.name}", check.one(case, "tiles", wanted))
    for sizes, flags, wanted in CONVOLUTIONS:
        case = Convolution(np.random.default_rng(1), *sizes, **flags)
        count.add(f"conv {case.name}", check.one(case, "tiles", wanted))
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        for kind, draw in ("product", products), ("conv", convolutions):
            case = draw(np.random.default_rng(seed))
            count.add(f"{kind} {case.name}, seed {seed}", check.one(case, "tiles!", guards=seed % 4 == 0))
    count.finish()


if __name__ == "__main__":
    main()
