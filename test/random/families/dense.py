"""Convolutions and matrix products, and the recurrent operators."""
import numpy as np

from families import op


def window(c, spatial, kernel, extent=None):
    """Attributes that Conv and the pools share: strides, dilations, and one of the four ways to say the padding."""
    attributes = {}
    rank = len(spatial)
    dilations = [c.choice([1, 1, 2, 3]) for _ in kernel] if extent is None else [1] * rank
    if c.chance(0.5):
        attributes["strides"] = [c.choice([1, 1, 2, 3]) for _ in kernel]
    if any(dilation > 1 for dilation in dilations) and c.chance(0.7):
        attributes["dilations"] = dilations
    reach = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, attributes.get("dilations", [1] * rank))]
    kind = c.rng.randrange(6)
    if kind in (0, 1) and "dilations" not in attributes:
        attributes["auto_pad"] = "SAME_UPPER" if kind else "SAME_LOWER"
        # Windows that leave some of the input out would need negative padding: each runtime has its own idea.
        strides = attributes.get("strides", [1] * rank)
        c.need(all((-(-size // step) - 1) * step + need >= size for size, step, need in zip(spatial, strides, reach)))
    elif kind == 2:
        attributes["auto_pad"] = "VALID"
        c.need(all(size >= need for size, need in zip(spatial, reach)))
    else:
        pads = [c.rng.randint(0, max(size - 1, 0)) for size in kernel] * 2 if c.chance(0.5) else [c.rng.randint(0, max(size - 1, 0)) for size in kernel * 2]
        c.need(all(size + pads[k] + pads[k + rank] >= need for k, (size, need) in enumerate(zip(spatial, reach))))
        if any(pads) or c.chance(0.5):
            attributes["pads"] = pads
    return attributes


def image(c, x, rank=None, channels=None):
    """An input [N, C, spatial...]; x when it is one."""
    if x is not None:
        c.need(x.dtype == np.float32 and 3 <= x.rank <= 5 and x.array.size and x.array.size < 40000)
        return x
    rank = rank or c.choice([1, 2, 2, 2, 2, 3])
    limit = {1: 300, 2: 33, 3: 13}[rank]
    shape = [c.extent(5), channels or c.extent(), *[c.extent(limit) for _ in range(rank)]]
    c.need(np.prod(shape) < 40000)
    return c.data(shape)


def rows(c):
    """An image of few channels with long rows, along which vectors lie then."""
    return c.data([c.choice([1, 1, 2]), c.choice([1, 2, 3, 4, 5]), *[c.extent(7) for _ in range(c.choice([0, 1, 1, 2]))], c.choice([16, 17, 31, 32, 33, 47, 64, 65, 97, 130])])


def deep_rows(c):
    """An image of many channels with rows of at least 16 pixels: what heads of few channels read."""
    return c.data([c.choice([1, 1, 2]), c.choice([8, 9, 13, 16, 17, 31, 33, 48]), *[c.extent(4) for _ in range(c.choice([0, 1, 1, 2]))], c.choice([16, 17, 18, 23, 31, 33])])


@op("Conv", weight=8)
def conv(c, x):
    x = c.choice([rows, deep_rows])(c) if x is None and c.chance(0.3) else image(c, x)
    channels, spatial = x.shape[1], x.shape[2:]
    kernel = c.kernel(len(spatial))
    divisors = [group for group in range(1, channels + 1) if channels % group == 0]
    group = c.choice([1, 1, 1, channels, c.choice(divisors)])
    outputs = group * c.choice([1, 1, 2, 3] if group > 1 else [c.extent(100), channels, c.choice([1, 2, 3, 4, 5, 8])])
    c.need(outputs <= 256 and np.prod(kernel) * outputs * channels // group < 200_000)
    weights = c.data([outputs, channels // group, *kernel], np.float32, -1, 1, constant=c.chance(0.85))
    bias = c.data([outputs], np.float32, -1, 1, constant=True) if c.chance(0.6) else None
    attributes = window(c, spatial, kernel)
    attributes["kernel_shape"] = kernel if c.chance(0.7) else None
    c.node("Conv", [x, weights, bias], group=group if group > 1 or c.chance(0.3) else None, **attributes)


def odd_filter(c, spatial):
    """A kernel of three, five or seven taps along each axis or one of them, of stride 1, and the attributes of its window."""
    rank = len(spatial)
    if rank == 1:
        kernel = [c.choice([3, 3, 5, 7])]
    else:
        kernel = [3, 3] if c.chance(0.5) else c.choice([[1, 3], [3, 1], [5, 5], [1, 5], [5, 1], [1, 7], [7, 1], [3, 5], [7, 7]])
    dilations = [c.choice([1, 2, 3, 5]) for _ in kernel] if c.chance(0.3) else [1] * rank
    attributes = {"dilations": dilations} if max(dilations) > 1 else {}
    reach = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations)]
    if c.chance(0.3) and max(dilations) == 1:
        attributes["auto_pad"] = c.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        c.need(attributes["auto_pad"] != "VALID" or all(size >= extent for size, extent in zip(spatial, reach)))
    else:
        attributes["pads"] = [extent // 2 for extent in reach] * 2 if c.chance(0.5) else [c.choice([0, 1, 2]) for _ in range(2 * rank)]
        c.need(all(size + attributes["pads"][k] + attributes["pads"][k + rank] >= reach[k] for k, size in enumerate(spatial)))
    return kernel, reach, attributes


def small_filter(c, x):
    """A convolution of stride 1 with three, five or seven taps along each axis or one of them, or what a transposed one of that is: what Winograd's algorithm takes."""
    rank = c.choice([1, 2, 2, 2])
    x = image(c, x, rank=rank)
    c.need(x.rank == rank + 2 and min(x.shape[2:]) >= 2)
    kernel, reach, attributes = odd_filter(c, x.shape[2:])
    channels, outputs, transposed = x.shape[1], c.extent(65), c.chance(0.15)
    c.need(x.array.size * outputs < 3_000_000)
    c.need(not transposed or all(pad < extent for pad, extent in zip(attributes.get("pads", []), reach * 2)))
    shape = [channels, outputs, *kernel] if transposed else [outputs, channels, *kernel]
    weights = c.data(shape, np.float32, -1, 1, constant=True)
    bias = c.data([outputs], np.float32, -1, 1, constant=True) if c.chance(0.6) else None
    c.node("ConvTranspose" if transposed else "Conv", [x, weights, bias], **attributes)


def layer(c, x):
    """A pointwise, a depthwise or another small convolution of an image, and an activation, a gate or a residual sum behind it. Returns its result."""
    x = image(c, x, rank=2)
    c.need(x.rank == 4)
    channels = x.shape[1]
    kind = c.choice(["pointwise", "pointwise", "depthwise", "depthwise", "grouped", "dense"])
    group = channels if kind == "depthwise" else 2 if kind == "grouped" and channels % 2 == 0 else 1
    outputs = channels if kind == "depthwise" or c.chance(0.2) else group * c.extent(33)
    kernel = [1, 1] if kind == "pointwise" else [c.choice([3, 3, 5, 1, 2]) for _ in range(2)]
    c.need(np.prod(kernel) * outputs * x.array.size // group < 3_000_000)
    attributes = {"strides": [c.choice([1, 1, 1, 2, 3]) for _ in kernel]} if kind != "pointwise" or c.chance(0.1) else {}
    if kind != "pointwise" and c.chance(0.15):
        attributes["dilations"] = [c.choice([1, 2, 3]) for _ in kernel]
    reach = [(size - 1) * step + 1 for size, step in zip(kernel, attributes.get("dilations", [1, 1]))]
    attributes["pads"] = [extent // 2 for extent in reach] * 2 if c.chance(0.7) else [c.rng.randint(0, extent - 1) for extent in reach * 2]
    c.need(all(x.shape[2 + k] + attributes["pads"][k] + attributes["pads"][k + 2] >= reach[k] for k in range(2)))
    scale = 2 / np.sqrt(np.prod(kernel) * channels / group)
    weights = c.data([outputs, channels // group, *kernel], np.float32, -scale, scale, constant=True)
    bias = c.data([outputs], np.float32, -1, 1, constant=True) if c.chance(0.6) else None
    (y,) = c.node("Conv", [x, weights, bias], group=group if group > 1 else None, **attributes)
    behind = c.choice(["", "Relu", "Sigmoid", "HardSigmoid", "Tanh", "Swish", "Gate", "Gate", "Add", "Add"])
    if behind == "Swish":
        (y,) = c.node("Mul", [y, *c.node("Sigmoid", [y])])
    elif behind == "Gate":
        images = c.choice([1, y.shape[0]])
        (y,) = c.node("Mul", [y, c.data([images, outputs, 1, 1], np.float32, 0, 1, constant=None if images == 1 else False)])
    elif behind == "Add":
        same = [value for value in c.values.values() if value.shape == y.shape and value.dtype == y.dtype and value.name != y.name]
        (y,) = c.node("Add", [y, c.choice(same) if same else c.data(y.shape, constant=False)])
    elif behind:
        (y,) = c.node(behind, [y])
    return y


@op("ConvTranspose", weight=3)
def conv_transpose(c, x):
    x = image(c, x)
    channels, spatial = x.shape[1], x.shape[2:]
    group = c.choice([1, 1, 1, channels, c.choice([size for size in range(1, channels + 1) if channels % size == 0])])
    kernel = c.kernel(len(spatial), 5)
    outputs = c.extent(33)
    c.need(x.array.size * np.prod(kernel) * outputs < 20_000_000)
    strides = [c.choice([1, 2, 2, 3]) for _ in kernel]
    dilations = [c.choice([1, 1, 1, 2]) for _ in kernel]
    attributes = {"strides": strides, "kernel_shape": kernel if c.chance(0.6) else None}
    if max(dilations) > 1:
        attributes["dilations"] = dilations
    kind = c.rng.randrange(6)
    if kind == 5:  # a block of outputs of each pixel
        attributes["strides"], outputs, group = kernel, c.choice([1, 2, 4, 5]), 1
        attributes.pop("dilations", None)
    elif kind == 0:
        attributes["auto_pad"] = c.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        c.need("SAME" not in attributes["auto_pad"] or ("dilations" not in attributes and all(size >= step for size, step in zip(kernel, strides))))
    elif kind == 1:
        attributes["output_shape"] = [size * step + c.rng.randint(0, step - 1) for size, step in zip(spatial, strides)]
        c.need("dilations" not in attributes and all(size >= step for size, step in zip(kernel, strides)))
    else:
        attributes["pads"] = [c.rng.randint(0, (size - 1) // 2) for size in kernel * 2]
        if c.chance(0.4):
            attributes["output_padding"] = [c.rng.randint(0, step - 1) for step in strides]
    weights = c.data([channels, outputs, *kernel], np.float32, -1, 1, constant=c.chance(0.85))
    bias = c.data([outputs * group], np.float32, -1, 1, constant=True) if c.chance(0.5) else None
    c.node("ConvTranspose", [x, weights, bias], group=group if group > 1 else None, **attributes)


def product(c, x):
    """A product of rows with a constant matrix, and a bias, an activation or a residual sum behind it. Returns its result."""
    if x is None:
        x = c.data([*([c.extent(3)] if c.chance(0.2) else []), c.extent(300), c.choice([8, 16, 24, 40, 64, 104, 128, 200, c.extent()])], constant=False)
    c.need(x.dtype == np.float32 and x.rank >= 2)
    depth, outputs = x.shape[-1], c.extent(200)
    c.need(0 < x.array.size * outputs < 3_000_000)
    (y,) = c.node("MatMul", [x, c.data([depth, outputs], np.float32, -1, 1, constant=True)])
    behind = c.choice(["", "", "Relu", "Sigmoid", "Tanh", "Bias", "Bias", "Add"])
    if behind == "Bias":
        (y,) = c.node("Add", [y, c.data([outputs], np.float32, -1, 1, constant=True)])
    elif behind == "Add":
        (y,) = c.node("Add", [y, c.data(y.shape, constant=False)])
    elif behind:
        (y,) = c.node(behind, [y])
    return y


@op("Gemm", weight=4)
def gemm(c, x):
    if x is None:
        x = c.data([c.size(130), c.size(300)])
    c.need(x.dtype == np.float32 and x.rank == 2)
    transA, transB = c.chance(0.3), c.chance(0.5)
    rows, depth = x.shape[::-1] if transA else x.shape
    columns = c.extent(300)
    c.need(rows * depth * columns < 4_000_000)
    b = c.data([columns, depth] if transB else [depth, columns], np.float32, -1, 1, constant=c.chance(0.8))
    shapes = [[rows, columns], [columns], [1, columns], [rows, 1], [1], []]
    bias = c.data(c.choice(shapes), np.float32, -1, 1) if c.opset < 11 or c.chance(0.8) else None
    c.node("Gemm", [x, b, bias], transA=int(transA) or None, transB=int(transB) or None, alpha=c.choice([None, 0.5, 2.0]), beta=c.choice([None, 0.25, 1.0]))


@op("MatMul", weight=4)
def matmul(c, x):
    if x is None:
        rank = c.choice([1, 2, 2, 2, 3, 3, 4])
        x = c.data([c.extent(7) for _ in range(max(rank - 2, 0))] + [c.size(130) for _ in range(min(rank, 2))])
    c.need(x.dtype == np.float32 and x.rank >= 1)
    depth = x.shape[-1]
    kind = c.rng.randrange(4)
    batch = x.shape[:-2]
    if kind == 0:
        shape = [depth]
    elif kind == 1:
        shape = [depth, c.size(300)]
    elif kind == 2:
        shape = [size if c.chance(0.7) else 1 for size in batch] + [depth, c.size()]
    else:
        shape = ([2] if len(batch) < 3 and c.chance(0.5) else []) + [c.choice([2, 3]) if size == 1 else size for size in batch] + [depth, c.size()]
    c.need(np.prod(shape) * np.prod(x.shape[:-1]) < 8_000_000)
    c.node("MatMul", [x, c.data(shape, np.float32, -1, 1)])


GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def recurrent_weights(c, shape, constant=True):
    """W or R: floats, or bytes that are dequantized by rows or all alike."""
    if c.opset < 13 or not c.chance(0.3):
        return c.data(shape, np.float32, -0.5, 0.5, constant=constant)
    dtype, rows = c.choice([np.int8, np.uint8]), [shape[1]] if c.chance(0.6) else []
    middle = 0 if dtype == np.int8 else 128
    numbers = c.data(shape, dtype, middle - 128, middle + 127, constant=True)
    zero = c.tensor(np.full(rows, middle + c.choice([0, 0, c.rng.randint(-9, 9)]), dtype), constant=True) if middle or c.chance(0.7) else None
    return c.node("DequantizeLinear", [numbers, c.tensor(np.full(rows, 2.0 ** -c.rng.randint(8, 10), np.float32), constant=True), zero], exact=True, axis=1 if rows else None)[0]


@op("LSTM", "GRU", "RNN", weight=2)
def recurrent(c, x, name):
    c.since(7)
    if x is None:
        x = c.data([c.extent(13), c.extent(9), c.extent(40)])
    c.need(x.dtype == np.float32 and x.rank == 3 and x.array.size and x.array.size < 5000 and np.abs(x.array).max() < 20)
    c.need(len(x.array) <= 40)  # roundings grow with each step, since the weights are not made smaller for more of them
    direction = c.choice([None, "forward", "reverse", "bidirectional"])
    ways, hidden, gates = 2 if direction == "bidirectional" else 1, c.extent(70), GATES[name]
    length, batch, width = x.shape
    operands = [x, recurrent_weights(c, [ways, gates * hidden, width], constant=c.chance(0.9)), recurrent_weights(c, [ways, gates * hidden, hidden])]
    operands.append(c.data([ways, 2 * gates * hidden], np.float32, -0.5, 0.5, constant=True) if c.chance(0.7) else None)
    operands.append(c.tensor(c.numbers([batch], np.int32, 1, length), constant=c.chance(0.5)) if c.chance(0.2) else None)
    states = 2 if name == "LSTM" else 1
    operands += [c.data([ways, batch, hidden], np.float32, -1, 1) if c.chance(0.5) else None for _ in range(states)]
    attributes = {"hidden_size": hidden, "direction": direction}
    if name == "LSTM" and c.chance(0.2):
        operands.append(c.data([ways, 3 * hidden], np.float32, -0.5, 0.5, constant=True))
    if name == "GRU":
        attributes["linear_before_reset"] = c.choice([None, 0, 1])
    if c.chance(0.2):
        first, rest = c.choice([("Sigmoid", ["Tanh", "Tanh"]), ("Sigmoid", ["Relu", "Tanh"]), ("HardSigmoid", ["Softsign", "Tanh"])])
        attributes["activations"] = {"LSTM": [first, *rest], "GRU": [first, rest[0]], "RNN": [rest[0]]}[name] * ways
        if c.chance(0.5):
            names = attributes["activations"] = {"LSTM": ["HardSigmoid", "Tanh", "Tanh"], "GRU": ["HardSigmoid", "Tanh"], "RNN": [c.choice(["LeakyRelu", "HardSigmoid"])]}[name] * ways
            attributes["activation_alpha"] = [0.3] * sum(of in ("HardSigmoid", "LeakyRelu") for of in names)
            attributes["activation_beta"] = [0.4] * sum(of == "HardSigmoid" for of in names) or None
    attributes["clip"] = 0.75 if c.chance(0.1) else None
    if name == "LSTM" and c.chance(0.1):
        attributes["input_forget"] = 1
    outputs = c.choice([[True] * (states + 1), [True] * (states + 1), [True], [False, True]])
    if c.opset >= 14 and ways == 1 and direction != "reverse" and not set(attributes) & {"activations", "input_forget"} and attributes["clip"] is None and c.chance(0.5):
        # Batches first: of onnx's reference evaluator only, which knows the plain form.
        attributes["layout"] = 1
        operands = [c.data([batch, length, width]), *operands[1:4]]
        outputs = [True] * (states + 1) if name != "LSTM" else [True, True]
    c.node(name, operands, outputs, **attributes)
