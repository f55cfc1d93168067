"""The stack that functions of the support library take, as clang and GCC compile them for small processors, beside the table of compiler/emit/StackBound.cpp:
no function takes more than its row says, and the deepest of a row more than a half of that.

    library_stack.py
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCES = pathlib.Path(__file__).resolve().parents[2]
RUNTIME = SOURCES / "runtime_support"
TOOLS = pathlib.Path("/usr/lib/llvm-22/bin")
FLAGS = ["-std=c99", "-Os", "-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-ffunction-sections", "-I", RUNTIME / "include"]
CLANG = {
    "cortex-m0plus": ["--target=thumbv6m-none-eabi", "-mcpu=cortex-m0plus"],
    "cortex-m4": ["--target=thumbv7em-none-eabi", "-mcpu=cortex-m4", "-mfloat-abi=softfp"],
    "cortex-m55": ["--target=thumbv8.1m.main-none-eabi", "-mcpu=cortex-m55", "-mfloat-abi=softfp"],
    "rv32imc": ["--target=riscv32-unknown-elf", "-march=rv32imc"],
    "rv32imafc": ["--target=riscv32-unknown-elf", "-march=rv32imafc"],
}
GCC = {
    "cortex-m0plus": ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m0plus"],
    "cortex-m4": ["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m4"],
    "rv32imc": ["riscv64-unknown-elf-gcc", "-march=rv32imc", "-mabi=ilp32"],
}
FILES = ("wide", "parallel", "reader")


def call(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def of_clang(flags, file, scratch):
    """Frames of functions and the functions that each refers to."""
    source, out = RUNTIME / f"core/{file}.c", scratch / f"{file}.o"
    call(TOOLS / "clang", *flags, *FLAGS, "-fstack-size-section", "-c", source, "-o", out)
    sizes = call(TOOLS / "llvm-readobj", "--stack-sizes", out)
    frames = {name: int(size, 16) for name, size in re.findall(r"Functions: \[(\w+)\]\s+Size: (\w+)", sizes)}
    calls, function = {name: set() for name in frames}, None
    for line in call(TOOLS / "clang", *flags, *FLAGS, "-S", source, "-o", "-").splitlines():
        if label := re.match(r"(\w+):", line):
            function = label[1] if label[1] in frames else function
        elif jump := re.match(r"\s+(?:bl?|b\.w|bne|beq|call|tail|j)\s+(\w+)\s*(?:@.*)?$", line):
            calls[function] |= {jump[1]} & (frames.keys() - {function})
    return frames, calls


def of_gcc(command, file, scratch):
    call(*command, *FLAGS, "-fcallgraph-info=su", "-c", RUNTIME / f"core/{file}.c", "-o", scratch / f"{file}.o")
    graph = (scratch / f"{file}.ci").read_text()
    frames = {name.split(":")[-1]: int(bytes) for name, bytes in re.findall(r'node: \{ title: "([^"]+)" label: "[^"]*?(\d+) bytes \(static', graph)}
    calls = {name: set() for name in frames}
    for caller, callee in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', graph):
        calls[caller.split(":")[-1]] |= {callee.split(":")[-1]} & frames.keys()
    return frames, calls


def depth(name, frames, calls):
    return frames[name] + max((depth(callee, frames, calls) for callee in calls[name]), default=0)


def main():
    table = {prefix: int(bytes) for prefix, bytes in re.findall(r'\{"(ingot_\w+)", (\d+)\}', (SOURCES / "compiler/emit/StackBound.cpp").read_text())}
    if len(table) != len(FILES):
        sys.exit(f"the table of StackBound.cpp was not found whole: {table}")
    ways = [(f"clang, {name}", of_clang, flags) for name, flags in CLANG.items()]
    ways += [(f"{command[0]}, {name}", of_gcc, command) for name, command in GCC.items() if shutil.which(command[0])]
    deepest, wrong = dict.fromkeys(table, 0), []
    with tempfile.TemporaryDirectory(prefix="ingot-stack-") as scratch:
        for way, of, how in ways:
            for file in FILES:
                frames, calls = of(how, file, pathlib.Path(scratch))
                for name in frames:
                    for prefix in table:
                        if name.startswith(prefix):
                            bytes = depth(name, frames, calls)
                            deepest[prefix] = max(deepest[prefix], bytes)
                            wrong += [f"{name} takes {bytes} bytes of stack by {way}, and the table has {table[prefix]}"] * (bytes > table[prefix])
    wrong += [f"the table has {table[prefix]} bytes for {prefix}, and the deepest takes {bytes}" for prefix, bytes in deepest.items() if 2 * bytes <= table[prefix]]
    print("\n".join(wrong + [f"{prefix}: {bytes} bytes at most" for prefix, bytes in deepest.items()]))
    print(f"{len(ways)} passed, {len(wrong)} failed")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
