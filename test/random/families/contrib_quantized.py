"""Quantized operators of com.microsoft. Scales are powers of two where sums and products of integers are all there is; where a mean or a function is rounded, the scale of the
result is one that no quotient ends at a half for: the order of operations is open there."""
import numpy as np

from families import op
from families.dense import window
from families.quantized import integers, scales, zeros

MS = "com.microsoft."


def byte(c):
    return c.choice([np.uint8, np.int8])


def bytes_in(c, x, low=1, high=4):
    x = x or integers(c, c.shape(low, high, 4000), byte(c))
    c.need(x.exact and x.dtype in (np.uint8, np.int8) and low <= x.rank <= high and x.array.size)
    return x


def fixed(c, value):
    return c.tensor(np.float32(value), constant=True)


def quantized(c, x, low=-8, high=0):
    """A tensor with its scale and zero point."""
    return [x, scales(c, [], low, high), zeros(c, x.dtype)]


def uneven(c):
    """A scale that is no fraction of small numbers."""
    return fixed(c, c.choice([0.0137, 0.0371, 0.00713]))


@op(MS + "QLinearAdd", MS + "QLinearMul")
def binary(c, x, name):
    x = bytes_in(c, x)
    other = integers(c, [size if c.chance(0.6) else 1 for size in x.shape][c.choice([0, 0, 1]) :], x.dtype)
    pair = [quantized(c, v) for v in ((x, other) if c.chance(0.7) else (other, x))]
    # ONNX Runtime rounds with the zero point added: behind an odd one a half goes the other way.
    zero = c.tensor(np.array(c.choice([0, 2, 64, 126]), x.dtype), constant=c.chance(0.9))
    c.node(name, [*pair[0], *pair[1], scales(c, [], -6, 2), zero if c.chance(0.8) else None], exact=True)


@op(MS + "QLinearSigmoid", MS + "QLinearLeakyRelu")
def function(c, x, name):
    x = bytes_in(c, x)
    leaky = name.endswith("LeakyRelu")
    c.node(name, [*quantized(c, x, -7, -3), scales(c, [], -7, -3) if leaky else uneven(c), zeros(c, x.dtype)], exact=True, alpha=c.choice([None, 0.25, 0.5]) if leaky else None)


def pixels(c, x):
    last = c.choice([0, 1])
    x = x or integers(c, [c.extent(3), c.extent(17), *[c.extent(9) for _ in range(2)]], byte(c))
    c.need(x.exact and x.dtype in (np.uint8, np.int8) and x.rank == 4 and 0 < x.array.size < 8000)
    return x, last, (x.shape[1:3] if last else x.shape[2:])


@op(MS + "QLinearGlobalAveragePool")
def global_average(c, x):
    x, last, _ = pixels(c, x)
    c.node(MS + "QLinearGlobalAveragePool", [*quantized(c, x, -6, -4), uneven(c), zeros(c, x.dtype)], exact=True, channels_last=last)


@op(MS + "QLinearAveragePool")
def average(c, x):
    x, last, spatial = pixels(c, x)
    kernel = c.kernel(2, 3)
    attributes = window(c, spatial, kernel, extent=True)
    c.node(MS + "QLinearAveragePool", [*quantized(c, x, -6, -4), uneven(c), zeros(c, x.dtype)], exact=True, kernel_shape=kernel, channels_last=last,
           count_include_pad=c.choice([None, 0, 1]), **attributes)  # fmt: skip


@op(MS + "NhwcMaxPool")
def max_pool(c, x):
    x = x or integers(c, [c.extent(3), c.extent(9), c.extent(9), c.extent(33)], byte(c))
    c.need(x.exact and x.dtype in (np.uint8, np.int8) and x.rank == 4 and 0 < x.array.size < 8000)
    kernel = c.kernel(2, 3)
    c.node(MS + "NhwcMaxPool", [x], exact=True, kernel_shape=kernel, ceil_mode=c.choice([None, 0, 1]), **window(c, x.shape[1:3], kernel))


@op(MS + "QLinearWhere")
def where(c, x):
    """Scales and zero points are constants: ONNX Runtime crashes over others."""
    x = bytes_in(c, x)
    number = lambda value, type: c.tensor(np.array(value, type), constant=True)
    pair = lambda low, high: [number(2.0 ** c.rng.randint(low, high), np.float32), number(c.choice([0, 3, 100, 127]), x.dtype)]
    other = integers(c, [size if c.chance(0.7) else 1 for size in x.shape], x.dtype)
    c.node(MS + "QLinearWhere", [c.data(x.shape, bool), x, *pair(-8, 0), other, *pair(-8, 0), *pair(-6, 2)], exact=True)


@op(MS + "QLinearConcat")
def concat(c, x):
    x = bytes_in(c, x)
    axis = c.axis(x.rank)
    parts = [x]
    for _ in range(c.choice([0, 1, 2])):
        shape = list(x.shape)
        shape[axis] = c.extent(9)
        parts.append(integers(c, shape, x.dtype))
    c.rng.shuffle(parts)
    c.node(MS + "QLinearConcat", [scales(c, [], -6, 2), zeros(c, x.dtype), *[v for part in parts for v in quantized(c, part)]], exact=True, axis=axis)


def matrices(c, x, most=40):
    depth, columns = c.extent(most * 2), c.extent(most)
    x = x or integers(c, [*[c.extent(3) for _ in range(c.choice([0, 0, 1]))], c.extent(most), depth], byte(c))
    c.need(x.exact and x.dtype in (np.uint8, np.int8) and x.rank in (2, 3) and x.array.size)
    weights = integers(c, [x.shape[-1], columns], np.int8 if x.dtype == np.int8 else byte(c), constant=c.chance(0.8))
    return x, weights, [columns] if c.chance(0.5) else []


@op(MS + "QGemm")
def gemm(c, x):
    c.need(x is None)
    rows, depth, columns = c.extent(40), c.extent(80), c.extent(40)
    trans_a, trans_b = c.choice([None, 0, 1]), c.choice([None, 0, 1])
    a = integers(c, [depth, rows] if trans_a else [rows, depth], byte(c))
    b = integers(c, [columns, depth] if trans_b else [depth, columns], np.int8 if a.dtype == np.int8 else byte(c), constant=c.chance(0.8))
    each = [columns] if c.chance(0.5) else []
    bias = c.data(c.choice([[columns], [1, columns], [rows, columns]]), np.int32, -900, 900) if c.chance(0.6) else None
    result = [scales(c, [], -4, 4), zeros(c, a.dtype)] if c.chance(0.6) else []
    c.node(MS + "QGemm", [a, scales(c, []), zeros(c, a.dtype), b, scales(c, each), zeros(c, b.dtype, each), bias, *result], exact=True, alpha=c.choice([None, 0.5]), transA=trans_a, transB=trans_b)


@op(MS + "MatMulIntegerToFloat")
def to_float(c, x):
    a, b, each = matrices(c, x)
    bias = c.data([b.shape[1]]) if c.chance(0.5) else None
    points = [zeros(c, a.dtype) if c.chance(0.7) else None, zeros(c, b.dtype, each) if c.chance(0.7) else None]
    c.node(MS + "MatMulIntegerToFloat", [a, b, scales(c, []), scales(c, each), *points, bias])


@op(MS + "DynamicQuantizeMatMul")
def dynamic(c, x):
    x = x or c.data([*[c.extent(3) for _ in range(c.choice([0, 1]))], c.extent(40), c.extent(80)])
    c.need(x.exact and x.dtype == np.float32 and x.rank >= 2 and x.array.size and np.abs(x.array).max() < 1e4)
    columns = c.extent(40)
    b, each = integers(c, [x.shape[-1], columns], byte(c), constant=c.chance(0.8)), [columns] if c.chance(0.5) else []
    c.node(MS + "DynamicQuantizeMatMul", [x, b, scales(c, each), zeros(c, b.dtype, each) if c.chance(0.6) else None, c.data([columns]) if c.chance(0.5) else None])


@op(MS + "QLinearConv")
def convolution(c, x):
    x, last, spatial = pixels(c, x)
    channels = x.shape[3] if last else x.shape[1]
    group = c.choice([g for g in (1, 1, 2, channels) if channels % g == 0])
    outputs, kernel = group * c.choice([1, 2, 3]), c.kernel(2, 3)
    weights = integers(c, [outputs, channels // group, *kernel], np.int8 if x.dtype == np.int8 else byte(c), constant=True)
    each = [outputs] if c.chance(0.5) else []
    bias = c.data([outputs], np.int32, -3000, 3000, constant=True) if c.chance(0.5) else None
    c.node(MS + "QLinearConv", [*quantized(c, x), weights, scales(c, each), zeros(c, weights.dtype, each), scales(c, [], -4, 4), zeros(c, x.dtype), bias], exact=True,
           channels_last=last, group=group if group > 1 else None, **window(c, spatial, kernel))  # fmt: skip


@op(MS + "QuantizeLinear", MS + "DequantizeLinear")
def linear(c, x, name):
    axis, each = None, []
    if name.endswith("DequantizeLinear"):
        x = bytes_in(c, x)
    else:
        x = x or c.data(c.shape(1, 4))
        c.need(x.dtype == np.float32 and x.exact and x.rank and x.array.size and np.abs(x.array).max() < 1e6)
    if c.chance(0.5):
        axis = c.rng.randrange(x.rank)
        each = [x.shape[axis]]
    type = x.dtype if name.endswith("DequantizeLinear") else byte(c)
    c.node(name, [x, scales(c, each), zeros(c, type, each)], exact=True, axis=axis)


def packed(c, *shape):
    return c.tensor(c.numbers(list(shape), np.uint8, 0, 255), constant=True)


def factors(c, *shape):
    return c.tensor(c.numbers(list(shape), np.float32, 0.02, 0.5) + np.float32(1 / 64), constant=True)


@op(MS + "MatMulNBits", weight=2)
def few_bits(c, x):
    bits, block = c.choice([2, 4, 4, 8]), c.choice([16, 32, 64, 128])
    depth, columns = x.shape[-1] if x is not None and x.rank else c.extent(300), c.extent(100)
    x = x or c.data([*[c.extent(5) for _ in range(c.choice([1, 1, 2]))], depth])
    c.need(x.dtype == np.float32 and 1 <= x.rank <= 3 and 0 < x.array.size < 20000 and np.abs(x.array).max() < 100)
    blocks = -(-depth // block)
    points = packed(c, columns * -(-blocks * bits // 8)) if c.chance(0.5) else None
    c.node(MS + "MatMulNBits", [x, packed(c, columns, blocks, block * bits // 8), factors(c, columns * blocks), points], K=depth, N=columns, bits=bits, block_size=block)


@op(MS + "MatMulBnb4")
def bnb(c, x):
    """Turned: ONNX Runtime's kernel for others reads past its operands."""
    block, depth, columns = c.choice([16, 32, 64]), x.shape[-1] if x is not None and x.rank else c.extent(129), c.extent(40)
    x = x or c.data([*[c.extent(5) for _ in range(c.choice([1, 1, 2]))], depth])
    c.need(x.dtype == np.float32 and 1 <= x.rank <= 3 and 0 < x.array.size < 20000 and np.abs(x.array).max() < 100)
    operands = [x, packed(c, -(-depth * columns // 2)), factors(c, -(-depth * columns // block))]
    c.node(MS + "MatMulBnb4", operands, K=depth, N=columns, block_size=block, quant_type=c.choice([0, 1]), transB=c.choice([None, 1]))


@op(MS + "GatherBlockQuantized")
def gathered(c, x):
    bits, block, rows = c.choice([2, 4, 8]), c.choice([16, 32, 64]), c.extent(13)
    blocks = c.choice([1, 2, 3])
    index = c.data(c.choice([[], [c.extent(5)], [2, 3]]), c.choice([np.int64, np.int32]), -rows, rows - 1)
    points = [packed(c, rows, -(-blocks * bits // 8))] if c.chance(0.5) else []
    c.node(MS + "GatherBlockQuantized", [packed(c, rows, blocks * block * bits // 8), index, factors(c, rows, blocks), *points], bits=bits, block_size=block, gather_axis=0, quantize_axis=1)


@op(MS + "QAttention")
def attention(c, x):
    """Of bytes without a sign, for which alone ONNX Runtime has a kernel; weights are of either kind."""
    batch, steps, heads, width, depth = c.choice([1, 2, 3]), c.extent(9), c.choice([1, 2, 3]), c.choice([4, 8, 13]), c.extent(17)
    hidden, type = heads * width, byte(c)
    weights = c.tensor(c.numbers([depth, 3 * hidden], type, 0 if type == np.uint8 else -30, 60), constant=True)
    each = [3 * hidden] if c.chance(0.4) else []
    mask = {"lengths": lambda: c.numbers([batch], np.int32, 1, steps), "rows": lambda: np.maximum(c.numbers([batch, steps], np.int32, 0, 1), np.arange(steps, dtype=np.int32) == 0), "none": lambda: None}
    kept = mask[c.choice(["none", "lengths", "rows"])]()
    past = c.data([2, batch, heads, c.extent(5), width], low=-1, high=1) if kept is None and c.chance(0.4) else None
    operands = [c.tensor(c.numbers([batch, steps, depth], np.uint8, 0, 60), constant=False), weights, c.data([3 * hidden], low=-1, high=1), scales(c, [], -6, -5), scales(c, each, -6, -5),
                c.tensor(kept.astype(np.int32)) if kept is not None else None, zeros(c, np.uint8), zeros(c, type, each), past]  # fmt: skip
    outputs = 2 if past is not None else 1
    c.node(MS + "QAttention", operands, outputs, num_heads=heads, unidirectional=c.choice([None, 0, 1]), scale=c.choice([None, 0.25]), mask_filter_value=c.choice([None, -1000.0]) if kept is not None else None)


@op(MS + "QMoE")
def experts(c, x):
    bits, block, activation = c.choice([4, 4, 8]), c.choice([0, 16, 32]), c.choice(["silu", "swiglu", "relu", "gelu", "identity"])
    count, width, inner, tokens = c.choice([1, 2, 4]), 32 * c.choice([1, 2]), 32, c.extent(9)
    c.need(bits == 4 or not block)  # with 8 bits by block ONNX Runtime quantizes what it multiplies, too
    outer, k = inner * (2 if activation == "swiglu" else 1), c.rng.randint(1, count)
    points = c.chance(0.4)

    def layer(outputs, inputs):
        blocks = [inputs // block] if block else []
        shape = [outputs, -(-blocks[0] * bits // 8)] if block else [-(-outputs * bits // 8)]
        low = c.numbers([count, outputs, *blocks], np.float32, 0.02, 0.06) + np.float32(1 / 64)
        return packed(c, count, outputs, inputs * bits // 8), c.tensor(low, constant=True), packed(c, count, *shape) if points else None

    first, second = layer(outer, width), layer(width, inner)
    router = c.tensor(np.array([c.rng.sample(range(count), count) for _ in range(tokens)], np.float32), constant=False)  # no two are alike
    biases = [c.data([count, n], low=-1, high=1) for n in (outer, width)] if c.chance(0.6) else [None, None]
    operands = [c.data([tokens, width], low=-1, high=1), router, first[0], first[1], biases[0], second[0], second[1], biases[1], None, None, None, first[2], second[2]]
    more = dict(swiglu_fusion=1, activation_alpha=1.75, activation_beta=1.0, swiglu_limit=1.5) if activation == "swiglu" else {}
    c.node(MS + "QMoE", operands, k=k, activation_type=activation, expert_weight_bits=bits, block_size=block or None, normalize_routing_weights=c.choice([None, 0, 1]), **more)
