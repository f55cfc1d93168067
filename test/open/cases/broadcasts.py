"""Axes of which only the run knows whether they repeat, and branches that give other shapes."""
import numpy as np

from .case import Case, case, loop, subgraph

PAIRS = dict(a=[1, 5, 1, 33, 33, 0, 1, 1, 17, 8], b=[1, 7, 7, 1, 8, 3, 0, 16, 1, 8], c=[1, 5, 4, 1, 33, 0, 1, 0, 17, 1], d=[1, 7, 1, 6, 8, 1, 1, 16, 5, 1])


@case
def two_operands():
    c = Case(17)
    x, y = c.input("a", "b"), c.input("c", "d")
    for kind in ("Add", "Max", "Pow"):
        c.output(c.op(kind, c.op("Abs", x), y if kind != "Pow" else c.op("Sigmoid", y)))
    c.output(c.op("Less", x, y), bool)
    c.output(c.op("Where", c.op("Greater", x, c.constant(np.float32(0))), y, c.constant(np.float32(2))))
    c.output(c.op("PRelu", x, c.input("b")))
    z = c.op("Add", c.op("Mul", x, y), c.op("Mul", c.op("Neg", y), x))
    c.output(c.op("Softmax", z, axis=-1))
    c.output(c.op("Transpose", z, perm=[1, 0]))
    return c.at(**PAIRS)


@case
def one_row_of_as_many():
    """The second element of a vector as long as what it scales: always one, where there is any."""
    c = Case(17)
    x, scales = c.input("b", "s"), c.input("s")
    one, two = c.constant(np.int64([1])), c.constant(np.int64([2]))
    c.output(c.op("Mul", x, c.op("Slice", scales, one, two, c.constant(np.int64([0])))))
    return c.at(b=[1, 3, 5], s=[2, 3, 7, 17])


@case
def three_operands():
    c = Case(17)
    x, y, z = c.input("a", 3, "b"), c.input("c", 1, "d"), c.input("e", "f")
    c.output(c.op("Sum", x, y, z))
    c.output(c.op("Where", c.op("Greater", y, c.constant(np.float32(0))), x, z))
    c.output(c.op("Relu", c.op("Add", c.op("Add", x, y), c.op("Mul", x, y))))
    return c.at(**PAIRS, e=[1, 3, 1, 3, 1, 3, 3, 1, 1, 3], f=[1, 1, 7, 6, 8, 1, 1, 1, 5, 8])


@case
def products_of_any_batch():
    c = Case(17)
    x, y = c.input("a", "b", "m", 12), c.input("c", "d", 12, "n")
    c.output(c.op("Relu", c.op("Add", c.op("MatMul", x, y), c.input("p"))))
    c.output(c.op("MatMul", x, c.weights(12, 20)))
    c.output(c.op("MatMul", x, c.input("d", 12, 9)))
    c.output(c.op("Gemm", c.input("m", 12), c.input(12, "n"), c.input("q", "p"), beta=0.5))
    return c.at(**{**PAIRS, "b": [1, 7, 7, 1, 8, 3, 2, 16, 1, 8], "d": [1, 7, 1, 6, 8, 1, 2, 16, 5, 1]}, m=[1, 4, 9], n=[1, 8, 33, 17], p=[1, 8, 1, 17, 1, 1, 33, 1], q=[1, 1, 9, 1, 4, 9])


@case
def expands():
    c = Case(17)
    x, y = c.input("a", "b"), c.input("c", "d")
    c.output(c.op("Expand", x, c.op("Shape", y)))
    c.output(c.op("Exp", c.op("Expand", x, c.op("Concat", c.constant(np.int64([2])), c.op("Shape", y), axis=0))))
    return c.at(**PAIRS)


@case
def expands_in_data():
    c = Case(17)
    x, shape = c.input("a", "b"), c.input(2, dtype=np.int64, fill=lambda rng, shape, sizes: [sizes["c"], sizes["d"]])
    c.input("c"), c.input("d")
    c.output(c.op("Expand", x, shape))
    return c.at(**PAIRS)


@case
def constants_against_sizes():
    c = Case(17)
    x = c.op("Reshape", c.input("s"), c.constant(np.int64([-1, 7])))
    c.output(c.op("Greater", c.weights(7, 7), x), bool)
    c.output(c.op("Add", c.op("MatMul", x, c.weights(7, 24)), c.weights(3, 1, 24)))
    c.output(c.op("Mul", c.input("b", "n"), c.weights(16)))
    return c.at(s=[7, 49], b=[1, 3, 0, 5], n=[1, 16])


@case
def images():
    """Convolutions in channel blocks beside what may repeat, by pixels and by channels."""
    c = Case(17)
    x = c.op("Relu", c.op("Conv", c.input("b", 3, "h", "w"), c.weights(16, 3, 3, 3), pads=[1, 1, 1, 1]))
    y = c.op("Conv", c.input("b", 8, "i", "j"), c.weights(16, 8, 1, 1))
    both = c.op("Relu", c.op("Add", x, y))
    c.output(c.op("Conv", both, c.weights(16, 16, 3, 3)))
    c.output(c.op("Add", x, c.input("b", "c", 1, "w")))
    c.output(c.op("Mul", x, c.input("c", "h", 1)))
    return c.at(b=[1, 2], h=[8, 8, 1, 8, 9], w=[11, 11, 1, 11, 5], i=[8, 1, 6, 1, 9], j=[11, 1, 7, 11, 1], c=[16, 1])


@case
def attention_of_masks():
    """A mask whose batch and length are symbols of their own."""
    c = Case(17)
    heads, width = 2, 16

    def split(v):
        v = c.op("Reshape", c.op("MatMul", x, c.weights(heads * width, heads * width)), c.constant(np.int64([0, 0, heads, width])))
        return c.op("Transpose", v, perm=[0, 2, 1, 3])

    x = c.op("Add", c.input("b", "s", heads * width), c.input("t", "u", heads * width))
    mask = c.op("Unsqueeze", c.input("c", "n"), c.constant(np.int64([1, 2])))
    for _ in range(2):
        scores = c.op("MatMul", c.op("Mul", split(x), c.constant(np.float32(0.25))), c.op("Transpose", split(x), perm=[0, 1, 3, 2]))
        weights = c.op("Softmax", c.op("Add", scores, mask), axis=-1)
        y = c.op("Transpose", c.op("MatMul", weights, split(x)), perm=[0, 2, 1, 3])
        x = c.op("Add", x, c.op("Reshape", y, c.constant(np.int64([0, 0, heads * width]))))
    c.output(x)
    return c.at(b=[1, 3, 3, 1], s=[1, 9, 40, 1], t=[1, 3, 1, 2], u=[1, 9, 1, 40], c=[1, 3, 1, 2, 3], n=[1, 9, 1, 40])


def asks_for_one(c, x, axis):
    size = c.op("Gather", c.op("Shape", x), c.constant(np.int64(axis)))
    return c.op("Equal", size, c.constant(np.int64(1)))


@case
def squeezed_if_one():
    """As exporters write x.squeeze(1): behind the If there is a rank less, or not."""
    c = Case(17)
    x = c.input("b", "n", 6)
    squeezed = c.op("If", asks_for_one(c, x, 1), then_branch=subgraph(c, [], lambda: [(c.op("Squeeze", x, c.constant(np.int64([1]))), np.float32)]),
                    else_branch=subgraph(c, [], lambda: [(c.op("Identity", x), np.float32)]))
    y = c.op("Relu", c.op("MatMul", squeezed, c.weights(6, 5)))
    c.output(c.op("Reshape", y, c.constant(np.int64([-1, 5]))))
    c.output(c.op("ReduceSum", c.op("Mul", y, y), keepdims=0))
    return c.each(b=[1, 2, 7], n=[1, 2, 5])


@case
def branches_of_other_sizes():
    c = Case(17)
    x = c.input("b", "n")
    for axis in (0, 1):
        y = c.op("If", asks_for_one(c, x, axis), then_branch=subgraph(c, [], lambda: [(c.op("Concat", x, x, axis=1), np.float32)]),
                 else_branch=subgraph(c, [], lambda: [(c.op("Neg", x), np.float32)]))
        c.output(c.op("ReduceSum", c.op("Exp", y), c.constant(np.int64([1]))))
        c.output(y)
    return c.each(b=[1, 2, 7], n=[1, 2, 17])


@case
def squeezed_axes():
    """Squeeze without axes."""
    c = Case(17)
    x = c.op("Squeeze", c.input("b", 1, "n"))
    c.output(c.op("Reshape", c.op("Mul", x, x), c.constant(np.int64([-1]))))
    c.output(c.op("ReduceMean", c.op("Squeeze", c.input("b", 4)), keepdims=0))
    return c.each(b=[1, 2, 7], n=[1, 2, 17])


@case
def carried_axis_of_one():
    """The first iteration repeats it, the others do not."""
    c = Case(17)
    w, trips = c.input(5, "b"), c.op("Squeeze", c.op("Shape", c.input("t")), c.constant(np.int64([0])))
    c.output(loop(c, trips, [c.input(1, "b")], lambda i, a: [(c.op("Add", a, w), np.float32)], outputs=1))
    return c.at(b=[1, 4, 9], t=[0, 1, 2, 5])
