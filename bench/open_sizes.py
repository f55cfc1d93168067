"""One object for all sizes beside objects for one size and ONNX Runtime: each model with open sizes of some folders, in one process, engine by engine in turn.

    open_sizes.py --ingot build/bin/ingot DIR... [--only REGEX] [--sizes batch=1,seq=128 ...] [--seconds 2] [--core 1] [--open-batch] [--without-ort] [--tsv bench/open_sizes.tsv]
    open_sizes.py --page                 renews the table of bench/README.md from bench/open_sizes.tsv

At the end, and below that table, stand the models that one size makes slower than all sizes: of an object that knows more they show what it does worse. Exit status 1 with --check where there are any.

A model is a folder with model.onnx. Transformers (a batch, a sequence, perhaps a past) are run with sequences of 16, 128 and 384 or, with a cache, without
one and in single steps behind caches of 15, 127 and 383; their inputs are random: integers 0 or 1, floats from -1 to 1, masks (inputs named *mask*) all 1.
Other models are run with the inputs of test_data_set_0. With --open-batch it is the models without a symbol, those of images, whose batch is made one. The engines take turns; in each turn one runs once unmeasured and then for some calls, and the
figures are medians: of the times (the thread's, not the clock's: what else runs counts less), and of the ratios within a turn. `x_static` is the time of the object for this size by that of the open one, `x_ort` ONNX
Runtime's: above 1 the open one is faster.
"""
import argparse
import csv
import ctypes
import functools
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

MOST_CALLS = 20000  # of one turn
MOST_WORDS = 32  # that calls.c passes on


def tables(symbols):
    """Sizes for transformers; none for other models."""
    if not {"batch", "seq"} <= symbols <= {"batch", "seq", "past", "total"}:
        return
    for seq, past in [(16, 0), (128, 0), (384, 0)] + ([(1, 15), (1, 127), (1, 383)] if "past" in symbols else []):
        sizes = {"batch": 1, "seq": seq, "past": past, "total": seq + past}
        yield {name: size for name, size in sizes.items() if name in symbols}


def symbol_of(value, axis, dim):
    """As ingot names an axis; None for a number."""
    return None if dim.HasField("dim_value") else re.sub(r"\W", "_", dim.dim_param or f"{value.name}_{axis}")


class Model:
    def __init__(self, folder):
        import onnx

        self.folder, self.path = folder, folder / "model.onnx"
        model = onnx.load(self.path, load_external_data=False)
        weights = {tensor.name for tensor in model.graph.initializer}
        self.model, self.inputs = model, [value for value in model.graph.input if value.name not in weights]

    @property
    def symbols(self):
        return {name for value in self.inputs for name in self.axes(value) if name}

    @staticmethod
    def axes(value):
        return [symbol_of(value, axis, dim) for axis, dim in enumerate(value.type.tensor_type.shape.dim)]

    def open_batch(self, scratch):
        """Makes the batch of a model for one image a symbol; says whether it could."""
        import onnx

        first = [value.type.tensor_type.shape.dim[0] for value in self.inputs if value.type.tensor_type.shape.dim]
        if self.symbols or any(dim.dim_value != 1 for dim in first):
            return False
        for dim in first:
            dim.dim_param = "batch"
        for value in self.model.graph.output:
            value.type.tensor_type.ClearField("shape")
        del self.model.graph.value_info[:]
        self.path = pathlib.Path(scratch, "model.onnx")
        onnx.save(self.model, self.path)
        return True

    def random(self, sizes):
        import numpy as np
        from onnx import helper

        generator, arrays = np.random.default_rng(1), {}
        for value in self.inputs:
            kind = value.type.tensor_type
            shape = [sizes[name] if name else dim.dim_value for name, dim in zip(self.axes(value), kind.shape.dim)]
            dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
            if "mask" in value.name:
                array = np.ones(shape)
            else:
                array = generator.uniform(-1, 1, shape) if dtype.kind == "f" else generator.integers(0, 2, shape)
            arrays[value.name] = np.ascontiguousarray(array.astype(dtype))
        return arrays

    def recorded(self):
        """Inputs, and the sizes that they have."""
        import numpy as np
        import onnx
        from onnx import numpy_helper

        arrays, sizes = {}, {}
        for k, value in enumerate(self.inputs):
            tensor = onnx.load_tensor(self.folder / "test_data_set_0" / f"input_{k}.pb")
            arrays[value.name] = np.ascontiguousarray(numpy_helper.to_array(tensor))
            sizes |= {name: size for name, size in zip(self.axes(value), tensor.dims) if name}
        return arrays, sizes

    def cases(self, given):
        """Sizes and inputs."""
        if given or list(tables(self.symbols)):
            for sizes in given or tables(self.symbols):
                yield sizes, self.random(sizes)
        else:
            arrays, sizes = self.recorded()
            yield sizes, arrays


class Ingot:
    """NAME_run through ctypes."""

    def __init__(self, library, manifest):
        self.manifest, self.name = manifest, manifest["name"]
        self.library = ctypes.CDLL(library)

    @staticmethod
    def compile(arguments, model, name, scratch, sizes):
        flags = [f"--dim={symbol}={size}" for symbol, size in sizes.items()]
        command = [arguments.ingot, "compile", model.path, "--name", name, "-o", scratch, "--emit", "shared", *flags, *(["--target", arguments.target] if arguments.target else [])]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError((done.stderr.strip() or "no message").splitlines()[0][:160])
        return Ingot(os.path.join(scratch, name + ".so"), json.loads(pathlib.Path(scratch, name + ".json").read_text()))

    def bind(self, arrays, sizes):
        order = [symbol["name"] for symbol in self.manifest["symbols"]]
        values = [ctypes.c_int64(sizes[symbol]) for symbol in order]
        scope = {"min": min, "max": max, "div": lambda a, b: a // b, "broadcast": lambda a, b: b if a == 1 else a}
        numbers = {symbol: sizes[symbol] for symbol in order}

        def number(text):  # symbols may be no identifiers
            for symbol in sorted(numbers, key=len, reverse=True):
                text = str(text).replace(symbol, str(numbers[symbol]))
            return eval(str(text), {}, scope)

        workspace = self.manifest["workspace_bytes"]
        if values:
            query = getattr(self.library, self.name + "_workspace_bytes")
            query.restype = ctypes.c_int64
            workspace = query(*values)
        found = [ctypes.byref(ctypes.c_int64()) for tensor in self.manifest.get("found", [])]
        self.buffers = [aligned(number(tensor["bytes"])) for tensor in self.manifest["outputs"]] + [aligned(workspace)]
        self.inputs = [arrays[tensor["name"]] for tensor in self.manifest["inputs"]]
        pointer = lambda array: ctypes.c_void_p(array.ctypes.data)
        outputs = [pointer(buffer) for buffer in self.buffers]
        self.arguments = [*map(pointer, self.inputs), *outputs[:-1], *values, *found, outputs[-1], None]
        self.run = getattr(self.library, self.name + "_run")
        address = lambda a: a if a is None else a.value if isinstance(a, (ctypes.c_void_p, ctypes.c_int64)) else ctypes.addressof(a._obj)
        self.words = (ctypes.c_long * max(MOST_WORDS, len(self.arguments)))(*[address(a) or 0 for a in self.arguments])

    def calls(self, number):
        if len(self.arguments) <= MOST_WORDS:
            return self.check(loop_of_calls()(self.run, self.words, len(self.arguments), number))
        for _ in range(number):
            self.check(self.run(*self.arguments))

    @staticmethod
    def check(status):
        if status:
            raise RuntimeError(f"status {status & 255}, node {(status >> 8) - 1}")


@functools.cache
def loop_of_calls():
    """calls.c, compiled."""
    with tempfile.TemporaryDirectory(prefix="ingot-bench-") as scratch:
        library = os.path.join(scratch, "calls.so")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", pathlib.Path(__file__).resolve().with_name("calls.c"), "-o", library], check=True)
        loop = ctypes.CDLL(library).ingot_bench_calls
    loop.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_long]
    return loop


def aligned(size):
    import numpy as np

    raw = np.zeros(size + 64, np.uint8)
    return raw[-raw.ctypes.data % 64 :][: max(size, 1)]


class OnnxRuntime:
    def __init__(self, model):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = 1, 1, 3
        self.session = onnxruntime.InferenceSession(model.path, options, providers=["CPUExecutionProvider"])
        self.runtime = onnxruntime

    def bind(self, arrays, sizes):
        self.binding = self.session.io_binding()
        for name, array in arrays.items():
            self.binding.bind_ortvalue_input(name, self.runtime.OrtValue.ortvalue_from_numpy(array))
        for output in self.session.get_outputs():
            self.binding.bind_output(output.name)

    def calls(self, number):
        for _ in range(number):
            self.session.run_with_iobinding(self.binding)


def turn(engine, calls):
    engine.calls(1)
    begin = time.thread_time()
    engine.calls(calls)
    return (time.thread_time() - begin) / calls


def measure(engines, seconds):
    """Times of each engine, turn by turn."""
    once = {name: turn(engine, 1) for name, engine in engines.items()}
    calls = max(1, min(MOST_CALLS, round(0.02 / max(once.values()))))
    turns = max(7, math.ceil(seconds / ((calls + 1) * max(once.values()))))
    times, order = {name: [] for name in engines}, list(engines)
    for _ in range(turns):
        for name in order:
            times[name].append(turn(engines[name], calls))
        order.reverse()
    return times


def rows(arguments, model, scratch):
    given = [{name: int(size) for name, size in (pair.split("=") for pair in text.split(","))} for text in arguments.sizes]
    engines = {"open": Ingot.compile(arguments, model, "open_model", scratch, {})}
    if not arguments.without_ort:
        engines["ort"] = OnnxRuntime(model)
    for i, (sizes, arrays) in enumerate(model.cases(given)):
        engines["static"] = Ingot.compile(arguments, model, f"static_model{i}", scratch, sizes)
        for engine in engines.values():
            engine.bind(arrays, sizes)
        times = measure(engines, arguments.seconds)
        row = {"model": model.folder.name, "sizes": " ".join(f"{name}={size}" for name, size in sizes.items())}
        for name in ("open", "static", "ort"):
            row[name + "_ms"] = f"{statistics.median(times[name]) * 1e3:.4g}" if name in times else ""
        for name in ("static", "ort"):
            row["x_" + name] = f"{statistics.median(a / b for a, b in zip(times[name], times['open'])):.3f}" if name in times else ""
        yield row
        os.unlink(os.path.join(scratch, f"static_model{i}.so"))


SLOWER = 1.02  # by less the same object differs from run to run


def slower(table):
    """The rows that one size makes slower, the worst first, as text."""
    rows = sorted((row for row in table if row["x_static"] and float(row["x_static"]) > SLOWER), key=lambda row: -float(row["x_static"]))
    return [f"{row['model']} ({row['sizes']}) {row['x_static']}" for row in rows]


def page_table(path):
    with open(path, newline="") as file:
        table = list(csv.DictReader(file, delimiter="\t"))
    lines = ["| model | sizes | open, ms | for one size, ms | ONNX Runtime, ms | x for one size | x ONNX Runtime |", "|---|---|--:|--:|--:|--:|--:|"]
    for row in table:
        lines.append("| " + " | ".join(row[key] for key in ("model", "sizes", "open_ms", "static_ms", "ort_ms", "x_static", "x_ort")) + " |")
    means = [math.exp(statistics.mean(math.log(float(row[key])) for row in table if row[key])) for key in ("x_static", "x_ort")]
    worse = ", ".join(slower(table)) or "none"
    return "\n".join(lines) + f"\n\n{len(table)} rows: {means[0]:.2f} times as fast as for one size in the geometric mean, {means[1]:.2f} times as fast as ONNX Runtime. Slower for one size than open, by more than {SLOWER - 1:.0%}: {worse}.\n"


def renew_page():
    here = pathlib.Path(__file__).resolve().parent
    marks = re.compile(r"(<!-- generated by bench/open_sizes.py --page -->\n).*?(<!-- end -->)", re.S)
    page = here / "README.md"
    page.write_text(marks.sub(lambda m: m[1] + page_table(here / "open_sizes.tsv") + m[2], page.read_text()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=pathlib.Path, nargs="*")
    parser.add_argument("--ingot", default="build/bin/ingot")
    parser.add_argument("--target")
    parser.add_argument("--only", default="")
    parser.add_argument("--sizes", action="append", default=[])
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--core", type=int, default=1)
    parser.add_argument("--open-batch", action="store_true", help="of models for one image, with a batch that is open")
    parser.add_argument("--without-ort", action="store_true")
    parser.add_argument("--tsv", type=pathlib.Path)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--check", action="store_true", help="fail where one size is slower than all")
    arguments = parser.parse_args()
    if arguments.page:
        return renew_page()
    arguments.ingot = os.path.abspath(arguments.ingot)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[arguments.core % len(cores)]})
    folders = [folder for root in arguments.folders for folder in ([root] if (root / "model.onnx").exists() else sorted(root.iterdir()))]
    table = []
    for folder in folders:
        if not re.search(arguments.only, folder.name) or not (folder / "model.onnx").exists():
            continue
        try:
            with tempfile.TemporaryDirectory(prefix="ingot-bench-") as scratch:
                model = Model(folder)
                if not (model.open_batch(scratch) if arguments.open_batch else model.symbols):
                    continue
                for row in rows(arguments, model, scratch):
                    print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
                    table.append(row)
                    if arguments.tsv:
                        new = not arguments.tsv.exists()
                        with open(arguments.tsv, "a", newline="") as file:
                            writer = csv.DictWriter(file, row, delimiter="\t", lineterminator="\n")
                            writer.writeheader() if new else None
                            writer.writerow(row)
        except Exception as error:  # one model less
            print(f"{folder.name}: {error}", file=sys.stderr)
    print(f"slower for one size than open, of {len(table)}:", ", ".join(slower(table)) or "none")
    sys.exit(arguments.check and bool(slower(table)))


if __name__ == "__main__":
    main()
