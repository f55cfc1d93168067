"""Types below 32 bits that numpy does not know: casts to them and back with movements between, quantized tensors and weights of a few bits, arithmetic in
float16 and bfloat16. Each generator ends in float32, so that what follows takes its result.

Where arithmetic is rounded is left open (docs/quantization.md): numbers are such that each step is exact in 8 bits, whatever its order."""
import numpy as np
from onnx import TensorProto, helper

from families import op
from families.quantized import along, scales

# type: (first opset with a Cast to it, with Quantize- and DequantizeLinear)
TYPES = {
    "FLOAT16": (7, None), "BFLOAT16": (13, None), "FLOAT8E4M3FN": (19, 19), "FLOAT8E4M3FNUZ": (19, 19), "FLOAT8E5M2": (19, 19), "FLOAT8E5M2FNUZ": (19, 19),
    "FLOAT4E2M1": (23, 23), "FLOAT8E8M0": (24, None), "INT4": (21, 21), "UINT4": (21, 21), "INT2": (25, 25), "UINT2": (25, 25),
}  # fmt: skip


def number(kind):
    return getattr(TensorProto, kind)


def dtype(kind):
    return np.dtype(helper.tensor_dtype_to_np_dtype(number(kind)))


def span(kind):
    """The least and the largest number of a type of integers."""
    bits = int(kind[-1])
    return (0, 2**bits - 1) if kind[0] == "U" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def drawn_type(c, x, kinds, since):
    """A type that the opset has. Opset 25 is for types of two bits alone, which older ones do not have; cases begin with it."""
    kind = c.choice(kinds)
    if TYPES[kind][since] == 25:
        c.need(x is None and not c.nodes)
        c.opset = 25
    c.since(TYPES[kind][since])
    return kind


def cast(c, x, kind, **attributes):
    return c.node("Cast", [x], exact=True, to=number(kind), **attributes)[0]


def moved(c, x):
    """A movement of elements that every type has."""
    rank = x.rank
    for _ in range(c.choice([0, 1, 1, 2])):
        way = c.choice(["Transpose", "Reshape", "Concat", "Slice", "Gather", "Identity", "Flatten"])
        if way == "Transpose":
            order = list(range(rank))
            c.rng.shuffle(order)
            x = c.node("Transpose", [x], exact=True, perm=order)[0]
        elif way == "Reshape":
            c.need(x.array.size)
            x = c.node("Reshape", [x, c.ints([-1, x.shape[-1]] if rank else [1])], exact=True)[0]
        elif way == "Concat" and rank:
            x = c.node("Concat", [x, x], exact=True, axis=c.axis(rank))[0]
        elif way == "Slice" and rank and c.opset >= 10:
            axis = c.rng.randrange(rank)
            x = c.node("Slice", [x, c.ints([c.rng.randint(0, 2)]), c.ints([x.shape[axis] + 1]), c.ints([axis]), c.ints([c.choice([1, 1, 2])])], exact=True)[0]
        elif way == "Gather" and rank and x.shape[0]:
            x = c.node("Gather", [x, c.ints([c.rng.randrange(x.shape[0]) for _ in range(c.choice([1, 3, 5]))])], exact=True, axis=0)[0]
        elif way == "Flatten":
            x = c.node("Flatten", [x], exact=True)[0]
        else:
            x = c.node("Identity", [x], exact=True)[0]
        rank = x.rank
    return x


@op("CastChain", weight=4)
def chain(c, x):
    """To a narrow type, perhaps by another one, moved there, and back."""
    kind = drawn_type(c, x, TYPES, 0)
    if x is None:
        x = c.data(c.shape(1, 4), np.float32, *((0.02, 9) if kind == "FLOAT8E8M0" else (-9, 9)))
    c.need(x.dtype == np.float32 and x.exact and np.isfinite(x.array).all() and (not x.array.size or np.abs(x.array).max() < 400))
    if "INT" in kind:  # what is outside of the type is anything
        low, high = span(kind)
        c.need(c.opset >= 12)
        bounds = [c.tensor(np.array(bound, np.float32), constant=True) for bound in (low, high)]
        x = c.node("Clip", [x, *bounds], exact=True)[0]
    if kind == "FLOAT8E8M0":
        c.need(not x.array.size or x.array.min() > 0.01)
    between = c.choice([None, None, "FLOAT16", "BFLOAT16"])
    if between and c.opset >= TYPES[between][0] and "INT" not in kind:
        x = cast(c, x, between)
    saturate = c.choice([None, 0, 1]) if kind.startswith("FLOAT8E4") or kind.startswith("FLOAT8E5") else None
    how = c.choice([None, "up", "down", "nearest"]) if kind == "FLOAT8E8M0" else None
    x = moved(c, cast(c, x, kind, saturate=saturate, round_mode=how))
    cast(c, x, "FLOAT")


def blocks(c, shape, axis):
    """The size of blocks along an axis (0: none) and the shape of their scales."""
    if c.opset < 21 or c.chance(0.4):
        return 0, c.choice([[], [shape[axis]]])
    block = c.choice([16, 16, 32, 48, 8, 5])
    return block, [-(-size // block) if k == axis else size for k, size in enumerate(shape)]


def integers(c, kind, shape):
    """A constant."""
    low, high = span(kind)
    return c.tensor(c.numbers(shape, np.int32, low, high).astype(np.float32).astype(dtype(kind)), constant=True)


@op("QuantizeNarrow", weight=2)
def quantize(c, x):
    """A tensor quantized to a narrow type and dequantized again."""
    kind = drawn_type(c, x, [name for name, (_, since) in TYPES.items() if since], 1)
    x = x or c.data(c.shape(1, 3))
    c.need(x.dtype == np.float32 and x.rank and x.exact and x.array.size and np.isfinite(x.array).all() and np.abs(x.array).max() < 400)
    axis = c.rng.randrange(x.rank)
    block, shape = blocks(c, x.shape, axis)
    c.need(not block or x.shape[axis] % block == 0)
    scale = scales(c, shape, -4, 2)
    middle = c.rng.randint(*span(kind)) if "INT" in kind else 0
    zero = c.tensor(np.full(shape, middle, np.float32).astype(dtype(kind)), constant=True)
    where = dict(axis=along(c, x, axis), block_size=block or None)
    q = c.node("QuantizeLinear", [x, scale, zero], exact=True, saturate=c.choice([None, 1]) if "FLOAT8" in kind else None, **where)[0]
    c.node("DequantizeLinear", [moved(c, q) if not shape else q, scale, zero], exact=True, **where)


@op("FewBits", weight=4)
def few_bits(c, x):
    """A constant matrix of a few bits, dequantized in front of a product or a Gather of its rows."""
    kind = drawn_type(c, x, ["INT4", "INT4", "UINT4", "INT2", "UINT2"], 1)
    depth, columns, turned = c.choice([c.extent(300), 32, 48, 96, 160]), c.extent(100), c.chance(0.5)
    gathers = c.chance(0.3)
    if x is not None:
        c.need(not gathers and x.dtype == np.float32 and x.exact and x.rank >= 2 and x.array.size and x.shape[-1] <= 300 and np.abs(x.array).max() < 9)
        depth = x.shape[-1]
    shape, axis = ([columns, depth], 1) if turned or gathers else ([depth, columns], 0)
    block, scaled = blocks(c, shape, axis)
    if not block and scaled:  # of columns; of a table's rows
        scaled = [shape[1 - axis]]
    zero = integers(c, kind, scaled) if c.chance(0.6) else None
    where = dict(axis=axis if block else 1 - axis, block_size=block or None)
    w = c.node("DequantizeLinear", [integers(c, kind, shape), scales(c, scaled, -3, 0), zero], exact=True, **where)[0]
    if gathers:
        rows = c.tensor(c.numbers([c.extent(5) for _ in range(c.choice([0, 1, 2]))], np.int64, -columns, columns - 1), constant=False)
        c.node("Gather", [w, rows], exact=True, axis=0)
        return
    x = x or c.data([*[c.extent(4) for _ in range(c.choice([0, 0, 1]))], c.choice([1, 1, 2, 5, 16, 17, 40]), depth])
    if turned and c.chance(0.5) and x.rank == 2:
        c.node("Gemm", [x, w, c.data([columns])], transB=1)
    else:
        c.node("MatMul", [x, c.node("Transpose", [w], exact=True, perm=[1, 0])[0] if turned else w])


@op("HalfArithmetic", weight=3)
def arithmetic(c, x):
    """Elementwise operators, reductions and products in float16 or bfloat16."""
    c.need(x is None)
    kind = c.choice(["FLOAT16", "BFLOAT16"])
    c.since(13)
    small = lambda shape: c.tensor(c.numbers(shape, np.int32, -2, 3).astype(np.float32))
    x = cast(c, small(c.shape(1, 4)), kind)
    for _ in range(c.rng.randint(1, 3)):
        way = c.choice(["Add", "Mul", "Sub", "Relu", "Neg", "Abs", "Max", "MatMul", "ReduceMax", "Where", "Concat", "Transpose", "Equal"])
        c.need(x.array.size and np.abs(x.array.astype(np.float32)).max() <= 16)
        if way in ("Add", "Sub", "Max", "Mul"):
            other = [size if c.chance(0.6) else 1 for size in x.shape][c.rng.randint(0, x.rank) :]
            x = c.node(way, [x, cast(c, small(other), kind)], exact=True)[0]
        elif way == "MatMul":
            c.need(x.rank >= 2 and x.shape[-1] <= 5 and np.abs(x.array.astype(np.float32)).max() <= 9)
            x = c.node("MatMul", [x, cast(c, small([x.shape[-1], c.extent(40)]), kind)], exact=True)[0]
        elif way == "ReduceMax":
            x = c.node(way, [x] + ([c.ints([x.rank - 1])] if c.opset >= 18 else []), exact=True, axes=None if c.opset >= 18 else [x.rank - 1])[0]
        elif way == "Where":
            x = c.node(way, [c.tensor(c.numbers(x.shape, bool)), x, cast(c, small([]), kind)], exact=True)[0]
        elif way == "Equal":
            same = c.node(way, [x, cast(c, small([]), kind)], exact=True)[0]
            x = cast(c, same, kind)
        elif way == "Concat":
            x = c.node(way, [x, x], exact=True, axis=-1)[0]
        else:
            x = c.node(way, [x], exact=True)[0]
    cast(c, x, "FLOAT")
