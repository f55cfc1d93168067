"""Along axes, elementwise, movements."""
import itertools

import numpy as np
from onnx import numpy_helper

from .case import Case, case, ODD


@case
def softmaxes():
    c = Case(13)
    for axis in (-1, 1, 0):
        c.output(c.op("Softmax", c.input("b", "n", "w"), axis=axis))
        c.output(c.op("LogSoftmax", c.op("Neg", c.input("b", "n", "w")), axis=axis))
    c.output(c.op("Softmax", c.op("Add", c.input("b", 2, "n", "w"), c.input("b", 1, 1, "w")), axis=-1))
    c.output(c.op("Softmax", c.input("n", 33), axis=-1))
    c.output(c.op("Softmax", c.input("n", 5), axis=0))
    return c.each(b=[1, 3], n=[1, 2, 9, 40], w=[1, 7, 16, 31, 100, 300])


@case
def reductions():
    c = Case(17)
    for kind in ("ReduceMean", "ReduceMax", "ReduceL2"):
        for axes in ([-1], [1], [0], [0, 2], [1, 2]):
            c.output(c.op(kind, c.input("b", "n", "w"), axes=axes, keepdims=len(axes) % 2))
    c.output(c.op("ReduceSum", c.input("b", "n", 24), c.constant(np.int64([1])), keepdims=0))
    c.output(c.op("ReduceSum", c.input("n", 24), c.constant(np.int64([-1]))))
    for kind in ("ArgMax", "ArgMin"):
        for axis in (0, 1, 2):
            c.output(c.op(kind, c.input("b", "n", "w"), axis=axis, keepdims=axis % 2), np.int64)
    for axis in (0, 1, 2):
        c.output(c.op("CumSum", c.input("b", "n", "w"), c.constant(np.int64(axis)), reverse=axis % 2, exclusive=axis // 2))
    return c.each(b=[1, 3], n=[1, 2, 9, 40], w=[1, 7, 16, 31, 100])


@case
def values_for_columns():
    """A value for each column says how many there are."""
    c, values = Case(17), [0.5, -2.0, 3.0, 1.5, 7.0, -0.25, 4.0]
    x = c.input("n", "w")
    gaps = c.op("Where", c.op("Greater", x, c.constant(np.float32(1))), c.constant(np.float32(np.nan)), x)
    c.output(c.op("Imputer", gaps, domain="ai.onnx.ml", imputed_value_floats=values, replaced_value_float=float("nan")))
    c.output(c.op("Scaler", x, domain="ai.onnx.ml", offset=values, scale=values[::-1]))
    return c.at(n=[1, 0, 5, 64], w=[7])


@case
def normalizations():
    c = Case(17)
    c.output(c.op("LayerNormalization", c.input("b", "n", 40), c.weights(40), c.weights(40)))
    x = c.input("b", "n", 37)
    mean = c.op("ReduceMean", x, axes=[-1])
    centred = c.op("Sub", x, mean)
    variance = c.op("ReduceMean", c.op("Mul", centred, centred), axes=[-1])
    y = c.op("Div", centred, c.op("Sqrt", c.op("Add", variance, c.constant(np.float32(1e-5)))))
    c.output(c.op("Add", c.op("Mul", y, c.weights(37)), c.weights(37)))
    c.output(c.op("InstanceNormalization", c.input("b", 5, "n"), c.weights(5), c.weights(5)))
    c.output(c.op("BatchNormalization", c.input("b", 5, "n", 3), c.weights(5), c.weights(5), c.weights(5), c.constant(np.float32([1, 2, 3, 4, 5]))))
    return c.each(b=[1, 2, 7], n=[2, 3, 8, 17, 100])


@case
def elementwise():
    c = Case(17)
    shapes = [["b", "n", "w"], ["n", "w"], ["w"], ["b", 1, "w"], ["b", "n", 1], [1, "n", 1], []]
    for a, b in itertools.combinations(shapes, 2):
        c.output(c.op("Add", c.input(*a), c.op("Mul", c.input(*b), c.constant(np.float32(3)))))
    x = c.input("b", "n", "w")
    c.output(c.op("Where", c.op("Greater", x, c.input("w")), c.op("Exp", x), c.input("b", 1, 1)))
    c.output(c.op("Cast", c.op("And", c.op("Less", x, c.constant(np.float32(0))), c.input("b", "n", 1, dtype=bool)), to=7), np.int64)
    return c.each(b=[1, 3], n=[1, 2, 9], w=[1, 7, 16, 31, 100])


@case
def sizes_of_other_types():
    """A size as a boolean, as numbers that hold no such, and back; as floats that divide it."""
    c = Case(17)
    x = c.input("b", "n")
    b, n = [c.op("Gather", c.op("Shape", x), c.constant(np.int64(k))) for k in (0, 1)]
    c.output(c.op("Where", c.op("Cast", b, to=9), x, c.op("Neg", x)))
    c.output(c.op("Where", c.op("Cast", c.op("Sub", b, c.constant(np.int64(2))), to=9), x, c.op("Neg", x)))
    c.output(c.op("Cast", c.op("Cast", c.op("Add", b, c.constant(np.int64(1))), to=9), to=7), np.int64)
    for narrow, dtype in [(3, np.int8), (2, np.uint8), (5, np.int16), (4, np.uint16), (6, np.int32), (12, np.uint32), (13, np.uint64)]:
        less = c.op("Cast", c.op("Sub", n, c.constant(np.int64(200))), to=narrow)
        c.output(less, dtype), c.output(c.op("Cast", less, to=7), np.int64), c.output(c.op("Cast", less, to=1))
        c.output(c.op("Cast", c.op("Mul", c.op("Cast", n, to=narrow), c.constant(dtype(2))), to=7), np.int64)
    c.output(c.op("ConstantOfShape", c.op("Unsqueeze", c.op("Cast", c.op("Cast", n, to=2), to=7), c.constant(np.int64([0])))))
    half = c.op("Cast", c.op("Mul", c.op("Cast", n, to=1), c.constant(np.float32(0.5))), to=7)
    c.output(half, np.int64), c.output(c.op("Slice", x, c.constant(np.int64([0])), c.op("Unsqueeze", half, c.constant(np.int64([0]))), c.constant(np.int64([1]))))
    c.output(c.op("Cast", c.op("Cast", half, to=9), to=1))
    return c.each(b=[1, 2, 3, 4, 0], n=[1, 2, 7, 127, 128, 200, 255, 256, 300])


@case
def movements():
    c = Case(17)
    i64 = lambda *v: c.constant(np.int64(v))
    for perm in itertools.permutations(range(3)):
        c.output(c.op("Transpose", c.input("b", "n", "w"), perm=list(perm)))
    x = c.input("b", "n", 24)
    heads = c.op("Transpose", c.op("Reshape", x, i64(0, 0, 3, 8)), perm=[0, 2, 1, 3])
    c.output(c.op("Relu", heads))
    c.output(c.op("Transpose", heads, perm=[0, 1, 3, 2]))
    c.output(c.op("Reshape", c.op("Transpose", c.op("Exp", heads), perm=[0, 2, 1, 3]), i64(0, 0, 24)))
    c.output(c.op("Concat", c.input("b", "n", "w"), c.input("b", 5, "w"), c.input("b", "n", "w"), axis=1))
    c.output(c.op("Concat", c.input("b", "w"), c.input("b", "n"), axis=-1))
    c.output(c.op("Slice", c.input("b", "n", "w"), i64(1), i64(2**62), i64(1)))
    c.output(c.op("Slice", c.input("b", "n", "w"), i64(-1), i64(-(2**62)), i64(1), i64(-1)))
    c.output(c.op("Slice", c.input("b", "n", "w"), i64(0, 0), i64(2**62, 3), i64(2, 1), i64(2, 1)))
    c.output(c.op("Pad", c.input("b", "n", "w"), i64(0, 1, 2, 0, 3, 0)))
    c.output(c.op("Tile", c.input("n", "w"), i64(2, 3)))
    c.output(c.op("Expand", c.input("n", 1), c.op("Shape", c.input("b", "n", "w"))))
    first, second = c.op("Split", c.input("b", "n", 12), i64(5, 7), outputs=2, axis=-1)
    c.output(c.op("Mul", first, c.constant(np.float32(2)))), c.output(second)
    c.output(c.op("Unsqueeze", c.op("Squeeze", c.input(1, "n", "w"), i64(0)), i64(1)))
    c.output(c.op("DepthToSpace", c.input("b", 8, "n", "w"), blocksize=2))
    return c.each(b=[1, 3], n=[1, 2, 9, 18], w=[1, 7, 16, 31, 100])


@case
def a_few_apart():
    """Elements 2 to 6 places apart, at both ends of their buffers; and a half that begins at an open place."""
    c = Case()
    for k, dtype in [(2, np.float32), (3, np.float32), (4, np.int64), (3, np.uint8), (2, np.bool_), (6, np.float32)]:
        x, y = c.input("n", k, dtype=dtype), c.input(k, "n", dtype=dtype)
        c.output(c.op("Transpose", x), dtype), c.output(c.op("Transpose", y), dtype)
        for start in range(k if k < 4 else 1):
            steps = [c.constant(np.array([v])) for v in (start, 2**40, 0, k)]
            c.output(c.op("Slice", c.op("Reshape", x, c.constant(np.array([-1]))), *steps), dtype)
    half = c.op("Split", c.input(2, "n", 5), outputs=2)
    c.output(c.op("Neg", half[1])), c.output(c.op("MatMul", half[1], c.weights(5, 3)))
    c.output(c.op("Concat", half[1], half[0], axis=1))
    return c.at(n=[*ODD, 15, 16, 32, 33, 0])


@case
def mirrored():
    c = Case(19)
    x = c.input("rows", "columns")
    for mode in ["reflect", "edge", "wrap"]:
        for pads in [(0, 2, 0, 3), (1, 0, 2, 0), (2, 1, 0, 0), (1, 2, 2, 1)]:
            c.output(c.op("Pad", x, c.constant(np.int64(pads)), mode=mode))
    return c.each(rows=[3, 4, 9], columns=[4, 5, 17])


@case
def cropped():
    c = Case(17)
    none, sizes = c.constant(np.float32([])), c.constant(np.int64([1, 2, 5, 7]))
    region = lambda rng, shape, _: np.float32([0, 0, *rng.uniform(-0.2, 0.5, 2), 1, 1, *rng.uniform(0.4, 1.2, 2)])
    x, roi = c.input(1, 2, "h", "w"), c.input(8, fill=region)
    for mode in ["linear", "nearest"]:
        c.output(c.op("Resize", x, roi, none, sizes, mode=mode, coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=3.0))
    one = c.constant(np.int64([1, 2, 1, 1]))
    c.output(c.op("Resize", x, roi, none, one, mode="linear", coordinate_transformation_mode="tf_crop_and_resize"))
    return c.each(h=[1, 4, 16], w=[2, 9, 33])  # where lengths stay as they are ONNX Runtime crops nothing


@case
def triangles():
    c = Case(17)
    k = lambda rng, shape, sizes: rng.integers(-sizes["n"] - 1, sizes["w"] + 2, shape)
    for upper in (0, 1):
        c.output(c.op("Trilu", c.input("b", "n", "w"), upper=upper))
        for diagonal in (1, -2, 2**40, -(2**63)):
            c.output(c.op("Trilu", c.input("n", "w"), c.constant(np.int64(diagonal)), upper=upper))
        c.output(c.op("Trilu", c.input("b", "n", "n"), c.input(1, dtype=np.int64, fill=k), upper=upper))
        c.output(c.op("Trilu", c.input("n", 7, dtype=np.int64), c.input(dtype=np.int64, fill=k), upper=upper), np.int64)
        c.output(c.op("Trilu", c.input(5, "w", dtype=np.bool_), upper=upper), np.bool_)
    for diagonal in (0, 2, -1, -100):
        c.output(c.op("EyeLike", c.input("n", "w"), k=diagonal))
    c.output(c.op("EyeLike", c.input("n", "n", dtype=np.int64), dtype=1))
    return c.each(b=[1, 3], n=[1, 2, 9, 0], w=[1, 7, 31])


@case
def causal_masks():
    """As decoders of transformers 4 are exported: a triangle of the least number, added to scores of past and present."""
    c = Case(17)
    i64 = lambda *v: c.constant(np.array(v, np.int64))
    q, k, v = c.input("b", 2, "n", 16), c.input("b", 2, "m", 16), c.input("b", 2, "m", 16)
    present = c.op("Concat", c.op("Shape", q, start=2, end=3), c.op("Shape", k, start=2, end=3), axis=0)
    least = c.op("Trilu", c.op("Expand", c.constant(np.float32(np.finfo(np.float32).min)), present), i64(1), upper=1)
    scores = c.op("Mul", c.op("MatMul", q, c.op("Transpose", k, perm=[0, 1, 3, 2])), c.constant(np.float32(0.25)))
    mask = c.op("Unsqueeze", least, i64(0, 1))
    c.output(c.op("MatMul", c.op("Softmax", c.op("Add", scores, mask), axis=-1), v))
    ones = c.op("Trilu", c.op("ConstantOfShape", present, value=numpy_helper.from_array(np.array([1], np.int64))), upper=0)
    chosen = c.op("Where", c.op("Cast", ones, to=9), scores, c.constant(np.float32(-1e9)))
    c.output(c.op("MatMul", c.op("Softmax", chosen, axis=-1), v))
    return c.each(b=[1, 3], n=[1, 2, 9, 33], m=[1, 7, 40])


@case
def arguments_as_results():
    """A cache that goes on as it is, beside what is computed from it."""
    c = Case(17)
    x = c.input("b", "n")
    c.output(x), c.output(c.op("Neg", x)), c.output(c.op("Identity", c.input("n", 3)))
    return c.each(b=[1, 3], n=[1, 2, 17])
