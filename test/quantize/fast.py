"""--accuracy fast: products with constant matrices in bfloat16, where the machine has an instruction for them: factors rounded once, sums of float32.

    fast.py --ingot build/bin/ingot [--target T]
"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import ingot_run
import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

random = np.random.default_rng(1)
# rows of x (a name: open, and how many there are), depth, columns, whether the matrix is transposed, operators behind
CASES = [
    ((1,), 64, 48, False, []), ((13,), 30, 17, True, ["Relu"]), ((7, 5), 768, 70, False, ["Add"]), ((100,), 96, 200, True, ["Add", "Relu"]), ((2, 1, 3), 16, 16, False, []),
    (("rows", 1), 256, 130, False, ["Add"]), (("rows", 31), 66, 64, True, []), ((3, 40), 130, 33, False, ["Add"]), ((4,), 31, 40, False, []), ((4,), 40, 9, False, []),
]  # fmt: skip


def halves(array):
    return array.astype(ml_dtypes.bfloat16).astype(np.float64)


def model(rows, depth, columns, turned, behind):
    shape = [rows[0], depth] if isinstance(rows[0], str) else [*rows, depth]
    w, bias = random.standard_normal((columns, depth) if turned else (depth, columns)).astype(np.float32), random.standard_normal(columns).astype(np.float32)
    nodes, at = [], "w"
    if turned:
        nodes.append(helper.make_node("Transpose", ["w"], ["t"]))
        at = "t"
    nodes.append(helper.make_node("MatMul", ["x", at], ["y0"]))
    for k, op in enumerate(behind):
        nodes.append(helper.make_node(op, [f"y{k}"] + ["b"] * (op == "Add"), [f"y{k + 1}"]))
    info = lambda name, dims: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims)
    weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(bias, "b")]
    graph = helper.make_graph(nodes, "fast", [info("x", shape)], [helper.make_empty_tensor_value_info(f"y{len(behind)}")], weights)
    x = random.standard_normal([rows[1] if isinstance(rows[0], str) else size for size in shape[:1]] + [*shape[1:]]).astype(np.float32)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), x, (w.T if turned else w), bias


def expected(x, w, bias, behind, rounded):
    y = halves(x) @ halves(w) if rounded else x.astype(np.float64) @ w.astype(np.float64)
    for op in behind:
        y = y + bias if op == "Add" else np.maximum(y, 0)
    return y


def uses_halves(ingot, path, flags):
    done = subprocess.run([ingot, "compile", path, "--stop-after", "fuse", *flags], capture_output=True, text=True, check=True)
    return "onnx.HalfMatMul" in done.stdout


def check(ingot, flags, case):
    made, x, w, bias = model(*case)
    _, depth, columns, _, behind = case
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        onnx.save(made, path / "m.onnx")
        (path / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
        flags = [*flags, "--accuracy", "fast"]
        rounded = uses_halves(ingot, path / "m.onnx", flags)
        run = subprocess.run([ingot, "run", path / "m.onnx", "--data", path, "--out", path / "out", *flags], capture_output=True, text=True)
        if run.returncode:
            return run.stderr
        got = numpy_helper.to_array(onnx.load_tensor(path / "out" / "output_0.pb"))
    if rounded and (depth % 2 or columns < 16):
        return "a product without a kernel became one of bfloat16"
    want = expected(x, w, bias, behind, rounded)
    error = np.abs(got - want).max() if got.shape == want.shape else np.inf
    return None if error < 2e-6 * depth else f"differs by {error}"


def choices(ingot):
    """Which machines have it, and that nothing else asks for it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "m.onnx")
        onnx.save(model(*CASES[0])[0], path)
        for flags, wanted in (
            (["--target", "cooperlake", "--accuracy", "fast"], True), (["--target", "cooperlake"], False), (["--target", "cooperlake", "--accuracy", "strict"], False),
            (["--target", "cascadelake", "--accuracy", "fast"], False), (["--levels", "x86-64-v4,x86-64-v3", "--accuracy", "fast"], False),
            (["--target", "cooperlake", "--accuracy", "fast", "--emit", "cpp"], False)):  # fmt: skip
            yield f"halves with {' '.join(flags)}", None if uses_halves(ingot, path, flags) == wanted else f"are {'not ' if wanted else ''}used"


def main():
    arguments = ingot_run.parser(__doc__).parse_args()
    count, ingot = ingot_run.Count("fast"), os.path.abspath(arguments.ingot)
    for case in CASES:
        count.add(str(case), check(ingot, ["--target", arguments.target] if arguments.target else [], case))
    for name, problem in choices(ingot):
        count.add(name, problem)
    count.finish()


if __name__ == "__main__":
    main()
