"""Random graphs that read their weights while they run (--weights stream): the bits of weights in the object, and an error where a read fails.

    streams.py --ingot build/bin/ingot [--target T] [--cases 60] [--first 0] [--seed N] [--source g++] [-j 2]

Each graph is compiled with its weights in the object, and with those of random sizes streamed, now and then through the smallest buffer that does. The
reader fills what is asked for with other bytes, and copies the weights when the run waits for them; NAME_run is called with arrays between bytes that
nobody may change. --source: every third graph is C++ source, which that compiler builds.
"""
import ctypes
import pathlib
import random
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import memories
import numpy as np
import onnx
import run as graphs
import seeds

READ = 22  # INGOT_ERROR_READ
BEGIN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
FINISH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class CReader(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("begin", BEGIN), ("finish", FINISH)]


class CExec(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("threads", ctypes.c_void_p), ("parallel_for", ctypes.c_void_p), ("weights", ctypes.POINTER(CReader)), ("rest", ctypes.c_byte * 128)]


class Reader:
    """Reads from bytes; the read number `fails` fails, where it begins or where it ends."""

    def __init__(self, data, align, fails=-1, late=False):
        self.data, self.align, self.fails, self.late = data, align, fails, late
        self.open, self.begun, self.finished, self.wrong = None, 0, 0, ""
        self.reader = CReader(None, BEGIN(self.begin), FINISH(self.finish))
        self.exec = CExec(weights=ctypes.pointer(self.reader))

    def begin(self, _, offset, to, bytes):
        if self.open or offset < 0 or bytes <= 0 or offset + bytes > len(self.data) or offset % self.align or to % self.align:
            self.wrong = f"read of {bytes} bytes at {offset} to {to:x}, while {self.open} is read"
            return 1
        self.begun += 1
        if self.begun - 1 == self.fails and not self.late:
            return 5
        self.open = (to, offset, bytes)
        ctypes.memset(to, 0xA5, bytes)
        return 0

    def finish(self, _):
        if not self.open:
            self.wrong = "nothing is read that could be waited for"
            return 1
        to, offset, bytes = self.open
        ctypes.memmove(to, self.data[offset : offset + bytes], bytes)
        self.open = None
        self.finished += 1
        return 5 if self.finished - 1 == self.fails and self.late else 0


def outputs_of(out, facts, inputs, reader=None):
    """The status, and the bytes of all outputs."""
    run = ctypes.CDLL(str((out / "m.so").resolve())).m_run
    given = [memories.Guarded(array.nbytes) for array in inputs]
    for array, memory in zip(inputs, given):
        memory.memory[memory.begin : memory.begin + memory.bytes] = np.frombuffer(array.tobytes(), np.uint8)
    made = [memories.Guarded(tensor["bytes"]) for tensor in facts["outputs"]]
    workspace = memories.Guarded(facts["workspace_bytes"])
    status = run(*[memory.address for memory in given + made + [workspace]], ctypes.byref(reader.exec) if reader else None)
    if not all(memory.is_intact() for memory in given + made + [workspace]):
        raise RuntimeError("wrote beside an array")
    if reader and (reader.wrong or reader.open):
        raise RuntimeError(reader.wrong or f"ended while {reader.open} was read")
    return status, [memory.memory[memory.begin : memory.begin + memory.bytes].tobytes() for memory in made]


def compiled(arguments, folder, out, source, flags=()):
    return memories.compiled(arguments, folder, out, source, flags=flags)


def smallest_buffer(text):
    """The buffer that the compiler's message says would do."""
    return re.search(r"--stream-buffer (\d+): a kernel needs", text)


def try_one(arguments, index):
    """(verdict, text): "streamed", "kept" (all weights are too small), "none" (nothing to compare), or what is wrong."""
    seed = seeds.of(arguments.seed, index)
    case, model = memories.drawn(seed, index)
    if case is None:
        return "none", ""
    rng = random.Random(f"{seed}/{index}/streams")
    source = (arguments.source, ["portable", "portable-scalar"][index % 2]) if arguments.source and index % 3 == 0 else None
    with tempfile.TemporaryDirectory(prefix="ingot-streams-") as scratch:
        folder = pathlib.Path(scratch)
        onnx.save(model, folder / "model.onnx")
        verdict, text, facts = compiled(arguments, folder, folder / "one", source)
        if verdict != "pass" or not memories.is_plain(facts) or not facts["weight_bytes"]:
            return ("none", "") if verdict in ("pass", "refused") else (verdict, text)
        flags = ["--weights", "stream", "--stream-least", rng.choice(["1", "65", "400"])]
        if rng.random() < 0.5:  # what the message about a buffer of one byte asks for has to do
            verdict, text, few = compiled(arguments, folder, folder / "few", source, [*flags, "--stream-buffer", "1"])
            needed = smallest_buffer(text)
            if verdict == "refused" and needed:
                flags += ["--stream-buffer", needed.group(1)]
            elif verdict != "pass" or few["weights"]["reads"]:
                return "wrong", f"with a buffer of one byte: {verdict}: {text}"
        verdict, text, streamed = compiled(arguments, folder, folder / "streamed", source, flags)
        if verdict != "pass":
            return "wrong", f"{verdict} with {flags}: {text}"
        weights, align = streamed["weights"], facts["workspace_align"]
        data = (folder / "streamed/m.weights").read_bytes()
        if len(data) != weights["bytes"] or ("--stream-buffer" in flags and weights["stream_bytes"] > int(flags[-1])):
            return "wrong", f"{len(data)} bytes of {weights}, with {flags}"
        inputs = [np.asarray(case.values[name].array) for name in case.inputs]
        try:
            wanted = outputs_of(folder / "one", facts, inputs)
            reader = Reader(data, align)
            got = outputs_of(folder / "streamed", streamed, inputs, reader)
            if reader.begun != reader.finished:
                return "wrong", f"{reader.begun} reads begun and {reader.finished} finished"
            if wanted != got:
                return "wrong", f"status {got[0]}, of {wanted[0]}, or other bits with {flags}: {graphs.describe(case)}"
            for _ in range(min(3, reader.begun)):
                failing = Reader(data, align, rng.randrange(reader.begun), rng.random() < 0.5)
                status, _ = outputs_of(folder / "streamed", streamed, inputs, failing)
                if status & 0xFF != READ or failing.begun != failing.fails + 1:
                    return "wrong", f"status {status & 0xFF} where read {failing.fails} of {reader.begun} fails, with {flags}"
        except RuntimeError as trouble:
            return "wrong", f"{trouble}, with {flags}"
        return ("streamed" if reader.begun else "kept"), ""


def main():
    counts, cases, failed = memories.tried(__doc__, try_one, ("streamed", "kept", "none"))
    print(f"{counts['streamed']} passed with weights that they read, {counts['kept']} without, {counts['none']} left out, {failed} failed")
    sys.exit(failed > 0 or counts["streamed"] < cases // 4)


if __name__ == "__main__":
    main()
