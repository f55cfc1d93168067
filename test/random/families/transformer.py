"""Operators of transformers that the standard has by name, and their kin in com.microsoft."""
import numpy as np

from families import op


@op("Attention", weight=3)
def attention(c, x):
    """ONNX Runtime errs for single queries behind a cache (1.30), and so there are more. It takes no mask of one row for them all, for which the reference evaluator has
    the first row of a causal one."""
    c.since(23)
    batch, shared, group, width, values = c.choice([1, 1, 2]), c.choice([1, 2]), c.choice([1, 1, 2, 3]), c.choice([1, 4, 7, 8, 16]), c.choice([1, 4, 8, 13])
    queries, keys, past = c.extent(33) + 1, c.extent(65), c.choice([0, 0, 1, 3, 7])
    heads, flat = shared * group, c.chance(0.4)
    f = lambda *shape: c.data(list(shape), np.float32, -1, 1)
    rows = lambda n, steps, size: f(batch, steps, n * size) if flat else f(batch, n, steps, size)
    total = keys + past
    mask = None
    if c.chance(0.5):
        shape = [*(size if c.chance(0.6) else 1 for size in (batch, heads)), queries, total][c.choice([0, 0, 1, 2]) :]
        mask = c.tensor(np.logical_or(c.numbers(shape, bool), np.arange(total) == 0)) if c.chance(0.5) else f(*shape)
    # What a score that is masked is, the lowest number or none, is ONNX Runtime's own.
    causal = c.choice([None, 0, 1])
    shows = c.chance(0.3) and not causal and (mask is None or mask.dtype != bool)
    caches = [f(batch, shared, past, width), f(batch, shared, past, values)] if past else []
    named = dict(q_num_heads=heads, kv_num_heads=shared) if flat else {}
    outputs = [True, bool(past), bool(past), shows]
    c.node("Attention", [rows(heads, queries, width), rows(shared, keys, width), rows(shared, keys, values), mask, *caches], outputs, scale=c.choice([None, 0.25]), is_causal=causal,
           softcap=c.choice([None, 2.0]), softmax_precision=c.choice([None, 1]), qk_matmul_output_mode=c.choice([None, 0, 1, 2, 3]) if outputs[3] else None, **named)  # fmt: skip


@op("RotaryEmbedding", weight=2)
def rotary(c, x):
    c.since(23)
    batch, heads, steps, width = c.choice([1, 2]), c.choice([1, 2, 3]), c.extent(9), c.choice([2, 4, 8, 16, 26])
    part = c.choice([0, 0, width // 2 // 2 * 2])
    half = (part or width) // 2
    flat = c.chance(0.4)
    x = c.data([batch, steps, heads * width] if flat else [batch, heads, steps, width])
    if c.chance(0.5):
        tables = [c.data([steps + 3, half], np.float32, -1, 1) for _ in range(2)]
        places = c.tensor(c.numbers([batch, steps], np.int64, 0, steps + 2))
    else:
        tables, places = [c.data([batch, steps, half], np.float32, -1, 1) for _ in range(2)], None
    c.node("RotaryEmbedding", [x, *tables, places], interleaved=c.choice([None, 0, 1]), rotary_embedding_dim=part or None, num_heads=heads if flat else None)


@op("TensorScatter")
def tensor_scatter(c, x):
    c.since(24)
    shape = [c.choice([1, 2, 3]), c.extent(5), c.extent(17), c.extent(9)][: c.choice([2, 3, 4])]
    axis = c.rng.randrange(1, len(shape))
    rows = list(shape)
    rows[axis] = c.rng.randint(1, shape[axis])
    mode = c.choice([None, "linear", "circular"])
    most = shape[axis] - (1 if mode == "circular" else rows[axis])
    places = c.tensor(c.numbers(shape[:1], np.int64, 0, most)) if c.chance(0.8) else None
    type = c.choice([np.float32, np.int64])
    c.node("TensorScatter", [c.data(shape, type), c.data(rows, type), places], exact=True, axis=axis - (len(shape) if c.chance(0.5) else 0), mode=mode)


@op("com.microsoft.MRotaryEmbedding")
def mrotary(c, x):
    batch, steps, heads, section = c.choice([1, 2]), c.extent(9), c.choice([1, 2, 3]), c.choice([[2, 1, 1], [4, 2, 2], [3, 3, 2], [4, 0, 0]])
    half, partial = sum(section), c.chance(0.3)
    width = 2 * half + (4 if partial else 0)
    apart = c.chance(0.4)
    x = c.data([batch, heads, steps, width] if apart else [batch, steps, heads * width])
    places = c.tensor(c.numbers([3, batch, steps], np.int64, 0, 8))
    named = dict(num_heads=heads, rotary_embedding_dim=2 * half) if partial else {} if apart else dict(num_heads=heads)
    c.node("com.microsoft.MRotaryEmbedding", [x, places, c.data([9, half], low=-1, high=1), c.data([9, half], low=-1, high=1)], mrope_section=section, mrope_layout=c.choice([0, 1]),
           interleaved=c.choice([None, 0, 1]), **named)  # fmt: skip
