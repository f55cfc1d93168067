"""Operators that take indices: Gather, Scatter, OneHot. Indices are inputs (checked while running) or constants."""
import numpy as np

from families import op

KINDS = [np.float32, np.float32, np.int64, np.bool_]


def indices(c, shape, size, negative=True, kinds=(np.int64, np.int32)):
    c.need(size > 0 or not np.prod(shape))
    return c.data(shape, c.choice(kinds), -size if negative and c.chance(0.4) else 0, max(size - 1, 0))


@op("Gather", weight=3)
def gather(c, x):
    x = x or c.data(c.shape(1, 4), c.choice(KINDS), 0, 9)
    c.need(x.rank >= 1)
    axis = c.axis(x.rank, negative=c.opset >= 11)
    shape = c.choice([[], [1], [c.choice([2, 5, 7])], [2, 3]])
    c.node("Gather", [x, indices(c, shape, x.shape[axis], c.opset >= 11)], exact=True, axis=None if axis == 0 else axis)


@op("GatherElements")
def gather_elements(c, x):
    c.since(11)
    x = x or c.data(c.shape(1, 4), c.choice(KINDS), 0, 9)
    c.need(x.rank >= 1)
    axis = c.axis(x.rank)
    shape = [c.rng.randint(min(size, 1), size) for size in x.shape]
    shape[axis] = c.choice([1, 3, 7])
    c.node("GatherElements", [x, indices(c, shape, x.shape[axis])], exact=True, axis=axis)


def tuples(c, shape, count, depth):
    """Index tuples into the first `depth` axes, `count` of them."""
    columns = [c.numbers([count], np.int64, -size if c.chance(0.3) else 0, size - 1) for size in shape[:depth]]
    return np.stack(columns, axis=-1)


@op("GatherND")
def gather_nd(c, x):
    c.since(11)
    x = x or c.data([max(size, 1) for size in c.shape(1, 4)], c.choice(KINDS), 0, 9)
    c.need(x.rank >= 1 and x.array.size)
    batch = c.rng.randint(0, x.rank - 1) if c.opset >= 12 and c.chance(0.4) else 0
    depth = c.rng.randint(1, x.rank - batch)
    lead = x.shape[:batch]
    middle = c.choice([[], [3], [2, 2]])
    array = tuples(c, x.shape[batch:], int(np.prod(lead + middle)), depth).reshape(lead + middle + [depth])
    c.node("GatherND", [x, c.tensor(array)], exact=True, batch_dims=batch or None)


@op("ScatterND")
def scatter_nd(c, x):
    c.since(11)
    x = x or c.data([max(size, 1) for size in c.shape(1, 4)], c.choice([np.float32, np.int64]), 0, 9)
    c.need(x.rank >= 1 and x.array.size and x.dtype in (np.float32, np.int64))
    depth = c.rng.randint(1, x.rank)
    positions = [list(np.unravel_index(k, x.shape[:depth])) for k in c.rng.sample(range(int(np.prod(x.shape[:depth]))), min(int(np.prod(x.shape[:depth])), c.choice([1, 2, 4])))]
    array = np.array(positions, np.int64)
    reduction = c.choice([None, "none", "add", "mul"]) if c.opset >= 16 else None
    c.node("ScatterND", [x, c.tensor(array), c.data([len(positions), *x.shape[depth:]], x.dtype, -3, 3)], exact=reduction in (None, "none"), reduction=reduction)


@op("ScatterElements")
def scatter_elements(c, x):
    c.since(11)
    x = x or c.data([max(size, 1) for size in c.shape(1, 4)], c.choice([np.float32, np.int64]), 0, 9)
    c.need(x.rank >= 1 and x.array.size and x.dtype in (np.float32, np.int64))
    axis = c.axis(x.rank)
    shape = [c.rng.randint(1, size) for size in x.shape]
    # Along the axis every position once: what two updates of one place leave is not defined without a reduction.
    lanes = shape[:]
    lanes[axis] = 1
    array = np.zeros(shape, np.int64)
    for lane in np.ndindex(*lanes):
        picked = c.rng.sample(range(x.shape[axis]), shape[axis])
        where = list(lane)
        where[axis] = slice(None)
        array[tuple(where)] = picked
    reduction = c.choice([None, "none", "add", "mul"]) if c.opset >= 16 else None
    c.node("ScatterElements", [x, c.tensor(array), c.data(shape, x.dtype, -3, 3)], exact=reduction in (None, "none"), axis=axis, reduction=reduction)


@op("OneHot")
def one_hot(c, x):
    c.since(9)
    c.need(x is None)
    depth = c.choice([1, 3, 10])
    shape = c.shape(1, 3, 500)
    kind = c.choice([np.float32, np.int64])
    values = c.integers([2], kind) if kind == np.int64 and c.chance(0.3) else np.array([-1, 3], kind)
    unsigned = c.chance(0.2)  # onnx.reference has the word on these, and takes what lies outside for something else
    places = indices(c, shape, depth, False, (np.uint8, np.uint32, np.uint64)) if unsigned else indices(c, shape, depth, c.opset >= 11, (np.int64,))
    operands = [places, c.lengths(depth), c.tensor(values, constant=True)]
    axis = c.rng.randint(-len(shape) - 1, len(shape)) if c.opset >= 11 else c.rng.randint(-1, len(shape))
    c.node("OneHot", operands, exact=True, axis=axis)


@op("Scatter")
def scatter(c, x):
    c.need(9 <= c.opset <= 10)
    x = x or c.data([max(size, 1) for size in c.shape(1, 3)])
    c.need(x.rank >= 1 and x.array.size and x.dtype == np.float32)
    axis = c.rng.randrange(x.rank)
    shape = list(x.shape)
    shape[axis] = 1
    where = c.numbers(shape, c.choice([np.int64, np.int32]), 0, x.shape[axis] - 1)
    c.node("Scatter", [x, c.tensor(where), c.data(shape, x.dtype, -3, 3)], exact=True, axis=axis)


@op("Compress")
def compress(c, x):
    c.since(9)
    x = x or c.data([max(size, 1) for size in c.shape(1, 4)], c.choice(KINDS), 0, 9)
    c.need(x.rank >= 1 and x.array.size)
    axis = None if c.chance(0.4) else c.axis(x.rank, negative=c.opset >= 11)
    length = x.array.size if axis is None else x.shape[axis]
    condition = c.numbers([c.rng.randint(1, min(length, 40))], bool)
    c.need(condition.any())
    c.node("Compress", [x, c.tensor(condition, constant=True)], exact=True, axis=axis)


@op("ReverseSequence")
def reverse_sequence(c, x):
    c.since(10)
    x = x or c.data([max(size, 1) for size in c.shape(2, 4)], c.choice(KINDS), 0, 9)
    c.need(x.rank >= 2 and x.array.size)
    time = c.choice([0, 1])
    lengths = c.tensor(c.numbers([x.shape[1 - time]], np.int64, 1, x.shape[time]))
    plain = time == 0 and c.chance(0.5)
    c.node("ReverseSequence", [x, lengths], exact=True, time_axis=None if plain else time, batch_axis=None if plain else 1 - time)


@op("NonZero")
def non_zero(c, x):
    """Of a constant: else the size of the result depends on values."""
    c.since(9)
    c.need(x is None)
    c.data([2])  # a model has at least one input
    c.node("NonZero", [c.data([max(size, 1) for size in c.shape(1, 3, 300)], c.choice([np.float32, np.int64, np.bool_]), -1, 1, constant=True)], exact=True)


@op("TopK", weight=2)
def top_k(c, x):
    c.since(7)
    x = x or c.data([max(size, 1) for size in c.shape(1, 4)], c.choice([np.float32, np.float32, np.int64] if c.opset >= 11 else [np.float32]), -9, 9)
    c.need(x.rank >= 1 and x.array.size and x.exact and x.dtype in ((np.float32, np.int64) if c.opset >= 11 else (np.float32,)))
    axis = c.axis(x.rank, negative=c.opset >= 11)
    k = c.rng.randint(1, x.shape[axis])
    attributes = {"axis": None if axis in (-1, x.rank - 1) else axis}
    if c.opset < 10:
        c.node("TopK", [x], 2, exact=True, k=k, **attributes)
        return
    if c.opset >= 11:  # without order, runtimes differ
        attributes.update(largest=c.choice([None, 0, 1]), sorted=c.choice([None, 1]))
    c.node("TopK", [x, c.lengths([k])], c.choice([[True, True], [True], [False, True]]), exact=True, **attributes)
