"""Products of rows with a constant matrix by Strassen's algorithm, which products as small are not by themselves: sizes that fill tiles, panels, blocks and
halves or do not, alone and with what kernels apply behind them, within guard pages; compared with numpy's products of doubles. And larger ones in pieces,
whose bits must not depend on who computes them.

    products.py --ingot build/bin/ingot [--target T] [--every 16] [--first 0] [--guarded RUNNER RUNTIME]

--every N runs each N-th only, from --first on.
"""
import itertools
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import ingot_run
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from open_model import Status
from trial import Compiled

ROWS, DEPTHS, COLUMNS = [2, 3, 7, 13, 31, 64, 97, 150, 261], [8, 24, 40, 64, 136, 200, 520], [17, 31, 33, 64, 65, 70, 100, 131]
BEHIND = ["", "Relu", "residual", "bias", "rows"]
OF_A_MODEL = 20
PIECES = [(521, 512, 512), (128, 512, 1024)]
TOLERANCE = 4e-6  # of the largest result: sums of a product with one half for the other, some times larger


def draws():
    return [(*sizes, BEHIND[k % len(BEHIND)]) for k, sizes in enumerate(itertools.product(ROWS, DEPTHS, COLUMNS))]


class Many:
    """A model of many such products."""

    def __init__(self, ways):
        self.rng = np.random.default_rng(len(ways))
        self.nodes, self.inputs, self.outputs, self.constants, self.feeds, self.wanted = [], [], [], [], [], []
        for k, way in enumerate(ways):
            self.add(k, *way)

    def input(self, name, shape):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        self.feeds.append(self.rng.standard_normal(shape).astype(np.float32))
        return self.feeds[-1].astype(np.float64)

    def add(self, k, rows, depth, columns, behind):
        weights = self.rng.standard_normal([depth, columns]).astype(np.float32)
        self.constants.append(numpy_helper.from_array(weights, f"w{k}"))
        result = self.input(f"x{k}", [rows, depth]) @ weights.astype(np.float64)
        self.nodes.append(helper.make_node("MatMul", [f"x{k}", f"w{k}"], [f"y{k}"], name=f"n{k}"))
        others = {"residual": [rows, columns], "bias": [columns], "rows": [rows, 1]}
        if behind in others:
            result = result + self.input(f"r{k}", others[behind])
            self.nodes.append(helper.make_node("Add", [f"y{k}", f"r{k}"], [f"z{k}"]))
        elif behind:
            result = np.maximum(result, 0)
            self.nodes.append(helper.make_node(behind, [f"y{k}"], [f"z{k}"]))
        self.wanted.append(result)
        self.outputs.append(helper.make_tensor_value_info(f"z{k}" if behind else f"y{k}", TensorProto.FLOAT, [rows, columns]))

    @property
    def model(self):
        graph = helper.make_graph(self.nodes, "products", self.inputs, self.outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def wrong_ones(arguments, ways):
    """A line for each that is wrong."""
    many = Many(ways)
    with tempfile.TemporaryDirectory(prefix="ingot-products-") as scratch:
        folder = pathlib.Path(scratch)
        verdict, why = ingot_run.run_on(arguments, folder, many.model, many.feeds, [result.astype(np.float32) for result in many.wanted])
        if verdict != "pass":
            return [f"{way}: {verdict}: {why}" for way in ways]
        wrong = []
        for k, (way, want) in enumerate(zip(ways, many.wanted, strict=True)):
            error = np.max(np.abs(ingot_run.load(folder / "out" / f"output_{k}.pb") - want)) / np.max(np.abs(want))
            if not error < TOLERANCE:
                wrong.append(f"{way}: an error of {error:.1e}")
        return wrong


def wrong_in_pieces(arguments):
    """The same of products of many work items, of which several write neighbouring rows."""
    wrong = []
    for rows, depth, columns in PIECES:
        many = Many([(rows, depth, columns, "bias")])
        with Compiled(arguments.ingot, many.model, arguments.target, ingot_run.HOW) as compiled:
            feeds = {value.name: array for value, array in zip(many.model.graph.input, many.feeds, strict=True)}
            try:
                compiled.at(feeds)
            except Status as status:
                wrong.append(f"{rows} x {depth} x {columns}: {status}")
    return wrong


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--every", type=int, default=16), parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--guarded", nargs=2, metavar=("RUNNER", "RUNTIME"), help="as run.py has it")
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    ingot_run.HOW[:] = ["--strassen", "on"]
    chosen = draws()[arguments.first :: arguments.every]
    wrong = [line for k in range(0, len(chosen), OF_A_MODEL) for line in wrong_ones(arguments, chosen[k : k + OF_A_MODEL])]
    if "@" not in (arguments.target or ""):
        wrong += wrong_in_pieces(arguments)
    for line in wrong:
        print(line)
    print(f"{len(chosen) - len(wrong)} passed, {len(wrong)} failed")
    sys.exit(len(wrong) > 0)


if __name__ == "__main__":
    main()
