"""What boards count (runtime_support/boards): a loop of known length in the place of a model takes the instructions that it has.

    counting.py [--boards mps2-an386,...]

The loop is long enough for a counter of 24 bits to be through more than once. What is counted besides is the call, the reading of the counter, and the interrupts in
which the counter was through: MOST instructions together.
"""
import argparse
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

RUNTIME = pathlib.Path(__file__).resolve().parents[2] / "runtime_support"
BOARDS = RUNTIME / "boards"
TURNS, MOST = 3_000_000, 100
LOOPS = {"arm": f"ldr r3, ={TURNS}\\n 1: subs r3, r3, #1\\n bne 1b", "riscv": f"li t0, {TURNS}\\n 1: addi t0, t0, -1\\n bnez t0, 1b"}
MODEL = """#include "ingot.h"
static int run(const void *const *in, void *const *out, int64_t *sizes, void *workspace, const ingot_exec *exec) {
  (void)in, (void)out, (void)sizes, (void)workspace, (void)exec;
  __asm__ volatile("%s\\n" ::: "%s", "memory");
  return 0;
}
static const ingot_model model = {.abi = INGOT_ABI, .name = "loop", .target = "none", .workspace_align = 16, .run = run};
const ingot_model *model_model(void);
const ingot_model *model_model(void) { return &model; }
"""


def call(folder, command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=folder, timeout=120, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))[:200]}: {done.stdout}{done.stderr}")


def counted(board, folder):
    kind = "arm" if "arm" in board["compiler"][0] else "riscv"
    (folder / "model.c").write_text(MODEL % (LOOPS[kind], {"arm": "r3", "riscv": "t0"}[kind]))
    flags = ["-std=gnu11", "-Os", "-ffreestanding", "-fno-builtin", "-nostdlib", "-Wall", "-Wextra", "-Werror", "-ffunction-sections", "-Wl,--gc-sections", "-L", BOARDS, "-T", BOARDS / board["script"]]
    sources = [folder / "model.c", BOARDS / "program.c", *[BOARDS / source for source in board["sources"]], *sorted((RUNTIME / "core").glob("*.c"))]
    call(folder, [*board["compiler"], *board["targets"][0][1:], *flags, "-I", BOARDS, "-I", RUNTIME / "include", "-I", RUNTIME / "core", *sources, "-lgcc", "-o", "program"])
    (folder / "request").write_bytes(struct.pack("<q", 3))
    call(folder, [word.replace("{program}", "program") for word in board["run"]])
    status, _, count, _ = struct.unpack("<4q", (folder / "reply").read_bytes())
    assert status == 0, status
    return count * board["instructions_per_tick"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", default="")
    names = parser.parse_args().boards
    failed, passed = 0, 0
    for path in [BOARDS / f"{name}.json" for name in names.split(",")] if names else sorted(BOARDS.glob("*.json")):
        board = json.loads(path.read_text())
        if missing := [program for program in (board["compiler"][0], board["run"][0]) if not shutil.which(program)]:
            print(f"skipped: {path.stem}: no {', '.join(missing)} here")
            continue
        with tempfile.TemporaryDirectory(prefix="ingot-count-") as folder:
            count = counted(board, pathlib.Path(folder))
        right = 2 * TURNS <= count <= 2 * TURNS + MOST
        passed, failed = passed + right, failed + (not right)
        print(f"{path.stem}: {count:,.1f} instructions of a loop that has {2 * TURNS:,}{'' if right else ': WRONG'}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0 if passed else 77)


if __name__ == "__main__":
    main()
