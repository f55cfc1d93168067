"""Random loops whose carried values grow, shrink and are picked from, compared with ONNX Runtime.

    random_loops.py --ingot build/bin/ingot [--target T] [--only SEED,...] [-j 2]
"""
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import ingot_run
import numpy as np
import peer
from onnx import TensorProto, helper, numpy_helper

from open_model import OpenModel, Refused, Status

END = 1 << 62
empty = helper.make_empty_tensor_value_info
number = lambda name: helper.make_tensor_value_info(name, TensorProto.INT64, [])
truth = lambda name: helper.make_tensor_value_info(name, TensorProto.BOOL, [])
rows = lambda name, count: helper.make_tensor_value_info(name, TensorProto.FLOAT, None if count is None else [count, 2])


class Maker:
    """Makes one model; all values have two columns."""

    def __init__(self, seed):
        self.rng, self.count, self.constants = random.Random(seed), 0, {"empty": np.zeros((0, 2), np.float32)}
        self.forms = random.Random(f"{seed} conditions")  # of their own: what seeds of old draw stays

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def constant(self, value):
        name = self.fresh()
        self.constants[name] = np.asarray(value)
        return name

    def integers(self, *values):
        return self.constant(np.int64(values))

    def op(self, nodes, kind, *inputs, **attributes):
        name = self.fresh()
        nodes.append(helper.make_node(kind, list(inputs), [name], name=f"{kind}_{name}", **attributes))
        return name

    def graph(self, nodes, inputs, outputs):
        return helper.make_graph(nodes, self.fresh(), inputs, outputs)

    # What may become of one of the values of `pool`.

    def step(self, nodes, pool):
        kinds = [self.append, self.append, self.append_row, self.cut, self.cut, self.change, self.pick, self.join, self.branch, self.inner]
        return self.rng.choice(kinds)(nodes, self.rng.choice(pool), pool)

    def append(self, nodes, v, pool):
        return self.op(nodes, "Concat", *self.rng.sample([v, "x"], 2), axis=0)

    def append_row(self, nodes, v, pool):
        row = self.op(nodes, "Gather", "big", "place", axis=0)
        return self.op(nodes, "Concat", v, self.op(nodes, "Unsqueeze", row, self.integers(0)), axis=0)

    def cut(self, nodes, v, pool):
        start, end = self.rng.choice([0, 1, 2, -3, -5]), self.rng.choice([END, END, 4, 7, -1])
        return self.op(nodes, "Slice", v, self.integers(start), self.integers(end), self.integers(0))

    def change(self, nodes, v, pool):
        return self.op(nodes, self.rng.choice(["Neg", "Relu"]), v)

    def pick(self, nodes, v, pool):
        sums = self.op(nodes, "ReduceSum", v, self.integers(1), keepdims=0)
        return self.op(nodes, "Compress", v, self.op(nodes, "Greater", sums, self.constant(np.float32(0))), axis=0)

    def join(self, nodes, v, pool):
        return self.op(nodes, "Concat", v, self.rng.choice(pool), axis=0) if self.rng.random() < 0.3 else v

    def branch(self, nodes, v, pool):
        def one():
            inner = []
            result = self.step(inner, pool) if self.rng.random() < 0.8 else v
            return self.graph(inner, [], [empty(self.op(inner, "Identity", result))])

        odd = self.op(nodes, "Equal", self.op(nodes, "Mod", "i", self.constant(np.int64(2))), self.constant(np.int64(self.rng.randint(0, 1))))
        return self.op(nodes, "If", self.one_of_some(nodes, odd), then_branch=one(), else_branch=one())

    def one_of_some(self, nodes, condition):
        """The same condition, of which only the run knows that it is one."""
        form = self.forms.choice(["plain", "plain", "cut", "cut", "picked", "squeezed", "unique"])
        if form == "plain":
            return condition
        listed = self.op(nodes, "Reshape", condition, self.integers(1))
        if form == "unique":  # of numbers that are alike
            numbers = self.op(nodes, "Cast", self.op(nodes, "Concat", listed, listed, axis=0), to=TensorProto.INT64)
            return self.op(nodes, "Cast", self.op(nodes, "Unique", numbers), to=TensorProto.BOOL)
        both = self.op(nodes, "Concat", self.op(nodes, "Not", listed), listed, axis=0)
        if form == "picked":
            return self.op(nodes, "Compress", both, self.op(nodes, "Equal", both, listed), axis=0) if self.forms.random() < 0.5 else self.one_place(nodes, both)
        from_turn = lambda number: self.op(nodes, "Add", self.op(nodes, "Reshape", "i", self.integers(1)), self.op(nodes, "Sub", self.integers(number), "i"))
        begin = from_turn(1)
        end = from_turn(2) if self.forms.random() < 0.5 else self.op(nodes, "Add", begin, self.integers(1))
        cut = self.op(nodes, "Slice", both, begin, end)
        return self.op(nodes, "Squeeze", cut, self.integers(0)) if form == "squeezed" else cut

    def one_place(self, nodes, both):
        """The second of two, by a list of places of which data says that there is one."""
        zero = self.op(nodes, "Mod", "i", self.constant(np.int64(1)))
        places = self.op(nodes, "Compress", self.integers(0, 1), self.op(nodes, "Greater", self.integers(0, 1), zero), axis=0)
        return self.op(nodes, "Gather", both, places, axis=0)

    def inner(self, nodes, v, pool):
        i, go, a, made = self.fresh(), self.fresh(), self.fresh(), []
        following = self.op(made, "Concat", a, "x", axis=0) if self.rng.random() < 0.5 else self.op(made, "Slice", a, self.integers(1), self.integers(END), self.integers(0))
        body = self.graph(made, [number(i), truth(go), rows(a, None)], [truth(go), empty(following)])
        return self.op(nodes, "Loop", self.rng.choice([self.constant(np.int64(2)), "place"]), "", v, body=body)

    def model(self):
        rng, body, main = self.rng, [], []
        body.append(helper.make_node("Mod", ["i", self.constant(np.int64(5))], ["place"], name="place"))
        carried = [f"a{k}" for k in range(rng.randint(1, 3))]
        pool = list(carried)
        for _ in range(rng.randint(1, 5)):
            pool.append(self.step(body, pool))
        following = [pool[-1], *(rng.choice(pool) for _ in carried[1:])]
        slices = [self.op(body, "ReduceSum", rng.choice(pool), keepdims=0) for _ in range(rng.randint(0, 2))]
        outs = [self.op(body, "Identity", v) for v in following] + slices
        ends, trips = rng.choice([(False, "n"), (False, "few"), (False, "rows"), (False, "least"), (True, ""), (True, "n"), (True, "least")])
        go = self.op(body, "Less", "i", "limit") if ends else self.op(body, "Identity", "go")
        turn = self.graph(body, [number("i"), truth("go"), *(rows(a, None) for a in carried)], [truth(go), *map(empty, outs)])
        if trips == "rows":
            trips = self.op(main, "Gather", self.op(main, "Shape", "big"), self.constant(np.int64(0)))
        elif trips == "least":
            trips = self.op(main, "Min", "n", self.constant(np.int64(8)))
        elif trips == "few":
            trips = self.constant(np.int64(rng.choice([1, 3, 6])))
        results = [self.fresh() for _ in outs]
        start = [rng.choice(["x", "some", "three", "empty"]) for _ in carried]
        main.append(helper.make_node("Loop", [trips, "" if trips else self.constant(np.array(True)), *start], results, name="loop", body=turn))
        results = dict.fromkeys(self.op(main, "Neg", r) if rng.random() < 0.5 else r for r in results)
        inputs = [rows("x", 1), rows("some", "m"), rows("three", 3), rows("big", "s"), number("n"), number("limit")]
        constants = [numpy_helper.from_array(value, name) for name, value in self.constants.items()]
        graph = helper.make_graph(main, "random_loop", inputs, list(map(empty, results)), constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def one(arguments, name):
    seed = int(name)
    model, wrong = Maker(seed).model(), []
    session = peer.session(model)
    with tempfile.TemporaryDirectory(prefix="ingot-loops-") as scratch:
        try:
            compiled = OpenModel(arguments.ingot, model, scratch, arguments.target)
        except Refused as refused:
            return name, [f"refused: {refused}"]
        for turns in (0, 1, 2, 7):
            rng = np.random.default_rng(seed * 31 + turns)
            sizes = {"m": int(rng.integers(0, 4)), "s": 5 + turns}
            feeds = {key: rng.standard_normal((count, 2)).astype(np.float32) for key, count in (("x", 1), ("some", sizes["m"]), ("three", 3), ("big", sizes["s"]))}
            feeds |= {"n": np.array(turns), "limit": np.array(turns - 1)}
            try:
                got = compiled.run(feeds, sizes)
            except Status as status:
                wrong.append(f"{turns} turns: {status}")
                continue
            for want, have, output in zip(session.run(None, feeds), got, model.graph.output):
                if difference := ingot_run.difference(have, want):
                    wrong.append(f"{turns} turns: {output.name}: {difference}")
    return name, wrong


if __name__ == "__main__":
    # The last two: what the search found (2026-11-27), values of which a part and more is carried on, and which are carried on themselves.
    ingot_run.run_named(__doc__, [str(seed) for seed in [*range(40), 101047481, 565829858]], one)
