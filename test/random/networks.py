"""Chains of three to twelve nodes as networks have them.

A network is a value that blocks go on with: an image [N, C, H, W], a sequence [N, T, D] or a vector [N, D]; some blocks turn one kind into another. A block is a function of
(case, x) that adds its nodes and returns the new value. The first axis is the batch: no block mixes what lies along it."""
import numpy as np

from case import Case, Skip

BLOCKS = {"image": [], "sequence": [], "vector": []}


def block(kind, weight=1):
    def register(function):
        BLOCKS[kind] += [function] * weight
        return function

    return register


# What blocks are made of -----------------------------------------------------------------------------------------------------------------


def one(c, op, inputs, exact=False, **attributes):
    [y] = c.node(op, inputs, exact=exact, **attributes)
    c.need(y.array.size <= c.most_elements and (y.dtype.kind != "f" or np.isfinite(y.array).all()))
    return y


def number(c, value, dtype=np.float32):
    return c.tensor(np.array(value, dtype), constant=True)


def weight(c, *shape, fan=None):
    """Weights whose sums stay near one; now and then an input."""
    fan = fan or max(int(np.prod(shape[:-1])), 1)
    array = c.numbers(shape, np.float32, -1, 1) * np.float32((3 / fan) ** 0.5)
    return c.tensor(array.astype(np.float32), constant=not c.chance(0.08))


def axes_of(c, op, x, axes, since=13, **attributes):
    """Squeeze, Unsqueeze and the reductions: axes were attributes once."""
    if c.opset < since:
        return one(c, op, [x], exact=op.endswith("queeze"), axes=axes, **attributes)
    return one(c, op, [x, c.ints(axes)], exact=op.endswith("queeze"), **attributes)


def mean(c, x, axes, keepdims=1):
    return axes_of(c, "ReduceMean", x, axes, 18, keepdims=keepdims)


def total(c, x, axes, keepdims=1):
    return axes_of(c, "ReduceSum", x, axes, 13, keepdims=keepdims)


def reshaped(c, x, shape):
    """To `shape`, in which None is an axis of x at the same place: by numbers, by 0 and -1, or by arithmetic on Shape(x) as exporters write it."""
    numbers = [x.shape[k] if size is None else size for k, size in enumerate(shape)]
    kind = c.rng.randrange(3)
    if kind == 0 and not c.computed:
        return one(c, "Reshape", [x, c.ints(numbers)], exact=True)
    if kind < 2 or None not in shape:
        told = [0 if size is None else size for size in shape]
        known = [k for k, size in enumerate(shape) if size is not None]
        told[known[0] if len(known) == 1 else c.choice(known)] = -1 if 0 not in numbers else numbers[known[0]]
        return one(c, "Reshape", [x, c.ints(told)], exact=True)
    sizes, parts = one(c, "Shape", [x], exact=True), []
    for k, size in enumerate(shape):
        if size is None:
            place = number(c, k, np.int64)
            parts.append(axes_of(c, "Unsqueeze", one(c, "Gather", [sizes, place], exact=True, axis=0), [0]))
        else:
            parts.append(c.ints([size]))
    if 0 not in numbers and c.chance(0.5) and (known := [k for k, size in enumerate(shape) if size is not None]):
        parts[known[-1]] = c.ints([-1])
    return one(c, "Reshape", [x, one(c, "Concat", parts, exact=True, axis=0)], exact=True)


def activated(c, x):
    kind = c.choice(["Relu", "Relu", "Clip", "Swish", "HardSwish", "LeakyRelu", "PRelu", "Gelu", "GeluTanh", "Tanh", "Sigmoid", "Mish", "Elu", "Softplus", "QuickGelu"])
    if kind == "Clip":
        return one(c, "Clip", [x, number(c, 0), number(c, 6)]) if c.opset >= 11 else one(c, "Clip", [x], min=0.0, max=6.0)
    if kind == "Swish":
        return one(c, "Mul", [x, one(c, "Sigmoid", [x])])
    if kind == "QuickGelu":
        return one(c, "Mul", [x, one(c, "Sigmoid", [one(c, "Mul", [x, number(c, 1.702)])])])
    if kind == "HardSwish" and c.opset < 14:
        return one(c, "Div", [one(c, "Mul", [x, one(c, "Clip", [one(c, "Add", [x, number(c, 3)]), number(c, 0), number(c, 6)])]), number(c, 6)]) if c.opset >= 11 else one(c, "Relu", [x])
    if kind == "PRelu":
        return one(c, "PRelu", [x, weight(c, x.shape[1], *[1] * (x.rank - 2), fan=9)])
    if kind == "Gelu":
        inner = one(c, "Erf", [one(c, "Div", [x, number(c, 2**0.5)])])
        return one(c, "Mul", [one(c, "Mul", [x, one(c, "Add", [inner, number(c, 1)])]), number(c, 0.5)])
    if kind == "GeluTanh":
        cube = one(c, "Pow", [x, number(c, 3)])
        inner = one(c, "Tanh", [one(c, "Mul", [one(c, "Add", [x, one(c, "Mul", [cube, number(c, 0.044715)])]), number(c, 0.7978846)])])
        return one(c, "Mul", [one(c, "Mul", [x, number(c, 0.5)]), one(c, "Add", [inner, number(c, 1)])])
    if kind == "Mish":
        return one(c, "Mul", [x, one(c, "Tanh", [one(c, "Softplus", [x])])])
    return one(c, kind, [x])


def conv(c, x, outputs, kernel=None, stride=None, group=1, pad=True, bias=None):
    rank, channels = x.rank - 2, x.shape[1]
    kernel = kernel or c.kernel(rank, 7 if channels * outputs < 2000 else 3)
    stride = stride or [1] * rank
    c.need(np.prod(kernel) * outputs * channels // group * np.prod(x.shape[2:]) * x.shape[0] < c.most_products)
    pads = [size // 2 for size in kernel] if pad else [0] * rank
    c.need(all(size + 2 * p >= k for size, p, k in zip(x.shape[2:], pads, kernel)))
    how = {"auto_pad": "SAME_UPPER"} if pad and all(s == 1 for s in stride) and c.chance(0.1) else {"pads": pads * 2}
    w = weight(c, outputs, channels // group, *kernel, fan=channels // group * int(np.prod(kernel)))
    b = weight(c, outputs, fan=9) if (c.chance(0.6) if bias is None else bias) else None
    return one(c, "Conv", [x, w, b], kernel_shape=kernel, strides=stride, group=group, **how)


def batch_normalised(c, x):
    count = x.shape[1]
    scale, bias, average = (c.tensor(c.numbers([count], np.float32, low, 1), constant=True) for low in (0.5, -1, -1))
    return one(c, "BatchNormalization", [x, scale, bias, average, c.tensor(c.numbers([count], np.float32, 0.5, 2), constant=True)], epsilon=1e-3)


def product(c, x, columns, bias=None):
    c.need(x.array.size * columns < c.most_products)
    y = one(c, "MatMul", [x, weight(c, x.shape[-1], columns)])
    if c.chance(0.7) if bias is None else bias:
        y = one(c, "Add", c.choice([lambda b: [y, b], lambda b: [b, y]])(weight(c, columns, fan=9)))
    return y


def layer_normalised(c, x):
    """Over the last axis, as an operator or taken apart."""
    width, kind = x.shape[-1], c.rng.randrange(4)
    scale, bias = weight(c, width, fan=3), weight(c, width, fan=9)
    if kind == 0 and c.opset >= 17 and width > 1:
        return one(c, "LayerNormalization", [x, scale, bias], axis=-1, epsilon=1e-2)
    if kind == 1:  # root mean square
        square = one(c, "Pow", [x, number(c, 2)]) if c.chance(0.5) else one(c, "Mul", [x, x])
        root = one(c, "Sqrt", [one(c, "Add", [mean(c, square, [-1]), number(c, 1e-2)])])
        return one(c, "Mul", [one(c, "Div", [x, root]) if c.chance(0.5) else one(c, "Mul", [x, one(c, "Reciprocal", [root])]), scale])
    centred = one(c, "Sub", [x, mean(c, x, [-1])])
    variance = mean(c, one(c, "Pow", [centred, number(c, 2)]), [-1])
    y = one(c, "Div", [centred, one(c, "Sqrt", [one(c, "Add", [variance, number(c, 1e-2)])])])
    return one(c, "Add", [one(c, "Mul", [y, scale]), bias]) if kind == 2 else y


def transposed(c, x, *perm):
    return one(c, "Transpose", [x], exact=True, perm=list(perm))


# Images ----------------------------------------------------------------------------------------------------------------------------------


@block("image", 3)
def convolution(c, x):
    y = conv(c, x, c.extent(), stride=[c.choice([1, 1, 2])] * (x.rank - 2), pad=c.chance(0.8))
    y = batch_normalised(c, y) if c.chance(0.5) else y
    return activated(c, y) if c.chance(0.7) else y


@block("image", 3)
def pointwise(c, x):
    return activated(c, conv(c, x, c.extent(130), kernel=[1] * (x.rank - 2), pad=False))


@block("image", 3)
def inverted_bottleneck(c, x):
    rank, wide = x.rank - 2, x.shape[1] * c.choice([1, 2, 3, 6])
    y = activated(c, conv(c, x, wide, kernel=[1] * rank))
    y = activated(c, conv(c, y, wide, kernel=[c.choice([3, 3, 5])] * rank, group=wide, stride=[c.choice([1, 1, 2])] * rank))
    y = squeezed(c, y) if c.chance(0.3) else y
    y = conv(c, y, x.shape[1] if c.chance(0.7) else c.extent(), kernel=[1] * rank)
    return one(c, "Add", [y, x]) if y.shape == x.shape else y


@block("image", 2)
def squeezed(c, x):
    """Squeeze and excite."""
    rank, narrow = x.rank - 2, c.extent(17)
    y = one(c, "GlobalAveragePool", [x]) if c.chance(0.6) else mean(c, x, list(range(2, x.rank)))
    y = activated(c, conv(c, y, narrow, kernel=[1] * rank, pad=False))
    y = one(c, c.choice(["Sigmoid", "HardSigmoid"]), [conv(c, y, x.shape[1], kernel=[1] * rank, pad=False)])
    return one(c, "Mul", c.choice([[x, y], [y, x]]))


@block("image", 2)
def residual(c, x):
    y = convolution(c, x)
    y = conv(c, y, x.shape[1], kernel=[c.choice([1, 3])] * (x.rank - 2))
    if y.shape != x.shape:
        x = conv(c, x, y.shape[1], kernel=[1] * (x.rank - 2), stride=[2] * (x.rank - 2), pad=False)
        c.need(x.shape == y.shape)
    return activated(c, one(c, "Add", c.choice([[x, y], [y, x]])))


@block("image")
def dense(c, x):
    y = conv(c, activated(c, batch_normalised(c, x)), c.extent(33), kernel=[c.choice([1, 3])] * (x.rank - 2))
    return one(c, "Concat", [x, y], axis=1)


@block("image")
def depthwise(c, x):
    y = conv(c, x, x.shape[1], kernel=[c.choice([3, 5, 7])] * (x.rank - 2), group=x.shape[1])
    return conv(c, activated(c, y), c.extent(), kernel=[1] * (x.rank - 2))


@block("image")
def shuffled(c, x):
    """Channels of groups change places."""
    groups = [size for size in (2, 3, 4, 8) if x.shape[1] % size == 0]
    c.need(x.rank == 4 and groups)
    group, (_, channels, height, width) = c.choice(groups), x.shape
    y = reshaped(c, x, [None, group, channels // group, height, width])
    return reshaped(c, transposed(c, y, 0, 2, 1, 3, 4), [None, channels, height, width])


def bounds(c, size):
    """Of a Slice along an axis, counted from the front, from the end, or to an end that is far away."""
    low = c.rng.randrange(min(size, 4))
    high = size - c.rng.randrange(min(size - low, 4))
    return c.choice([low, low, low - size]), c.choice([high, high - size, 2**63 - 1]) if high < size else 2**63 - 1


@block("image", 2)
def cropped(c, x):
    """A convolution, or a transposed one, of which the ends or channels are not read: cut off at once, or behind a function, or in two parts that are joined again."""
    c.since(10)
    rank = x.rank - 2
    kernel = [c.choice([2, 3, 5]) for _ in range(rank)]
    c.need(all(2 * size >= k for size, k in zip(x.shape[2:], kernel)))
    stride, pads = [c.choice([1, 1, 2]) for _ in range(rank)], [c.choice([0, k - 1, k]) for k in kernel * 2]
    c.need(all(size + pads[i] + pads[rank + i] >= kernel[i] for i, size in enumerate(x.shape[2:])))
    outputs = c.extent(33)
    c.need(np.prod(kernel) * outputs * x.array.size < c.most_products)
    transposed = c.chance(0.3)
    c.need(not transposed or all((size - 1) * step + k > pads[i] + pads[rank + i] for i, (size, step, k) in enumerate(zip(x.shape[2:], stride, kernel))))
    w = weight(c, *([x.shape[1], outputs] if transposed else [outputs, x.shape[1]]), *kernel, fan=x.shape[1] * int(np.prod(kernel)))
    y = one(c, "ConvTranspose" if transposed else "Conv", [x, w, weight(c, outputs, fan=9) if c.chance(0.5) else None], pads=pads, strides=stride)
    y = activated(c, y) if c.chance(0.4) else y
    axes = sorted(c.rng.sample(range(1, y.rank), c.choice([1, 1, 2]) if rank > 1 else 1))

    def cut():
        starts, ends = zip(*(bounds(c, y.shape[axis]) for axis in axes))
        return one(c, "Slice", [y, c.ints(list(starts)), c.ints(list(ends)), c.ints(axes), *([c.ints([c.choice([1, 1, 2]) for _ in axes])] if c.chance(0.3) else [])], exact=True)

    parts = [cut() for _ in range(c.choice([1, 1, 2]))]
    c.need(all(part.array.size for part in parts))
    if len(parts) == 1 or parts[0].shape[1:axes[0]] + parts[0].shape[axes[0] + 1 :] != parts[1].shape[1:axes[0]] + parts[1].shape[axes[0] + 1 :]:
        return parts[0]
    return one(c, "Concat", parts, exact=True, axis=axes[0])


@block("image", 2)
def pooled(c, x):
    rank, kernel = x.rank - 2, c.choice([2, 3])
    c.need(all(size >= kernel for size in x.shape[2:]))
    pads = [0] * 2 * rank if c.chance(0.5) else [kernel // 2] * 2 * rank
    return one(c, c.choice(["MaxPool", "AveragePool"]), [x], kernel_shape=[kernel] * rank, strides=[c.choice([1, 2])] * rank, pads=pads)


@block("image", 2)
def up_and_down(c, x):
    """A level of a UNet: down, something, up, joined with what was there."""
    c.since(11)
    rank = x.rank - 2
    c.need(rank == 2 and all(size % 2 == 0 for size in x.shape[2:]))
    y = conv(c, x, c.extent(33), kernel=[3] * rank, stride=[2] * rank) if c.chance(0.5) else one(c, "MaxPool", [x], kernel_shape=[2] * rank, strides=[2] * rank)
    y = activated(c, y)
    if c.chance(0.5):
        w = weight(c, y.shape[1], c.extent(33), *[2] * rank, fan=y.shape[1])
        y = one(c, "ConvTranspose", [y, w], kernel_shape=[2] * rank, strides=[2] * rank)
    else:
        mode = c.choice(["nearest", "linear"])
        roi = None if c.opset >= 13 else c.ints([], np.float32)
        y = one(c, "Resize", [y, roi, c.ints([1.0, 1.0, 2.0, 2.0], np.float32)], mode=mode, coordinate_transformation_mode=c.choice(["asymmetric", "half_pixel"]),
                nearest_mode="floor" if mode == "nearest" else None)
    c.need(y.shape[2:] == x.shape[2:])
    return one(c, "Concat", c.choice([[x, y], [y, x]]), axis=1)


@block("image")
def group_normalised(c, x):
    """As PyTorch exports GroupNorm: an InstanceNormalization of reshaped channels."""
    groups = [size for size in (1, 2, 4, 8) if x.shape[1] % size == 0]
    group, channels = c.choice(groups), x.shape[1]
    c.need(x.array.size // x.shape[0] // group > 1 and x.rank == 4)
    ones = [number(c, [value] * group) for value in (1, 0)]
    sizes = one(c, "Shape", [x], exact=True) if c.computed or c.chance(0.6) else c.ints(x.shape)
    y = one(c, "InstanceNormalization", [one(c, "Reshape", [x, c.ints([0, group, -1])], exact=True), *ones], epsilon=1e-2)
    y = one(c, "Reshape", [y, sizes], exact=True)
    shape = [channels, 1, 1]
    y = one(c, "Add", [one(c, "Mul", [y, weight(c, *shape, fan=3)]), weight(c, *shape, fan=9)])
    return one(c, "Mul", [y, one(c, "Sigmoid", [y])]) if c.chance(0.6) else y


@block("image")
def convnext(c, x):
    c.need(x.rank == 4)
    y = conv(c, x, x.shape[1], kernel=[c.choice([3, 7])] * 2, group=x.shape[1])
    y = layer_normalised(c, transposed(c, y, 0, 2, 3, 1))
    y = product(c, activated(c, product(c, y, c.extent())) if c.chance(0.5) else y, x.shape[1])
    return one(c, "Add", [transposed(c, y, 0, 3, 1, 2), x])


@block("image", 2)
def detector_head(c, x):
    """Boxes and scores of an anchor-free detector, as two outputs."""
    c.need(x.rank == 4)
    classes, places = c.extent(33), x.shape[2] * x.shape[3]
    boxes = reshaped(c, conv(c, x, 4), [None, 4, -1 if c.computed else places])
    scores = reshaped(c, conv(c, x, classes), [None, classes, -1 if c.computed else places])
    scores = one(c, "Sigmoid", [scores]) if c.chance(0.6) else one(c, "Softmax", [scores], axis=1)
    joined = one(c, "Concat", [boxes, scores], axis=1)
    if c.chance(0.5):
        c.extra.add(scores.name)
    return transposed(c, joined, 0, 2, 1) if c.chance(0.6) else joined


@block("image")
def to_sequence(c, x):
    """Patches of a vision transformer."""
    patch = c.choice([1, 2, 3])
    c.need(x.rank == 4 and all(size >= patch for size in x.shape[2:]))
    y = conv(c, x, c.extent(33), kernel=[patch] * 2, stride=[patch] * 2, pad=False)
    return transposed(c, reshaped(c, y, [None, y.shape[1], -1 if c.computed else y.shape[2] * y.shape[3]]), 0, 2, 1)


@block("image")
def to_vector(c, x):
    y = one(c, c.choice(["GlobalAveragePool", "GlobalMaxPool"]), [x]) if c.chance(0.8) else x
    return one(c, "Flatten", [y], axis=1)


# Sequences -------------------------------------------------------------------------------------------------------------------------------


@block("sequence", 3)
def feed_forward(c, x):
    y = layer_normalised(c, x) if c.chance(0.6) else x
    y = product(c, activated(c, product(c, y, c.extent(130))), x.shape[2])
    return one(c, "Add", c.choice([[x, y], [y, x]]))


@block("sequence")
def gated(c, x):
    c.since(13)
    y, width = layer_normalised(c, x) if c.chance(0.5) else x, c.extent(33)
    if c.chance(0.5):
        halves = c.node("Split", [product(c, y, 2 * width), c.ints([width, width])], 2, axis=-1)
    else:
        halves = [product(c, y, width), product(c, y, width)]
    gate = one(c, "Sigmoid", [halves[0]]) if c.chance(0.5) else activated(c, halves[0])
    y = product(c, one(c, "Mul", [gate, halves[1]]), x.shape[2])
    return one(c, "Add", [x, y])


def heads_of(c, x, heads, turned=False):
    width = x.shape[2] // heads
    y = reshaped(c, x, [None, None, heads, width])
    return transposed(c, y, *((0, 2, 3, 1) if turned else (0, 2, 1, 3)))


@block("sequence", 4)
def attention(c, x):
    """With a mask of the batch, a causal one cut out of a table, or none; with keys and values of earlier steps, or of another sequence."""
    c.since(13)
    batch, steps, width = x.shape
    heads = c.choice([size for size in (1, 2, 3, 4, 8) if width % size == 0])
    source = x
    kind = c.choice(["self", "self", "cache", "cross"])
    if kind == "cross":
        source = c.batch_input([batch, c.extent(40), c.extent(33)])
    normal = layer_normalised(c, x) if c.chance(0.3) else x
    q = heads_of(c, product(c, normal, width), heads)
    k = heads_of(c, product(c, source if kind == "cross" else normal, width), heads, turned=kind != "cache")
    v = heads_of(c, product(c, source if kind == "cross" else normal, width), heads)
    if kind == "cache":
        past = [batch, heads, c.extent(20), width // heads]
        k, v = (one(c, "Concat", [c.batch_input(past), value], axis=2) for value in (k, v))
        c.extra.update([k.name, v.name])
        k = transposed(c, k, 0, 1, 3, 2)
    scale = number(c, (width // heads) ** -0.5)
    place = c.rng.randrange(3)
    q = one(c, "Mul", [q, scale]) if place == 0 else q
    scores = one(c, "MatMul", [q, k])
    scores = one(c, "Mul", [scores, scale]) if place == 1 else one(c, "Div", [scores, number(c, (width // heads) ** 0.5)]) if place == 2 else scores
    weights = one(c, "Softmax", [masked(c, scores, kind, k)], axis=-1)
    y = reshaped(c, transposed(c, one(c, "MatMul", [weights, v]), 0, 2, 1, 3), [None, None, width])
    y = product(c, y, width)
    return one(c, "Add", c.choice([[x, y], [y, x]])) if c.chance(0.8) else y


def masked(c, scores, kind, keys):
    batch, _, steps, length = scores.shape
    how = c.rng.randrange(4)
    if how == 0:
        return scores
    lowest = c.choice([-10000.0, float(np.finfo(np.float32).min)])
    if how == 1:  # who is padding: one row for each of the batch
        keep = c.numbers([batch, length], np.int64, 0, 1)
        keep[:, 0] = 1
        mask = axes_of(c, "Unsqueeze", c.batch_input(array=keep), [1, 2])
        mask = one(c, "Sub", [number(c, 1), one(c, "Cast", [mask], to=1)])
        return one(c, "Add", [scores, one(c, "Mul", [mask, number(c, lowest)])])
    if how == 2 and steps == length and kind == "self":
        most = length + c.rng.randint(0, 3)
        table = c.tensor(np.tril(np.ones((1, 1, most, most), bool)), constant=True)
        size = axes_of(c, "Unsqueeze", one(c, "Gather", [one(c, "Shape", [scores], exact=True), number(c, 3, np.int64)], exact=True, axis=0), [0])
        keep = one(c, "Slice", [table, c.ints([0]), size, c.ints([2])], exact=True)
        keep = one(c, "Slice", [keep, c.ints([0]), size, c.ints([3])], exact=True)
        return one(c, "Where", [keep, scores, number(c, lowest)])
    if how == 3 and c.opset >= 14 and steps == length:
        sizes = one(c, "Shape", [scores], exact=True)
        last = one(c, "Slice", [sizes, c.ints([2]), c.ints([4]), c.ints([0])], exact=True)
        full = one(c, "Expand", [number(c, lowest), last])
        return one(c, "Add", [scores, one(c, "Trilu", [full, number(c, 1, np.int64)], upper=1)])
    return one(c, "Add", [scores, c.batch_input([batch, 1, c.choice([1, steps]), length])])


@block("sequence", 2)
def recurrent(c, x):
    """With what exporters put around: the sequence first, the direction's axis taken away, states that come in and go out."""
    name, hidden = c.choice(["LSTM", "GRU", "RNN"]), c.extent(33)
    ways = c.choice([1, 1, 2])
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[name]
    y = transposed(c, x, 1, 0, 2)
    steps, batch, width = y.shape
    operands = [y, weight(c, ways, gates * hidden, width, fan=width * 4), weight(c, ways, gates * hidden, hidden, fan=hidden * 4), weight(c, ways, 2 * gates * hidden, fan=9), None]
    for _ in range(2 if name == "LSTM" else 1) if c.chance(0.5) else []:
        state = c.batch_input([batch, ways, hidden])
        operands.append(transposed(c, state, 1, 0, 2))
    outputs = c.node(name, operands, 3 if name == "LSTM" else 2, hidden_size=hidden, direction="bidirectional" if ways == 2 else None, linear_before_reset=1 if name == "GRU" and c.chance(0.5) else None)
    if ways == 1:
        y = axes_of(c, "Squeeze", outputs[0], [1])
    else:
        y = transposed(c, outputs[0], 0, 2, 1, 3)
        y = reshaped(c, y, [None, None, 2 * hidden]) if not c.chance(0.5) else one(c, "Reshape", [y, c.ints([0, 0, -1])], exact=True)
    return transposed(c, y, 1, 0, 2)


@block("sequence", 2)
def text_pooling(c, x):
    """The mean of what a mask keeps, the first token, or the largest value; then a vector."""
    kind = c.rng.randrange(4)
    if kind == 0:
        keep = c.numbers([x.shape[0], x.shape[1]], np.int64, 0, 1)
        keep[:, 0] = 1
        mask = one(c, "Cast", [axes_of(c, "Unsqueeze", c.batch_input(array=keep), [2])], to=1)
        if c.chance(0.5) and c.opset >= 8:
            mask = one(c, "Expand", [mask, one(c, "Shape", [x], exact=True)])
        kept = total(c, one(c, "Mul", [x, mask]), [1], keepdims=0)
        return one(c, "Div", [kept, one(c, "Clip", [total(c, mask, [1], keepdims=0), number(c, 1e-9)])]) if c.opset >= 11 else kept
    if kind == 1:
        return one(c, "Gather", [x, number(c, c.choice([0, -1] if c.opset >= 11 else [0]), np.int64)], axis=1)
    if kind == 2:
        return mean(c, x, [1], keepdims=0)
    return axes_of(c, "ReduceMax", x, [1], 18, keepdims=0)


@block("sequence")
def positions(c, x):
    """Rows of a table, as many as there are steps."""
    c.since(11)
    _, steps, width = x.shape
    table = weight(c, 1, steps + c.rng.randint(0, 5), width, fan=9)
    size = axes_of(c, "Unsqueeze", one(c, "Gather", [one(c, "Shape", [x], exact=True), number(c, 1, np.int64)], exact=True, axis=0), [0])
    return one(c, "Add", [x, one(c, "Slice", [table, c.ints([0]), size, c.ints([1])])])


@block("sequence")
def rotated(c, x):
    """Rotary positions over halves of the width."""
    c.since(10)
    width = x.shape[2]
    c.need(width % 2 == 0)
    halves = [one(c, "Slice", [x, c.ints([begin]), c.ints([end]), c.ints([2])]) for begin, end in ((0, width // 2), (width // 2, 2**31 - 1))]
    turned = one(c, "Concat", [one(c, "Neg", [halves[1]]), halves[0]], axis=-1)
    angles = c.batch_input([x.shape[0], x.shape[1], width])
    return one(c, "Add", [one(c, "Mul", [x, one(c, "Cos", [angles])]), one(c, "Mul", [turned, one(c, "Sin", [angles])])])


@block("sequence")
def with_token(c, x):
    """A learned token in front, repeated for the batch."""
    c.since(8)
    token = weight(c, 1, 1, x.shape[2], fan=9)
    size = one(c, "Gather", [one(c, "Shape", [x], exact=True), c.ints([0])], exact=True, axis=0)
    token = one(c, "Expand", [token, one(c, "Concat", [size, c.ints([1]), c.ints([x.shape[2]])], exact=True, axis=0)])
    return one(c, "Concat", [token, x], axis=1)


@block("sequence")
def convolved(c, x):
    y = transposed(c, x, 0, 2, 1)
    y = conv(c, y, c.extent(33), kernel=[c.choice([1, 3, 5])], stride=[c.choice([1, 1, 2])])
    return transposed(c, activated(c, y), 0, 2, 1)


@block("sequence")
def to_image(c, x):
    return transposed(c, x, 0, 2, 1)


# Vectors ---------------------------------------------------------------------------------------------------------------------------------


@block("vector", 4)
def dense_layer(c, x):
    columns = c.extent(130)
    if c.chance(0.6):
        turned = c.chance(0.7)
        w = weight(c, *((columns, x.shape[1]) if turned else (x.shape[1], columns)), fan=x.shape[1])
        y = one(c, "Gemm", [x, w, weight(c, columns, fan=9)], transB=int(turned))
    else:
        y = product(c, x, columns)
    return activated(c, y) if c.chance(0.7) else y


@block("vector")
def normalised(c, x):
    kind = c.rng.randrange(3)
    if kind == 0 and c.opset >= 11:
        length = axes_of(c, "ReduceL2", x, [1], 18, keepdims=1)
        return one(c, "Div", [x, one(c, "Clip", [length, number(c, 1e-3)])])
    return batch_normalised(c, x) if kind == 1 else layer_normalised(c, x)


@block("vector")
def joined(c, x):
    other = c.batch_input([x.shape[0], c.extent()])
    parts = [x, other]
    c.rng.shuffle(parts)
    return one(c, "Concat", parts, axis=1)


@block("vector")
def chosen(c, x):
    c.since(9)
    keep = one(c, "Greater", [c.batch_input(x.shape), number(c, 0)])
    return one(c, "Where", [keep, x, one(c, "Neg", [x]) if c.chance(0.5) else number(c, 0)])


@block("vector")
def classified(c, x):
    y = one(c, c.choice(["Softmax", "LogSoftmax"]), [x], axis=1)
    if c.chance(0.5):
        c.extra.add(x.name)
    return y


@block("vector")
def mixed(c, x):
    """Experts weighted by a gate."""
    columns = c.extent(17)
    gate = one(c, "Softmax", [product(c, x, 2)], axis=1)
    parts = []
    for k in range(2):
        share = one(c, "Gather", [gate, c.ints([k])], axis=1)
        parts.append(one(c, "Mul", [share, product(c, x, columns)]))
    return one(c, "Add", parts)


# Networks --------------------------------------------------------------------------------------------------------------------------------


def start(c):
    """The first value: an image, a sound, a sequence of tokens or of vectors, or a row of features."""
    batch, kind = c.extent(5), c.choice(["image", "image", "image", "sound", "tokens", "sequence", "sequence", "vector"])
    if kind in ("image", "sound"):
        fold = c.choice([1, 1, 2, 4])  # what a network halves is often even
        shape = [batch, c.extent()] + ([c.extent(33 // fold) * fold, c.extent(33 // fold) * fold] if kind == "image" else [c.extent(300)])
        c.need(np.prod(shape) <= c.most_elements // 2)
        return "image", c.batch_input(shape)
    if kind == "tokens":
        words, width = c.extent(100), c.extent()
        ids = c.batch_input(array=c.numbers([batch, c.extent(40)], np.int64, 0, words - 1))
        return "sequence", one(c, "Gather", [weight(c, words, width, fan=3), ids])
    if kind == "sequence":
        shape = [batch, c.extent(100), c.extent(130)]
        c.need(np.prod(shape) <= c.most_elements // 2)
        return "sequence", c.batch_input(shape)
    return "vector", c.batch_input([batch, c.extent(300)])


KINDS = {"to_sequence": "sequence", "to_vector": "vector", "text_pooling": "vector", "to_image": "image"}


class LargeCase(Case):
    """Sizes as networks have them that people use: what is chosen by the size of caches, or made of several items, meets few values in small ones."""

    largest, most_elements, most_products = 100_000, 2_000_000, 400_000_000
    sizes = [[1, 2, 3, 4, 7, 12], [13, 17, 29, 31, 53, 71, 97], [14, 28, 56, 112, 80, 40, 20], [16, 32, 48, 64, 96, 128, 192, 256], [15, 33, 63, 65, 127, 129, 131, 197, 211]]
    large = [160, 224, 227, 256, 320, 384, 509, 512, 768, 1000, 1024, 1536]

    def extent(self, limit=65):
        """A limit that small networks have stands for one six times as large; the batch stays small."""
        if limit <= 5:
            return self.choice([1, 1, 1, 2, 3])
        kinds = [kind for sizes in self.sizes if (kind := [size for size in sizes if size <= 6 * limit])]
        large = [size for size in self.large if size <= 6 * limit]
        return self.choice(large if large and self.chance(0.15) else self.choice(kinds))


def build(seed, index, computed=False, kind=Case):
    """Network `index`; `computed`: shapes inside come from the inputs' shapes alone, so that the inputs' axes may be open. Returns (case, model, outputs)."""
    for attempt in range(60):
        case = kind(seed, f"network/{index}.{attempt}")
        case.opset, case.zero, case.computed = case.choice([9, 11, 12, 13, 13, 14, 15, 16, 17, 17, 18, 18, 19, 20, 21, 22, 23]), False, computed
        try:
            form, x = start(case)
        except Skip:
            continue
        wanted, left = case.rng.randint(3, 12), 40
        count = lambda: sum(node.op_type != "Constant" for node in case.nodes)
        while count() < wanted and left:
            left -= 1
            add, kept = case.choice(BLOCKS[form]), case.keep()
            try:
                if add is detector_head and count() < wanted - 6:
                    raise Skip()
                grown = add(case, x)
            except Skip:
                case.take_back(kept)
                continue
            x, form = grown, KINDS.get(add.__name__, form)
            if add is detector_head:
                form = "sequence"
            if case.chance(0.08):
                case.extra.add(x.name)  # read by what follows, and an output
        if count() >= 3 and max(value.array.size for value in case.values.values()) >= case.largest:
            outputs = case.results()
            return case, case.model(outputs, final=True), outputs
    raise Skip(f"network {index}")
