"""The example examples/firmware on an emulated board (mps2-an386, a Cortex-M4): as docs/firmware.md says, with clang and with GCC.

    board.py --ingot build/bin/ingot --compiler clang|gcc [--print]

The linker script gives the program 8 KB of flash and 1 KB of RAM, stack included. Sines are compared with those of the model on this host, and the bound
of the stack with what the paint shows. The same with the model in int8, which has to give the bits that it gives on this host.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tools")]
import bare
import ingot_run
import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

SOURCES = HERE.parents[1]
EXAMPLE = SOURCES / "examples/firmware"
TOOLS = pathlib.Path("/usr/lib/llvm-22/bin")
FLAGS = ["-std=c11", "-Os", "-ffreestanding", "-fno-builtin", "-ffunction-sections", "-Wall", "-Wextra", "-Werror", "-mfloat-abi=softfp"]
COMPILERS = {
    "clang": [TOOLS / "clang", "--target=thumbv7em-none-eabi", "-mcpu=cortex-m4"],
    "gcc": ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16"],
}
EMULATOR = bare.board("mps2-an386")


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr  # where a semihosted program's text goes


def build(compiler, out):
    objects = [out / "sine.o"]
    for name in ("board", "main"):
        objects.append(out / f"{name}.o")
        call(*COMPILERS[compiler], *FLAGS, "-I", out, "-I", SOURCES / "runtime_support/include", "-c", EXAMPLE / f"{name}.c", "-o", objects[-1])
    call(TOOLS / "ld.lld", "-T", EXAMPLE / "board.ld", "--gc-sections", "-o", out / "sine.elf", *objects)


def write_input(folder, x):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "input_0.pb").write_bytes(numpy_helper.from_array(np.float32([[x]]), "x").SerializeToString())


def quantized(ingot, out):
    """The model in int8, by samples over its range."""
    shutil.copy(EXAMPLE / "sine.onnx", out)
    for k, x in enumerate(np.linspace(0, 6.25, 26)):
        write_input(out / f"test_data_set_{k}", x)
    call(ingot, "quantize", out / "sine.onnx", "-o", out / "int8.onnx")
    return out / "int8.onnx"


def on_host(ingot, model, x, out):
    write_input(out, x)
    call(ingot, "run", model, "--data", out, "--out", out)
    return numpy_helper.to_array(onnx.load_tensor(str(out / "output_0.pb"))).item()


def try_board(arguments, in_int8, out):
    out.mkdir()
    model = quantized(arguments.ingot, out) if in_int8 else EXAMPLE / "sine.onnx"
    call(arguments.ingot, "compile", model, "--name", "sine", "--target", "cortex-m4", "--budget", "flash=8K,ram=1K,stack=512", "--emit", "obj", "-o", out)
    build(arguments.compiler, out)
    printed = call(*EMULATOR, out / "sine.elf")
    if arguments.print:
        print(printed)
    bits = np.array([[int(word, 16) for word in pair] for pair in re.findall(r"sine ([0-9a-f]{8}) ([0-9a-f]{8})", printed)], np.uint32).view(np.float32)
    if bits.shape != (8, 2):
        return f"the board printed {printed!r}"
    reference = ReferenceEvaluator(onnx.load(EXAMPLE / "sine.onnx"))
    for x, y in bits:
        expected = on_host(arguments.ingot, model, x, out / "here") if in_int8 else reference.run(None, {"x": np.float32([[x]])})[0].item()
        if abs(y - expected) > (0 if in_int8 else 1e-6) or abs(y - np.sin(x)) > (0.05 if in_int8 else 0.02):
            return f"the sine of {x} is {y} on the board, and {expected} here"
    sizes = {what: int(bytes) for what, bytes in re.findall(r"^([a-z ]+) (\d+) bytes$", printed, re.M)}
    flash, ram, used, most = (sizes[what] for what in ("flash", "ram", "stack", "stack at most"))
    if not used <= most <= 2 * used or flash > 8192 or ram + most > 1024:
        return f"the sizes are {sizes}"
    return None


def main():
    flags = ingot_run.parser(__doc__)
    flags.add_argument("--compiler", choices=COMPILERS, default="clang"), flags.add_argument("--print", action="store_true"), flags.set_defaults(bare=True)
    arguments = flags.parse_args()
    if missing := [str(tool) for tool in (COMPILERS[arguments.compiler][0], EMULATOR[0], TOOLS / "ld.lld") if not shutil.which(str(tool))]:
        print(f"skipped: no {', '.join(missing)} here")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="ingot-board-") as scratch:
        for in_int8 in False, True:
            if wrong := try_board(arguments, in_int8, pathlib.Path(scratch) / ("int8" if in_int8 else "float32")):
                sys.exit(f"{'int8' if in_int8 else 'float32'}: {wrong}")
    print("2 passed, 0 failed")


if __name__ == "__main__":
    main()
