"""Windows, and images in channel blocks."""
import numpy as np

from .case import Case, case


@case
def convolutions_batch():
    c = Case(17)
    for channels, filters, group in [(3, 16, 1), (16, 24, 1), (16, 16, 16), (6, 9, 3)]:
        for strides, pads in [([1, 1], [1, 1, 1, 1]), ([2, 2], [0, 1, 1, 0])]:
            x = c.op("Conv", c.input("b", channels, 13, 18), c.weights(filters, channels // group, 3, 3), c.weights(filters), strides=strides, pads=pads, group=group)
            c.output(c.op("Relu", x))
    y = c.op("Conv", c.op("Conv", c.input("b", 3, 16, 16), c.weights(32, 3, 3, 3), pads=[1, 1, 1, 1]), c.weights(20, 32, 1, 1))
    c.output(c.op("Flatten", c.op("GlobalAveragePool", c.op("MaxPool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]))))
    c.output(c.op("ConvTranspose", c.input("b", 8, 5, 6), c.weights(8, 16, 3, 3), strides=[2, 2], pads=[1, 1, 0, 0]))
    return c.at(b=[1, 2, 3, 5, 8, 0])


@case
def convolutions_open():
    c = Case(17)
    for channels, filters, group in [(3, 16, 1), (16, 20, 1), (8, 8, 8)]:
        for strides, pads, dilations in [([1, 1], [1, 1, 1, 1], [1, 1]), ([2, 2], [0, 1, 1, 0], [1, 1]), ([2, 1], [2, 2, 2, 2], [2, 2])]:
            x = c.op("Conv", c.input("b", channels, "h", "w"), c.weights(filters, channels // group, 3, 3), c.weights(filters), strides=strides, pads=pads, dilations=dilations, group=group)
            c.output(c.op("Relu", x))
    for pad in ("SAME_UPPER", "SAME_LOWER"):
        c.output(c.op("Conv", c.input("b", 3, "h", "w"), c.weights(4, 3, 3, 4), strides=[2, 3], auto_pad=pad))
    c.output(c.op("Conv", c.input("b", 3, "w"), c.weights(40, 3, 5), pads=[2, 2], strides=[2]))
    c.output(c.op("ConvTranspose", c.input("b", 8, "h", "w"), c.weights(8, 4, 3, 3), strides=[2, 2], pads=[1, 1, 0, 0]))
    return c.each(b=[1, 3], h=[4, 5, 9], w=[4, 7, 16, 31, 40])


@case
def windows_larger_than_the_image():
    """With ceil_mode a window need not fit, as long as it begins in the image: exporters pool whole images so."""
    c = Case(17)
    x = c.input("b", 20, "h", "w")
    for options in (dict(kernel_shape=[320, 320], strides=[320, 320]), dict(kernel_shape=[4, 9], strides=[3, 8], pads=[1, 2, 0, 1])):
        for include in (0, 1):
            c.output(c.op("AveragePool", x, ceil_mode=1, count_include_pad=include, **options))
        c.output(c.op("MaxPool", x, ceil_mode=1, **options))
    c.output(c.op("AveragePool", c.op("Conv", x, c.weights(16, 20, 3, 3), pads=[1] * 4), kernel_shape=[5, 4], strides=[5, 4], ceil_mode=1))
    c.output(c.op("AveragePool", c.input("b", 3, 1, 2), kernel_shape=[6, 6], strides=[6, 6], ceil_mode=1))
    return c.each(b=[1, 3], h=[1, 2, 5, 9], w=[1, 4, 17])


@case
def narrow_images():
    """Convolutions of one tap, which walk all pixels as one row, and what is applied with them; axes of one element have stride 0 there."""
    c = Case(17)
    for shape in (["b", 8, "h", 1], ["b", 8, 7, 1], [1, 8, 1, "h"], ["b", 8, "h", 1, 1], ["b", 8, 2, "h", 1], ["b", 8, "h", "w"]):
        ones = [1] * (len(shape) - 2)
        y = c.op("Conv", c.input(*shape), c.weights(16, 8, *ones), c.weights(16))
        c.output(c.op("Relu", c.op("Add", y, c.input(shape[0], 16, *shape[2:]))))
        c.output(c.op("Mul", c.op("ConvTranspose", c.input(*shape), c.weights(8, 16, *ones)), c.input("b", 16, *ones)))
    return c.each(b=[1, 3], h=[1, 2, 7, 40], w=[1, 3])


@case
def network_of_pixels():
    """What stays in channel blocks from one end to the other, over images of any size."""
    c = Case(18)
    conv = lambda v, channels, of, k, group=1, **more: c.op("Relu", c.op("Conv", v, c.weights(of, channels // group, k, k), c.weights(of), pads=[k // 2] * 4, group=group, **more))
    stem = conv(c.input("b", 3, "h", "w"), 3, 24, 3)
    small = conv(stem, 24, 24, 5, group=24, strides=[2, 2])
    wide = c.op("Add", small, conv(conv(small, 24, 72, 1), 72, 24, 3, group=3))
    c.output(wide)
    pooled = c.op("MaxPool", wide, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    means = c.op("AveragePool", wide, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    joined = c.op("Concat", pooled, means, c.op("Mul", pooled, c.op("GlobalAveragePool", pooled)), axis=1)
    c.output(c.op("Concat", joined, joined, axis=3))
    c.output(c.op("ReduceMean", joined, c.constant(np.array([2, 3]))))
    c.output(c.op("InstanceNormalization", conv(joined, 72, 16, 3), c.weights(16), c.weights(16)))
    up = c.op("ConvTranspose", conv(joined, 72, 40, 1), c.weights(40, 16, 4, 4), strides=[2, 2], pads=[1, 1, 1, 1])
    c.output(c.op("Resize", up, "", c.constant(np.array([1, 1, 2, 2], np.float32)), mode="linear"))
    c.output(c.op("Transpose", c.op("Sigmoid", up), perm=[0, 2, 3, 1]))
    return c.each(b=[1, 3], h=[3, 4, 13, 32], w=[5, 7, 16, 29, 64])


@case
def network_of_samples():
    c = Case(17)
    conv = lambda v, channels, of, k, stride=1, group=1: c.op("Relu", c.op("Conv", v, c.weights(of, channels // group, k), c.weights(of), strides=[stride], group=group, pads=[k // 2] * 2))
    frames = c.op("Conv", c.input("b", 1, "w"), c.weights(20, 1, 16), strides=[5])
    x = conv(conv(frames, 20, 32, 3), 32, 32, 7, group=32)
    some = lambda rng, shape, sizes: np.append(rng.standard_normal(shape[0] - 1), 1)
    c.output(conv(x, 32, 17, 1))
    c.output(c.op("ConvTranspose", conv(x, 32, 32, 3, stride=2), c.weights(32, 8, 8), strides=[3], pads=[2, 1]))
    c.output(conv(c.op("Compress", x, c.op("Greater", c.input("frames", fill=some), c.constant(np.float32(0))), axis=2), 32, 16, 3))
    c.sizes = [{"b": b, "w": w, "frames": (w - 16) // 5 + 1} for b in (1, 3) for w in (16, 20, 21, 47, 160, 801)]
    return c


@case
def network_of_volumes():
    c = Case(17)
    conv = lambda v, channels, of, k: c.op("Relu", c.op("Conv", v, c.weights(of, channels, *k), pads=[k[0] // 2, k[1] // 2, k[2] // 2] * 2))
    x = conv(conv(c.input("b", 2, "d", "h", 4), 2, 16, (3, 3, 3)), 16, 24, (1, 3, 3))
    c.output(c.op("MaxPool", x, kernel_shape=[2, 2, 2], strides=[2, 2, 2], pads=[0, 0, 0, 1, 1, 1]))
    c.output(conv(conv(c.input("b", 5, "d", "h", "w"), 5, 16, (3, 3, 3)), 16, 8, (1, 1, 1)))
    return c.each(b=[1, 2], d=[1, 4], h=[3, 17], w=[1, 7, 20])


@case
def pools():
    c = Case(17)
    for shape in (["b", 16, 13, 18], ["b", 5, "h", "w"], ["b", "c", "h", "w"]):
        for kind, extra in (("MaxPool", {}), ("AveragePool", {}), ("AveragePool", {"count_include_pad": 1})):
            for strides, pads, ceil in [([1, 1], [1, 1, 1, 1], 0), ([2, 3], [0, 1, 1, 0], 0), ([2, 2], [1, 1, 1, 1], 1)]:
                c.output(c.op(kind, c.input(*shape), kernel_shape=[3, 3], strides=strides, pads=pads, ceil_mode=ceil, **extra))
        c.output(c.op("GlobalAveragePool", c.input(*shape))), c.output(c.op("GlobalMaxPool", c.op("Neg", c.input(*shape))))
        c.output(c.op("MaxPool", c.input(*shape), kernel_shape=[2, 2], auto_pad="SAME_UPPER", strides=[2, 2]))
    return c.each(b=[1, 3], c=[1, 4], h=[3, 4, 9], w=[3, 7, 16, 31, 40])


@case
def convolutions_joined():
    c = Case()
    x = c.input("batch", 32, 7, 7)
    branches = [c.op("Relu", c.op("Conv", x, c.weights(16, 32, k, k), pads=[k // 2] * 4)) for k in (1, 3)]
    c.output(c.op("Conv", c.op("Concat", *branches, axis=1), c.weights(32, 32, 1, 1)))
    return c.at(batch=[0, 1, 2, 5])


@case
def images_joined():
    c = Case()
    x = c.input("batch", 16, 9, 7)
    convolved = lambda v, channels, of, k: c.op("Relu", c.op("Conv", v, c.weights(of, channels, k, k), pads=[k // 2] * 4))
    a, b = convolved(x, 16, 16, 3), convolved(x, 16, 32, 1)
    inner = c.op("Concat", a, b, axis=1)
    d = convolved(inner, 48, 16, 3)
    c.output(convolved(c.op("MaxPool", c.op("Concat", inner, d, axis=1), kernel_shape=[2, 2], strides=[2, 2]), 64, 16, 3))
    c.output(c.op("Add", a, d))
    means = c.op("Concat", *[c.op("GlobalAveragePool", v) for v in (a, b)], axis=1)
    c.output(c.op("MatMul", c.op("Flatten", means), c.weights(48, 5)))
    c.output(convolved(c.op("Concat", a, d, axis=0), 16, 16, 3))
    c.output(c.op("Add", c.op("Concat", means, means, axis=0), c.weights(48, 1, 1)))
    return c.at(batch=[0, 1, 2, 5])


@case
def response_normalized():
    c = Case()
    c.output(c.op("LRN", c.input("batch", 6, 5, 4), size=3))
    c.output(c.op("LRN", c.input("batch", "channels", "h", "w"), size=5, alpha=0.5, beta=0.6, bias=2.0))
    return c.each(batch=[1, 3], channels=[1, 7], h=[5], w=[1, 8])


@case
def sampled():
    """Places between pixels, at open sizes of images, channels, grids and regions."""
    c = Case(opset=20)
    far = lambda rng, shape, sizes: rng.uniform(-1.4, 1.4, shape)
    near = lambda rng, shape, sizes: rng.uniform(-0.99, 0.99, shape)
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            # A place that one axis has outside is moved along all axes by ONNX Runtime 1.30, by ONNX's reference and ingot along that one.
            both = mode == "cubic" and padding == "border"
            x, grid = c.input("n", "c", "h", "w"), c.input("n", "g", 5, 2, fill=near if both else far)
            c.output(c.op("GridSample", x, grid, mode=mode, padding_mode=padding, align_corners=int(mode == "linear")))
    c.output(c.op("GridSample", c.input(1, 3, "h", 4, "w"), c.input(1, "g", "h", 2, 3, fill=far)))
    return c.at(n=[1, 2, 1], c=[1, 3, 16, 17], h=[7, 1, 13], w=[5, 16, 31, 1], g=[1, 3, 13, 64, 7])


@case
def regions():
    c = Case(opset=16)
    corners = lambda rng, shape, sizes: np.sort(rng.uniform(-2, sizes["h"] + 2, (*shape[:1], 2, 2)), axis=1)
    images = lambda rng, shape, sizes: rng.integers(0, sizes["n"], shape)
    for mode in ("avg", "max"):
        for ratio in (0, 2):
            x, rois, batch = c.input("n", "c", "h", "w"), c.input("r", 4, fill=corners), c.input("r", dtype=np.int64, fill=images)
            c.output(c.op("RoiAlign", x, rois, batch, mode=mode, sampling_ratio=ratio, output_height=3, output_width=7))
    return c.at(n=[1, 2, 3], c=[1, 16, 31, 300, 17], h=[13, 7, 50, 1], w=[9, 31, 2], r=[1, 7, 0, 9, 64])
