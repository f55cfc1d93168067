"""Programs over sequences, drawn at random, whose lengths, places and parts only the run is told, against ONNX Runtime.

    random_sequences.py --ingot build/bin/ingot [--seed 1] [--cases 60] [--only K] [--target T]

A program begins with a sequence (tensors, one made empty, a tensor split, tensors that a loop appends), changes it some times (a tensor put somewhere or taken
out, a body over all of them, a branch that gives another one), and gives it, its length, one of its tensors, and where they fit all of them joined. Places beyond
a sequence are drawn as well: ONNX Runtime gives up then, and the run has to end with an error value."""
import os
import pathlib
import random
import re
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
import ingot_run
import numpy as np
import peer
from onnx import TensorProto, helper, numpy_helper


class Program:
    def __init__(self, seed):
        self.rng, self.nodes, self.inputs, self.feeds, self.count = random.Random(str(seed)), [], [], {}, 0
        self.arrays, self.element = np.random.default_rng(zlib.crc32(str(seed).encode())), self.rng.choice([np.float32, np.int64, np.int32])
        self.rank, self.forms = self.rng.choice([0, 1, 1, 2, 3]), random.Random(f"{seed} forms")  # of their own: what seeds of old draw stays
        self.uniform = self.rng.random() < 0.8  # whether all tensors have so many axes
        self.sized = [self.rng.choice([1, 2, 3, 7]) for _ in range(self.rank)] if self.rng.random() < 0.5 else None

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def op(self, kind, *inputs, **attributes):
        out = self.name()
        self.nodes.append(helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def given(self, array, constant=True):
        """An input of the model, or now and then a constant where that may be."""
        name = self.name()
        array = np.asarray(array)
        if self.rng.random() < 0.2 and constant:
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
            return name
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        self.feeds[name] = array
        return name

    def shape(self, rank=None):
        if self.sized is not None and rank is None:
            return list(self.sized)
        return [self.rng.choice([0, 1, 1, 2, 3, 5, 13]) for _ in range(self.rank if rank is None else rank)]

    def tensor(self, shape=None):
        shape = self.shape(None if self.uniform else self.rng.randrange(3)) if shape is None else shape
        array = self.arrays.integers(0, 100, shape).astype(self.element)
        return self.expanded(array) if shape and self.forms.random() < 0.25 else self.given(array)

    def expanded(self, array):
        """A part of it, along some axes, repeated to a shape that an input tells, or one that is computed from it as exporters write it."""
        start = tuple(slice(0, 1 if self.forms.random() < 0.5 else None) for _ in array.shape)
        to = self.given(np.int64(array.shape), constant=False)
        if self.forms.random() < 0.4:
            ones = self.op("ConstantOfShape", self.op("Shape", to), value=numpy_helper.from_array(np.ones(1, np.int64)))
            to = self.op("Where", self.op("Equal", to, self.op("Neg", ones)), ones, to)
        return self.op("Expand", self.given(array[start]), to)

    def place(self, most=4):
        return self.given(np.int64(self.rng.randint(-most, most)))

    def type(self):
        return helper.np_dtype_to_tensor_dtype(np.dtype(self.element))

    def sequence(self):
        kind = self.rng.choice(["tensors", "empty", "split", "loop"])
        if kind == "tensors":
            return self.op("SequenceConstruct", *(self.tensor() for _ in range(self.rng.randint(1, 3))))
        if kind == "empty":
            return self.op("SequenceEmpty", dtype=self.type())
        return self.split() if kind == "split" and self.rank else self.loop()

    def split(self):
        self.sized = None
        axis, shape = self.rng.randrange(self.rank), self.shape()
        x, kind = self.tensor(shape), self.rng.choice(["size", "list", "ones"])
        if kind == "ones":
            return self.op("SplitToSequence", x, axis=axis, keepdims=1)
        if kind == "size":
            return self.op("SplitToSequence", x, self.given(np.int64(self.rng.randint(1, 4))), axis=axis)
        cuts = sorted(self.rng.randint(0, shape[axis]) for _ in range(self.rng.randint(0, 3)))
        parts = np.diff([0, *cuts, shape[axis]])
        return self.op("SplitToSequence", x, self.given(parts.astype(np.int64)), axis=axis)

    def loop(self):
        """Tensors that grow, appended or put in front by a loop."""
        trips, start, body = self.given(np.int64(self.rng.randint(0, 4))), self.op("SequenceEmpty", dtype=self.type()), Program(self.rng.random())
        if self.rng.random() < 0.3:
            start = self.op("SequenceConstruct", self.tensor())
        body.inputs, x = [], self.tensor()
        nodes = [helper.make_node("Identity", ["c"], ["c2"])]
        if self.rank and not self.sized and self.uniform:
            nodes += [helper.make_node("Concat", [x, x], ["xx"], axis=0), helper.make_node("Unsqueeze", ["i", "zero"], ["end"])]
            nodes += [helper.make_node("Slice", ["xx", "zero", "end"], ["item"])]
            nodes = [helper.make_node("Constant", [], ["zero"], value_ints=[0]), *nodes]
        else:
            nodes += [helper.make_node("Add", [x, x], ["item"])]
        where = [[], ["i"], [self.given(np.int64(0))]][self.rng.randrange(3)]
        nodes += [helper.make_node("SequenceInsert", ["s", "item", *where], ["s2"])]
        sequence = helper.make_tensor_sequence_value_info
        graph = helper.make_graph(nodes, "body",
                                  [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []), sequence("s", self.type(), None)],
                                  [helper.make_tensor_value_info("c2", TensorProto.BOOL, []), sequence("s2", self.type(), None)])
        return self.op("Loop", trips, "", start, body=graph)

    def change(self, s):
        kind = self.rng.choice(["insert", "insert", "erase", "map", "if"])
        if kind == "insert":
            return self.op("SequenceInsert", s, self.tensor(), *([self.place()] if self.rng.random() < 0.7 else []))
        if kind == "erase":
            return self.op("SequenceErase", s, *([self.place(2)] if self.rng.random() < 0.8 else []))
        sequence = helper.make_tensor_sequence_value_info
        if kind == "map" and self.uniform:
            value = lambda name: helper.make_tensor_value_info(name, self.type(), None)
            extra = self.tensor([])
            body = helper.make_graph([helper.make_node("Add", ["a", "b"], ["r"])], "each", [value("a"), value("b")], [value("r")])
            return self.op("SequenceMap", s, extra, body=body)
        other = self.sequence()
        branch = lambda name, given: helper.make_graph([helper.make_node("Identity", [given], [name])], name, [], [sequence(name, self.type(), None)])
        chosen = self.given(np.bool_(self.rng.random() < 0.5), constant=False)  # else one of the sequences is not made at all, whatever is wrong with it
        return self.op("If", chosen, then_branch=branch(self.name(), s), else_branch=branch(self.name(), other))

    def model(self):
        s = self.sequence()
        for _ in range(self.rng.randint(0, 3)):
            s = self.change(s)
        outputs = [helper.make_tensor_sequence_value_info(self.op("Identity", s), self.type(), None),
                   helper.make_tensor_value_info(self.op("SequenceLength", s), TensorProto.INT64, [])]
        if self.uniform and self.rng.random() < 0.6:
            outputs.append(helper.make_tensor_value_info(self.op("SequenceAt", s, self.place(2)), self.type(), None))
        if self.uniform and self.sized is not None and self.rng.random() < 0.7:
            new = self.rng.random() < 0.5 or not self.rank
            joined = self.op("ConcatFromSequence", s, axis=self.rng.randrange(self.rank + new), new_axis=int(new))
            outputs.append(helper.make_tensor_value_info(joined, self.type(), None))
        return helper.make_model(helper.make_graph(self.nodes, "g", self.inputs, outputs), opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def expected(program, model):
    """What ONNX Runtime gives; None where it gives up on the data, a text where it does not take the model."""
    try:
        session = peer.session(model)
    except Exception as error:
        return str(error)
    try:
        return session.run(None, program.feeds)
    except Exception:
        return None


def difference(got, want):
    if isinstance(want, list):
        if len(got) != len(want):
            return f"a sequence of {len(got)}, expected {len(want)}"
        return next((text for pair in zip(got, want) if (text := difference(*pair))), None)
    return ingot_run.difference(got, np.asarray(want))


def one(arguments, seed):
    program = Program(seed)
    model = program.model()
    want = expected(program, model)
    if isinstance(want, str):
        return "undrawn", want
    with tempfile.TemporaryDirectory(prefix="ingot-sequences-") as scratch:
        folder = pathlib.Path(scratch)
        data = folder / "test_data_set_0"
        data.mkdir()
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        for k, (name, array) in enumerate(program.feeds.items()):
            (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
        verdict, text = ingot_run.run(arguments.ingot, folder, folder / "out", arguments.target)
        if verdict == "pass" and want is None:
            return "wrong", "runs, but ONNX Runtime gives up"
        if verdict == "refused" and re.search("unknown number of axes|how many axes", text):
            return "unranked", text
        if verdict == "refused":
            return ("declined", text) if want is None else ("refused", text)
        if verdict != "pass":
            return verdict, text
        for k, output in enumerate(model.graph.output):
            if wrong := difference(ingot_run.load(folder / f"out/output_{k}.pb", output.type), want[k]):
                return "wrong", f"output {k}: {wrong}"
    return "pass", ""


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--seed", type=int, default=1), parser.add_argument("--cases", type=int, default=60), parser.add_argument("--only", type=int)
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    count, kinds = ingot_run.Count("sequences"), {}
    for case in [arguments.only] if arguments.only is not None else range(arguments.cases):
        verdict, text = one(arguments, f"{arguments.seed}.{case}")
        kinds[verdict] = kinds.get(verdict, 0) + 1
        print(f"{case} {verdict} {text}") if verdict != "pass" else None
        count.add(f"case {case}", None if verdict in ("pass", "declined", "undrawn", "unranked") else f"{verdict}: {text}")
    print(kinds)
    count.finish()


main()
