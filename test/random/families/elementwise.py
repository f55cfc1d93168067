"""Elementwise operators: unary, binary and variadic with broadcasting in every form, comparisons, logic, Where, Cast, Clip, PRelu."""
import numpy as np

from case import Skip
from families import op

# operator: (first opset, lowest and highest argument, whether bits are certain, attributes to draw)
UNARY = {
    "Relu": (7, -3, 3, True, {}), "LeakyRelu": (7, -3, 3, False, {"alpha": [None, 0.1, 0.0, -0.5]}), "Elu": (7, -3, 3, False, {"alpha": [None, 0.5, 2.0]}),
    "Selu": (7, -3, 3, False, {"alpha": [None, 1.5], "gamma": [None, 1.2]}), "Celu": (12, -3, 3, False, {"alpha": [None, 0.5, 2.0]}),
    "Sigmoid": (7, -10, 10, False, {}), "HardSigmoid": (7, -4, 4, False, {"alpha": [None, 0.3], "beta": [None, 0.4]}), "HardSwish": (14, -4, 4, False, {}),
    "Mish": (18, -10, 10, False, {}), "Softplus": (7, -10, 10, False, {}), "Softsign": (7, -5, 5, False, {}), "Tanh": (7, -6, 6, False, {}),
    "Erf": (9, -4, 4, False, {}), "Gelu": (20, -5, 5, False, {"approximate": [None, "none", "tanh"]}), "Exp": (7, -8, 8, False, {}),
    "Log": (7, 0.02, 20, False, {}), "Sqrt": (7, 0, 30, False, {}), "Reciprocal": (7, 0.1, 9, False, {}), "Neg": (7, -5, 5, True, {}), "Abs": (7, -5, 5, True, {}),
    "Sin": (7, -30, 30, False, {}), "Cos": (7, -30, 30, False, {}), "Identity": (7, -5, 5, True, {}),
    "Tan": (7, -1.2, 1.2, False, {}), "Asin": (7, -0.98, 0.98, False, {}), "Acos": (7, -0.98, 0.98, False, {}), "Atan": (7, -9, 9, False, {}),
    "Sinh": (9, -4, 4, False, {}), "Cosh": (9, -4, 4, False, {}), "Asinh": (9, -9, 9, False, {}), "Acosh": (9, 1.05, 9, False, {}), "Atanh": (9, -0.95, 0.95, False, {}),
    "ThresholdedRelu": (10, -3, 3, True, {"alpha": [None, 0.5]}), "Shrink": (9, -3, 3, False, {"lambd": [None, 1.0], "bias": [None, 0.25]}),
    "Swish": (24, -6, 6, False, {"alpha": [None, 0.5, 2.0]}),
    "Sign": (9, -2, 2, True, {}), "Floor": (7, -5, 5, True, {}), "Ceil": (7, -5, 5, True, {}), "Round": (11, -5, 5, True, {}),
}
JUMPS = {"ThresholdedRelu", "Shrink", "Sign", "Floor", "Ceil", "Round"}
INTEGER_UNARY = {"Neg": 7, "Abs": 7, "Sign": 9, "Identity": 7}


@op(*UNARY)
def unary(c, x, name):
    first, low, high, exact, attributes = UNARY[name]
    c.since(first)
    if x is None and name in INTEGER_UNARY and c.opset >= max(INTEGER_UNARY[name], 9) and c.chance(0.25):
        x = c.tensor(c.wide(c.shape(), c.choice([np.int32, np.int64]), -9, 9))
    elif x is None:
        x = c.data(c.shape(), np.float32, low, high)
    else:
        c.need(x.dtype == np.float32 and (x.exact or name not in JUMPS) and within(x.array, low, high))
    c.node(name, [x], exact=exact, **{key: c.choice(values) for key, values in attributes.items()})


def within(array, low, high):
    return not array.size or (np.isfinite(array).all() and array.min() >= low and array.max() <= high)


def broadcast(c, shape, rank=5):
    """A shape that broadcasts with `shape`: leading axes dropped or added, axes of size one shrunk or grown."""
    other = list(shape)
    kind = c.rng.randrange(6)
    if kind == 0:
        return other
    if kind == 1:
        return [] if c.chance(0.5) else [1] * c.rng.randint(1, len(shape) or 1)
    other = other[c.rng.randint(0, len(other)) :] if kind in (2, 3) else other
    other = [1 if c.chance(0.4) else (c.size(9) if size == 1 and c.chance(0.4) else size) for size in other]
    while len(other) < rank and kind == 5 and c.chance(0.5):
        other.insert(0, c.size(4))
    return other if np.prod(np.maximum(shape, 1), dtype=np.int64) * np.prod(np.maximum(other, 1), dtype=np.int64) < 4_000_000 else list(shape)


def pair(c, x, types, low=-2.0, high=2.0):
    """Two operands in either order; x, where it fits, or a fresh tensor is one of them."""
    if x is None:
        x = c.tensor(c.wide(c.shape(), c.choice(types), low, high))
    c.need(x.dtype in [np.dtype(kind) for kind in types])
    y = c.tensor(c.wide(broadcast(c, x.shape), x.dtype, low, high)) if c.chance(0.9) else x
    return (x, y) if c.chance(0.6) else (y, x)


FLOAT_INT = [np.float32, np.float32, np.int32, np.int64]
ARITHMETIC = [*FLOAT_INT, np.int64, np.uint32, np.uint64]


@op("Add", "Sub", "Mul", weight=2)
def arithmetic(c, x, name):
    left, right = pair(c, x, ARITHMETIC, -9, 9)
    c.node(name, [left, right], exact=left.dtype.kind in "iu")


@op("Div", weight=2)
def div(c, x):
    if x is None:
        x = c.tensor(c.wide(c.shape(), c.choice(FLOAT_INT), -20, 20))
    c.need(x.dtype in (np.float32, np.int32, np.int64))
    smallest = x.dtype.kind == "i" and x.array.size and x.array.min() == np.iinfo(x.dtype).min  # which -1 has no quotient of
    sign = c.choice([1, -1]) if x.dtype.kind == "i" and not smallest else 1
    y = c.tensor(sign * c.numbers(broadcast(c, x.shape), x.dtype, 1, 7))
    c.node("Div", [x, y], exact=x.dtype.kind == "i")


@op("Mod")
def mod(c, x):
    c.since(10)
    c.need(x is None)
    kind = c.choice([np.float32, np.int32, np.int64])
    shape = c.shape()
    values = c.numbers(broadcast(c, shape), kind, 1, 7)
    divisor = c.tensor(np.where(c.numbers(values.shape, bool), values, -values).astype(kind))
    c.node("Mod", [c.data(shape, kind, -30, 30), divisor], exact=True, fmod=1 if kind == np.float32 or c.chance(0.3) else None)


@op("Pow")
def power(c, x):
    exponent = c.choice([2.0, 3.0, 0.5, -1.0, 0.0, 1.0, None, None])
    low = -3 if exponent is not None and exponent == int(exponent) else 0.05
    low = 0.25 if exponent == -1.0 else low
    if x is None:
        x = c.data(c.shape(), np.float32, low, 4)
    c.need(x.dtype == np.float32 and within(x.array, low, 40))
    if exponent is not None:
        kind = c.choice([np.float32, np.int32, np.int64]) if c.opset >= 12 and exponent == int(exponent) else np.float32
        y = c.tensor(np.array(exponent if c.chance(0.5) else [exponent], kind), constant=True)
    else:
        y = c.data(broadcast(c, x.shape), np.float32, -2, 3)
    c.node("Pow", [x, y])


@op("Min", "Max", "Sum", "Mean")
def variadic(c, x, name):
    integer = name in ("Min", "Max") and c.opset >= 12
    if x is None:
        x = c.tensor(c.wide(c.shape(), c.choice([*FLOAT_INT, np.uint32, np.uint64] if integer else [np.float32]), -9, 9))
    c.need(x.dtype in ([np.float32, np.int32, np.int64, np.uint32, np.uint64] if integer else [np.float32]))
    operands, shape = [x], x.shape
    for _ in range(c.rng.randint(0, 3)):
        operand = c.tensor(c.wide(broadcast(c, shape, 4) if c.opset >= 8 else shape, x.dtype, -9, 9))
        c.need(np.prod(np.maximum(operand.shape, 1)) * np.prod(np.maximum(shape, 1)) < 2_000_000)
        operands.append(operand)
        shape = list(np.broadcast_shapes(tuple(shape), tuple(operand.shape)))
    c.rng.shuffle(operands)
    c.node(name, operands, exact=name in ("Min", "Max"))


@op("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
def compare(c, x, name):
    c.since(12 if "Or" in name else 9)
    c.need(x is None or x.exact)
    types = [np.int32, np.int64, np.float32] + ([np.bool_] if name == "Equal" else [])
    left, right = pair(c, x, types if name != "Equal" or c.opset >= 11 else types[:2], -3, 3)
    c.node(name, [left, right], exact=True)


@op("And", "Or", "Xor")
def logic(c, x, name):
    left, right = pair(c, x, [np.bool_])
    c.node(name, [left, right], exact=True)


@op("Not")
def negate(c, x):
    x = x or c.data(c.shape(), np.bool_)
    c.need(x.dtype == np.bool_)
    c.node("Not", [x], exact=True)


@op("IsNaN")
def is_nan(c, x):
    c.since(9)
    c.need(x is None)
    array = c.numbers(c.shape())
    c.node("IsNaN", [c.tensor(np.where(c.numbers(array.shape, bool), array, np.float32("nan")).astype(np.float32))], exact=True)


@op("IsInf")
def is_inf(c, x):
    c.since(10)
    c.need(x is None)
    array = c.numbers(c.shape(), np.float32, -1, 1)
    values = np.where(array > 0.3, np.float32("inf"), np.where(array < -0.3, -np.float32("inf"), array)).astype(np.float32)
    c.node("IsInf", [c.tensor(values)], exact=True, detect_negative=c.choice([None, 0, 1]), detect_positive=c.choice([None, 0, 1]))


@op("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def bits(c, x, name):
    c.since(18)
    left, right = pair(c, x if x is None or x.dtype.kind == "i" else None, [np.int32, np.int64], -99, 99)
    c.node(name, [left, right], exact=True)


@op("BitwiseNot")
def bitwise_not(c, x):
    c.since(18)
    x = x or c.data(c.shape(), c.choice([np.int32, np.int64]), -99, 99)
    c.need(x.dtype in (np.int32, np.int64))
    c.node("BitwiseNot", [x], exact=True)


@op("BitShift")
def shift(c, x):
    c.since(11)
    c.need(x is None)
    shape, kind = c.shape(), c.choice([np.uint8, np.uint32, np.uint64])
    c.node("BitShift", [c.data(shape, kind, 0, 99), c.data(broadcast(c, shape), kind, 0, 7)], exact=True, direction=c.choice(["LEFT", "RIGHT"]))


@op("CastLike")
def cast_like(c, x):
    c.since(15)
    x = x or c.data(c.shape(), c.choice([np.float32, np.int64]), -9, 9)
    c.need(x.dtype in (np.int64, np.int32, np.bool_) or x.exact and x.dtype == np.float32 and within(x.array, -120, 120))
    c.node("CastLike", [x, c.data([2], c.choice([np.float32, np.int32, np.int64]))], exact=True)


@op("Where")
def where(c, x):
    c.since(9)
    if x is None:
        x = c.tensor(c.wide(c.shape(), c.choice([np.float32, np.float32, np.int64, np.int32, np.bool_]), -9, 9))
    if x.dtype == np.bool_ and c.chance(0.5):
        kind = c.choice([np.float32, np.int64])
        operands = [x, *(c.tensor(c.wide(broadcast(c, x.shape), kind, -2, 2)) for _ in range(2))]
    else:
        other = c.tensor(c.wide(broadcast(c, x.shape), x.dtype, -9, 9))
        operands = [c.data(broadcast(c, x.shape), np.bool_), *((x, other) if c.chance(0.5) else (other, x))]
    try:
        np.broadcast_shapes(*[tuple(operand.shape) for operand in operands])
    except ValueError:
        raise Skip() from None
    c.need(np.prod([max(size, 1) for size in np.broadcast_shapes(*[tuple(operand.shape) for operand in operands])]) < 1_000_000)
    c.node("Where", operands, exact=True)


@op("Cast")
def cast(c, x):
    types = [np.float32, np.int32, np.int64, np.bool_, np.uint8, np.int8, np.float16]
    if x is None:
        kind = c.choice(types)
        x = c.data(c.shape(), kind, 0 if kind == np.uint8 else -100, 100)
    target = np.dtype(c.choice(types))
    c.need(x.dtype.kind != "f" or target.kind == "f" or (x.exact and within(x.array, 0 if target == np.uint8 else -120, 120)))
    c.node("Cast", [x], exact=True, to=int({"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10}[target.name]))


@op("Clip")
def clip(c, x):
    if x is None:
        x = c.tensor(c.wide(c.shape(), np.float32 if c.opset < 12 else c.choice(FLOAT_INT), -5, 5))
    c.need(x.dtype == np.float32 or (c.opset >= 12 and x.dtype in (np.int32, np.int64)))
    low, high = (c.choice([None, -1, 0, 1]), c.choice([None, 1, 2, 6]))
    if x.dtype.kind == "i" and c.chance(0.3):
        low, high = sorted(c.integers([], x.dtype).item() for _ in range(2))
    # A bound that is left out is infinite in the reference and the largest finite number in ONNX Runtime.
    c.need(x.dtype != np.float32 or not np.isinf(x.array).any())
    if c.opset < 11:
        c.node("Clip", [x], exact=True, min=None if low is None else float(low), max=None if high is None else float(high))
        return
    constant = c.chance(0.8)
    bounds = [None if bound is None else c.tensor(np.array(bound, x.dtype), constant=constant) for bound in (low, high)]
    c.node("Clip", [x, *bounds], exact=True)


@op("PRelu")
def prelu(c, x):
    x = x or c.data(c.shape(1, 5))
    c.need(x.dtype == np.float32)
    slope = [size if c.chance(0.5) else 1 for size in x.shape][c.rng.randint(0, max(x.rank - 1, 0)) :]
    c.node("PRelu", [x, c.data(slope, np.float32, -1, 1)])


@op("Affine", "ParametricSoftplus", "ScaledTanh")
def experimental(c, x, name):
    """They left the standard with opset 8; ONNX Runtime still has them."""
    c.need(c.opset == 7)
    x = x or c.data(c.shape(), np.float32, -3, 3)
    c.need(x.dtype == np.float32 and within(x.array, -9, 9))
    c.node(name, [x], alpha=c.choice([0.5, 2.0]), beta=c.choice([0.25, 1.0]))


@op("ImageScaler")
def image_scaler(c, x):
    c.need(c.opset == 7 and x is None)
    x = c.data([c.choice([1, 2]), c.choice([1, 3]), c.size(13), c.size(13)])
    c.node("ImageScaler", [x], bias=[0.5 * k for k in range(x.shape[1])], scale=c.choice([None, 0.5]))


@op("Dropout")
def dropout(c, x):
    x = x or c.data(c.shape(1, 4))
    c.need(x.dtype == np.float32)
    if c.opset < 12:
        c.node("Dropout", [x], exact=True, ratio=c.choice([None, 0.3]))
    else:
        c.node("Dropout", [x, c.choice([None, c.tensor(np.float32(0.4), constant=True)])], exact=True, seed=c.choice([None, 3]))
