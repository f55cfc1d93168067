"""What `ingot quantize` chooses: what it tells of it, that no flag gains where flags would, forms of layers within budgets, and channels that become alike.

    choices.py --ingot build/bin/ingot"""
import json
import pathlib
import re
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from quantized_models import FLOAT, Graph, cnn, cosine, f, recurrent, run, session, transformer


def check_choices(tool, count):
    model, samples = transformer(), [f(2, 7, 32) for _ in range(4)]
    place = tool.place(model, samples)
    plain, wrong = tool.report(place)
    count.add("report", wrong or (None if plain["bytes_after"] < plain["bytes_before"] and all(layer["quantized"] for layer in plain["layers"]) else "a layer is not quantized"))
    layer = plain["layers"][0]["name"]
    report, wrong = tool.report(place, "--keep", layer)
    names = {node.name: node for node in onnx.load(place / "q.onnx").graph.node}
    floats = {tensor.name for tensor in onnx.load(place / "q.onnx").graph.initializer if tensor.data_type == FLOAT}
    count.add("keep", wrong or (None if not report["layers"][0]["quantized"] and names[layer].input[1] in floats else "the layer is quantized"))
    bare, wrong = tool.report(place, "--method", "min-max", "--smooth", "0")
    smooth, more = tool.report(place, "--smooth", "0.5")
    count.add("smooth gains", wrong or more or (None if smooth["cosine"] > bare["cosine"] else f"{smooth['cosine']}, without {bare['cosine']}"))
    # The outlier behind the normalization is what a default has to see.
    fine = plain["cosine"] > bare["cosine"] and any("smoothing" in layer for layer in plain["layers"]) and all("range_by" in layer for layer in plain["layers"])
    count.add("no flag gains", None if fine and plain["effort"] == "default" and plain["samples_held_out"] == 1 else f"{plain}, without {bare['cosine']}")
    text = tool.quantize(place).stdout
    count.add("what was chosen", None if "range by" in text and "ranges and smoothing chosen on 1 of 4 samples in " in text and "(--effort default)" in text else text)
    drop = (1 - bare["cosine"]) / 4
    report, wrong = tool.report(place, "--method", "min-max", "--smooth", "0", "--max-drop", drop)
    kept = [layer for layer in report["layers"] if not layer["quantized"]] if report else []
    fine = report and 1 - report["cosine"] <= drop and 0 < len(kept) < len(report["layers"]) and all("drop_alone" in layer for layer in report["layers"])
    count.add("max-drop", wrong or (None if fine else f"{len(kept)} kept, cosine {report['cosine']}, allowed {1 - drop}"))
    nearest, wrong = tool.report(place, "--scheme", "int4")
    gptq, more = tool.report(place, "--scheme", "int4", "--gptq")
    count.add("gptq gains", wrong or more or (None if gptq["cosine"] > nearest["cosine"] else f"{gptq['cosine']}, to the nearest {nearest['cosine']}"))
    report, wrong = tool.report(place, "--scheme", "fp16", "--keep", layer)
    count.add("keep in fp16", wrong or (None if report["nodes_kept"] == 1 else f"{report['nodes_kept']} kept"))
    report, wrong = tool.report(place, "--scheme", "fp16")
    types = {value.type.tensor_type.elem_type for value in [*onnx.load(place / "q.onnx").graph.input, *onnx.load(place / "q.onnx").graph.output]}
    count.add("fp16 inputs", wrong or (None if types == {TensorProto.FLOAT16} else "inputs or outputs are not float16"))
    report, wrong = tool.report(place, "--bench", "--seconds", "0.05", "--report", place / "r.json")
    fine = report and report["us_before"] > 0 and any("us_after" in layer for layer in report["layers"]) and json.loads((place / "r.json").read_text())["model"]
    fine = fine and all(0 < layer["share"] < 1.5 for layer in report["layers"] if "us_after" in layer)
    count.add("bench", wrong or (None if fine else "no times"))
    report, wrong = tool.report(place, "--report", place / "r.html")
    page = (place / "r.html").read_text() if report else ""
    shown = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1)) if page else {"layers": []}
    pictured = [layer for layer in shown["layers"] if "weights" in layer]
    counted = all(4 * sum(layer["weights"]["counts"]) == layer["weight_bytes_before"] and sum(layer["reads"]["counts"]) > 0 and layer["reads"]["low"] < layer["reads"]["high"] for layer in pictured)
    count.add("page", wrong or (None if len(pictured) == len(report["layers"]) and counted and page.startswith("<!DOCTYPE html>") else f"{shown['layers']}"))


def layered(own):
    """A table, a convolution, products of which some are much more sensitive than others, and a GRU."""
    w = lambda *shape: own.normal(0, 0.3, shape).astype(np.float32)
    g = Graph(17, x=[1, 8, 16, 16])
    y = g.add("Relu", g.add("Conv", "x", w(32, 8, 3, 3), w(32), pads=[1, 1, 1, 1]))
    y = g.add("Reshape", y, np.array([16, 1, 512], np.int64))
    y, _ = g.add("GRU", y, w(1, 192, 512) / 8, w(1, 192, 64) / 2, w(1, 384), hidden_size=64, outputs=2)
    y = g.add("Reshape", y, np.array([16, 64], np.int64))
    rows = g.add("Gather", own.normal(0, 0.3, (4096, 64)).astype(np.float32), g.add("ArgMax", g.add("Reshape", "x", np.array([16, 128], np.int64)), axis=1, keepdims=0))
    y = g.add("Add", y, rows)
    for scale in 1, 1, 8:  # a product of which the largest weights stand alone loses most
        weight = w(64, 64) / 4
        weight[3, 5] *= scale * 4
        y = g.add("Relu", g.add("Add", g.add("MatMul", y, weight), w(64) / 4))
    return g.model(g.add("Gemm", y, w(64, 10), w(10)))


def check_mixed(tool, count):
    """Each budget holds, of the file and of the model that is read from it; more room means less loss; what cannot be is refused with the least that can."""
    own = np.random.default_rng(5)
    model = layered(own)
    samples = [own.normal(size=(1, 8, 16, 16)).astype(np.float32) for _ in range(4)]
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info(model.graph.output[0].name, FLOAT, [16, 10]))
    place = tool.place(model, samples)
    whole, want = (place / "m.onnx").stat().st_size, [session(model).run(None, {"x": x})[0] for x in samples]

    def mixed(*flags):
        report, wrong = tool.report(place, "--scheme", "mixed", *flags)
        if wrong:
            return None, wrong
        quantized = onnx.load(place / "q.onnx")
        onnx.checker.check_model(quantized, full_check=True)
        got = [session(quantized).run(None, {"x": x})[0] for x in samples]
        least = cosine(np.concatenate(want), np.concatenate(got))
        if abs(least - report["cosine"]) > 1e-3 * (1 - least) + 2e-4:
            return None, f"cosine {least} in ONNX Runtime, {report['cosine']} in the report"
        if (place / "q.onnx").stat().st_size != report["bytes_after"]:
            return None, "the file has another size than is said"
        report["forms"] = [layer["scheme"] for layer in report["layers"]]
        return report, None

    last = 2
    for part in 0.26, 0.3, 0.5, 2:
        report, wrong = mixed("--size", int(whole * part))
        fine = report and report["bytes_after"] <= whole * part and 1 - report["cosine"] <= last + 1e-6
        count.add(f"mixed, {part} of the size", wrong or (None if fine else f"{report}"))
        last = 1 - report["cosine"] if report else last
    count.add("mixed, all the size there is", None if set(report["forms"]) == {"float"} and report["cosine"] > 0.999999 else f"{report}")
    count.add("mixed, that nothing is quantized", None if "all layers stay in float" in tool.quantize(place, "--scheme", "mixed", "--size", "9M").stderr else "is not said")
    report, wrong = mixed("--size", int(whole * 0.3), "--max-drop", 0.01)
    count.add("mixed, two budgets", wrong or (None if report["bytes_after"] <= whole * 0.3 and 1 - report["cosine"] <= 0.01 and len(set(report["forms"])) > 1 else f"{report}"))
    report, wrong = mixed("--max-drop", 0.002, "--latency", "1s")
    count.add("mixed, the smallest", wrong or (None if 1 - report["cosine"] <= 0.002 and report["bytes_after"] < whole * 0.4 else f"{report}"))
    report, wrong = mixed("--size", int(whole * 0.254))
    table = [layer for layer in report["layers"] if layer["operator"] == "Gather"] if report else []
    count.add("mixed, a small table", wrong or (None if table and table[0]["scheme"] in ("int8-weights", "int4") and "int4" in report["forms"] else f"{report}"))
    for flags, text in (["--size", "9K"], "no forms of its layers keep to the budgets; with the last ones that were tried the file has "), (["--latency", "0.001us"], "keep to the budgets; with the least of each alone a run takes "), (["--size", int(whole * 0.26), "--max-drop", "1e-9"], "keep to the budgets; "), ([], "--scheme mixed is for a budget: give --max-drop, --size or --latency"), (["--size", "3L"], "'3L' is no number of bytes"), (["--latency", "3"], "'3' is no time, such as 150us or 2.5ms"):
        done = tool.quantize(place, "--scheme", "mixed", *flags)
        count.add(f"mixed, refused {flags}", None if done.returncode == 1 and text in done.stderr else f"exit {done.returncode}: {done.stderr}")
    # What is said to be the least is within 1 % of what can be had, and so is every size above it.
    said = tool.quantize(place, "--scheme", "mixed", "--size", "9K").stderr
    least = int(re.search(r"the file has ([\d,]+) bytes", said).group(1).replace(",", ""))
    for part in 1.01, 1.02, 1.05, 1.1:
        report, wrong = mixed("--size", int(least * part))
        count.add(f"mixed, {part} of the least", wrong)
    done = tool.quantize(place, "--size", "1M")
    count.add("a budget of int8", None if "--size has no effect on --scheme int8: it is for mixed" in done.stderr else done.stderr)


def spread(own):
    """A convolution, a depthwise one and another, whose channels have been multiplied by 1/16 to 16 and divided again behind them; with a Clip between two there is no way for such a factor."""
    factor = np.exp2(own.integers(-4, 5, 16)).astype(np.float32)
    w = lambda *shape: own.normal(0, 0.4, shape).astype(np.float32)
    g = Graph(13, x=[1, 4, 9, 9])
    y = g.add("Relu", g.add("Conv", "x", w(16, 4, 1, 1) * factor.reshape(16, 1, 1, 1), w(16) * factor))
    y = g.add("Relu", g.add("Conv", y, w(16, 1, 3, 3) / factor.reshape(16, 1, 1, 1), w(16), group=16, pads=[1, 1, 1, 1]))
    return g.model(g.add("Conv", y, w(6, 16, 1, 1)))


def check_equalized(tool, count):
    """Channels of a depthwise layer that are spread get ranges that are alike, in the weights alone: the file has no node for it."""
    own = np.random.default_rng(12)
    model, samples = spread(own), [own.normal(size=(1, 4, 9, 9)).astype(np.float32) for _ in range(4)]
    place = tool.place(model, samples)
    bare, wrong = tool.report(place, "--method", "min-max", "--smooth", "0")
    report, more = tool.report(place)
    ops = [node.op_type for node in onnx.load(place / "q.onnx").graph.node if "Linear" not in node.op_type]
    fine = report and 1 - report["cosine"] < (1 - bare["cosine"]) / 3 and ops == [node.op_type for node in model.graph.node]
    count.add("spread channels", wrong or more or (None if fine else f"cosine {report['cosine']}, without {bare['cosine']}, nodes {ops}"))
    clipped = spread(np.random.default_rng(12))
    clipped.graph.node[1].op_type = "Clip"
    clipped.graph.initializer.extend([numpy_helper.from_array(np.float32(0), "least"), numpy_helper.from_array(np.float32(6), "most")])
    clipped.graph.node[1].input.extend(["least", "most"])
    report, wrong = tool.report(tool.place(clipped, samples))
    smoothed = [layer["name"] for layer in report["layers"] if "smoothing" in layer] if report else []
    count.add("nothing goes through a Clip", wrong or (None if "Conv_2" not in smoothed else f"{smoothed} are smoothed"))


def language():
    """A table of words, a layer of attention over what came before, and scores of the next word."""
    own, width = np.random.default_rng(15), 32
    w = lambda *shape: own.normal(0, 0.2, shape).astype(np.float32)
    g = Graph(17, x=[1, 6])
    x = g.add("Gather", 5 * w(2500, width), "x")
    normal = g.add("LayerNormalization", x, np.ones(width, np.float32), w(width))
    q, k, v = (g.add("MatMul", normal, w(width, width)) for _ in range(3))
    scores = g.add("Add", g.add("MatMul", q, g.add("Transpose", k, perm=[0, 2, 1])), np.triu(np.full((6, 6), -1e4, np.float32), 1))
    x = g.add("Add", x, g.add("MatMul", g.add("Softmax", scores, axis=-1), v))
    model = g.model(g.add("MatMul", g.add("LayerNormalization", x, np.ones(width, np.float32), w(width)), w(width, 2500)))
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    return model, [own.integers(0, 2500, (1, 6)) for _ in range(4)]


def check_readme(tool, count):
    """What the README says that somebody types is one line, the same for all models, and does to each what it says."""
    readme = (pathlib.Path(__file__).resolve().parents[2] / "README.md").read_text()
    lines = re.findall(r"^\| `ingot (quantize [^`]*)` \| (.*) \|$", readme, re.MULTILINE)
    count.add("one line", None if len(lines) == 1 and "CNN, transformer, recurrent or language model" in lines[0][1] else f"{lines}")
    kinds = {"CNN": (cnn(), [f(1, 3, 13, 17) for _ in range(4)]), "transformer": (transformer(), [f(2, 7, 32) for _ in range(4)]), "recurrent": (recurrent(), [f(6, 2, 24) for _ in range(4)]), "language model": language()}
    for kind, (model, samples) in kinds.items():
        shape = session(model).run(None, {"x": samples[0]})[0].shape
        model.graph.output[0].CopyFrom(helper.make_tensor_value_info(model.graph.output[0].name, FLOAT, shape))
        place = tool.place(model, [])
        (place / "data").mkdir()
        for number, sample in enumerate(samples):
            np.save(place / "data" / f"{number}.npy", sample)
        words = [{"M.onnx": place / "m.onnx", "DIR": place / "data", "Q.onnx": place / "q.onnx"}.get(word, word) for word in lines[0][0].split()]
        done = subprocess.run([tool.ingot, *words, "--json"], capture_output=True, text=True)
        report = json.loads(done.stdout) if done.returncode == 0 else {"layers": []}
        fine = report["layers"] and all(layer["quantized"] for layer in report["layers"]) and report["cosine"] > 0.995
        if fine:
            onnx.checker.check_model(onnx.load(place / "q.onnx"), full_check=True)
            want, got = (np.concatenate([session(onnx.load(path)).run(None, {"x": x})[0].ravel() for x in samples]) for path in (place / "m.onnx", place / "q.onnx"))
            fine = cosine(want, got) > 0.995 and report["bytes_after"] < report["bytes_before"] / 1.5
        count.add(f"the README's line, {kind}", None if fine else f"exit {done.returncode}: {done.stderr}{report}")


if __name__ == "__main__":
    run(__doc__, "choices", check_choices, check_mixed, check_equalized, check_readme)
