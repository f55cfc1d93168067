"""What making fixtures and testing with them share: the machines they are for, and how they are linked."""
import hashlib
import json
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INCLUDE = ROOT / "runtime_support/include"
STRICT = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-command-line-argument"]
IN_PROGRAM = ("conv", "found", "lookup", "open_sizes", "strings")  # the models that program.c runs
IN_SOURCE = ("found", "lookup")  # those that are kept as C++ source


MODELS = (*IN_PROGRAM, "int8", "sequence")


class Machine:
    """A machine that objects are for: flags of clang, where its support library lies in a build, and what runs its programs."""

    def __init__(self, flags, library, runner):
        self.flags, self.library, self.runner = flags, library, runner


# The objects of all models are kept for the first, with headers and manifests; for others those that the program needs.
HOST = "x86-64-v2"
MACHINES = {
    HOST: Machine([], "lib/libingot_rt.a", []),
    "armv8-a": Machine(["--target=aarch64-linux-gnu", "-fuse-ld=lld"], "lib/aarch64-linux-gnu/libingot_rt.a", ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]),
}


def call(*command):
    """Runs a command: what it printed. AssertionError where it fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, command))}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[-800:]}"
    return done.stdout


def fails(*command):
    """What a command says that has to fail."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode, f"{' '.join(map(str, command))} does not fail"
    return done.stdout + done.stderr


def link_program(machine, code, library, out):
    """A program of objects, and source in C; `library` is the support library."""
    call("clang-22", *machine.flags, *STRICT, "-std=c11", *code, library, "-pthread", "-o", out)
    return out


def interface(header):
    """The declarations of ingot.h, without comments, each in a line; enumerators and macros one by one."""
    text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.S)
    text = re.sub(r"\\\n", " ", text)
    macros = re.findall(r"^\s*#\s*define\s+(INGOT_\w.*?)\s*$", text, flags=re.M)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    enums = re.findall(r"enum \w+ \{(.*?)\}", text, flags=re.S)
    text = re.sub(r"enum (\w+) \{.*?\}", r"enum \1", text, flags=re.S)
    lines = [re.sub(r"\s+", " ", line).strip() for line in [*macros, *(item for enum in enums for item in enum.split(",")), *declarations(text)]]
    return [line for line in lines if line and line != "INGOT_H"]


def declarations(text):
    """Declarations end with a semicolon outside of braces."""
    found, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == ";" and depth == 0 or 'extern "C" {' in text[begin : at + 1]:
            found.append(text[begin:at])
            begin, depth = at + 1, 0
    return [line for line in found if 'extern "C"' not in line]


def plug_ins():
    """The version of the interface of plug-ins, and a hash of the headers that are installed for them, without comments and spaces."""
    folder = ROOT / "compiler/target"
    names = re.search(r"foreach\(header ([^)]*)\)", (ROOT / "cmake/IngotInstall.cmake").read_text())[1].split()
    text = "".join(re.sub(r"//[^\n]*|\s+", "", (folder / name).read_text()) for name in names)
    version = int(re.search(r"plugInVersion = (\d+)", (folder / "PlugIn.h").read_text())[1])
    return {"version": version, "headers": hashlib.sha256(text.encode()).hexdigest()}


def abi(header=INCLUDE / "ingot.h"):
    return int(re.search(r"#define INGOT_ABI (\d+)", header.read_text())[1])


def facts(folder):
    return json.loads((folder / "version.json").read_text())
