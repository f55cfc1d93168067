"""What the machine code of kernels for NVIDIA's GPUs consists of, counted by NVIDIA's programs: bench/cuda.py --ingot build/bin/ingot [--page]

Each kernel is assembled by ptxas and read by nvdisasm (test/targets/cuda/nvidia.py finds or fetches both). Of its innermost loops the one that does most of
the work is counted: the loop with most instructions of tensor cores, and of two such loops the one that reads vectors; else with most accesses by 16 bytes, else with most multiply-adds or dot products. No GPU
is needed, and no time is measured.

A scheduler of a multiprocessor issues one instruction of a warp in each cycle, and its tensor core is busy for some cycles with each (CYCLES, from the peaks of
NVIDIA's data sheets: A100 312 TFLOP/s for float16 and 624 TOP/s for int8 by 108 multiprocessors at 1.41 GHz, so 8 cycles for m16n8k16 and for m16n8k32; 156 TFLOP/s for tf32, so 8 cycles for its m16n8k8). A loop
whose other instructions are fewer than these cycles can keep the tensor core busy; `tensor` is the cycles by the larger of both.

Of products by warpgroups (wgmma) two loops are counted, as a scheduler sees them: for each step it has two warps that multiply and one that copies. Its tensor core
has a quarter of each m64n128k16, or m64n128k32 of bytes: 64 cycles on sm_90 (H100: 989.4 TFLOP/s by 132 multiprocessors at 1.83 GHz, so 512 multiply-adds in a cycle, and twice as many of bytes).

--page writes bench/cuda.md.
"""
import argparse
import collections
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/targets/cuda"))
import nvidia

# Libraries: their architectures, what else stands behind these, and the models, none: all of them.
LIBRARIES = [(["sm_80", "sm_90"], "", None), (["sm_90a"], "+wgmma", ["fp16 product, tiles of 128", "int8 product"])]
CYCLES = {"HGMMA.64x128x16": 128, "IGMMA.64x128x32": 128, "HMMA.16816": 8, "HMMA.1688": 8, "IMMA.16832": 8}  # of sm_80; a tensor core of sm_90 takes half as many
# Classes of instructions by how they begin; what is none of them is other arithmetic, mostly of addresses.
CLASSES = {
    "tensor": r"[HI]G?MMA", "multiply": r"(FFMA|HFMA|IDP|DFMA)", "ldmatrix": r"LDSM", "copies": r"LDGSTS", "wide": r"(LDG|STG)\S*\.128", "narrow": r"(LDG|STG)(?!STS)",
    "shared": r"(LDS|STS)", "shuffles": r"SHFL", "waits": r"(BAR|DEPBAR|LDGDEPBAR|WARPSYNC|BSYNC|BSSY|SYNCS|WARPGROUP|FENCE|MEMBAR)",
}  # fmt: skip

NBITS = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (float[1, 4096] x) => (float[1, 4096] y) <uint8[4096, 128, 16] w, float[524288] s> {
    y = com.microsoft.MatMulNBits <K = 4096, N = 4096, bits = 4, block_size = 32> (x, w, s) }"""
MODELS = {
    "fp16 product, tiles of 128": """<ir_version: 8, opset_import: ["" : 17]> g (float16[4096, 4096] x, float16[4096, 4096] w) => (float16[4096, 4096] y) { y = MatMul(x, w) }""",
    "fp16 product, tiles of 64": """<ir_version: 8, opset_import: ["" : 17]> g (float16[512, 1024] x, float16[1024, 512] w) => (float16[512, 512] y) { y = MatMul(x, w) }""",
    "int8 product": """<ir_version: 8, opset_import: ["" : 17]> g (uint8[4096, 1024] x) => (int32[4096, 4096] y) <int8[1024, 4096] w> { y = MatMulInteger(x, w) }""",
    "fp16 product, shared depth": """<ir_version: 8, opset_import: ["" : 17]> g (float16[128, 4096] x, float16[4096, 256] w) => (float16[128, 256] y) { y = MatMul(x, w) }""",
    "fp32 product": """<ir_version: 8, opset_import: ["" : 17]> g (float[4096, 1024] x, float[1024, 4096] w) => (float[4096, 4096] y) { y = MatMul(x, w) }""",
    "fp16 convolution 1x1": """<ir_version: 8, opset_import: ["" : 17]> g (float16[1, 1024, 56, 56] x) => (float16[1, 64, 56, 56] y) <float16[64, 1024, 1, 1] w> { y = Conv(x, w) }""",
    "fp16 convolution 3x3": """<ir_version: 8, opset_import: ["" : 17]> g (float16[1, 256, 28, 28] x) => (float16[1, 64, 28, 28] y) <float16[64, 256, 3, 3] w> { y = Conv <pads = [1, 1, 1, 1]> (x, w) }""",
    "fp32 convolution 3x3": """<ir_version: 8, opset_import: ["" : 17]> g (float[1, 256, 28, 28] x) => (float[1, 64, 28, 28] y) <float[64, 256, 3, 3] w> { y = Conv <pads = [1, 1, 1, 1]> (x, w) }""",
    "int8 convolution 3x3": """<ir_version: 8, opset_import: ["" : 17]> g (uint8[1, 256, 28, 28] x) => (int32[1, 64, 28, 28] y) <int8[64, 256, 3, 3] w> { y = ConvInteger <pads = [1, 1, 1, 1]> (x, w) }""",
    "fp32 row by matrix": """<ir_version: 8, opset_import: ["" : 17]> g (float[1, 4096] x, float[4096, 4096] w) => (float[1, 4096] y) { y = MatMul(x, w) }""",
    "int4 row by matrix": NBITS,
    "attention of a decoder": """<ir_version: 10, opset_import: ["" : 23]> g (float16[1, 32, 1, 128] q, float16[1, 32, 2048, 128] k, float16[1, 32, 2048, 128] v) => (float16[1, 32, 1, 128] y) { y = Attention(q, k, v) }""",
    "attention of few heads": """<ir_version: 10, opset_import: ["" : 23]> g (float16[1, 4, 1, 128] q, float16[1, 4, 4096, 128] k, float16[1, 4, 4096, 128] v) => (float16[1, 4, 1, 128] y) { y = Attention(q, k, v) }""",
    "elementwise": """<ir_version: 8, opset_import: ["" : 17]> g (float[1024, 4096] x, float[1024, 4096] z) => (float[1024, 4096] y) { a = Add(x, z)  y = Mul(a, z) }""",
}  # fmt: skip


def loops_of(listing):
    """The instructions of each innermost loop in each kernel of nvdisasm's listing, by the kernel's name."""
    for part in re.split(r"\n\t\.section\t\.text\.", listing)[1:]:
        name, labels, code = part.split(",")[0], {}, []
        for line in part.splitlines():
            if label := re.match(r"\.(L_x_\d+):", line):
                labels[label[1]] = len(code)
            elif found := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:\{?\s*)?(?:@!?U?P\w+\s+)?(\S+)(.*);", line):
                code.append((found[1], found[2]))
        back = [(labels[target[1]], i) for i, (what, rest) in enumerate(code) if what.startswith("BRA") and (target := re.search(r"`\(\.(L_x_\d+)\)", rest)) and labels.get(target[1], len(code)) < i]
        inner = [(a, b) for a, b in back if not any(a <= c and d < b and (a, b) != (c, d) for c, d in back)]
        yield name, [[what for what, _ in code[a : b + 1]] for a, b in inner]


def count(loop):
    counts = collections.Counter(next((name for name, begin in CLASSES.items() if re.match(begin, what)), "other") for what in loop)
    counts["cycles"] = sum(cycles for what in loop for begin, cycles in CYCLES.items() if what.startswith(begin))
    return counts


def rows(ingot, scratch):
    """(model, architecture, kernel, registers, bytes spilled, counts of the loop)."""
    programs = {}
    for tool in ("ptxas", "nvdisasm"):
        programs[tool], why = nvidia.find(tool)
        if not programs[tool]:
            sys.exit(f"no {tool}: {why}")
    for name, (architectures, words, names) in itertools.product(MODELS, LIBRARIES):
        if names and name not in names:
            continue
        onnx.save(nvidia.with_ones(MODELS[name]), scratch / "model.onnx")
        texts, why = nvidia.compile_model(ingot, scratch / "model.onnx", scratch / (name + words), architectures, words)
        if texts is None:
            sys.exit(f"{name}: {why}")
        for architecture, ptx in texts.items():
            kernels = nvidia.assemble(programs["ptxas"], ptx, architecture, scratch)
            listing = subprocess.run([programs["nvdisasm"], "-c", str(scratch / "kernels.cubin")], capture_output=True, text=True, check=True).stdout
            loops = dict(loops_of(listing))
            for kernel, registers, spilled, _, _ in kernels:
                counted = [count(loop) for loop in loops[kernel]]
                best = max(counted, key=lambda c: (c["tensor"], c["ldmatrix"], c["copies"] + c["wide"], c["multiply"]), default=None)
                if any(re.match("[HI]GMMA", what) for loop in loops[kernel] for what in loop):
                    best = best + best + max(counted, key=lambda c: c["copies"])
                yield name, architecture + words, kernel, registers, spilled, best


def table(all_rows):
    columns = ["tensor", "multiply", "ldmatrix", "copies", "wide", "narrow", "shared", "shuffles", "waits", "other"]
    lines = ["| kernel | for | registers | spilled | " + " | ".join(columns) + " | tensor |", "|---|---|" + "--:|" * (len(columns) + 3)]
    for name, architecture, _, registers, spilled, counts in all_rows:
        counts = counts or collections.Counter()
        cycles = counts["cycles"] // (1 if architecture == "sm_80" else 2)
        busy = f"{100 * cycles / max(cycles, sum(counts[c] for c in columns)):.0f} %" if cycles else ""
        lines.append(f"| {name} | {architecture} | {registers} | {spilled} | " + " | ".join(str(counts[c] or "") for c in columns) + f" | {busy} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = table(rows(arguments.ingot, pathlib.Path(folder)))
    print(made)
    if arguments.page:
        page = ROOT / "bench/cuda.md"
        before, marker, _ = page.read_text().partition("<!-- generated by bench/cuda.py --page -->\n")
        page.write_text(before + marker + made + "\n")


main()
