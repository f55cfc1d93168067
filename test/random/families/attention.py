"""Attention as exporters write it: products around a softmax, with what may stand between and before them. No operator's name: the forms are ingot's to
recognise (compiler/fusion/Attention.cpp), and near misses are among them."""
import numpy as np

from families import op


def split(c, heads, steps, width, batch, turned=False):
    """[batch, heads, steps, width], or with the last two axes swapped, made in one of several ways."""
    order = [0, 2, 3, 1] if turned else [0, 2, 1, 3]
    kind = c.rng.randrange(3)
    if kind == 0:
        x = c.data([batch, heads, steps, width], np.float32, -1, 1)
        return c.node("Transpose", [x], True, perm=[0, 1, 3, 2])[0] if turned else x
    if kind == 1:
        x = c.data([batch, steps, heads, width], np.float32, -1, 1)
    else:
        x = c.node("Reshape", [c.data([batch, steps, heads * width], np.float32, -1, 1), c.ints([batch, steps, heads, width])])[0]
    return c.node("Transpose", [x], True, perm=order)[0]


def repeated(c, x, group):
    """Heads that share keys, as repeat_kv writes it."""
    if group == 1:
        return x
    batch, heads, rows, columns = x.shape
    wide = c.node("Reshape", [x, c.ints([batch, heads, 1, rows, columns])])[0]
    wide = c.node("Expand", [wide, c.ints([batch, heads, group, rows, columns])])[0]
    return c.node("Reshape", [wide, c.ints([batch, heads * group, rows, columns])])[0]


def masked(c, scores):
    """The scores with a mask of any shape that broadcasts, added or chosen."""
    shape = [size if c.chance(0.5) else 1 for size in scores.shape]
    shape = shape[c.choice([0, 0, 0, 2, 3]):]
    kind = c.rng.randrange(5)
    lowest = c.choice([-10000.0, float(np.finfo(np.float32).min), -np.inf])
    if kind == 0:
        return scores
    if kind == 1:
        bias = np.where(c.numbers(shape, bool), np.float32(lowest), np.float32(0))
        return c.node("Add", c.choice([lambda b: [scores, b], lambda b: [b, scores]])(c.tensor(bias.astype(np.float32))))[0]
    if kind == 2:
        return c.node("Add", [scores, c.data(shape, np.float32, -3, 3)])[0]
    keep = c.tensor(c.numbers(shape, bool))
    if kind == 3:
        return c.node("Where", [keep, scores, c.tensor(np.float32(lowest), constant=True)])[0]
    bias = c.node("Where", [keep, c.tensor(np.float32(0), constant=True), c.tensor(np.float32(lowest), constant=True)])[0]
    return c.node("Add", [scores, bias])[0]


@op("attention", weight=3)
def attention(c, x):
    c.need(x is None)
    c.since(13)
    batch, shared, group = c.choice([1, 1, 2, 3]), c.choice([1, 2, 3]), c.choice([1, 1, 1, 2, 3])
    width, value_width = c.extent(), c.extent()
    queries, keys = c.extent(100), c.extent(300)
    if c.zero:
        queries, keys = c.choice([(0, keys), (queries, 0), (queries, keys)])
    heads = shared * group
    q = split(c, heads, queries, width, batch)
    k, v = repeated(c, split(c, shared, keys, width, batch, turned=True), group), repeated(c, split(c, shared, keys, value_width, batch), group)
    scale, place = np.float32(c.choice([0.25, 0.125, width**-0.5])), c.rng.randrange(4)
    number = lambda n: c.tensor(np.array(n, np.float32), constant=True)
    if place == 0:
        q = c.node("Mul", [q, number(scale)])[0]
    elif place == 1:
        q, k = c.node("Mul", [q, number(scale**0.5)])[0], c.node("Mul", [k, number(scale**0.5)])[0]
    flat = c.chance(0.2)
    if flat:  # one axis for batch and heads
        q, k, v = [c.node("Reshape", [t, c.ints([batch * heads, *t.shape[2:]])])[0] for t in (q, k, v)]
    scores = c.node("MatMul", [q, k])[0]
    if flat and c.chance(0.6):
        scores = c.node("Reshape", [scores, c.ints([batch, heads, queries, keys])])[0]
    if place == 2:
        scores = c.node("Mul", [scores, number(scale)])[0]
    elif place == 3:
        scores = c.node("Div", [scores, number(1 / scale)])[0]
    if c.chance(0.2):
        scores = c.node("Mul", [c.node("Tanh", [c.node("Div", [scores, number(2)])[0]])[0], number(2)])[0]
    scores = masked(c, scores)
    weights = c.node("Softmax", [scores], axis=-1)[0]
    if c.chance(0.3):
        empty = c.node("IsNaN", [weights])[0]
        weights = c.node("Where", [empty, number(0), weights])[0]
    if len(weights.shape) > len(v.shape):
        weights = c.node("Reshape", [weights, c.ints([batch * heads, queries, keys])])[0]
    if c.chance(0.1):  # the weights are a result too: nothing to recognise
        c.node("Neg", [weights])
    y = c.node("MatMul", [weights, v])[0]
    if flat:
        y = c.node("Reshape", [y, c.ints([batch, heads, queries, value_width])])[0]
    if c.chance(0.7):
        y = c.node("Transpose", [y], True, perm=[0, 2, 1, 3])[0]
        if c.chance(0.5):
            c.node("Reshape", [y, c.ints([batch, queries, heads * value_width])])
