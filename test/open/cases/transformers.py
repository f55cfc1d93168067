"""Attention in all its forms, and transformers as exporters write them."""
import numpy as np

from .case import Case, case, whole


@case
def encoder_layer():
    c = Case(17)
    i64 = lambda *v: c.constant(np.int64(v))
    x, mask = c.input("batch", "seq", 48), c.input("batch", "seq", dtype=np.int64, fill=lambda rng, shape, sizes: np.arange(shape[1])[None] < rng.integers(1, shape[1] + 1, (shape[0], 1)))
    heads = lambda v, perm: c.op("Transpose", c.op("Reshape", v, i64(0, 0, 3, 16)), perm=perm)
    dense = lambda v, k, n: c.op("Add", c.op("MatMul", v, c.constant((c.rng.standard_normal((k, n)) / 7).astype(np.float32))), c.weights(n))
    q, k, v = heads(dense(x, 48, 48), [0, 2, 1, 3]), heads(dense(x, 48, 48), [0, 2, 3, 1]), heads(dense(x, 48, 48), [0, 2, 1, 3])
    scores = c.op("Div", c.op("MatMul", q, k), c.constant(np.float32(4)))
    open_mask = c.op("Cast", c.op("Unsqueeze", mask, i64(1, 2)), to=1)
    bias = c.op("Mul", c.op("Sub", c.constant(np.float32(1)), open_mask), c.constant(np.float32(-10000)))
    weights = c.op("Softmax", c.op("Add", scores, bias), axis=-1)
    joined = c.op("Reshape", c.op("Transpose", c.op("MatMul", weights, v), perm=[0, 2, 1, 3]), i64(0, 0, 48))
    y = c.op("LayerNormalization", c.op("Add", x, dense(joined, 48, 48)), c.weights(48), c.weights(48))
    inner = dense(y, 48, 192)
    gelu = c.op("Mul", c.op("Mul", inner, c.op("Add", c.op("Erf", c.op("Div", inner, c.constant(np.float32(2**0.5)))), c.constant(np.float32(1)))), c.constant(np.float32(0.5)))
    c.output(c.op("LayerNormalization", c.op("Add", y, dense(gelu, 192, 48)), c.weights(48), c.weights(48)))
    return c.each(batch=[1, 2, 3], seq=[1, 2, 7, 16, 17, 40, 128])


@case
def rotary_of_open_heads():
    """How many heads there are only the run tells: the tables of angles say how wide one is."""
    c = Case(17)
    angles = c.rng.random((9, 4)).astype(np.float32)
    x = c.input("batch", "seq", "columns")
    places = c.input("batch", "seq", dtype=np.int64, fill=lambda rng, shape, sizes: rng.integers(0, 9, shape))
    tables = [c.constant(np.cos(angles)), c.constant(np.sin(angles))]
    c.output(c.op("RotaryEmbedding", x, places, *tables, domain="com.microsoft"))
    return c.each(batch=[1, 2], seq=[1, 5], columns=[8, 24])


@case
def decoding():
    c = Case(17)
    past = [c.input("batch", 2, "past", 8) for _ in range(2)]
    q, *fresh = [c.input("batch", 2, "seq", 8) for _ in range(3)]
    k, v = [c.output(c.op("Concat", p, f, axis=2)) for p, f in zip(past, fresh)]
    scores = c.op("MatMul", q, c.op("Transpose", k, perm=[0, 1, 3, 2]))
    c.output(c.op("MatMul", c.op("Softmax", scores, axis=-1), v))
    return c.each(batch=[1, 2], past=[0, 1, 7, 33], seq=[1, 3, 16])


LAYERS, HEADS, CACHES, WIDTH = 2, 4, 2, 8  # of `decoder`


@case
def decoder():
    """A language model with caches: ids, then the keys and values of each layer; logits, then these longer by what is new. Two heads share a cache."""
    c = Case(17)
    i64 = lambda *v: c.constant(np.int64(v))
    scalar = lambda v: c.constant(np.int64(v))
    dense = lambda v, k, n: c.op("MatMul", v, c.constant((c.rng.standard_normal((k, n)) / k**0.5).astype(np.float32)))
    heads = lambda v, count: c.op("Transpose", c.op("Reshape", v, i64(0, 0, count, WIDTH)), perm=[0, 2, 1, 3])
    size = lambda v, axis: c.op("Gather", c.op("Shape", v), scalar(axis), axis=0)
    ids = c.input("batch", "seq", dtype=np.int64, fill=lambda rng, shape, _: rng.integers(0, 40, shape))
    past = [[c.input("batch", CACHES, "past", WIDTH) for _ in range(2)] for _ in range(LAYERS)]
    before, here = size(past[0][0], 2), size(ids, 1)
    whole = c.op("Add", before, here)
    rows = c.op("Range", before, whole, scalar(1))
    seen = c.op("GreaterOrEqual", c.op("Unsqueeze", rows, i64(1)), c.op("Unsqueeze", c.op("Range", scalar(0), whole, scalar(1)), i64(0)))
    mask = c.op("Where", seen, c.constant(np.float32(0)), c.constant(np.finfo(np.float32).min))
    x = c.op("Add", c.op("Gather", c.weights(40, 32), ids), c.op("Gather", c.weights(500, 32), rows))
    present = []
    for layer in range(LAYERS):
        y = c.op("LayerNormalization", x, c.weights(32), c.weights(32))
        q = c.op("Mul", heads(dense(y, 32, 32), HEADS), c.constant(np.float32(WIDTH**-0.5)))
        kv = [c.op("Concat", old, heads(dense(y, 32, CACHES * WIDTH), CACHES), axis=2) for old in past[layer]]
        present += kv
        shape = c.op("Concat", *[c.op("Unsqueeze", v, i64(0)) for v in (size(q, 0), scalar(CACHES), scalar(HEADS // CACHES), whole, scalar(WIDTH))], axis=0)
        k, v = [c.op("Reshape", c.op("Expand", c.op("Unsqueeze", v, i64(2)), shape), i64(0, HEADS, -1, WIDTH)) for v in kv]
        scores = c.op("Add", c.op("MatMul", q, c.op("Transpose", k, perm=[0, 1, 3, 2])), mask)
        seen_values = c.op("MatMul", c.op("Softmax", scores, axis=-1), v)
        x = c.op("Add", x, dense(c.op("Reshape", c.op("Transpose", seen_values, perm=[0, 2, 1, 3]), i64(0, 0, HEADS * WIDTH)), 32, 32))
    c.output(dense(x, 32, 40))
    for v in present:
        c.output(v)
    return c.each(batch=[1, 2, 3, 8], seq=[1, 2, 17, 128, 384], past=[0, 1, 13])


@case
def attention():
    c = Case(24)
    q, k, v = c.input("batch", 6, "l", 8), c.input("batch", 2, "s", 8), c.input("batch", 2, "s", 5)
    mask = c.input("l", "s", dtype=bool, fill=lambda rng, shape, _: rng.random(shape) < 0.8)
    past_k, past_v = c.input("batch", 2, "past", 8), c.input("batch", 2, "past", 5)
    c.output(c.op("Attention", q, k, v, mask, outputs=1))
    c.output(c.op("Attention", q, k, v, outputs=1, is_causal=1, scale=0.5))
    for output in c.op("Attention", q, k, v, "", past_k, past_v, outputs=3, is_causal=1):
        c.output(output)
    return c.each(batch=[1, 3], l=[2, 7, 17], s=[17, 33], past=[0, 5])  # ONNX Runtime 1.30 lets one query see all keys


@case
def attention_flat():
    c = Case(24)
    q, k, v = c.input("batch", "l", 24), c.input("batch", "s", 24), c.input("batch", "s", 12)
    bias = c.input("batch", 1, "l", "s")
    c.output(c.op("Attention", q, k, v, bias, q_num_heads=3, kv_num_heads=3, softcap=2.0))
    return c.each(batch=[1, 2], l=[1, 7, 64], s=[1, 13, 100])


def written_out(c, q, k, v, heads, width, value_width, between):
    """Heads of [batch, steps, heads * width], attended to and joined again."""
    split = lambda x, w, order: c.op("Transpose", c.op("Reshape", x, c.constant(np.int64([0, 0, heads, w]))), perm=order)
    scores = between(c.op("MatMul", split(q, width, [0, 2, 1, 3]), split(k, width, [0, 2, 3, 1])))
    y = c.op("MatMul", c.op("Softmax", scores, axis=-1), split(v, value_width, [0, 2, 1, 3]))
    return c.output(c.op("Reshape", c.op("Transpose", y, perm=[0, 2, 1, 3]), c.constant(np.int64([0, 0, heads * value_width]))))


@case
def attention_widths():
    c = Case()
    for heads, width, value_width in [(3, 1, 1), (2, 33, 5), (1, 64, 64), (2, 80, 20), (1, 128, 128)]:
        q, k, v = c.input("batch", "l", heads * width), c.input("batch", "s", heads * width), c.input("batch", "s", heads * value_width)
        written_out(c, q, k, v, heads, width, value_width, lambda x, width=width: c.op("Mul", x, c.constant(np.float32(width**-0.5))))
    return c.each(batch=[1, 2], l=[1, 4, 17, 130], s=[1, 13, 128, 129])


def late(lowest, at_least):
    """A mask whose early keys, in whole blocks, are out; in some rows all of them."""

    def fill(rng, shape, _):
        mask = np.where(rng.random(shape) < 0.3, lowest, 0).astype(np.float32)
        mask[..., : shape[-1] * 2 // 3] = lowest
        mask[..., :: max(at_least, 1), :] = lowest
        return mask

    return fill


@case
def attention_masks():
    """The maximum grows from block to block, or is minus infinity for some."""
    c = Case()
    wide = lambda rng, shape, _: np.sort(rng.standard_normal(shape), axis=1) * 8
    for lowest in [-np.inf, float(np.finfo(np.float32).min), -1e4]:
        q, k, v = c.input("batch", "l", 16, fill=lambda rng, shape, _: abs(rng.standard_normal(shape))), c.input("batch", "s", 16, fill=wide), c.input("batch", "s", 16)
        mask = c.input("batch", 1, "l", "s", fill=late(lowest, 5))
        written_out(c, q, k, v, 2, 8, 8, lambda x, mask=mask: c.op("Add", x, mask))
        keep = c.op("Equal", c.op("Slice", mask, *[c.constant(np.int64([n])) for n in (0, 1, 2)]), c.constant(np.float32(0)))
        written_out(c, q, k, v, 2, 8, 8, lambda x, keep=keep, lowest=lowest: c.op("Where", keep, x, c.constant(np.float32(lowest))))
    written_out(c, q, k, v, 2, 8, 8, lambda x: x)
    return c.each(batch=[1, 2], l=[1, 2, 7, 21], s=[1, 31, 300, 517])


@case
def rotary():
    c = Case(23)
    x, positions = c.input("batch", "l", 48), c.input("batch", "l", dtype=np.int64, fill=lambda rng, shape, _: rng.integers(0, 50, shape))
    for width, interleaved in [(0, 0), (8, 0), (8, 1)]:
        columns = (width or 16) // 2
        cosine, sine = c.weights(50, columns), c.weights(50, columns)
        c.output(c.op("RotaryEmbedding", x, cosine, sine, positions, num_heads=3, rotary_embedding_dim=width, interleaved=interleaved))
    return c.each(batch=[1, 3], l=[1, 2, 17])


@case
def written_cache():
    c = Case(24)
    cache, update = c.input("batch", 2, "room", 4), c.input("batch", 2, "l", 4)
    start = c.input("batch", dtype=np.int64, fill=lambda rng, shape, _: rng.integers(0, 4, shape))
    c.output(c.op("TensorScatter", cache, update, start))
    c.output(c.op("TensorScatter", cache, update, start, mode="circular"))
    return c.each(batch=[1, 3], room=[9, 20], l=[1, 2, 5])


def filled(rng, shape, sizes):
    """A mask of tokens, some sentences a token shorter where one more token is read."""
    short = np.arange(shape[0]) % 2 if sizes["steps"] == 1 and shape[1] > 1 else np.zeros(shape[0])
    return np.arange(shape[1])[None] < (shape[1] - short)[:, None]


@case
def grouped_queries():
    """As ONNX Runtime's model builder has it; caches that grow by what a run adds, and ones that have room."""
    c = Case()
    i64 = lambda *values: c.constant(np.int64(values))
    mask = c.input("batch", "total", dtype=np.int64, fill=filled)
    total = c.op("Shape", mask, start=1, end=2)
    lengths = c.op("Cast", c.op("Sub", c.op("ReduceSum", mask, i64(1), keepdims=0), i64(1)), to=6)
    whole = c.op("Cast", c.op("Squeeze", total), to=6)
    tables = [c.constant(np.float32(f(np.arange(40)[:, None] / 10.0 ** np.arange(8)))) for f in (np.cos, np.sin)]
    for more in ({"do_rotary": 1}, {"local_window_size": 3, "smooth_softmax": 1}):
        operands = [c.input("batch", "steps", 16 * heads) for heads in (4, 2, 2)] + [c.input("batch", 2, "past", 16) for _ in range(2)]
        y, *caches = c.op("GroupQueryAttention", *operands, lengths, whole, *(tables if "do_rotary" in more else []), outputs=3, domain="com.microsoft", num_heads=4, kv_num_heads=2, **more)
        c.output(y)
        for cache in caches:  # what stands behind a sentence is not specified
            c.output(c.op("Slice", cache, i64(0), c.op("Sub", total, i64(1)), i64(2)))
    return c.at(batch=[1, 2, 2, 1, 3, 1, 1], steps=[5, 5, 1, 1, 1, 3, 4], past=[6, 9, 6, 20, 8, 6, 20], total=[5, 5, 7, 9, 7, 9, 4])


def ends(sizes):
    """How many rows of a cache each sentence has in the end."""
    return 60 * np.arange(sizes["batch"]) + 90 + sizes["steps"]


@case
def long_caches():
    """Caches with room for many more rows than there are. What is far behind a sentence is NaN, so a kernel that reads it is found out."""
    c = Case()
    i64 = lambda *values: c.constant(np.int64(values))

    def cache(rng, shape, sizes):
        rows = rng.standard_normal(shape).astype(np.float32)
        for row, end in zip(rows, ends(sizes)):
            row[:, end + 64 :] = np.nan  # a block of keys ends with a whole step of its loops
        return rows

    operands = [c.input("batch", "steps", 16 * heads) for heads in (4, 2, 2)] + [c.input("batch", 2, "past", 16, fill=cache) for _ in range(2)]
    lengths = c.input("batch", dtype=np.int32, fill=lambda rng, shape, sizes: ends(sizes) - 1)
    total = c.op("Add", c.op("ReduceMax", lengths, keepdims=0), c.constant(np.int32(1)))
    for more in ({}, {"softcap": 2.0}, {"causal": 0}):
        y, *caches = c.op("GroupQueryAttention", *operands, lengths, total, outputs=3, domain="com.microsoft", num_heads=4, kv_num_heads=2, **more)
        c.output(y)
        for each in caches:
            c.output(c.op("Slice", each, i64(0), i64(90), i64(2)))
    return c.at(batch=[1, 3, 1, 1], steps=[1, 1, 40, 7], past=[400, 600, 400, 300])


@case
def grouped_queries_of_one():
    c = Case()
    q, k, v, *past = [c.input(1, "steps", 8 * heads) for heads in (6, 2, 2)] + [c.input(1, 2, "past", 8) for _ in range(2)]
    total = c.op("Cast", c.op("Add", c.op("Squeeze", c.op("Shape", past[0], start=2, end=3)), c.op("Squeeze", c.op("Shape", q, start=1, end=2))), to=6)
    lengths = c.op("Reshape", c.op("Sub", total, c.constant(np.int32(1))), c.constant(np.int64([1])))
    sink = c.weights(6)
    for output in c.op("GroupQueryAttention", q, k, v, *past, lengths, total, "", "", "", "", sink, outputs=3, domain="com.microsoft", num_heads=6, kv_num_heads=2, softcap=3.0):
        c.output(output)
    return c.at(steps=[5, 1, 1, 3, 17], past=[1, 5, 16, 7, 3])


@case
def multi_head_attention():
    c = Case()
    mha = lambda *inputs, outputs=1, **more: c.op("MultiHeadAttention", *inputs, outputs=outputs, domain="com.microsoft", num_heads=3, **more)
    q, k, v = c.input("batch", "l", 24), c.input("batch", "s", 24), c.input("batch", "s", 24)
    rows = c.input("batch", "s", dtype=np.int32, fill=lambda rng, shape, sizes: np.arange(shape[1])[None] < rng.integers(1, shape[1] + 1, shape[0])[:, None])
    counts = c.input("batch", dtype=np.int32, fill=lambda rng, shape, sizes: rng.integers(1, sizes["s"] + 1, shape))
    c.output(mha(q, k, v))
    c.output(mha(q, k, v, c.weights(72), rows))
    c.output(mha(q, k, v, "", counts, scale=0.25))
    c.output(mha(q, k, v, "", "", c.input(1, 3, "l", "s")))
    c.output(mha(q, c.input("batch", 3, "s", 8), c.input("batch", 3, "s", 8)))
    past = [c.input("batch", 3, "past", 8) for _ in range(2)]
    for output in mha(q, c.input("batch", "l", 24), c.input("batch", "l", 24), "", "", "", *past, outputs=3):
        c.output(output)
    return c.each(batch=[1, 3], l=[1, 7], s=[1, 13, 17], past=[1, 5])
