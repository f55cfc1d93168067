"""Relations that hold between runs of one compiler, so that no reference is asked: only where two results differ does ONNX Runtime say whether the model is one that
trembles (trial.py), and whether a batch is one at all.

    batch       n images at once are n runs of one
    open        a model whose axes are open gives at some sizes what it gives compiled for these
    levels      x86-64-v2, v3 and the machine's own agree
    threads     the same bits, whatever number of threads and pieces
    strict      with --accuracy=strict the bits do not depend on which values are kept
    newer       the model brought to a newer opset by onnx's converter
    inserted    an Identity, a pair of transpositions, or a Split and a Concat change nothing
"""
import numpy as np
import onnx
from onnx import helper, numpy_helper, version_converter

import host
import suites
from open_model import Refused, Status
from trial import Compiled, Reference, elsewhere, first_difference, refusal, trembles

RELATIONS = []


def relation(function):
    RELATIONS.append(function)
    return function


class Differs(Exception):
    def __init__(self, text, model, got, wanted):
        super().__init__(text)
        self.model, self.got, self.wanted = model, got, wanted


def result(ingot, model, feeds, level, flags=()):
    with Compiled(ingot, model, level, flags) as compiled:
        return compiled.at(feeds)


def same(model, got, wanted, what, bits=False):
    if bits and any(a.tobytes() != b.tobytes() for a, b in zip(got, wanted, strict=True)):
        text = "other bits"
    elif not bits:
        text = first_difference(got, wanted)
    else:
        return
    if text:
        raise Differs(f"{what}: {text}", model, got, wanted)


def copied(model):
    return onnx.ModelProto.FromString(model.SerializeToString())


@relation
def batch(ingot, case, model, rng, level):
    feeds, sizes = case.feeds(), {size for value in case.values.values() for size in value.shape}
    inputs = [name for name in case.inputs if name in case.batched]
    count = rng.choice([size for size in (2, 3, 5, 7, 11) if size not in sizes] or [13])
    if not inputs or len({feeds[name].shape[0] for name in inputs}) != 1:
        return open_is_static(ingot, case, model, rng, level)
    model = copied(model)
    for value in model.graph.input:
        if value.name in inputs:
            value.type.tensor_type.shape.dim[0].dim_param = "batch"
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    many = {name: np.resize(array, [count, *array.shape[1:]]) if name in inputs else array for name, array in feeds.items()}
    many = {name: array + np.arange(count, dtype=array.dtype).reshape([-1] + [1] * (array.ndim - 1)) / array.dtype.type(8) if name in inputs and array.dtype.kind == "f" else array
            for name, array in many.items()}
    each = [{name: array[k : k + 1] if name in inputs else array for name, array in many.items()} for k in range(count)]
    with Compiled(ingot, model, level) as compiled:
        together, apart = compiled.at(many), [compiled.at(feeds) for feeds in each]
    rows = [k for k, output in enumerate(together) if output.ndim and output.shape[0] == count]
    joined = lambda all: [np.concatenate([one[k] for one in all]) for k in rows]
    if text := first_difference([together[k] for k in rows], joined(apart)):
        reference = Reference(model)
        wanted, alone = reference(many), [reference(feeds) for feeds in each]
        if wanted is not None and None not in alone and not first_difference([wanted[k] for k in rows], joined(alone)):
            raise Differs(f"a batch of {count}: {text}", model, together, wanted)


@relation
def open_is_static(ingot, case, model, rng, level):
    opened, _ = suites.opened(case, model, rng, rng.random() < 0.5)
    same(opened, result(ingot, opened, case.feeds(), level), result(ingot, model, case.feeds(), level), "open and static")


@relation
def levels(ingot, case, model, rng, level):
    wanted = result(ingot, model, case.feeds(), "native")
    for other in ("x86-64-v2", "x86-64-v3"):
        if host.lacks(ingot, other):
            continue
        same(model, result(ingot, model, case.feeds(), other), wanted, f"{other} and native")


@relation
def threads(ingot, case, model, rng, level):
    with Compiled(ingot, model, level) as compiled:
        wanted = compiled.at(case.feeds())
        for count in (1, 2, 3, 16):
            same(model, compiled.in_threads(case.feeds(), count, rng.random()), wanted, f"{count} threads", bits=True)


@relation
def strict(ingot, case, model, rng, level):
    every = copied(model)
    outputs = [value.name for value in model.graph.output]
    names = [name for node in model.graph.node if node.op_type != "Constant" for name in node.output if name and name not in outputs]
    every.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    flags = ["--accuracy", "strict"]
    kept = result(ingot, every, case.feeds(), level, flags)[: len(outputs)]
    same(model, result(ingot, model, case.feeds(), level, flags), kept, "strict, and strict with all values kept", bits=True)


@relation
def newer(ingot, case, model, rng, level):
    try:
        with elsewhere():
            converted = version_converter.convert_version(model, rng.randint(case.opset + 1, 23))
    except Exception:  # it has no way for many operators, or for the newest opset
        return
    feeds = case.feeds()
    got, wanted = result(ingot, converted, feeds, level), result(ingot, model, feeds, level)
    if text := first_difference(got, wanted):
        told = Reference(converted)(feeds), Reference(model)(feeds)
        if None not in told and first_difference(*told) is None:  # else the converter is wrong
            raise Differs(f"opset {case.opset} brought to {converted.opset_import[0].version}: {text}", converted, got, wanted)


@relation
def inserted(ingot, case, model, rng, level):
    changed = copied(model)
    places = [(n, k) for n, node in enumerate(changed.graph.node) for k, name in enumerate(node.input) if name and case.values[name].rank and case.values[name].array.size]
    places = [(n, k) for n, k in places if k == 0 or case.values[changed.graph.node[n].input[k]].dtype.kind == "f"]
    if not places:
        return
    n, k = rng.choice(places)
    value = case.values[changed.graph.node[n].input[k]]
    nodes = detour(value, case.opset, rng, changed.graph)
    changed.graph.node[n].input[k] = nodes[-1].output[0]
    rest = list(changed.graph.node)
    del changed.graph.node[:]
    changed.graph.node.extend(rest[:n] + nodes + rest[n:])
    got, wanted = result(ingot, changed, case.feeds(), level), result(ingot, model, case.feeds(), level)
    same(changed, got, wanted, f"{'+'.join(node.op_type for node in nodes)} in front of {rest[n].op_type}")


def detour(value, opset, rng, graph):
    """Nodes that give what they take."""
    kind = rng.randrange(3)
    if kind == 0:
        return [helper.make_node("Identity", [value.name], ["inserted"], name="inserted")]
    if kind == 1:
        order = rng.sample(range(value.rank), value.rank)
        return [helper.make_node("Transpose", [value.name], ["turned"], name="turned", perm=order),
                helper.make_node("Transpose", ["turned"], ["inserted"], name="inserted", perm=[order.index(axis) for axis in range(value.rank)])]
    axis = rng.randrange(value.rank)
    size = value.shape[axis]
    if size < 2:
        return [helper.make_node("Identity", [value.name], ["inserted"], name="inserted")]
    parts = [first := rng.randint(1, size - 1), size - first]
    if opset < 13:
        split = helper.make_node("Split", [value.name], ["left", "right"], name="cut", axis=axis, split=parts)
    else:
        graph.initializer.append(numpy_helper.from_array(np.array(parts, np.int64), "parts"))
        split = helper.make_node("Split", [value.name, "parts"], ["left", "right"], name="cut", axis=axis)
    return [split, helper.make_node("Concat", ["left", "right"], ["inserted"], name="inserted", axis=axis)]


def check(ingot, case, model, rng, level):
    """(verdict, text, the model that shows it) of one relation, drawn by rng."""
    relation = rng.choice(RELATIONS)
    try:
        relation(ingot, case, model, rng, level)
    except Refused as refused:
        return *refusal(refused), model
    except Status as status:
        if not str(status).startswith("status"):
            return "wrong", f"{relation.__name__}: {status}", model
        return "declined", str(status), model
    except Differs as differs:
        if "bits" not in str(differs) and trembles(Reference(differs.model), case.feeds(), differs.got, differs.wanted):
            return "trembles", str(differs), model
        return "wrong", f"{relation.__name__}: {differs}", differs.model
    return "pass", "", model
