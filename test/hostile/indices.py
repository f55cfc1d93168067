"""Values that become addresses while a model runs: a bad one ends the run with an error that names the node, whatever the target.

    indices.py --ingot build/bin/ingot [--target T]

For each operator that has such an operand: a good one passes, and each bad one, put at the first or the last place, is refused by the node's name.
OneHot and Trilu take any number: there a strange one is right.
"""
import os
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import ingot_run
import numpy as np
import onnx
from onnx import helper, numpy_helper

FAR = [2**31 - 1, -(2**31)]  # what both integer types hold
X = np.arange(24, dtype=np.float32).reshape(4, 6)
SEQUENCE = np.ones((3, 2, 4), np.float32)


def recurrent(op, gates):
    weights = [np.full((1, gates * 5, 4), 0.1, np.float32), np.full((1, gates * 5, 5), 0.1, np.float32), np.zeros((1, gates * 10), np.float32)]
    return op, [SEQUENCE, *weights, np.array([3, 2], np.int32)], 4, [-1, 4, *FAR], {"hidden_size": 5}, 13


def cases():
    """(operator, inputs, which input is the index, bad values, attributes, opset)"""
    for kind in (np.int32, np.int64):
        rows = np.array([[0, 3], [1, -4]], kind)
        yield "Gather", [X, rows], 1, [4, -5, *FAR], {"axis": 0}, 13
        yield "Gather", [X, np.array(2, kind)], 1, [6, -7, *FAR], {"axis": 1}, 13
        yield "GatherElements", [X, rows], 1, [6, -7, *FAR], {"axis": 1}, 13
        yield "ScatterElements", [X, rows, np.ones((2, 2), np.float32)], 1, [4, -5, *FAR], {"axis": 0}, 13
        yield "Scatter", [X, np.array([[0, 3], [1, 2]], kind), np.ones((2, 2), np.float32)], 1, [4, *FAR], {"axis": 0}, 9
        yield "CumSum", [X, np.array(1, kind)], 1, [2, -3, *FAR], {}, 14
        yield "CumProd", [X, np.array(1, kind)], 1, [2, -3, *FAR], {}, 26
        yield "NegativeLogLikelihoodLoss", [X, np.array([0, 5, 2, 1], kind)], 1, [6, -7, *FAR], {}, 13
    tuples = np.array([[0, 3], [3, 1]])
    yield "GatherND", [X, tuples], 1, [6, -7, *FAR, 2**62, -(2**63)], {}, 13
    yield "GatherND", [X, tuples[:, :1]], 1, [4, -5, *FAR, 2**62, -(2**63)], {}, 13
    yield "ScatterND", [X, tuples, np.ones(2, np.float32)], 1, [6, -7, *FAR, 2**62, -(2**63)], {}, 13
    yield "ScatterND", [X, tuples[:, :1], np.ones((2, 6), np.float32)], 1, [4, -5, *FAR, 2**62, -(2**63)], {}, 13
    yield "MaxUnpool", [np.ones((1, 1, 2, 2), np.float32), np.array([[[[0, 5], [10, 15]]]])], 1, [16, -17, *FAR, 2**62, -(2**63)], {"kernel_shape": [2, 2], "strides": [2, 2]}, 11
    yield "Gather", [X, np.array([1, 2])], 1, [2**62, -(2**63)], {}, 13
    yield "ReverseSequence", [X, np.array([4, 2, 3, 1, 1, 4])], 1, [5, *FAR, 2**62], {}, 13
    yield "RoiAlign", [np.ones((2, 3, 4, 5), np.float32), np.ones((3, 4), np.float32), np.array([0, 1, 0])], 2, [-1, 2, *FAR, 2**62, -(2**63)], {}, 16
    yield "OneHot", [np.array([0, 2, 1]), np.array(3), np.array([0, 1], np.float32)], None, [3, -4, *FAR, 2**62], {}, 13
    yield "Trilu", [X, np.array(1)], None, [9, -9, *FAR, 2**62, -(2**63)], {}, 14
    yield from (recurrent(op, gates) for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)))


def bad_operands(good, values):
    for value in values:
        for place in {0, good.size - 1}:
            operand = good.copy()
            operand.reshape(-1)[place] = value
            yield operand


def folder_of(root, op, operands, index, attributes, opset):
    """The model, with the indices as the only input; but OneHot's depth and the weights are constants."""
    free = {index} if index is not None else {0 if op == "OneHot" else 1}
    values = {f"x{k}": operand for k, operand in enumerate(operands)}
    names = [name if not (op in ("LSTM", "GRU", "RNN") and k == 5) else "" for k, name in enumerate(values)]
    graph = helper.make_graph(
        [helper.make_node(op, names, ["y"], name="the_node", **attributes)], "g",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for k, (name, value) in enumerate(values.items()) if k in free or k == 0],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(value, name) for k, (name, value) in enumerate(values.items()) if k not in free and k != 0])  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    data = root / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    (root / "model.onnx").write_bytes(model.SerializeToString())
    return data, [name for name in values if int(name[1:]) in free or name == "x0"], max(free)


def write(data, names, operands):
    for k, name in enumerate(names):
        (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(operands[int(name[1:])], name).SerializeToString())


def box(root, op, places, updates, attributes):
    """Constant indices that count evenly, of data whose rows only the run knows: they are not read, and yet must lie within it. The model's data."""
    kind = helper.np_dtype_to_tensor_dtype(updates.dtype)
    graph = helper.make_graph(
        [helper.make_node(op, ["x0", "x1", "x2"], ["y"], name="the_node", **attributes)], "g",
        [helper.make_tensor_value_info("x0", kind, ["rows", 6]), helper.make_tensor_value_info("x2", kind, updates.shape)],
        [helper.make_empty_tensor_value_info("y")], [numpy_helper.from_array(places, "x1")])  # fmt: skip
    data = root / "test_data_set_0"
    data.mkdir(parents=True)
    (root / "model.onnx").write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString())
    return data


def boxes(count, arguments, scratch):
    tuples = np.stack(np.meshgrid([1, 2, 3], [0, 2, 4], indexing="ij"), -1)
    for op, places, updates, attributes in [
        ("ScatterND", tuples, np.ones((3, 3), np.float32), {}),
        ("ScatterND", tuples[:, :1, :1], np.ones((3, 1, 6), np.float32), {}),
        ("ScatterElements", np.broadcast_to(np.array([[3], [2], [1]]), (3, 5)).copy(), np.ones((3, 5), np.float32), {"axis": 0}),
    ]:
        root = pathlib.Path(scratch, f"box-{op}-{updates.size}")
        data = box(root, op, places, updates, attributes)
        for rows in (0, 1, 3, 4, 5):
            write(data, ["x0", "x1"], [X[:1].repeat(rows, 0), updates])
            verdict, text = ingot_run.run(arguments.ingot, root, root / "out", arguments.target)
            right = verdict == "pass" if rows > 3 else verdict == "refused" and "the_node" in text
            count.add(f"{op} {updates.shape} in {rows} rows", None if right else f"{verdict}: {text}")


def main():
    arguments = ingot_run.parser(__doc__).parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    count = ingot_run.Count("indices")
    with tempfile.TemporaryDirectory(prefix="ingot-indices-") as scratch:
        for number, (op, operands, index, values, attributes, opset) in enumerate(cases()):
            root = pathlib.Path(scratch, f"{op}-{number}")
            data, names, varied = folder_of(root, op, operands, index, attributes, opset)
            write(data, names, operands)
            verdict, text = ingot_run.run(arguments.ingot, root, root / "out", arguments.target)
            count.add(f"{op} {operands[varied].tolist()}", None if verdict == "pass" else f"{verdict}: {text}")
            for operand in bad_operands(operands[varied], values):
                write(data, names, [operand if k == varied else other for k, other in enumerate(operands)])
                verdict, text = ingot_run.run(arguments.ingot, root, root / "out", arguments.target)
                right = verdict == "pass" if index is None else verdict == "refused" and "the_node" in text
                count.add(f"{op} {operand.tolist()}", None if right else f"{verdict}: {text}")
        boxes(count, arguments, scratch)
    count.finish()


if __name__ == "__main__":
    main()
