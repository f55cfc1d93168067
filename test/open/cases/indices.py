"""Through indices."""
import numpy as np

from .case import Case, case


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
    return c.each(b=[1, 3], n=[1, 2, 9], w=[1, 7, 16, 31])
