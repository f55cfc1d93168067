"""Models whose workspace is in several memories, on emulated machines: the bits of one workspace, where each part of it is an array of its own.

    memories.py --ingot build/bin/ingot --target cortex-m4f [--only NAME]

A function around NAME_run has the arrays, in sections that a linker script puts into the memories of a board, with bytes around them that nobody may
change.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import bare
import numpy as np
import run
import wrapped

# A network of several layers with a residual sum, in floats and in bytes, and one with scratch memory and a value that lives long.
LAYERS = """g (float[1,4,16,16] x) => (float[1,10] y) {a = Conv <pads=[1,1,1,1]> (x, w) b = Relu (a) c = Conv <pads=[1,1,1,1]> (b, v) d = Add (b, c) e = MaxPool <kernel_shape=[2,2], strides=[2,2]> (d)
            f = Conv <group=8, pads=[1,1,1,1]> (e, k) s = Softmax <axis=1> (f) g = Mul (s, e) p = GlobalAveragePool (g) q = Flatten (p) y = Gemm (q, u)}"""
QUANTIZED = """g (float[1,4,12,12] x) => (float[1,4,12,12] y) {q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) k = DequantizeLinear (w, t, o) c = Conv <pads=[1,1,1,1]> (d, k)
               e = QuantizeLinear (c, u, z) f = DequantizeLinear (e, u, z) l = DequantizeLinear (v, t, o) g = Conv <pads=[1,1,1,1]> (f, l) a = Add (g, d) h = QuantizeLinear (a, u, z)
               y = DequantizeLinear (h, u, z)}"""
MODELS = {
    "layers": (LAYERS, {"w": run.floats(8, 4, 3, 3), "v": run.floats(8, 8, 3, 3), "k": run.floats(8, 1, 3, 3), "u": run.floats(8, 10)}, [run.floats(1, 4, 16, 16)]),
    "quantized": (QUANTIZED, {"s": np.float32(0.03), "z": np.uint8(120), "w": run.integers(-90, 90, 8, 4, 3, 3, kind=np.int8), "v": run.integers(-90, 90, 4, 8, 3, 3, kind=np.int8), "t": np.float32(0.01),
                  "o": np.int8(0), "u": np.float32(0.05)}, [run.floats(1, 4, 12, 12)]),
    "products": ("g (float[5,24] x) => (float[5,7] y) {h = MatMul (x, w) t = Softmax (h) r = Softmax <axis=0> (h) m = Mul (t, r) s = MatMul (m, v) y = Softmax (s)}",
                 {"w": run.floats(24, 33), "v": run.floats(33, 7)}, [run.floats(5, 24)]),
}  # fmt: skip

SHIM = """#include "inner.h"
#include "ingot.h"
enum {{ GUARD = 32, MARK = 0xa5 }};
{arrays}
static int run(const void *const *inputs, void *const *outputs, int64_t *sizes, void *workspace, const ingot_exec *exec) {{
  (void)sizes, (void)workspace;
  unsigned char *const parts[] = {{{parts}}};
  const long sizesOfParts[] = {{{bytes}}};
  for (int i = 0; i < {count}; ++i) {{
    for (long k = 0; k < sizesOfParts[i] + 2 * GUARD; ++k) {{
      parts[i][k] = MARK;
    }}
  }}
  int status = inner_run({arguments}, exec);
  for (int i = 0; i < {count}; ++i) {{
    for (long k = 0; k < GUARD; ++k) {{
      status = parts[i][k] == MARK && parts[i][GUARD + sizesOfParts[i] + k] == MARK ? status : 99;
    }}
  }}
  return status;
}}
const ingot_model *model_model(void) {{
  static ingot_model model;
  const volatile char *from = (const volatile char *)inner_model();
  for (unsigned i = 0; i < sizeof model; ++i) {{
    ((char *)&model)[i] = from[i];
  }}
  model.run = run;
  return &model;
}}
"""
# Sections of a board: each part in another memory of it.
SCRIPT = "SECTIONS { .fast (NOLOAD) : { *(.fast) } > STACK .slow (NOLOAD) : { *(.slow) } > DATA } INSERT AFTER .rodata;\n"


def shim(facts):
    """The function around NAME_run, which looks like a model in one workspace."""
    arrays = [f'static unsigned char {part["name"]}[INNER_{part["parameter"].upper()}_BYTES + 2 * GUARD] __attribute__((section(".{part["name"]}"), aligned(INNER_WORKSPACE_ALIGN)));'
              for part in facts["memories"]]
    pointers = wrapped.arguments_of(facts, "inputs", "outputs")
    names = [part["name"] for part in facts["memories"]]
    return SHIM.format(arrays="\n".join(arrays), parts=", ".join(names), bytes=", ".join(f"sizeof {name} - 2 * GUARD" for name in names), count=len(names),
                       arguments=", ".join([*pointers, *(f"{name} + GUARD" for name in names)]))  # fmt: skip


def build(arguments, machine, folder, out, memories):
    """out/program, of a model in these memories. Its manifest."""
    wrapped.check(arguments.ingot, "compile", folder / "model.onnx", "-o", out, "--name", "inner", "--memories", memories, "--target", arguments.target, "--emit", "obj")
    facts = json.loads((out / "inner.json").read_text())
    (out / "shim.c").write_text(shim(facts)), (out / "parts.ld").write_text(SCRIPT)
    wrapped.join(machine, out)
    script = ["-L", bare.BOARDS, "-T", bare.BOARDS / f"{machine.board}.ld", "-T", out / "parts.ld", "--gc-sections"] if machine.board else ["-static", "-e", "_start"]
    wrapped.check(bare.TOOLS / "ld.lld", *script, "-o", out / "program", *machine.programs, out / "model.o", *machine.libraries)
    return facts


def in_memories(arguments, machine, folder, plain):
    arena, align = plain["arena_bytes"], plain["workspace_align"]
    for fast in (arena // 3, arena // 2, 2 * arena // 3):
        out = folder / str(fast)
        out.mkdir()
        facts = build(arguments, machine, folder, out, f"fast={fast + align}@1,slow={arena + align}@5")
        parts = {part["name"]: part for part in facts["memories"]}
        if not 0 < parts["fast"]["workspace_bytes"] <= fast + align:
            yield None, f"nothing is in the fast memory, of {fast} bytes: {parts}"
        yield out / "program", f"{fast} bytes of fast memory"


if __name__ == "__main__":
    wrapped.main(__doc__, MODELS, "in several memories", in_memories)
