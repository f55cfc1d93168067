"""Four bits by what layers read: a language model writes texts to calibrate with, so that nobody has to have data; with data, what is rounded by them has to be better on others.

    texts.py --ingot build/bin/ingot"""
import numpy as np
import onnx
from onnx import TensorProto, helper
from quantized_models import FLOAT, Graph, f, run, session

VOCABULARY, WIDTH = 40, 64


def language(causal=True, inputs=("input_ids",), shape=("n", "t"), seed=3, scores=True):
    """Each place sees the sum of those up to it, or with `causal` false the mean of all. Tokens have few directions, as those of trained models have, so that rounding has something to choose."""
    own = np.random.default_rng(seed)
    w = lambda *dims, scale: own.normal(0, scale, dims).astype(np.float32)
    g = Graph(17, **{name: list(shape) for name in inputs})
    x = g.add("Gather", w(VOCABULARY, 5, scale=1) @ w(5, WIDTH, scale=0.5), "input_ids")
    for name in inputs[1:]:  # a mask of ones, positions, and types that are zeros
        if "type" in name:
            x = g.add("Add", x, g.add("Gather", w(2, WIDTH, scale=0.1), name))
        elif "position" in name:
            x = g.add("Add", x, g.add("Gather", w(64, WIDTH, scale=0.1), name))
        else:
            x = g.add("Mul", x, g.add("Unsqueeze", g.add("Cast", name, to=FLOAT), np.array([2])))
    seen = g.add("Mul", g.add("CumSum", x, np.array(1)), np.float32(0.2)) if causal else g.add("Sub", x, g.add("ReduceMean", x, axes=[1]))
    hidden = g.add("Tanh", g.add("MatMul", seen, w(WIDTH, 96, scale=0.2)))
    hidden = g.add("Tanh", g.add("MatMul", hidden, w(96, WIDTH, scale=0.2)))
    last = g.add("MatMul", g.add("Add", hidden, x), w(WIDTH, VOCABULARY if scores else 8, scale=0.2))
    made = g.model(last)
    made.graph.output[0].CopyFrom(helper.make_tensor_value_info(last, FLOAT, [*shape, VOCABULARY if scores else 8]))
    for declared in made.graph.input:
        declared.type.tensor_type.elem_type = TensorProto.INT64
    return made


def loss(place, model, texts, inputs):
    """The part of the scores' power that the file is off by."""
    made = onnx.load(place / "q.onnx")
    onnx.checker.check_model(made)
    given = {name: np.zeros_like(texts) if "type" in name else np.broadcast_to(np.arange(texts.shape[1]), texts.shape).copy() if "position" in name else np.ones_like(texts) for name in inputs[1:]}
    got, want = (session(m).run(None, {"input_ids": texts, **given})[0].astype(np.float64) for m in (made, model))
    return ((got - want) ** 2).sum() / (want**2).sum()


def check_texts(tool, count):
    """A causal model writes texts, and loses a third at most of what rounding to the nearest does; others write none."""
    own = np.random.default_rng(4)
    everything = ("input_ids", "attention_mask", "position_ids", "token_type_ids")
    for name, arguments, writes in (
        ("open sizes", {}, True),
        ("fixed sizes", dict(shape=(2, 12)), True),
        ("a mask, positions and types", dict(inputs=everything), True),
        ("an input that nobody knows", dict(inputs=("input_ids", "other")), False),
        ("sees what follows", dict(causal=False), False),
        ("scores of classes", dict(scores=False), False),
    ):
        model, inputs = language(**arguments), arguments.get("inputs", ("input_ids",))
        texts = own.integers(0, VOCABULARY, (2, 12))
        place = tool.place(model, [])
        report, wrong = tool.report(place, "--scheme", "int4", "--effort", "quick")
        nearest = 0 if wrong else loss(place, model, texts, inputs)
        wrong = wrong or (f"quick writes texts: {report}" if "own_texts" in report else None)
        if not wrong:
            report, wrong = tool.report(place, "--scheme", "int4")
        if not wrong:
            lost = loss(place, model, texts, inputs)
            fine = ("own_texts" in report) == writes and (lost < nearest / 3 if writes else lost == nearest)
            wrong = None if fine else f"lost {lost}, {nearest} by the nearest, {report}"
        count.add(f"texts, {name}", wrong)
    place = tool.place(language(), [])
    first, second = (tool.quantize(place, "--scheme", "int2") and (place / "q.onnx").read_bytes() for _ in range(2))
    count.add("the same file twice", None if first == second else "two files differ")
    text = tool.quantize(place, "--scheme", "int4").stdout
    count.add("texts are said", None if "weights rounded by what layers read in 128 texts that the model has written" in text else text)


def check_held_out(tool, count):
    """With data, what is rounded by them is better on others, and where a few say nothing of others it is not taken."""
    own = np.random.default_rng(5)
    directions = f(6, 96)
    g = Graph(17, x=[16, 96])
    model = g.model(g.add("MatMul", g.add("Relu", g.add("MatMul", "x", f(96, 64, scale=0.1))), f(64, 32, scale=0.1)))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info(model.graph.output[0].name, FLOAT, [16, 32]))
    drawn = lambda: (own.normal(size=(16, 6)) @ directions).astype(np.float32)
    x = drawn()

    def lost(samples, *flags):
        place = tool.place(model, samples)
        report, wrong = tool.report(place, "--scheme", "int4", *flags)
        got, want = (session(m).run(None, {"x": x})[0].astype(np.float64) for m in (onnx.load(place / "q.onnx"), model))
        return wrong or ((got - want) ** 2).sum() / (want**2).sum()

    samples = [drawn() for _ in range(16)]
    nearest, chosen, forced = lost(samples, "--effort", "quick"), lost(samples), lost(samples, "--gptq")
    count.add("what samples say", None if max(chosen, forced) < nearest / 3 else f"{chosen}, by --gptq {forced}, by the nearest {nearest}")
    count.add("one sample says nothing", None if lost(samples[:1]) == lost(samples[:1], "--effort", "quick") else "it is taken")
    strange = [own.normal(size=(16, 96)).astype(np.float32) * (np.arange(96) % 4 == k % 4) for k in range(4)]  # the last is held out, and has channels that no other has
    chosen, nearest = lost(strange), lost(strange, "--effort", "quick")
    count.add("samples that say nothing of others", None if chosen <= nearest * 1.2 else f"{chosen}, {nearest} by the nearest")


if __name__ == "__main__":
    run(__doc__, "calibrated", check_texts, check_held_out)
