"""Fuzzing for a while: fuzz.py BUILD [--minutes 10] [--targets importer,compile,sizes] [-j 1] [--replay]

Runs the libFuzzer programs of a build with INGOT_FUZZ (preset sanitize) one after the other, each for its share of the time. They begin with the corpus of
corpus.py and with what earlier runs kept in BUILD/fuzz. Says what each executed and found; inputs of findings are kept in BUILD/fuzz/findings. Exit code 1: there were some.

--replay is for other builds and for every run of the tests: the corpus and a fixed set of mutants of it, without libFuzzer.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MODELS = ["-max_len=8192", "-timeout=60", "-rss_limit_mb=6000", "-malloc_limit_mb=4000"]
FLAGS = {
    "importer": [*MODELS, "-max_len=4096"],
    "compile": MODELS,
    "sizes": ["-max_len=600", "-timeout=20", "-rss_limit_mb=4000", f"-dict={HERE / 'sizes.dict'}", "-use_value_profile=1"],
}
SHARE = {"importer": 0.3, "compile": 0.6, "sizes": 0.1}
MUTANTS = {"importer": 20, "compile": 2, "sizes": 50}  # of each file, in a replay


def environment():
    """With the sanitizers' options of the preset, and without what takes long and tells something only once there is a finding."""
    presets = json.loads((HERE.parents[1] / "CMakePresets.json").read_text())["configurePresets"]
    preset = next(preset["environment"] for preset in presets if preset["name"] == "sanitize")
    return {**preset, "ASAN_OPTIONS": f"{preset['ASAN_OPTIONS']}:malloc_context_size=1:quarantine_size_mb=8:max_malloc_fill_size=0", **os.environ}


def seeds_of(build, target):
    return build / "fuzz/corpus" / ("sizes" if target == "sizes" else "models")


def replay(build, targets):
    """Whether all targets take the corpus and its mutants."""
    findings = build / "fuzz/findings"
    findings.mkdir(parents=True, exist_ok=True)
    good = True
    for target in targets:
        print(f"fuzz-{target}: ", end="", flush=True)
        command = [build / f"bin/fuzz-{target}", f"-keep={findings}", f"-mutations={MUTANTS[target]}", seeds_of(build, target)]
        good &= subprocess.run([str(part) for part in command]).returncode == 0
    return good


def run(build, target, seconds, jobs):
    """(executions, how the program ended)"""
    kept, findings = build / "fuzz" / target, build / "fuzz/findings"
    kept.mkdir(parents=True, exist_ok=True), findings.mkdir(exist_ok=True)
    seeds = seeds_of(build, target)
    command = [build / f"bin/fuzz-{target}", kept, seeds, f"-artifact_prefix={findings}/{target}-", f"-max_total_time={int(seconds)}", "-print_final_stats=1"]
    # Forked: one finding does not end the run, and what a process gathers in tables that live as long as it does goes with it.
    command += [f"-fork={jobs}", "-ignore_crashes=1", "-entropic=0", "-detect_leaks=0", "-ignore_timeouts=0", "-ignore_ooms=0", *FLAGS[target]]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment())
    (build / f"fuzz/{target}.log").write_text(done.stdout)
    counts = [int(count) for count in re.findall(r"^#(\d+):? ", done.stdout, re.MULTILINE)]
    return max(counts, default=0), done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve()), parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--targets", default="importer,compile,sizes"), parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--replay", action="store_true")
    arguments = parser.parse_args()
    subprocess.run([sys.executable, str(HERE / "corpus.py"), str(arguments.build / "fuzz/corpus")], check=True)
    targets = arguments.targets.split(",")
    if arguments.replay:
        sys.exit(not replay(arguments.build, targets))
    whole, failed = sum(SHARE[target] for target in targets), False
    for target in targets:
        before = set((arguments.build / "fuzz/findings").glob(f"{target}-*"))
        executions, done = run(arguments.build, target, arguments.minutes * 60 * SHARE[target] / whole, arguments.j)
        found = sorted(set((arguments.build / "fuzz/findings").glob(f"{target}-*")) - before)
        print(f"fuzz-{target}: {executions} executions, {len(found)} findings", flush=True)
        for path in found:
            print(f"  {path}; again: {arguments.build}/bin/fuzz-{target} {path}")
        if done.returncode and not found:
            print(done.stdout[-3000:])
        failed |= bool(found) or done.returncode != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
