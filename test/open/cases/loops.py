"""Recurrent layers, branches and loops."""
import numpy as np

from .case import Case, case, loop, subgraph, whole


@case
def recurrent():
    c = Case(14)
    for kind, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for direction, ways in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            for hidden in (5, 16):
                w, r, b = c.weights(ways, gates * hidden, 7), c.weights(ways, gates * hidden, hidden), c.weights(ways, 2 * gates * hidden)
                y = c.op(kind, c.input("t", "b", 7), w, r, b, hidden_size=hidden, direction=direction, outputs=2)
                c.output(y[0]), c.output(y[1])
    states = [c.input(1, "b", 6), c.input(1, "b", 6)]
    y = c.op("LSTM", c.input("t", "b", 4), c.weights(1, 24, 4), c.weights(1, 24, 6), "", "", *states, hidden_size=6, outputs=3)
    for v in y:
        c.output(v)
    return c.each(t=[1, 2, 9], b=[1, 2, 5, 7, 16])


@case
def caches_as_loop():
    """Two caches and a list grow by a row in each iteration; a third value loses one. What they have become the rest of the model adds to what it knows."""
    c = Case()
    x, past, list_, rest = c.input("seq", "batch", 8), c.input("batch", "past", 8), c.input("past", fill=lambda rng, shape, sizes: rng.random(shape)), c.input("more", 4)
    i64 = lambda *values: c.constant(np.int64(values))
    trips = c.op("Squeeze", c.op("Slice", c.op("Shape", x), i64(0), i64(1)), i64(0))

    def step(i, keys, values, numbers, left):
        row = c.op("Unsqueeze", c.op("Gather", x, i, axis=0), i64(1))
        keys, values = c.op("Concat", keys, row, axis=1), c.op("Concat", c.op("Neg", row), values, axis=1)
        p = c.op("Softmax", c.op("MatMul", row, c.op("Transpose", keys, perm=[0, 2, 1])), axis=-1)
        out = c.op("MatMul", p, values)
        numbers = c.op("Concat", numbers, c.op("Reshape", c.op("ReduceMean", out, keepdims=0), i64(1)), axis=0)
        left = c.op("Slice", left, i64(1), i64(1 << 62), i64(0))
        return [*((v, np.float32) for v in (keys, values, numbers, left)), (out, np.float32), (c.op("ReduceSum", left, keepdims=0), np.float32)]

    keys, values, numbers, left, outs, sums = loop(c, trips, [past, past, list_, rest], step, 6)
    whole = c.op("Concat", past, c.op("Transpose", x, perm=[1, 0, 2]), axis=1)
    c.output(c.op("Add", keys, whole)), c.output(values), c.output(c.op("Relu", numbers)), c.output(left), c.output(outs), c.output(sums)
    return c.each(seq=[1, 2, 17], batch=[1, 3], past=[1, 5], more=[1, 4, 20])


@case
def picked_as_loop():
    """As many rows as are positive in each iteration, until a condition ends it; the branch drops the first ones."""
    c = Case()
    x, most = c.input("seq", 6), c.input(fill=lambda rng, shape, sizes: rng.integers(0, 40, shape))
    i64, zero = lambda *values: c.constant(np.int64(values)), c.constant(np.float32(0))
    trips = c.op("Squeeze", c.op("Slice", c.op("Shape", x), i64(0), i64(1)), i64(0))
    start, limit = c.constant(np.zeros((0, 1), np.float32)), i64(9)

    def step(i, go, rows):
        row = c.op("Gather", x, i, axis=0)
        picked = c.op("Compress", c.op("Unsqueeze", row, i64(1)), c.op("Greater", row, zero), axis=0)
        all = c.op("Concat", rows, picked, axis=0)
        size = c.op("Slice", c.op("Shape", all), i64(0), i64(1))
        keep = subgraph(c, [], lambda: [(c.op("Identity", all), np.float32)])
        drop = subgraph(c, [], lambda: [(c.op("Slice", all, i64(4), i64(1 << 62), i64(0)), np.float32)])
        rows = c.op("If", c.op("Squeeze", c.op("Less", size, limit)), then_branch=keep, else_branch=drop)
        count = c.op("Cast", c.op("Squeeze", size), to=1)
        return [(c.op("Less", count, most), bool), (rows, np.float32), (c.op("ReduceSum", rows, keepdims=0), np.float32)]

    body = subgraph(c, [(c.fresh("a"), np.int64, []), (c.fresh("a"), bool, []), (c.fresh("a"), np.float32, None)], step)
    rows, sums = c.op("Loop", trips, "", start, outputs=2, body=body)
    c.output(rows), c.output(sums)
    return c.at(seq=[1, 2, 3, 5, 8, 13, 17, 31])


@case
def recurrence_as_loop():
    c = Case()
    x, h = c.input("seq", "batch", 10), c.input("batch", 20)
    w, r, zero = c.weights(10, 20), c.weights(20, 20), c.constant(np.int64(0))
    trips = c.op("Gather", c.op("Shape", x), zero)

    def step(i, h):
        row = c.op("Gather", x, i, axis=0)
        new = c.op("Tanh", c.op("Add", c.op("MatMul", row, w), c.op("MatMul", h, r)))
        return [(new, np.float32), (c.op("Add", new, h), np.float32)]

    last, all_steps = loop(c, trips, [h], step, 2)
    c.output(last), c.output(c.op("Softmax", all_steps, axis=-1))
    return c.each(seq=[1, 2, 17], batch=[1, 3])  # the reference stacks nothing badly


@case
def branch_on_size():
    c = Case()
    x, k = c.input("n", 8), c.input(dtype=np.int64)
    count = c.op("Gather", c.op("Shape", x), c.constant(np.int64(0)))
    large = c.op("Greater", count, c.op("Mul", k, c.constant(np.int64(2))))
    once = c.op("Exp", x)
    yes = subgraph(c, [], lambda: [(c.op("Softmax", once, axis=0), np.float32)])
    no = subgraph(c, [], lambda: [(c.op("Neg", c.op("Add", once, x)), np.float32)])
    c.output(c.op("If", large, then_branch=yes, else_branch=no))
    return c.at(n=[*range(1, 20)])


@case
def sizes_of_what_nobody_reads():
    """Of an If and of a Loop nothing but the shapes of their results."""
    c = Case()
    x, z, k = c.input("n"), c.input("m"), c.input(dtype=np.int64, fill=lambda rng, shape, sizes: rng.integers(0, 3, shape))
    yes = subgraph(c, [], lambda: [(c.op("Neg", x), np.float32)])
    no = subgraph(c, [], lambda: [(c.op("Concat", z, z, axis=0), np.float32)])
    v = c.op("If", c.op("Greater", k, c.constant(np.int64(1))), then_branch=yes, else_branch=no)
    c.output(c.op("Expand", c.constant(np.float32([3])), c.op("Shape", v)))
    grown = loop(c, k, [c.op("Neg", x)], lambda i, list_: [(c.op("Concat", list_, z, axis=0), np.float32)], 1)
    c.output(c.op("Shape", grown), np.int64)
    return c.each(n=[1, 2, 7], m=[1, 5])
