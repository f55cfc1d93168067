"""DecoderMaskedSelfAttention, and DecoderMaskedMultiHeadAttention whose beams have exchanged rows of the cache, for which ONNX Runtime has no kernel on processors or one that does not
do what its definition says: compared with its Attention on a past that numpy has put in order.

    attention.py --ingot build/bin/ingot [--target T] [--only SEED,...] [-j 2]
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

F, I, MS = TensorProto.FLOAT, TensorProto.INT32, "com.microsoft"


class Case:
    def __init__(self, seed):
        rng, self.arrays = random.Random(f"attention {seed}"), np.random.default_rng(seed)
        self.sentences, self.beams, self.heads, self.width = rng.choice([1, 2, 3]), rng.choice([1, 2, 4]), rng.choice([1, 2, 3]), rng.choice([4, 8])
        self.room = rng.choice([1, 5, 13])
        self.past, self.shares = rng.randrange(self.room), rng.random() < 0.7
        self.own = rng.random() < 0.5  # DecoderMaskedSelfAttention
        self.exchanges = self.shares and rng.random() < 0.7
        self.masked = rng.random() < 0.5
        self.rows, self.hidden = self.sentences * self.beams, self.heads * self.width
        self.weights = [self.draw(6, 3 * self.hidden), self.draw(3 * self.hidden)]
        self.length = self.room if self.shares else self.past

    def draw(self, *shape):
        return self.arrays.standard_normal(shape).astype(np.float32)

    def feeds(self):
        feeds = {"x": self.draw(self.rows, 1, 6), "past": self.draw(2, self.rows, self.heads, self.length, self.width), "count": np.int32([self.past])}
        feeds["mask"] = (self.arrays.random((self.rows, self.past + 1)) < 0.7).astype(np.int32)
        feeds["beams"] = np.int32([self.beams])
        feeds["from"] = self.arrays.integers(0, self.beams, (self.sentences, self.beams, self.room)).astype(np.int32)
        return feeds

    def used(self):
        return ["x", "past", *["mask"] * self.masked, *["count"] * self.shares, *["beams", "from"] * self.exchanges]

    def model(self):
        known = {"x": [self.rows, 1, 6], "past": [2, self.rows, self.heads, self.length, self.width], "mask": ["b", "t"], "count": [1], "beams": [1], "from": [self.sentences, self.beams, self.room]}
        inputs = [helper.make_tensor_value_info(name, F if name in ("x", "past") else I, known[name]) for name in self.used()]
        given = lambda name: name if name in self.used() else ""
        attributes = dict(domain=MS, num_heads=self.heads, past_present_share_buffer=int(self.shares))
        if self.own:
            names = ["x", "w", "c", given("mask"), "past", "", given("count"), given("beams"), given("from")]
            nodes = [helper.make_node("DecoderMaskedSelfAttention", names, ["y", "present"], **attributes)]
        else:
            nodes = [helper.make_node("MatMul", ["x", "w"], ["product"]), helper.make_node("Add", ["product", "c"], ["all"])]
            nodes += [helper.make_node("Split", ["all"], ["q", "k", "v"], axis=2, num_outputs=3)]
            nodes += [helper.make_node("Split", ["past"], ["keys", "values"], axis=0, num_outputs=2)]
            nodes += [helper.make_node("Squeeze", [name, "zero"], [f"{name}_"]) for name in ("keys", "values")]
            names = ["q", "k", "v", given("mask"), "", "keys_", "values_", given("count"), given("beams"), given("from")]
            nodes += [helper.make_node("DecoderMaskedMultiHeadAttention", names, ["y", "key", "value"], **attributes)]
            nodes += [helper.make_node("Unsqueeze", [name, "zero"], [f"{name}_"]) for name in ("key", "value")]
            nodes += [helper.make_node("Concat", ["key_", "value_"], ["present"], axis=0)]
        return self.whole(nodes, inputs)

    def whole(self, nodes, inputs):
        held = [numpy_helper.from_array(array, name) for array, name in zip([*self.weights, np.int64([0])], ["w", "c", "zero"])]
        graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info(name, F, None) for name in ("y", "present")], held)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(MS, 1)], ir_version=8)

    def expected(self, feeds):
        past = feeds["past"][:, :, :, : self.past]
        if self.exchanges:
            places, past = np.arange(self.past), past.copy()
            for row in range(self.rows):
                first = row - row % self.beams
                source = first + feeds["from"][row // self.beams, row % self.beams, : self.past]
                past[:, row] = feeds["past"][:, source, :, places].transpose(1, 2, 0, 3)
        inputs = [helper.make_tensor_value_info("x", F, None), helper.make_tensor_value_info("past", F, None)]
        inputs += [helper.make_tensor_value_info("mask", I, None)] if self.masked else []
        node = helper.make_node("Attention", ["x", "w", "c", "mask" if self.masked else "", "past"], ["y", "present"], domain=MS, num_heads=self.heads)
        session = peer.session(self.whole([node], inputs))
        y, present = session.run(None, {"x": feeds["x"], "past": past} | ({"mask": feeds["mask"]} if self.masked else {}))
        if self.shares:
            whole = feeds["past"].copy()
            whole[:, :, :, self.past] = present[:, :, :, self.past]
            return y, whole
        return y, present


def one(arguments, name):
    case, wrong = Case(int(name)), []
    with tempfile.TemporaryDirectory(prefix="ingot-attention-") as scratch:
        try:
            compiled = OpenModel(arguments.ingot, case.model(), scratch, arguments.target)
        except Refused as refused:
            return name, [f"refused: {refused}"]
        for _ in range(2):
            feeds = case.feeds()
            try:
                got = compiled.run({key: feeds[key] for key in case.used()}, {"b": case.rows, "t": case.past + 1})
            except Status as status:
                return name, [str(status)]
            wrong += filter(None, map(ingot_run.difference, got, case.expected(feeds)))
    return name, wrong


if __name__ == "__main__":
    ingot_run.run_named(__doc__, [str(seed) for seed in range(24)], one)
