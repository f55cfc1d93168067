"""A folder for a machine that has an NVIDIA GPU, its driver and nothing else: bench/cuda_kit.py --ingot build/bin/ingot --out DIR

    [--models DIR ...] [--spec sm_80+sm_90] [--tiny] [--only REGEX]

Copy DIR there, and `sh DIR/run.sh` checks and times all of it in under 8 minutes and prints one table, which is DIR/table.txt, too. DIR/kit is one program with all
models in it, which needs libc, the driver and an x86-64-v3 processor. DIR/cases has their inputs and the results that are wanted (cuda_kit.c says how).

Models are those of MODELS that are in a folder of --models (NAME/model.onnx, NAME/test_data_set_0 with recorded results), in this order as long as they fit in
60 MiB. Kernels are small models of one operator (KERNELS), whose inputs and outputs stay in the GPU's memory: for them the table has what the GPU attains by its
own clock (CUDA events). What they have to give the host's code of the same model computes there. --tiny makes kernels of a few thousand elements, for tests.
"""
import argparse
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/tools"))
import ingot_run

MOST_BYTES = 60 << 20
MODELS = [
    "ultraface-rfb-320", "squeezenet-fp16", "mobilenetv2-qdq-int8", "bert-toy", "gpt2-past-tiny", "gpt2-random-past-genai", "llama-random-fp16-extdata", "silero-vad-v6", "micro-kws-qdq",
    "fastestdet", "crop-and-resize", "lstm-loop-pytorch", "mnist-8", "tfl-helloworld-sine", "static-scatter-decoder", "conv-int4-qdq", "mobilenet-v2", "yolov8n-320", "superres-pytorch",
    "conv-tasnet", "ppocrv2-cls", "dtln-1", "oww-embedding", "lstm-speech", "ppocrv4-rec",
]  # fmt: skip
# Name: text of the model, sizes, sizes for tests, floating-point operations. Constants are of `<...>`, and all else crosses nothing.
KERNELS = {
    "fp16 product": ("(float16[M, K] x, float16[K, N] w) => (float16[M, N] y) { y = MatMul(x, w) }", dict(M=2048, N=2048, K=2048), dict(M=70, N=72, K=40), "2*M*N*K"),
    "fp32 product": ("(float[M, K] x, float[K, N] w) => (float[M, N] y) { y = MatMul(x, w) }", dict(M=1024, N=1024, K=1024), dict(M=70, N=66, K=33), "2*M*N*K"),
    "int8 product": ("(uint8[M, K] x) => (int32[M, N] y) <int8[K, N] w> { y = MatMulInteger(x, w) }", dict(M=4096, N=1024, K=1024), dict(M=70, N=72, K=64), "2*M*N*K"),
    "fp16 convolution 3x3": ("(float16[B, C, S, S] x) => (float16[B, C, S, S] y) <float16[C, C, 3, 3] w> { y = Conv <pads = [1, 1, 1, 1]> (x, w) }", dict(B=8, C=128, S=56), dict(B=1, C=16, S=9), "18*B*C*C*S*S"),
    "fp32 convolution 3x3": ("(float[B, C, S, S] x) => (float[B, C, S, S] y) <float[C, C, 3, 3] w> { y = Conv <pads = [1, 1, 1, 1]> (x, w) }", dict(B=4, C=128, S=56), dict(B=1, C=16, S=9), "18*B*C*C*S*S"),
    "depthwise convolution": ("(float[B, C, S, S] x) => (float[B, C, S, S] y) <float[C, 1, 3, 3] w> { y = Conv <group = C, pads = [1, 1, 1, 1]> (x, w) }", dict(B=8, C=128, S=112), dict(B=1, C=5, S=9), "18*B*C*S*S"),
    "fp16 row by matrix": ("(float16[1, K] x, float16[K, N] w) => (float16[1, N] y) { y = MatMul(x, w) }", dict(N=8192, K=8192), dict(N=72, K=64), "2*N*K"),
    "fp32 row by matrix": ("(float[1, K] x, float[K, N] w) => (float[1, N] y) { y = MatMul(x, w) }", dict(N=8192, K=4096), dict(N=72, K=64), "2*N*K"),
    "int4 row by matrix": ("(float[1, K] x) => (float[1, N] y) <uint8[N, K/32, 16] w, float[N*K/32] s> { y = com.microsoft.MatMulNBits <K = K, N = N, bits = 4, block_size = 32> (x, w, s) }", dict(N=2048, K=2048), dict(N=40, K=64), "2*N*K"),
    "attention, decode": ("(float16[1, H, 1, D] q, float16[1, H, L, D] k, float16[1, H, L, D] v) => (float16[1, H, 1, D] y) { y = Attention(q, k, v) }", dict(H=32, L=8192, D=128), dict(H=2, L=37, D=16), "4*H*L*D"),
    "attention, prefill": ("(float16[1, H, L, D] q, float16[1, H, L, D] k, float16[1, H, L, D] v) => (float16[1, H, L, D] y) { y = Attention(q, k, v) }", dict(H=8, L=512, D=64), dict(H=2, L=19, D=16), "4*H*L*L*D"),
    "elementwise": ("(float[R, C] x, float[R, C] z) => (float[R, C] y) { a = Add(x, z)  y = Mul(a, z) }", dict(R=4096, C=8192), dict(R=13, C=70), ""),
    "tanh, fp16": ("(float16[R, C] x) => (float16[R, C] y) { y = Tanh(x) }", dict(R=4096, C=8192), dict(R=13, C=70), ""),
    "layer normalisation": ("(float[R, C] x, float[C] s, float[C] b) => (float[R, C] y) { y = LayerNormalization(x, s, b) }", dict(R=16384, C=1024), dict(R=7, C=70), ""),
    "softmax": ("(float[R, C] x) => (float[R, C] y) { y = Softmax(x) }", dict(R=16384, C=1024), dict(R=7, C=70), ""),
    "sums of rows": ("(float[R, C] x) => (float[R] y) { axis = Constant <value = int64[1] {1}> ()  y = ReduceSum <keepdims = 0> (x, axis) }", dict(R=16384, C=2048), dict(R=7, C=70), ""),
    "sums of columns": ("(float[R, C] x) => (float[C] y) { axis = Constant <value = int64[1] {0}> ()  y = ReduceSum <keepdims = 0> (x, axis) }", dict(R=2048, C=16384), dict(R=70, C=7), ""),
    "transpose": ("(float[R, C] x) => (float[C, R] y) { y = Transpose <perm = [1, 0]> (x) }", dict(R=4096, C=8192), dict(R=13, C=70), ""),
    "gather of rows": ("(float[8, C] x, int64[R] i) => (float[R, C] y) { y = Gather(x, i) }", dict(R=16384, C=1024), dict(R=13, C=70), ""),
    "pooling": ("(float[B, C, S, S] x) => (float[B, C, S/2, S/2] y) { y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x) }", dict(B=16, C=64, S=112), dict(B=1, C=3, S=10), ""),
}  # fmt: skip
ELEMENTS = {"float": np.float32, "float16": np.float16, "int8": np.int8, "uint8": np.uint8, "int32": np.int32, "int64": np.int64}
# Of the largest value of an output and of each, how far a result may be away; where sums of narrow floats are rounded a step or two, and where a model
# quantizes what it computes, a step of its 255, by which a value may be rounded to the other side.
CLOSE, CLOSE_HALVES, CLOSE_STEPS = (1e-4, 1e-3), (2e-3, 5e-3), (1 / 127, 0)


def sized(text, sizes):
    """The model of a text, with numbers in the place of sizes; constants are drawn."""
    number = lambda match: str(int(eval(match[0], {}, sizes)))  # the texts are those of KERNELS
    axes = lambda match: f"{match[1]}[{', '.join(number(re.match('.*', axis)) for axis in match[2].split(','))}]"
    text = re.sub(r"\b(float16|float|uint8|int8|int32|int64)\[([^\]]*)\]", axes, text)
    text = re.sub(r"(?<=group = )C|(?<=<K = )K|(?<=, N = )N", number, text)
    constants = re.search(r"\) <(.*?)> \{", text)
    model = onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 23, "com.microsoft" : 1]> g ' + text.replace(f" <{constants[1]}>" if constants else "<>", ""))
    generator = np.random.default_rng(5)
    for kind, dims, name in re.findall(r"(\w+)\[([\d, ]+)\] (\w+)", constants[1] if constants else ""):
        shape, element = [int(size) for size in dims.split(",")], ELEMENTS[kind]
        values = generator.integers(0, 256, shape) if element == np.uint8 else generator.integers(-8, 9, shape) / (1 if element == np.int8 else 8)
        model.graph.initializer.append(numpy_helper.from_array(values.astype(element), name))
    return model


def tensor(array, follows=True):
    if array is None:
        return struct.pack("<q", -1)
    data = np.ascontiguousarray(array).tobytes() if follows else b""
    return struct.pack(f"<{array.ndim + 3}q", array.ndim, *array.shape, array.nbytes, int(follows)) + data + bytes(-len(data) % 8)


def given(value):
    """An array that stands for a graph's input or output of known sizes."""
    kind = value.type.tensor_type
    return np.broadcast_to(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type).type(0), [dim.dim_value for dim in kind.shape.dim])


class Refused(Exception):
    pass


class Kit:
    def __init__(self, arguments, scratch):
        self.arguments, self.scratch, self.out = arguments, scratch, arguments.out
        self.entries, self.objects, self.includes = [], [], []
        self.target = f"cuda:{arguments.spec}"

    def compile(self, path, name, target, *flags):
        command = [self.arguments.ingot, "compile", path, "-o", self.scratch, "--emit", "obj", "--name", name, "--target", target, *flags]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode:
            raise Refused(next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr.strip()))
        return self.scratch / f"{name}.o"

    def bytes(self, *more):
        return sum(path.stat().st_size for path in [*self.objects, *(self.out / "cases").iterdir(), *more])

    def take(self, name, objects, case, host):
        """Adds a model, whose objects are the first one's and its host's; False where there is no room."""
        path = self.out / "cases" / f"{name}.case"
        path.write_bytes(case)
        if self.bytes(*objects) > MOST_BYTES - (1 << 20):  # a MiB for the support library and libm
            path.unlink()
            return False
        self.objects += objects
        own = objects[0].stem
        self.entries.append((name, own, objects[1].stem if host else None))
        return True

    def kernel(self, number, name):
        text, sizes, tiny, operations = KERNELS[name]
        sizes = tiny if self.arguments.tiny else sizes
        model, path = sized(text, sizes), self.scratch / f"kernel{number}.onnx"
        onnx.save(model, path)
        bound = [value.name for value in [*model.graph.input, *model.graph.output]]
        binds = [word for value in bound for word in ("--bind", f"{value}={self.target}")]
        own = self.compile(path, f"kernel{number}", f"{self.target},x86-64-v3", "--no-fallback", *binds)
        host = self.compile(path, f"kernel{number}_host", "x86-64-v3")
        inputs, outputs = [given(value) for value in model.graph.input], [given(value) for value in model.graph.output]
        moved = sum(array.nbytes for array in inputs + outputs) + sum(numpy_helper.to_array(constant).nbytes for constant in model.graph.initializer)
        close = CLOSE_HALVES if any(array.dtype == np.float16 for array in outputs) else CLOSE
        header = struct.pack("<4d", *close, eval(operations, {}, sizes) if operations else 0, moved)
        return self.take(name, [own, host], header + b"".join(tensor(array, False) for array in inputs) + tensor(None) * len(outputs), True)

    def model(self, number, folder):
        model, data = onnx.load(folder / "model.onnx", load_external_data=False), folder / "test_data_set_0"
        constants = {constant.name for constant in model.graph.initializer}
        values = [[value for value in model.graph.input if value.name not in constants], model.graph.output]
        if not all(value.type.HasField("tensor_type") for value in sum(map(list, values), [])):
            raise Refused("has values that are no tensors")
        arrays = [[load(data / f"{kind}_{i}.pb") for i in range(len(part))] for kind, part in zip(("input", "output"), values)]
        if any(array is not None and array.dtype.kind in "OU" for array in arrays[0] + arrays[1]) or None in [a if a is None else 0 for a in arrays[1]]:
            raise Refused("has strings, or lacks a result")
        own = self.compile(folder / "model.onnx", f"model{number}", f"{self.target},x86-64-v3", "--partition", "greedy")
        halves = any(constant.data_type in (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16) for constant in model.graph.initializer)
        steps = any("Quantize" in node.op_type or node.op_type.startswith("QLinear") for node in model.graph.node)
        header = struct.pack("<4d", *(CLOSE_STEPS if steps else CLOSE_HALVES if halves else CLOSE), 0, 0)
        return self.take(folder.name, [own], header + b"".join(map(tensor, arrays[0] + arrays[1])), False)

    def link(self):
        """Writes the table of models, and links the program."""
        declared = "".join(f"const ingot_model *{name}_model(void);\n" for _, own, host in self.entries for name in (own, host) if name)
        rows = "".join(f'    {{"{name}", {own}_model, {host + "_model" if host else "0"}}},\n' for name, own, host in self.entries)
        table = self.scratch / "table.c"
        table.write_text(f'#include "cuda_kit.h"\n{declared}const KitModel kit_models[] = {{\n{rows}    {{0, 0, 0}},\n}};\n')
        libraries = self.arguments.ingot.parents[1] / "lib"
        includes = [ROOT / "bench", ROOT / "runtime_support/include", ROOT / "targets/cuda/device/include"]
        sources = [ROOT / "bench/cuda_kit.c", table]
        flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-static-libgcc", "-Wl,--gc-sections", "-s", "-o", self.out / "kit"]
        parts = [*self.objects, libraries / "libingot_cuda.a", libraries / "libingot_rt.a", "-ldl", "-lm", "-pthread"]
        subprocess.run([str(word) for word in [self.arguments.compiler, *flags, *(f"-I{path}" for path in includes), *sources, *parts]], check=True)
        (self.out / "run.sh").write_text('cd "$(dirname "$0")" && ./kit cases | tee table.txt\n')


def load(path):
    return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes())) if path.exists() else None


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", type=lambda text: pathlib.Path(text).resolve(), default=ROOT / "build/bin/ingot")
    parser.add_argument("--out", type=pathlib.Path, required=True), parser.add_argument("--models", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--spec", default="sm_80+sm_90"), parser.add_argument("--tiny", action="store_true"), parser.add_argument("--only", default=".")
    parser.add_argument("--compiler", default=shutil.which("clang-22") or "cc")
    return parser.parse_args()


def main():
    arguments = parse()
    shutil.rmtree(arguments.out / "cases", ignore_errors=True)
    (arguments.out / "cases").mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="ingot-kit-") as scratch:
        kit = Kit(arguments, pathlib.Path(scratch))
        for number, name in enumerate(KERNELS):
            if re.search(arguments.only, name) and not kit.kernel(number, name):
                sys.exit(f"{name}: no room in {MOST_BYTES >> 20} MiB")
        folders = {path.parent.name: path.parent for root in arguments.models for path in sorted(root.glob("*/model.onnx"))}
        for number, name in enumerate(MODELS):
            if name not in folders or not re.search(arguments.only, name):
                continue
            try:
                print(f"{name}: {'taken' if kit.model(number, folders[name]) else 'left out: no room'}, {kit.bytes() / (1 << 20):.1f} MiB", flush=True)
            except Refused as refused:
                print(f"{name}: left out: {refused}", flush=True)
        kit.link()
    total = sum(path.stat().st_size for path in arguments.out.rglob("*") if path.is_file())
    print(f"{arguments.out}: {len(kit.entries)} models, {total / (1 << 20):.1f} MiB")
    sys.exit(total > MOST_BYTES)


if __name__ == "__main__":
    main()
