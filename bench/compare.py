"""Latency of ingot beside ONNX Runtime and OpenVINO: every model of some folders, one run, interleaved, pinned to one core, medians and ratios.

    compare.py --ingot build/bin/ingot DIR... [--only REGEX] [--threads 1] [--core 1] [--rounds 5] [--seconds 0.3] [--target native] [--tsv bench/MACHINE.tsv]
               [--peers ort,openvino,pytorch] [--fast | --close] [--time-limit S]
    compare.py --page                renews the tables of bench/README.md from the .tsv files that they name

A model is a folder with model.onnx and test_data_set_0/input_K.pb. It is compiled once to a shared library; then the engines take turns: in each
round each runs for --seconds, and its figure of the round is the median of its calls; the figure of the table is the median over the rounds, the
spread is that between the rounds' fastest and slowest. `x_ort` is ONNX Runtime's time by ingot's, `x_best` the faster peer's: above 1 ingot is faster.
A peer is left out where its package is not installed or it refuses the model. PyTorch (compiled by its inductor, weights frozen) is measured where the model
is one that bench/networks.py wrote, since an ONNX model alone is no module of PyTorch's; `x_pytorch` is its time by ingot's. OpenVINO alone (--peers openvino)
can be held to AVX2 by ONEDNN_MAX_CPU_ISA=AVX2 in the environment. With --fast ingot (`--accuracy fast`) and OpenVINO may compute in bfloat16, with --close ingot alone may round as `--accuracy close` does. `error` is the largest difference of ingot's outputs from the recorded ones by the largest
number of such an output, over all outputs of floats. Each model has a process of its own, since a peer may end it. What the file of --tsv has already is not
measured again, so that a table can be made in pieces (--time-limit). Timings are comparable only when nothing else runs on the machine.
"""
import argparse
import csv
import importlib.util
import json
import math
import multiprocessing
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time


def feeds_of(folder):
    """The recorded inputs, by name."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(folder / "model.onnx", load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    names = [value.name for value in graph.input if value.name not in weights]
    return {name: numpy_helper.to_array(onnx.load_tensor(folder / "test_data_set_0" / f"input_{k}.pb")) for k, name in enumerate(names)}


def is_fast(arguments):
    """Programs that have no --fast use these engines, too."""
    return getattr(arguments, "fast", False)


def median_time(call, seconds):
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


class OnnxRuntime:
    """Inputs and outputs are bound once, so that the Python binding adds little."""

    def __init__(self, arguments, folder):
        import numpy as np
        import onnxruntime

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
        self.session.run_with_iobinding(self.binding)
        return median_time(lambda: self.session.run_with_iobinding(self.binding), seconds)


class OpenVino:
    def __init__(self, arguments, folder):
        import numpy as np
        import openvino

        settings = {"INFERENCE_NUM_THREADS": arguments.threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "bf16" if is_fast(arguments) else "f32", "NUM_STREAMS": 1}
        core, feeds = openvino.Core(), feeds_of(folder)
        compiled = core.compile_model(core.read_model(folder / "model.onnx"), "CPU", settings)
        self.request = compiled.create_infer_request()
        for port in compiled.inputs:
            name = next(name for name in port.get_names() if name in feeds)
            self.request.set_tensor(port, openvino.Tensor(np.ascontiguousarray(feeds[name])))

    def round(self, seconds):
        self.request.infer()
        return median_time(self.request.infer, seconds)


class PyTorch:
    """The module that bench/networks.py exported the model from."""

    def __init__(self, arguments, folder):
        import networks
        import torch
        import torch._inductor.config

        torch.set_num_threads(arguments.threads)
        torch._inductor.config.freezing = True
        module, self.inputs = networks.build((folder / "network.txt").read_text().strip())
        self.module, self.inference = torch.compile(module), torch.inference_mode

    def round(self, seconds):
        with self.inference():
            self.module(*self.inputs)
            return median_time(lambda: self.module(*self.inputs), seconds)


def ingot(command):
    """What a command prints as JSON."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no message").splitlines()[0][:160])
    return json.loads(done.stdout)


def compile_command(arguments, folder, name, out):
    """A shared library for the sizes of the recorded inputs."""
    shapes = [f"--shape={value}={'x'.join(map(str, array.shape))}" for value, array in feeds_of(folder).items() if array.ndim]
    accuracy = "fast" if is_fast(arguments) else "close" if getattr(arguments, "close", False) else "default"
    flags = [*(["--target", arguments.target] if arguments.target else []), "--accuracy", accuracy]
    return [arguments.ingot, "compile", folder / "model.onnx", "--name", name, "-o", out, "--emit", "shared", "--json", *shapes, *flags]


class Ingot:
    """The compiled library is timed by `ingot bench` in a process of its own on the same core."""

    def __init__(self, arguments, folder, scratch):
        name = "m_" + re.sub(r"\W", "_", folder.name)
        self.seconds = ingot(compile_command(arguments, folder, name, scratch))["seconds"]
        self.command = [arguments.ingot, "bench", f"{scratch}/{name}.json", "--data", folder / "test_data_set_0", "--threads", str(arguments.threads), "--json"]

    def round(self, seconds):
        self.last = ingot([*self.command, "--seconds", seconds])
        return self.last["median_us"]

    def error(self):
        """Beside the recorded outputs; None where no output is of floats or nothing is recorded."""
        folder = self.command[self.command.index("--data") + 1]
        if not list(folder.glob("output_*.pb")):
            return None
        done = subprocess.run([self.command[0], "verify", self.command[2], "--data", folder, "--json"], capture_output=True, text=True)
        outputs = json.loads(done.stdout)["outputs"] if done.stdout else []
        return max((output["max_error"] / (output["max_expected"] or 1) for output in outputs if "float" in output["type"]), default=None)


COLUMNS = ["model", "ingot", "ort", "openvino", "pytorch", "x_ort", "x_openvino", "x_best", "x_pytorch", "error", "spread", "GFLOP/s", "arena KB", "weights KB", "code KB", "compile s"]
PEERS = {"ort": ("onnxruntime", OnnxRuntime), "openvino": ("openvino", OpenVino), "pytorch": ("torch", PyTorch)}


def engines_of(arguments, folder, scratch):
    engines = {"ingot": Ingot(arguments, folder, scratch)}
    for name in arguments.peers:
        package, engine = PEERS[name]
        if importlib.util.find_spec(package) and (name != "pytorch" or (folder / "network.txt").exists()):
            try:
                engines[name] = engine(arguments, folder)
                engines[name].round(0)
            except Exception as error:
                engines.pop(name, None)
                print(f"{folder.name}: {name}: {said(error)}", flush=True)
    if not {"ort", "openvino"} & engines.keys():
        raise RuntimeError("no peer takes it")
    return engines


def measure(arguments, folder, scratch):
    """One row of the table."""
    engines = engines_of(arguments, folder, scratch)
    rounds = {name: [] for name in engines}
    for _ in range(arguments.rounds):
        for name, engine in engines.items():
            rounds[name].append(engine.round(arguments.seconds))
    figures = {name: statistics.median(times) for name, times in rounds.items()}
    row = {"model": folder.name, **{name: round(figure, 2) for name, figure in figures.items()}}
    faster = {f"x_{name}": figures[name] / figures["ingot"] for name in PEERS if name in figures}
    if {"ort", "openvino"} <= set(arguments.peers):
        faster["x_best"] = min(faster[key] for key in ("x_ort", "x_openvino") if key in faster)
        faster.pop("x_openvino", None)
    row |= {key: round(ratio, 3) for key, ratio in faster.items()}
    error = engines["ingot"].error()
    row["error"] = "" if error is None else f"{error:.1e}"
    row["spread"] = f"{(max(rounds['ingot']) / min(rounds['ingot']) - 1) * 100:.0f} %"
    last = engines["ingot"].last
    row["GFLOP/s"] = round(last.get("gflops", 0), 1)
    row["arena KB"], row["weights KB"], row["code KB"] = [round(last.get(key, 0) / 1024) for key in ("arena_bytes", "weight_bytes", "code_bytes")]
    row["compile s"] = round(engines["ingot"].seconds, 2)
    return row


def said(error):
    return str(error).strip().splitlines()[0][:160] if str(error).strip() else type(error).__name__


def tell_row(arguments, folder, connection):
    """In a process of its own: the row, or why there is none."""
    try:
        with tempfile.TemporaryDirectory(prefix="ingot-bench-") as scratch:
            connection.send(measure(arguments, folder, scratch))
    except Exception as error:
        connection.send(said(error))


def row_of(arguments, folder):
    """A row, or text: why there is none."""
    reader, writer = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=tell_row, args=(arguments, folder, writer))
    process.start(), writer.close()
    try:
        return reader.recv()
    except EOFError:
        process.join()
        return f"the process of the peers ended with {process.exitcode}"
    finally:
        process.join()


def time_text(microseconds):
    value = float(microseconds)
    return f"{value / 1000:.1f} ms" if value >= 10000 else f"{value / 1000:.2f} ms" if value >= 1000 else f"{value:.1f} us" if value >= 10 else f"{value:.2f} us"


def page_table(tsv):
    """A table of bench/README.md and the sentence below it."""
    with open(tsv, newline="") as file:
        rows = sorted(csv.DictReader(file, delimiter="\t"), key=lambda row: row["model"])
    times = {"ingot": "ingot", "ort": "ONNX Runtime", "openvino": "OpenVINO", "pytorch": "PyTorch"}
    ratios = {"x_ort": "x ONNX Runtime", "x_openvino": "x OpenVINO", "x_best": "x the faster one", "x_pytorch": "x PyTorch"}
    times, ratios = ({key: title for key, title in titles.items() if key in rows[0]} for titles in (times, ratios))
    titles = ["model", *times.values(), *ratios.values(), *(["error"] if "error" in rows[0] else [])]
    lines = [f"| {' | '.join(titles)} |", "|---" + "|--:" * (len(titles) - 1) + "|"]
    for row in rows:
        cells = [row["model"], *(time_text(row[key]) if row[key] else "" for key in times), *(f"{float(row[key]):.2f}" if row[key] else "" for key in ratios)]
        cells += [row["error"]] if "error" in row else []
        lines.append(f"| {' | '.join(cells)} |")
    sentences = {"x_ort": "ONNX Runtime", "x_openvino": "OpenVINO", "x_best": "the faster of the two"}
    keys = [key for key in sentences if key in rows[0]]
    mean = lambda key: statistics.geometric_mean(float(row[key]) for row in rows if row[key])
    means = [f"{mean(key):.2f} times as fast as {sentences[key]}{' in the geometric mean' if key == keys[0] else ''}" for key in keys]
    slower = [row["model"] for row in rows if row[keys[-1]] and float(row[keys[-1]]) < 1]
    return "\n".join(lines) + f"\n\n{len(rows)} models: {', '.join(means)}; slower than it: {', '.join(slower) or 'none'}.\n"


def renew_page():
    here = pathlib.Path(__file__).resolve().parent
    marks = re.compile(r"(<!-- generated by bench/compare.py --page from ([\w-]+.tsv) -->\n).*?(<!-- end -->)", re.S)
    page = here / "README.md"
    page.write_text(marks.sub(lambda match: match.group(1) + page_table(here / match.group(2)) + match.group(3), page.read_text()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path), parser.add_argument("--ingot", default="build/bin/ingot"), parser.add_argument("--only", default=".")
    parser.add_argument("--threads", type=int, default=1), parser.add_argument("--core", type=int, default=1), parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3), parser.add_argument("--target"), parser.add_argument("--tsv", type=pathlib.Path)
    parser.add_argument("--peers", type=lambda text: text.split(","), default=list(PEERS)), parser.add_argument("--time-limit", type=float, default=math.inf)
    parser.add_argument("--page", action="store_true"), parser.add_argument("--fast", action="store_true"), parser.add_argument("--close", action="store_true")
    arguments = parser.parse_args()
    if arguments.page:
        return renew_page()
    arguments.ingot = os.path.abspath(arguments.ingot)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[arguments.core % len(cores)]} if arguments.threads == 1 else cores[: arguments.threads])
    rows, failed, end = read(arguments.tsv), 0, time.monotonic() + arguments.time_limit
    known = {row["model"] for row in rows}
    for model in sorted(path for folder in arguments.folders for path in folder.glob("*/model.onnx")):
        folder = model.parent
        if folder.name in known or not re.search(arguments.only, folder.name) or not (folder / "test_data_set_0").exists() or time.monotonic() > end:
            continue
        row = row_of(arguments, folder)
        if isinstance(row, str):  # one model that fails must not end the table
            failed += 1
            print(f"{folder.name}: {row}", flush=True)
            continue
        rows.append(row)
        print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
        write(arguments.tsv, rows)
    for key in ("x_ort", "x_openvino", "x_best", "x_pytorch"):
        ratios = [float(row[key]) for row in rows if row.get(key)]
        if ratios:
            print(f"{key}: geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} over {len(ratios)} models, worst {min(ratios)}, best {max(ratios)}")
    sys.exit(failed > 0)


def read(tsv):
    if not tsv or not tsv.exists():
        return []
    with open(tsv, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def write(tsv, rows):
    if tsv:
        with open(tsv, "w", newline="") as file:
            writer = csv.DictWriter(file, [key for key in COLUMNS if any(key in row for row in rows)], delimiter="\t", restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(rows, key=lambda row: row["model"]))


if __name__ == "__main__":
    main()
