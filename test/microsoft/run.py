"""Operators of com.microsoft that ONNX Runtime's CPU provider has no kernel for (or only one that needs its caller's memory in a special way): numpy says what their definitions mean.

    run.py --ingot build/bin/ingot [--ops RemovePadding,Rfft] [--draws 3] [--seed 0]

Each case is drawn with sizes of its own and compiled twice: with these sizes, and with all axes of its inputs open."""
import math
import os
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import ingot_run
import numpy as np
import onnx
from onnx import helper, numpy_helper

CASES = {}


def case(*names):
    def register(function):
        for name in names:
            CASES[name] = function
        return function

    return register


class Draw:
    """Numbers of a case; `constant` marks an operand that stands in the model."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def one_of(self, *values):
        return values[self.rng.integers(len(values))]

    def chance(self, share):
        return self.rng.random() < share

    def data(self, *shape, low=-1.0, high=1.0):
        return self.rng.uniform(low, high, shape).astype(np.float32)

    def ints(self, low, high, *shape, dtype=np.int64):
        return self.rng.integers(low, high, shape).astype(dtype)


class Constant:
    def __init__(self, array):
        self.array = np.asarray(array)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def gelu(x, tanh=False):
    from math import erf

    if tanh:
        return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def heads_apart(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def attention(q, k, v, bias=0, scale=None):
    """Of [batch, heads, steps, width]."""
    scores = q @ k.swapaxes(-1, -2) * (scale or 1 / np.sqrt(q.shape[-1])) + bias
    return softmax(scores) @ v


# Padding.


def lengths(d, batch, steps):
    return d.ints(1, steps + 1, batch, dtype=np.int32)


def offsets_of(counts, steps):
    own = (np.arange(steps)[None] < counts[:, None]).reshape(-1)
    return np.concatenate([np.flatnonzero(own), np.flatnonzero(~own)]).reshape(len(counts), steps).astype(np.int32)


@case("RemovePadding")
def remove_padding(d):
    batch, steps, width = d.one_of(1, 2, 5), d.one_of(1, 4, 7), d.one_of(1, 8, 13)
    x, counts = d.data(batch, steps, width), lengths(d, batch, steps)
    if d.chance(0.3):
        counts[0] = 0
    offsets, total = offsets_of(counts, steps), counts.sum()
    sums = np.concatenate([[0], counts.cumsum()]).astype(np.int32)
    return [x, counts], {}, [x.reshape(-1, width)[offsets.reshape(-1)[:total]], offsets, sums, np.array([counts.max()], np.int32)]


@case("RestorePadding")
def restore_padding(d):
    batch, steps, width = d.one_of(1, 2, 5), d.one_of(1, 4, 7), d.one_of(1, 8, 13)
    counts = lengths(d, batch, steps)
    offsets, rows = offsets_of(counts, steps), d.data(counts.sum(), width)
    padded = np.zeros((batch * steps, width), np.float32)
    padded[offsets.reshape(-1)[: len(rows)]] = rows
    return [rows, offsets], {}, [padded.reshape(batch, steps, width)]


def packed(parts, counts, steps, heads, bias, scale):
    """Attention of each sentence by itself."""
    results, at = [], 0
    for b, n in enumerate(counts):
        q, k, v = (heads_apart(part[None, at : at + n], heads) for part in parts)
        mine = 0 if bias is None else bias[b % len(bias)][:, :n, :n]
        results.append(attention(q, k, v, mine, scale)[0].transpose(1, 0, 2).reshape(n, -1))
        at += n
    return np.concatenate(results)


def packed_operands(d):
    batch, steps, heads, width, wide = d.one_of(1, 2, 3), d.one_of(1, 4, 7), d.one_of(1, 2, 3), d.one_of(4, 8), d.one_of(4, 8)
    counts = lengths(d, batch, steps)
    sums = np.concatenate([[0], counts.cumsum()]).astype(np.int32)
    bias = d.data(d.one_of(1, batch), d.one_of(1, heads), steps, steps) if d.chance(0.5) else None
    scale = d.one_of(None, 0.25)
    return batch, steps, heads, width, wide, counts, offsets_of(counts, steps), sums, bias, scale


@case("PackedAttention")
def packed_attention(d):
    _, steps, heads, width, wide, counts, offsets, sums, bias, scale = packed_operands(d)
    x, three = d.data(counts.sum(), 6), d.chance(0.5)
    wide = wide if three else width
    widths = [heads * width, heads * width, heads * wide]
    weights, added = d.data(6, sum(widths)), d.data(sum(widths))
    parts = np.split(x @ weights + added, np.cumsum(widths)[:2], axis=1)
    attributes = dict(num_heads=heads, scale=scale, qkv_hidden_sizes=widths if three else None, mask_filter_value=d.one_of(None, -20000.0))
    return [x, Constant(weights), Constant(added), offsets, sums, bias], attributes, [packed(parts, counts, steps, heads, bias, scale)]


@case("PackedMultiHeadAttention")
def packed_heads(d):
    _, steps, heads, width, wide, counts, offsets, sums, bias, scale = packed_operands(d)
    together, tokens = d.chance(0.4), counts.sum()
    wide = width if together else wide
    parts = [d.data(tokens, heads * w) for w in (width, width, wide)]
    added = d.data(heads * (2 * width + wide)) if d.chance(0.5) else None
    if together:
        inputs = [np.stack([part.reshape(tokens, heads, width) for part in parts], axis=2), None, None]
    else:
        inputs = list(parts)
    if added is not None:
        parts = [part + more for part, more in zip(parts, np.split(added, [heads * width, 2 * heads * width]))]
    return [*inputs, added, offsets, sums, bias], dict(num_heads=heads, scale=scale), [packed(parts, counts, steps, heads, bias, scale)]


# Attention with caches.


def turned(x, cos, sin, places, interleaved):
    """Of [batch, steps, heads, width], by tables at places [batch, steps]."""
    half = cos.shape[1]
    c, s = cos[places][:, :, None], sin[places][:, :, None]
    y = x.copy()
    a, b = (x[..., 0 : 2 * half : 2], x[..., 1 : 2 * half : 2]) if interleaved else (x[..., :half], x[..., half : 2 * half])
    first, second = a * c - b * s, b * c + a * s
    if interleaved:
        y[..., 0 : 2 * half : 2], y[..., 1 : 2 * half : 2] = first, second
    else:
        y[..., :half], y[..., half : 2 * half] = first, second
    return y


@case("SparseAttention")
def sparse_attention(d):
    batch, shared, group, width, block, layouts = d.one_of(1, 2, 3), d.one_of(1, 2), d.one_of(1, 2), d.one_of(16, 32), d.one_of(2, 4, 16), 1
    heads = shared * group
    layouts = d.one_of(1, heads)
    blocks = d.one_of(3, 5)
    cache = blocks * block - d.one_of(0, 1)
    prompt = d.chance(0.5)
    steps = d.ints(1, cache).item() if prompt else d.one_of(1, 1, min(3, cache - 1))
    totals = np.full(batch, steps, np.int32) if prompt else d.ints(steps + 1, cache + 1, batch, dtype=np.int32)
    mask = np.tril(d.rng.random((layouts, blocks, blocks)) < 0.5) | np.eye(blocks, dtype=bool)[None]
    columns = [np.nonzero(layout)[1] for layout in mask]
    most = max(map(len, columns))
    columns = np.array([[*c, *[-1] * (most - len(c))] for c in columns], np.int32)
    rows = np.concatenate([np.zeros((layouts, 1)), mask.sum(axis=2).cumsum(axis=1)], axis=1).astype(np.int32)
    q, k, v = (d.data(batch, steps, n * width) for n in (heads, shared, shared))
    past = [d.data(batch, shared, cache, width) for _ in range(2)]
    rotary, interleaved, scale = d.chance(0.5), d.one_of(0, 1), d.one_of(None, 0.25)
    angles = d.data(cache + 3, d.one_of(width // 2, 8), low=-3, high=3)
    cos, sin = np.cos(angles), np.sin(angles)
    starts = np.zeros(batch, int) if prompt else totals - steps
    places = starts[:, None] + np.arange(steps)
    apart = [part.reshape(batch, steps, -1, width) for part in (q, k, v)]
    if rotary:
        apart[:2] = [turned(part, cos, sin, places, interleaved) for part in apart[:2]]
    keys, values = (each.copy() for each in past)
    for b in range(batch):
        keys[b, :, places[b]], values[b, :, places[b]] = apart[1][b], apart[2][b]
    spread = mask.repeat(block, axis=1).repeat(block, axis=2)
    result = np.zeros((batch, heads, steps, width), np.float32)
    for b in range(batch):
        for h in range(heads):
            for s, place in enumerate(places[b]):
                seen = np.flatnonzero(spread[h % layouts, place, : place + 1])
                k1, v1 = keys[b, h // group, seen], values[b, h // group, seen]
                result[b, h, s] = attention(apart[0][b, s, h][None], k1, v1, 0, scale)[0]
    total = np.array([totals.max()], np.int32)
    given = [q, k, v]
    if d.chance(0.3):
        given = [np.concatenate(given, axis=2), None, None]
    inputs = [*given, *past, d.one_of(Constant, np.asarray)(rows), d.one_of(Constant, np.asarray)(columns), total, totals, *([cos, sin] if rotary else [None, None])]
    attributes = dict(num_heads=heads, kv_num_heads=shared, sparse_block_size=block, do_rotary=int(rotary), rotary_interleaved=interleaved, scale=scale)
    return inputs, attributes, [result.transpose(0, 2, 1, 3).reshape(batch, steps, -1), keys, values]


@case("MultiHeadAttention")
def packed_operands_of_heads(d):
    """Queries, keys and values in one operand, or keys and values in one."""
    batch, steps, heads, width, whole = d.one_of(1, 2), d.one_of(1, 5), d.one_of(1, 2, 3), d.one_of(4, 8), d.chance(0.5)
    keys = steps if whole else d.one_of(2, 7)
    q, k, v = (d.data(batch, n, heads, width) for n in (steps, keys, keys))
    bias = d.data(3 * heads * width) if d.chance(0.5) else None
    inputs = [np.stack([q, k, v], axis=3), None, None] if whole else [q.reshape(batch, steps, -1), np.stack([k, v], axis=3), None]
    if bias is not None:
        q, k, v = (part + more.reshape(heads, width) for part, more in zip((q, k, v), np.split(bias, 3)))
    y = attention(*(part.transpose(0, 2, 1, 3) for part in (q, k, v)))
    return [*inputs, bias], dict(num_heads=heads), [y.transpose(0, 2, 1, 3).reshape(batch, steps, -1)]


@case("DecoderAttention")
def decoder_attention(d):
    steps, keys, past, batch, heads, width = d.one_of(1, 3), d.one_of(2, 5), d.one_of(1, 4), d.one_of(1, 2, 3), d.one_of(1, 2), d.one_of(4, 8)
    hidden = heads * width
    cross, cached, masked = d.chance(0.5), d.chance(0.5), d.chance(0.5)
    query, key = d.data(steps, batch, hidden), d.data(keys, batch, hidden)
    w, kv, bias = d.data(hidden, hidden), d.data(hidden, 2 * hidden), d.data(3 * hidden)
    caches = [d.data(batch, heads, past, width) for _ in range(2)]
    apart = lambda x: x.reshape(*x.shape[:2], heads, width).transpose(1, 2, 0, 3)
    q = apart(query @ w + bias[:hidden])
    fresh = [apart(part + more) for part, more in zip(np.split((key if cross else query) @ kv, 2, axis=2), np.split(bias[hidden:], 2))]
    k, v = fresh if not cached else caches if cross else [np.concatenate(pair, axis=2) for pair in zip(caches, fresh)]
    hides = d.rng.random((batch, k.shape[2])) < 0.4
    hides[:, 0] = False
    y = attention(q, k, v, np.where(hides, -10000, 0)[:, None, None] if masked else 0)
    flag = lambda value: Constant(np.array([value]))
    inputs = [query, key, Constant(w), Constant(kv), bias, hides if masked else None, *(caches if cached else [None, None]), flag(cross), flag(cached), flag(True), flag(masked)]
    return inputs, dict(num_heads=heads), [y.transpose(2, 0, 1, 3).reshape(steps, batch, hidden), k, v]


# Positions.


@case("RelativePositionBias")
def relative_position_bias(d):
    buckets, heads, both, most, queries = d.one_of(8, 32), d.one_of(1, 4), d.one_of(0, 1), d.one_of(40, 128), d.one_of(1, 17, 60)
    keys = d.one_of(queries, 33)
    table = d.data(buckets, heads)

    def bucket(distance):
        first, own = 0, buckets
        if both:
            own //= 2
            first = own if distance > 0 else 0
            distance = abs(distance)
        else:
            distance = max(-distance, 0)
        exact = own // 2
        if distance < exact:
            return first + distance
        large = exact + int(np.log(np.float32(distance) / exact) / np.log(np.float32(most) / exact) * (own - exact))
        return first + min(large, own - 1)

    number = lambda n: d.one_of(Constant, np.asarray)(np.array([n], np.int64))
    picked = np.array([[bucket(k - q) for k in range(keys)] for q in range(queries)])
    inputs = [Constant(table) if d.chance(0.5) else table, number(queries), number(keys)]
    return inputs, dict(max_distance=most, is_bidirectional=both), [table.reshape(heads, buckets)[:, picked][None]]


@case("GatedRelativePositionBias")
def gated_relative_position_bias(d):
    batch, steps, heads, width, columns = d.one_of(1, 2, 3), d.one_of(1, 5), d.one_of(1, 2, 3), d.one_of(4, 8), d.one_of(2, 8)
    query, bias, places, eco = d.data(batch, steps, heads * width), d.data(heads * width), d.data(1, heads, steps, steps), d.data(1, heads, 1, 1)
    weights, added, offsets, given = d.data(width, columns), d.data(columns), None, query
    full = query + bias
    if d.chance(0.4):
        counts = lengths(d, batch, steps)
        offsets = offsets_of(counts, steps)
        own = np.arange(steps)[None] < counts[:, None]
        given, full = query[own], np.where(own[..., None], full, 0)
    rows = heads_apart(full, heads) @ weights + added
    u, r = (sigmoid(half.sum(axis=-1, keepdims=True)) for half in np.split(rows, 2, axis=-1))
    return [given, bias, places, Constant(weights), added, eco, offsets], dict(num_heads=heads), [(u * (r * eco - 1) + 2) * places]


@case("MRotaryEmbedding")
def mrotary(d):
    batch, steps, heads = d.one_of(1, 2), d.one_of(1, 5), d.one_of(1, 2, 3)
    section = d.one_of([2, 1, 1], [4, 2, 2], [3, 3, 2], [4, 0, 0])
    half, layout, interleaved = sum(section), d.one_of(0, 1), d.one_of(0, 1)
    partial = d.chance(0.3)
    width = 2 * half + (4 if partial else 0)
    x, places, angles = d.data(batch, steps, heads, width), d.ints(0, 9, 3, batch, steps), d.data(9, half, low=-3, high=3)
    if layout == 0:
        stream = np.repeat([0, 1, 2], section)
    else:
        stream = np.zeros(half, int)
        for s in (1, 2):
            stream[s : min(3 * section[s], half) : 3] = s
    cos, sin = np.cos(angles), np.sin(angles)
    pick = lambda table: np.stack([table[places[stream[i]], i] for i in range(half)], axis=-1)
    rows = np.arange(batch * steps).reshape(batch, steps)
    y = turned(x, pick(cos).reshape(-1, half), pick(sin).reshape(-1, half), rows, interleaved)
    attributes = dict(mrope_section=section, mrope_layout=layout, interleaved=interleaved, **(dict(num_heads=heads, rotary_embedding_dim=2 * half) if partial else {}))
    if d.chance(0.4):
        return [x.transpose(0, 2, 1, 3).copy(), places, cos, sin], attributes, [y.transpose(0, 2, 1, 3)]
    return [x.reshape(batch, steps, -1), places, cos, sin], {**attributes, "num_heads": heads}, [y.reshape(batch, steps, -1)]


@case("GemmaRotaryEmbedding")
def gemma_rotary(d):
    batch, heads, steps, width = d.one_of(1, 2), d.one_of(1, 3), d.one_of(1, 5), d.one_of(4, 8)
    angles = d.data(batch, steps, width)
    parts = [d.data(batch, heads, steps, width).astype(np.float16) for _ in range(4)]
    cos, sin = (function(angles).astype(np.float16)[:, None] for function in (np.cos, np.sin))
    return [angles, *parts], {}, [parts[0] * cos + parts[1] * sin, parts[2] * cos + parts[3] * sin]


# Diffusion.


def group_norm(x, groups, scale, bias, epsilon, last):
    y = np.moveaxis(x, -1, 1) if last else x
    rows = y.reshape(y.shape[0], groups, -1)
    rows = (rows - rows.mean(axis=2, keepdims=True)) / np.sqrt(rows.var(axis=2, keepdims=True) + epsilon)
    per = (1, -1, *[1] * (y.ndim - 2))
    y = rows.reshape(y.shape) * scale.reshape(per) + bias.reshape(per)
    return np.moveaxis(y, 1, -1) if last else y


@case("GroupNorm", "SkipGroupNorm")
def image_norm(d, name):
    batch, groups, pixels, last = d.one_of(1, 2), d.one_of(1, 2, 4), [d.one_of(1, 5, 8), d.one_of(3, 7)], d.one_of(0, 1, 1)
    channels, activation, epsilon = groups * d.one_of(2, 3, 8), d.one_of(0, 1), d.one_of(1e-5, 0.1)
    shape = [batch, *pixels, channels] if last else [batch, channels, *pixels]
    x, scale, bias = d.data(*shape), d.data(channels), d.data(channels)
    attributes = dict(groups=groups, activation=activation, epsilon=epsilon, channels_last=None if last and d.chance(0.5) else last)
    inputs, s = [x, scale, bias], x
    if name == "SkipGroupNorm":
        skip = d.data(*d.one_of(shape, [batch, channels], [batch, 1, 1, channels] if last else [batch, channels, 1, 1]))
        more = d.data(channels) if d.chance(0.5) else None
        inputs += [skip, more]
        to_image = lambda v: v if v.ndim == 4 else v.reshape(v.shape[0] if v.ndim == 2 else 1, 1, 1, channels) if last else v.reshape(v.shape[0] if v.ndim == 2 else 1, channels, 1, 1)
        s = x + to_image(skip) + (to_image(more) if more is not None else 0)
    y = group_norm(s, groups, scale, bias, epsilon, last)
    return inputs, attributes, [y * sigmoid(y) if activation else y, *([s] if name == "SkipGroupNorm" else [])]


@case("BiasAdd", "BiasSplitGelu")
def biased(d, name):
    batch, pixels, channels = d.one_of(1, 2), d.one_of(1, 5, 16), d.one_of(2, 8, 26)
    x, bias = d.data(batch, pixels, channels), d.data(channels)
    if name == "BiasAdd":
        skip = d.data(batch, pixels, channels)
        return [x, bias, skip], {}, [x + bias + skip]
    left, right = np.split(x + bias, 2, axis=-1)
    return [x, bias], {}, [left * gelu(right)]


@case("NhwcConv", "NhwcFusedConv")
def nhwc_conv(d, name):
    batch, size, channels, outputs, kernel = d.one_of(1, 2), [d.one_of(5, 8), d.one_of(4, 9)], d.one_of(2, 4), d.one_of(2, 6), d.one_of([1, 1], [3, 3], [2, 3])
    group, strides, pads = d.one_of(1, 2), d.one_of([1, 1], [2, 1]), d.one_of([0, 0, 0, 0], [1, 0, 1, 1])
    x, weights, bias = d.data(batch, *size, channels), d.data(outputs, channels // group, *kernel), d.data(outputs) if d.chance(0.6) else None
    padded = np.pad(x, [(0, 0), (pads[0], pads[2]), (pads[1], pads[3]), (0, 0)])
    out = [(padded.shape[1 + i] - kernel[i]) // strides[i] + 1 for i in range(2)]
    y = np.zeros((batch, *out, outputs), np.float32)
    for i in range(out[0]):
        for j in range(out[1]):
            window = padded[:, i * strides[0] :, j * strides[1] :][:, : kernel[0], : kernel[1]]
            for g in range(group):
                ins, outs = slice(g * channels // group, (g + 1) * channels // group), slice(g * outputs // group, (g + 1) * outputs // group)
                y[:, i, j, outs] = np.einsum("nhwc,ochw->no", window[..., ins], weights[outs])
    y += 0 if bias is None else bias
    attributes = dict(kernel_shape=kernel, strides=strides, pads=pads, group=group)
    if name == "NhwcConv":
        return [x, Constant(weights.transpose(0, 2, 3, 1)), bias], attributes, [y]
    added, activation = d.data(*y.shape) if d.chance(0.5) else None, d.one_of(None, "Relu")
    y = y if added is None else y + added
    return [x, Constant(weights), bias, added], {**attributes, "activation": activation}, [np.maximum(y, 0) if activation else y]


# Spectra.


def pairs(x):
    return np.stack([x.real, x.imag], axis=-1).astype(np.float32)


@case("ComplexMul", "ComplexMulConj")
def complex_product(d, name):
    shape = d.one_of([5], [2, 7], [3, 1, 4])
    a, b = d.data(*shape, 2), d.data(*d.one_of(shape, shape[-1:]), 2)
    x, y = a[..., 0] + 1j * a[..., 1], b[..., 0] + 1j * b[..., 1]
    return [a, b], {}, [pairs(x * (y if name == "ComplexMul" else y.conj()))]


@case("Rfft", "Irfft")
def real_transform(d, name):
    axes, shape = d.one_of(1, 1, 2), [d.one_of(1, 3), d.one_of(2, 5), d.one_of(2, 8, 12)]
    x = d.data(*shape)
    over = tuple(range(3 - axes, 3))
    spectrum = np.fft.rfftn(x, axes=over)
    attributes = dict(signal_ndim=axes, normalized=d.one_of(None, 0), onesided=d.one_of(None, 1))
    return ([x], attributes, [pairs(spectrum)]) if name == "Rfft" else ([pairs(spectrum)], attributes, [x])


# Others.


@case("GemmFastGelu")
def gemm_fast_gelu(d):
    x, w, bias = d.data(d.one_of(1, 3), 5, 6), d.data(6, d.one_of(4, 7)), None
    bias = d.data(w.shape[1]) if d.chance(0.6) else None
    return [x, Constant(w), bias], {}, [gelu(x @ w + (0 if bias is None else bias), tanh=True)]


@case("FusedMatMulActivation")
def matmul_activation(d):
    a, b, trans, alpha = d.data(2, 5, 6), d.data(6, 4), d.one_of(0, 1), d.one_of(None, 0.5)
    y = a @ b * (alpha or 1)
    name = d.one_of("Relu", "Sigmoid", "LeakyRelu", "Softmax")
    meaning = {"Relu": lambda y: np.maximum(y, 0), "Sigmoid": sigmoid, "LeakyRelu": lambda y: np.where(y < 0, y * 0.25, y), "Softmax": lambda y: softmax(y, 1)}
    more = dict(activation_alpha=0.25) if name == "LeakyRelu" else dict(activation_axis=1) if name == "Softmax" else {}
    return [a, b.T.copy() if trans else b], dict(transB=trans, alpha=alpha, activation=name, **more), [meaning[name](y)]


def few_bits(d, outputs, inputs, block):
    """Weights of 4 bits: as a node has them, and what they are."""
    blocks = -(-inputs // block)
    numbers, scales = d.ints(0, 16, outputs, blocks, block), d.data(outputs, blocks)
    packed = (numbers[..., ::2] | numbers[..., 1::2] << 4).astype(np.uint8)
    weights = ((numbers - 8) * scales[..., None]).reshape(outputs, -1)[:, :inputs].astype(np.float32)
    return [Constant(packed), Constant(scales.reshape(-1))], weights


@case("MatMulNBitsMlp", "MatMulNBitsQkv")
def products_of_few_bits(d, name):
    rows, inputs, block, epsilon = d.one_of(1, 3), d.one_of(32, 40), d.one_of(16, 32), d.one_of(None, 0.1)
    mlp = name.endswith("Mlp")
    x, skip, scale = d.data(2, rows, inputs), d.data(2, rows, inputs) if d.chance(0.5) else None, d.data(inputs) if not mlp or d.chance(0.6) else None
    skip = None if scale is None else skip
    total = x if skip is None else x + skip
    normal = total if scale is None else total / np.sqrt((total**2).mean(axis=-1, keepdims=True) + (epsilon or 1e-5)) * scale
    operands, products = [x, skip, None if scale is None else Constant(scale)], []
    widths = [24, 24] if mlp else [24, 8, 8]
    for width in widths:
        packed, weights = few_bits(d, width, inputs, block)
        bias = d.data(width) if d.chance(0.5) else None
        operands += [*packed, None if bias is None else Constant(bias)]
        products.append(normal @ weights.T + (0 if bias is None else bias))
    attributes = dict(K=inputs, bits=4, block_size=block, epsilon=epsilon)
    if mlp:
        return operands, dict(attributes, N=24, activation="silu"), [products[0] * sigmoid(products[0]) * products[1], *([] if skip is None else [total])]
    return operands, dict(attributes, Nq=24, Nkv=8), [*products, *([] if skip is None else [total])]


@case("BiasSoftmax")
def bias_softmax(d):
    shape = [d.one_of(1, 2), d.one_of(1, 3), d.one_of(1, 4), d.one_of(3, 8)]
    inner, axis = d.one_of(0, 1), d.one_of(2, 3)
    x = d.data(*shape)
    bias = d.data(shape[0], 1, 1, shape[3]) if inner else d.data(1, 1, *shape[2:])
    rows = (x + bias).reshape(*shape[:axis], -1)
    return [x, bias], dict(axis=axis, is_inner_broadcast=inner), [softmax(rows).reshape(shape)]


@case("BiasDropout", "BitmaskBiasDropout", "BitmaskDropout")
def dropout(d, name):
    x = d.data(d.one_of(1, 3), d.one_of(5, 11))
    bias, residual = d.data(x.shape[1]), d.data(*x.shape) if d.chance(0.5) else None
    full = "Bias" in name
    y = x + bias + (0 if residual is None else residual) if full else x
    mask = np.ones(x.shape, bool)
    if "Bitmask" in name:
        bits = np.pad(mask.reshape(-1), (0, -x.size % 32)).reshape(-1, 32)
        mask = (bits.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(axis=1).astype(np.uint32)
    return [x, *([bias, residual] if full else []), Constant(np.float32(0.5))], {}, [y, mask]


@case("IsAllFinite")
def is_all_finite(d):
    arrays, only = [d.data(*d.one_of([3], [2, 5])) for _ in range(d.one_of(1, 2, 3))], d.one_of(None, "isinf_only", "isnan_only")
    if d.chance(0.6):
        d.one_of(*arrays).reshape(-1)[0] = d.one_of(np.inf, -np.inf, np.nan)
    infinite, nan = (any(test(a).any() for a in arrays) for test in (np.isinf, np.isnan))
    bad = {None: infinite or nan, "isinf_only": infinite, "isnan_only": nan}[only]
    return arrays, {only: 1} if only else {}, [np.array(not bad)]


@case("TorchEmbedding")
def torch_embedding(d):
    table, places = d.data(7, d.one_of(1, 6)), d.ints(0, 7, d.one_of(1, 4), 3)
    return [table, places, Constant(np.array(1)) if d.chance(0.5) else None], {}, [table[places]]


@case("MulInteger")
def mul_integer(d):
    type = d.one_of(np.int8, np.uint8)
    low, high = np.iinfo(type).min, np.iinfo(type).max + 1
    a, b = d.ints(low, high, 3, d.one_of(1, 9), dtype=type), d.ints(low, high, 9, dtype=type)
    zeros = [d.ints(low, high, dtype=type) if d.chance(0.5) else None for _ in range(2)]
    wide = lambda x, zero: x.astype(np.int32) - (0 if zero is None else zero.astype(np.int32))
    return [a, zeros[0], b, zeros[1]], {}, [wide(a, zeros[0]) * wide(b, zeros[1])]


@case("ReduceSumInteger")
def reduce_sum_integer(d):
    type, axes, keep = d.one_of(np.int8, np.uint8), d.one_of([0], [1, 2], [-1]), d.one_of(0, 1)
    x = d.ints(np.iinfo(type).min, np.iinfo(type).max + 1, 3, d.one_of(1, 5), 8, dtype=type)
    return [x], dict(axes=axes, keepdims=keep), [x.sum(axis=tuple(axes), keepdims=bool(keep), dtype=np.int32 if type == np.int8 else np.uint32)]


@case("QOrderedGelu")
def ordered_gelu(d):
    x, scales = d.ints(-128, 128, d.one_of(1, 7), 33, dtype=np.int8), [np.array(d.one_of(*numbers), np.float32) for numbers in ((0.031, 0.007), (0.0137, 0.0291))]
    y = gelu(x * np.float64(scales[0])) / np.float64(scales[1])
    order = d.one_of(None, 1)
    return [x, *scales], dict(order_X=order, order_Y=order), [np.clip(np.rint(y), -128, 127).astype(np.int8)]


@case("QOrderedLayerNormalization")
def ordered_layer_normalization(d):
    x, axis, half = d.ints(-128, 128, d.one_of(1, 3), d.one_of(2, 5), d.one_of(16, 33), dtype=np.int8), d.one_of(None, -1, 1), d.chance(0.3)
    width, scales = x.shape[1:] if axis == 1 else x.shape[-1:], [np.array(d.one_of(*numbers), np.float32) for numbers in ((0.0313, 0.0071), (0.0137, 0.0291))]
    gamma, beta = [d.data(*width, low=low, high=low + 1).astype(np.float16 if half else np.float32) for low in (0.5, -0.5)]
    beta, epsilon, order = beta if d.chance(0.7) else None, d.one_of(None, 1e-3), d.one_of(None, 1)
    v, over = x * np.float64(scales[0]), (1, 2) if axis == 1 else (2,)
    v = (v - v.mean(over, keepdims=True)) / np.sqrt(v.var(over, keepdims=True) + (epsilon or 1e-5))
    y = (v * gamma.astype(np.float64) + (0 if beta is None else beta)) / np.float64(scales[1])
    return [x, scales[0], gamma, beta, scales[1]], dict(axis=axis, epsilon=epsilon, order_X=order, order_Y=order), [np.clip(np.rint(y), -128, 127).astype(np.int8)]


@case("QuantizeWithOrder", "DequantizeWithOrder")
def with_order(d, name):
    """The orders of cuBLASLt: 0 stores a matrix by columns, 1 by rows, 2 by rows of 32 columns each."""
    shape, order, scale = d.one_of([3, 64], [2, 5, 32], [1, 96], [64]), d.one_of(0, 1, 2), np.array(d.one_of(0.031, 0.25), np.float32)
    matrices = (math.prod(shape[:-2]), shape[-2] if len(shape) > 1 else 1, shape[-1])  # how many, of how many rows and columns
    width = {0: 1, 1: shape[-1], 2: 32}[order]

    def stored(by_rows):
        strips = [m[:, c : c + width] for m in by_rows.reshape(matrices) for c in range(0, shape[-1], width)]
        return np.concatenate([s.reshape(-1) for s in strips]).reshape(shape)

    half = d.chance(0.3)
    if name == "QuantizeWithOrder":
        x = d.data(*shape, low=-6, high=6).astype(np.float16 if half else np.float32)
        bytes = np.clip(np.rint(x.astype(np.float32) / scale), -128, 127).astype(np.int8)
        return [x, scale], dict(order_input=1, order_output=order), [stored(bytes)]
    bytes = d.ints(-128, 128, *shape, dtype=np.int8)
    floats = (bytes * scale).astype(np.float16 if half else np.float32)
    return [stored(bytes), scale], dict(order_input=order, order_output=1, to=int(helper.np_dtype_to_tensor_dtype(floats.dtype))), [floats]


def is_fixed(name, operand, axis):
    """How many heads there are, how wide they are, and the layouts of a block mask: what a compiler has to know."""
    if name == "PackedMultiHeadAttention":
        return axis > 0
    if name == "SparseAttention":
        return axis == 0 if operand.dtype == np.int32 and operand.ndim == 2 else axis == operand.ndim - 1 if operand.dtype == np.float32 and operand.ndim < 4 else axis in (1, 3)
    if name in ("DecoderAttention", "MRotaryEmbedding", "MultiHeadAttention"):
        return axis in (1, 3) if operand.ndim == 4 else axis >= 2
    return name == "RelativePositionBias" and operand.ndim == 2  # a table


def model_of(name, inputs, attributes, outputs, is_open):
    """The case as a model, and the arrays of its inputs."""
    names, values, constants, arrays = [], [], [], []
    for k, operand in enumerate(inputs):
        names.append("" if operand is None else f"x{k}")
        if isinstance(operand, Constant):
            constants.append(numpy_helper.from_array(operand.array, f"x{k}"))
        elif operand is not None:
            dims = [size if not is_open or is_fixed(name, operand, axis) else f"d{k}_{axis}" for axis, size in enumerate(operand.shape)]
            values.append(helper.make_tensor_value_info(f"x{k}", helper.np_dtype_to_tensor_dtype(operand.dtype), dims))
            arrays.append(operand)
    while names and not names[-1]:
        names.pop()
    results = [f"y{k}" for k in range(len(outputs))]
    node = helper.make_node(name, names, results, domain="com.microsoft", **{key: value for key, value in attributes.items() if value is not None})
    infos = [helper.make_tensor_value_info(result, helper.np_dtype_to_tensor_dtype(np.asarray(y).dtype), None) for result, y in zip(results, outputs)]
    graph = helper.make_graph([node], "case", values, infos, constants)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), arrays


def write(folder, model, inputs, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for role, arrays, infos in (("input", inputs, model.graph.input), ("output", outputs, model.graph.output)):
        for k, (array, info) in enumerate(zip(arrays, infos)):
            (data / f"{role}_{k}.pb").write_bytes(numpy_helper.from_array(np.asarray(array), info.name).SerializeToString())


def difference(got, want):
    half = want.dtype == np.float16
    return ingot_run.difference(got, want, *((5e-3, 5e-3) if half else (2e-5, 2e-4)))


def tried(arguments, name, index, is_open):
    """None, or what is wrong."""
    function, drawn = CASES[name], Draw([arguments.seed, index, *name.encode()])
    inputs, attributes, outputs = function(drawn, name) if function.__code__.co_argcount > 1 else function(drawn)
    outputs = [np.asarray(y, np.float32) if np.asarray(y).dtype == np.float64 else np.asarray(y) for y in outputs]
    model, arrays = model_of(name, inputs, attributes, outputs, is_open)
    with tempfile.TemporaryDirectory(prefix="ingot-microsoft-") as scratch:
        folder = pathlib.Path(scratch)
        write(folder, model, arrays, outputs)
        verdict, text = ingot_run.run(arguments.ingot, folder, folder / "out", arguments.target)
        text = text if verdict != "pass" else ingot_run.compare_outputs(folder, folder / "out", difference)
        if text and arguments.keep:
            import shutil

            shutil.copytree(folder, pathlib.Path(arguments.keep, f"{name}-{index}-{'open' if is_open else 'static'}"), dirs_exist_ok=True)
    return f"{text}\n    {attributes} of {[getattr(x, 'shape', x) if not isinstance(x, Constant) else x.array.shape for x in inputs]}" if text else None


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--ops", default="")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="a folder for models that fail")
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    count = ingot_run.Count("operators of com.microsoft")
    for name in arguments.ops.split(",") if arguments.ops else CASES:
        for index in range(arguments.draws):
            for is_open in (False, True):
                count.add(f"{name} {index}{' open' if is_open else ''}", tried(arguments, name, index, is_open))
    count.finish()


if __name__ == "__main__":
    main()
