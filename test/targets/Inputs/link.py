"""link.py INGOT LLVM_BIN SOURCE FOLDER: for each system an object is made, linked by its linker with the core of the support library and a small
program, and the weights that arrived in the program are compared with those of the weights file."""
import pathlib
import re
import subprocess
import sys

INGOT, LLVM, SOURCE, FOLDER = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
PROGRAM = """#include "net.h"
int main(void) {
  static float x[17], y[9];
  static _Alignas(64) unsigned char workspace[NET_WORKSPACE_BYTES + 1];
  return net_run(x, y, workspace, 0) + net_model()->level_count + ingot_machine_level();
}
"""
DARWIN = ["-platform_version", "macos", "11.0", "11.0", "-e", "_main", "libSystem.tbd"]
WINDOWS = ["/entry:main", "/subsystem:console", "/nodefaultlib", "kernel32.lib"]
ELF = ["-e", "main", "--gc-sections"]
ROWS = [  # triple, target, linker and its flags
    ("aarch64-linux-gnu", "armv8-a", ["ld.lld", *ELF]),
    ("aarch64-none-elf", "armv8-a", ["ld.lld", *ELF]),
    ("x86_64-linux-gnux32", "x86-64-v3", ["ld.lld", *ELF]),
    ("thumbv7em-none-eabi", "cortex-m4", ["ld.lld", *ELF]),
    ("thumbv6m-none-eabi", "cortex-m0plus", ["ld.lld", *ELF, "--unresolved-symbols=ignore-all"]),  # the C compiler's library is test/firmware's
    ("thumbv8.1m.main-none-eabi", "cortex-m55", ["ld.lld", *ELF]),
    ("riscv32-unknown-elf", "rv32imafc", ["ld.lld", *ELF]),
    ("riscv64-unknown-linux-gnu", "rv64gcv", ["ld.lld", *ELF]),
    ("arm64-apple-macos", "apple-m1", ["ld64.lld", "-arch", "arm64", *DARWIN]),
    ("aarch64-windows-msvc", "armv8-a", ["lld-link", *WINDOWS]),
    ("x86_64-apple-macos", "x86-64-v3", ["ld64.lld", "-arch", "x86_64", *DARWIN]),
    ("x86_64-pc-windows-msvc", "x86-64-v3", ["lld-link", *WINDOWS]),
]
FLAGS = {"riscv32-unknown-elf": ["-march=rv32imafc", "-mabi=ilp32f"]}  # where the convention of calls depends on the processor
TBD = """--- !tapi-tbd
tbd-version: 4
targets: [ {arch}-macos ]
install-name: '/usr/lib/libSystem.B.dylib'
exports:
  - targets: [ {arch}-macos ]
    symbols: [ _sysctlbyname, dyld_stub_binder ]
...
"""


def call(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def weights_in(path):
    """The bytes of all read-only data of a program or object, as objdump prints them."""
    text = call(LLVM / "llvm-objdump", "-s", path)
    sections = re.split(r"^Contents of section (\S+?):?$", text, flags=re.M)
    wanted = [body for name, body in zip(sections[1::2], sections[2::2]) if re.search(r"const|rdata|rodata", name)]
    return ["".join(re.findall(r"^ [0-9a-f]+ ((?:[0-9a-f]{2,8} ){1,4})", body, re.M)).replace(" ", "") for body in wanted]


def main():
    for triple, target, link in ROWS:
        out = FOLDER / triple
        out.mkdir(parents=True)
        for weights in ("file", "embed"):
            call(INGOT, "compile", FOLDER / "net.onnx", "--target", target, "--triple", triple, "--weights", weights, "-o", out, "--emit", "lib,obj")
        (out / "main.c").write_text(PROGRAM)
        (out / "libSystem.tbd").write_text(TBD.format(arch=triple.split("-")[0]))
        machine = "arm64" if triple.startswith("aarch64") else "i386:x86-64"
        (out / "kernel32.def").write_text("LIBRARY kernel32.dll\nEXPORTS\nIsProcessorFeaturePresent\n")
        call(LLVM / "llvm-dlltool", "-m", machine, "-d", out / "kernel32.def", "-l", out / "kernel32.lib")
        objects = []
        for source in [out / "main.c", *sorted((SOURCE / "runtime_support/core").glob("*.c"))]:
            objects.append(out / f"{source.stem}.part.o")
            call(LLVM / "clang", f"--target={triple}", *FLAGS.get(triple, []), "-std=c11", "-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-Os", "-mno-stack-arg-probe", f"-I{out}", f"-I{SOURCE}/runtime_support/include", "-c", source, "-o", objects[-1])
        if "windows" in triple:  # what its C library defines
            (out / "used.c").write_text("int _fltused;\n")
            objects.append(out / "used.part.o")
            call(LLVM / "clang", f"--target={triple}", "-c", out / "used.c", "-o", objects[-1])
        program, flags = out / "program", [out / flag if flag.endswith((".tbd", ".lib")) else flag for flag in link[1:]]
        call(LLVM / link[0], *flags, *objects, out / "net.a", *([f"/out:{program}"] if "windows" in triple else ["-o", program]))
        expected = (out / "net.weights").read_bytes().hex()
        for path in (out / "net.o", program):
            if not any(expected in section for section in weights_in(path)):
                sys.exit(f"{path}: the weights are not in it")
        form = re.search(r"^Format: (.*)$", call(LLVM / "llvm-readobj", "-h", program), re.M).group(1)
        print(f"{triple}: {form}, {len(expected) // 2} bytes of weights")


main()
