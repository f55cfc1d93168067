"""Assembles the PTX of models by NVIDIA's ptxas, for each architecture: ptxas.py --ingot BIN [--ptxas PROGRAM] [--models DIR...]

ptxas is the given program, $INGOT_PTXAS, the one on the path, or that of a pinned package of PyPI, which is fetched once. Without --models, small
models of all families are compiled, and none of their kernels may spill registers. DIR is a folder with a model.onnx, or of such folders; what the
compiler refuses is said, and no failure. A table says what the kernels take. One of the small models is compiled with +cubin, too: the library has machine code
for each architecture then, the same bytes each time.
"""
import argparse
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import onnx

from nvidia import ARCHITECTURES, assemble, compile_model, find, with_ones

CUDA_MACHINE = 190  # e_machine of ELF

MODELS = {
    "elements": """<ir_version: 8, opset_import: ["" : 17]> g (float[8, 100] x, float[100] b) => (float[8, 100] y, float[8, 100] z) {
        s = Add(x, b)  t = Sigmoid(s)  y = Mul(s, t)  e = Erf(x)  z = Tanh(e) }""",
    "products": """<ir_version: 8, opset_import: ["" : 17]> g (float[2, 100, 70] x, float[2, 70, 90] w, float[1, 300] a, float[300, 50] b) => (float[2, 100, 90] y, float[1, 50] z) {
        p = MatMul(x, w)  y = Relu(p)  z = MatMul(a, b) }""",
    "large": """<ir_version: 8, opset_import: ["" : 17]> g (float[2048, 512] x, float[512, 2048] w) => (float[2048, 2048] y) { y = MatMul(x, w) }""",
    "halves": """<ir_version: 8, opset_import: ["" : 17]> g (float16[2, 100, 70] x, float16[2, 70, 90] w, float16[2, 24, 9, 9] i, float16[40, 24, 3, 3] k) => (float16[2, 100, 90] y, float16[2, 40, 5, 5] z) {
        y = MatMul(x, w)  z = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (i, k) }""",
    "vectors": """<ir_version: 8, opset_import: ["" : 17]> g (float16[2, 128, 96] x, float16[96, 64] w, float16[64, 96] t, float16[1, 64] a, float16[64, 80] b) => (float16[2, 128, 64] y, float16[2, 128, 64] z, float16[1, 80] f) {
        y = MatMul(x, w)  u = Transpose <perm = [1, 0]> (t)  z = MatMul(x, u)  f = MatMul(a, b) }""",
    "bytes": """<ir_version: 8, opset_import: ["" : 17]> g (uint8[128, 64] x, uint8[3, 64] f, uint8[1, 24, 9, 9] i) => (int32[128, 2] y, int32[3, 2] z, int32[1, 16, 9, 9] c)
        <int8[64, 2] w = {%s}, int8[16, 24, 3, 3] k = {%s}, uint8 q = {3}> {
        y = MatMulInteger(x, w, q)  z = MatMulInteger(f, w, q)  c = ConvInteger <pads = [1, 1, 1, 1]> (i, k, q) }""" % (", ".join(["1"] * 128), ", ".join(["-2"] * 3456)),
    "tiles": """<ir_version: 8, opset_import: ["" : 17]> g (float16[2048, 512] x, float16[512, 2048] w) => (float16[2048, 2048] y) { y = MatMul(x, w) }""",
    "deep": """<ir_version: 8, opset_import: ["" : 17]> g (float16[64, 4096] x, float16[4096, 64] w, float[60, 3000] a, float[3000, 50] b, float[1, 4096] c, float[4096, 64] d) => (float16[64, 64] y, float[60, 50] z, float[1, 64] f) {
        y = MatMul(x, w)  z = MatMul(a, b)  f = MatMul(c, d) }""",
    "pictures": """<ir_version: 8, opset_import: ["" : 17]> g (float16[1, 64, 28, 28] x, float[1, 32, 20, 20] z, uint8[1, 32, 9, 9] i) => (float16[1, 64, 28, 28] y, float[1, 48, 10, 10] u, int32[1, 16, 9, 9] c) <float16[64, 64, 3, 3] w, float[48, 32, 3, 3] v, int8[16, 32, 3, 3] k> {
        y = Conv <pads = [1, 1, 1, 1]> (x, w)  u = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (z, v)  c = ConvInteger <pads = [1, 1, 1, 1]> (i, k) }""",
    "prompts": """<ir_version: 10, opset_import: ["" : 23]> g (float16[1, 2, 100, 128] a, float16[1, 2, 200, 128] b, float16[1, 2, 200, 128] c, bfloat16[1, 2, 70, 64] d, bfloat16[1, 2, 70, 64] e, bfloat16[1, 2, 70, 64] f, bool[70, 70] m, float16[1, 2, 1, 128] q, float16[1, 2, 4000, 128] k, float16[1, 2, 4000, 128] v) => (float16[1, 2, 100, 128] x, bfloat16[1, 2, 70, 64] y, float16[1, 2, 1, 128] z) {
        x = Attention <is_causal = 1> (a, b, c)  y = Attention (d, e, f, m)  z = Attention (q, k, v) }""",
    "bits": """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (float[8, 64] x) => (float[8, 32] y) <uint8[32, 2, 16] w = {%s}, float[64] s = {%s}> {
        y = com.microsoft.MatMulNBits <K = 64, N = 32, bits = 4, block_size = 32> (x, w, s) }""" % (", ".join(["7"] * 1024), ", ".join(["0.5"] * 64)),
    "images": """<ir_version: 8, opset_import: ["" : 17]> g (float[2, 16, 20, 20] x, float[64, 16, 3, 3] w, float[64, 1, 3, 3] d, float[64, 16, 2, 2] t) => (float[2, 16, 20, 20] y) {
        c = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w)  r = Relu(c)  e = Conv <pads = [1, 1, 1, 1], group = 64> (r, d)  y = ConvTranspose <strides = [2, 2]> (e, t) }""",
    "rows": """<ir_version: 8, opset_import: ["" : 17]> g (float[10, 200] x, float[200] s, float[200] b) => (float[10, 200] y, float[10] m, int64[10, 1] i, float[200] c) {
        n = LayerNormalization(x, s, b)  y = Softmax(n)  m = ReduceMean <axes = [1], keepdims = 0> (x)  i = ArgMax <axis = 1> (x)  c = ReduceMax <axes = [0], keepdims = 0> (x) }""",
    "networks": """<ir_version: 8, opset_import: ["" : 17]> g (float[5, 3, 16] x, float16[5, n, 16] u, float[1, 300, 100] f) => (float[5, 2, 3, 64] y, float16[5, 1, n, 300] z, float[5, 1, 3, 100] v) <float[2, 256, 16] w, float[2, 256, 64] r, float16[1, 1200, 16] a, float16[1, 1200, 300] b, float[1, 300, 16] c> {
        y = LSTM <hidden_size = 64, direction = "bidirectional"> (x, w, r)  z = LSTM <hidden_size = 300> (u, a, b)  v = GRU <hidden_size = 100, linear_before_reset = 1> (x, c, f) }""",
    "moves": """<ir_version: 8, opset_import: ["" : 17]> g (float[4, 6, 8] x, int64[5] i) => (float[5, 6, 8] y, float[8, 6, 8] z, float[8, 6, 4] t) {
        y = Gather(x, i)  z = Concat <axis = 0> (x, x)  t = Transpose <perm = [2, 1, 0]> (x) }""",
}


def wrong_cubin(ingot, ptxas, model, scratch):
    """What is wrong with a library that has machine code; None: nothing."""
    target, libraries = "cuda:" + "+".join(ARCHITECTURES) + "+emulated+cubin+unpacked,x86-64-v3", []
    for name in ("first", "second"):
        command = [ingot, "compile", str(model), "-o", str(scratch / name), "--emit", "shared", "--target", target]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "INGOT_PTXAS": ptxas})
        if done.returncode:
            return done.stderr.strip()
        libraries.append(next((scratch / name).glob("*.so")).read_bytes())
    if libraries[0] != libraries[1]:
        return "another library the second time"
    machines = [int.from_bytes(libraries[0][place.start() + 18 : place.start() + 20], "little") for place in re.finditer(rb"\x7fELF\x02", libraries[0])]
    return None if machines.count(CUDA_MACHINE) == len(ARCHITECTURES) else f"ELF files for machines {machines}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--ptxas")
    parser.add_argument("--models", nargs="*", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    ptxas, why = find("ptxas", arguments.ptxas)
    if not ptxas:
        print(f"skipped: {why}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        if arguments.models is None:
            models = {}
            for name, text in MODELS.items():
                models[name] = scratch / f"{name}.onnx"
                onnx.save(with_ones(text), models[name])
        else:
            models = {path.parent.name: path for given in arguments.models for path in sorted(given.glob("**/model.onnx"))}
        spilled = kernels = refused = 0
        # What a library for all of them has in two forms is in one where the oldest is not among them.
        # Products by warpgroups have a library of their own.
        for (name, model), architectures in itertools.product(models.items(), (ARCHITECTURES, ARCHITECTURES[1:], ["sm_90a"])):
            out = scratch / f"out-{name}"
            texts, why = compile_model(arguments.ingot, model, out, architectures, "+wgmma" if architectures == ["sm_90a"] else "")
            if texts is None:
                print(f"{name}: refused: {why}")
                refused += 1
                continue
            if arguments.models is None and sorted(texts) != sorted(architectures):
                sys.exit(f"{name}: PTX for {sorted(texts)}")
            for architecture, text in texts.items():
                for kernel, registers, spills, stack, shared in assemble(ptxas, text, architecture, scratch):
                    kernels += 1
                    spilled += spills > 0
                    if arguments.verbose or spills:
                        print(f"{name} {architecture} {kernel}: {registers} registers, {spills} bytes spilled, {stack} of stack, {shared} shared")
            shutil.rmtree(out)
        if arguments.models is None and (wrong := wrong_cubin(arguments.ingot, ptxas, models["products"], scratch)):
            sys.exit(f"+cubin: {wrong}")
        print(f"{len(models)} models, {kernels} kernels assembled, {spilled} with spills; {refused} libraries refused")
        if arguments.models is None and (spilled or refused or not kernels):
            sys.exit("a kernel spills, or a model was refused")


if __name__ == "__main__":
    main()
