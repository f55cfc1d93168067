"""The suites that draw other cases in each run, with many seeds, and how often each failed: what their bounds are worth.

    drawing.py --ingot build/bin/ingot [--seeds 200] [--first S] [--levels native,x86-64-v3,x86-64-v2] [--suites split,fast,steps,long] [--jobs 2]

A seed of a suite is one of its cases (of `steps` one model of twelve layers). Suites whose seeds are a list (test/random/seeds.py) are the search's."""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys

TEST = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TEST / "tools")]
import host

# How a suite runs so many seeds from one on; its last line but words says how many failed.
SUITES = {
    "split": ("quantize/split.py", "--drawn-only", "--seed", "--draws"),
    "fast": ("quantize/fast.py", "--drawn-only", "--seed", "--draws"),
    "steps": ("quantize/steps.py", None, "--seed", "--draws"),
    "long": ("random/long.py", None, "--seed", "--cases"),
}
AT_ONCE = 10  # seeds of a process


def run(arguments, suite, level, first, count):
    script, only, seed, draws = SUITES[suite]
    command = [sys.executable, TEST / script, "--ingot", arguments.ingot, "--target", level, seed, str(first), draws, str(count), *([only] if only else [])]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    failed = re.search(r"(\d+) (?:failed|wrong)", done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "")
    return suite, level, count, int(failed[1]) if failed and (done.returncode == 0) == (failed[1] == "0") else count, done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", type=os.path.abspath, required=True), parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=random.SystemRandom().randrange(1 << 31)), parser.add_argument("--jobs", type=int, default=os.cpu_count())
    split = lambda text: text.split(",")
    parser.add_argument("--levels", type=split, default=["native", "x86-64-v3", "x86-64-v2"]), parser.add_argument("--suites", type=split, default=list(SUITES))
    arguments = parser.parse_args()
    levels = [level for level in arguments.levels if not host.lacking(arguments.ingot, level)]
    print(f"seeds from {arguments.first}", flush=True)
    tasks = [(suite, level, arguments.first + k, min(AT_ONCE, arguments.seeds - k)) for suite in arguments.suites for level in levels for k in range(0, arguments.seeds, AT_ONCE)]
    cases, wrong = {}, {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for suite, level, count, failed, text in pool.map(lambda task: run(arguments, *task), tasks):
            cases[suite, level] = cases.get((suite, level), 0) + count
            wrong[suite, level] = wrong.get((suite, level), 0) + failed
            if failed:
                print(text, flush=True)
    for (suite, level), count in cases.items():
        print(f"{suite} at {level}: {wrong[suite, level]} of {count} seeds failed")
    print(f"{sum(cases.values()) - sum(wrong.values())} passed, {sum(wrong.values())} failed")
    sys.exit(any(wrong.values()))


if __name__ == "__main__":
    main()
