"""Random graphs of one to four operators at odd sizes: compiled, run through `ingot run` and compared with ONNX Runtime.

    run.py --ingot build/bin/ingot [--cases 150] [--seed 1] [--ops Conv,MaxPool] [--only INDEX] [--target T] [-j 2] [--save DIR]
    run.py --selftest [--cases N]      the generator alone: which operators it makes, and in which opsets

Case INDEX of a seed is always the same, whatever --cases is, as long as --ops stays. The first operator of a case goes round all operators; the others
are drawn to consume what is there. Each difference is printed and its model and data are saved under --save/SEED-INDEX (model.onnx,
test_data_set_0/), so that `ingot verify SAVE/model.onnx --data SAVE/test_data_set_0` shows it again.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import numpy_helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import families
from case import Case, Skip

onnxruntime.set_default_logger_severity(4)


def build(seed, index, names):
    """Case `index`. A draw that does not fit (Skip) is drawn again with another sub-seed. Returns (case, model, reasons of failed draws)."""
    reasons = []
    order = [name for name in names for _ in range(families.GENERATORS[name][1])]
    root = order[(index * 7919) % len(order)] if len(order) % 7919 else order[index % len(order)]
    for attempt in range(60):
        case = Case(seed, f"{index}.{attempt}")
        try:
            families.GENERATORS[root][0](case, None)
        except Skip as skip:
            reasons.append(str(skip))
            continue
        grow(case, names)
        outputs = case.results()
        return case, case.model(outputs, final=True), outputs, reasons
    return None, None, root, reasons


def grow(case, names):
    """Up to three more operators; one that does not fit leaves the case as it was."""
    for _ in range(case.rng.choice([0, 1, 1, 2, 3])):
        for _ in range(6):
            name = case.choice(names)
            x = case.values[case.choice(case.results())]
            kept = (list(case.nodes), list(case.inputs), list(case.constants), dict(case.values), set(case.used))
            try:
                families.GENERATORS[name][0](case, x)
                break
            except Skip:
                case.nodes, case.inputs, case.constants, case.values, case.used = kept


def save(folder, case, model, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for k, name in enumerate(case.inputs):
        (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(case.values[name].array, name).SerializeToString())
    for k, name in enumerate(outputs):
        (data / f"output_{k}.pb").write_bytes(numpy_helper.from_array(np.asarray(case.values[name].array), name).SerializeToString())


def difference(got, want):
    """None when equal enough, else a sentence. Floats: 5e-5 of the largest value plus 3e-4 of each."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    if want.dtype.kind != "f":
        wrong = np.argwhere(got != want)
        return f"{len(wrong)} of {want.size} differ, first at {wrong[0].tolist()}" if len(wrong) else None
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return "NaN or infinity differs"
    error = np.abs(np.where(finite, got, 0).astype(np.float64) - np.where(finite, want, 0))
    scale = max(1.0, np.abs(want[finite]).max(initial=0))
    wrong = np.argwhere(~(error <= 5e-5 * scale + 3e-4 * np.abs(np.where(finite, want, 0))))
    if not len(wrong):
        return None
    where = tuple(wrong[0])
    return f"{len(wrong)} of {want.size} differ, first at {wrong[0].tolist()}: {got[where]}, expected {want[where]}; shape {list(want.shape)}"


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def execute(arguments, folder, outputs):
    """Runs one saved case. Returns (verdict, text)."""
    command = [arguments.ingot, "run", str(folder / "model.onnx"), "--data", str(folder / "test_data_set_0"), "--out", str(folder / "out")]
    command += ["--target", arguments.target] if arguments.target else []
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=120, preexec_fn=limits)
    except subprocess.TimeoutExpired:
        return "timeout", "more than 120 s"
    if done.returncode:
        text = (done.stderr.strip() or done.stdout.strip() or "no message").replace(str(folder), "CASE")
        return {1: "refused", 2: "bug"}.get(done.returncode, "crash"), f"exit {done.returncode}: {text[:600]}"
    for k in range(len(outputs)):
        path = folder / "out" / f"output_{k}.pb"
        if not path.exists():
            return "wrong", f"output {k} is missing"
        want = onnx.load_tensor(str(folder / "test_data_set_0" / f"output_{k}.pb"))
        text = difference(numpy_helper.to_array(onnx.load_tensor(str(path))), numpy_helper.to_array(want))
        if text:
            return "wrong", f"output {k} ({outputs[k]}): {text}"
    return "pass", ""


def describe(case):
    steps = []
    for node in case.nodes:
        if node.op_type != "Constant":
            shapes = [f"{case.values[name].dtype}{case.values[name].shape}".replace("float32", "f").replace("int64", "i64") if name else "-" for name in node.input]
            attributes = ", ".join(f"{a.name}={onnx.helper.get_attribute_value(a)}"[:60] for a in node.attribute if a.type != onnx.AttributeProto.TENSOR)
            steps.append(f"{node.op_type}({' '.join(shapes)}{'; ' if attributes else ''}{attributes})")
    return f"opset {case.opset}: " + " -> ".join(steps)


def one(arguments, names, index):
    case, model, outputs, reasons = build(arguments.seed, index, names)
    if case is None:
        return index, "none", f"{outputs}: {collections.Counter(reasons).most_common(2)}", []
    operators = [node.op_type for node in case.nodes if node.op_type != "Constant"]
    if arguments.selftest:
        return index, "pass", describe(case), operators
    with tempfile.TemporaryDirectory(prefix="ingot-random-") as scratch:
        folder = pathlib.Path(scratch) / "case"
        save(folder, case, model, outputs)
        verdict, text = execute(arguments, folder, outputs)
        if verdict != "pass" or arguments.only is not None:
            kept = pathlib.Path(arguments.save) / f"{arguments.seed}-{index}"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept)
            text = f"{text}\n    {describe(case)}\n    {kept}"
    return index, verdict, text, operators


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot"), parser.add_argument("--cases", type=int, default=150), parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ops", help="only these operators"), parser.add_argument("--without", default="", help="all but these operators")
    parser.add_argument("--first", type=int, default=0), parser.add_argument("--only", type=int), parser.add_argument("--target")
    parser.add_argument("-j", type=int, default=2), parser.add_argument("--save", default="build/random"), parser.add_argument("--selftest", action="store_true")
    arguments = parser.parse_args()
    if not arguments.selftest:
        arguments.ingot = os.path.abspath(arguments.ingot)
    known = families.load()
    names = arguments.ops.split(",") if arguments.ops else sorted(known)
    names = [name for name in names if name not in arguments.without.split(",")]
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no generator for {', '.join(unknown)}; known: {', '.join(sorted(known))}")
    indices = range(arguments.first, arguments.first + arguments.cases) if arguments.only is None else [arguments.only]
    report(arguments, names, indices)


def report(arguments, names, indices):
    verdicts, used, failed = collections.Counter(), collections.Counter(), collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(arguments.j) as pool:
        for index, verdict, text, operators in pool.map(one, *zip(*[(arguments, names, index) for index in indices]), chunksize=4):
            verdicts[verdict] += 1
            used.update(set(operators))
            if verdict != "pass":
                failed.update(set(operators))
                print(f"case {index}: {verdict}: {text}", flush=True)
            elif arguments.only is not None or (arguments.selftest and len(indices) <= 20):
                print(f"case {index}: {text}")
    never = [name for name in names if not used[name]]
    if never and len(indices) >= 20 * len(names):
        print(f"never made: {', '.join(never)}")
    if failed:
        print("in failing cases: " + ", ".join(f"{name} {count}/{used[name]}" for name, count in failed.most_common(30)))
    bad = sum(count for verdict, count in verdicts.items() if verdict not in ("pass", "none"))
    print(f"{len(used)} operators; " + re.sub(r"[{}']|Counter\(|\)", "", str(dict(verdicts))))
    print(f"{verdicts['pass']} passed, {bad} failed, {verdicts['none']} skipped")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
