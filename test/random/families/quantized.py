"""Quantized operators. Scales are powers of two, so that products with them and quotients by them are exact, whatever their order."""
import numpy as np

from families import op
from families.dense import odd_filter, window

RANGES = {np.dtype(np.uint8): (0, 255), np.dtype(np.int8): (-128, 127), np.dtype(np.uint16): (0, 65535), np.dtype(np.int16): (-32768, 32767)}


def scales(c, shape, low=-8, high=0):
    return c.tensor(np.exp2(np.array([c.rng.randint(low, high) for _ in range(int(np.prod(shape)))], np.float32)).reshape(shape), constant=c.chance(0.9))


def zeros(c, dtype, shape=(), near=9):
    """Zero points: often that of a symmetric type, or at an end of its range."""
    low, high = RANGES.get(np.dtype(dtype), (0, 0))
    middle = (low + high + 1) // 2
    value = c.choice([0, middle, middle + c.rng.randint(-near, near), low, high])
    return c.tensor(np.full(shape, value, dtype), constant=c.chance(0.9))


def integers(c, shape, dtype, constant=None):
    """Factors (those of which is said whether they are constants) are often small: sums of two or four products of them by bytes fit 16 bits."""
    low, high = RANGES[np.dtype(dtype)]
    if constant is not None and c.chance(0.5):
        middle, most = (low + high + 1) // 2, c.choice([31, 63])
        low, high = middle - most, middle + most
    return c.data(shape, dtype, low, high, constant)


def places(c, x):
    """An axis, sizes of blocks along it (0: none) and the shape of scales: of the whole tensor, of places along the axis, or of blocks."""
    axis = c.rng.randrange(x.rank) if x.rank else 0
    if not x.rank or c.opset < 13 or c.chance(0.3):
        return None, 0, []
    if c.opset < 21 or c.chance(0.5):
        return axis, 0, [x.shape[axis]]
    block = c.rng.randint(1, max(1, x.shape[axis]))
    c.need(x.array.size and x.shape[axis] % block == 0)  # ONNX Runtime takes no others
    return axis, block, [size // block if k == axis else size for k, size in enumerate(x.shape)]


def along(c, x, axis):
    return None if axis is None else axis - x.rank if c.chance(0.3) else axis


@op("QuantizeLinear", weight=2)
def quantize(c, x):
    c.since(10)
    x = x or c.data(c.shape(1, 4))
    c.need(x.dtype == np.float32 and x.exact and np.isfinite(x.array).all() and (not x.array.size or np.abs(x.array).max() < 1e6))
    axis, block, shape = places(c, x)
    dtype = c.choice([np.uint8, np.int8] + ([np.uint16, np.int16] if c.opset >= 21 else []))
    zero = zeros(c, dtype, shape) if c.chance(0.7) else None
    named = {np.uint8: 2, np.int8: 3, np.uint16: 4, np.int16: 5}[dtype] if c.opset >= 21 and c.chance(0.6) else None
    c.node("QuantizeLinear", [x, scales(c, shape), zero], exact=True, axis=along(c, x, axis), block_size=block or None, output_dtype=named,
           saturate=c.choice([None, 1]) if c.opset >= 19 else None, precision=c.choice([None, 1]) if c.opset >= 23 else None)


@op("DequantizeLinear", weight=2)
def dequantize(c, x):
    c.since(10)
    x = x or integers(c, c.shape(1, 4), c.choice([np.uint8, np.int8, np.int8] + ([np.uint16, np.int16] if c.opset >= 21 else [])))
    c.need(x.exact and (x.dtype in RANGES or x.dtype == np.int32) and (c.opset >= 21 or x.dtype.itemsize != 2))
    axis, block, shape = places(c, x)
    zero = zeros(c, x.dtype, shape) if c.chance(0.7) and x.dtype != np.int32 else None
    c.node("DequantizeLinear", [x, scales(c, shape), zero], exact=True, axis=along(c, x, axis), block_size=block or None,
           output_dtype=c.choice([None, 1, 1, 1]) if c.opset >= 23 else None)


@op("DynamicQuantizeLinear")
def dynamic(c, x):
    c.since(11)
    x = x or c.data(c.shape(1, 4))
    c.need(x.dtype == np.float32 and x.exact and x.array.size and np.isfinite(x.array).all() and np.abs(x.array).max() < 1e6)
    c.node("DynamicQuantizeLinear", [x], outputs=3, exact=True)


def matrices(c, x):
    depth = c.extent(300)
    if x is not None:
        c.need(x.exact and x.dtype in (np.uint8, np.int8) and x.rank >= 2 and x.array.size)
        depth = x.shape[-1]
    else:
        x = integers(c, [*[c.extent(4) for _ in range(c.choice([0, 0, 1, 2]))], c.extent(100), depth], c.choice([np.uint8, np.int8]))
    columns = c.extent(100)
    c.need(x.array.size * columns < 2_000_000)
    # ONNX Runtime has no product of signed by unsigned bytes.
    weights = integers(c, [depth, columns], np.int8 if x.dtype == np.int8 else c.choice([np.uint8, np.int8]), constant=c.chance(0.8))
    return x, weights, [columns] if c.chance(0.5) else []


@op("MatMulInteger", weight=2)
def matmul_integer(c, x):
    c.since(10)
    a, b, columns = matrices(c, x)
    if c.chance(0.1):
        b, columns = integers(c, [a.shape[-1]], b.dtype, constant=c.chance(0.8)), []
    az = zeros(c, a.dtype) if c.chance(0.6) else None
    bz = zeros(c, b.dtype, columns if c.chance(0.5) else []) if c.chance(0.6) else None
    c.node("MatMulInteger", [a, b, az, bz], exact=True)


@op("QLinearMatMul", weight=2)
def qlinear_matmul(c, x):
    c.since(10)
    a, b, columns = matrices(c, x)
    c.need(c.opset >= 21 or a.dtype == np.uint8 or b.dtype == np.int8)
    result = np.dtype(a.dtype)
    c.node("QLinearMatMul", [a, scales(c, []), zeros(c, a.dtype), b, scales(c, columns), zeros(c, b.dtype, columns), scales(c, [], -4, 4), zeros(c, result)], exact=True)


def images(c, x):
    if x is None:
        rank = c.choice([1, 2, 2, 2, 3])
        x = integers(c, [c.extent(3), c.extent(40), *[c.extent({1: 60, 2: 20, 3: 8}[rank]) for _ in range(rank)]], c.choice([np.uint8, np.int8]))
    c.need(x.exact and x.dtype in (np.uint8, np.int8) and 3 <= x.rank <= 5 and 0 < x.array.size < 40000)
    channels, spatial = x.shape[1], x.shape[2:]
    kernel = c.kernel(len(spatial), 5)
    group = c.choice([1, 1, channels, *[group for group in range(1, channels + 1) if channels % group == 0]])
    outputs = group * (c.choice([1, 1, 2, 3]) if group > 1 else c.extent(70))
    c.need(outputs <= 128 and np.prod(kernel) * outputs * channels // group < 100_000)
    weights = integers(c, [outputs, channels // group, *kernel], np.int8 if x.dtype == np.int8 else c.choice([np.uint8, np.int8]), constant=c.chance(0.9))
    attributes = window(c, spatial, kernel)
    attributes["kernel_shape"] = kernel if c.chance(0.7) else None
    return x, weights, dict(attributes, group=group if group > 1 or c.chance(0.3) else None)


def small_filter(c, x):
    """What Winograd's algorithm takes of integers, and of what is a channel by itself."""
    rank = c.choice([1, 2, 2, 2])
    if x is None:
        x = integers(c, [c.extent(3), c.extent(40), *[c.extent({1: 60, 2: 20}[rank]) for _ in range(rank)]], c.choice([np.uint8, np.int8]))
    c.need(x.exact and x.dtype in (np.uint8, np.int8) and x.rank == rank + 2 and 0 < x.array.size < 40000 and min(x.shape[2:]) >= 2)
    kernel, _, attributes = odd_filter(c, x.shape[2:])
    group = x.shape[1] if c.chance(0.2) else 1
    outputs = group if group > 1 else c.extent(65)
    c.need(x.array.size * outputs < 3_000_000)
    weights = integers(c, [outputs, x.shape[1] // group, *kernel], np.int8 if x.dtype == np.int8 else c.choice([np.uint8, np.int8]), constant=True)
    c.choice([conv_integer_of, qlinear_conv_of])(c, x, weights, dict(attributes, group=group if group > 1 else None))


def conv_integer_of(c, x, weights, attributes):
    c.since(10)
    c.node("ConvInteger", [x, weights, zeros(c, x.dtype) if c.chance(0.7) else None, zeros(c, weights.dtype) if c.chance(0.5) else None], exact=True, **attributes)


@op("ConvInteger", weight=2)
def conv_integer(c, x):
    conv_integer_of(c, *images(c, x))


def qlinear_conv_of(c, x, weights, attributes):
    c.since(10)
    outputs = [weights.shape[0]] if c.chance(0.5) else []
    bias = c.data([weights.shape[0]], np.int32, -3000, 3000, constant=True) if c.chance(0.5) else None
    c.node("QLinearConv", [x, scales(c, []), zeros(c, x.dtype), weights, scales(c, outputs), zeros(c, weights.dtype, outputs), scales(c, [], -4, 4), zeros(c, x.dtype), bias],
           exact=True, **attributes)


@op("QLinearConv", weight=3)
def qlinear_conv(c, x):
    qlinear_conv_of(c, *images(c, x))


def dequantized(c, x):
    """What a model in QDQ form multiplies; the scales of weights may differ along any axis, the one of the sums, too."""
    axis, block, shape = places(c, x) if x.name in c.constants else (None, 0, [])
    return c.node("DequantizeLinear", [x, scales(c, shape), zeros(c, x.dtype, shape)], exact=True, axis=along(c, x, axis), block_size=block or None)[0]


@op("dequantized", weight=2)
def dequantized_factors(c, x):
    c.since(13)
    if c.chance(0.5):
        c.need(x is None or x.rank >= 3)
        x, weights, attributes = images(c, x)
        c.node("Conv", [dequantized(c, x), dequantized(c, weights)], **attributes)
        return
    a, b, _ = matrices(c, x)
    if a.rank != 2 or c.chance(0.5):
        c.node("MatMul", [dequantized(c, a), dequantized(c, b)])
        return
    turned = integers(c, b.shape[::-1], b.dtype, constant=c.chance(0.8))
    c.node("Gemm", [dequantized(c, a), dequantized(c, turned)], transB=1)
