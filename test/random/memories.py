"""Random graphs whose workspace is in several memories of random sizes: the same bits as in one.

    memories.py --ingot build/bin/ingot [--target T] [--cases 60] [--first 0] [--seed N] [--source g++] [-j 2]

Each graph is compiled with one workspace and with memories, and NAME_run is called with arrays of the header's sizes, between bytes that nobody may
change. The compiler may refuse memories, but not where the largest of them has room for all. --source: every third graph is C++ source, which that
compiler builds.
"""
import collections
import concurrent.futures
import ctypes
import json
import os
import pathlib
import random
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import families
import ingot_run
import networks
import numpy as np
import onnx
import run as graphs
import seeds
from open_model import build_source

GUARD, ALIGN = 64, 64


def drawn(seed, index):
    """A case and its model; None where there is none."""
    if index % 4:
        case, model, _ = networks.build(seed, index)
    else:
        left_out = ingot_run.known("random")
        names = [name for name in sorted(families.load()) if not ingot_run.reason(left_out, name)]
        case, model, _, _ = graphs.build(seed, index, names, 6)
    return case, model


def sizes(rng, facts):
    """Names and sizes of memories for an arena of so many bytes: now and then the last one has room for all of it."""
    arena, count = facts["arena_bytes"] + 2 * facts["workspace_align"], rng.randint(2, 4)
    shares = [rng.choice([0, 0.05, 0.2, 0.4, 0.6, 0.9]) for _ in range(count - 1)] + [rng.choice([0.5, 1, 1, 1])]
    rng.shuffle(shares)
    return [(name, int(arena * share) + rng.randint(0, 40), rng.choice(["", "@1", "@2", "@7"])) for name, share in zip("abcd", shares)]


def compiled(arguments, folder, out, source, memories=(), flags=()):
    """(verdict, text, the manifest)."""
    flags = [*flags, *(["--memories", ",".join(f"{name}={bytes}{speed}" for name, bytes, speed in memories)] if memories else [])]
    command = [arguments.ingot, "compile", folder / "model.onnx", "-o", out, "--name", "m", "--emit", "cpp" if source else "shared", *flags]
    verdict, text = ingot_run.call(command + (["--target", source[1]] if source else ingot_run.target_flags(arguments.target)), folder, ingot_run.VERDICT)
    if verdict == "pass" and source:
        code, said = build_source(out, source[0])
        verdict, text = ("pass", "") if code == 0 else ("bug", said)
    return verdict, text, json.loads((out / "m.json").read_text()) if verdict == "pass" else None


class Guarded:
    """An aligned array between guards."""

    def __init__(self, bytes):
        self.memory, self.bytes = np.full(bytes + 2 * GUARD + ALIGN, 0xA5, np.uint8), bytes
        self.begin = GUARD + -(self.memory.ctypes.data + GUARD) % ALIGN
        self.address = ctypes.c_void_p(self.memory.ctypes.data + self.begin)

    def is_intact(self):
        return bool((self.memory[: self.begin] == 0xA5).all() and (self.memory[self.begin + self.bytes :] == 0xA5).all())


def outputs_of(out, facts, inputs):
    """The bytes of all outputs. Each part of the workspace is an array of its own."""
    run = ctypes.CDLL(str((out / "m.so").resolve())).m_run
    given = [Guarded(array.nbytes) for array in inputs]
    for array, memory in zip(inputs, given):
        memory.memory[memory.begin : memory.begin + memory.bytes] = np.frombuffer(array.tobytes(), np.uint8)
    made = [Guarded(tensor["bytes"]) for tensor in facts["outputs"]]
    parts = [Guarded(part["workspace_bytes"]) for part in facts.get("memories", [{"workspace_bytes": facts["workspace_bytes"]}])]
    status = run(*[memory.address for memory in given + made + parts], None)
    if status:
        raise RuntimeError(f"status {status & 0xFF}")
    if not all(memory.is_intact() for memory in given + made + parts):
        raise RuntimeError("wrote beside an array")
    return [memory.memory[memory.begin : memory.begin + memory.bytes].tobytes() for memory in made]


def is_plain(facts):
    """Whether all that a run has are pointers to tensors of numbers and the workspace."""
    tensors = facts["inputs"] + facts["outputs"]
    return not (facts["allocates"] or facts.get("makes_strings") or facts["symbols"] or facts.get("found")) and all(tensor["type"] != "string" for tensor in tensors)


def try_one(arguments, index):
    """(verdict, text): "same", "refused", "none" (nothing to divide), or what is wrong."""
    seed = seeds.of(arguments.seed, index)
    case, model = drawn(seed, index)
    if case is None:
        return "none", ""
    rng = random.Random(f"{seed}/{index}/memories")
    source = (arguments.source, ["portable", "portable-scalar"][index % 2]) if arguments.source and index % 3 == 0 else None
    with tempfile.TemporaryDirectory(prefix="ingot-memories-") as scratch:
        folder = pathlib.Path(scratch)
        onnx.save(model, folder / "model.onnx")
        verdict, text, facts = compiled(arguments, folder, folder / "one", source)
        if verdict != "pass" or not is_plain(facts) or not facts["arena_bytes"]:
            return ("none", "") if verdict in ("pass", "refused") else (verdict, text)
        memories = sizes(rng, facts)
        verdict, text, divided = compiled(arguments, folder, folder / "several", source, memories)
        if verdict == "refused":
            holds_all = max(bytes for _, bytes, _ in memories) >= facts["arena_bytes"] + 2 * facts["workspace_align"]
            legitimate = "bytes of memory '" in text and not holds_all
            return ("refused", "") if legitimate else ("wrong", f"refused with {memories}, of an arena of {facts['arena_bytes']}: {text}")
        if verdict != "pass":
            return verdict, text
        for part, (name, bytes, _) in zip(divided["memories"], memories):
            if part["name"] != name or part["workspace_bytes"] > bytes:
                return "wrong", f"the part in {name}, of {bytes} bytes, is {part}"
        inputs = [np.asarray(case.values[name].array) for name in case.inputs]
        try:
            wanted, got = (outputs_of(folder / where, of, inputs) for where, of in (("one", facts), ("several", divided)))
        except RuntimeError as trouble:
            return "wrong", f"{trouble}, with {memories}"
        used = sum(part["workspace_bytes"] > 0 for part in divided["memories"])
        return ("several" if used > 1 else "same") if wanted == got else "wrong", f"other bits with {memories}: {graphs.describe(case)}"


def tried(doc, try_one, good):
    """Tries the cases that the command line asks for and prints those whose verdict is not a good one: (counts of verdicts, number of cases, failures)."""
    parser = ingot_run.parser(doc)
    parser.add_argument("--cases", type=int, default=60), parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=lambda text: text if text == "moving" else int(text), default=1), parser.add_argument("--source")
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    counts, indices = collections.Counter(), range(arguments.first, arguments.first + arguments.cases)
    with concurrent.futures.ProcessPoolExecutor(arguments.j) as pool:
        for index, (verdict, text) in zip(indices, pool.map(try_one, [arguments] * len(indices), indices)):
            counts[verdict] += 1
            if verdict not in good:
                print(f"case {index}: {verdict}: {text}", flush=True)
    return counts, len(indices), sum(count for verdict, count in counts.items() if verdict not in good)


def main():
    counts, cases, failed = tried(__doc__, try_one, ("same", "several", "refused", "none"))
    print(f"{counts['several']} passed in several memories, {counts['same']} in one of them, {counts['refused']} refused, {failed} failed")
    sys.exit(failed > 0 or counts["several"] < cases // 8)


if __name__ == "__main__":
    main()
