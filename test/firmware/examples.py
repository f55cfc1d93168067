"""Models as firmware has them, on emulated boards by `ingot verify --runner board`: what each takes there, and that it computes what this host computes.

    examples.py --ingot build/bin/ingot [--only REGEX] [--boards all|mps2-an386,...] [--page]

Voice activity and a wake word are convolutions over time, in int8 by `ingot quantize`; gestures are an LSTM over an accelerometer and a gyroscope, in
float32; sensors are a scaler and an ensemble of trees, integers' work but for the thresholds. Weights are drawn with fixed seeds, as sizes and instructions do not
depend on their values. An example in int8 or of trees has to give the host's integers on a board; recorded values are those of onnx's reference
evaluator, of the float model where `ingot quantize` made another of it. Each runs on the boards of its row, or on those of --boards; --page writes the table of
bench/firmware.md.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tools"), str(HERE.parents[1] / "bench")]
import firmware
import ingot_run
import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

BOARDS = HERE.parents[1] / "runtime_support/boards"
PAGE = HERE.parents[1] / "bench/firmware.md"
SAMPLES = 8
MOST_BEHIND_INTEGERS = 1e-6  # what Softmax and Sigmoid may differ in; an integer that is another one makes them differ in more


class Example:
    """A model with its data: what the quantizer looks at, the first of which a board runs."""

    def __init__(self, model, samples, boards, quantizes=False, same_bits=False):
        self.model, self.samples, self.boards, self.quantizes, self.same_bits = model, samples, boards, quantizes, same_bits or quantizes


def voice():
    """Whether somebody speaks, of 32 frames with 40 energies."""
    net = firmware.Network((1, 40, 1, 32), 11)
    for out, stride in (32, 1), (32, 2), (24, 2):
        net.conv(out, (1, 3), stride)
    net.pool(), net.dense(1)
    net.add("Sigmoid", [net.at])
    samples = [net.draw.standard_normal(net.shape).astype(np.float32) for _ in range(SAMPLES)]
    return Example(net.model([net.at]), samples, ["mps2-an386"], quantizes=True)


def wake_word():
    """One of three words, of 98 frames with 16 coefficients: convolutions over time with residual sums."""
    net = firmware.Network((1, 16, 1, 98), 12)
    net.conv(16, (1, 3))
    for out, stride in (24, 2), (32, 2), (48, 2):
        before, channels, size = net.at, net.channels, net.size
        net.conv(out, (1, 9), stride), net.conv(out, (1, 9), relu=False)
        after, net.at, net.channels, net.size = net.at, before, channels, size
        net.conv(out, (1, 1), stride)
        net.add("Add", [after, net.at]), net.add("Relu", [net.at])
    samples = [net.draw.standard_normal(net.shape).astype(np.float32) for _ in range(SAMPLES)]
    return Example(net.classifier(3), samples, ["mps3-an547"], quantizes=True)


def gesture():
    """One of six gestures, of 50 samples of an accelerometer and a gyroscope."""
    draw, hidden, axes, kinds = np.random.default_rng(13), 24, 6, 6
    weights = {"w": draw.standard_normal((1, 4 * hidden, axes)) * 0.4, "r": draw.standard_normal((1, 4 * hidden, hidden)) * 0.2, "b": draw.standard_normal((1, 8 * hidden)) * 0.1,
               "v": draw.standard_normal((hidden, kinds)) * 0.4, "c": draw.standard_normal(kinds) * 0.1}  # fmt: skip
    nodes = [helper.make_node("LSTM", ["x", "w", "r", "b"], ["", "h"], hidden_size=hidden), helper.make_node("Flatten", ["h"], ["f"]),
             helper.make_node("Gemm", ["f", "v", "c"], ["s"]), helper.make_node("Softmax", ["s"], ["y"])]  # fmt: skip
    initializers = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, (50, 1, axes))], [helper.make_tensor_value_info("y", 1, (1, kinds))], initializers)
    sample = draw.standard_normal((50, 1, axes)).astype(np.float32)
    return Example(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), [sample], ["mps2-an505", "virt-rv32"])


def sensors():
    """A reading of eight sensors, scaled, and what an ensemble of 20 trees of depth 4 makes of it."""
    draw, features, trees, depth = np.random.default_rng(14), 8, 20, 4
    inner, leaves = 2**depth - 1, 2**depth
    rows = [(tree, node) for tree in range(trees) for node in range(inner + leaves)]
    isLeaf = [node >= inner for _, node in rows]
    ends = [(tree, node) for tree, node in rows if node >= inner]
    trees_node = helper.make_node(
        "TreeEnsembleRegressor", ["t"], ["y"], domain="ai.onnx.ml", n_targets=1, nodes_treeids=[tree for tree, _ in rows], nodes_nodeids=[node for _, node in rows],
        nodes_featureids=[0 if leaf else int(draw.integers(features)) for leaf in isLeaf], nodes_modes=["LEAF" if leaf else "BRANCH_LEQ" for leaf in isLeaf],
        nodes_values=[0.0 if leaf else float(np.float32(draw.standard_normal())) for leaf in isLeaf], nodes_truenodeids=[0 if leaf else 2 * node + 1 for (_, node), leaf in zip(rows, isLeaf)],
        nodes_falsenodeids=[0 if leaf else 2 * node + 2 for (_, node), leaf in zip(rows, isLeaf)], target_treeids=[tree for tree, _ in ends], target_nodeids=[node for _, node in ends],
        target_ids=[0] * len(ends), target_weights=[float(np.float32(draw.standard_normal())) for _ in ends])  # fmt: skip
    scaler = helper.make_node("Scaler", ["x"], ["t"], domain="ai.onnx.ml", offset=[float(n) for n in range(features)], scale=[0.5 + n / 8 for n in range(features)])
    graph = helper.make_graph([scaler, trees_node], "g", [helper.make_tensor_value_info("x", 1, (1, features))], [helper.make_tensor_value_info("y", 1, (1, 1))])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=9)
    sample = (draw.standard_normal((1, features)) + np.arange(features)).astype(np.float32)
    return Example(model, [sample], ["mps2-an500", "virt-rv64"], same_bits=True)


EXAMPLES = {"voice activity": voice, "wake word": wake_word, "gesture": gesture, "sensors": sensors}


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    return done.returncode, done.stdout, done.stderr


def required(*command):
    code, out, err = call(*command)
    if code:
        sys.exit(f"{' '.join(map(str, command))}\n{out}{err}")


def write(folder, kind, arrays):
    folder.mkdir(parents=True, exist_ok=True)
    for k, array in enumerate(arrays):
        (folder / f"{kind}_{k}.pb").write_bytes(numpy_helper.from_array(np.asarray(array)).SerializeToString())


def prepare(ingot, example, folder):
    """Writes folder/model.onnx and folder/test_data_set_0 with what the model gives; what is wrong with it, or None."""
    made, data = folder / "float", folder / "test_data_set_0"
    for k, sample in enumerate(example.samples):
        write(made / f"test_data_set_{k}", "input", [sample])
    onnx.save(example.model, made / "model.onnx")
    expected = ReferenceEvaluator(example.model).run(None, {example.model.graph.input[0].name: example.samples[0]})
    write(data, "input", example.samples[:1])
    if not example.quantizes:
        shutil.copy(made / "model.onnx", folder / "model.onnx")
        write(data, "output", expected)
        return None
    required(ingot, "quantize", made / "model.onnx", "-o", folder / "model.onnx")
    required(ingot, "run", folder / "model.onnx", "--data", data, "--out", data)
    got = numpy_helper.to_array(onnx.load_tensor(str(data / f"output_{len(expected) - 1}.pb")))
    return None if np.abs(got - expected[-1]).max() < 0.1 else f"int8 gives {got}, and float32 {expected[-1]}"


def lacks(board):
    facts = json.loads((BOARDS / f"{board}.json").read_text())
    return ", ".join(program for program in (facts["compiler"][0], facts["run"][0]) if not shutil.which(program))


def line(name, run):
    stack = f"{run['stack_bytes']:,} | " + ("" if run["stack_bound"] is None else f"{run['stack_bound']:,}")
    bits = "yes" if run["same_bits"] else "no" if run["max_error"] is None else f"within {run['max_error']:.1g}"
    return f"| {name} | `{run['board']}` | `{run['target']}` | {run['flash_bytes']:,} | {run['ram_bytes']:,} | {stack} | {run['instructions']:,} | {bits} |"


def page(lines):
    heads = "| example | board | target | flash | RAM | stack | stack at most | instructions | the host's bits |\n|---|---|---|--:|--:|--:|--:|--:|---|"
    begin, end = "<!-- generated by test/firmware/examples.py --page -->\n", "\n<!-- end of examples -->"
    text = PAGE.read_text()
    PAGE.write_text(text[: text.index(begin) + len(begin)] + "\n".join([heads, *lines]) + text[text.index(end) :])


def main():
    flags = ingot_run.parser(__doc__)
    flags.set_defaults(bare=True)
    flags.add_argument("--only", default=""), flags.add_argument("--boards", default=""), flags.add_argument("--page", action="store_true")
    arguments, lines, count = flags.parse_args(), [], ingot_run.Count("firmware-examples")
    every = sorted(path.stem for path in BOARDS.glob("*.json"))
    with tempfile.TemporaryDirectory(prefix="ingot-examples-") as scratch:
        for name, make in EXAMPLES.items():
            if not re.search(arguments.only, name):
                continue
            example, folder = make(), pathlib.Path(scratch) / name.replace(" ", "-")
            wrong = prepare(arguments.ingot, example, folder)
            boards = every if arguments.boards == "all" or arguments.page else arguments.boards.split(",") if arguments.boards else example.boards
            for board in boards:
                if missing := lacks(board):
                    ingot_run.skip(f"{name} on {board}", f"no {missing} here")
                    continue
                code, out, err = call(arguments.ingot, "verify", folder / "model.onnx", "--runner", f"board {board}", "--json")
                run = json.loads(out)["boards"][0] if code == 0 else None
                if run:
                    lines.append(line(name, run))
                    print(lines[-1], flush=True)
                told = wrong or (f"exit {code}: {out}{err}" if code else None)
                if not told and example.same_bits and not run["same_bits"] and (run["max_error"] is None or run["max_error"] > MOST_BEHIND_INTEGERS):
                    told = f"not the host's integers: floats behind them differ by {run['max_error']}"
                if not told and run["stack_bound"] is not None and not run["stack_bytes"] <= run["stack_bound"]:
                    told = f"{run['stack_bytes']} bytes of stack, and the bound is {run['stack_bound']}"
                count.add(f"{name} on {board}", told)
    if arguments.page:
        page(lines)
    count.finish()


if __name__ == "__main__":
    main()
