"""Latency of ingot beside ONNX Runtime: every model of some folders, one run, interleaved, pinned to one core, medians and ratios.

    compare.py --ingot build/bin/ingot DIR... [--only REGEX] [--threads 1] [--core 1] [--rounds 5] [--seconds 0.3] [--target native] [--markdown TABLE.md]

A model is a folder with model.onnx and test_data_set_0/input_K.pb. It is compiled once to a shared library; then the two engines take turns: in each
round each runs for --seconds, and its figure of the round is the median of its calls; the figure of the table is the median over the rounds, the
spread is that between the rounds' fastest and slowest. `x ort` is ONNX Runtime's time by ingot's: above 1 ingot is faster.
Timings are comparable only when nothing else runs on the machine; the script says what the load was.
"""
import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper


def feeds_of(folder):
    graph = onnx.load(folder / "model.onnx", load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    names = [value.name for value in graph.input if value.name not in weights]
    return {name: numpy_helper.to_array(onnx.load_tensor(folder / "test_data_set_0" / f"input_{k}.pb")) for k, name in enumerate(names)}


class OnnxRuntime:
    """Inputs and outputs are bound once, so that the Python binding adds little."""

    def __init__(self, arguments, folder):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = arguments.threads, 1, 3
        self.session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        self.values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array)) for name, array in feeds_of(folder).items()}
        for name, value in self.values.items():
            self.binding.bind_ortvalue_input(name, value)
        for output in self.session.get_outputs():
            self.binding.bind_output(output.name)

    def round(self, seconds):
        times, end = [], time.perf_counter() + seconds
        self.session.run_with_iobinding(self.binding)
        while not times or time.perf_counter() < end:
            begin = time.perf_counter()
            self.session.run_with_iobinding(self.binding)
            times.append(time.perf_counter() - begin)
        return statistics.median(times) * 1e6


class Ingot:
    """The compiled library is timed by `ingot bench` in a process of its own on the same core."""

    def __init__(self, arguments, folder, scratch):
        name = "m_" + re.sub(r"\W", "_", folder.name)
        command = [arguments.ingot, "compile", folder / "model.onnx", "--name", name, "-o", scratch, "--emit", "shared", "--json"]
        done = subprocess.run([*command, *(["--target", arguments.target] if arguments.target else [])], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError((done.stderr.strip() or "no message").splitlines()[0][:160])
        self.seconds = json.loads(done.stdout)["seconds"]
        self.command = [arguments.ingot, "bench", f"{scratch}/{name}.json", "--data", folder / "test_data_set_0", "--threads", str(arguments.threads), "--json"]

    def round(self, seconds):
        done = subprocess.run([*self.command, "--seconds", str(seconds)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError((done.stderr.strip() or "no message").splitlines()[0][:160])
        self.last = json.loads(done.stdout)
        return self.last["median_us"]


def measure(arguments, folder, scratch):
    """One row of the table."""
    engines = {"ort": OnnxRuntime(arguments, folder), "ingot": Ingot(arguments, folder, scratch)}
    rounds = {name: [] for name in engines}
    for _ in range(arguments.rounds):
        for name, engine in engines.items():
            rounds[name].append(engine.round(arguments.seconds))
    row = {"model": folder.name, **{f"{name} us": round(statistics.median(times), 1) for name, times in rounds.items()}}
    row["x ort"] = round(statistics.median(rounds["ort"]) / statistics.median(rounds["ingot"]), 2)
    row["spread"] = f"{(max(rounds['ingot']) / min(rounds['ingot']) - 1) * 100:.0f} %"
    last = engines["ingot"].last
    row["GFLOP/s"] = round(last.get("gflops", 0), 1)
    row["arena KB"], row["weights KB"], row["code KB"] = [round(last.get(key, 0) / 1024) for key in ("arena_bytes", "weight_bytes", "code_bytes")]
    row["compile s"] = round(engines["ingot"].seconds, 2)
    return row


def markdown(rows, arguments):
    keys = list(rows[0])
    lines = ["| " + " | ".join(keys) + " |", "|" + "---|" * len(keys)]
    lines += ["| " + " | ".join(str(row[key]) for key in keys) + " |" for row in rows]
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    head = f"{cpu.group(1) if cpu else 'cpu'}, {arguments.threads} thread(s), target {arguments.target or 'native'}, ONNX Runtime {onnxruntime.__version__}"
    return f"Measured on {head}; load before: {os.getloadavg()[0]:.1f}.\n\n" + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path), parser.add_argument("--ingot", required=True), parser.add_argument("--only", default=".")
    parser.add_argument("--threads", type=int, default=1), parser.add_argument("--core", type=int, default=1), parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3), parser.add_argument("--target"), parser.add_argument("--markdown", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[arguments.core % len(cores)]} if arguments.threads == 1 else cores[: arguments.threads])
    rows, failed = [], 0
    for model in sorted(path for folder in arguments.folders for path in folder.glob("*/model.onnx")):
        folder = model.parent
        if not re.search(arguments.only, folder.name) or not (folder / "test_data_set_0").exists():
            continue
        try:
            with tempfile.TemporaryDirectory(prefix="ingot-bench-") as scratch:
                rows.append(measure(arguments, folder, scratch))
                print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
        except Exception as error:  # one model that fails must not end the table
            failed += 1
            print(f"{folder.name}: {str(error).splitlines()[0][:160] if str(error) else type(error).__name__}", flush=True)
    ratios = [row["x ort"] for row in rows]
    if ratios:
        print(f"x ort: geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} over {len(ratios)} models, worst {min(ratios)}, best {max(ratios)}")
    if arguments.markdown and rows:
        arguments.markdown.write_text(markdown(rows, arguments))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
