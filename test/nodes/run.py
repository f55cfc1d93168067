"""ONNX's own node tests (Debian's libonnx-testdata, opset 17 and older) through `ingot run`, compared as upstream does: rtol 1e-3, atol 1e-7.

    run.py --ingot build/bin/ingot [--tests /usr/share/libonnx-testdata/data/node] [--filter REGEX] [--list unsupported.txt] [--target T] [-j 2] [--write-list]

What ingot does not take yet stands in unsupported.txt, one `name: reason` or `pattern*: reason` a line. A listed test that is refused counts as
skipped; one that passes, or an unlisted one that is refused, fails the run, so that the list stays true. A wrong result or a crash is always a failure.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent


def load(path, value_type):
    """A recorded value as an array, a list (sequence) or None (empty optional)."""
    kind = value_type.WhichOneof("value")
    proto = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}.get(kind, onnx.TensorProto)()
    proto.ParseFromString(path.read_bytes())
    convert = {"sequence_type": numpy_helper.to_list, "optional_type": numpy_helper.to_optional}.get(kind, numpy_helper.to_array)
    return convert(proto)


def difference(got, want):
    """None when equal by upstream's rules, else a sentence."""
    if isinstance(want, list):
        if len(got) != len(want):
            return f"a sequence of {len(got)}, expected {len(want)}"
        return next((text for pair in zip(got, want) if (text := difference(*pair))), None)
    if want is None or got is None:
        return None if got is want else "one is empty"
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    if want.dtype.kind == "O":
        return None if np.array_equal(got, want) else "strings differ"
    if np.allclose(got.astype(np.float64), want.astype(np.float64), rtol=1e-3, atol=1e-7, equal_nan=True):
        return None
    return f"values differ by up to {np.nanmax(np.abs(got.astype(np.float64) - want.astype(np.float64)))}"


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def one(arguments, folder):
    """(name, verdict, text); the verdicts are pass, refused, wrong, crash."""
    model = onnx.load(folder / "model.onnx")
    with tempfile.TemporaryDirectory(prefix="ingot-node-") as out:
        command = [arguments.ingot, "run", str(folder / "model.onnx"), "--data", str(folder / "test_data_set_0"), "--out", out]
        command += ["--target", arguments.target] if arguments.target else []
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=120, preexec_fn=limits)
        except subprocess.TimeoutExpired:
            return folder.name, "crash", "more than 120 s"
        message = re.sub(r"\s+", " ", (done.stderr.strip() or done.stdout.strip()).replace(str(folder) + "/", ""))[:300]
        if done.returncode:
            return folder.name, "refused" if done.returncode == 1 else "crash", f"exit {done.returncode}: {message}"
        for k, output in enumerate(model.graph.output):
            path = pathlib.Path(out, f"output_{k}.pb")
            if not path.exists():
                return folder.name, "wrong", f"output {k} is missing"
            text = difference(load(path, output.type), load(folder / "test_data_set_0" / f"output_{k}.pb", output.type))
            if text:
                return folder.name, "wrong", f"output {k}: {text}"
    return folder.name, "pass", ""


def read_list(path):
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")] if path.exists() else []
    return [tuple(line.split(": ", 1)) for line in lines]


def listed(entries, name):
    return next((reason for pattern, reason in entries if fnmatch.fnmatchcase(name, pattern)), None)


def write_list(path, results):
    """One line a refused test; the reason is ingot's own, shortened."""
    head = [line for line in path.read_text().splitlines() if line.startswith("#")] if path.exists() else []
    reason = lambda text: re.sub(r"^.*?error: ", "", text)[:120]
    path.write_text("\n".join(head + [f"{name}: {reason(text)}" for name, verdict, text in results if verdict == "refused"]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True), parser.add_argument("--tests", type=pathlib.Path, default="/usr/share/libonnx-testdata/data/node")
    parser.add_argument("--filter", default="."), parser.add_argument("--list", type=pathlib.Path, default=HERE / "unsupported.txt")
    parser.add_argument("--target"), parser.add_argument("-j", type=int, default=2), parser.add_argument("--write-list", action="store_true")
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    folders = [path.parent for path in sorted(arguments.tests.glob("*/model.onnx")) if re.search(arguments.filter, path.parent.name)]
    if not folders:
        print(f"skipped: no tests in {arguments.tests} (Debian package libonnx-testdata)")
        sys.exit(77)
    entries = read_list(arguments.list)
    results, counts = [], collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        for name, verdict, text in pool.map(lambda folder: one(arguments, folder), folders):
            results.append((name, verdict, text))
            expected = listed(entries, name)
            if verdict == "refused" and expected:
                counts["skipped"] += 1
            elif verdict == "pass" and not expected:
                counts["passed"] += 1
            else:
                counts["failed"] += 1
                print(f"{name}: " + (f"passes, but {arguments.list.name} says: {expected}" if verdict == "pass" else f"{verdict}: {text}"), flush=True)
    if arguments.write_list:
        write_list(arguments.list, results)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(counts["failed"] > 0)


if __name__ == "__main__":
    main()
