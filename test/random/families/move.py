"""Operators that move data: shapes, transposes, joins, cuts, pads, resizes."""
import numpy as np
from onnx import numpy_helper

from families import op

KINDS = [np.float32, np.float32, np.float32, np.int64, np.int32, np.bool_, np.uint8]


def any_tensor(c, x, low=0, high=5):
    if x is None:
        x = c.data(c.shape(low, high), c.choice(KINDS), 0, 9)
    c.need(low <= x.rank <= max(high, 6))
    return x


@op("Reshape", weight=2)
def reshape(c, x):
    if x is None and c.chance(0.1):
        x = c.data([0, c.choice([1, 4])], c.choice(KINDS), 0, 9)
    x = any_tensor(c, x)
    if not x.array.size:
        c.need(c.opset >= 14)
        c.node("Reshape", [x, c.ints([c.choice([1, 3]), 0, 5])], exact=True, allowzero=1)
        return
    factors = [size for size in x.shape if size != 1]
    c.rng.shuffle(factors)
    target = factors
    while len(target) > 1 and c.chance(0.5):
        target = [target[0] * target[1], *target[2:]]
    target = [*target]
    for _ in range(c.rng.randint(0, 2)):
        target.insert(c.rng.randint(0, len(target)), 1)
    if target and c.chance(0.5):
        target[c.rng.randrange(len(target))] = -1
    for k in range(min(len(target), x.rank)):
        if target[k] == x.shape[k] and c.chance(0.3):
            target[k] = 0
    c.node("Reshape", [x, c.lengths(target) if target else c.ints(target)], exact=True)


@op("Flatten")
def flatten(c, x):
    x = any_tensor(c, x, 1)
    c.need(c.opset >= 9 or x.dtype == np.float32)
    c.node("Flatten", [x], exact=True, axis=c.choice([None, c.rng.randint(0, x.rank)]))


@op("Squeeze")
def squeeze(c, x):
    if x is None:
        x = c.data([1 if c.chance(0.5) else c.size() for _ in range(c.rng.randint(1, 4))], c.choice(KINDS), 0, 9)
    ones = [k for k, size in enumerate(x.shape) if size == 1]
    axes = [k - x.rank if c.opset >= 11 and c.chance(0.3) else k for k in ones if c.chance(0.6)]
    c.need(axes or c.chance(0.2))  # where sizes are open, the rank is known only with axes
    if c.opset < 13:
        c.node("Squeeze", [x], exact=True, axes=axes or None)
    else:
        c.node("Squeeze", [x, c.lengths(axes) if axes else None], exact=True)


@op("Unsqueeze")
def unsqueeze(c, x):
    x = any_tensor(c, x, 0, 3)
    count = c.rng.randint(1, 2)
    axes = sorted(c.rng.sample(range(x.rank + count), count))
    if c.opset >= 11 and c.chance(0.3):
        axes = [axis - x.rank - count for axis in axes]
    if c.opset < 13:
        c.node("Unsqueeze", [x], exact=True, axes=axes)
    else:
        c.node("Unsqueeze", [x, c.lengths(axes)], exact=True)


@op("Transpose", weight=2)
def transpose(c, x):
    x = any_tensor(c, x, 1)
    order = list(range(x.rank))
    c.rng.shuffle(order)
    c.node("Transpose", [x], exact=True, perm=None if c.chance(0.2) else order)


@op("Concat", weight=2)
def concat(c, x):
    x = any_tensor(c, x, 1)
    axis = c.axis(x.rank, negative=c.opset >= 11)
    operands = [x]
    for _ in range(c.rng.randint(0, 3)):
        shape = list(x.shape)
        shape[axis] = c.choice([0, 1, 2, 3, 5, 8]) if c.zero else c.extent(33)
        operands.append(c.data(shape, x.dtype, 0, 9))
    if c.chance(0.15):
        operands.append(x)
    c.rng.shuffle(operands)
    c.node("Concat", operands, exact=True, axis=axis)


@op("Split", weight=2)
def split(c, x):
    x = any_tensor(c, x, 1)
    axis = c.axis(x.rank, negative=c.opset >= 11)
    size = x.shape[axis]
    c.need(size >= 1)
    parts = c.rng.randint(1, min(size, 4))
    cuts = sorted(c.rng.sample(range(1, size), parts - 1))
    lengths = [end - begin for begin, end in zip([0, *cuts], [*cuts, size])]
    even = size % parts == 0 and c.chance(0.4)
    if c.opset >= 18 and c.chance(0.4) and -(-size // parts) * (parts - 1) < size:
        c.node("Split", [x], parts, exact=True, axis=axis, num_outputs=parts)
    elif even and c.opset < 18:
        c.node("Split", [x], parts, exact=True, axis=axis)
    elif c.opset < 13:
        c.node("Split", [x], parts, exact=True, axis=axis, split=lengths)
    else:
        c.node("Split", [x, c.lengths(lengths)], parts, exact=True, axis=axis)


@op("Slice", weight=3)
def cut(c, x):
    x = any_tensor(c, x, 1)
    if c.opset >= 10 and c.chance(0.1):
        return cut_row(c, x)
    axes = sorted(c.rng.sample(range(x.rank), c.rng.randint(1, x.rank)))
    starts, ends, steps = [], [], []
    for axis in axes:
        size = x.shape[axis]
        step = c.choice([1, 1, 1, 2, 3, -1, -2]) if c.opset >= 10 else 1
        low, high = c.rng.randint(0, size), c.rng.randint(0, size)
        low, high = (min(low, high), max(low, high)) if step > 0 else (max(low, high), min(low, high))
        if not c.zero and (high - low) * step <= 0 and c.chance(0.9):  # the others are empty along an axis, and go backwards along another
            low, high = (0, size) if step > 0 else (size - 1, -size - 1)
        high = c.choice([high, high, 2**31 - 1]) if step > 0 else c.choice([high, -size - 1, -(2**31)])
        starts.append(low - size if step > 0 and 0 < low < size and c.chance(0.3) else low)
        ends.append(high - size if 0 < high < size and c.chance(0.3) else high)
        steps.append(step)
    if c.opset < 10:
        c.node("Slice", [x], exact=True, starts=starts, ends=ends, axes=axes)
        return
    kind = c.choice([np.int32, np.int64])
    operands = [c.lengths(starts, kind), c.lengths(ends, kind)]
    if axes != list(range(len(axes))) or c.chance(0.7) or any(step != 1 for step in steps):
        operands.append(c.lengths([axis - x.rank if c.opset >= 11 and c.chance(0.3) else axis for axis in axes], kind))
        operands += [c.lengths(steps, kind)] if any(step != 1 for step in steps) or c.chance(0.5) else []
    c.node("Slice", [x, *operands], exact=True)


def cut_row(c, x):
    """x[k:k+1] along some axes, k in data: where there is no such row the result has none, and what Squeeze, Gather or Reshape reads of it is there."""
    axes = sorted(c.rng.sample(range(x.rank), c.choice([1, 1, 1, min(2, x.rank)])))
    inside, outside = [[c.rng.randrange(max(x.shape[axis], 1)) for axis in axes], [x.shape[axis] + c.rng.randint(0, 3) for axis in axes]]
    last, before = [-1 for axis in axes], [-x.shape[axis] - c.rng.randint(0, 2) for axis in axes]
    kind = c.choice([np.int32, np.int64])
    begin = c.tensor(np.array(c.choice([inside, inside, inside, outside, last, before]), kind), constant=False)
    c.finds = True
    c.lists.add(begin.name)
    end = c.node("Add", [begin, c.ints([c.choice([1, 1, 1, 2])], kind)], exact=True)[0]
    y = c.node("Slice", [x, begin, end, c.ints(axes, kind)], exact=True)[0]
    if c.chance(0.3) and all(y.shape[axis] == 1 for axis in axes):
        c.node("Squeeze", [y, c.ints(axes)], exact=True) if c.opset >= 13 else c.node("Squeeze", [y], exact=True, axes=axes)
    elif c.chance(0.2) and y.shape[axes[0]]:
        c.node("Gather", [y, c.ints([0])], exact=True, axis=axes[0])


@op("Pad", weight=3)
def pad(c, x):
    x = x or c.data(c.shape(1, 4), np.float32 if c.opset < 13 else c.choice([np.float32, np.int64]), 0, 9)
    c.need(x.rank >= 1 and (x.dtype == np.float32 or (c.opset >= 13 and x.dtype in (np.int64, np.int32))))
    mode = c.choice([None, "constant", "reflect", "edge"] + (["wrap"] if c.opset >= 19 else []))
    limit = [max(min(size - 1, 3), 0) if mode in ("reflect", "wrap") else 3 for size in x.shape]
    c.need(mode not in ("reflect", "edge", "wrap") or x.array.size)
    draw = lambda k: -1 if mode in (None, "constant") and x.shape[k] > 4 and c.chance(0.1) else c.rng.randint(0, limit[k])
    axes = list(range(x.rank))
    if c.opset >= 18 and c.chance(0.4):
        axes = sorted(c.rng.sample(axes, c.rng.randint(1, x.rank)))
    pads = [draw(k) if c.chance(0.7) else 0 for k in axes * 2]
    value = c.choice([None, 1.5]) if x.dtype == np.float32 else c.choice([None, 7, c.integers([], x.dtype).item()])
    if c.opset < 11:
        c.node("Pad", [x], exact=True, mode=mode, pads=pads, value=value)
        return
    operands = [x, c.lengths(pads), None if value is None or mode in ("reflect", "edge", "wrap") else c.tensor(np.array(value, x.dtype), constant=True)]
    if len(axes) < x.rank:
        operands.append(c.lengths([axis - x.rank if c.chance(0.3) else axis for axis in axes]))
    c.node("Pad", operands, exact=True, mode=mode)


COORDINATES = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
FRACTIONS = [0.3, 2 / 3, 0.7, 0.8, 1.6, 1.7, 1.9]
NEAR_ONE = [1.1, 1.3, 640 / 427]  # short axes keep their size: ONNX Runtime then copies what all axes keep, and with antialias each such axis


@op("Resize", weight=4)
def resize(c, x):
    """The forms of opsets 10, 11, 13, 18 and 19: scales or sizes, the coordinate transformations, three modes, axes, antialias off."""
    c.since(10)
    mode = c.choice([None, "nearest", "linear", "linear", "cubic"])
    rank = 4 if mode in ("linear", "cubic") else c.choice([2, 3, 4, 4, 5])
    x = x or c.data([c.extent(3), c.extent(33), *[max(c.extent(17), 2 if mode == "cubic" else 1) for _ in range(rank - 2)]])
    c.need(x.dtype == np.float32 and x.rank == rank and x.array.size and x.array.size < 8000)
    # Not on the values: a position that lies on a rounding boundary is what runtimes do not agree on, so scales are exact in binary where one element is taken.
    outer = 2 if rank > 2 else 0
    factors = FRACTIONS if mode in ("linear", "cubic") and c.chance(0.4) else [1.0, 2.0, 2.0, 4.0, 0.5, 1.5, 3.0]
    scales = [1.0] * outer + [c.choice(factors) for _ in range(rank - outer)]
    near_one = factors is FRACTIONS and c.chance(0.4)
    if near_one:
        scales[-2:] = [c.choice([2 / 3, 0.7, 0.8]), c.choice(NEAR_ONE)]
    c.need(all(int(size * scale) >= 1 for size, scale in zip(x.shape, scales)))
    if c.opset == 10:
        c.need(mode != "cubic")
        c.node("Resize", [x, c.ints(scales, np.float32)], exact=mode != "linear", mode=mode)
        return
    attributes = {"mode": mode, "coordinate_transformation_mode": c.choice([None, *COORDINATES])}
    if mode in (None, "nearest"):
        attributes["nearest_mode"] = c.choice([None, "floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
    if mode == "cubic":
        attributes["cubic_coeff_a"] = c.choice([None, -0.5])
        attributes["exclude_outside"] = c.choice([None, 0, 1])
    if c.opset >= 18 and mode in ("linear", "cubic") and not near_one and c.chance(0.3):
        attributes["antialias"] = 1
    region = c.ints([], np.float32) if c.opset < 13 else None
    # ONNX Runtime cuts no axis whose size stays.
    if mode != "cubic" and c.chance(0.3) and not any(int(size * scale) == size for size, scale in zip(x.shape[outer:], scales[outer:])):
        attributes.update(coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=c.choice([None, 5.0]))
        region = c.ints([0.0] * outer + [0.125] * (rank - outer) + [1.0] * outer + [0.875] * (rank - outer), np.float32)
    if c.chance(0.5):
        operands = [x, region, c.lengths(scales, np.float32)]
    else:
        sizes = [int(size * scale) for size, scale in zip(x.shape, scales)]
        operands = [x, region, c.ints([], np.float32) if c.opset < 13 else None, c.ints(sizes)]
        if c.opset >= 18 and outer and "extrapolation_value" not in attributes and c.chance(0.4):
            attributes["keep_aspect_ratio_policy"] = c.choice(["stretch", "not_larger", "not_smaller"])
            attributes["axes"] = list(range(outer, rank))
            operands[-1] = c.ints(sizes[outer:])
    if c.opset >= 18 and outer and "axes" not in attributes and "extrapolation_value" not in attributes and c.chance(0.3):
        attributes["axes"] = list(range(outer, rank))
        last = operands[-1]
        c.constants = [name for name in c.constants if name != last.name]
        c.nodes = [node for node in c.nodes if last.name not in node.output]
        operands[-1] = c.ints(last.array[outer:], last.dtype)
    c.node("Resize", operands, exact=mode in (None, "nearest"), **attributes)


@op("Upsample")
def upsample(c, x):
    c.need(c.opset < 10)
    mode = c.choice([None, "nearest", "linear"])
    x = x or c.data([c.extent(3), c.extent(33), c.size(13), c.size(13)])
    c.need(x.dtype == np.float32 and x.rank == 4 and x.array.size)
    factors = [scale for scale in FRACTIONS if scale > 1] if mode == "linear" and c.chance(0.4) else []
    scales = [1.0, 1.0, c.choice(factors or [1.0, 2.0, 3.0]), c.choice(factors or [1.0, 2.0, 1.5])]
    if c.opset < 9:
        c.node("Upsample", [x], mode=mode, scales=scales)
    else:
        c.node("Upsample", [x, c.lengths(scales, np.float32)], mode=mode)


@op("Crop")
def crop(c, x):
    """It left the standard with opset 8; ONNX Runtime still has it."""
    c.need(c.opset == 7 and x is None)
    border = [c.rng.randint(0, 2) for _ in range(4)]
    x = c.data([c.choice([1, 2]), c.choice([1, 3, 16]), c.rng.randint(5, 13), c.rng.randint(5, 13)])
    c.node("Crop", [x], exact=True, border=border, scale=c.choice([None, [1, 1], [2, 3]]))


@op("Expand")
def expand(c, x):
    c.since(8)
    x = x or c.data([1 if c.chance(0.4) else c.size(9) for _ in range(c.rng.randint(0, 4))], c.choice(KINDS[:5]), 0, 9)
    shape = [c.choice([1, 2, 5, size]) if size == 1 else c.choice([1, size]) for size in x.shape]
    shape = shape[c.rng.randint(0, len(shape)) :] if c.chance(0.2) else ([c.choice([1, 3])] if c.chance(0.4) and x.rank < 5 else []) + shape
    c.need(shape and np.prod(np.broadcast_shapes(tuple(x.shape), tuple(shape))) < 100_000)
    c.node("Expand", [x, c.lengths(shape)], exact=True)


@op("Tile")
def tile(c, x):
    x = any_tensor(c, x, 1, 4)
    repeats = [c.choice([1, 1, 2, 3]) for _ in x.shape]
    c.need(x.array.size * np.prod(repeats) < 100_000)
    c.node("Tile", [x, c.lengths(repeats)], exact=True)


@op("DepthToSpace", "SpaceToDepth")
def depth_space(c, x, name):
    block = c.choice([1, 2, 2, 3])
    depth = name == "DepthToSpace"
    if x is None:
        sizes = [c.extent(3), c.extent(9), c.extent(13), c.extent(13)]
        x = c.data([sizes[0], sizes[1] * (block**2 if depth else 1), *[size * (1 if depth else block) for size in sizes[2:]]])
    c.need(x.rank == 4 and x.dtype == np.float32)
    c.need(x.shape[1] % block**2 == 0 if depth else x.shape[2] % block == 0 and x.shape[3] % block == 0)
    c.node(name, [x], exact=True, blocksize=block, mode=c.choice([None, "DCR", "CRD"]) if depth and c.opset >= 11 else None)


@op("Shape", "Size")
def shape_of(c, x, name):
    x = any_tensor(c, x)
    attributes = {}
    if name == "Shape" and c.opset >= 15 and c.chance(0.5):
        attributes = {"start": c.choice([None, 0, 1, -1]), "end": c.choice([None, -1, 2])}
    c.node(name, [x], exact=True, **attributes)


@op("Range")
def arange(c, x):
    c.since(11)
    c.need(x is None)
    c.data([2])  # a model has at least one input
    kind = c.choice([np.int64, np.int32, np.float32])
    start, delta = c.choice([0, 2, -3]), c.choice([1, 2, -1, 3])
    operands = [start, start + delta * c.rng.randint(0 if c.zero else 1, 9), delta]
    c.node("Range", [c.lengths(value, kind) for value in operands], exact=True)


@op("ConstantOfShape")
def constant_of_shape(c, x):
    c.since(9)
    c.need(x is None)
    c.data([2])
    value = c.choice([None, np.array([1.5], np.float32), np.array([7], np.int64), np.array([True])])
    value = None if value is None else numpy_helper.from_array(value, "value")
    c.node("ConstantOfShape", [c.lengths(c.shape(1, 4))], exact=True, value=value)


@op("Trilu")
def trilu(c, x):
    c.since(14)
    x = any_tensor(c, x, 2, 4)
    c.node("Trilu", [x, c.choice([None, c.tensor(np.array(c.rng.randint(-3, 3)), constant=c.chance(0.6))])], exact=True, upper=c.choice([None, 0, 1]))


EQUATIONS = ["ij,jk->ik", "bij,bjk->bik", "bhid,bhjd->bhij", "bhij,bhjd->bhid", "ij->ji", "ij->i", "i,j->ij", "bij,jk", "ij,ij->", "bid,bjd->bij", "ii->i",
             "...ij,...jk->...ik", "...ij,...jk->...ik", "...ij,...kj", "b...i,...i->b...", "...i,...i->...", "...ij,...jk,...k->...i",
             "...ij->...ji", "i...,i...->...", "ii->", "iij->j", "ij,jk,kd->id", "b...d,d->b...", " ij , jk -> ik "]  # fmt: skip


def drawn_equation(c):
    """Two or three terms of different letters, some of which the result keeps, in any order."""
    terms = ["".join(c.rng.sample("bhijk", c.rng.randint(1, 3))) for _ in range(c.choice([1, 2, 2, 3]))]
    letters = sorted(set("".join(terms)))
    c.rng.shuffle(letters)
    return ",".join(terms) + "->" + "".join(letters[: c.rng.randint(0, min(len(letters), 4))])


@op("Einsum", weight=3)
def einsum(c, x):
    c.since(12)
    c.need(x is None)
    sizes = {letter: c.extent(17) for letter in "bhijkd"}
    equation = c.choice(EQUATIONS) if c.chance(0.6) else drawn_equation(c)
    terms = equation.replace(" ", "").split("->")[0].split(",")
    hidden = [c.extent(7) for _ in range(c.choice([1, 1, 2]))]  # of which an operand may have one
    ellipsis = lambda: [1 if c.chance(0.25) else size for size in hidden]
    operands = [c.data([size for letter in term.replace("...", ".") for size in (ellipsis() if letter == "." else [sizes[letter]])]) for term in terms]
    c.node("Einsum", operands, equation=equation)


@op("EyeLike")
def eye_like(c, x):
    c.since(9)
    x = any_tensor(c, x, 2, 2)
    c.need(x.rank == 2 and x.dtype in (np.float32, np.int64, np.int32))
    c.node("EyeLike", [x], exact=True, dtype=c.choice([None, 1, 7]), k=c.choice([None, -1, 2]))


@op("CenterCropPad", weight=2)
def center_crop_pad(c, x):
    """onnx.reference has the word where ONNX Runtime, which takes the body of the standard, pads by half of a negative number."""
    c.since(18)
    x = x or c.data(c.shape(1, 4), c.choice([np.float32, np.float32, np.int64, np.int32]))
    c.need(x.rank and x.array.size and x.array.size < 4000)
    axes = c.choice([None, c.rng.sample(range(x.rank), c.rng.randint(1, x.rank))])
    wanted = [max(1, x.shape[axis] + c.choice([-3, -2, -1, 0, 1, 2, 5])) for axis in (range(x.rank) if axes is None else axes)]
    c.node("CenterCropPad", [x, c.lengths(wanted)], exact=True, axes=axes and [axis - x.rank if c.chance(0.3) else axis for axis in axes])
