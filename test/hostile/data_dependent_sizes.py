"""Ops that find sizes, or places between pixels, in data, on the worst data, with forbidden pages around every buffer (test/tools/guarded.c).

    data_dependent_sizes.py --ingot build/bin/ingot --guarded build/test/random/guarded --runtime build/lib/libingot_rt.a [--target T]

NaN, infinite and turned boxes, scores and coordinates, limits and thresholds of any value: the run passes. Places beyond a tensor and a k beyond an axis, and
lengths that no tensor has: it ends with an error value that names the node, and has given back all memory that it asked for."""
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import ingot_run
import numpy as np
import onnx
from onnx import helper

BOXES = 13


def worst_boxes():
    rng = np.random.default_rng(1)
    boxes, scores = rng.random((2, BOXES, 4)).astype(np.float32), rng.random((2, 3, BOXES)).astype(np.float32)
    boxes[0, 3], boxes[1, 5], boxes[1, 6] = np.nan, np.inf, [5, 5, -1, -1]
    scores[0, 0], scores[0, 1], scores[1, 1, 4], scores[1, 2, 5] = np.nan, -np.inf, np.nan, np.inf
    return boxes, scores


FAR = [np.nan, np.inf, -np.inf, 3e38, -3e38, 2**31, -(2**31), 2**24 + 1, -1, 1, 0, 0.999999, -1e-30]


def worst_places():
    """GridSample and RoiAlign with all pairs of FAR as coordinates."""
    rng = np.random.default_rng(3)
    pairs = np.array([[a, b] for a in FAR for b in FAR], np.float32)
    image, volume = rng.random((1, 3, 5, 7)).astype(np.float32), rng.random((1, 2, 3, 1, 4)).astype(np.float32)
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (0, 1):
                attributes = {"mode": mode, "padding_mode": padding, "align_corners": corners}
                node = [("GridSample", ["x", "g"], ["y"], attributes)]
                yield f"GridSample {attributes}", node, {"x": image, "g": pairs[None, None]}, ["y"], True
                deep = np.concatenate([pairs, pairs[::-1, :1]], axis=1)[None, None, None]
                yield f"GridSample of a volume, {attributes}", node, {"x": volume, "g": deep}, ["y"], True
    regions, images = np.concatenate([pairs, pairs[::-1]], axis=1), np.zeros(len(pairs), np.int64)
    regions = np.concatenate([regions, regions[:, [0, 2, 1, 3]], np.roll(regions, 1, axis=0)])
    for mode in ("avg", "max"):
        for ratio in (0, 2):
            for transformation in ("half_pixel", "output_half_pixel"):
                attributes = {"mode": mode, "sampling_ratio": ratio, "coordinate_transformation_mode": transformation, "output_height": 2, "output_width": 3}
                node = [("RoiAlign", ["x", "r", "b"], ["y"], attributes)]
                yield f"RoiAlign {attributes}", node, {"x": image, "r": regions, "b": np.tile(images, 3)}, ["y"], True
    pool = [("MaxRoiPool", ["x", "r"], ["y"], {"pooled_shape": [2, 3]})]
    yield "MaxRoiPool", pool, {"x": image, "r": np.concatenate([np.zeros((len(regions), 1), np.float32), regions], axis=1)}, ["y"], True
    for bad in (-1, 1, 3e38, -np.inf):
        yield f"MaxRoiPool of image {bad}", pool, {"x": image, "r": np.array([[0, 0, 0, 1, 1], [bad, 0, 0, 1, 1]], np.float32)}, ["y"], False
    for bad in (-1, 1, 2**62, -(2**63)):
        yield f"RoiAlign of image {bad}", node, {"x": image, "r": regions[:4], "b": np.array([0, 0, 0, bad])}, ["y"], False


def cases():
    """(name, nodes as (operator, inputs, outputs, attributes), inputs by name, outputs, whether the run passes)"""
    yield from worst_places()
    boxes, scores = worst_boxes()
    one = lambda value, dtype: np.array([value], dtype)
    for limit in (-1, 0, 3, 2**60, -(2**63)):
        for overlap, least in ((np.nan, np.nan), (0.5, -np.inf), (-1, 0.1)):
            feeds = {"b": boxes, "s": scores, "m": one(limit, np.int64), "i": one(overlap, np.float32), "t": one(least, np.float32)}
            for names in (list(feeds), list(feeds)[:4]):
                node = ("NonMaxSuppression", names, ["y"], {})
                yield f"NonMaxSuppression of {len(names)}, {limit}, {overlap}, {least}", [node], {name: feeds[name] for name in names}, ["y"], True
    x = np.random.default_rng(2).random((3, 5, 2)).astype(np.float32)
    x[0], x[1, 2] = np.nan, -0.0
    for axis in (None, 0, 1, 2):
        attributes = {} if axis is None else {"axis": axis}
        yield f"Unique along {axis}", [("Unique", ["x"], ["y", "f", "v", "c"], attributes)], {"x": x}, ["y", "f", "v", "c"], True
    yield "NonZero of NaN", [("NonZero", ["x"], ["y"], {})], {"x": x}, ["y"], True
    many = np.ones(7, bool)
    yield "Compress beyond", [("Compress", ["x", "m"], ["y"], {"axis": 0})], {"x": x, "m": many}, ["y"], False
    length = [("NonZero", ["m"], ["n"], {}), ("Shape", ["n"], ["k"], {"start": 1})]
    yield from lengths()
    yield from loops()
    yield from sequences()
    yield "TopK beyond", [*length, ("TopK", ["x", "k"], ["y", "z"], {"axis": 1})], {"x": x, "m": many}, ["y", "z"], False


def lengths():
    """Sizes in data. Those that have a good one run with it, too: what comes before the bad one has been asked for and is given back."""
    far = (-1, -(2**63), 2**40 + 1, 2**62, 2**63 - 1)
    one = lambda *values: np.array(values, np.int64)
    x = np.ones((2, 3), np.float32)
    for bad in (None, *far):
        pair = one(3, 4 if bad is None else bad)
        yield f"ConstantOfShape of {bad}", [("ConstantOfShape", ["n"], ["y"], {})], {"n": pair}, ["y"], bad is None
        yield f"Expand to {bad}", [("Expand", ["x", "n"], ["y"], {})], {"x": x[:, :1], "n": one(2, pair[1])}, ["y"], bad is None
        yield f"Tile {bad}", [("Tile", ["x", "n"], ["y"], {})], {"x": x, "n": pair}, ["y"], bad is None
        yield f"TopK of {bad}", [("TopK", ["x", "n"], ["y", "z"], {})], {"x": x, "n": one(2 if bad is None else bad)}, ["y", "z"], bad is None
        yield f"Split into {bad}", [("Split", ["x", "n"], ["y", "z"], {"axis": 1})], {"x": x, "n": one(1, 2 if bad is None else bad)}, ["y", "z"], bad is None
        yield f"Reshape to {bad}", [("Reshape", ["x", "n"], ["y"], {})], {"x": x, "n": one(3, 2 if bad is None else -2 if bad == -1 else bad)}, ["y"], bad is None
        count = [("Range", ["0", "n", "1"], ["z"], {}), ("Expand", ["z", "m"], ["y"], {})]
        feeds = {"0": one(0)[0], "1": one(1)[0], "n": one(5)[0], "m": one(4 if bad is None else bad, 1)}
        yield f"Expand of what a Range gives, {bad}", count, feeds, ["z", "y"], bad is None
    for shape in ((-1, -1), (0, -1), (5, -1), (4, 2), (2**62, 4), (2**32, 2**32)):
        yield f"Reshape to {shape}", [("Reshape", ["x", "n"], ["y"], {})], {"x": x, "n": one(*shape)}, ["y"], shape == (0, -1)
    yield "more bytes than numbers", [("ConstantOfShape", ["n"], ["y"], {})], {"n": one(2**40, 2**40, 2**40)}, ["y"], False
    yield "more bytes than memory", [("ConstantOfShape", ["n"], ["y"], {})], {"n": one(2**40, 32)}, ["y"], False
    for kind in (np.float32, np.float64, np.int32, np.int64):
        for start, limit, delta in ((0, 5, 2), (5, 0, -2), (0, 5, -1), (0, 5, 0), (0, 2**30, 1e-9), (0, np.nan, 1), (np.nan, 0, 1), (0, 1, np.nan), (0, np.inf, 1), (0, np.inf, np.inf), (-(2**63), 2**63 - 1, 1)):
            numbers = (start, limit, delta)
            if kind in (np.float32, np.float64) or all(np.isfinite(n) and n == int(n) and np.iinfo(kind).min <= n <= np.iinfo(kind).max for n in numbers):
                feeds = {name: np.array(n, kind) for name, n in zip("abc", numbers)}
                yield f"Range of {numbers} in {kind.__name__}", [("Range", ["a", "b", "c"], ["y"], {})], feeds, ["y"], delta in (2, -2, -1)
    yield from axes()
    for ends in itertools.product((-(2**63), -3, 0, 2, 2**63 - 1), repeat=2):
        feeds = {"x": x, "s": one(ends[0]), "e": one(ends[1]), "a": one(1)}
        yield f"Slice of {ends}", [("Slice", ["x", "s", "e"], ["y"], {})], {name: feeds[name] for name in "xse"}, ["y"], True


def axes():
    """Axes and steps in data: what is no axis, one that is named twice, and one that cannot go."""
    one, x = lambda *values: np.array(values, np.int64), np.ones((2, 1, 5), np.float32)
    far = (3, -4, 2**31, 2**62, -(2**63), 2**63 - 1)
    for bad in (None, *far):
        good = bad is None
        for keepdims in (0, 1):
            for kind in ("ReduceSum", "ReduceLogSumExp"):
                node = [(kind, ["x", "a"], ["y"], {"keepdims": keepdims})]
                yield f"{kind} over {bad}", node, {"x": x, "a": one(0 if good else bad, -1)}, ["y"], good
                yield f"{kind} of one element over {bad}", node, {"x": x[:1, :, :1], "a": one(1, 0, 2 if good else bad)}, ["y"], good
        squeeze = [("Squeeze", ["x", "a"], ["y"], {})]
        yield f"Squeeze of {bad}", squeeze, {"x": x, "a": one(1 if good else bad)}, ["y"], good
        yield f"Squeeze of all, {bad}", squeeze, {"x": x[:1, 0, :1], "a": one(0, 1 if good else bad)}, ["y"], good
        for data in (x, x[:1, :, :1], np.float32(1)):
            axis = 1 if good else {3: 5, -4: -6}.get(bad, bad)
            yield f"Unsqueeze of {bad}", [("Unsqueeze", ["x", "a"], ["y"], {})], {"x": data, "a": one(-1, axis) if data.ndim else one(0, axis)}, ["y"], good
        steps = {"x": x, "s": one(0, 0), "e": one(2, 5), "a": one(0, 2 if good else bad), "t": one(1, 2)}
        yield f"Slice along {bad}", [("Slice", list(steps), ["y"], {})], steps, ["y"], good
    yield "ReduceSum over an axis twice", [("ReduceSum", ["x", "a"], ["y"], {"keepdims": 0})], {"x": x, "a": one(1, 1)}, ["y"], False
    yield "ReduceSum over an axis twice that stays", [("ReduceSum", ["x", "a"], ["y"], {"keepdims": 1})], {"x": x, "a": one(2, -1)}, ["y"], True
    yield "Squeeze of a long axis", squeeze, {"x": x, "a": one(0)}, ["y"], False
    yield "Squeeze of an axis twice", squeeze, {"x": x[:1], "a": one(0, -3)}, ["y"], False
    yield "Unsqueeze of an axis twice", [("Unsqueeze", ["x", "a"], ["y"], {})], {"x": x, "a": one(1, -4)}, ["y"], False
    yield "Slice along an axis twice", [("Slice", list(steps), ["y"], {})], {**steps, "a": one(2, -1)}, ["y"], False
    far = (-(2**63), -(2**40) - 1, 2**40, 2**62, 2**63 - 1)
    for mode in ("constant", "edge", "reflect", "wrap"):
        pads = [("Pad", ["x", "p"], ["y"], {"mode": mode})]
        for pair in ((0, 0), (2, 1), (-1, 2), (-2, -3), (-3, -3), (-6, 1), (3, -9), *((bad, 0) for bad in far), *((0, bad) for bad in far), (2**62, -(2**62)), (-(2**63), 2**63 - 1)):
            yield f"Pad by {pair}, {mode}", pads, {"x": x, "p": one(0, 0, pair[0], 0, 0, pair[1])}, ["y"], pair in ((0, 0), (2, 1), (-1, 2), (-2, -3))
    placed = {"x": x, "p": one(1, 1), "v": np.float32(1), "a": one(2)}
    for bad in (None, 3, -4, 2**62):
        yield f"Pad along {bad}", [("Pad", list(placed), ["y"], {})], {**placed, "a": one(2 if bad is None else bad)}, ["y"], bad is None
    picture = np.ones((1, 1, 3, 2), np.float32)
    for scale in (0.5, 1, 3.7, 0, -1, np.nan, np.inf, -np.inf, 1e30):
        for mode, attributes in (("nearest", {}), ("linear", {}), ("cubic", {}), ("linear", {"antialias": 1})):
            scales = {"x": picture, "r": np.zeros(8, np.float32), "s": np.array([1, 1, scale, 2], np.float32)}
            yield f"Resize by {scale}, {mode}, {attributes}", [("Resize", list(scales), ["y"], {"mode": mode, **attributes})], scales, ["y"], scale in (0.5, 1, 3.7)
    waves = {"x": np.ones((1, 6, 2), np.float32), "n": one(4)[0], "a": one(1)[0]}
    for bad in (None, 2, -1, -4, 2**62, -(2**63)):
        yield f"DFT along {bad}", [("DFT", list(waves), ["y"], {})], {**waves, "a": one(1 if bad is None else bad)[0]}, ["y"], bad is None
        if bad != 2:
            yield f"DFT of {bad}", [("DFT", list(waves), ["y"], {})], {**waves, "n": one(4 if bad is None else bad)[0]}, ["y"], bad is None
    frames = {"x": np.ones((1, 9, 1), np.float32), "s": one(2)[0], "w": np.ones(4, np.float32), "n": one(4)[0]}
    for name, value, passes in (("s", 2, True), ("s", 100, True), ("s", 2**62, True), ("s", 0, False), ("s", -1, False), ("n", 5, False), ("n", 0, False), ("n", -(2**63), False)):
        yield f"STFT, {name} is {value}", [("STFT", list(frames), ["y"], {})], {**frames, name: one(value)[0]}, ["y"], passes
    blocks = {"x": np.ones((1, 12, 6), np.float32), "i": one(4, 3), "b": one(2, 2)}
    image = [("Col2Im", list(blocks), ["y"], {})]
    yield "Col2Im", image, blocks, ["y"], True
    for bad in (0, -1, 1, 3, 2**31, 2**62, -(2**63), 2**63 - 1):
        yield f"Col2Im to {bad}", image, {**blocks, "i": one(4, bad)}, ["y"], bad == 3
        yield f"Col2Im of blocks of {bad}", image, {**blocks, "b": one(2, bad)}, ["y"], False
    for step in (0, 1, -1, 3, -7, *far[2:], -(2**31)):
        for ends in itertools.product((-(2**63), -2, 2**63 - 1), repeat=2):
            given = {"x": x, "s": one(ends[0]), "e": one(ends[1]), "a": one(2), "t": one(step)}
            yield f"Slice of {ends} in steps of {step}", [("Slice", list(given), ["y"], {})], given, ["y"], step != 0


def loops():
    """Carried values that grow by what data says, and trip counts of any value."""
    tensor = lambda name, kind, shape: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape)
    integer = lambda name, *values: helper.make_node("Constant", [], [name], name="the_" + name, value_ints=values)

    def grows(nodes, result, slices=()):
        inputs = [tensor("i", np.int64, []), tensor("go", bool, []), tensor("a", np.float32, None)]
        outputs = [tensor("go", bool, []), *(helper.make_empty_tensor_value_info(name) for name in (result, *slices))]
        made = [helper.make_node(op, ins, outs, name="the_" + outs[0], **attributes) for op, ins, outs, attributes in nodes]
        return helper.make_graph([integer("first", 0), integer("last", 2**63 - 1), *made], "turn", inputs, outputs)

    one, x = lambda *values: np.array(values, np.int64), np.ones((3, 2), np.float32)
    far = (-1, -(2**63), 2**40 + 1, 2**62, 2**63 - 1)
    appends = grows([("Expand", ["r", "k"], ["b"], {}), ("Concat", ["a", "b"], ["o"], {"axis": 0})], "o")
    crops = grows([("Slice", ["a", "k", "last", "first"], ["o"], {})], "o", ["o"])
    doubles = grows([("Concat", ["a", "a"], ["o"], {"axis": 1})], "o")
    shrinks = grows([("AveragePool", ["a"], ["o"], {"kernel_shape": [2]})], "o")
    for bad in (3, 0, *far):
        feeds = {"n": one(4)[0], "go": np.array(True), "x": x, "r": x[:1], "k": one(bad, 2)}
        passes = bad in (3, 0)
        yield f"Loop that appends {bad} rows", [("Loop", ["n", "go", "x"], ["y"], {"body": appends})], feeds, ["y"], passes
        yield f"Loop that turns {bad} times", [("Loop", ["n", "", "x"], ["y"], {"body": appends})], {**feeds, "n": one(bad)[0], "k": one(2, 2)}, ["y"], passes or bad < 0
        feeds = {"n": one(4)[0], "go": np.array(True), "x": x, "k": one(bad)}
        yield f"Loop that takes {bad} rows away", [("Loop", ["n", "go", "x"], ["y", "z"], {"body": crops})], feeds, ["y", "z"], True
    yield "Loop whose slices differ", [("Loop", ["n", "go", "x"], ["y", "z"], {"body": crops})], {**feeds, "k": one(1)}, ["y", "z"], False
    feeds = {"n": one(4)[0], "x": np.ones((1, 1, 7), np.float32)}
    for turns in (0, 6, 7, 2**40):
        yield f"Loop that shrinks {turns} times", [("Loop", ["n", "", "x"], ["y"], {"body": shrinks})], {**feeds, "n": one(turns)[0]}, ["y"], turns <= 6
    for turns, rows in ((2, 0), (2, 1), (80, 0)):
        yield f"Loop that doubles {rows} rows {turns} times", [("Loop", ["n", "", "x"], ["y"], {"body": doubles})], {"n": one(turns)[0], "x": np.ones((rows, 1), np.float32)}, ["y"], turns == 2


def sequences():
    """A loop that appends tensors until no memory holds them, and places and parts that a sequence does not have."""
    tensor = lambda name, kind, shape: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape)
    sequence = lambda name: helper.make_tensor_sequence_value_info(name, onnx.TensorProto.FLOAT, None)
    one, x = lambda *values: np.array(values, np.int64), np.arange(10, dtype=np.float32)
    node = lambda op, *names: helper.make_node(op, list(names[:-1]), [names[-1]], name="the_node")
    turn = helper.make_graph([node("ConstantOfShape", "k", "b"), node("SequenceInsert", "s", "b", "t")], "turn", [tensor("i", np.int64, []), tensor("go", bool, []), sequence("s")], [tensor("go", bool, []), sequence("t")])
    for size in (3, 0, 2**38, 2**40, 2**62, -1):
        nodes = [("SequenceEmpty", [], ["e"], {}), ("Loop", ["n", "", "e"], ["node"], {"body": turn}), ("SequenceAt", ["node", "p"], ["y"], {})]
        yield f"sequence of tensors of {size}", nodes, {"n": one(4)[0], "k": one(size), "p": one(-1)[0]}, ["y"], size in (3, 0)
    for part in (3, 10, 2**62, 0, -1, -(2**63)):
        yield f"SplitToSequence into parts of {part}", [("SplitToSequence", ["x", "n"], ["node"], {}), ("SequenceAt", ["node", "p"], ["y"], {})], {"x": x, "n": one(part)[0], "p": one(0)[0]}, ["y"], part > 0
    for place in (0, 4, -5, 5, -6, 2**31, 2**62, -(2**63)):
        split, last = ("SplitToSequence", ["x", "n"], ["s"], {}), ("SequenceAt", ["node", "0"], ["y"], {})
        feeds = {"x": x, "n": one(2)[0], "p": one(place)[0], "0": one(0)[0]}
        yield f"SequenceErase at {place}", [split, ("SequenceErase", ["s", "p"], ["node"], {}), last], feeds, ["y"], -5 <= place < 5
        yield f"SequenceInsert at {place}", [split, ("SequenceInsert", ["s", "x", "p"], ["node"], {}), last], feeds, ["y"], -5 <= place <= 5


def compile_case(arguments, folder, nodes, feeds, outputs, compiled):
    """(verdict, message, the library) of a case; many cases are runs of one model, which is compiled once: `compiled` has those by their bytes."""
    made = [helper.make_node(op, ins, outs, name="the_node" if outs[0] in ("y", "node") else outs[0], **attributes) for op, ins, outs, attributes in nodes]
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in feeds.items()]
    graph = helper.make_graph(made, "found", inputs, [helper.make_empty_tensor_value_info(name) for name in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    key = model.SerializeToString(deterministic=True)
    if key in compiled:
        return compiled[key]
    onnx.save(model, folder / "model.onnx")
    command = [arguments.ingot, "compile", folder / "model.onnx", "-o", folder, "--name", "guarded", "--emit", "obj"]
    verdict, text = ingot_run.call(command + (["--target", arguments.target] if arguments.target else []), folder, ingot_run.VERDICT)
    if verdict == "pass":
        subprocess.run(["/usr/lib/llvm-22/bin/ld.lld", "-shared", "-o", folder / "guarded.so", folder / "guarded.o", arguments.runtime], check=True)
    compiled[key] = verdict, text, folder / "guarded.so"
    return compiled[key]


def main():
    flags = ingot_run.parser(__doc__)
    flags.add_argument("--guarded", required=True), flags.add_argument("--runtime", required=True)
    arguments = flags.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    count, compiled = ingot_run.Count("found"), {}
    with tempfile.TemporaryDirectory(prefix="ingot-found-") as scratch:
        for number, (name, nodes, feeds, outputs, passes) in enumerate(cases()):
            folder = pathlib.Path(scratch, str(number))
            folder.mkdir()
            verdict, text, library = compile_case(arguments, folder, nodes, feeds, outputs, compiled)
            if verdict == "pass":
                for k, value in enumerate(feeds.values()):
                    (folder / f"input_{k}.bin").write_bytes(np.ascontiguousarray(value).tobytes())
                verdict, text = ingot_run.call([arguments.guarded, library, "guarded", folder], folder, ingot_run.GUARDED)
            right = verdict == "pass" if passes else verdict == "refused" and "the_node" in text
            count.add(name, None if right else f"{verdict}: {text}")
    count.finish()


if __name__ == "__main__":
    main()
