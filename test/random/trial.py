"""How one model is tried: compiled, run on given inputs within guard bytes and in pieces (open_model.py), compared with ONNX Runtime.

What the search, its regression cases and the relations share. Compilations go to build/bin/compile-server, one for each thread that asks (server.py)."""
import _ctypes
import contextlib
import os
import pathlib
import pickle
import random
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import bare
import ingot_run
import numpy as np
import peer
from onnx import numpy_helper
from open_model import Lacks, OpenModel, Refused, Status, in_pieces
from server import Server

from case import by_onnxruntime, by_reference, evaluate, node_by_node

BAD = ("wrong", "bug", "crash", "timeout", "error")  # verdicts that somebody must look at


class Compiled(OpenModel):
    """A model while it is used: `with Compiled(...) as model`. Its library is taken out of the process afterwards."""

    def __init__(self, ingot, model, target=None, flags=()):
        self.symbols_of = [[dim.dim_param for dim in value.type.tensor_type.shape.dim] for value in inputs_of(model)]
        self.names, self.bytes = [value.name for value in inputs_of(model)], model.SerializeToString()
        self.bare, self.folder = None, tempfile.TemporaryDirectory(prefix="ingot-trial-")
        try:
            if (target or "").startswith("bare:"):
                self.warnings, self.bare = "", bare.Program(ingot, model, pathlib.Path(self.folder.name), target.removeprefix("bare:"), flags)
            else:
                super().__init__(ingot, model, self.folder.name, target, flags)
        finally:
            if not self.bare:
                self.folder.cleanup()

    def at(self, feeds):
        """A run; what the symbols are follows from the inputs' shapes."""
        if RUNNING:
            RUNNING.write_bytes(pickle.dumps((self.bytes, feeds)))
        return self.bare.at(feeds) if self.bare else self.run(feeds, self.sizes(feeds))

    def sizes(self, feeds):
        return {symbol: size for name, symbols in zip(self.names, self.symbols_of) for symbol, size in zip(symbols, feeds[name].shape) if symbol}

    def in_threads(self, feeds, threads, seed):
        """A run by a host that says it has so many threads, its work in pieces that `seed` draws."""
        if self.bare:
            return self.bare.at(feeds)
        return self.once(*self.prepared(feeds, self.sizes(feeds)), in_pieces(random.Random(seed), threads))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.bare:
            return self.folder.cleanup()
        self.model = self.inputs = self.outputs = None
        _ctypes.dlclose(self.library._handle)


def inputs_of(model):
    constants = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in constants]


def write_inputs(folder, model, feeds):
    """A data set, as `ingot verify --data` takes it."""
    folder.mkdir(parents=True, exist_ok=True)
    for k, value in enumerate(inputs_of(model)):
        (folder / f"input_{k}.pb").write_bytes(numpy_helper.from_array(np.asarray(feeds[value.name], order="C"), value.name).SerializeToString())


# A file that gets the model and the inputs of each run before it begins, so that they are known when it ends the process; None: no file.
RUNNING = None

# One byte that a parent may share with a process that tries models: 1 while others' code runs, which may end the process, too.
ELSEWHERE = bytearray(1)


@contextlib.contextmanager
def elsewhere():
    ELSEWHERE[0] = 1
    try:
        yield
    finally:
        ELSEWHERE[0] = 0


class Reference:
    """ONNX Runtime's word on a model, or that of onnx's reference evaluator where it has none. The session is made once."""

    def __init__(self, model):
        self.model, self.session = model, None

    def __call__(self, feeds):
        """The outputs, or None when no evaluator takes these inputs."""
        with elsewhere():
            return self.computed(feeds)

    def computed(self, feeds):
        if is_empty(feeds):  # what the reference evaluator refuses of it ONNX Runtime may compute: it leaves out of a Concat, reads and reduces what has no elements as it likes
            return word_of(by_reference, self.model, feeds)
        wanted = word_of(self.run, feeds)
        return word_of(evaluate, self.model, feeds) if wanted is None and not reference_errs(self.model) else wanted

    def run(self, feeds):
        if self.session is None:
            self.session = peer.session(self.model)
        return self.session.run(None, feeds)


def first_difference(got, wanted, scale=1.0):
    for k, (have, want) in enumerate(zip(got, wanted, strict=True)):
        if text := ingot_run.difference(have, np.asarray(want), 5e-5 * scale, 3e-4 * scale):
            return f"output {k}: {text}"
    return None


def trembles(reference, feeds, got, wanted):
    """Whether the model itself makes much of little: inputs changed by a few units in the last place change its result by as much as `got` is off."""
    rng, noise = np.random.default_rng(1), [0.0] * len(wanted)
    for _ in range(10):
        moved = {name: (array * (1 + 3e-7 * rng.uniform(-1, 1, array.shape))).astype(array.dtype) if array.dtype.kind == "f" else array for name, array in feeds.items()}
        again = reference(moved)
        if again is None or any(np.shape(a) != np.shape(w) for a, w in zip(again, wanted)):
            return again is not None
        for k, (a, w) in enumerate(zip(again, wanted)):
            if np.asarray(w).dtype.kind == "f" and np.size(w):
                as_finite = np.array_equal(np.isfinite(a), np.isfinite(w))  # the square root of a variance of nothing but rounding may be one of less than 0
                noise[k] = max(noise[k], float(np.nanmax(np.abs(np.asarray(a, np.float64) - w), initial=0)) if as_finite else np.inf)
    for have, want, room in zip(got, wanted, noise):
        if ingot_run.different_kind(have, np.asarray(want)):
            return False
        if have.dtype.kind != "f":
            if not np.array_equal(have, want):
                return False
        elif np.size(want):
            off = np.abs(have.astype(np.float64) - want)
            if room < np.inf and (not np.array_equal(np.isfinite(have), np.isfinite(want)) or float(np.nanmax(off, initial=0)) > 20 * room):
                return False
    return True


def is_of_nan(model, got, wanted):
    """Whether the results may come from NaN in a max pool (-inf, the lowest number, NaN or a number beside it, as each evaluator and each size has it), or in front of
    a RoiAlign: where a sample lies outside of the image, ONNX Runtime multiplies the first pixel by zero."""
    lowest = np.finfo(np.float32).min
    odd = any(not np.all(np.isfinite(array)) or np.any(array <= lowest) for array in map(np.asarray, (*got, *wanted)) if array.dtype == np.float32)
    return odd and any(node.op_type in ("MaxPool", "GlobalMaxPool", "RoiAlign") for node in model.graph.node)


def is_singular(model, feeds):
    """Whether a matrix that is inverted is singular, and not only nearly so: rounding says whether a division by zero comes of it."""
    matrices = [feeds[node.input[0]].astype(np.float64) for node in model.graph.node if node.op_type == "Inverse" and node.input[0] in feeds]
    spectra = [np.linalg.svd(matrix, compute_uv=False) for matrix in matrices if matrix.size and np.all(np.isfinite(matrix))]
    return any(np.any(values[..., -1] <= 1e-14 * values.shape[-1] * values[..., 0]) for values in spectra)


def compare(model, reference, feeds, got, wanted):
    """The verdict on outputs: pass, wrong, or disputed where one evaluator gives what ingot gives and another does not."""
    text = first_difference(got, wanted)
    if text is None:
        return "pass", ""
    for other in (by_reference, by_onnxruntime, node_by_node):
        with elsewhere():
            again = word_of(other, model, feeds)
        if again is not None and first_difference(got, [np.asarray(want) for want in again]) is None:
            return "disputed", text
    if is_of_nan(model, got, wanted) or is_singular(model, feeds):
        return "disputed", text
    return ("trembles" if trembles(reference, feeds, got, wanted) else "wrong"), text


# Of a value whose rank only the run knows, which the standard's own shape inference cannot tell either: by design (docs/sizes.md).
UNRANKED = re.compile(r"(its rank|how many axes are left) is known only when the model runs")


def refusal(refused):
    """The verdict that an exit code stands for."""
    text = str(refused)
    code = int(text.split(":")[0].split()[1])
    if code == 1 and UNRANKED.search(text):
        return "unranked", text
    return {1: "refused", 2: "bug", -14: "timeout", -9: "timeout"}.get(code, "crash"), text


def reference_errs(model):
    """The reference evaluator reads an axis that becomes one element at -0.5, and not at 0 as the standard and ONNX Runtime do."""
    modes = [attribute.s for node in model.graph.node if node.op_type == "Resize" for attribute in node.attribute if attribute.name == "coordinate_transformation_mode"]
    return b"pytorch_half_pixel" in modes


def is_empty(feeds):
    return any(not array.size for array in feeds.values())


def word_of(evaluator, *arguments):
    """What an evaluator says, or None where it fails; each has failures of many classes."""
    try:
        return evaluator(*arguments)
    except Exception:
        return None


def is_undefined(model, feeds):
    """Whether the results are nobody's to tell: each evaluator has an opinion on windows over nothing but padding, on the mean of nothing, and on where it is
    largest. A size that is zero in a run is none to a Reshape by Shape(x), which then copies another (docs/sizes.md)."""
    known = {tensor.name for tensor in model.graph.initializer} | {name for node in model.graph.node if node.op_type == "Constant" for name in node.output}
    reshapes = any(node.op_type == "Reshape" and len(node.input) > 1 and node.input[1] not in known for node in model.graph.node)
    return is_empty(feeds) and (reshapes or any("Pool" in node.op_type or node.op_type in ("ReduceMean", "ArgMax", "ArgMin") for node in model.graph.node))


def as_declared(model, got, wanted):
    """Results that keep axes of size 1, which a Squeeze without axes takes away, where the model declares the output with them, as ONNX Runtime gives them (docs/control-flow.md)."""
    if not any(node.op_type == "Squeeze" and len([name for name in node.input if name]) == 1 for node in model.graph.node):
        return got
    longer = lambda array: [size for size in array.shape if size != 1]
    declared = [value.type.tensor_type for value in model.graph.output]
    return [
        have.reshape(want.shape) if type.HasField("shape") and have.ndim == len(type.shape.dim) and longer(have) == longer(want) else have
        for have, want, type in zip(got, map(np.asarray, wanted), declared, strict=True)
    ]


def trial(ingot, model, runs, target=None, flags=()):
    """(verdict, text, inputs) of a model on `runs`, of which the first is one that it must take; the inputs are those that it fails on."""
    try:
        compiled = Compiled(ingot, model, target, flags)
    except Refused as refused:
        return *refusal(refused), runs[0]
    reference, seen, declined = Reference(model), "pass", None
    with compiled:
        for turn, feeds in enumerate(runs):
            wanted = None if is_undefined(model, feeds) else reference(feeds)
            try:
                got = compiled.at(feeds)
            except Status as status:
                if not str(status).startswith("status"):
                    return "wrong", str(status), feeds
                if wanted is not None:
                    if turn == 0 and "only runs with" not in compiled.warnings:  # a Squeeze without axes
                        return "declined", str(status), feeds
                    declined = str(status)
                continue
            if wanted is None:
                continue
            verdict, text = compare(model, reference, feeds, as_declared(model, got, wanted), wanted)
            if verdict == "wrong":
                return verdict, text, feeds
            seen = verdict if verdict != "pass" else seen
    return seen, f"declined another size: {declined}" if declined else "", runs[0]
