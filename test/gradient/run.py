"""Gradient: what ingot computes beside central differences of the same model in onnx's reference evaluator, both in float64.

    run.py --ingot build/bin/ingot [--only Conv,Gemm] [--seed 0]

A case is a graph from inputs to y; what is differentiated is the sum of y times random weights, so that no element counts as another."""
import os
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import ingot_run
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

D = np.float64
TRAINING = "ai.onnx.preview.training"


def apart(shape, rng):
    """Numbers none of which are near another, or near 0, where extremes and kinks are."""
    values = rng.permutation(np.arange(int(np.prod(shape)))) + 1.0
    return (values * rng.choice([-1, 1], values.shape) * 0.11).reshape(shape)


def between(low, high):
    return lambda shape, rng: rng.uniform(low, high, shape)


def one(op, numbers=apart, shape=(3, 5), **attributes):
    """An operator of one operand."""
    return [("x", shape, numbers)], [], [helper.make_node(op, ["x"], ["y"], **attributes)]


def two(op, left, right, numbers=between(0.5, 2), **attributes):
    return [("x", left, numbers), ("w", right, numbers)], [], [helper.make_node(op, ["x", "w"], ["y"], **attributes)]


def given(inputs, constants, *nodes):
    """Operands by their shapes, constants by their values."""
    return [(name, shape, apart) for name, shape in inputs.items()], [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()], list(nodes)


NODE = helper.make_node
CASES = {
    **{op: one(op) for op in ["Identity", "Neg", "Abs", "Exp", "Sin", "Cos", "Sinh", "Cosh", "Tanh", "Sigmoid", "Softplus", "Softsign", "Erf", "Relu", "Reciprocal", "Atan"]},
    **{op: one(op, between(0.2, 0.9)) for op in ["Log", "Sqrt", "Tan", "Asin", "Acos"]},
    "LeakyRelu": one("LeakyRelu", alpha=0.25), "Elu": one("Elu", alpha=0.5), "Swish": one("Swish", alpha=1.5),
    "Softmax": one("Softmax", axis=1), "LogSoftmax": one("LogSoftmax", axis=0), "Flatten": one("Flatten", shape=(2, 3, 4), axis=2), "Transpose": one("Transpose", shape=(2, 3, 4), perm=[2, 0, 1]),
    "Transpose back": one("Transpose"),
    **{f"{op} {len(right)}": two(op, left, right) for op in ["Add", "Sub", "Mul", "Div", "Pow"] for left, right in [((3, 5), (5,)), ((3, 1), (1, 5)), ((4,), (2, 3, 4)), ((3, 5), ())]},
    "Max": two("Max", (3, 5), (5,)), "Min": two("Min", (3, 5), (3, 1)), "Sum": two("Sum", (3, 5), (5,)), "Mean": two("Mean", (3, 5), (5,)),
    "Where": given({"x": (3, 5), "w": (5,)}, {"c": np.arange(15).reshape(3, 5) % 2 == 0}, NODE("Where", ["c", "x", "w"], ["y"])),
    "Clip": given({"x": (3, 5)}, {"low": -0.5, "high": 0.8}, NODE("Clip", ["x", "low", "high"], ["y"])),
    "MatMul": two("MatMul", (3, 4), (4, 5)), "MatMul batches": two("MatMul", (2, 3, 4), (4, 5)), "MatMul both": two("MatMul", (2, 1, 3, 4), (3, 4, 2)),
    **{f"Gemm {a}{b}": ([("x", (4, 3) if a else (3, 4), apart), ("w", (5, 4) if b else (4, 5), apart), ("c", (5,), apart)], [], [NODE("Gemm", ["x", "w", "c"], ["y"], transA=a, transB=b, alpha=0.5, beta=2.0)]) for a in (0, 1) for b in (0, 1)},
    "Conv": given({"x": (2, 3, 7, 6), "w": (4, 3, 3, 2), "b": (4,)}, {}, NODE("Conv", ["x", "w", "b"], ["y"], strides=[2, 1], pads=[1, 0, 1, 1])),
    "Conv dilated": given({"x": (1, 2, 9), "w": (3, 2, 3)}, {}, NODE("Conv", ["x", "w"], ["y"], dilations=[2], strides=[2])),
    "MaxPool": one("MaxPool", shape=(2, 2, 6, 7), kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 0, 1]),
    "AveragePool": one("AveragePool", shape=(2, 2, 6, 7), kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 0, 1]),
    "AveragePool padded": one("AveragePool", shape=(2, 2, 6, 7), kernel_shape=[3, 2], pads=[1, 0, 0, 1], count_include_pad=1),
    "GlobalAveragePool": one("GlobalAveragePool", shape=(2, 3, 4, 5)),
    **{f"{op} {keep}": given({"x": (2, 3, 4)}, {"axes": [0, 2]}, NODE(op, ["x", "axes"], ["y"], keepdims=keep)) for op in ["ReduceSum", "ReduceMean", "ReduceSumSquare"] for keep in (0, 1)},
    "ReduceMean all": one("ReduceMean"),
    "Reshape": given({"x": (2, 6)}, {"shape": [3, 4]}, NODE("Reshape", ["x", "shape"], ["y"])), "Squeeze": given({"x": (2, 1, 3)}, {"axes": [1]}, NODE("Squeeze", ["x", "axes"], ["y"])),
    "Unsqueeze": given({"x": (2, 3)}, {"axes": [0, 2]}, NODE("Unsqueeze", ["x", "axes"], ["y"])), "Expand": given({"x": (3, 1)}, {"shape": [2, 3, 4]}, NODE("Expand", ["x", "shape"], ["y"])),
    "Concat": given({"x": (2, 3), "w": (2, 4)}, {}, NODE("Concat", ["x", "w"], ["y"], axis=1)), "Gather": given({"x": (5, 3)}, {"i": [[0, 2], [2, 4]]}, NODE("Gather", ["x", "i"], ["y"])),
    "Cast": given({"x": (3, 5)}, {}, NODE("Exp", ["x"], ["e"]), NODE("Cast", ["e"], ["y"], to=TensorProto.DOUBLE)),
    "used twice": given({"x": (3, 5)}, {}, NODE("Exp", ["x"], ["e"]), NODE("Sin", ["x"], ["s"]), NODE("Mul", ["e", "s"], ["p"]), NODE("Add", ["p", "e"], ["y"])),
    "network": ([("x", (2, 1, 8, 8), apart), *[(name, shape, between(-0.3, 0.3)) for name, shape in (("w", (3, 1, 3, 3)), ("v", (27, 4)), ("b", (4,)))]], [],
                [NODE("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]), NODE("Tanh", ["a"], ["t"]), NODE("MaxPool", ["t"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
                 NODE("AveragePool", ["m"], ["p"], kernel_shape=[2, 2]), NODE("Flatten", ["p"], ["f"]), NODE("Gemm", ["f", "v", "b"], ["g"]), NODE("LogSoftmax", ["g"], ["y"], axis=1)]),
}  # fmt: skip


def opsets(version):
    return [helper.make_opsetid("", version), helper.make_opsetid(TRAINING, 1)]


def loss(inputs, constants, nodes, rng):
    """The model whose one output is the sum of y times weights, and the inputs."""
    swish = any(node.op_type == "Swish" for node in nodes)
    infos = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, shape) for name, shape, _ in inputs]
    arrays = {name: np.asarray(numbers(shape, rng), D) for name, shape, numbers in inputs}
    plain = helper.make_model(helper.make_graph(nodes, "y", infos, [helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)], constants), opset_imports=opsets(24 if swish else 22), ir_version=10)
    y = ReferenceEvaluator(plain).run(None, arrays)[0]
    weights = numpy_helper.from_array(rng.uniform(0.5, 1.5, np.shape(y)), "weights")
    nodes = [*nodes, NODE("Mul", ["y", "weights"], ["weighed"]), NODE("ReduceSum", ["weighed"], ["loss"], keepdims=0)]
    graph = helper.make_graph(nodes, "loss", infos, [helper.make_tensor_value_info("loss", TensorProto.DOUBLE, [])], [*constants, weights])
    return helper.make_model(graph, opset_imports=plain.opset_import, ir_version=10), arrays


def differences(model, arrays, step):
    evaluator = ReferenceEvaluator(model)
    found = []
    for name, array in arrays.items():
        slopes = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            both = []
            for sign in (1, -1):
                moved = array.copy()
                moved[place] += sign * step
                both.append(float(evaluator.run(None, {**arrays, name: moved})[0]))
            slopes[place] = (both[0] - both[1]) / (2 * step)
        found.append(slopes)
    return found


def with_gradient(model, names, elsewhere):
    """With the derivatives as outputs; `elsewhere`: at a place that is not the model's own."""
    made = onnx.ModelProto.FromString(model.SerializeToString())
    inputs = [f"{name}_there" for name in names] if elsewhere else list(names)
    for name, there in zip(names, inputs) if elsewhere else ():
        info = next(value for value in made.graph.input if value.name == name)
        copy = made.graph.input.add()
        copy.CopyFrom(info)
        copy.name = there
    made.graph.node.append(NODE("Gradient", inputs, [f"d_{name}" for name in names], domain=TRAINING, xs=list(names), y="loss"))
    made.graph.output.extend(helper.make_tensor_value_info(f"d_{name}", TensorProto.DOUBLE, None) for name in names)
    return made


def tried(arguments, name, elsewhere):
    rng = np.random.default_rng([arguments.seed, *name.encode()])
    model, arrays = loss(*CASES[name], rng)
    coarse = name == "Erf"  # which the reference computes in float32
    wanted = differences(model, arrays, 1e-3 if coarse else 1e-5)
    made = with_gradient(model, list(arrays), elsewhere)
    feeds = list(arrays.values())
    if elsewhere:  # the model itself is computed somewhere else
        feeds = [np.full_like(array, 0.37) for array in feeds] + feeds
    with tempfile.TemporaryDirectory(prefix="ingot-gradient-") as scratch:
        folder = pathlib.Path(scratch)
        data = folder / "test_data_set_0"
        data.mkdir()
        (folder / "model.onnx").write_bytes(made.SerializeToString())
        for k, array in enumerate(feeds):
            (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
        verdict, text = ingot_run.run(arguments.ingot, folder, folder / "out", arguments.target)
        if verdict != "pass":
            return text
        for k, (want, at) in enumerate(zip(wanted, arrays)):
            got = ingot_run.load(folder / "out" / f"output_{k + 1}.pb")
            if text := ingot_run.difference(got, want, *((1e-3, 1e-3) if coarse else (1e-6, 1e-6))):
                return f"by {at}: {text}"
    return None


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    count = ingot_run.Count("gradients")
    for name in arguments.only.split(",") if arguments.only else CASES:
        for elsewhere in (False, True) if name in ("network", "used twice", "Gemm 01") else (False,):
            count.add(f"{name}{' elsewhere' if elsewhere else ''}", tried(arguments, name, elsewhere))
    count.finish()


if __name__ == "__main__":
    main()
