"""C++ source beside objects: models of some folders by both exits, in one process, turn by turn.

    source.py --ingot build/bin/ingot DIR... [--only REGEX] [--least-macs 1e6] [--most-macs 1e9] [--builds loops-g++,v3-g++] [--turns 9] [--seconds 0.05] [--core 1] [--tsv bench/source.tsv]
    source.py --page                 renews the table of bench/README.md from bench/source.tsv

A model is a folder with model.onnx and test_data_set_0. A build (BUILDS) is a target of the source, a compiler with its flags, and the target of the object that it is held against. The two take turns; in each one runs once
unmeasured and then for some calls. Times are the thread's, not the clock's: what else runs counts less. A figure is the median over the turns of source's time by the object's: below 1 the source is faster.
"""
import argparse
import csv
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from open_sizes import MOST_CALLS, Ingot, Model, turn

ROOT = pathlib.Path(__file__).resolve().parents[1]
# name: target of the source, compiler, flags, target of the object
BUILDS = {
    f"{form}-{compiler}": (target, compiler, f"-O3 -march={march}", against)
    for form, target, march, against in [("loops", "portable", "native", "native"), ("v3", "x86-64-v3", "x86-64-v3", "x86-64-v3"), ("loops-v3", "portable", "x86-64-v3", "x86-64-v3")]
    for compiler in ("g++", "clang++-14", "clang++-22")
}
DEFAULT = [f"{form}-{compiler}" for form in ("loops", "v3") for compiler in ("g++", "clang++-14", "clang++-22")]


def build(arguments, model, name, scratch):
    """The shared object of a build, beside its manifest."""
    target, compiler, flags, _ = BUILDS[name]
    out = pathlib.Path(scratch, name)
    subprocess.run([arguments.ingot, "compile", model.path, "--name", "m", "-o", out, "--emit", "cpp", "--target", target], check=True, capture_output=True)
    sources = [out / "m.cpp", *out.glob("*.weights.S")]
    include, runtime = ROOT / "runtime_support/include", pathlib.Path(arguments.ingot).resolve().parents[1] / "lib/libingot_rt.a"
    subprocess.run([compiler, "-std=c++17", *flags.split(), "-shared", "-fPIC", "-I", out, "-I", include, *sources, runtime, "-o", out / "m.so"], check=True)
    return Ingot(str(out / "m.so"), json.loads((out / "m.json").read_text()))


def compile_object(arguments, model, target, scratch):
    out = pathlib.Path(scratch, f"object-{target}")
    done = subprocess.run([arguments.ingot, "compile", model.path, "--name", "m", "-o", out, "--emit", "shared", "--target", target], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no message").splitlines()[0][:160])
    return Ingot(str(out / "m.so"), json.loads((out / "m.json").read_text()))


def macs_of(manifest, sizes):
    """Multiply-adds; symbols may be no identifiers."""
    text = str(manifest["macs"])
    for symbol in sorted(sizes, key=len, reverse=True):
        text = text.replace(symbol, str(sizes[symbol]))
    return eval(text, {}, {"min": min, "max": max, "div": lambda a, b: a // b, "broadcast": lambda a, b: b if a == 1 else a})


def compare(arguments, engines):
    """For each turn the seconds of each engine."""
    calls = {}
    for name, engine in engines.items():
        engine.calls(1)
        calls[name] = max(1, min(MOST_CALLS, int(arguments.seconds / max(1e-9, turn(engine, 1)))))
    return [{name: turn(engine, calls[name]) for name, engine in engines.items()} for _ in range(arguments.turns)]


def rows_of(arguments, folder, scratch):
    model = Model(folder)
    arrays, sizes = model.recorded()
    objects = {BUILDS[name][3] for name in arguments.builds}
    engines = {f"object-{target}": compile_object(arguments, model, target, scratch) for target in objects}
    macs = macs_of(next(iter(engines.values())).manifest, sizes)
    if not arguments.least_macs <= macs <= arguments.most_macs:
        return []
    engines |= {name: build(arguments, model, name, scratch) for name in arguments.builds}
    for engine in engines.values():
        engine.bind(arrays, sizes)
    turns = compare(arguments, engines)
    rows = []
    for name in arguments.builds:
        other = f"object-{BUILDS[name][3]}"
        rows.append({"model": folder.name, "build": name, "macs": macs, "object_us": round(statistics.median(times[other] for times in turns) * 1e6, 2),
                     "source_us": round(statistics.median(times[name] for times in turns) * 1e6, 2), "x": round(statistics.median(times[name] / times[other] for times in turns), 3)})
    return rows


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def summary(rows):
    for name in BUILDS:
        ratios = [float(row["x"]) for row in rows if row["build"] == name]
        if ratios:
            yield name, len(ratios), mean(ratios), max(ratios)


def page(tsv):
    """The table of bench/README.md: a line a model, a column a build."""
    rows = list(csv.DictReader(tsv.open(), delimiter="\t"))
    builds = [name for name in BUILDS if any(row["build"] == name for row in rows)]
    lines = [f"| model | MMAC | {' | '.join(builds)} |", f"|---|--:|{'--:|' * len(builds)}"]
    for model in sorted({row["model"] for row in rows}):
        own = {row["build"]: row for row in rows if row["model"] == model}
        lines.append(f"| {model} | {float(next(iter(own.values()))['macs']) / 1e6:.0f} | {' | '.join(own[name]['x'] if name in own else '' for name in builds)} |")
    lines.append(f"| **geometric mean** | | {' | '.join(f'**{value:.2f}**' for _, _, value, _ in summary(rows))} |")
    readme = ROOT / "bench/README.md"
    begin, end = "<!-- generated by bench/source.py --page -->\n", "<!-- end -->"
    before, rest = readme.read_text().split(begin)
    readme.write_text(before + begin + "\n".join(lines) + "\n" + rest[rest.index(end):])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path), parser.add_argument("--ingot", default="build/bin/ingot"), parser.add_argument("--only", default="")
    parser.add_argument("--least-macs", type=float, default=1e6), parser.add_argument("--most-macs", type=float, default=1e9), parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.05), parser.add_argument("--core", type=int), parser.add_argument("--builds", default=",".join(DEFAULT))
    parser.add_argument("--tsv", type=pathlib.Path), parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    if arguments.page:
        return page(arguments.tsv or ROOT / "bench/source.tsv")
    arguments.builds = arguments.builds.split(",")
    if arguments.core is not None:
        os.sched_setaffinity(0, {arguments.core})
    rows = []
    for folder in sorted(path for root in arguments.folders for path in root.glob("*") if (path / "model.onnx").exists() and re.search(arguments.only, path.name)):
        with tempfile.TemporaryDirectory(prefix="ingot-bench-") as scratch:
            try:
                found = rows_of(arguments, folder, scratch)
            except (RuntimeError, FileNotFoundError) as error:
                print(f"{folder.name}: {error}", file=sys.stderr)
                continue
        rows += found
        if found:
            print(folder.name, *(f"{row['build']} {row['x']:.2f}" for row in found), f"object {found[0]['object_us']} us", flush=True)
        if arguments.tsv and rows:
            with arguments.tsv.open("w") as file:
                writer = csv.DictWriter(file, rows[0], delimiter="\t", lineterminator="\n")
                writer.writeheader(), writer.writerows(rows)
    for name, count, value, worst in summary(rows):
        print(f"{name}: {value:.2f} in the geometric mean of {count} models, at most {worst:.2f}")


if __name__ == "__main__":
    main()
