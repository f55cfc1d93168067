"""Networks through `ingot quantize`: with a scheme and flags that are drawn, and with data that the network fits.

What is written must be a model that onnx.checker takes, that ONNX Runtime runs, and that ingot runs as ONNX Runtime does; and its results must look like those of the float model. How
far they may be off is a coarse measure, which finds weights that are scaled wrongly and not a bit that is lost: narrow ranges of tiny networks are not what people quantize."""
import pathlib
import tempfile

import numpy as np
import onnx
from onnx import helper

from trial import Compiled, Reference, Refused, Server, Status, elsewhere, refusal, word_of, write_inputs

OUTDATED = {"Affine", "DynamicSlice", "ImageScaler", "ParametricSoftplus", "Scale", "ScaledTanh"}
LAYERS = ("Conv", "MatMul", "Gemm", "LSTM", "GRU", "RNN")
# The least cosine between an output and that of the float model.
NEAR = {"int8": 0.9, "int8-dynamic": 0.9, "int8-weights": 0.99, "int4": 0.8, "int2": 0.2, "mixed": 0.7, "fp8": 0.9, "fp8-weights": 0.98, "fp16-weights": 0.999, "fp16": 0.999, "bf16": 0.98}
SAME = 0.99  # and between ingot's and ONNX Runtime's: a step on the other side of a rounding is read by all behind it
# What is refused with a reason: a model without anything to do.
NOTHING = ("nothing to quantize", "nothing to convert", "nothing is left to quantize", "is quantized already", "the model has no layer of this name",
           "has no values: its shape is", "compares outputs that are floats", "no forms of its layers keep to the budgets")  # fmt: skip


def flags_of(rng, model):
    scheme = rng.choice(["int8"] * 4 + ["int8-dynamic"] * 2 + ["int8-weights", "int4", "int4", "int2", "fp8", "fp8-weights", "fp16-weights"] + ["mixed"] * 2 + ["fp16"] * 2 + ["bf16"])
    flags = ["--scheme", scheme]

    def maybe(probability, *more):
        if rng.random() < probability:
            flags.extend(map(str, more))

    if scheme == "int8":
        maybe(0.5, "--method", rng.choice(["auto", "min-max", "mean", "percentile", "entropy", "mse"]))
        maybe(0.3, "--activations", rng.choice(["int8", "uint8"]))
        maybe(0.1, "--max-drop", rng.choice([0.001, 0.01]))
    if scheme == "mixed":
        budgets = ["--size", int(model.ByteSize() * rng.uniform(0.2, 1.1))], ["--max-drop", rng.choice([0.001, 0.01, 0.05])], ["--latency", rng.choice(["10us", "1ms", "1s"])]
        flags.extend(str(word) for budget in rng.sample(budgets, rng.choice([1, 1, 2, 3])) for word in budget)
    if scheme in ("int8", "int8-dynamic", "mixed"):
        maybe(0.2, "--per-tensor")
        maybe(0.3, "--short-sums")
        maybe(0.3, "--smooth", rng.choice([0, 0.3, 0.5, 0.8]))
        maybe(0.3, "--effort", rng.choice(["quick", "default", "thorough"]))
    if scheme in ("int8-weights", "int4", "int2", "mixed"):
        maybe(0.6, "--block", rng.choice([16, 32, 64, 128]))
    if scheme in ("int8-weights", "int4", "int2"):
        maybe(0.4, "--gptq")
    if scheme in ("fp16", "bf16"):
        maybe(0.4, "--keep-io")
    if kept := [node.name for node in model.graph.node if node.op_type in LAYERS and node.name]:
        maybe(0.15, "--keep", rng.choice(kept))
    return scheme, flags


def data_sets(rng, feeds):
    """The inputs, and others whose floats are of the same range. Integers stay: they may be axes, sizes or indices."""

    def other(array):
        if array.dtype.kind != "f":
            return array
        generator = np.random.default_rng(rng.getrandbits(32))
        return (generator.permutation(array.reshape(-1)).reshape(array.shape) * generator.choice([0.5, 1, 1.5])).astype(array.dtype)

    return [feeds] + [{name: other(array) for name, array in feeds.items()} for _ in range(rng.choice([0, 1, 2]))]


def written(ingot, model, sets, level, flags):
    """The quantized model, or raises Refused."""
    with tempfile.TemporaryDirectory(prefix="ingot-quantizing-") as folder:
        folder = pathlib.Path(folder)
        onnx.save(model, folder / "model.onnx")
        for number, feeds in enumerate(sets):
            write_inputs(folder / f"data{number}", model, feeds)
            flags = [*flags, "--data", str(folder / f"data{number}")]
        code, said = Server.of(ingot).compile([ingot, "quantize", str(folder / "model.onnx"), "-o", str(folder / "small.onnx"), "--target", level, *flags])
        if code:
            raise Refused(f"exit {code}: {said}")
        return onnx.load(folder / "small.onnx")


def cosine(a, b):
    a, b = np.asarray(a, np.float64).ravel(), np.asarray(b, np.float64).ravel()
    norms = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / norms) if norms else float(np.array_equal(a, b))


def least_cosine(outputs, others):
    """Of the outputs that are finite floats and of some values; others have no cosine that says something."""
    pairs = [(np.asarray(a, np.float32), np.asarray(b, np.float32)) for a, b in zip(outputs, others) if np.asarray(a).dtype.kind in "fV" and np.size(a) >= 8]
    return min((cosine(a, b) for a, b in pairs if np.all(np.isfinite(a)) and np.all(np.isfinite(b))), default=1.0)


def checks(model):
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as problem:
        return str(problem).strip()[-300:]
    return None


def runs(ingot, model, feeds, level):
    """Whether ingot takes the model and the inputs as they are."""
    try:
        with Compiled(ingot, model, level) as compiled:
            compiled.at(feeds)
    except (Refused, Status):
        return False
    return True


def check(ingot, model, feeds, rng, level):
    """(verdict, text)."""
    scheme, flags = flags_of(rng, model)
    told = " ".join(flags)
    try:
        small = written(ingot, model, data_sets(rng, feeds), level, flags)
    except Refused as refused:
        verdict, text = refusal(refused)
        if verdict == "refused" and not any(known in text for known in NOTHING) and runs(ingot, model, feeds, level):
            verdict = "wrong"
        return verdict, f"{told}: {text}"
    with elsewhere():
        problem = checks(small)
        if problem:
            return ("disputed" if checks(model) else "wrong"), f"{told}: onnx.checker: {problem}"
        wanted = word_of(Reference(model), feeds)
        narrow = {value.name: feeds[value.name].astype(helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)) for value in small.graph.input}
        theirs = word_of(Reference(small).run, narrow)
        # Of 16 bits ONNX Runtime lacks many operators on CPUs. What it has no longer in the opsets that have quantization is not ours to mend.
        is_excused = scheme in ("fp16", "bf16") or OUTDATED & {node.op_type for node in model.graph.node} or word_of(Reference(model).run, feeds) is None
    if theirs is None and not is_excused:
        return "wrong", f"{told}: ONNX Runtime does not run it"
    for policy in ("default", "strict"):
        try:
            with Compiled(ingot, small, level, ["--accuracy", policy]) as compiled:
                mine = compiled.at(narrow)
        except (Refused, Status) as problem:
            return "wrong", f"{told}: ingot does not run it: {problem}"
        if theirs is not None and least_cosine(mine, theirs) < SAME:
            return "wrong", f"{told}, {policy}: cosine {least_cosine(mine, theirs):.4f} with ONNX Runtime"
    if wanted is not None and least_cosine(mine, wanted) < NEAR[scheme]:
        return "wrong", f"{told}: cosine {least_cosine(mine, wanted):.4f} with the float model"
    return "pass", ""
