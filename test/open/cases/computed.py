"""Operands that a model computes from shapes: pads, sizes and scales."""
import numpy as np

from .case import Case, case


def i64(c, *v):
    return c.constant(np.array(v, np.int64))


def axis_size(c, x, axis):
    return c.op("Shape", x, start=axis, end=axis + 1)


@case
def padded_to_windows():
    """Windows of seven by seven, as a Swin transformer cuts them out of an image of any size, and the image again."""
    c = Case(17)
    x, seven = c.input("b", "h", "w", 4), i64(c, 7)
    missing = [c.op("Mod", c.op("Sub", seven, c.op("Mod", axis_size(c, x, axis), seven)), seven) for axis in (1, 2)]
    # The order of PyTorch, last axis first, is turned as its exporter does it.
    pads = c.op("Concat", i64(c, 0, 0, 0), missing[1], i64(c, 0), missing[0], i64(c, 0, 0), axis=0)
    rows = c.op("Slice", c.op("Reshape", pads, i64(c, -1, 2)), i64(c, -1), i64(c, -(2**62)), i64(c, 0), i64(c, -1))
    padded = c.op("Pad", x, c.op("Reshape", c.op("Transpose", rows, perm=[1, 0]), i64(c, -1)))
    c.output(padded)
    counts = [c.op("Div", axis_size(c, padded, axis), seven) for axis in (1, 2)]
    six = c.op("Reshape", padded, c.op("Concat", axis_size(c, x, 0), counts[0], seven, counts[1], seven, i64(c, 4), axis=0))
    windows = c.op("Reshape", c.op("Transpose", six, perm=[0, 1, 3, 2, 4, 5]), i64(c, -1, 49, 4))
    done = c.op("Relu", c.op("MatMul", windows, c.weights(4, 4)))
    six = c.op("Reshape", done, c.op("Concat", i64(c, -1), *counts, seven, seven, i64(c, 4), axis=0))
    shape = c.op("Concat", i64(c, -1), axis_size(c, padded, 1), axis_size(c, padded, 2), i64(c, 4), axis=0)
    back = c.op("Reshape", c.op("Transpose", six, perm=[0, 1, 3, 2, 4, 5]), shape)
    ends = c.op("Concat", axis_size(c, x, 1), axis_size(c, x, 2), axis=0)
    c.output(c.op("Add", x, c.op("Slice", back, i64(c, 0, 0), ends, i64(c, 1, 2))))
    return c.each(b=[1, 3], h=[1, 7, 13], w=[2, 14, 20])


@case
def padded_by_sizes():
    c = Case(19)
    x, y = c.input("n", "m"), c.input("k", "m")
    for mode in ("constant", "edge", "wrap", "reflect"):
        for before, after in [("m", "k"), ("k", 0), (0, "m")]:
            size = lambda v: i64(c, v) if isinstance(v, int) else axis_size(c, y, "km".index(v))
            if mode == "reflect":  # at most one element less than there are
                size = lambda v: i64(c, v) if isinstance(v, int) else c.op("Sub", axis_size(c, x, 0), i64(c, 3))
            c.output(c.op("Pad", x, c.op("Concat", size(before), i64(c, 0), size(after), i64(c, 0), axis=0), mode=mode))
    filled = c.constant(np.float32(-2.5))
    pads = c.op("Concat", axis_size(c, y, 0), i64(c, 1), axis=0)
    c.output(c.op("Pad", x, pads, filled, i64(c, -1)))
    return c.each(n=[3, 4, 9], m=[1, 2, 5, 16], k=[0, 1, 4, 17])


@case
def padded_or_cut():
    """To a number of elements that may be less than there are."""
    c = Case(19)
    x = c.input("n", "m")
    for mode in ("constant", "edge", "wrap", "reflect"):
        for before, after in [(-1, "m"), ("m", -2)]:
            size = lambda v: i64(c, v) if isinstance(v, int) else c.op("Sub", axis_size(c, x, 0), i64(c, 3)) if mode == "reflect" else axis_size(c, x, 1)
            c.output(c.op("Pad", x, c.op("Concat", size(before), i64(c, 0), size(after), i64(c, 0), axis=0), mode=mode))
        if mode == "reflect":
            continue
        behind = c.op("Sub", i64(c, 8), axis_size(c, x, 0))
        half = c.op("Div", axis_size(c, x, 1), i64(c, 2))
        minus = c.op("Neg", half)
        c.output(c.op("Pad", x, c.op("Concat", i64(c, 0, 0), behind, i64(c, 0), axis=0), mode=mode))
        c.output(c.op("Pad", x, c.op("Concat", behind, minus, i64(c, 1), half, axis=0), mode=mode))
    return c.each(n=[3, 7, 8], m=[1, 2, 5, 16])


@case
def batched_by_padding():
    """Images of two sizes in one batch, as detectors make it: as large as either, and a multiple of 8."""
    c = Case(17)
    images = [c.input(3, "h", "w"), c.input(3, "a", "b")]
    shapes = [c.op("Shape", x) for x in images]
    eight = c.constant(np.float32([1, 8, 8]))
    wide = c.op("Cast", c.op("Max", *shapes), to=1)
    wide = c.op("Cast", c.op("Mul", c.op("Ceil", c.op("Div", wide, eight)), eight), to=7)
    joined = []
    for x, shape in zip(images, shapes):
        pads = c.op("Concat", i64(c, 0, 0, 0), c.op("Sub", wide, shape), axis=0)
        joined.append(c.op("Unsqueeze", c.op("Pad", x, pads), i64(c, 0)))
    batch = c.op("Concat", *joined, axis=0)
    c.output(batch)
    c.output(c.op("Relu", c.op("Conv", batch, c.weights(8, 3, 3, 3), pads=[1, 1, 1, 1], strides=[2, 2])))
    return c.each(h=[1, 8, 13], w=[5, 16], a=[3, 12], b=[1, 24])


@case
def framed():
    """Sound, made whole frames by a reflection at its end, and windows of it."""
    c = Case(17)
    x = c.input("b", 1, "w")
    length = axis_size(c, x, 2)
    frames = c.op("Cast", c.op("Ceil", c.op("Div", c.op("Cast", length, to=1), c.constant(np.float32([10])))), to=7)
    extra = c.op("Sub", c.op("Mul", frames, i64(c, 10)), length)
    padded = c.op("Pad", x, c.op("Concat", i64(c, 0, 0, 3, 0, 0), extra, axis=0), mode="reflect")
    c.output(padded)
    c.output(c.op("Conv", padded, c.weights(6, 1, 13), strides=[10]))
    return c.each(b=[1, 3], w=[10, 11, 19, 20, 131])


@case
def framed_with_sums():
    """As audio codecs count frames: ceil((length - kernel + padding) / stride + 1) - 1, in floats; with whole numbers on either side."""
    c = Case(17)
    x = c.input("b", 1, "w")
    length, real = axis_size(c, x, 2), lambda *v: c.constant(np.float32(v))
    quotient = c.op("Div", c.op("Cast", c.op("Add", c.op("Sub", length, i64(c, 4)), i64(c, 2)), to=1), real(2))
    frames = c.op("Sub", c.op("Cast", c.op("Ceil", c.op("Add", quotient, real(1))), to=7), i64(c, 1))
    extra = c.op("Sub", c.op("Sub", c.op("Add", c.op("Mul", frames, i64(c, 2)), i64(c, 4)), i64(c, 2)), length)
    padded = c.op("Pad", x, c.op("Concat", i64(c, 0, 0, 2, 0, 0), extra, axis=0))
    c.output(padded)
    c.output(c.op("Conv", padded, c.weights(6, 1, 4), strides=[2]))
    third = c.op("Div", c.op("Cast", length, to=1), real(3))
    whole = c.op("Cast", axis_size(c, x, 0), to=1)
    for value in (c.op("Sub", c.op("Add", real(2), third), real(1)), c.op("Add", whole, c.op("Add", third, real(1)))):
        for rounding in ("Floor", "Ceil"):
            count = c.op("Add", c.op("Cast", c.op(rounding, value), to=7), i64(c, 3))
            c.output(c.op("Pad", x, c.op("Concat", i64(c, 0, 0, 0, 0, 0), count, axis=0), mode="edge"))
    return c.each(b=[1, 3], w=[2, 3, 4, 11, 20])


@case
def resized_by_sizes():
    """To sizes from shape arithmetic, of an image that is computed; one axis of known length beside an open one."""
    c = Case(19)
    none, part = c.constant(np.float32([])), lambda x, axis, of: c.op("Div", c.op("Add", axis_size(c, x, axis), i64(c, of - 1)), i64(c, of))
    x = c.input("b", 2, "h", "w")
    y = c.op("Neg", c.op("Add", x, x))
    patches = c.op("Concat", axis_size(c, x, 0), i64(c, 2), part(x, 2, 3), c.op("Mul", axis_size(c, x, 3), i64(c, 2)), axis=0)
    for mode, coordinates in [("cubic", "half_pixel"), ("cubic", "align_corners"), ("linear", "asymmetric"), ("linear", "half_pixel_symmetric"), ("nearest", "asymmetric")]:
        c.output(c.op("Resize", y, "", none, patches, mode=mode, coordinate_transformation_mode=coordinates))
    c.output(c.op("Resize", y, "", none, patches, mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5))
    for mode in ("linear", "cubic"):
        c.output(c.op("Resize", y, "", none, c.op("Concat", part(x, 2, 3), part(x, 3, 2), axis=0), axes=[2, 3], mode=mode, antialias=1))
        c.output(c.op("Resize", y, "", none, c.op("Concat", i64(c, 5), part(x, 3, 2), axis=0), axes=[2, 3], mode=mode, antialias=1))
    grid = c.weights(1, 4, 6, 6)  # positions that were learnt for six by six patches
    c.output(c.op("Resize", grid, "", none, c.op("Concat", i64(c, 1, 4), part(x, 2, 2), part(x, 3, 2), axis=0), mode="cubic"))
    c.output(c.op("Resize", c.input("b", 2, "h", 5, dtype=np.uint8), "", none, c.op("Concat", axis_size(c, x, 0), i64(c, 2, 4, 9), axis=0), mode="nearest"), np.uint8)
    for scales in ([1, 1, 0.5, 0.75], [1, 1, 2, 1.5], [1, 1, 1 / 3, 1 / 5]):
        for more in ({"mode": "cubic"}, {"mode": "linear", "antialias": 1}):
            c.output(c.op("Resize", x, "", c.constant(np.float32(scales)), **more))
    return c.each(b=[1, 3], h=[2, 5, 12], w=[4, 7, 18])


@case
def resized_by_fractions():
    """Constant scales that are no fractions of powers of two: sizes are those of single precision, in which 10 by 1.3 is 13 and 90 by 1.3 is 116."""
    c = Case(19)
    x, scales = c.input("b", 2, "h", "w"), lambda *values: c.constant(np.float32(values))
    for h, w in ((2 / 3, 1.6), (0.3, 1.7), (0.8, 1.3), (0.7, 640 / 427)):
        c.output(c.op("Resize", x, "", scales(1, 1, h, w), mode="linear"))
    c.output(c.op("Resize", x, "", scales(1, 1, 0.8, 1.7), mode="linear", antialias=1))
    c.output(c.op("Resize", x, "", scales(0.8, 1.7), axes=[2, 3], mode="cubic", antialias=1, cubic_coeff_a=-0.5))
    c.output(c.op("Resize", x, "", scales(1, 1, 0.7, 1.3), mode="cubic", exclude_outside=1))
    c.output(c.op("Resize", x, "", scales(1, 1, 0.8, 1.9), mode="linear", coordinate_transformation_mode="half_pixel_symmetric"))
    c.output(c.op("Resize", x, "", scales(1, 1, 1.6, 1.1), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"))
    c.output(c.op("Resize", c.input("b", 3, 9, 12), "", scales(1, 1, 2 / 3, 1.3)))
    both = [c.op("Resize", x, "", scales(1, 1, 1.3, 1.3), mode="linear") for x in (x, c.op("Neg", x))]
    c.output(c.op("Add", *both))
    return c.each(b=[1, 3], h=[4, 9, 20], w=[3, 10, 90])


@case
def resized_alike():
    c = Case(19)
    none, x, y = c.constant(np.float32([])), c.input(1, 2, "h", "w"), c.input("h2", "w2")
    for policy in ("not_larger", "not_smaller"):
        for mode in ("linear", "nearest", "cubic"):
            c.output(c.op("Resize", x, "", none, c.op("Shape", y), axes=[2, 3], mode=mode, keep_aspect_ratio_policy=policy))
    return c.each(h=[2, 5, 12], w=[4, 7], h2=[3, 9], w2=[3, 8])


@case
def lists_of_open_length():
    """Lists that have an entry for each axis have but one length."""
    c = Case(20)
    fixed = lambda *v: lambda rng, shape, sizes: np.array(v)
    numbers = lambda length, *v, dtype=np.int64: c.input(length, dtype=dtype, fill=fixed(*v))
    x = c.input("b", "n")
    c.output(c.op("Tile", x, numbers("two", 2, 3)))
    c.output(c.op("Pad", x, numbers("four", 1, 0, 2, 1)))
    c.output(c.op("CenterCropPad", c.input("n", "h", "b"), numbers("two", 3, 4), axes=[0, 1]))
    c.output(c.op("Resize", x, "", numbers("two", 2, 1.5, dtype=np.float32), mode="linear"))
    c.output(c.op("TopK", x, numbers("one", 1), outputs=2)[0])
    c.output(c.op("Split", c.input(7, "b"), numbers("two", 3, 4), outputs=2)[1])
    c.output(c.op("AffineGrid", c.input("b", 2, 3), c.input("four", dtype=np.int64, fill=lambda rng, shape, sizes: np.array([sizes["b"], 3, 5, 4]))))
    c.output(c.op("AffineGrid", c.input("b", "two", "three"), c.input(4, dtype=np.int64, fill=lambda rng, shape, sizes: np.array([sizes["b"], 3, 5, 4]))))
    c.output(c.op("Col2Im", c.input("b", "eight", "twelve"), numbers("two", 4, 5), numbers("two", 2, 2), strides=[1, 1]))
    even = c.input("b", 2, "h", dtype=np.int64, fill=lambda rng, shape, sizes: 2 * np.arange(np.prod(shape)))
    doubled = c.input("three", dtype=np.int64, fill=lambda rng, shape, sizes: np.array([sizes["b"], 2, 2 * sizes["h"]]))
    c.output(c.op("MaxUnpool", c.input("b", 2, "h"), even, doubled, kernel_shape=[2], strides=[2]))
    return c.at(b=[1, 3], n=[2, 9], h=[5, 8], one=[1], two=[2], three=[3], four=[4], eight=[8], twelve=[12])


@case
def axes_in_open_lists():
    """How many axes are reduced the run knows."""
    c = Case(18)
    x = c.input("b", "n", "h")
    axes = c.input("k", dtype=np.int64, fill=lambda rng, shape, sizes: rng.permutation(3)[: shape[0]])
    c.output(c.op("ReduceProd", x, axes)), c.output(c.op("ReduceL2", x, axes))
    return c.each(b=[1, 3], n=[2, 7], h=[1, 9], k=[1, 2, 3])
