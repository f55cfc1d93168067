"""Sizes that only data tells: found by a node, or given to one."""
import numpy as np
from onnx import numpy_helper

from .case import Case, case, loop, subgraph, whole


def some_zeros(rng, shape, sizes):
    return rng.integers(-1, 2, shape)


@case
def finders():
    c = Case(18)
    x, mask = c.input("b", "n", fill=some_zeros), c.input("n", dtype=bool, fill=lambda rng, shape, sizes: rng.random(shape) < 0.4)
    i64 = lambda *values: c.constant(np.int64(values))
    c.output(c.op("NonZero", x), np.int64)
    places = c.op("NonZero", c.op("Greater", x, c.constant(np.float32(0))))
    taken = c.op("GatherND", x, c.op("Transpose", places, perm=[1, 0]))
    at_most = c.op("ReduceMin", c.op("Concat", i64(3), c.op("Shape", taken), axis=0), keepdims=1)
    values, where = c.op("TopK", taken, at_most, outputs=2)
    c.output(c.op("Concat", values, c.op("ConstantOfShape", c.op("Shape", values)), taken, axis=0)), c.output(where, np.int64)
    c.output(c.op("Slice", taken, i64(1), i64(4)))
    c.output(c.op("Mul", c.op("Compress", x, mask, axis=1), c.constant(np.float32(2)))), c.output(c.op("Compress", x, mask))
    c.output(c.op("Range", c.constant(np.int64(0)), c.op("Squeeze", at_most), c.constant(np.int64(1))), np.int64)
    return c.each(b=[1, 3], n=[1, 2, 7, 13, 100])


@case
def unique():
    c = Case(18)
    x, places = c.input("a", "b", "c", fill=some_zeros), c.input("n", dtype=np.int64, fill=lambda rng, shape, sizes: rng.integers(-9, 9, shape))
    for axis in (None, 0, 1, 2):
        for in_order in (0, 1):
            y, *others = c.op("Unique", x, outputs=4, sorted=in_order, **({} if axis is None else {"axis": axis}))
            c.output(y), [c.output(other, np.int64) for other in others]
    c.output(c.op("Unique", places), np.int64)
    return c.each(a=[1, 2, 3], b=[1, 5], c=[1, 2], n=[1, 13, 64])


def box_corners(rng, shape, sizes):
    """Many boxes are small ones, most of which lie nowhere near each other."""
    corners = rng.random((*shape[:-1], 2, 2))
    if shape[-2] > 100:
        corners = rng.random((*shape[:-1], 1, 2)) + corners * rng.choice([0.02, 0.1, 0.5], (*shape[:-1], 1, 1))
    return corners.reshape(shape)


@case
def suppression():
    c = Case(18)
    boxes, scores = c.input("b", "n", 4, fill=box_corners), c.input("b", "k", "n", fill=lambda rng, shape, sizes: rng.random(shape).round(3))
    number = lambda *values: c.constant(np.float32(values))
    limit = c.input(1, dtype=np.int64, fill=lambda rng, shape, sizes: rng.integers(-1, 6, shape))
    c.output(c.op("NonMaxSuppression", boxes, scores, c.constant(np.int64([5])), number(0.3), number(0.2)), np.int64)
    c.output(c.op("NonMaxSuppression", boxes, scores, c.constant(np.int64([1 << 62])), number(0.5), center_point_box=1), np.int64)
    c.output(c.op("NonMaxSuppression", boxes, scores, limit, number(0.5)), np.int64)
    c.output(c.op("NonMaxSuppression", boxes, scores), np.int64)
    return c.each(b=[1, 2], k=[1, 3], n=[1, 2, 7, 31]).each(b=[1], k=[2], n=[130, 700])


@case
def products_of_found_rows():
    """A box head: rows and columns that are known only when the run has looked at data, with a bias for each column of the product."""
    c = Case(17)
    shape = c.input(3, dtype=np.int64, fill=lambda rng, shape, sizes: np.int64([sizes["n"], 3, 4]))
    rows = c.op("Flatten", c.op("ConstantOfShape", shape, value=numpy_helper.from_array(np.float32([0.5]))), axis=1)
    for bias in ((5,), (1, 5), (1,), ()):
        c.output(c.op("Gemm", rows, c.weights(5, 12), c.weights(*bias), transB=1, beta=0.5))
    c.output(c.op("Gemm", rows, rows, transB=1, alpha=2.0))
    c.output(c.op("Relu", c.input("n")))
    return c.each(n=[1, 2, 7, 40])


@case
def detector():
    """What detectors end with: boxes of interest, if there are any those that do not overlap, and of these the first."""
    c = Case(18)
    boxes, scores, limit = c.input("n", 4, fill=box_corners), c.input("n", fill=lambda rng, shape, sizes: rng.random(shape)), c.input(fill=lambda rng, shape, sizes: np.float32(rng.random() * 1.5))
    i64 = lambda *values: c.constant(np.int64(values))
    kept = c.op("Reshape", c.op("NonZero", c.op("Greater", scores, limit)), i64(-1))
    some, theirs = c.op("Gather", boxes, kept, axis=0), c.op("Gather", scores, kept, axis=0)
    none = c.op("Equal", c.op("ReduceProd", c.op("Shape", some), keepdims=0), c.constant(np.int64(0)))
    empty = subgraph(c, [], lambda: [(c.op("Identity", c.constant(np.zeros(0, np.int64))), np.int64)])

    def suppressed():
        found = c.op("NonMaxSuppression", c.op("Unsqueeze", some, i64(0)), c.op("Unsqueeze", theirs, i64(0, 1)), i64(1 << 62), c.constant(np.float32([0.4])))
        return [(c.op("Squeeze", c.op("Gather", found, i64(2), axis=1), i64(1)), np.int64)]

    first = c.op("Slice", c.op("If", none, then_branch=empty, else_branch=subgraph(c, [], suppressed)), i64(0), i64(5), i64(0))
    c.output(c.op("Gather", some, first, axis=0)), c.output(c.op("Gather", theirs, first, axis=0))
    return c.at(n=[1, 1, 2, 3, 7, 13, 31, 64, 100])


@case
def loop_until():
    """A condition ends the loop: how many rows there are the run finds."""
    c = Case(18)
    x, limit, trips = c.input("n"), c.input(fill=lambda rng, shape, sizes: np.float32(rng.integers(0, 9))), c.constant(np.int64(6))
    start, one = c.constant(np.float32(0)), c.constant(np.float32(1))

    def step(i, go, a):
        following = c.op("Add", a, one)
        return [(c.op("Less", following, limit), bool), (following, np.float32), (c.op("Mul", following, x), np.float32)]

    body = subgraph(c, [(c.fresh("a"), np.int64, []), (c.fresh("a"), bool, []), (c.fresh("a"), np.float32, [])], step)
    last, rows = c.op("Loop", trips, "", start, outputs=2, body=body)
    c.output(last), c.output(c.op("Transpose", rows, perm=[1, 0]))
    return c.at(n=[1, 2, 3, 5, 8, 13, 17, 31])


@case
def ranges():
    c = Case(18)
    x = c.input("n", dtype=np.int64, fill=whole(0, 40))
    start, delta = c.input(dtype=np.int64, fill=whole(-9, 9)), c.input(dtype=np.int64, fill=lambda rng, shape, sizes: rng.choice([-7, -2, -1, 1, 3]))
    a, b, step = [c.input(fill=lambda rng, shape, sizes: np.float32(rng.normal() * 9 + 0.1)) for _ in range(3)]
    most, i64 = c.op("ReduceMax", x, keepdims=0), lambda *values: c.constant(np.int64(values))
    places = c.op("Range", c.constant(np.int64(0)), most, c.constant(np.int64(1)))
    c.output(places, np.int64), c.output(c.op("Range", start, most, delta), np.int64), c.output(c.op("Range", a, b, step))
    narrow = [c.op("Cast", v, to=6) for v in (start, most, delta)]
    c.output(c.op("Range", *narrow), np.int32)
    grid = c.op("Mul", c.op("Unsqueeze", c.op("Cast", places, to=1), i64(1)), c.op("Unsqueeze", c.op("Cast", x, to=1), i64(0)))
    c.output(c.op("Softmax", grid, axis=-1)), c.output(c.op("ReduceSum", grid, i64(0), keepdims=0))
    c.output(c.op("NonZero", grid), np.int64)
    return c.at(n=[1, 2, 3, 7, 13, 31])


@case
def shapes_in_data():
    c = Case(18)
    shape, row = c.input(2, dtype=np.int64, fill=whole(0, 9)), c.input("n")
    i64 = lambda *values: c.constant(np.int64(values))
    c.output(c.op("ConstantOfShape", shape))
    first = c.op("Slice", shape, i64(0), i64(1))
    table = c.op("Expand", row, c.op("Concat", first, i64(1), axis=0))
    c.output(table), c.output(c.op("Tile", table, shape))
    c.output(c.op("MatMul", table, c.op("Transpose", table, perm=[1, 0])))
    both = c.op("Concat", table, c.op("Neg", table), table, axis=0)
    c.output(both), c.output(c.op("Reshape", both, i64(-1))), c.output(c.op("Slice", both, i64(1), i64(5), i64(0)))
    c.output(c.op("Gather", table, c.op("Range", c.constant(np.int64(0)), c.op("Squeeze", first), c.constant(np.int64(1))), axis=0))
    wide = c.op("Add", c.op("Unsqueeze", both, i64(0)), c.op("ConstantOfShape", c.op("Concat", i64(3), i64(1), i64(1), axis=0)))
    c.output(c.op("ReduceSum", wide, i64(2), keepdims=0))
    return c.at(n=[1, 2, 3, 7, 13, 31, 64])


@case
def reshapes_by_data():
    c = Case(18)
    rows = c.input(1, dtype=np.int64, fill=lambda rng, shape, sizes: [rng.choice([d for d in range(1, 25) if 24 % d == 0])])
    any_shape = c.input(3, dtype=np.int64, fill=lambda rng, shape, sizes: [[2, -1, 3], [-1, 1, 6], [0, 2, 3], [4, 0, 1], [24, 1, -1]][rng.integers(5)])
    x, i64 = c.input("n", 24), lambda *values: c.constant(np.int64(values))
    c.output(c.op("Reshape", x, c.op("Concat", i64(-1), rows, axis=0)))
    one = c.op("ReduceSum", x, i64(0), keepdims=1)
    c.output(c.op("Exp", c.op("Reshape", one, c.op("Concat", rows, i64(-1), axis=0))))
    six = c.input(4, 6)
    c.output(c.op("Mul", c.op("Reshape", six, any_shape), c.constant(np.float32(2))))
    return c.at(n=[1, 2, 3, 7, 13, 31, 64])


@case
def cut_by_data():
    """Bounded by what is cut: nothing is allocated."""
    c = Case(18)
    ends = [c.input(2, dtype=np.int64, fill=lambda rng, shape, sizes: rng.choice([-(1 << 63), -5, -1, 0, 1, 2, 4, 9, (1 << 63) - 1], shape)) for _ in range(2)]
    x, k = c.input("a", "b", 3), c.input(1, dtype=np.int64, fill=lambda rng, shape, sizes: rng.integers(0, sizes["b"] + 1, shape))
    i64 = lambda *values: c.constant(np.int64(values))
    c.output(c.op("Slice", x, *ends)), c.output(c.op("Relu", c.op("Slice", x, *ends, i64(1, 2), i64(2, 1))))
    from_k = c.op("Slice", x, k, i64((1 << 63) - 1), i64(1))
    c.output(from_k), c.output(c.op("ReduceSum", from_k, i64(1, 2), keepdims=0))
    values, places = c.op("TopK", x, k, axis=1, outputs=2)
    c.output(values), c.output(places, np.int64)
    rest = c.op("Sub", c.op("Slice", c.op("Shape", x), i64(1), i64(2)), k)
    for part in c.op("Split", x, c.op("Concat", k, rest, axis=0), axis=1, outputs=2):
        c.output(part)
    return c.each(a=[1, 2, 7], b=[1, 3, 8, 13])


@case
def rows_by_data():
    """x[k:k+1] has no row where there is none, and takes the memory of one."""
    c = Case(18)
    places = lambda rng, shape, sizes: rng.choice([-9, -2, -1, 0, 1, 2, 5, 9, (1 << 63) - 1], shape)
    i64 = lambda *values: c.constant(np.int64(values))
    x = c.input("a", "b", 3)
    for axis in (0, 1):
        k = c.input(1, dtype=np.int64, fill=places)
        row = c.op("Slice", x, k, c.op("Add", k, i64(1)), i64(axis))
        c.output(row), c.output(c.op("Relu", row)), c.output(c.op("Concat", row, x, row, axis=axis)), c.output(c.op("MatMul", row, c.weights(3, 4)))
    k = c.input(2, dtype=np.int64, fill=places)
    following = c.op("Add", k, i64(1, 1))
    c.output(c.op("Neg", c.op("Slice", x, k, following))), c.output(c.op("Slice", x, k, following, i64(-1, 0)))
    k = c.input(1, dtype=np.int32, fill=lambda rng, shape, sizes: rng.choice([-3, -1, 0, 1, 9], shape))
    c.output(c.op("Slice", x, k, c.op("Add", k, c.constant(np.int32([2]))), c.constant(np.int32([1]))))
    return c.each(a=[1, 2, 7], b=[1, 3, 8])


@case
def counted_by_data():
    """Loops whose trip count or end only data tells."""
    c = Case(18)
    x, trips, limit = c.input("n"), c.input(dtype=np.int64, fill=whole(1, 20)), c.input(fill=whole(0, 20))
    start, one = c.constant(np.float32(0)), c.constant(np.float32(1))
    last, rows = loop(c, trips, [start], lambda i, a: [(c.op("Add", a, one), np.float32), (c.op("Mul", c.op("Add", a, one), x), np.float32)], 2)
    c.output(last), c.output(c.op("Transpose", rows, perm=[1, 0])), c.output(rows)

    def step(i, go, a):
        following = c.op("Add", a, one)
        return [(c.op("Less", following, limit), bool), (following, np.float32), (c.op("Mul", following, x), np.float32), (c.op("Cast", i, to=1), np.float32)]

    for bound in ("", c.constant(np.int64((1 << 63) - 1)), trips):
        body = subgraph(c, [(c.fresh("a"), np.int64, []), (c.fresh("a"), bool, []), (c.fresh("a"), np.float32, [])], step)
        last, rows, numbers = c.op("Loop", bound, "", start, outputs=3, body=body)
        c.output(last), c.output(c.op("Exp", c.op("Neg", rows))), c.output(numbers), c.output(rows)
    return c.at(n=[1, 2, 3, 5, 8, 13, 17, 31])


@case
def branches_of_data():
    """One branch gives a size that nothing bounds; a loop in which such tensors come and go."""
    c = Case(18)
    x, k, yes = c.input("n"), c.input(dtype=np.int64, fill=whole(0, 12)), c.input(dtype=bool, fill=whole(0, 1))
    zero, one, i64 = c.constant(np.int64(0)), c.constant(np.int64(1)), lambda *values: c.constant(np.int64(values))
    numbers = lambda most: c.op("Cast", c.op("Range", zero, most, one), to=1)
    many = subgraph(c, [], lambda: [(c.op("Sqrt", numbers(k)), np.float32)])
    few = subgraph(c, [], lambda: [(c.op("Identity", x), np.float32)])
    chosen = c.op("If", yes, then_branch=many, else_branch=few)
    c.output(chosen), c.output(c.op("Exp", chosen))
    both = c.op("Add", c.op("Unsqueeze", numbers(k), i64(1)), x)

    def step(i, a):
        inner = c.op("ReduceSum", numbers(i), keepdims=0)
        return [(c.op("Add", c.op("Mul", a, c.constant(np.float32(0.5))), inner), np.float32), (c.op("ReduceSum", a, keepdims=0), np.float32)]

    last, sums = loop(c, c.constant(np.int64(5)), [both], step, 2)
    c.output(last), c.output(sums)
    return c.at(n=[1, 2, 3, 7, 13, 31])


@case
def depths_in_data():
    c = Case(18)
    depth, picks = c.input(dtype=np.int64, fill=whole(1, 9)), c.input("n", dtype=np.int64, fill=whole(-3, 9))
    c.output(c.op("OneHot", picks, depth, c.constant(np.float32([0, 1]))))
    image, size = c.input(1, 2, "h", 5), c.input(2, dtype=np.int64, fill=whole(1, 12))
    c.output(c.op("Resize", image, "", "", c.op("Concat", c.constant(np.int64([1, 2])), size, axis=0), mode="linear"))
    return c.each(n=[1, 3, 7], h=[1, 2, 6])
