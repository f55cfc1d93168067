"""Models on a machine without an operating system's libraries: compiled to an object, linked with the core of the support library and with
runtime_support/boards/program.c, which a board runs or, with test/firmware/system_calls.c, an emulator of Linux' system calls. Nothing else is linked,
so a call of any other library is an error here."""
import fcntl
import functools
import json
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import typing

import numpy as np
import onnx
from onnx import numpy_helper

import ingot_run
from open_model import Refused, Status

SOURCES = pathlib.Path(__file__).resolve().parents[2]
RUNTIME = SOURCES / "runtime_support"
TOOLS = pathlib.Path("/usr/lib/llvm-22/bin")

# For a target of ingot: LLVM's triple, flags of the C compiler, the emulator, and the command that names the library of GCC that code may call. The
# code of most Cortex-M is also code of larger processors, whose emulation is older and surer than that of the small ones.
# Some run on a whole board of runtime_support/boards: MVE is emulated on boards only, and Cortex-M4F, M7 and M33 are the processors of three others.
ARM, SOFT = ["qemu-arm", "-cpu", "max"], ["-mfloat-abi=soft"]
BOARDS = RUNTIME / "boards"


def board(name):
    """How a board's table runs a program that is named behind it, without the clock of instructions, which makes it slower."""
    words = json.loads((BOARDS / f"{name}.json").read_text())["run"]
    clock = words.index("-icount")
    return words[:clock] + [word for word in words[clock + 2 :] if word != "{program}"]


M4, M7, M33, M55 = board("mps2-an386"), board("mps2-an500"), board("mps2-an505"), board("mps3-an547")
VECTORS = ["qemu-riscv64", "-cpu", "rv64,v=true,vext_spec=v1.0,vlen=%d"]


WASM = ["node", "--no-warnings", SOURCES / "test/firmware/wasi.mjs"]
WASM_LIBRARY = [TOOLS / "clang", "--target=wasm32-wasip1", "-print-libgcc-file-name"]


def gcc_of(prefix, *flags):
    return [f"{prefix}-gcc", *flags, "-print-libgcc-file-name"]


class Machine(typing.NamedTuple):
    triple: str
    flags: list
    emulator: list
    compilers_library: list  # the command that names it; None: code calls none
    bounds_stack: bool = True

    @property
    def board(self):
        """The board's name, or None."""
        return self.emulator[2] if self.emulator[0] == "qemu-system-arm" else None


MACHINES = {
    "cortex-m0plus": Machine("thumbv6m-none-eabi", ["-mcpu=cortex-m0plus", *SOFT], ARM, gcc_of("arm-none-eabi", "-mcpu=cortex-m0plus")),
    "cortex-m3": Machine("thumbv7m-none-eabi", ["-mcpu=cortex-m3", *SOFT], ARM, gcc_of("arm-none-eabi", "-mcpu=cortex-m3")),
    "cortex-m4": Machine("thumbv7em-none-eabi", ["-mcpu=cortex-m4", "-mfloat-abi=softfp"], ARM, None),
    "cortex-m4f": Machine("thumbv7em-none-eabi", ["-mcpu=cortex-m4", "-mfloat-abi=softfp"], M4, None),
    "cortex-m4+nofp": Machine("thumbv7em-none-eabi", ["-mcpu=cortex-m4", *SOFT], ARM, gcc_of("arm-none-eabi", "-mcpu=cortex-m4", *SOFT)),
    "cortex-m7": Machine("thumbv7em-none-eabi", ["-mcpu=cortex-m7", "-mfloat-abi=softfp"], M7, None),
    "cortex-m33": Machine("thumbv8m.main-none-eabi", ["-mcpu=cortex-m33", "-mfloat-abi=softfp"], M33, None),
    "cortex-m33+nofp": Machine("thumbv8m.main-none-eabi", ["-mcpu=cortex-m33", *SOFT], ARM, gcc_of("arm-none-eabi", "-mcpu=cortex-m33", *SOFT)),
    "cortex-m55": Machine("thumbv8.1m.main-none-eabi", ["-mcpu=cortex-m55", "-mfloat-abi=softfp"], M55, None),
    "cortex-m85": Machine("thumbv8.1m.main-none-eabi", ["-mcpu=cortex-m85", "-mfloat-abi=softfp"], M55, None),
    "rv32imc": Machine("riscv32-unknown-elf", ["-march=rv32imc", "-mabi=ilp32"], ["qemu-riscv32"], gcc_of("riscv64-unknown-elf", "-march=rv32imc", "-mabi=ilp32")),
    "rv32imafc": Machine("riscv32-unknown-elf", ["-march=rv32imafc", "-mabi=ilp32f"], ["qemu-riscv32"], None),
    "rv64gc": Machine("riscv64-unknown-elf", ["-march=rv64gc", "-mabi=lp64d"], ["qemu-riscv64"], None, bounds_stack=False),
    "rv64gcv": Machine("riscv64-unknown-elf", ["-march=rv64gcv", "-mabi=lp64d"], [*VECTORS[:2], VECTORS[2] % 128], None, bounds_stack=False),
    "wasm32": Machine("wasm32-unknown-unknown", [], WASM, WASM_LIBRARY, bounds_stack=False),
    "wasm32+relaxed-simd": Machine("wasm32-unknown-unknown", ["-mrelaxed-simd"], WASM, WASM_LIBRARY, bounds_stack=False),
    "wasm32+threads": Machine("wasm32-unknown-unknown", ["-msimd128"], WASM, WASM_LIBRARY, bounds_stack=False),
    "wasm32+simd128": Machine("wasm32-unknown-unknown", ["-msimd128"], WASM, WASM_LIBRARY, bounds_stack=False),
}
TYPES = {np.dtype(name) for name in ("float32", "float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool")}


def lacks(target):
    """What is missing here to run code for the target, or an empty text."""
    machine = MACHINES[target]
    missing = [tool for tool in (TOOLS / "clang", TOOLS / "ld.lld", "cmake", machine.emulator[0], *(machine.compilers_library or [])[:1]) if not shutil.which(str(tool))]
    if machine.compilers_library and not missing and not pathlib.Path(library_of(machine)).exists():
        missing.append(library_of(machine))
    return ", ".join(map(str, missing))


def library_of(machine):
    return call(machine.compilers_library, check=True).stdout.decode().strip()


def call(command, **options):
    # Node reserves more addresses than the limit of other programs, for guards around the memory of WebAssembly.
    limits = None if command[0] == WASM[0] else ingot_run.limits
    return subprocess.run([str(word) for word in command], capture_output=True, timeout=120, preexec_fn=limits, **options)


class Crash(Exception):
    """The program ended before its answer."""


class Bare:
    """The core of the support library and the program for a target, which build() compiles into a folder; shared() has one that is built."""

    def __init__(self, target, folder):
        self.target, self.folder = target, pathlib.Path(folder)
        machine = MACHINES[target]
        self.triple, self.flags, self.emulator, self.board = machine.triple, machine.flags, machine.emulator, machine.board
        self.sources = [BOARDS / "program.c", BOARDS / "semihosting.c" if self.board else SOURCES / "test/firmware/system_calls.c"]
        self.programs, self.libraries = [self.folder / f"{source.stem}.o" for source in self.sources], [self.folder / "libingot_rt_core.a"]
        if machine.compilers_library:
            self.libraries.append(library_of(machine))

    def build(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        toolchain, flags = SOURCES / "cmake/toolchains/thumbv7em-none-eabi.cmake", ["-std=c11", "-Os", "-ffreestanding", "-fno-builtin", "-Wall", "-Werror"]
        compile = [TOOLS / "clang", f"--target={self.triple}", *self.flags, *flags, "-I", RUNTIME / "core", "-I", RUNTIME / "include", "-I", BOARDS]
        for command in (
            ["cmake", "-S", RUNTIME, "-B", self.folder, "--toolchain", toolchain, f"-DCMAKE_C_FLAGS={' '.join(self.flags)}", f"-DCMAKE_C_COMPILER_TARGET={self.triple}"],
            ["cmake", "--build", self.folder, "--parallel", "2"],
            *([*compile, "-c", source, "-o", program] for source, program in zip(self.sources, self.programs)),
        ):
            done = call(command)
            if done.returncode:
                raise RuntimeError((done.stdout + done.stderr).decode())

    def link(self, built, name):
        """Links built/model.o; what is wrong, or None."""
        how = ["-L", BOARDS, "-T", BOARDS / f"{self.board}.ld", "--gc-sections"] if self.board else ["-static", "-e", "_start"]
        linker = "ld.lld"
        if self.emulator is WASM:
            linker, how = "wasm-ld", ["--no-entry", "-z", f"stack-size={1 << 20}"]
        done = call([TOOLS / linker, *how, "-o", built / name, *self.programs, built / "model.o", *self.streamed(built), *self.libraries])
        return re.sub(r"\s+", " ", done.stderr.decode()).strip()[:600] if done.returncode else None

    def streamed(self, built):
        """The object with the weights of a model that streams them (program.c), if built/model.weights is there."""
        if not (built / "model.weights").exists():
            return []
        weights = f'-DSTREAMED_WEIGHTS="{built / "model.weights"}"'
        call([TOOLS / "clang", f"--target={self.triple}", *self.flags, weights, "-c", BOARDS / "streamed.S", "-o", built / "streamed.o"], check=True)
        return [built / "streamed.o"]

    def make(self, ingot, folder, out, flags=()):
        """Compiles folder/model.onnx and links out/program: (verdict, text)."""
        out = pathlib.Path(out)
        out.mkdir(parents=True, exist_ok=True)
        command = [ingot, "compile", folder / "model.onnx", "-o", out, "--name", "model", "--emit", "obj", "--target", self.target, *flags]
        verdict, text = ingot_run.call(command, folder, ingot_run.VERDICT)
        if verdict != "pass":
            return verdict, text
        text = self.link(out, "program")
        return ("link", text) if text else ("pass", "")

    def run(self, ingot, folder, out, flags=(), painted=None):
        """As ingot_run.run(): (verdict, text), and out/output_K.pb; `painted` is that of ask()."""
        verdict, text = self.make(ingot, folder, out, flags)
        return self.execute(folder, pathlib.Path(out), painted) if verdict == "pass" else (verdict, text)

    def exchange(self, program, request):
        """What the program writes for what it reads."""
        if self.board:
            with tempfile.TemporaryDirectory(prefix="ingot-board-") as folder:
                files = pathlib.Path(folder)
                (files / "request").write_bytes(request)
                done = call([*self.emulator, pathlib.Path(program).resolve()], cwd=folder, stdin=subprocess.DEVNULL)
                reply = (files / "reply").read_bytes() if (files / "reply").exists() else b""
        else:
            done = call([*self.emulator, program], input=request)
            reply = done.stdout
        if done.returncode:
            raise Crash(f"the program ended with {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
        return reply

    def ask(self, program, inputs, types, painted=None):
        """Outputs of these types for the inputs (None: one is left out). Trouble is an exception: Status, or one that says what ended the program.
        Where `painted` is a list, it gets the bytes of the stack that the run has changed."""
        request = struct.pack("<q", 1 if painted is None else 2)
        for array in inputs:
            request += struct.pack("<q", -1) if array is None else struct.pack(f"<{1 + array.ndim}q", array.ndim, *array.shape) + array.tobytes()
        reply, outputs = Reply(self.exchange(program, request)), []
        status = reply.number()
        if painted is not None:
            painted.append(reply.number())
        if status:
            raise Status(f"status {status & 0xFF}, {(status >> 8) - 1}")
        for dtype in types:
            shape = [reply.number() for _ in range(reply.number())]
            outputs.append(np.frombuffer(reply.take(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize), dtype).reshape(shape).copy())
        return outputs

    def execute(self, folder, out, painted=None):
        graph, data = onnx.load(folder / "model.onnx", load_external_data=False).graph, folder / "test_data_set_0"
        constants = {tensor.name for tensor in graph.initializer}
        inputs = [numpy_helper.to_array(onnx.load_tensor(str(data / f"input_{k}.pb"))) for k, _ in enumerate(value for value in graph.input if value.name not in constants)]
        types = [numpy_helper.to_array(onnx.load_tensor(str(data / f"output_{k}.pb"))).dtype for k, _ in enumerate(graph.output)]
        if others := {*types, *(array.dtype for array in inputs)} - TYPES:
            return "none", f"tensors of {', '.join(map(str, others))}"
        try:
            outputs = self.ask(out / "program", inputs, types, painted)
        except subprocess.TimeoutExpired:
            return "timeout", "more than 120 s"
        except (Crash, Status) as trouble:
            return "crash" if isinstance(trouble, Crash) else "refused", str(trouble)
        for k, (value, got) in enumerate(zip(graph.output, outputs)):
            (out / f"output_{k}.pb").write_bytes(numpy_helper.from_array(got, value.name).SerializeToString())
        return "pass", ""


class Program:
    """A model for a bare machine, as open_model.OpenModel is one for this host: `at` gives outputs for inputs by name."""

    def __init__(self, ingot, model, folder, target, flags):
        self.machine, self.program = shared(ingot, target), folder / "program"
        onnx.save(model, folder / "model.onnx")
        verdict, text = self.machine.make(ingot, folder, folder, flags)
        if verdict != "pass":
            raise Refused(text if text.startswith("exit") else f"exit 2: {text}")
        facts = json.loads((folder / "model.json").read_text())
        names = [tensor["type"] for tensor in facts["inputs"] + facts["outputs"]]
        if others := [name for name in names if name not in {dtype.name for dtype in TYPES}]:
            raise Refused(f"exit 1: tensors of {others[0]} are not read here")
        self.names, self.types = [tensor["name"] for tensor in facts["inputs"]], [np.dtype(tensor["type"]) for tensor in facts["outputs"]]

    def at(self, feeds):
        return self.machine.ask(self.program, [None if feeds[name] is None else np.asarray(feeds[name], order="C") for name in self.names], self.types)


@functools.cache
def shared(ingot, target):
    """The machine whose library lies in the build folder, for all processes of all tests."""
    folder = pathlib.Path(ingot).resolve().parents[1] / "test/bare" / target
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        machine = Bare(target, folder)
        machine.build()  # brings it up to date
    return machine


def foreign(path, target, own=None):
    """A sentence about symbols that an object needs of others than the support library (or than those that begin as `own` says), or None. Where the target's code may call the C compiler's
    library, the compiler has compared them with its list, and they begin with underscores."""
    own = own if own is not None else ("ingot_", "__") if MACHINES[target].compilers_library else ("ingot_",)
    needed = [line.split()[-1] for line in call([TOOLS / "llvm-nm", "-u", path], check=True).stdout.decode().splitlines()]
    of_linker = ("__linear_memory", "__stack_pointer", "__indirect_function_table") if MACHINES[target].emulator is WASM else ()
    others = [name for name in needed if not name.startswith(own) and name not in of_linker]
    return f"the object needs {', '.join(others)}" if others else None


def plan(machine, program, symbols):
    """What ingot_plan says to values of the model's symbols: the kind of its status, and bytes of the workspace."""
    status, bytes = struct.unpack("<qq", machine.exchange(program, struct.pack(f"<{1 + len(symbols)}q", 0, *symbols)))
    return status & 0xFF, bytes


class Reply:
    def __init__(self, bytes):
        self.bytes, self.at = bytes, 0

    def take(self, count):
        self.at += count
        return self.bytes[self.at - count : self.at]

    def number(self):
        return struct.unpack("<q", self.take(8))[0]
