"""Who is right, in run.py: values made wrong on purpose are found, and only ONNX Runtime's own errors are excused."""
import pathlib
import sys
import tempfile

import run  # of this folder; it finds test/tools
import numpy as np
from onnx import numpy_helper

from case import Case, node_by_node

CONSTANT = 0.5


def gemm(rows, depth, columns):
    """A case of one Gemm with beta 0.25; with depth 0 it is 0.25 C, which ONNX Runtime gives as C."""
    case = Case(0, 0)
    case.opset = 13
    operands = [case.tensor(np.ones((rows, depth), np.float32)), case.tensor(np.ones((depth, columns), np.float32), True), case.tensor(np.full(columns, CONSTANT, np.float32), True)]
    return case, case.node("Gemm", operands, beta=0.25)[0]


def verdict(expected, got):
    """What run.py says of a Gemm over three values when `expected` was recorded and `got` came out; 3 + beta * 0.5 is right."""
    case, value = gemm(2, 3, 4)
    value.array = np.full((2, 4), expected, np.float32)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "case"
        model = case.model([value.name])
        run.save(folder, case, model, [value.name])
        (folder / "out").mkdir()
        (folder / "out" / "output_0.pb").write_bytes(numpy_helper.from_array(np.full((2, 4), got, np.float32), value.name).SerializeToString())
        return run.decide(model, case.feeds(), folder, folder / "out")[0]


def main():
    right = 3 + 0.25 * CONSTANT
    checks = {
        "both right": (verdict(right, right), "pass"),
        "ingot wrong": (verdict(right, right + 0.25), "wrong"),
        "ONNX Runtime wrong": (verdict(right + 0.25, right), "disputed"),
        "both wrong, each in its way": (verdict(right + 0.25, right + 0.5), "wrong"),
        "sums of nothing": (gemm(2, 0, 4)[1].array.tolist(), [[0.25 * CONSTANT] * 4] * 2),
    }
    case = Case(0, 0)
    case.opset = 18
    reduced = case.node("ReduceL2", [case.tensor(np.zeros((33, 0), np.float32)), case.ints([0, 1])])[0]
    checks["reduced axes of nothing"] = (reduced.shape, [1, 1])
    case = Case(0, 0)
    case.opset = 13
    larger = case.node("Max", [case.tensor(np.ones((1, 1), np.int64)), case.tensor(np.full((1, 1, 1, 2), 1 << 31, np.int64))])[0]
    checks["integers of more than 32 bits"] = (node_by_node(case.model([larger.name]), case.feeds())[0].tolist(), [[[[1 << 31] * 2]]])
    failed = {name: pair for name, pair in checks.items() if pair[0] != pair[1]}
    for name, (got, wanted) in failed.items():
        print(f"{name}: {got}, expected {wanted}")
    print(f"{len(checks) - len(failed)} passed, {len(failed)} failed, 0 skipped")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
