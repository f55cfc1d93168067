"""`ingot quantize` with data and weights that are bad: empty, constant, not finite, huge, tiny, of another type or shape, a single sample.

It ends with a file that is valid and near the float model, or that it warns of, or with an error that names what the user has. Never with a bug, never with a loss that nobody is told of,
and never is the file there that an error speaks of."""
import json
import pathlib
import re
import subprocess
import tempfile

import numpy as np
import onnx
import quantizing
from onnx import helper, numpy_helper
from trial import Compiled, Refused, Status, elsewhere, write_inputs

NEAR = 0.9  # below it there has to be a warning: QuantizeMeasures.cpp


def spoiled(rng, array, kind):
    """An input of another kind; what has no such form stays as it is."""
    isFloat = array.dtype.kind == "f"
    if kind == "empty":
        return array.reshape(-1)[:0].reshape(tuple(0 if axis == 0 else size for axis, size in enumerate(array.shape)) or (0,))
    if kind in ("zero", "constant"):
        return np.full_like(array, 0 if kind == "zero" else rng.choice([1, -3, 7])) if isFloat else array
    if kind in ("nan", "infinite") and isFloat and array.size:
        array = array.copy()
        array.reshape(-1)[rng.randrange(array.size)] = np.nan if kind == "nan" else rng.choice([np.inf, -np.inf])
        return array
    if kind in ("huge", "tiny") and isFloat:
        with np.errstate(all="ignore"):
            return (array * array.dtype.type(1e25 if kind == "huge" else 1e-25)).astype(array.dtype)
    if kind == "type":
        return array.astype(rng.choice([np.float64, np.int32, np.uint8]))
    return np.repeat(array[None], 2, axis=0) if kind == "shape" else array


KINDS = ["plain", "empty", "zero", "constant", "nan", "infinite", "huge", "tiny", "type", "shape"]


def spoil_weights(rng, model):
    """One weight gets a value that integers do not have, or all of it becomes too small."""
    weights = [tensor for tensor in model.graph.initializer if tensor.data_type == onnx.TensorProto.FLOAT and len(tensor.dims) > 1]
    if not weights:
        return "no weights"
    tensor, kind = rng.choice(weights), rng.choice(["nan", "infinite", "huge", "tiny", "zero"])
    tensor.CopyFrom(numpy_helper.from_array(spoiled(rng, numpy_helper.to_array(tensor), kind), tensor.name))
    return f"{tensor.name} {kind}"


def data_folders(rng, folder, model, feeds):
    """Samples, of which one is bad, or all are alike."""
    kind, count = rng.choice(KINDS), rng.choice([1, 1, 2, 3])
    bad = set(range(count)) if kind in ("zero", "constant", "huge", "tiny") or rng.random() < 0.5 else {rng.randrange(count)}
    for number in range(count):
        write_inputs(folder / f"data{number}", model, {name: spoiled(rng, np.asarray(array), kind) if number in bad else array for name, array in feeds.items()})
    return f"{len(bad)} of {count} {kind}", [word for number in range(count) for word in ("--data", str(folder / f"data{number}"))]


def is_told(text):
    """Whether an error is one of the user's own things."""
    return "error: " in text and not re.search(r"ingot-[0-9a-f]+/|model\d+\.onnx", text)


def check(ingot, model, feeds, rng, level):
    """(verdict, text)."""
    scheme, flags = quantizing.flags_of(rng, model)
    told = spoil_weights(rng, model) if rng.random() < 0.4 else "weights as drawn"
    with tempfile.TemporaryDirectory(prefix="calibrating-") as folder:
        folder = pathlib.Path(folder)
        onnx.save(model, folder / "m.onnx")
        kind, data = data_folders(rng, folder, model, feeds)
        told = f"{' '.join(flags)}; {told}; {kind}"
        with elsewhere():
            done = subprocess.run([ingot, "quantize", folder / "m.onnx", "-o", folder / "q.onnx", "--json", "--target", level, *flags, *data], capture_output=True, text=True, timeout=300)
        left = sorted(path.name for path in folder.iterdir() if not path.name.startswith("data") and path.name not in ("m.onnx", "q.onnx"))
        if left:
            return "wrong", f"{told}: left {left}"
        if done.returncode:
            verdict = {1: "refused", 2: "bug"}.get(done.returncode, "crash")
            if verdict == "refused" and (not is_told(done.stderr) or (folder / "q.onnx").exists()):
                verdict = "wrong"
            return verdict, f"{told}: exit {done.returncode}: {done.stderr[-600:]}"
        report, small = json.loads(done.stdout), onnx.load(folder / "q.onnx")
        with elsewhere():
            problem = quantizing.checks(small)
            if problem and not quantizing.checks(model):
                return "wrong", f"{told}: onnx.checker: {problem}"
        for output in report["outputs"]:
            is_far = "cosine" in output and output["cosine"] is not None and output["cosine"] < NEAR
            if is_far and not any(f"output '{output['name']}'" in warning for warning in report["warnings"]):
                return "wrong", f"{told}: output {output['name']} has the cosine {output['cosine']}, and nobody is warned"
        narrow = {value.name: feeds[value.name].astype(helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)) for value in small.graph.input}
        try:
            with Compiled(ingot, small, level) as compiled, Compiled(ingot, model, level) as before:
                mine, wanted = compiled.at(narrow), before.at(feeds)
        except (Refused, Status) as problem:
            return ("pass" if not quantizing.runs(ingot, model, feeds, level) else "wrong"), f"{told}: ingot does not run it: {problem}"
        # On the inputs that the network was drawn with, which one of the samples has.
        least = quantizing.least_cosine(mine, wanted)
        if kind.endswith("plain") and least < NEAR and not report["warnings"]:
            return "wrong", f"{told}: cosine {least:.4f} with the float model, and nobody is warned"
    return "pass", ""
