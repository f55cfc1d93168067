"""Models of some thousand nodes: they compute what ONNX Runtime computes, and their code grows as they do.

    run.py --ingot build/bin/ingot [--target T] [--only NAME,...]

The work of LLVM's passes and of ours is bounded where functions are: no function has more than some hundred calls and loops, however many nodes the model has,
and a model of twice as many nodes has twice as many of them in all. These are counted, so a machine's speed does not matter."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import ingot_run
import numpy as np
import onnxruntime
from open_model import OpenModel, Status, one_variant

import models

LONGEST = 1000  # calls and loops of a function
NODES = 1200
SYMBOLS = {"rows": 3, "columns": 5}
INDEX = 5  # of ingot_status


def functions(ingot, model, nodes, folder):
    """Calls and loops of each function of the model."""
    path = pathlib.Path(folder) / "model.onnx"
    models.onnx.save(model(nodes), path)
    code, out, err = ingot_run.invoke([ingot, "compile", path, "--target", "x86-64-v3", "--name", "m", "--stop-after", "entry"])
    if code != 0:
        raise Status(err[:600])
    counts = {}
    for line in out.splitlines():
        words = line.split()
        if words[:1] == ["func.func"]:
            name = line[line.index("@") + 1 : line.index("(")]
            counts[name] = 0
        elif "call" in words[:3] or "scf.for" in words[:3]:
            counts[name] += 1
    return counts


def growth(ingot, model):
    """What is wrong with how the code grows."""
    with tempfile.TemporaryDirectory() as folder:
        few, many = (functions(ingot, model, nodes, folder) for nodes in (NODES, 2 * NODES))
    for name, count in many.items():
        if count > LONGEST:
            return f"{count} calls and loops in @{name}"
    if not NODES // 4 < sum(many.values()) <= 2.1 * sum(few.values()):
        return f"{sum(few.values())} calls and loops for {NODES} nodes, {sum(many.values())} for twice as many"
    return None


def feeds(graph, random):
    """A value for each input."""
    values = {}
    for tensor in graph.input:
        shape = [axis.dim_value or SYMBOLS[axis.dim_param] for axis in tensor.type.tensor_type.shape.dim]
        kind = tensor.type.tensor_type.elem_type
        one = {models.TensorProto.BOOL: lambda: random.integers(0, 2, shape).astype(bool), models.TensorProto.INT64: lambda: np.full(shape, 2)}
        values[tensor.name] = one.get(kind, lambda: np.abs(random.standard_normal(shape)).astype(np.float32))()
    return values


def results(ingot, model, target):
    """What is wrong with what the model computes."""
    made = model(NODES)
    values = feeds(made.graph, np.random.default_rng(1))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    wanted = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, values)
    with tempfile.TemporaryDirectory() as folder:
        compiled = OpenModel(ingot, made, folder, target, one_variant(made))
        got = compiled.run(values, SYMBOLS)
        wrong = ingot_run.difference(got[0].reshape(wanted[0].shape), wanted[0])
        if not wrong and "at" in values:
            try:
                compiled.run(values | {"at": np.array(9)}, SYMBOLS)
                return "reads outside of a table"
            except Status as status:
                wrong = None if str(status).startswith(f"status {INDEX}, Gather") else str(status)
    return wrong


CASES = {**models.MODELS, "found": models.found}


def one(arguments, name):
    wrong = []
    if not arguments.target and name not in ("standardised", "found"):
        wrong.append(growth(arguments.ingot, CASES[name]))
    if name != "standardised":
        wrong.append(results(arguments.ingot, CASES[name], arguments.target))
    return name, [text for text in wrong if text]


if __name__ == "__main__":
    ingot_run.run_named(__doc__, CASES, one)
