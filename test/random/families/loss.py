"""Losses of classes."""
import numpy as np

from families import op


@op("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", weight=2)
def loss(c, x, name):
    c.since(12)
    x = x or c.data([c.extent(17), c.extent(), *[c.extent(9) for _ in range(c.choice([0, 0, 1, 2]))]], low=-3)
    c.need(x.dtype == np.float32 and x.rank >= 2 and x.array.size and np.isfinite(x.array).all() and np.abs(x.array).max() < 40)
    classes = x.shape[1]
    target = c.numbers([x.shape[0], *x.shape[2:]], c.choice([np.int32, np.int64]), 0, classes - 1)
    reduction, ignored = c.choice([None, "none", "sum", "mean"]), c.choice([None, None, 0, -1, 255])
    if ignored is not None and ignored != 0:
        target[np.random.Generator(np.random.PCG64(c.rng.getrandbits(64))).random(target.shape) < 0.3] = ignored
    c.need(reduction in ("none", "sum") or ignored is None or (target != ignored).any())  # a mean of nothing
    weight = c.data([classes], low=0.25, high=2) if c.chance(0.5) else None
    outputs = c.choice([1, 2]) if name == "SoftmaxCrossEntropyLoss" else 1
    c.node(name, [x, c.tensor(target), weight], outputs=outputs, reduction=reduction, ignore_index=ignored)
