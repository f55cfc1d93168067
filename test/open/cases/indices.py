"""Through indices."""
import numpy as np

from .case import Case, case, subgraph


@case
def indexed():
    c = Case(17)
    below = lambda limit: lambda rng, shape, sizes: rng.integers(-limit(sizes), limit(sizes), shape)
    index = lambda *shape, limit: c.input(*shape, dtype=np.int64, fill=below(limit))
    c.output(c.op("Gather", c.weights(50, 24), index("b", "n", limit=lambda s: 50)))
    c.output(c.op("Gather", c.input("b", "n", "w"), index(3, limit=lambda s: s["n"]), axis=1))
    c.output(c.op("Gather", c.input("b", "n", "w"), index("b", limit=lambda s: s["w"]), axis=2))
    c.output(c.op("Gather", c.input("b", "n", "w"), c.constant(np.int64(-1)), axis=1))
    c.output(c.op("GatherElements", c.input("b", "n", "w"), index("b", "n", 4, limit=lambda s: s["w"]), axis=2))
    c.output(c.op("GatherND", c.input("b", "n", "w"), index("n", 2, limit=lambda s: min(s["b"], s["n"]))))
    c.output(c.op("ScatterElements", c.input("n", "w"), c.op("Unsqueeze", c.op("ArgMax", c.input("n", "w"), axis=1, keepdims=0), c.constant(np.int64([1]))), c.input("n", 1), axis=1))
    unique = lambda rng, shape, sizes: rng.permutation(sizes["n"])
    c.output(c.op("ScatterND", c.input("n", "w"), c.input("n", 1, dtype=np.int64, fill=unique), c.input("n", "w")))
    values, places = c.op("TopK", c.input("b", "n", "w"), c.constant(np.int64([1])), axis=1, outputs=2)
    c.output(values), c.output(places, np.int64)
    c.output(c.op("GatherND", c.input("b", "n"), index("b", 3, "one", limit=lambda s: s["n"]), batch_dims=1))  # tuples of the only length that they can have
    c.output(c.op("ScatterND", c.input("n", "w"), c.input("n", "one", dtype=np.int64, fill=unique), c.input("n", "w")))
    return c.each(b=[1, 3], n=[1, 2, 9], w=[1, 7, 16, 31], one=[1])


@case
def boxes():
    """Constant indices that count evenly: boxes of the data, some upside down or one place again and again, and one that is none."""
    c = Case(18)
    grid = lambda *axes: c.constant(np.stack(np.meshgrid(*map(np.int64, axes), indexing="ij"), -1))
    along = lambda places, *shape: c.constant(np.broadcast_to(np.int64(places), shape).copy())
    c.output(c.op("ScatterND", c.input("n", "w"), grid([0, 1], [0, 2, 4]), c.input(2, 3)))
    c.output(c.op("ScatterND", c.input("n", "w"), grid([1, 0], [5, 3]), c.input(2, 2), reduction="add"))
    c.output(c.op("ScatterND", c.input(4, 3, "w"), grid([-1, -3], [-2, -1]), c.input(2, 2, "w")))
    c.output(c.op("ScatterND", c.input("n", "w"), grid([1, 1]), c.input(2, "w"), reduction="mul"))
    c.output(c.op("ScatterND", c.input("n", 8), grid([0, 1, 1]), c.input(3, 8), reduction="max"))
    c.output(c.op("ScatterElements", c.input("n", "w"), along([[1], [0]], 2, 4), c.input(2, 4), axis=0))
    c.output(c.op("ScatterElements", c.input("n", "w"), along([1, 3, 5], 2, 3), c.input(2, 3), axis=1))
    return c.each(n=[2, 3], w=[6, 7, 16, 31])


@case
def best_of_many():
    """Few and many of long lines, along them and across: what is inserted into lists of one vector and of several, and what is sorted. Many elements are equal."""
    c = Case(14)
    rounded = lambda rng, shape, sizes: np.round(rng.standard_normal(shape), 1).astype(np.float32)
    across, along = c.input("b", "n", "w", fill=rounded), c.input("b", "n", fill=rounded)
    for x, k, largest in [(across, 2, 1), (across, 40, 0), (across, 150, 1), (along, 1, 1), (along, 5, 0), (along, 40, 1), (along, 150, 0)]:
        values, places = c.op("TopK", x, c.constant(np.int64([k])), axis=1, largest=largest, outputs=2)
        c.output(values), c.output(places, np.int64)
    whole = c.op("Cast", c.op("Mul", along, c.constant(np.float32(10))), to=7)
    for k in (5, 150):
        values, places = c.op("TopK", whole, c.constant(np.int64([k])), axis=1, outputs=2)
        c.output(values, np.int64), c.output(places, np.int64)
    return c.each(b=[1, 2], n=[150, 700], w=[1, 5, 17])


@case
def sizes_as_indices():
    """Sizes that are shapes and ends to some and numbers in memory to others, also to what stands in a branch."""
    c = Case(14)
    i64 = lambda *v: c.constant(np.int64(v))
    x = c.input("b", "s", 4)
    end = c.op("Unsqueeze", c.op("Gather", c.op("Shape", x), c.constant(np.int64(1)), axis=0), i64(0))
    v = c.op("Add", x, c.op("Slice", c.weights(1, 8, 1), i64(0), end, i64(1), i64(1)))
    c.output(c.op("Gather", v, end, axis=0))
    rows = c.op("Slice", c.weights(8, 5), i64(0), end, i64(1), i64(1))  # s of 5 columns: a kernel
    c.output(c.op("Mul", rows, c.op("Cast", end, to=1)))
    c.output(c.op("Range", c.constant(np.int64(0)), c.op("Squeeze", end), c.constant(np.int64(1))), np.int64)
    some = lambda: subgraph(c, [], lambda: [(c.op("Slice", c.weights(8, 3), i64(0), end, i64(0)), np.float32)])
    c.output(c.op("If", c.op("Squeeze", c.input(1, dtype=bool)), then_branch=some(), else_branch=some()))
    return c.each(b=[6, 7], s=[0, 1, 3, 5])


@case
def reversed_sequences():
    c = Case(17)
    lengths = c.input("b", dtype=np.int64, fill=lambda rng, shape, sizes: rng.integers(1, sizes["t"] + 1, shape))
    c.output(c.op("ReverseSequence", c.input("t", "b", "w"), lengths))
    c.output(c.op("ReverseSequence", c.input("b", "t"), lengths, batch_axis=0, time_axis=1))
    return c.each(b=[1, 3], t=[1, 2, 9], w=[1, 7])


@case
def tuples_of_open_length():
    """What is updated says how long the tuples are."""
    c = Case(17)
    unique = lambda rng, shape, sizes: np.stack([rng.permutation(sizes["n"])[: shape[0]], rng.integers(0, sizes["w"], shape[0])], axis=1)
    c.output(c.op("ScatterND", c.input("n", "w", "b"), c.input("k", "length", dtype=np.int64, fill=unique), c.input("k", "b")))
    return c.at(n=[3, 9], w=[1, 7], b=[2, 16], k=[1, 2], length=[2])
