"""Operators of com.microsoft: what ONNX Runtime's optimizer and its model builder write."""
import numpy as np

from families import op


def floats(c, x, low=1, high=4):
    x = x or c.data(c.shape(low, high))
    c.need(x.dtype == np.float32 and low <= x.rank <= high)
    return x


def activation(c):
    """An activation and what FusedGemm calls its numbers."""
    name = c.choice([None, "Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid"])
    numbers = {"LeakyRelu": dict(activation_alpha=0.25), "HardSigmoid": dict(activation_alpha=0.25, activation_beta=0.5)}.get(name, {})
    return dict(activation=name, **numbers)


@op("com.microsoft.FusedGemm")
def fused_gemm(c, x):
    x = floats(c, x, 2, 2)
    trans_a, trans_b = c.choice([None, 0, 1]), c.choice([None, 0, 1])
    inner, rows = x.shape if trans_a else x.shape[::-1]
    columns = c.size()
    b = c.data([columns, inner] if trans_b else [inner, columns])
    bias = c.data(c.choice([[columns], [1, columns], [rows, columns], [1]])) if c.chance(0.7) else None
    c.need(x.array.size and columns)
    c.node("com.microsoft.FusedGemm", [x, b, bias], transA=trans_a, transB=trans_b, alpha=c.choice([None, 0.5]), beta=c.choice([None, 2.0]), **activation(c))


@op("com.microsoft.FusedMatMul", "com.microsoft.TransposeMatMul")
def fused_matmul(c, x, name):
    x = floats(c, x, 2, 4)
    c.need(x.array.size)
    batches = name.endswith("FusedMatMul") and x.rank > 2 and c.chance(0.4)
    trans_a, trans_b = c.choice([None, 0, 1]), c.choice([None, 0, 1])
    shape = x.shape if not batches else [*x.shape[1:-1], x.shape[0], x.shape[-1]]
    inner = shape[-2] if trans_a else shape[-1]
    right = [*shape[:-2], c.extent(), inner] if trans_b else [*shape[:-2], inner, c.extent()]
    batch = dict(transBatchA=1, transBatchB=1) if batches else {}
    right = [right[-2], *right[:-2], right[-1]] if batches else right
    c.need(np.prod(right) < 20000)
    c.node(name, [x, c.data(right)], transA=trans_a, transB=trans_b, alpha=c.choice([None, 0.5]), **batch)


@op("com.microsoft.FusedConv")
def fused_conv(c, x):
    x = x or c.data([c.choice([1, 2]), c.extent(9), c.extent(17), c.extent(17)])
    c.need(x.dtype == np.float32 and x.rank == 4 and x.array.size and x.array.size < 20000)
    kernel, channels = c.kernel(2, min(x.shape[2:])), c.extent(17)
    pads = [c.choice([0, 1]) for _ in range(4)]
    weights, bias = c.data([channels, x.shape[1], *kernel], constant=True), c.data([channels], constant=True)
    name, numbers = c.choice([(None, None), ("Relu", None), ("Tanh", None), ("Sigmoid", None), ("LeakyRelu", [0.25]), ("Clip", [-0.5, 1.0]), ("HardSigmoid", [0.25, 0.5])])
    out = [(x.shape[2 + i] + pads[i] + pads[2 + i] - kernel[i]) + 1 for i in range(2)]
    summand = c.data([x.shape[0], channels, *out]) if name in (None, "Relu") and c.chance(0.4) else None
    c.node("com.microsoft.FusedConv", [x, weights, bias, summand], kernel_shape=kernel, pads=pads, activation=name, activation_params=numbers,
           group=c.choice([None, 1]), dilations=c.choice([None, [1, 1]]), strides=c.choice([None, [1, 1]]), auto_pad=c.choice([None, "NOTSET"]))  # fmt: skip


@op("com.microsoft.Gelu", "com.microsoft.FastGelu", "com.microsoft.BiasGelu", "com.microsoft.QuickGelu", weight=1)
def gelu(c, x, name):
    x = floats(c, x)
    if name.endswith("BiasGelu"):
        return c.node(name, [x, c.data(x.shape[-1:])])
    if name.endswith("FastGelu"):
        return c.node(name, [x, c.data(x.shape[-1:]) if c.chance(0.5) else None])
    return c.node(name, [x], **(dict(alpha=c.choice([None, 1.0, 0.5])) if name.endswith("QuickGelu") else {}))


@op("com.microsoft.SkipLayerNormalization", "com.microsoft.SkipSimplifiedLayerNormalization")
def skip_normalization(c, x, name):
    x = floats(c, x, 3, 3)
    c.need(x.array.size)
    width = x.shape[-1:]
    # Of a batch that is open, no constant has the size.
    skip = x if c.chance(0.3) else c.data(c.choice([x.shape[1:], [1, *x.shape[1:]]]))
    beta = [c.data(width) if c.chance(0.7) else None] if "Simplified" not in name else []
    bias = c.data(width) if c.chance(0.5) else None
    gamma, outputs, epsilon = c.data(width), c.choice([1, [True, None, None, True]]), c.choice([None, 0.125])
    rows = x.array + skip.array + (bias.array if bias else 0)
    if "Simplified" not in name and (np.ptp(rows, axis=-1) < 1e-2 * np.abs(rows).max(axis=-1)).any():
        epsilon = 0.125  # of nearly equal numbers the default, 1e-12, leaves what they were rounded by
    c.node(name, [x, skip, gamma, *beta, bias], outputs=outputs, epsilon=epsilon)


@op("SimplifiedLayerNormalization")
def simplified_normalization(c, x):
    x = floats(c, x, 2, 4)
    c.need(x.array.size)
    c.node("SimplifiedLayerNormalization", [x, c.data(x.shape[-1:])], axis=-1, epsilon=c.choice([None, 0.125]), stash_type=c.choice([None, 1]))


@op("Scale")
def scale(c, x):
    c.node("Scale", [floats(c, x)], scale=c.choice([None, 0.5, -2.0]))


@op("DynamicSlice")
def dynamic_slice(c, x):
    x = floats(c, x)
    c.need(x.array.size)
    axes = c.rng.sample(range(x.rank), c.rng.randint(1, x.rank))
    starts = [c.rng.randint(0, x.shape[axis] - 1) for axis in axes]
    ends = [c.rng.randint(start + 1, x.shape[axis]) for start, axis in zip(starts, axes)]
    every = axes == list(range(x.rank)) and c.chance(0.5)
    c.node("DynamicSlice", [x, c.ints(starts), c.ints(ends), *([] if every else [c.ints(axes)])], exact=True)


@op("com.microsoft.ExpandDims")
def expand_dims(c, x):
    x = x or c.data(c.shape(0, 3))
    c.node("com.microsoft.ExpandDims", [x, c.tensor(np.array(c.axis(x.rank + 1), np.int32), constant=True)], exact=True)


@op("com.microsoft.Range")
def microsoft_range(c, x):
    start, count, delta = c.choice([0, 1, -3]), c.choice([1, 5, 17]), c.choice([None, 1, 2, 3])
    number = lambda n: c.tensor(np.array(n, np.float32), constant=True)
    c.node("com.microsoft.Range", [number(start), number(start + count * (delta or 1)), number(delta) if delta else None], exact=True)


@op("com.microsoft.Trilu")
def microsoft_trilu(c, x):
    x = floats(c, x, 2, 4)
    c.need(x.array.size)
    k = c.tensor(np.array(c.choice([-1, 0, 2]), np.int64), constant=True) if c.chance(0.6) else None
    c.node("com.microsoft.Trilu", [x, k], exact=True, upper=c.choice([None, 0, 1]))


@op("com.microsoft.Pad")
def microsoft_pad(c, x):
    x = floats(c, x, 1, 4)
    c.need(x.array.size)
    pads = c.ints([c.choice([0, 0, 1, 3]) for _ in range(2 * x.rank)])
    c.node("com.microsoft.Pad", [x, pads, c.tensor(np.array([0.5], np.float32), constant=True) if c.chance(0.4) else None], exact=True, mode=c.choice([None, "constant"]))


@op("com.microsoft.GatherND")
def microsoft_gather_nd(c, x):
    x = floats(c, x, 1, 3)
    c.need(x.array.size)
    depth = c.choice(range(1, x.rank + 1))
    places = np.array([[c.choice(range(size)) for size in x.shape[:depth]] for _ in range(c.choice([1, 3, 7]))])
    c.node("com.microsoft.GatherND", [x, c.tensor(places.astype(np.int64))], exact=True)


@op("com.microsoft.GridSample")
def microsoft_grid_sample(c, x):
    x = x or c.data([c.extent(3), c.extent(9), c.extent(13), c.extent(13)])
    c.need(x.dtype == np.float32 and x.rank == 4 and x.array.size and x.array.size < 8000)
    grid = c.numbers([x.shape[0], c.extent(9), c.extent(9), 2], np.float32, -1.3, 1.3) + np.float32(0.00713)
    c.node("com.microsoft.GridSample", [x, c.tensor(grid)], mode=c.choice([None, "bilinear", "nearest", "bicubic"]), padding_mode=c.choice([None, "zeros", "border"]), align_corners=c.choice([None, 0, 1]))


@op("com.microsoft.EmbedLayerNormalization")
def embed(c, x):
    batch, steps, width, words = c.choice([1, 2, 3]), c.choice([1, 4, 7]), c.choice([3, 8, 17]), 11
    ids = lambda most: c.tensor(c.numbers([batch, steps], np.int32, 0, most - 1))
    segments = c.chance(0.5)
    inputs = [ids(words), ids(2) if segments else None, c.data([words, width]), c.data([9, width]), c.data([2, width]) if segments else None, c.data([width]), c.data([width])]
    mask = [c.tensor((np.arange(steps)[None] < c.numbers([batch, 1], np.int64, 1, steps)).astype(np.int32))] if c.chance(0.5) else []
    c.node("com.microsoft.EmbedLayerNormalization", [*inputs, *mask], outputs=c.choice([[True], [True, True]]) if mask else 1, epsilon=c.choice([None, 0.125]))


def masks(c, batch, steps, total):
    """A mask of keys: lengths, a row for each sentence, or a matrix."""
    kept = c.numbers([batch], np.int32, 1, total)
    rows = np.arange(total)[None] < kept[:, None]
    return c.choice([None, kept, rows.astype(np.int32), np.repeat(rows[:, None], steps, axis=1).astype(np.int32)])


@op("com.microsoft.Attention", weight=3)
def microsoft_attention(c, x):
    batch, steps, heads, width, past = c.choice([1, 2, 3]), c.choice([1, 5, 8]), c.choice([1, 2, 3]), c.choice([4, 8]), c.choice([0, 0, 3])
    hidden, total = heads * width, steps + past
    mask = masks(c, batch, steps, total)
    mask = c.tensor(mask) if mask is not None and (mask.ndim > 1 or not past) else None
    bias = c.data([c.choice([1, batch]), heads, steps, total]) if c.chance(0.3) else None
    inputs = [c.data([batch, steps, 6]), c.data([6, 3 * hidden], low=-0.5, high=0.5), c.data([3 * hidden]), mask, c.data([2, batch, heads, past, width]) if past else None, bias]
    c.node("com.microsoft.Attention", inputs, outputs=2 if past or c.chance(0.5) else 1, num_heads=heads, unidirectional=c.choice([None, 0, 1]) if mask is None else None, scale=c.choice([None, 0.25]),
           qkv_hidden_sizes=c.choice([None, [hidden] * 3]) if not past else None, mask_filter_value=c.choice([None, -10000.0]))  # fmt: skip


@op("com.microsoft.MultiHeadAttention", weight=3)
def multi_head_attention(c, x):
    batch, steps, keys, heads, width, wide = c.choice([1, 2, 3]), c.choice([1, 5, 8]), c.choice([1, 5, 8]), c.choice([1, 2, 3]), c.choice([4, 8]), c.choice([4, 8])
    hidden, past, apart = heads * width, c.choice([0, 0, 3]), c.chance(0.2)
    keys = steps if past and not apart else keys
    total, wide = keys + past, width if past else wide
    key, value = (c.data([batch, heads, keys, width]), c.data([batch, heads, keys, wide])) if apart else (c.data([batch, keys, hidden]), c.data([batch, keys, heads * wide]))
    mask = masks(c, batch, steps, total) if not apart else None
    mask = c.tensor(mask) if mask is not None and (mask.ndim == 2 or mask.ndim == 1 and not past) else None
    bias = c.data([2 * hidden + heads * wide]) if c.chance(0.4) else None
    added = c.data([1, c.choice([1, heads]), steps, total]) if c.chance(0.3) else None
    history = [c.data([batch, heads, past, width]), c.data([batch, heads, past, wide])] if past else []
    c.node("com.microsoft.MultiHeadAttention", [c.data([batch, steps, hidden]), key, value, bias, mask, added, *history], outputs=3 if past else 1, num_heads=heads,
           unidirectional=c.choice([None, 0, 1]) if mask is None and keys == steps else None, scale=c.choice([None, 0.25]), mask_filter_value=c.choice([None, -10000.0]))  # fmt: skip


@op("com.microsoft.DecoderMaskedMultiHeadAttention")
def decoder_attention(c, x):
    batch, heads, width, room = c.choice([1, 2, 3]), c.choice([1, 2, 3]), c.choice([4, 8]), c.choice([1, 5, 13])
    hidden, cross, past = heads * width, c.chance(0.3), c.choice(range(room))
    total = room if cross else past + 1
    mask = c.tensor((c.numbers([batch, total], np.int32, 0, 3) > 0).astype(np.int32)) if c.chance(0.5) else None
    bias = c.data([3 * hidden]) if c.chance(0.4) else None
    if cross:
        keys = [c.data([batch, heads, room, width]) for _ in range(2)]
        inputs = [*keys, mask, None, None, None, None, None, None, bias]
    else:
        added = c.data([c.choice([1, batch]), heads, 1, total]) if c.chance(0.3) else None
        caches = [c.data([batch, heads, room, width]) for _ in range(2)]
        inputs = [c.data([batch, 1, hidden]), c.data([batch, 1, hidden]), mask, added, *caches, c.tensor(np.array([past], np.int32)), None, None, bias]
    c.node("com.microsoft.DecoderMaskedMultiHeadAttention", [c.data([batch, 1, hidden]), *inputs], outputs=1 if cross else 3, num_heads=heads, past_present_share_buffer=None if cross else 1,
           scale=c.choice([None, 0.25]), mask_filter_value=c.choice([None, -10000.0]))  # fmt: skip


@op("com.microsoft.NGramRepeatBlock")
def ngram_repeat_block(c, x):
    words = c.choice([2, 5, 17])
    tokens = c.tensor(c.numbers([c.choice([1, 2, 3]), c.choice([1, 2, 7, 16])], np.int64, 0, c.choice([1, words - 1])))
    c.node("com.microsoft.NGramRepeatBlock", [tokens, c.data([tokens.shape[0], words])], ngram_size=c.choice([1, 2, 3, 4]))


@op("com.microsoft.RotaryEmbedding")
def microsoft_rotary(c, x):
    batch, steps, heads, width = c.choice([1, 2, 3]), c.choice([1, 5]), c.choice([1, 2, 3]), c.choice([4, 8, 16])
    angles = c.numbers([9, width // 2])
    x = c.data(c.choice([[batch, steps, heads * width], [batch, heads, steps, width]]))
    places = c.tensor(np.array([2], np.int64) if c.chance(0.5) else c.numbers([batch, steps], np.int64, 0, 8))
    tables = [c.tensor(np.cos(angles).astype(np.float32), constant=True), c.tensor(np.sin(angles).astype(np.float32), constant=True)]
    c.node("com.microsoft.RotaryEmbedding", [x, places, *tables], interleaved=c.choice([None, 0, 1]))


@op("com.microsoft.Inverse")
def inverse(c, x):
    n = c.choice([1, 2, 3, 5, 8])
    shape = [*c.choice([[], [3], [2, 2]]), n, n]
    c.node("com.microsoft.Inverse", [c.tensor(c.numbers(shape) + 5 * np.eye(n, dtype=np.float32))])


def lengths(c, batch, steps):
    """A cache's places, the longest length behind the run, and each sentence's: of a first prompt, of one more token, of several in a batch of one."""
    if c.chance(0.4):
        return c.choice([0, 0, steps, steps + 3]), steps, [steps] * batch
    past = c.choice([1, 3, 6])
    totals = [past + steps] + [c.rng.randint(steps, past + steps) for _ in range(batch - 1)]
    return past + c.choice([0, 0, steps, steps + 2]), past + steps, totals


@op("com.microsoft.GroupQueryAttention", weight=4)
def group_query_attention(c, x):
    batch, steps, shared, group, width = c.choice([1, 1, 2, 3]), c.choice([1, 1, 2, 5, 8]), c.choice([1, 2, 3]), c.choice([1, 2, 3, 4]), c.choice([8, 16, 32])
    batch = batch if steps == 1 else 1
    places, total, totals = lengths(c, batch, steps)
    if steps > 1 and total == steps:  # prompts may be of several
        batch, totals = 2, totals * 2
    heads, f = shared * group, c.data
    packed, rotary, sink = c.chance(0.3), c.chance(0.5), c.choice([0, 0, 1, 2])
    inputs = [f([batch, steps, (heads + 2 * shared) * width]), None, None] if packed else [f([batch, steps, n * width]) for n in (heads, shared, shared)]
    inputs += [f([batch, shared, places, width]), f([batch, shared, places, width])] if places or c.chance(0.5) else [None, None]
    inputs += [c.tensor(np.array(totals, np.int32) - 1), c.tensor(np.array(total, np.int32), constant=c.chance(0.6))]
    angles = c.numbers([20, c.choice([width // 2, 8]) if width >= 16 else width // 2])
    inputs += [c.tensor(np.cos(angles).astype(np.float32)), c.tensor(np.sin(angles).astype(np.float32))] if rotary else [None, None]
    starts = np.array(totals)[:, None] - steps
    inputs += [c.tensor((starts + np.arange(steps)).astype(np.int64)) if rotary and c.chance(0.3) else None]
    inputs += [f([c.choice([1, batch]), c.choice([1, heads]), steps, total]) if c.chance(0.3) else None, f([heads]) if sink == 2 else None]
    norms = [f([width]), f([width])] if c.chance(0.2) else [None, None]
    causal = c.choice([None, 1, 1, 0])
    _, *caches = c.node("com.microsoft.GroupQueryAttention", [*inputs, None, None, *norms], outputs=3, num_heads=heads, kv_num_heads=shared, scale=c.choice([None, 0.25]), softcap=c.choice([None, None, 2.0]),
           do_rotary=1 if rotary else c.choice([None, 0]), rotary_interleaved=c.choice([None, 0, 1]), local_window_size=c.choice([None, -1, 1, 2, 3]) if causal != 0 else None, causal=causal, smooth_softmax=1 if sink == 1 else c.choice([None, 0]),
           qk_norm_epsilon=c.choice([None, 0.125]) if norms[0] else None, qk_output=c.choice([None, 0]), sliding_window_cache=c.choice([None, 0]), k_quant_type=c.choice([None, "NONE"]),
           v_quant_type=c.choice([None, "NONE"]))  # fmt: skip
    for cache in caches:  # what stands behind a sentence is not specified, and a run of open sizes may have longer caches
        c.node("Gather", [cache, c.ints(range(min(totals)))], exact=True, axis=2)


@op("com.microsoft.CausalConvWithState")
def causal_conv(c, x):
    batch, channels, steps, kernel = c.choice([1, 2, 3]), c.choice([1, 5, 16]), c.choice([1, 2, 7]), c.choice([2, 3, 4])
    past = c.data([batch, channels, kernel - 1]) if c.chance(0.6) else None
    inputs = [c.data([batch, channels, steps]), c.data([channels, 1, kernel], constant=True), c.data([channels]) if c.chance(0.5) else None, past]
    c.node("com.microsoft.CausalConvWithState", inputs, outputs=2, activation=c.choice([None, "none", "silu", "swish"]), ndim=c.choice([None, 1]), dilation=c.choice([None, 1]),
           channels_last=c.choice([None, 0]), state_window=c.choice([None, 0]))  # fmt: skip


@op("com.microsoft.LinearAttention")
def linear_attention(c, x):
    batch, steps, shared, width, wide = c.choice([1, 2]), c.choice([1, 3, 5]), c.choice([1, 2]), c.choice([4, 8]), c.choice([4, 8])
    heads, rule = c.choice([1, shared, 2 * shared]), c.choice(["linear", "gated", "delta", "gated_delta"])
    small = lambda *shape: c.data(shape, low=-0.5, high=0.5)
    past = small(batch, shared, width, wide) if c.chance(0.5) else None
    decay = small(batch, steps, shared * c.choice([1, width])) if "gated" in rule else None
    beta = small(batch, steps, c.choice([1, shared])) if "delta" in rule else None
    c.node("com.microsoft.LinearAttention", [small(batch, steps, heads * width), small(batch, steps, shared * width), small(batch, steps, shared * wide), past, decay, beta], outputs=2, q_num_heads=heads,
           kv_num_heads=shared, scale=c.choice([None, 0.5]), update_rule=rule, chunk_size=c.choice([None, 64]), state_window=c.choice([None, 0]))  # fmt: skip


@op("com.microsoft.LinearAttentionGate")
def linear_attention_gate(c, x):
    x = floats(c, x, 3, 3)
    c.need(x.array.size)
    width, both = x.shape[-1:], c.chance(0.5)
    c.node("com.microsoft.LinearAttentionGate", [x, c.data(width), c.data(width), *([c.data(x.shape)] if both else [])], outputs=1 + both)


@op("com.microsoft.GatedAdd", "com.microsoft.ScaledSiLU", "com.microsoft.GatedRMSNorm")
def gated(c, x, name):
    x = floats(c, x)
    c.need(x.array.size)
    if name.endswith("GatedAdd"):
        return c.node(name, [x, c.data(x.shape), c.data([*x.shape[:-1], 1])])
    if name.endswith("ScaledSiLU"):
        return c.node(name, [x, c.data([]) if c.chance(0.4) else None], alpha=c.choice([None, 0.5]))
    width = c.choice([n for n in range(1, x.shape[-1] + 1) if x.shape[-1] % n == 0])
    c.node(name, [x, c.data([width]), c.data(x.shape)], activation=c.choice([None, "silu", "swish", "sigmoid"]), epsilon=c.choice([None, 0.125]))


@op("com.microsoft.QEmbedLayerNormalization")
def quantized_embed(c, x):
    batch, steps, width, words, type = c.choice([1, 2, 3]), c.choice([1, 4, 7]), c.choice([3, 8, 17]), 11, c.choice([np.int8, np.uint8])
    ids = lambda most: c.tensor(c.numbers([batch, steps], np.int32, 0, most - 1))
    segments = c.chance(0.5)
    table = lambda *shape: c.tensor(c.numbers(shape, type, -100, 100), constant=True)
    number = lambda value, type=np.float32: c.tensor(np.array(value, type), constant=True)
    tables = [table(words, width), table(9, width), table(2, width) if segments else None, table(width), table(width)]
    mask = c.tensor((np.arange(steps)[None] < c.numbers([batch, 1], np.int64, 1, steps)).astype(np.int32)) if c.chance(0.5) else None
    scales = [number(0.02) if each else None for each in tables]
    zeros = [number(3, type) if each else None for each in tables]
    c.node("com.microsoft.QEmbedLayerNormalization", [ids(words), ids(2) if segments else None, *tables, mask, *scales, *zeros], outputs=2, epsilon=c.choice([None, 0.125]))


@op("com.microsoft.CDist")
def distances(c, x):
    x = floats(c, x, 2, 2)
    c.need(x.array.size and np.isfinite(x.array).all())  # ONNX Runtime's distances from infinity are NaN
    c.node("com.microsoft.CDist", [x, c.data([c.extent(40), x.shape[1]])], metric=c.choice([None, "sqeuclidean", "euclidean"]))


@op("com.microsoft.Unique")
def microsoft_unique(c, x):
    x = c.tensor(c.numbers([c.choice([1, 5, 17])], np.float32, -1, 1).round(1))
    c.node("com.microsoft.Unique", [x], outputs=3, exact=True)
    c.finds = True


@op("com.microsoft.SampleOp")
def sample(c, x):
    c.node("com.microsoft.SampleOp", [floats(c, x)], exact=True)


@op("com.microsoft.UnfoldTensor")
def unfold(c, x):
    x = floats(c, x, 1, 4)
    c.need(x.array.size and x.array.size < 4000)
    axis = c.axis(x.rank)
    c.node("com.microsoft.UnfoldTensor", [x], exact=True, dim=c.choice([None, axis]) if axis in (-1, x.rank - 1) else axis, size=c.rng.randint(1, min(7, x.shape[axis])), step=c.choice([None, 1, 2, 3]))


@op("com.microsoft.MoE", weight=2)
def experts(c, x):
    tokens, experts, width, inner, k = c.choice([1, 3, 7]), c.choice([2, 4, 5]), c.choice([4, 8]), c.choice([4, 6, 16]), c.choice([None, 1, 2])
    name = c.choice(["relu", "silu", "gelu", "identity", "swiglu"])
    outer = inner * 2 if name == "swiglu" else inner
    f = lambda *shape: c.data(shape, low=-1, high=1)
    router = c.tensor(np.array([c.rng.sample(range(experts), experts) for _ in range(tokens)], np.float32) / 2, constant=False)  # no two are alike
    biases = [f(experts, outer), f(experts, width)] if c.chance(0.6) else [None, None]
    x = f(*c.choice([[tokens, width], [1, tokens, width]]))
    more = dict(swiglu_fusion=1, activation_alpha=c.choice([None, 1.75]), activation_beta=c.choice([None, 1.0]), swiglu_limit=c.choice([None, 0.5])) if name == "swiglu" else {}
    c.node("com.microsoft.MoE", [x, router, f(experts, outer, width), biases[0], f(experts, width, inner), biases[1]], k=k, activation_type=name, normalize_routing_weights=c.choice([None, 0, 1]),
           use_sparse_mixer=c.choice([None, 0]), **more)  # fmt: skip


@op("com.microsoft.CropAndResize", weight=2)
def crop_and_resize(c, x):
    x = x or c.data([c.extent(3), c.extent(9), c.extent(13), c.extent(13)])
    c.need(x.dtype == np.float32 and x.rank == 4 and x.array.size and x.array.size < 8000)
    regions = c.choice([0, 1, 3, 7])
    corners = c.numbers([regions, 4], np.float32, -0.2, 1.2) + np.float32(0.00713)  # no place between two pixels is in the middle, or at the edge
    batches = c.numbers([regions], np.int32, 0, x.shape[0] - 1)
    size = c.ints([c.choice([1, 2, 5]), c.choice([1, 3, 7])], np.int32)
    c.node("com.microsoft.CropAndResize", [x, c.tensor(corners), c.tensor(batches), size], mode=c.choice([None, "bilinear", "nearest"]), extrapolation_value=c.choice([None, 0.5]))


@op("com.microsoft.ConvTransposeWithDynamicPads")
def dynamic_pads(c, x):
    x = x or c.data([c.choice([1, 2]), c.extent(5), c.extent(9), c.extent(9)])
    c.need(x.dtype == np.float32 and x.rank == 4 and x.array.size and x.array.size < 4000)
    group = c.choice([n for n in (1, 2) if x.shape[1] % n == 0])
    kernel, strides, dilations = [c.choice([2, 3]) for _ in range(2)], c.choice([None, [1, 1], [2, 2], [1, 2]]), c.choice([None, [1, 1]])
    more = c.choice([None, [0, 0]]) if strides != [2, 2] else c.choice([None, [1, 1]])
    weights = c.data([x.shape[1], c.choice([1, 3]), *kernel], constant=True)
    pads = c.tensor(np.array([c.choice([0, 1]) for _ in range(4)]), constant=True if c.chance(0.6) else None) if c.chance(0.8) else None
    c.finds |= pads is not None and pads.name in c.inputs
    bias = c.data([weights.shape[1] * group], constant=True) if c.chance(0.6) else None
    size = [(x.shape[2 + i] - 1) * (strides or [1, 1])[i] + kernel[i] + (more or [0, 0])[i] for i in range(2)]
    c.need(pads is None or all(size[i] > pads.array[i] + pads.array[2 + i] for i in range(2)))
    c.node("com.microsoft.ConvTransposeWithDynamicPads", [x, weights, pads, bias], kernel_shape=c.choice([None, kernel]), strides=strides, dilations=dilations, group=group if group > 1 else c.choice([None, 1]),
           output_padding=more, auto_pad=c.choice([None, "NOTSET"]))  # fmt: skip


@op("com.microsoft.MatMulInteger16")
def matmul_integer16(c, x):
    m, k, n = c.extent(17), c.extent(33), c.extent(17)
    types = c.choice([(np.int16, np.int16), (np.int16, np.uint16), (np.uint16, np.int16), (np.uint16, np.uint16)])
    low = lambda type: 0 if type == np.uint16 else -3000
    c.node("com.microsoft.MatMulInteger16", [c.data([m, k], types[0], low(types[0]), 3000), c.data([k, n], types[1], low(types[1]), 3000)], exact=True)


@op("com.microsoft.MurmurHash3")
def murmur(c, x):
    type = c.choice([np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64])
    x = c.data(c.shape(0, 3), type, 0 if np.dtype(type).kind == "u" else -100000, 100000)
    c.node("com.microsoft.MurmurHash3", [x], exact=True, positive=c.choice([None, 0, 1]), seed=c.choice([None, 0, 42]))


@op("com.microsoft.BranchwiseRMSNorm", "com.microsoft.HyperConnectionPreMix", "com.microsoft.HyperConnectionPostMix")
def branches(c, x, name):
    lead, count, width = c.choice([[], [3], [2, 5]]), c.choice([1, 2, 4]), c.choice([1, 8, 13])
    flat = c.chance(0.5)
    x = c.data([*lead, count * width] if flat else [*lead, count, width])
    own = dict(num_branches=count) if flat else c.choice([{}, dict(num_branches=0)])
    if name.endswith("BranchwiseRMSNorm"):
        scale = c.choice([None, [count, width], [width], [count * width]])
        return c.node(name, [x, *([c.data(scale)] if scale else [])], epsilon=c.choice([None, 0.125]), **own)
    gates = [[*lead, count], [*lead, count, 1], [*lead, count, width]]
    if name.endswith("PreMix"):
        gate = c.data(c.choice([*gates, [*lead, count * width]] if flat else gates))
        return c.node(name, [x, gate], reduction_scale=c.choice([None, 0.5]), **own)
    mix = [c.data([*lead, count, count])] if c.chance(0.5) else []
    c.node(name, [x, c.data([*lead, width]), c.data(c.choice(gates)), *mix], **own)


@op("com.microsoft.EngramGate")
def engram_gate(c, x):
    batch, steps, count, width = c.choice([1, 2]), c.choice([1, 5]), c.choice([1, 2, 4]), c.choice([4, 8, 13])
    both = c.chance(0.5)
    scales = [c.data([count, width]) for _ in range(2 + both)]
    c.node("com.microsoft.EngramGate", [c.data([batch, steps, count, width]), c.data([batch, steps, count, width]), c.data([batch, steps, width]), *scales], outputs=1 + both, epsilon=c.choice([None, 0.125]))


@op("com.microsoft.NGramHashMapping")
def ngram_hash(c, x):
    batch, steps, longest, heads, type = c.choice([1, 2, 3]), c.choice([1, 2, 7]), c.choice([2, 3, 4]), c.choice([1, 2]), c.choice([np.int32, np.int64])
    ids = lambda count: c.tensor(c.numbers([batch, count], type, 0, 50))
    sizes = c.tensor(c.numbers([(longest - 1) * heads], type, 5, 97))
    past, offsets = ids(longest - 1) if c.chance(0.5) else None, c.tensor(c.numbers([(longest - 1) * heads], type, 0, 100)) if c.chance(0.5) else None
    c.node("com.microsoft.NGramHashMapping", [ids(steps), c.tensor(c.numbers([longest], type, -1000000, 1000000)), sizes, past, offsets], outputs=2, exact=True, max_ngram_size=longest, n_head_per_ngram=heads,
           pad_id=c.choice([0, 3]), reset_on_eos=c.choice([None, 0]))  # fmt: skip


@op("com.microsoft.DynamicTimeWarping")
def warping(c, x):
    shape = [c.choice([1, 2, 5, 9]), c.choice([1, 3, 8, 17])]
    c.node("com.microsoft.DynamicTimeWarping", [c.data(c.choice([shape, [1, *shape]]), low=0, high=4)], exact=True)
    c.finds = True
