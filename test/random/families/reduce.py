"""Reductions, ArgMax and ArgMin, CumSum."""
import numpy as np

from families import op

SINCE_13 = {"ReduceSum": 13}


@op("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", weight=2)
def reduce(c, x, name):
    if x is None:
        integer = name in ("ReduceSum", "ReduceMax", "ReduceMin") and c.chance(0.2)
        x = c.data(c.shape(1, 5), np.int64 if integer and c.opset >= 12 else np.float32, -2, 2)
    c.need(x.rank and (x.dtype == np.float32 or (x.dtype == np.int64 and name in ("ReduceSum", "ReduceMax", "ReduceMin") and c.opset >= 12)))
    c.need(x.array.size or name in ("ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceProd"))
    c.need(not x.array.size or (np.isfinite(x.array).all() and np.abs(x.array).max() < (3 if name == "ReduceProd" else 40)))
    if name == "ReduceLogSum":
        c.need(x.array.size)
        x = x if x.array.min() > 0.1 else c.tensor(np.abs(x.array) + np.float32(0.5))
    axes = sorted(c.rng.sample(range(x.rank), c.rng.randint(1, x.rank)))
    axes = [axis - x.rank if c.opset >= 11 and c.chance(0.3) else axis for axis in axes]
    attributes = {"keepdims": c.choice([None, 0, 1])}
    every = c.chance(0.2)
    if c.opset < SINCE_13.get(name, 18):
        c.node(name, [x], exact=name in ("ReduceMax", "ReduceMin"), axes=None if every else axes, **attributes)
        return
    if every:
        attributes["noop_with_empty_axes"] = c.choice([None, 0, 1])
    c.node(name, [x, None if every else c.lengths(axes)], exact=name in ("ReduceMax", "ReduceMin"), **attributes)


@op("ArgMax", "ArgMin", weight=2)
def arg(c, x, name):
    x = x or c.data(c.shape(1, 4))
    c.need(x.rank and x.exact and x.array.size and x.dtype in (np.float32, np.int32))
    last = c.choice([None, 0, 1]) if c.opset >= 12 else None
    c.node(name, [x], exact=True, axis=c.choice([None, c.axis(x.rank, negative=c.opset >= 11)]), keepdims=c.choice([None, 0, 1]), select_last_index=last)


@op("CumSum")
def cumsum(c, x):
    c.since(11)
    x = x or c.data(c.shape(1, 4), c.choice([np.float32, np.int64, np.int32]))
    c.need(x.rank and x.dtype in (np.float32, np.int32, np.int64))
    axis = c.tensor(np.array(c.axis(x.rank), c.choice([np.int32, np.int64])), constant=c.chance(0.7))
    c.node("CumSum", [x, axis], exact=x.dtype.kind == "i", exclusive=c.choice([None, 0, 1]), reverse=c.choice([None, 0, 1]))
