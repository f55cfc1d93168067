"""Models that read their weights while they run (--weights stream), on emulated machines: the bits of weights in flash, reads that overlap with kernels,
and an error for every read that fails.

    streams.py --ingot build/bin/ingot --target cortex-m4f [--only NAME]

A function around NAME_run watches the reads (reads.h); the weights are in a section that only its reader knows.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import memories
import numpy as np
import run
import wrapped

CONVOLUTIONS = """g (float[1,4,12,12] x) => (float[1,4,12,12] y) {q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) k = DequantizeLinear (w, t, o) c = Conv <pads=[1,1,1,1]> (d, k)
                  e = QuantizeLinear (c, u, z) f = DequantizeLinear (e, u, z) l = DequantizeLinear (v, t, o) g = Conv <pads=[1,1,1,1]> (f, l) h = QuantizeLinear (g, u, z)
                  y = DequantizeLinear (h, u, z)}"""
MODELS = {
    **{name: memories.MODELS[name] for name in ("layers", "products")},
    "quantized": (CONVOLUTIONS, {"s": np.float32(0.03), "z": np.uint8(120), "w": run.integers(-90, 90, 24, 4, 3, 3, kind=np.int8), "v": run.integers(-90, 90, 4, 24, 3, 3, kind=np.int8),
                  "t": np.float32(0.01), "o": np.int8(0), "u": np.float32(0.05)}, [run.floats(1, 4, 12, 12)]),
}  # fmt: skip

SHIM = """#include "inner.h"
#include "reads.h"
static const void *const *given;
static void *const *made;
static void *memory;
static int run_inner(const ingot_exec *exec) {{ return inner_run({arguments}, memory, exec); }}
static int run(const void *const *inputs, void *const *outputs, int64_t *sizes, void *workspace, const ingot_exec *exec) {{
  (void)sizes;
  given = inputs, made = outputs, memory = workspace;
  return watch_all(run_inner, (const ingot_reader *)exec->weights, {reads}, {overlaps});
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


def build(arguments, machine, folder, out, flags, overlaps):
    """out/program, of a model whose reads are watched. Its manifest."""
    wrapped.check(arguments.ingot, "compile", folder / "model.onnx", "-o", out, "--name", "inner", "--target", arguments.target, "--emit", "obj", "--profile", "--weights", "stream", *flags)
    facts = json.loads((out / "inner.json").read_text())
    reads = facts["weights"]["reads"]
    waits = reads[0]["kernel"] == facts["launches"][0]["kernel"]  # then nothing runs while the first read is under way
    pointers = ", ".join(wrapped.arguments_of(facts, "given", "made"))
    (out / "shim.c").write_text(SHIM.format(arguments=pointers, reads=len(reads), overlaps=len(reads) - waits if overlaps else -1))
    wrapped.join(machine, out, HERE)
    (out / "inner.weights").rename(out / "model.weights")
    if wrong := machine.link(out, "program"):
        raise RuntimeError(wrong)
    return facts


def streamed(arguments, machine, folder, plain):
    most = None
    for number, (flags, overlaps) in enumerate(((["--stream-least", "256"], True), (["--stream-least", "1"], True), (["--stream-least", "1", "--stream-buffer", "{most}"], False),
                                                (["--stream-least", "1", "--symbols", "none"], True))):  # fmt: skip
        if "--symbols" in flags and not arguments.target.startswith(("cortex", "rv32")):
            continue  # no other target has --symbols none
        out = folder / str(number)
        out.mkdir()
        facts = build(arguments, machine, folder, out, [word.format(most=most) if number == 2 else word for word in flags], overlaps)
        weights = facts["weights"]
        most = max(read["bytes"] for read in weights["reads"])
        ends = [read["at"] + read["bytes"] for read in weights["reads"]]
        if len(ends) < 2 or [0, *ends[:-1]] != [read["at"] for read in weights["reads"]] or ends[-1] != weights["bytes"]:
            yield None, f"reads are {weights['reads']}"
        if weights["bytes"] + facts["weight_bytes"] != plain["weight_bytes"] or (number == 2 and weights["stream_bytes"] > most):
            yield None, f"weights are {weights} and {facts['weight_bytes']} bytes, of {plain['weight_bytes']}"
        yield out / "program", " ".join(flags)


if __name__ == "__main__":
    wrapped.main(__doc__, MODELS, "with streamed weights", streamed)
