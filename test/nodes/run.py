"""ONNX's own node tests and small exported models (Debian's libonnx-testdata, opset 17 and older) through `ingot run`, compared as upstream does: rtol 1e-3, atol 1e-7.

    run.py --ingot build/bin/ingot [--tests DIR] [--filter REGEX] [--list unsupported.txt] [--target T] [-j 2] [--write-list]

What ingot does not take yet stands in unsupported.txt, one `name: reason` or `pattern*: reason` a line. A listed test that is refused counts as
skipped, one that passes is said, and an unlisted one that is refused fails the run. A wrong result or a crash is a failure, unless test/known.txt
names it. A test whose result has a shape that depends on an input's values is refused (shapes are known at compile time) and run again with its
inputs but the first as constants, or all of them: then it tests the operator all the same.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import sys
import tempfile

PARTS = ["node", "pytorch-converted", "pytorch-operator", "simple"]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
import ingot_run
import numpy as np
import onnx


def difference(got, want):
    """None when equal by upstream's rules, else a sentence."""
    if isinstance(want, list):
        if len(got) != len(want):
            return f"a sequence of {len(got)}, expected {len(want)}"
        return next((text for pair in zip(got, want) if (text := difference(*pair))), None)
    if want is None or got is None:
        return None if got is want else "one is empty"
    if text := ingot_run.different_kind(got, want):
        return text
    if want.dtype.kind == "O":
        return None if np.array_equal(got, want) else "strings differ"
    relative = {"bfloat16": 2**-6, "float16": 2**-9}.get(want.dtype.name, 1e-3)  # two units of 16-bit floats
    if np.allclose(got.astype(np.float64), want.astype(np.float64), rtol=relative, atol=1e-7, equal_nan=True):
        return None
    return f"values differ by up to {np.nanmax(np.abs(got.astype(np.float64) - want.astype(np.float64)))}"


DRAWN = re.compile("test_bernoulli")  # numbers drawn at random, for which the standard names no generator


def difference_of_drawn(got, want):
    return ingot_run.different_kind(got, want) or (None if np.isin(got, (0, 1)).all() else "neither 0 nor 1")


DYNAMIC = "known only when the model runs"


def fixed(folder, first, scratch):
    """The test with its inputs from number `first` on as constants of the model."""
    model = onnx.load(folder / "model.onnx")
    made = pathlib.Path(scratch, f"fixed-{first}")
    data = made / "test_data_set_0"
    data.mkdir(parents=True)
    for path in (folder / "test_data_set_0").iterdir():
        shutil.copyfile(path, data / path.name)
    for k in reversed(range(first, len(model.graph.input))):
        tensor = onnx.load_tensor(str(data / f"input_{k}.pb"))
        tensor.name = model.graph.input[k].name
        model.graph.initializer.append(tensor)
        del model.graph.input[k]
        (data / f"input_{k}.pb").unlink()
    (made / "model.onnx").write_bytes(model.SerializeToString())
    return made


def one(arguments, folder):
    """(name, verdict, text); the verdicts are pass, fixed (it passes with inputs as constants), refused, bug, crash, timeout and wrong."""
    compare = difference_of_drawn if DRAWN.match(folder.name) else difference
    with tempfile.TemporaryDirectory(prefix="ingot-node-") as out:
        verdict, text = ingot_run.run(arguments.ingot, folder, out, arguments.target)
        if verdict == "pass" and (wrong := ingot_run.compare_outputs(folder, out, compare)):
            verdict, text = "wrong", wrong
        refusal = text
        for first in (1, 0) if verdict == "refused" and DYNAMIC in text else ():
            made = fixed(folder, first, out)
            verdict, text = ingot_run.run(arguments.ingot, made, out, arguments.target)
            if verdict == "pass":
                wrong = ingot_run.compare_outputs(made, out, compare)
                verdict, text = ("wrong", f"with inputs as constants: {wrong}") if wrong else ("fixed", "")
            if verdict != "refused":
                break
            text = refusal
    return folder.name, verdict, text[:300]


def read_list(path):
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")] if path.exists() else []
    return dict(line.split(": ", 1) for line in lines)


def write_list(path, results):
    """One line a refused test; the reason is ingot's own, shortened."""
    head = [line for line in path.read_text().splitlines() if line.startswith("#")] if path.exists() else []
    shorten = lambda text: re.sub(r"^.*?error: ", "", text).split(" model.onnx: ")[0][:160]
    path.write_text("\n".join(head + [f"{name}: {shorten(text)}" for name, verdict, text in results if verdict == "refused"]) + "\n")


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--tests", type=pathlib.Path, action="append"), parser.add_argument("--filter", default=".")
    parser.add_argument("--list", type=pathlib.Path, default=HERE / "unsupported.txt"), parser.add_argument("--write-list", action="store_true")
    arguments = parser.parse_args()
    tests = arguments.tests or [pathlib.Path(f"/usr/share/libonnx-testdata/data/{part}") for part in PARTS]
    arguments.ingot = os.path.abspath(arguments.ingot)
    folders = [path.parent for root in tests for path in sorted(root.glob("*/model.onnx")) if re.search(arguments.filter, path.parent.name)]
    if not folders:
        print(f"skipped: no tests in {tests[0]} (Debian package libonnx-testdata)")
        sys.exit(77)
    entries, results, counts = read_list(arguments.list), [], collections.Counter()
    wrong = ingot_run.known("nodes")
    with concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        for name, verdict, text in pool.map(lambda folder: one(arguments, folder), folders):
            results.append((name, verdict, text))
            expected = ingot_run.reason(entries, name)
            if verdict == "fixed":
                counts["fixed"] += 1
                verdict = "pass"
            if verdict == "refused" and expected or verdict != "pass" and ingot_run.reason(wrong, name):
                counts["skipped"] += 1
                continue
            counts["passed" if verdict == "pass" else "failed"] += 1
            if verdict != "pass" or expected:
                print(f"{name}: " + (f"passes; take it out of {arguments.list.name} ({expected})" if verdict == "pass" else f"{verdict}: {text}"), flush=True)
    if arguments.write_list:
        write_list(arguments.list, results)
    print(f"{counts['fixed']} of those passed have inputs that say a shape, made constants")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(counts["failed"] > 0)


if __name__ == "__main__":
    main()
