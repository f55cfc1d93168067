"""Random graphs whose shapes only the run knows: axes that broadcast where they are 1 (each axis of each input a symbol of its own), and branches that give
other shapes, other ranks as well. Compiled once, run at sizes that fit and at sizes that do not.

    shapes.py --ingot build/bin/ingot [--cases 60] [--seed 1] [--first N] [--only INDEX] [--target T] [-j 2] [--save DIR]

A run is right when it gives what ONNX Runtime gives, or an error value where ONNX Runtime gives an error.
"""
import collections
import concurrent.futures
import os
import pathlib
import random
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import ingot_run
import numpy as np
import onnx
import peer
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from open_model import OpenModel, Refused, Status

FLOAT, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.BOOL
SIZES = [2, 3, 5, 7, 8, 13, 16, 17, 33]
TURNS = 8


class Graph:
    """`values` have ranks; `symbols` have groups, whose sizes are mostly equal."""

    def __init__(self, rng):
        self.rng, self.count, self.nodes, self.inputs, self.constants, self.values, self.symbols = rng, 0, [], [], [], [], {}

    def op(self, kind, *inputs, **attributes):
        self.count += 1
        name = f"v{self.count}_{kind.lower()}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=f"n{self.count}", **attributes))
        return name

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def input(self, groups, element=FLOAT):
        name, shape = f"x{len(self.inputs)}", []
        for axis, group in enumerate(groups):
            known = self.rng.random()
            if known < 0.12:
                shape.append(self.rng.choice([1, 3, 8]))
                continue
            symbol = group if known < 0.3 else f"{name}d{axis}"
            self.symbols[symbol] = group
            shape.append(symbol)
        self.inputs.append(helper.make_tensor_value_info(name, element, shape))
        return name

    def groups(self, rank):
        return [f"g{i}" for i in range(4 - rank, 4)]

    def operand(self, rank):
        """Something that is there already, or an input."""
        known = [value for value, its in self.values if its == rank]
        return self.rng.choice(known) if known and self.rng.random() < 0.6 else self.input(self.groups(rank))

    def add(self, value, rank):
        self.values.append((value, rank))
        return value

    def elementwise(self):
        ranks = [self.rng.choice([0, 1, 2, 2, 3, 4]) for _ in range(3)]
        kind = self.rng.choice(["Add", "Mul", "Sub", "Max", "Min", "Where", "PRelu", "Sum"])
        operands = [self.operand(rank) for rank in ranks[: 3 if kind in ("Max", "Min", "Where", "Sum") else 2]]
        if kind == "Where":
            operands[0] = self.input(self.groups(ranks[0]), BOOL)
        if kind == "PRelu" and ranks[1] > ranks[0]:
            operands.reverse(), ranks.sort(reverse=True)
        self.add(self.op(kind, *operands), max(ranks[: len(operands)]))

    def matmul(self):
        a, b = self.rng.choice([2, 3, 4]), self.rng.choice([2, 3, 4])
        x, y = self.input([*self.groups(a)[:-2], "m", "k"]), self.input([*self.groups(b)[:-2], "k", "n"])
        bias = self.op("Add", self.op("MatMul", x, y), self.input(["n"]))
        self.add(self.op("Relu", bias), max(a, b)) if self.rng.random() < 0.5 else self.add(bias, max(a, b))

    def gemm(self):
        c = self.rng.choice([["m", "n"], ["n"], []])
        self.add(self.op("Gemm", self.input(["m", "k"]), self.input(["k", "n"]), self.input(c), beta=0.5), 2)

    def expand(self):
        x, y = self.rng.choice([1, 2, 3]), self.rng.choice([1, 2, 3])
        shape = self.op("Shape", self.operand(y))
        self.add(self.op("Expand", self.operand(x), shape), max(x, y))

    def along(self):
        rank = self.rng.choice([1, 2, 3])
        x = self.operand(rank)
        kind = self.rng.choice(["Softmax", "ReduceMean", "ReduceMax", "Transpose", "Neg", "Concat"])
        if kind == "Transpose":
            return self.add(self.op(kind, x, perm=[*range(rank)][::-1]), rank)
        if kind.startswith("Reduce"):
            return self.add(self.op(kind, x, axes=[self.rng.randrange(rank)], keepdims=1), rank)
        if kind == "Concat":
            return self.add(self.op(kind, x, x, axis=self.rng.randrange(rank)), rank)
        return self.add(self.op(kind, x), rank)

    def inside(self, make):
        outer, self.nodes = self.nodes, []
        result = make()
        inner, self.nodes = self.nodes, outer
        return helper.make_graph(inner, f"b{self.count}", [], [helper.make_tensor_value_info(result, FLOAT, None)])

    def branch(self):
        """If branches of other sizes, or with an axis less; behind one that squeezes ranks come together again, or do not."""
        rank = self.rng.choice([2, 3])
        x = self.operand(rank)
        axis = self.rng.randrange(rank)
        size = self.op("Gather", self.op("Shape", x), self.constant(np.int64(axis)), axis=0)
        condition = self.op("Equal", size, self.constant(np.int64(self.rng.choice([1, 1, 1, 3]))))
        squeezes = self.rng.random() < 0.6
        axes = self.constant(np.int64([axis]))
        then = self.inside(lambda: self.op("Squeeze", x, axes) if squeezes else self.op("Concat", x, x, axis=axis))
        other = self.inside(lambda: self.op(self.rng.choice(["Identity", "Neg"]), x))
        y = self.op("If", condition, then_branch=then, else_branch=other)
        if not squeezes:
            return self.add(y, rank)
        for _ in range(self.rng.randrange(3)):
            y = self.op("Mul", y, self.constant(np.float32(1.5))) if self.rng.random() < 0.5 else self.op("Relu", y)
        how = self.rng.choice(["flat", "mean", "add"])
        if how == "flat":
            return self.add(self.op("Reshape", y, self.constant(np.int64([-1]))), 1)
        if how == "mean":
            return self.add(self.op("ReduceMean", y, keepdims=0), 0)
        return self.add(self.op("Reshape", self.op("Add", y, self.input(["g3"])), self.constant(np.int64([1, -1]))), 2)

    def squeeze(self):
        """Every axis that is 1 goes."""
        y = self.op("Squeeze", self.operand(self.rng.choice([1, 2])))
        y = self.op("Abs", y) if self.rng.random() < 0.5 else y
        self.add(self.op("Reshape", y, self.constant(np.int64([-1, 1]))), 2)


def build(seed, index):
    rng = random.Random(f"{seed}/{index}/shapes")
    graph = Graph(rng)
    kinds = [Graph.elementwise] * 5 + [Graph.matmul] * 2 + [Graph.gemm, Graph.expand, Graph.along, Graph.along, Graph.branch, Graph.branch, Graph.squeeze]
    for _ in range(rng.randrange(1, 5)):
        rng.choice(kinds)(graph)
    read = {name for node in graph.nodes for name in node.input}
    outputs = [helper.make_tensor_value_info(value, FLOAT, None) for value, _ in dict.fromkeys(graph.values) if value not in read]
    model = helper.make_model(helper.make_graph(graph.nodes, "shapes", graph.inputs, outputs, graph.constants), opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return model, graph.symbols, rng


def sizes_of(symbols, rng, turn):
    """Mostly sizes that fit: those of a group are equal, or 1."""
    usual = {group: rng.choice(SIZES) for group in symbols.values()}
    ones, zero, odd = [(0, 0, 0), (0.3, 0, 0), (0.6, 0, 0), (1, 0, 0), (0.3, 0.4, 0), (0.2, 0, 0.2), (0.5, 0, 0), (0, 0.3, 0)][turn % TURNS]
    usual = {group: 0 if rng.random() < zero else size for group, size in usual.items()}
    return {symbol: 1 if rng.random() < ones else rng.choice(SIZES) if rng.random() < odd else usual[group] for symbol, group in symbols.items()}


def evaluate(model, session, feeds):
    """What the model gives; nothing where it gives an error."""
    try:  # ONNX Runtime has opinions of its own about tensors without elements
        if any(array.size == 0 for array in feeds.values()):
            return ReferenceEvaluator(model).run(None, feeds)
        return session.run(None, feeds)
    except Exception:
        return None


def differs(model, feeds, got, wanted):
    for have, want in zip(got, wanted, strict=True):
        want = np.asarray(want)
        if have.shape != want.shape or not np.allclose(have, want, rtol=1e-4, atol=1e-4, equal_nan=True):
            return f"{have.shape} {have.ravel()[:4]}, expected {want.shape} {want.ravel()[:4]}"
    return None


def check(arguments, index, scratch):
    model, symbols, rng = build(arguments.seed, index)
    try:
        session = peer.session(model)
    except Exception:  # it wants branches that are never taken to be right, too
        return "none", ""
    told = "\n    " + onnx.printer.to_text(model.graph).replace("\n", "\n    ")
    onnx.save(model, pathlib.Path(arguments.save) / f"shapes-{arguments.seed}-{index}.onnx")
    try:
        compiled = OpenModel(arguments.ingot, model, scratch, arguments.target, ())
    except Refused as refused:
        return ("refused" if "exit 1:" in str(refused) else "bug"), str(refused).replace(scratch, "") + told
    declined = 0
    restricted = "are let in" in compiled.warnings  # said, and counted
    for turn in range(TURNS):
        now = sizes_of(symbols, rng, turn)
        numbers = np.random.default_rng(turn)
        feeds = {}
        for value in model.graph.input:
            shape = [now[dim.dim_param] if dim.dim_param else dim.dim_value for dim in value.type.tensor_type.shape.dim]
            array = np.asarray(numbers.standard_normal(shape), np.float32)
            feeds[value.name] = np.asarray(array > 0) if value.type.tensor_type.elem_type == BOOL else array
        wanted = evaluate(model, session, feeds)
        try:
            got = compiled.run(feeds, now)
        except Status as status:
            if not str(status).startswith("status"):
                return "wrong", f"{now}: {status}{told}"
            empty = any(array.size == 0 for array in feeds.values())
            if wanted is not None and not restricted and not empty:
                return "wrong", f"{now}: {status}{told}"
            declined += wanted is not None
            continue
        if wanted is None:
            if any(array.size == 0 for array in feeds.values()):
                continue
            return "wrong", f"{now}: runs, where ONNX Runtime does not{told}"
        if difference := differs(model, feeds, got, wanted):
            return "wrong", f"{now}: {difference}{told}"
    return "declined" if declined else "pass", told if declined else ""


def one(arguments, index):
    with tempfile.TemporaryDirectory(prefix="ingot-shapes-") as scratch:
        try:
            return index, *check(arguments, index, scratch)
        except Exception as error:
            return index, "error", f"{type(error).__name__}: {str(error)[:300]}"


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--cases", type=int, default=60), parser.add_argument("--seed", type=int, default=1), parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int), parser.add_argument("--save", default="build/random")
    arguments = parser.parse_args()
    pathlib.Path(arguments.save).mkdir(parents=True, exist_ok=True)
    arguments.ingot = os.path.abspath(arguments.ingot)
    indices = range(arguments.first, arguments.first + arguments.cases) if arguments.only is None else [arguments.only]
    verdicts, refusals = collections.Counter(), collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(arguments.j) as pool:
        for index, verdict, text in pool.map(one, *zip(*[(arguments, index) for index in indices])):
            verdicts[verdict] += 1
            if verdict == "refused":
                refusals[text.split("error: ")[-1].split("\n")[0][:120]] += 1
            if verdict in ("wrong", "bug", "error") or (arguments.only is not None and text):
                print(f"case {index}: {verdict}: {text}", flush=True)
    for reason, count in refusals.most_common(8):
        print(f"refused {count}: {reason}")
    print(dict(verdicts))
    bad = sum(verdicts[v] for v in ("wrong", "bug", "error"))
    print(f"{verdicts['pass'] + verdicts['declined']} passed, {bad} failed, {verdicts['refused'] + verdicts['none']} skipped")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
