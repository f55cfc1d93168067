"""A search that never repeats itself: fresh cases of every random suite, until the time is over.

    search.py --ingot build/bin/ingot [--minutes 10 | --cases N] [--suites static,open] [--levels native,x86-64-v2,x86-64-v3] [--jobs 2] [--seed S]
    search.py ... --only SUITE/SEED/INDEX/LEVEL       that case again

    search.py ... --gate --cases N                    the gate: deterministic, seeds of seeds.py

The seed is drawn from the time and the commit, so that no run repeats another; it stands in the table. What is wrong is shrunk (ingot-reduce) and left in test/random/found as a case
that CTest runs from then on (found.py); what the shrinking cannot hold is left whole in build/search. test/random/searched.tsv gets a line for each suite, build/search/coverage.json
counts what was drawn, build/search/refused.tsv why models were refused, each reason with a case to run again.
"""
import argparse
import collections
import datetime
import itertools
import json
import mmap
import os
import pathlib
import pickle
import random
import re
import selectors
import signal
import subprocess
import sys
import time
import traceback
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import host
import ingot_run
import onnx

import seeds
import shrink
import suites
import trial
from case import Skip
from coverage import Coverage

ROOT = trial.HERE.parents[1]
SECONDS = 240  # for a case
TABLE = trial.HERE / "searched.tsv"
COLUMNS = ["date", "commit", "seed", "suite", "levels", "cases", "passed", "disputed", "trembles", "refused", "declined", "wrong", "bug", "crash"]


class Worker:
    """A process that tries one task after another. It may die of one, and then it is known of which."""

    def __init__(self, ingot, kept):
        self.task, down, up = None, os.pipe(), os.pipe()
        self.elsewhere, self.kept = mmap.mmap(-1, 1), kept
        self.pid = os.fork()
        if self.pid == 0:
            os.close(down[1]), os.close(up[0])
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            trial.ELSEWHERE, trial.RUNNING = self.elsewhere, kept / f"running-{os.getpid()}"
            work(ingot, kept, os.fdopen(down[0]), os.fdopen(up[1], "w"))
            trial.RUNNING.unlink(missing_ok=True)
            os._exit(0)
        os.close(down[0]), os.close(up[1])
        self.requests, self.answers = os.fdopen(down[1], "w"), os.fdopen(up[0])

    def give(self, task):
        self.task = task
        self.requests.write(json.dumps(task) + "\n")
        self.requests.flush()

    def answer(self):
        """The result as a dictionary; that of a process that died says how."""
        line = self.answers.readline()
        if line:
            return json.loads(line)
        _, status = os.waitpid(self.pid, 0)
        number = os.waitstatus_to_exitcode(status)
        if self.elsewhere[0]:
            return {"verdict": "none", "text": "ONNX Runtime ended the process", "points": [], "count": 1, "dead": True}
        running = self.kept / f"running-{self.pid}"
        if running.exists():
            model, feeds = pickle.loads(running.read_bytes())
            leave(self.kept / "-".join(map(str, self.task)), suites.Result("crash", model=onnx.ModelProto.FromString(model), feeds=feeds))
        return {"verdict": "timeout" if number == -signal.SIGALRM else "crash", "text": f"the run ended with {number}", "points": [], "count": 1, "dead": True}

    def close(self):
        self.requests.close(), self.answers.close()


def work(ingot, kept, requests, answers):
    warnings.simplefilter("ignore")
    for line in requests:
        name, seed, index, level = json.loads(line)
        trial.RUNNING.unlink(missing_ok=True)
        signal.alarm(SECONDS)
        try:
            result = suites.SUITES[name][0](ingot, seed, index, level)
        except Skip as skip:
            result = suites.Result("none", str(skip))
        except Exception:
            result = suites.Result("error", traceback.format_exc()[-1500:])
        signal.alarm(0)
        if result.verdict in trial.BAD and result.model is not None:
            leave(kept / f"{name}-{seed}-{index}-{level}", result)
        said = {"verdict": result.verdict, "text": result.text, "points": result.points, "count": result.count}
        answers.write(json.dumps(said) + "\n")
        answers.flush()


def leave(folder, result):
    """The whole case."""
    trial.write_inputs(folder / "test_data_set_0", result.model, result.feeds)
    onnx.save(result.model, folder / "model.onnx")


def tasks(arguments, seed):
    """Suites in turn, each as often as its share says."""
    shares = {name: share for name, (_, share) in suites.SUITES.items() if name in arguments.suites}
    owed, counts = dict.fromkeys(shares, 0.0), dict.fromkeys(shares, 0)
    levels = itertools.cycle(arguments.levels)
    while True:
        for name, share in shares.items():
            owed[name] += share
            while owed[name] >= 1:
                owed[name] -= 1
                index = arguments.first + counts[name]
                yield name, seeds.of(seed, index), index, next(levels)
                counts[name] += 1


class Tally:
    """What came out, by suite."""

    def __init__(self, arguments, seed):
        self.arguments, self.seed, self.verdicts = arguments, seed, collections.defaultdict(collections.Counter)
        self.coverage, self.refused, self.bad = Coverage(arguments.work / "coverage.json"), collections.Counter(), []
        self.example = {}  # of each reason to refuse, the first case

    def add(self, task, said):
        name, seed, index, level = task
        verdict = said["verdict"]
        self.verdicts[name][verdict] += said["count"]
        self.coverage.add(map(tuple, said["points"]), level)
        if verdict in ("refused", "unranked", "declined"):
            why = name, verdict, reason(said["text"])
            self.refused[why] += 1
            self.example.setdefault(why, f"{name}/{seed}/{index}/{level}")
        if verdict in trial.BAD:
            self.bad.append((task, said))
            print(f"{name}/{seed}/{index}/{level}: {verdict}: {said['text']}", flush=True)

    def cases(self):
        return sum(count for verdicts in self.verdicts.values() for verdict, count in verdicts.items() if verdict != "none")

    def write(self):
        self.coverage.write()
        with open(self.arguments.work / "refused.tsv", "a") as file:
            for (suite, verdict, why), count in self.refused.most_common():
                file.write(f"{self.seed}\t{suite}\t{verdict}\t{count}\t{why}\t{self.example[suite, verdict, why]}\n")
        if not TABLE.exists():
            TABLE.write_text("\t".join(COLUMNS) + "\n")
        with open(TABLE, "a") as file:
            for suite, verdicts in self.verdicts.items():
                cases = sum(verdicts.values()) - verdicts["none"]
                verdicts = verdicts + collections.Counter(refused=verdicts["unranked"])
                numbers = [cases, *(verdicts[verdict] for verdict in ("pass", "disputed", "trembles", "refused", "declined", "wrong", "bug")), sum(verdicts[v] for v in ("crash", "timeout", "error"))]
                file.write("\t".join([f"{datetime.date.today()}", commit(), str(self.seed), suite, ",".join(self.arguments.levels), *map(str, numbers)]) + "\n")

    def shrink(self):
        """The first of each suite and verdict; others are often the same mistake."""
        seen = collections.Counter()
        for task, said in self.bad:
            name, seed, index, level = task
            folder = self.arguments.work / f"{name}-{seed}-{index}-{level}"
            seen[said["verdict"]] += 1
            if folder.exists() and seen[said["verdict"]] <= self.arguments.shrink:
                print(shrink.keep(self.arguments.ingot, task, folder, said["verdict"]), flush=True)
        if self.bad:
            print(f"{len(self.bad)} findings; the whole cases are in {self.arguments.work}, the smallest in {shrink.found.FOLDER}")

    def report(self):
        for suite, verdicts in self.verdicts.items():
            print(f"{suite}: {', '.join(f'{verdict} {count}' for verdict, count in verdicts.most_common())}")
        for (suite, verdict, why), count in self.refused.most_common(25):
            print(f"  {suite} {verdict} {count}: {why}, as {self.example[suite, verdict, why]}")
        print(self.coverage.report())


def reason(text):
    """Why, without what is particular to the case."""
    text = next((line for line in text.split("\n") if "error: " in line), text.split("\n")[0])
    if text.startswith("status"):
        return re.sub(r"_\d+(/.*)?$", "", text)
    node = re.search(r"node '[^']*' \((\w+)", text)
    text = re.sub(r"^.*?error: (node '[^']*'( \([^)]*\))?: )?", "", text)
    text = re.sub(r"(unsupported by all targets: )[^:]*", r"\1*", text)
    return f"{node.group(1) + ': ' if node else ''}{re.sub(r'[0-9]+', 'N', text)[:140]}"


def commit():
    done = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "-"


def fresh_seed():
    return random.Random(f"{time.time_ns()}/{os.getpid()}/{commit()}").randrange(1, 1 << 31)


def search(arguments, seed):
    tally, selector, queue = Tally(arguments, seed), selectors.DefaultSelector(), tasks(arguments, seed)
    end, given = time.time() + 60 * arguments.minutes, 0

    def employ():
        worker = Worker(arguments.ingot, arguments.work)
        selector.register(worker.answers, selectors.EVENT_READ, worker)
        return worker

    def feed(worker):
        nonlocal given
        if (arguments.cases is None and time.time() > end) or (arguments.cases is not None and given >= arguments.cases):
            selector.unregister(worker.answers)
            worker.close()
            return
        given += 1
        worker.give(next(queue))

    for _ in range(arguments.jobs):
        feed(employ())
    while selector.get_map():
        for key, _ in selector.select():
            worker = key.data
            said = worker.answer()
            tally.add(worker.task, said)
            if said.get("dead"):
                selector.unregister(worker.answers)
                worker = employ()
            feed(worker)
            if given % 1000 == 0:
                print(f"{tally.cases()} cases", flush=True)
    return tally


def levels_of(text):
    """Each a --target; "/" stands for the comma in one: a device and the host, which takes what the device refuses."""
    return [level.replace("/", ",") for level in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", type=os.path.abspath, default=ROOT / "build" / "bin" / "ingot")
    parser.add_argument("--minutes", type=float, default=10), parser.add_argument("--cases", type=int), parser.add_argument("--jobs", "-j", type=int, default=os.cpu_count())
    parser.add_argument("--suites", type=lambda text: text.split(","), default=list(suites.SUITES)), parser.add_argument("--seed", type=int), parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--levels", type=levels_of, default=["native", "native", "x86-64-v3", "x86-64-v2"])
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "search"), parser.add_argument("--only")
    parser.add_argument("--gate", action="store_true", help="the seeds of seeds.py; no table, nothing is shrunk"), parser.add_argument("--shrink", type=int, default=20, help="how many of a kind are shrunk")
    return parser.parse_args()


def levels_here(arguments):
    """The levels that this host runs; the others are said to be left out."""
    lacking = {level: lack for level in arguments.levels if (lack := host.lacking(arguments.ingot, level))}
    for level, (name, lack) in lacking.items():
        ingot_run.skip(level.replace(":", " "), f"runs code for {name}: this host lacks {lack}")
    if len(lacking) == len(set(arguments.levels)):
        sys.exit(77)
    return [level for level in arguments.levels if level not in lacking]


def main():
    arguments = parse()
    arguments.levels = levels_here(arguments)
    arguments.work.mkdir(parents=True, exist_ok=True)
    if arguments.only:
        name, seed, index, level = arguments.only.split("/", 3)
        result = suites.SUITES[name][0](arguments.ingot, int(seed), int(index), level)
        if result.model is not None:
            leave(arguments.work / f"{name}-{seed}-{index}-{level}", result)
        print(result.verdict, result.text)
        sys.exit(result.verdict in trial.BAD)
    seed = "moving" if arguments.gate else arguments.seed or fresh_seed()
    print(f"seeds {', '.join(map(str, seeds.seeds()))}" if arguments.gate else f"seed {seed}", flush=True)
    tally = search(arguments, seed)
    tally.report()
    if not arguments.gate:
        tally.write()
        seeds.add()
        tally.shrink()
    else:
        print(f"{tally.cases() - len(tally.bad)} passed, {len(tally.bad)} failed")
    sys.exit(bool(tally.bad))


if __name__ == "__main__":
    main()
