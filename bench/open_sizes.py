"""One object for all sizes beside objects for one size and ONNX Runtime: transformers at several sequence lengths, in one process, call by call in turn.

    open_sizes.py --ingot build/bin/ingot FOLDER [--sizes batch=1,seq=128 ...] [--calls 30] [--core 1] [--tsv FILE]

FOLDER holds model.onnx. Without --sizes a table by the model's symbols is used: sequences of 16, 128 and 384; for models with a cache those without
one, and single steps behind caches of 15, 127 and 383. Inputs are random: integers 0 or 1, floats from -1 to 1, masks (inputs named *mask*) all 1.
`x_static` is the time of the object for this size by that of the open one, `x_ort` ONNX Runtime's: above 1 the open one is faster.
"""
import argparse
import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time


def tables(symbols):
    if "past" in symbols:
        total = {"total": lambda seq, past: seq + past} if "total" in symbols else {}
        for seq, past in [(16, 0), (128, 0), (384, 0), (1, 15), (1, 127), (1, 383)]:
            yield {"batch": 1, "seq": seq, "past": past, **{name: f(seq, past) for name, f in total.items()}}
    else:
        for seq in (16, 128, 384):
            yield {"batch": 1, "seq": seq}


class Inputs:
    def __init__(self, path, sizes):
        import numpy as np
        import onnx
        from onnx import helper

        graph = onnx.load(path, load_external_data=False).graph
        weights, random = {tensor.name for tensor in graph.initializer}, np.random.default_rng(1)
        self.arrays = {}
        for value in graph.input:
            if value.name in weights:
                continue
            kind = value.type.tensor_type
            shape = [dim.dim_value if dim.HasField("dim_value") else sizes[dim.dim_param] for dim in kind.shape.dim]
            dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
            if "mask" in value.name:
                array = np.ones(shape)
            else:
                array = random.uniform(-1, 1, shape) if dtype.kind == "f" else random.integers(0, 2, shape)
            self.arrays[value.name] = np.ascontiguousarray(array.astype(dtype))


class Ingot:
    """NAME_run through ctypes."""

    def __init__(self, arguments, inputs, sizes, open_sizes, scratch, keep=None):
        import numpy as np

        self.np = np
        name = "open_model" if open_sizes else "static_model"
        if not keep:
            flags = [] if open_sizes else [f"--dim={symbol}={size}" for symbol, size in sizes.items()]
            subprocess.run([arguments.ingot, "compile", arguments.folder / "model.onnx", "--name", name, "-o", scratch, "--emit", "shared", *flags], check=True, stdout=subprocess.DEVNULL)
            keep = ctypes.CDLL(os.path.join(scratch, name + ".so")), json.loads(pathlib.Path(scratch, name + ".json").read_text())
        self.keep = keep
        library, manifest = keep
        order = [symbol["name"] for symbol in manifest["symbols"]]
        values = [ctypes.c_int64(sizes[symbol]) for symbol in order]
        scope = {**{symbol: sizes[symbol] for symbol in order}, "min": min, "max": max, "div": lambda a, b: a // b}
        number = lambda text: text if isinstance(text, int) else eval(text, {}, scope)
        workspace = manifest["workspace_bytes"]
        if values:
            query = getattr(library, name + "_workspace_bytes")
            query.restype = ctypes.c_int64
            workspace = query(*values)
        self.buffers = [self.aligned(number(tensor["bytes"])) for tensor in manifest["outputs"]] + [self.aligned(workspace)]
        self.inputs = [inputs.arrays[tensor["name"]] for tensor in manifest["inputs"]]
        pointer = lambda array: ctypes.c_void_p(array.ctypes.data)
        outputs = [pointer(buffer) for buffer in self.buffers]
        self.run, self.arguments = getattr(library, name + "_run"), [*map(pointer, self.inputs), *outputs[:-1], *values, outputs[-1], None]

    def aligned(self, size):
        raw = self.np.zeros(size + 64, self.np.uint8)
        return raw[-raw.ctypes.data % 64 :][: max(size, 1)]

    def call(self):
        status = self.run(*self.arguments)
        if status:
            raise RuntimeError(f"status {status & 255}, node {(status >> 8) - 1}")


class OnnxRuntime:
    def __init__(self, arguments):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = 1, 1, 3
        self.session = onnxruntime.InferenceSession(arguments.folder / "model.onnx", options, providers=["CPUExecutionProvider"])
        self.runtime = onnxruntime

    def bind(self, inputs):
        self.binding = self.session.io_binding()
        for name, array in inputs.arrays.items():
            self.binding.bind_ortvalue_input(name, self.runtime.OrtValue.ortvalue_from_numpy(array))
        for output in self.session.get_outputs():
            self.binding.bind_output(output.name)

    def call(self):
        self.session.run_with_iobinding(self.binding)


def measure(arguments, engines):
    times = {name: [] for name in engines}
    for engine in engines.values():
        engine.call()
    for _ in range(arguments.calls):
        for name, engine in engines.items():
            begin = time.perf_counter()
            engine.call()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(all_times) for name, all_times in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path), parser.add_argument("--ingot", default="build/bin/ingot"), parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--core", type=int, default=1), parser.add_argument("--tsv", type=pathlib.Path), parser.add_argument("--sizes", action="append", default=[])
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[arguments.core % len(cores)]})
    import onnx

    graph = onnx.load(arguments.folder / "model.onnx", load_external_data=False).graph
    symbols = {dim.dim_param for value in graph.input for dim in value.type.tensor_type.shape.dim if dim.dim_param}
    given = [{name: int(size) for name, size in (pair.split("=") for pair in text.split(","))} for text in arguments.sizes]
    runtime, kept = OnnxRuntime(arguments), None
    for sizes in given or tables(symbols):
        sizes = {name: size for name, size in sizes.items() if name in symbols}
        inputs = Inputs(arguments.folder / "model.onnx", sizes)
        runtime.bind(inputs)
        with tempfile.TemporaryDirectory(prefix="ingot-bench-") as scratch:
            open_one = Ingot(arguments, inputs, sizes, True, scratch, kept)
            kept = open_one.keep
            figures = measure(arguments, {"open": open_one, "static": Ingot(arguments, inputs, sizes, False, scratch), "ort": runtime})
        text = ",".join(f"{name}={size}" for name, size in sizes.items())
        row = [arguments.folder.name, text, *(f"{figures[name] * 1e3:.3f}" for name in ("open", "static", "ort")), f"{figures['static'] / figures['open']:.3f}", f"{figures['ort'] / figures['open']:.3f}"]
        print("%s  %s  open %s ms  static %s ms  ort %s ms  x_static %s  x_ort %s" % tuple(row), flush=True)
        if arguments.tsv:
            with open(arguments.tsv, "a") as file:
                print(*row, sep="\t", file=file)


if __name__ == "__main__":
    main()
