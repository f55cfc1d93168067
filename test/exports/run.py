#!/usr/bin/env python3
"""Architectures as PyTorch's two exporters write them, compiled once with open sizes and run at several, compared with ONNX Runtime.

    run.py [--ingot build/bin/ingot] [--only REGEX] [--jobs 2] [--target T] [--static] [--list] [--again] [--cache build/exports]

Installs PyTorch and what else is needed into CACHE/venv (requirements.txt; 6 GB), exports each architecture of architectures/ (architecture.py says what one
is) into CACHE/models by both exporters at two opsets each, and prints a table. What is exported already is kept; --again exports it anew. --only picks
NAME-VARIANT, for example 'llama.*dynamo'. With --static each model is also compiled with the sizes of one data set fixed. Exit code 1: something is wrong
(a result, a crash), or refused though expected.txt does not list it."""
import argparse
import collections
import concurrent.futures
import dataclasses
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import environment


def flags():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", type=pathlib.Path, default=ROOT / "build/bin/ingot"), parser.add_argument("--target")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "build/exports"), parser.add_argument("--only", default="."), parser.add_argument("--jobs", type=int, default=2)
    for switch in ("static", "list", "again"):
        parser.add_argument(f"--{switch}", action="store_true")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    arguments.cache, arguments.ingot = arguments.cache.resolve(), arguments.ingot.resolve()
    arguments.models = arguments.cache / "models"
    return arguments


ARGUMENTS = flags()
environment.enter(ARGUMENTS.cache)
import ingot_run
import numpy as np
import onnx

import architecture

# Each architecture is exported at the first opset of each exporter, and at one of the others, which its name picks.
OPSETS = {"script": (17, (11, 13, 14, 15, 16, 18, 19, 20)), "dynamo": (18, (19, 20, 21, 22, 23))}
WRONG = ("wrong", "crash", "bug", "timeout")


def variants(name):
    """script17, dynamo18, ..."""
    for exporter, (first, others) in OPSETS.items():
        yield exporter, [f"{exporter}{first}", f"{exporter}{others[zlib.crc32(name.encode()) % len(others)]}"]


@dataclasses.dataclass
class Result:
    model: str
    verdict: str  # right, wrong, refused, exporter, crash, bug, timeout
    text: str = ""
    seconds: float = 0.0


def export(arguments, name, exporter, wanted):
    """Exports what the cache lacks."""
    if arguments.again:
        for variant in wanted:
            shutil.rmtree(arguments.models / f"{name}-{variant}", ignore_errors=True)
    missing = [v for v in wanted if not any((arguments.models / f"{name}-{v}" / mark).exists() for mark in ("done", "failed"))]
    if not missing:
        return
    variables = os.environ | {"OMP_NUM_THREADS": "1"} | ({"PYTHONPATH": str(arguments.cache / environment.OLDER)} if exporter == "script" else {})
    command = [sys.executable, HERE / "export.py", name, arguments.models, *missing]
    try:
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL)
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    except subprocess.TimeoutExpired:
        lines = ["export: more than 900 s"]
    for variant in missing:
        folder = arguments.models / f"{name}-{variant}"
        if not any((folder / mark).exists() for mark in ("done", "failed")):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "failed").write_text(f"{lines[-1][:400]}\n")


def error(got, want, tolerance):
    """None when equal enough: integers exactly, floats within `tolerance` of the largest value plus ten times that of each."""
    if text := ingot_run.different_kind(got, want):
        return text
    if want.dtype.kind != "f":
        return f"{np.count_nonzero(got != want)} of {want.size} differ" if (got != want).any() else None
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return "NaN or infinity differs"
    got, want = got[finite].astype(np.float64), want[finite].astype(np.float64)
    scale = np.abs(want).max(initial=1e-30)
    wrong = ~(np.abs(got - want) <= tolerance * scale + 10 * tolerance * np.abs(want))
    return f"{wrong.sum()} of {want.size} differ, by up to {np.abs(got - want).max() / scale:.2g} of the largest value" if wrong.any() else None


def shapes(folder, data):
    """input=2x5 ... of a data set."""
    arrays = {proto.name: proto.dims for path in sorted((folder / data).glob("input_*.pb")) for proto in [onnx.load_tensor(path)]}
    return {name: "x".join(map(str, dims)) for name, dims in arrays.items()}


def run_at(arguments, folder, compiled, data, tolerance):
    """(verdict, text) of one data set."""
    with tempfile.TemporaryDirectory(prefix="ingot-export-") as out:
        verdict, text = ingot_run.call([arguments.ingot, "run", compiled / "m.json", "--data", folder / data, "--out", out], folder, ingot_run.VERDICT)
        if verdict == "pass":
            graph = onnx.load(folder / "model.onnx", load_external_data=False).graph
            for k, output in enumerate(graph.output):
                got, want = (ingot_run.load(pathlib.Path(place, f"output_{k}.pb"), output.type) for place in (out, folder / data))
                if wrong := error(got, want, tolerance):
                    verdict, text = "wrong", f"{output.name}: {wrong}"
                    break
    return verdict, text and f"at {' '.join(shapes(folder, data).values())}: {text}"


def compiled_and_run(arguments, folder, sets, tolerance, flags=()):
    """(verdict, text) of one compilation and its runs."""
    with tempfile.TemporaryDirectory(prefix="ingot-export-") as out:
        command = [arguments.ingot, "compile", folder / "model.onnx", "--emit", "shared", "--name", "m", "-o", out, *flags]
        verdict, text = ingot_run.call(command + ingot_run.target_flags(arguments.target), folder, ingot_run.VERDICT, seconds=600)
        for data in sets if verdict == "pass" else []:
            verdict, text = run_at(arguments, folder, pathlib.Path(out), data, tolerance)
            if verdict != "pass":
                break
    return verdict, text


def check(arguments, model, tolerance):
    """The result of one exported model."""
    folder, begin = arguments.models / model, time.time()
    if (folder / "failed").exists():
        return Result(model, "exporter", (folder / "failed").read_text().strip())
    sets = sorted(path.name for path in folder.glob("test_data_set_*"))
    verdict, text = compiled_and_run(arguments, folder, sets, tolerance)
    if arguments.static and verdict in ("pass", "refused"):
        fixed = [flag for name, shape in shapes(folder, sets[1]).items() if shape for flag in ("--shape", f"{name}={shape}")]
        static, why = compiled_and_run(arguments, folder, sets[1:2], tolerance, fixed)
        if static != "pass" or verdict != "pass":
            verdict, text = (verdict, f"{text} [static: {static}]") if static in ("pass", verdict) else (static, f"static: {why} [open: {verdict}]")
    return Result(model, "right" if verdict == "pass" else verdict, text, time.time() - begin)


def one(arguments, name, exporter, wanted, tolerance):
    export(arguments, name, exporter, wanted)
    results = [check(arguments, f"{name}-{variant}", tolerance) for variant in wanted]
    for result in results:
        print(f"{result.model:32} {result.verdict:9} {result.seconds:6.1f} s  {result.text}", flush=True)
    return results


def summary(results, expected):
    """Counts, what was not right by reason, and what nobody expected."""
    counts = collections.Counter(result.verdict for result in results)
    print("\n" + ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
    surprising = [result for result in results if result.verdict in WRONG]
    for result in results:
        reason = next((reason for pattern, reason in expected.items() if fnmatch.fnmatchcase(result.model, pattern)), None)
        if result.verdict == "refused" and not reason:
            surprising.append(result)
        if result.verdict == "right" and reason:
            print(f"{result.model} passes, take it out of expected.txt")
    for result in surprising:
        print(f"{result.verdict}: {result.model}: {result.text}")
    return surprising


def main():
    arguments, work = ARGUMENTS, []
    for name, declared in architecture.everything().items():
        for exporter, all in variants(name):
            if wanted := [variant for variant in all if re.search(arguments.only, f"{name}-{variant}")]:
                work.append((name, exporter, wanted, declared.tolerance))
    if arguments.list:
        return print("\n".join(f"{name}-{variant}" for name, _, wanted, _ in work for variant in wanted))
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = [result for part in pool.map(lambda item: one(arguments, *item), work) for result in part]
    lines = [line.split(": ", 1) for line in (HERE / "expected.txt").read_text().splitlines() if line and not line.startswith("#")]
    sys.exit(bool(summary(results, dict(lines))))


if __name__ == "__main__":
    main()
