"""What the Python tests share: `ingot run` under limits, and recorded values in ONNX's own file layout (test_data_set_0/input_K.pb)."""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import host
import server

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

VERDICT = {0: "pass", 1: "refused", 2: "bug"}  # exit codes of ingot; anything else is a crash


def limits(address_space=8 << 30):
    """Run in the child: no core file, bounded memory. A caller's tighter limit stays. Under a sanitizer, which reserves terabytes of addresses, there is none."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if "ASAN_OPTIONS" not in os.environ:
        resource.setrlimit(resource.RLIMIT_AS, (address_space if hard == resource.RLIM_INFINITY else min(address_space, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def invoke(command, seconds=120):
    """Runs a command under limits, one of ingot by its server: (exit code, stdout, stderr). The code is None where it took longer."""
    command = [str(part) for part in command]
    if by := server.Server.of(command[0]):
        code, out, err = by.run(command, seconds)
        return None if code == -signal.SIGALRM else code, out, err
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=seconds, preexec_fn=limits)
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout, done.stderr


def call(command, folder, verdicts, seconds=120):
    """Runs a command. Returns (verdict, message in one line)."""
    code, out, err = invoke(command, seconds)
    if code is None:
        return "timeout", f"more than {seconds} s"
    message = re.sub(r"\s+", " ", err.strip() or out.strip() or "no message").replace(str(folder) + "/", "")
    return verdicts.get(code, "crash"), "" if code == 0 else f"exit {code}: {message[:600]}"


RUNNER = []  # --runner COMMAND, where models run on another machine
HOW = []  # flags of all compilations


def run(ingot, folder, out, target=None, seconds=120, model=None, flags=()):
    """Compiles folder/model.onnx, unless `model` is compiled already, and runs it on folder/test_data_set_0; through C++ source for a target source:COMPILER[:TARGET]."""
    if (target or "").startswith("source:"):
        with tempfile.TemporaryDirectory(prefix="ingot-source-") as built:
            verdict, text = compile_source(ingot, model or folder / "model.onnx", built, target, seconds)
            return (verdict, text) if verdict != "pass" else run(ingot, folder, out, None, seconds, pathlib.Path(built, "m.json"), flags)
    command = [ingot, "run", model or folder / "model.onnx", "--data", folder / "test_data_set_0", "--out", out, *flags]
    return call(command + target_flags(target) + RUNNER, folder, VERDICT, seconds)


def compile_source(ingot, model, out, target, seconds):
    """A shared object, m.so beside its manifest, by way of C++ source."""
    from open_model import through_source

    def compile(command):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=seconds, preexec_fn=limits)
        return done.returncode, done.stderr

    code, said = through_source([str(word) for word in (ingot, "compile", model, "--name", "m", "-o", out, "--emit", "shared", "--target", target)], compile)
    return VERDICT.get(code, "crash"), "" if code == 0 else f"exit {code}: {said.strip()[:600]}"


def target_flags(target):
    """T; or T@LEVELS: what runs is T, in one library for all of these. And what HOW says."""
    level, _, levels = (target or "").partition("@")
    return (["--levels", levels, "--as", level] if levels else ["--target", target] if target else []) + HOW


# The weights, a section of their own, between two pages that the runner forbids; against the one behind or the one before.
GUARDED_WEIGHTS = """SECTIONS {{ .guarded : ALIGN(4096) {{
  ingot_guard_low = .; . += 4096 + {before}; *(.rodata.{name}_weights) . = ALIGN(4096); ingot_guard_high = .; . += 4096;
}} }} INSERT AFTER .rodata;
"""
GUARDED = {0: "pass", 3: "overrun", 4: "refused", 5: "bug"}  # exit codes of guarded.c


def run_guarded(ingot, runner, runtime, folder, out, target=None, weights_end=True):
    """As run(), but with forbidden pages around all buffers (guarded.c). The model's inputs are those recorded."""
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    command = [ingot, "compile", folder / "model.onnx", "-o", out, "--name", "guarded", "--emit", "obj"]
    verdict, text = call(command + target_flags(target), folder, VERDICT)
    if verdict != "pass":
        return verdict, text
    link, weights = ["/usr/lib/llvm-22/bin/ld.lld", "-shared", "-o", out / "guarded.so", out / "guarded.o", runtime], json.loads((out / "guarded.json").read_text())["weight_bytes"]
    if weights:
        (out / "guarded.ld").write_text(GUARDED_WEIGHTS.format(name="guarded", before=-weights % 4096 if weights_end else 0))
        link += ["-T", out / "guarded.ld"]
    verdict, text = call(link, folder, {0: "pass"})
    if verdict != "pass":
        return verdict, text
    data, graph = folder / "test_data_set_0", onnx.load(folder / "model.onnx", load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    for k, _ in enumerate(value for value in graph.input if value.name not in constants):
        (out / f"input_{k}.bin").write_bytes(numpy_helper.to_array(onnx.load_tensor(str(data / f"input_{k}.pb"))).tobytes())
    verdict, text = call([runner, out / "guarded.so", "guarded", out], folder, GUARDED)
    for k, value in enumerate(graph.output if verdict == "pass" else []):
        want = numpy_helper.to_array(onnx.load_tensor(str(data / f"output_{k}.pb")))
        facts = json.loads((out / "guarded.json").read_text())["outputs"][k]
        got, found = np.frombuffer((out / f"output_{k}.bin").read_bytes(), want.dtype), out / "found.txt"
        dims = [int(size) for size in found.read_text().split("\n")[k].split()] if found.exists() else facts["dims"]
        (out / f"output_{k}.pb").write_bytes(numpy_helper.from_array(got.reshape(dims), value.name).SerializeToString())
    return verdict, text


def run_on(arguments, folder, model, inputs, outputs):
    """Writes the model and a data set, and runs it; within guard pages where --guarded says so, which wants the outputs for their types. What it gives is in folder/out."""
    data = folder / "test_data_set_0"
    data.mkdir()
    onnx.save(model, folder / "model.onnx")
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for k, array in enumerate(arrays):
            (data / f"{kind}_{k}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
    if arguments.guarded:
        return run_guarded(arguments.ingot, *arguments.guarded, folder, folder / "out", arguments.target)
    return run(arguments.ingot, folder, folder / "out", arguments.target, seconds=600)


def load(path, value_type=None):
    """A recorded value: an array, a list (sequence) or None (empty optional)."""
    kind = value_type.WhichOneof("value") if value_type else "tensor_type"
    proto = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}.get(kind, onnx.TensorProto)()
    proto.ParseFromString(pathlib.Path(path).read_bytes())
    convert = {"sequence_type": numpy_helper.to_list, "optional_type": numpy_helper.to_optional}.get(kind, numpy_helper.to_array)
    return convert(proto)


def compare_outputs(folder, out, difference):
    """The first output that `difference(got, want)` finds a sentence for, or None."""
    for k, output in enumerate(onnx.load(folder / "model.onnx", load_external_data=False).graph.output):
        if not (path := pathlib.Path(out, f"output_{k}.pb")).exists():
            return f"output {k} is missing"
        if text := difference(load(path, output.type), load(folder / "test_data_set_0" / f"output_{k}.pb", output.type)):
            return f"output {k} ({output.name}): {text}"
    return None


def different_kind(got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    return None


def difference(got, want, absolute=5e-5, relative=3e-4):
    """None when equal enough, else a sentence. Integers exactly; floats within `absolute` of the largest value (at least 1) plus `relative` of each."""
    if text := different_kind(got, want):
        return text
    if want.dtype.kind != "f":
        wrong = np.argwhere(got != want)
        return f"{len(wrong)} of {want.size} differ, first at {wrong[0].tolist()}" if len(wrong) else None
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return "NaN or infinity differs"
    error = np.abs(np.where(finite, got, 0).astype(np.float64) - np.where(finite, want, 0))
    scale = max(1.0, np.abs(want[finite]).max(initial=0))
    wrong = np.argwhere(~(error <= absolute * scale + relative * np.abs(np.where(finite, want, 0))))
    if not len(wrong):
        return None
    first = tuple(wrong[0])
    return f"{len(wrong)} of {want.size} differ, first at {wrong[0].tolist()}: {got[first]}, expected {want[first]}; shape {list(want.shape)}"


def levels_here(ingot, levels, what):
    """Those of the x86-64 levels that this host runs; the others are said to be left out."""
    for level in levels:
        if lack := host.lacks(ingot, f"x86-64-v{level}"):
            skip(f"{what} at x86-64-v{level}", f"this host lacks {lack}")
    return [level for level in levels if not host.lacks(ingot, f"x86-64-v{level}")]


def skip(case, reason):
    """Says that one case of several is left out because something is missing; test/tools/gate.py reads it."""
    print(f"skipped: {case}: {reason}", flush=True)


def known(suite):
    """What test/known.txt says of a suite: name or pattern -> reason."""
    lines = (pathlib.Path(__file__).resolve().parents[1] / "known.txt").read_text().splitlines()
    entries = [line.split(": ", 2) for line in lines if line and not line.startswith("#")]
    return {pattern: reason for of, pattern, reason in entries if of == suite}


def reason(entries, name):
    return next((text for pattern, text in entries.items() if fnmatch.fnmatchcase(name, pattern)), None)


class Count:
    """Counts results and prints what a person must read; a failure that test/known.txt names is skipped, and one that it names and that passes is said."""

    def __init__(self, suite):
        self.entries, self.passed, self.failed, self.skipped = known(suite), 0, 0, 0

    def add(self, name, wrong):
        why = reason(self.entries, name)
        if wrong is None:
            self.passed += 1
            print(f"{name}: passes, take it out of test/known.txt" if why else "", end="\n" if why else "", flush=True)
        elif why:
            self.skipped += 1
        else:
            self.failed += 1
            print(f"{name}: {wrong}", flush=True)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        sys.exit(1 if self.failed else 0 if self.passed else 77)


def run_named(description, cases, one, most_lines=None, switches=()):
    """The main of a suite of named cases: one(arguments, name) gives (name, what is wrong), of which `most_lines` are said. `switches`: flags of its own."""
    flags = parser(description)
    for switch in switches:
        flags.add_argument(f"--{switch}", action="store_true")
    flags.add_argument("--only", help="names, with commas")
    arguments = flags.parse_args()
    names = arguments.only.split(",") if arguments.only else list(cases)
    failed = 0
    with concurrent.futures.ProcessPoolExecutor(arguments.j) as pool:
        for name, wrong in pool.map(one, [arguments] * len(names), names):
            for line in wrong[:most_lines]:
                print(f"{name}: {line}", flush=True)
            failed += bool(wrong)
    print(f"{len(names) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


class Parser(argparse.ArgumentParser):
    """Its test is skipped where the host does not run code for the target."""

    def parse_args(self, *given):
        arguments = super().parse_args(*given)
        if not RUNNER and not getattr(arguments, "bare", False):
            host.require(arguments.ingot, arguments.target)
        return arguments


def parser(description):
    """The flags that every such test has."""
    result = Parser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--ingot"), result.add_argument("--target"), result.add_argument("-j", type=int, default=2)
    result.add_argument("--runner", type=set_runner)
    result.add_argument("--winograd", type=set_winograd, help="2 or 4: 3x3 convolutions by F(2x2) or F(4x4) wherever that is possible")
    return result


def set_winograd(outputs):
    HOW[:] = ["--winograd", outputs]
    return outputs


def set_runner(command):
    if not shutil.which(command.split()[0]):
        print(f"skipped: no {command.split()[0]} here")
        sys.exit(77)
    RUNNER[:] = ["--runner", command]
    return command
