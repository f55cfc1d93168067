"""The models: each is a function that gives a Case. Dimensions that are texts are open."""
import itertools

import numpy as np
from onnx import helper, numpy_helper

ALL = {}
ODD = [1, 2, 3, 7, 8, 13, 17, 31, 64, 100]


def case(make):
    assert make.__name__ not in ALL, f"two cases {make.__name__}"
    ALL[make.__name__] = make
    return make


class Case:
    def __init__(self, opset=17):
        self.nodes, self.inputs, self.outputs, self.constants, self.sizes, self.opset = [], [], [], [], [], opset
        self.fillers, self.rng, self.count = {}, np.random.default_rng(0), 0

    def fresh(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def input(self, *shape, dtype=np.float32, fill=None):
        name = self.fresh("x")
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape))
        self.fillers[name] = (np.dtype(dtype), fill)
        return name

    def constant(self, array):
        name = self.fresh("c")
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weights(self, *shape, dtype=np.float32):
        array = self.rng.standard_normal(shape) if np.issubdtype(dtype, np.floating) else self.rng.integers(-9, 9, shape)
        return self.constant(array.astype(dtype))

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [self.fresh() for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=f"{kind}_{self.count}", **attributes))
        return names[0] if outputs == 1 else names

    def output(self, name, dtype=np.float32):
        self.outputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), None))
        return name

    def at(self, **lists):
        """Runs at the first sizes of all, at the second ones, and so on; shorter lists begin again."""
        length = max(len(v) for v in lists.values())
        self.sizes += [{k: v[i % len(v)] for k, v in lists.items()} for i in range(length)]
        return self

    def each(self, **lists):
        """Runs at all combinations."""
        self.sizes += [dict(zip(lists, values)) for values in itertools.product(*lists.values())]
        return self

    def fill(self, rng, name, shape, sizes):
        dtype, fill = self.fillers[name]
        if fill:
            return np.asarray(fill(rng, shape, sizes)).astype(dtype).reshape(shape)
        return (rng.standard_normal(shape) if dtype.kind == "f" else rng.integers(0, 2, shape) if dtype.kind == "b" else rng.integers(-9, 9, shape)).astype(dtype)

    @property
    def model(self):
        graph = helper.make_graph(self.nodes, "open", self.inputs, self.outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)


def product(c, a, b, a_turned=False, b_turned=False, constant=False, dtype=np.float32, behind=None):
    x = c.input(*a, dtype=dtype)
    y = c.weights(*b, dtype=dtype) if constant else c.input(*b, dtype=dtype)
    turn = lambda v, rank: c.op("Transpose", v, perm=[*range(rank - 2), rank - 1, rank - 2])
    x, y = turn(x, len(a)) if a_turned else x, turn(y, len(b)) if b_turned else y
    z = c.op("MatMul", x, y)
    return c.output(behind(z) if behind else z, dtype)


# Products.


@case
def rows_open():
    c = Case()
    for k, n in [(64, 48), (33, 37), (7, 5), (768, 100), (5, 1)]:
        product(c, ["m", k], [k, n], constant=True)
        product(c, ["m", k], [k, n])
        product(c, ["m", k], [n, k], b_turned=True)
        product(c, [k, "m"], [k, n], a_turned=True)
    return c.at(m=[*ODD, 4, 5, 6, 9, 12, 15, 16, 128, 384, 0])


@case
def columns_open():
    c = Case()
    for m, k in [(1, 64), (2, 9), (3, 33), (17, 20), (40, 5)]:
        product(c, [m, k], [k, "n"])
        product(c, [m, k], ["n", k], b_turned=True)
        product(c, [k, m], [k, "n"], a_turned=True)
        product(c, [2, m, k], [2, k, "n"])
    return c.at(n=[*ODD, 5, 16, 32, 33, 47, 48, 49, 129, 0])


@case
def depth_open():
    c = Case()
    for m, n in [(1, 1), (1, 64), (2, 17), (13, 33), (50, 8)]:
        product(c, [m, "k"], ["k", n])
        product(c, [m, "k"], [n, "k"], b_turned=True)
        product(c, ["k", m], ["k", n], a_turned=True)
    return c.at(k=[*ODD, 4, 5, 6, 16, 200, 0])


@case
def all_open():
    c = Case()
    product(c, ["m", "k"], ["k", "n"])
    product(c, ["m", "k"], ["n", "k"], b_turned=True)
    product(c, ["k", "m"], ["k", "n"], a_turned=True)
    product(c, ["k", "m"], ["n", "k"], a_turned=True, b_turned=True)
    product(c, ["b", "m", "k"], ["b", "k", "n"])
    product(c, ["b", 2, "m", "k"], ["b", 2, "n", "k"], b_turned=True)
    product(c, ["b", "m", "k"], ["k", "n"])
    product(c, ["k"], ["k", "n"])
    product(c, ["m", "k"], ["k"])
    product(c, ["k"], ["k"])
    product(c, ["k"], ["b", "k", "n"])
    product(c, ["b", "m", "k"], ["k"])
    product(c, [1, 3, "m", "k"], ["b", 1, "k", "n"])
    product(c, ["b", 1, "m", "k"], [3, "k", "n"])
    product(c, ["m", "k"], ["b", "k", "n"])
    product(c, ["b", 1, "m", 16], [3, 16, 5])
    c.each(b=[1, 3], m=[1, 2, 7, 17], n=[1, 8, 33], k=[1, 5, 64])
    c.at(b=[2, 1], m=ODD, n=ODD[3:] + ODD[:3], k=ODD[6:] + ODD[:6])
    return c.at(b=[0, 1, 2, 1], m=[2, 0, 3, 3], n=[3, 3, 0, 5], k=[3, 3, 4, 0])


@case
def batch_open():
    c = Case()
    product(c, ["b", 5, 32], [32, 48], constant=True)
    product(c, ["b", 4, 13, 32], [1, 4, 32, 20], constant=True)
    product(c, ["b", 3, 8, 16], ["b", 3, 16, 16])
    product(c, ["b", 7], [7, 1000], constant=True)
    product(c, ["b", 31], [31, 3])
    return c.at(b=[1, 2, 3, 5, 8, 13, 33, 100, 0])


@case
def element_types():
    c = Case()
    for dtype in (np.float64, np.int32, np.int64):
        product(c, ["m", "k"], ["k", "n"], dtype=dtype)
        product(c, ["m", 33], [33, 21], dtype=dtype, constant=True)
    return c.each(m=[1, 6, 17], n=[1, 9, 40], k=[1, 4, 31])


@case
def behind_products():
    c = Case()
    for k, n in [(48, 64), (20, 37)]:
        bias, scale = c.weights(n), c.weights(n)
        product(c, ["b", "m", k], [k, n], constant=True, behind=lambda z: c.op("Relu", c.op("Add", z, bias)))
        product(c, ["b", "m", k], [k, n], constant=True, behind=lambda z: c.op("Add", c.op("Add", z, bias), c.input("b", "m", n)))
        product(c, ["b", "m", k], [k, n], constant=True, behind=lambda z: c.op("Mul", c.op("Sigmoid", z), c.op("Tanh", c.op("Mul", z, scale))))
        product(c, ["b", "m", k], [k, n], constant=True, behind=lambda z: c.op("Add", z, c.input("m", n)))
        product(c, ["b", "m", k], [k, n], constant=True, behind=lambda z: c.op("Add", z, c.input("b", 1, n)))
        product(c, ["m", k], [k, n], constant=True, behind=lambda z: c.op("Mul", z, c.op("Erf", z)))
    product(c, ["b", 2, "m", 16], ["b", 2, "n", 16], b_turned=True, behind=lambda z: c.op("Add", c.op("Mul", z, c.constant(np.float32(0.25))), c.input("b", 1, 1, "n")))
    product(c, ["b", "m", "n"], ["b", "n", 24], behind=lambda z: c.op("Add", z, c.input("b", "m", 24)))
    return c.each(b=[1, 3], m=[1, 2, 7, 16, 33], n=[1, 17, 40])


@case
def gemm():
    c = Case()
    for ta, tb in itertools.product([0, 1], [0, 1]):
        x, y, z = c.input(*(["k", "m"] if ta else ["m", "k"])), c.input(*(["n", "k"] if tb else ["k", "n"])), c.input("n")
        c.output(c.op("Gemm", x, y, z, transA=ta, transB=tb, alpha=0.5, beta=2.0))
        x = c.input(*([20, "m"] if ta else ["m", 20]))
        c.output(c.op("Gemm", x, c.weights(*([33, 20] if tb else [20, 33])), c.weights(33), transA=ta, transB=tb))
    return c.each(m=[1, 2, 9, 40], n=[1, 9, 33], k=[1, 5, 40])


# Along axes.


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


# Elementwise and movements.


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


# Through indices.


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
def indexed():
    c = Case(17)
    below = lambda limit: lambda rng, shape, sizes: rng.integers(-limit(sizes), limit(sizes), shape)
    index = lambda *shape, limit: c.input(*shape, dtype=np.int64, fill=below(limit))
    c.output(c.op("Gather", c.weights(50, 24), index("b", "n", limit=lambda s: 50)))
    c.output(c.op("Gather", c.input("b", "n", "w"), index(3, limit=lambda s: s["n"]), axis=1))
    c.output(c.op("Gather", c.input("b", "n", "w"), index("b", limit=lambda s: s["w"]), axis=2))
    c.output(c.op("Gather", c.input("b", "n", "w"), c.constant(np.int64(-1)), axis=1))
    c.output(c.op("GatherElements", c.input("b", "n", "w"), index("b", "n", 4, limit=lambda s: s["w"]), axis=2))
    c.output(c.op("GatherND", c.input("b", "n", "w"), index("n", 2, limit=lambda s: min(s["b"], s["n"]))))
    c.output(c.op("ScatterElements", c.input("n", "w"), c.op("Unsqueeze", c.op("ArgMax", c.input("n", "w"), axis=1, keepdims=0), c.constant(np.int64([1]))), c.input("n", 1), axis=1))
    unique = lambda rng, shape, sizes: rng.permutation(sizes["n"])
    c.output(c.op("ScatterND", c.input("n", "w"), c.input("n", 1, dtype=np.int64, fill=unique), c.input("n", "w")))
    values, places = c.op("TopK", c.input("b", "n", "w"), c.constant(np.int64([1])), axis=1, outputs=2)
    c.output(values), c.output(places, np.int64)
    return c.each(b=[1, 3], n=[1, 2, 9], w=[1, 7, 16, 31])


# Sizes that only data tells.


def some_zeros(rng, shape, sizes):
    return rng.integers(-1, 2, shape)


@case
def finders():
    c = Case(18)
    x, mask = c.input("b", "n", fill=some_zeros), c.input("n", dtype=bool, fill=lambda rng, shape, sizes: rng.random(shape) < 0.4)
    i64 = lambda *values: c.constant(np.int64(values))
    c.output(c.op("NonZero", x), np.int64)
    places = c.op("NonZero", c.op("Greater", x, c.constant(np.float32(0))))
    taken = c.op("GatherND", x, c.op("Transpose", places, perm=[1, 0]))
    at_most = c.op("ReduceMin", c.op("Concat", i64(3), c.op("Shape", taken), axis=0), keepdims=1)
    values, where = c.op("TopK", taken, at_most, outputs=2)
    c.output(c.op("Concat", values, c.op("ConstantOfShape", c.op("Shape", values)), taken, axis=0)), c.output(where, np.int64)
    c.output(c.op("Slice", taken, i64(1), i64(4)))
    c.output(c.op("Mul", c.op("Compress", x, mask, axis=1), c.constant(np.float32(2)))), c.output(c.op("Compress", x, mask))
    c.output(c.op("Range", c.constant(np.int64(0)), c.op("Squeeze", at_most), c.constant(np.int64(1))), np.int64)
    return c.each(b=[1, 3], n=[1, 2, 7, 13, 100])


@case
def unique():
    c = Case(18)
    x, places = c.input("a", "b", "c", fill=some_zeros), c.input("n", dtype=np.int64, fill=lambda rng, shape, sizes: rng.integers(-9, 9, shape))
    for axis in (None, 0, 1, 2):
        for in_order in (0, 1):
            y, *others = c.op("Unique", x, outputs=4, sorted=in_order, **({} if axis is None else {"axis": axis}))
            c.output(y), [c.output(other, np.int64) for other in others]
    c.output(c.op("Unique", places), np.int64)
    return c.each(a=[1, 2, 3], b=[1, 5], c=[1, 2], n=[1, 13, 64])


def box_corners(rng, shape, sizes):
    corners = rng.random((*shape[:-1], 2, 2))
    return corners.reshape(shape)


@case
def suppression():
    c = Case(18)
    boxes, scores = c.input("b", "n", 4, fill=box_corners), c.input("b", "k", "n", fill=lambda rng, shape, sizes: rng.random(shape))
    number = lambda *values: c.constant(np.float32(values))
    limit = c.input(1, dtype=np.int64, fill=lambda rng, shape, sizes: rng.integers(-1, 6, shape))
    c.output(c.op("NonMaxSuppression", boxes, scores, c.constant(np.int64([5])), number(0.3), number(0.2)), np.int64)
    c.output(c.op("NonMaxSuppression", boxes, scores, c.constant(np.int64([1 << 62])), number(0.5), center_point_box=1), np.int64)
    c.output(c.op("NonMaxSuppression", boxes, scores, limit, number(0.5)), np.int64)
    c.output(c.op("NonMaxSuppression", boxes, scores), np.int64)
    return c.each(b=[1, 2], k=[1, 3], n=[1, 2, 7, 31])


@case
def detector():
    """What detectors end with: boxes of interest, if there are any those that do not overlap, and of these the first."""
    c = Case(18)
    boxes, scores, limit = c.input("n", 4, fill=box_corners), c.input("n", fill=lambda rng, shape, sizes: rng.random(shape)), c.input(fill=lambda rng, shape, sizes: np.float32(rng.random() * 1.5))
    i64 = lambda *values: c.constant(np.int64(values))
    kept = c.op("Reshape", c.op("NonZero", c.op("Greater", scores, limit)), i64(-1))
    some, theirs = c.op("Gather", boxes, kept, axis=0), c.op("Gather", scores, kept, axis=0)
    none = c.op("Equal", c.op("ReduceProd", c.op("Shape", some), keepdims=0), c.constant(np.int64(0)))
    empty = subgraph(c, [], lambda: [(c.op("Identity", c.constant(np.zeros(0, np.int64))), np.int64)])

    def suppressed():
        found = c.op("NonMaxSuppression", c.op("Unsqueeze", some, i64(0)), c.op("Unsqueeze", theirs, i64(0, 1)), i64(1 << 62), c.constant(np.float32([0.4])))
        return [(c.op("Squeeze", c.op("Gather", found, i64(2), axis=1), i64(1)), np.int64)]

    first = c.op("Slice", c.op("If", none, then_branch=empty, else_branch=subgraph(c, [], suppressed)), i64(0), i64(5), i64(0))
    c.output(c.op("Gather", some, first, axis=0)), c.output(c.op("Gather", theirs, first, axis=0))
    return c.at(n=[1, 1, 2, 3, 7, 13, 31, 64, 100])


@case
def loop_until():
    """A condition ends the loop: how many rows there are the run finds."""
    c = Case(18)
    x, limit, trips = c.input("n"), c.input(fill=lambda rng, shape, sizes: np.float32(rng.integers(0, 9))), c.constant(np.int64(6))
    start, one = c.constant(np.float32(0)), c.constant(np.float32(1))

    def step(i, go, a):
        following = c.op("Add", a, one)
        return [(c.op("Less", following, limit), bool), (following, np.float32), (c.op("Mul", following, x), np.float32)]

    body = subgraph(c, [(c.fresh("a"), np.int64, []), (c.fresh("a"), bool, []), (c.fresh("a"), np.float32, [])], step)
    last, rows = c.op("Loop", trips, "", start, outputs=2, body=body)
    c.output(last), c.output(c.op("Transpose", rows, perm=[1, 0]))
    return c.at(n=[1, 2, 3, 5, 8, 13, 17, 31])


# Sizes in data: what has no bound is memory that the run asks for.


def whole(least, most):
    """Fills with whole numbers from least to most."""
    return lambda rng, shape, sizes: rng.integers(least, most + 1, shape)


@case
def ranges():
    c = Case(18)
    x = c.input("n", dtype=np.int64, fill=whole(0, 40))
    start, delta = c.input(dtype=np.int64, fill=whole(-9, 9)), c.input(dtype=np.int64, fill=lambda rng, shape, sizes: rng.choice([-7, -2, -1, 1, 3]))
    a, b, step = [c.input(fill=lambda rng, shape, sizes: np.float32(rng.normal() * 9 + 0.1)) for _ in range(3)]
    most, i64 = c.op("ReduceMax", x, keepdims=0), lambda *values: c.constant(np.int64(values))
    places = c.op("Range", c.constant(np.int64(0)), most, c.constant(np.int64(1)))
    c.output(places, np.int64), c.output(c.op("Range", start, most, delta), np.int64), c.output(c.op("Range", a, b, step))
    narrow = [c.op("Cast", v, to=6) for v in (start, most, delta)]
    c.output(c.op("Range", *narrow), np.int32)
    grid = c.op("Mul", c.op("Unsqueeze", c.op("Cast", places, to=1), i64(1)), c.op("Unsqueeze", c.op("Cast", x, to=1), i64(0)))
    c.output(c.op("Softmax", grid, axis=-1)), c.output(c.op("ReduceSum", grid, i64(0), keepdims=0))
    c.output(c.op("NonZero", grid), np.int64)
    return c.at(n=[1, 2, 3, 7, 13, 31])


@case
def shapes_in_data():
    c = Case(18)
    shape, row = c.input(2, dtype=np.int64, fill=whole(0, 9)), c.input("n")
    i64 = lambda *values: c.constant(np.int64(values))
    c.output(c.op("ConstantOfShape", shape))
    first = c.op("Slice", shape, i64(0), i64(1))
    table = c.op("Expand", row, c.op("Concat", first, i64(1), axis=0))
    c.output(table), c.output(c.op("Tile", table, shape))
    c.output(c.op("MatMul", table, c.op("Transpose", table, perm=[1, 0])))
    both = c.op("Concat", table, c.op("Neg", table), table, axis=0)
    c.output(both), c.output(c.op("Reshape", both, i64(-1))), c.output(c.op("Slice", both, i64(1), i64(5), i64(0)))
    c.output(c.op("Gather", table, c.op("Range", c.constant(np.int64(0)), c.op("Squeeze", first), c.constant(np.int64(1))), axis=0))
    wide = c.op("Add", c.op("Unsqueeze", both, i64(0)), c.op("ConstantOfShape", c.op("Concat", i64(3), i64(1), i64(1), axis=0)))
    c.output(c.op("ReduceSum", wide, i64(2), keepdims=0))
    return c.at(n=[1, 2, 3, 7, 13, 31, 64])


@case
def reshapes_by_data():
    c = Case(18)
    rows = c.input(1, dtype=np.int64, fill=lambda rng, shape, sizes: [rng.choice([d for d in range(1, 25) if 24 % d == 0])])
    any_shape = c.input(3, dtype=np.int64, fill=lambda rng, shape, sizes: [[2, -1, 3], [-1, 1, 6], [0, 2, 3], [4, 0, 1], [24, 1, -1]][rng.integers(5)])
    x, i64 = c.input("n", 24), lambda *values: c.constant(np.int64(values))
    c.output(c.op("Reshape", x, c.op("Concat", i64(-1), rows, axis=0)))
    one = c.op("ReduceSum", x, i64(0), keepdims=1)
    c.output(c.op("Exp", c.op("Reshape", one, c.op("Concat", rows, i64(-1), axis=0))))
    six = c.input(4, 6)
    c.output(c.op("Mul", c.op("Reshape", six, any_shape), c.constant(np.float32(2))))
    return c.at(n=[1, 2, 3, 7, 13, 31, 64])


@case
def cut_by_data():
    """Bounded by what is cut: nothing is allocated."""
    c = Case(18)
    ends = [c.input(2, dtype=np.int64, fill=lambda rng, shape, sizes: rng.choice([-(1 << 63), -5, -1, 0, 1, 2, 4, 9, (1 << 63) - 1], shape)) for _ in range(2)]
    x, k = c.input("a", "b", 3), c.input(1, dtype=np.int64, fill=lambda rng, shape, sizes: rng.integers(0, sizes["b"] + 1, shape))
    i64 = lambda *values: c.constant(np.int64(values))
    c.output(c.op("Slice", x, *ends)), c.output(c.op("Relu", c.op("Slice", x, *ends, i64(1, 2), i64(2, 1))))
    from_k = c.op("Slice", x, k, i64((1 << 63) - 1), i64(1))
    c.output(from_k), c.output(c.op("ReduceSum", from_k, i64(1, 2), keepdims=0))
    values, places = c.op("TopK", x, k, axis=1, outputs=2)
    c.output(values), c.output(places, np.int64)
    rest = c.op("Sub", c.op("Slice", c.op("Shape", x), i64(1), i64(2)), k)
    for part in c.op("Split", x, c.op("Concat", k, rest, axis=0), axis=1, outputs=2):
        c.output(part)
    return c.each(a=[1, 2, 7], b=[1, 3, 8, 13])


@case
def counted_by_data():
    """Loops whose trip count or end only data tells."""
    c = Case(18)
    x, trips, limit = c.input("n"), c.input(dtype=np.int64, fill=whole(1, 20)), c.input(fill=whole(0, 20))
    start, one = c.constant(np.float32(0)), c.constant(np.float32(1))
    last, rows = loop(c, trips, [start], lambda i, a: [(c.op("Add", a, one), np.float32), (c.op("Mul", c.op("Add", a, one), x), np.float32)], 2)
    c.output(last), c.output(c.op("Transpose", rows, perm=[1, 0])), c.output(rows)

    def step(i, go, a):
        following = c.op("Add", a, one)
        return [(c.op("Less", following, limit), bool), (following, np.float32), (c.op("Mul", following, x), np.float32), (c.op("Cast", i, to=1), np.float32)]

    for bound in ("", c.constant(np.int64((1 << 63) - 1)), trips):
        body = subgraph(c, [(c.fresh("a"), np.int64, []), (c.fresh("a"), bool, []), (c.fresh("a"), np.float32, [])], step)
        last, rows, numbers = c.op("Loop", bound, "", start, outputs=3, body=body)
        c.output(last), c.output(c.op("Exp", c.op("Neg", rows))), c.output(numbers), c.output(rows)
    return c.at(n=[1, 2, 3, 5, 8, 13, 17, 31])


@case
def branches_of_data():
    """One branch gives a size that nothing bounds; a loop in which such tensors come and go."""
    c = Case(18)
    x, k, yes = c.input("n"), c.input(dtype=np.int64, fill=whole(0, 12)), c.input(dtype=bool, fill=whole(0, 1))
    zero, one, i64 = c.constant(np.int64(0)), c.constant(np.int64(1)), lambda *values: c.constant(np.int64(values))
    numbers = lambda most: c.op("Cast", c.op("Range", zero, most, one), to=1)
    many = subgraph(c, [], lambda: [(c.op("Sqrt", numbers(k)), np.float32)])
    few = subgraph(c, [], lambda: [(c.op("Identity", x), np.float32)])
    chosen = c.op("If", yes, then_branch=many, else_branch=few)
    c.output(chosen), c.output(c.op("Exp", chosen))
    both = c.op("Add", c.op("Unsqueeze", numbers(k), i64(1)), x)

    def step(i, a):
        inner = c.op("ReduceSum", numbers(i), keepdims=0)
        return [(c.op("Add", c.op("Mul", a, c.constant(np.float32(0.5))), inner), np.float32), (c.op("ReduceSum", a, keepdims=0), np.float32)]

    last, sums = loop(c, c.constant(np.int64(5)), [both], step, 2)
    c.output(last), c.output(sums)
    return c.at(n=[1, 2, 3, 7, 13, 31])


@case
def depths_in_data():
    c = Case(18)
    depth, picks = c.input(dtype=np.int64, fill=whole(1, 9)), c.input("n", dtype=np.int64, fill=whole(-3, 9))
    c.output(c.op("OneHot", picks, depth, c.constant(np.float32([0, 1]))))
    image, size = c.input(1, 2, "h", 5), c.input(2, dtype=np.int64, fill=whole(1, 12))
    c.output(c.op("Resize", image, "", "", c.op("Concat", c.constant(np.int64([1, 2])), size, axis=0), mode="linear"))
    return c.each(n=[1, 3, 7], h=[1, 2, 6])


# Windows.


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


# Recurrent.


@case
def recurrent():
    c = Case(14)
    for kind, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for direction, ways in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            for hidden in (5, 16):
                w, r, b = c.weights(ways, gates * hidden, 7), c.weights(ways, gates * hidden, hidden), c.weights(ways, 2 * gates * hidden)
                y = c.op(kind, c.input("t", "b", 7), w, r, b, hidden_size=hidden, direction=direction, outputs=2)
                c.output(y[0]), c.output(y[1])
    states = [c.input(1, "b", 6), c.input(1, "b", 6)]
    y = c.op("LSTM", c.input("t", "b", 4), c.weights(1, 24, 4), c.weights(1, 24, 6), "", "", *states, hidden_size=6, outputs=3)
    for v in y:
        c.output(v)
    return c.each(t=[1, 2, 9], b=[1, 2, 5, 7, 16])


# Transformers, as exporters write them.


@case
def encoder_layer():
    c = Case(17)
    i64 = lambda *v: c.constant(np.int64(v))
    x, mask = c.input("batch", "seq", 48), c.input("batch", "seq", dtype=np.int64, fill=lambda rng, shape, sizes: np.arange(shape[1])[None] < rng.integers(1, shape[1] + 1, (shape[0], 1)))
    heads = lambda v, perm: c.op("Transpose", c.op("Reshape", v, i64(0, 0, 3, 16)), perm=perm)
    dense = lambda v, k, n: c.op("Add", c.op("MatMul", v, c.constant((c.rng.standard_normal((k, n)) / 7).astype(np.float32))), c.weights(n))
    q, k, v = heads(dense(x, 48, 48), [0, 2, 1, 3]), heads(dense(x, 48, 48), [0, 2, 3, 1]), heads(dense(x, 48, 48), [0, 2, 1, 3])
    scores = c.op("Div", c.op("MatMul", q, k), c.constant(np.float32(4)))
    open_mask = c.op("Cast", c.op("Unsqueeze", mask, i64(1, 2)), to=1)
    bias = c.op("Mul", c.op("Sub", c.constant(np.float32(1)), open_mask), c.constant(np.float32(-10000)))
    weights = c.op("Softmax", c.op("Add", scores, bias), axis=-1)
    joined = c.op("Reshape", c.op("Transpose", c.op("MatMul", weights, v), perm=[0, 2, 1, 3]), i64(0, 0, 48))
    y = c.op("LayerNormalization", c.op("Add", x, dense(joined, 48, 48)), c.weights(48), c.weights(48))
    inner = dense(y, 48, 192)
    gelu = c.op("Mul", c.op("Mul", inner, c.op("Add", c.op("Erf", c.op("Div", inner, c.constant(np.float32(2**0.5)))), c.constant(np.float32(1)))), c.constant(np.float32(0.5)))
    c.output(c.op("LayerNormalization", c.op("Add", y, dense(gelu, 192, 48)), c.weights(48), c.weights(48)))
    return c.each(batch=[1, 2, 3], seq=[1, 2, 7, 16, 17, 40, 128])


@case
def decoding():
    c = Case(17)
    past = [c.input("batch", 2, "past", 8) for _ in range(2)]
    q, *fresh = [c.input("batch", 2, "seq", 8) for _ in range(3)]
    k, v = [c.output(c.op("Concat", p, f, axis=2)) for p, f in zip(past, fresh)]
    scores = c.op("MatMul", q, c.op("Transpose", k, perm=[0, 1, 3, 2]))
    c.output(c.op("MatMul", c.op("Softmax", scores, axis=-1), v))
    return c.each(batch=[1, 2], past=[0, 1, 7, 33], seq=[1, 3, 16])


LAYERS, HEADS, CACHES, WIDTH = 2, 4, 2, 8  # of `decoder`


@case
def decoder():
    """A language model with caches: ids, then the keys and values of each layer; logits, then these longer by what is new. Two heads share a cache."""
    c = Case(17)
    i64 = lambda *v: c.constant(np.int64(v))
    scalar = lambda v: c.constant(np.int64(v))
    dense = lambda v, k, n: c.op("MatMul", v, c.constant((c.rng.standard_normal((k, n)) / k**0.5).astype(np.float32)))
    heads = lambda v, count: c.op("Transpose", c.op("Reshape", v, i64(0, 0, count, WIDTH)), perm=[0, 2, 1, 3])
    size = lambda v, axis: c.op("Gather", c.op("Shape", v), scalar(axis), axis=0)
    ids = c.input("batch", "seq", dtype=np.int64, fill=lambda rng, shape, _: rng.integers(0, 40, shape))
    past = [[c.input("batch", CACHES, "past", WIDTH) for _ in range(2)] for _ in range(LAYERS)]
    before, here = size(past[0][0], 2), size(ids, 1)
    whole = c.op("Add", before, here)
    rows = c.op("Range", before, whole, scalar(1))
    seen = c.op("GreaterOrEqual", c.op("Unsqueeze", rows, i64(1)), c.op("Unsqueeze", c.op("Range", scalar(0), whole, scalar(1)), i64(0)))
    mask = c.op("Where", seen, c.constant(np.float32(0)), c.constant(np.finfo(np.float32).min))
    x = c.op("Add", c.op("Gather", c.weights(40, 32), ids), c.op("Gather", c.weights(500, 32), rows))
    present = []
    for layer in range(LAYERS):
        y = c.op("LayerNormalization", x, c.weights(32), c.weights(32))
        q = c.op("Mul", heads(dense(y, 32, 32), HEADS), c.constant(np.float32(WIDTH**-0.5)))
        kv = [c.op("Concat", old, heads(dense(y, 32, CACHES * WIDTH), CACHES), axis=2) for old in past[layer]]
        present += kv
        shape = c.op("Concat", *[c.op("Unsqueeze", v, i64(0)) for v in (size(q, 0), scalar(CACHES), scalar(HEADS // CACHES), whole, scalar(WIDTH))], axis=0)
        k, v = [c.op("Reshape", c.op("Expand", c.op("Unsqueeze", v, i64(2)), shape), i64(0, HEADS, -1, WIDTH)) for v in kv]
        scores = c.op("Add", c.op("MatMul", q, c.op("Transpose", k, perm=[0, 1, 3, 2])), mask)
        seen_values = c.op("MatMul", c.op("Softmax", scores, axis=-1), v)
        x = c.op("Add", x, dense(c.op("Reshape", c.op("Transpose", seen_values, perm=[0, 2, 1, 3]), i64(0, 0, HEADS * WIDTH)), 32, 32))
    c.output(dense(x, 32, 40))
    for v in present:
        c.output(v)
    return c.each(batch=[1, 2, 3, 8], seq=[1, 2, 17, 128, 384], past=[0, 1, 13])


# Control flow.


def subgraph(c, inputs, make):
    """A graph whose nodes `make` adds to the case; inputs: (name, type, shape)."""
    outer, c.nodes = c.nodes, []
    results = make(*[name for name, _, _ in inputs])
    inner, c.nodes = c.nodes, outer
    typed = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape) for name, dtype, shape in inputs]
    outputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), None) for name, dtype in results]
    return helper.make_graph(inner, c.fresh("g"), typed, outputs)


def loop(c, trips, initial, make, outputs):
    """`make(number, carried...)` gives (name, dtype) of what is carried and stacked."""
    i, go, *carried = [c.fresh("a") for _ in range(2 + len(initial))]
    body = subgraph(c, [(i, np.int64, []), (go, bool, []), *[(name, np.float32, None) for name in carried]],
                    lambda i, go, *rest: [(c.op("Identity", go), bool), *make(i, *rest)])
    return c.op("Loop", trips, "", *initial, outputs=outputs, body=body)


@case
def caches_as_loop():
    """Two caches and a list grow by a row in each iteration; a third value loses one. What they have become the rest of the model adds to what it knows."""
    c = Case()
    x, past, list_, rest = c.input("seq", "batch", 8), c.input("batch", "past", 8), c.input("past", fill=lambda rng, shape, sizes: rng.random(shape)), c.input("more", 4)
    i64 = lambda *values: c.constant(np.int64(values))
    trips = c.op("Squeeze", c.op("Slice", c.op("Shape", x), i64(0), i64(1)), i64(0))

    def step(i, keys, values, numbers, left):
        row = c.op("Unsqueeze", c.op("Gather", x, i, axis=0), i64(1))
        keys, values = c.op("Concat", keys, row, axis=1), c.op("Concat", c.op("Neg", row), values, axis=1)
        p = c.op("Softmax", c.op("MatMul", row, c.op("Transpose", keys, perm=[0, 2, 1])), axis=-1)
        out = c.op("MatMul", p, values)
        numbers = c.op("Concat", numbers, c.op("Reshape", c.op("ReduceMean", out, keepdims=0), i64(1)), axis=0)
        left = c.op("Slice", left, i64(1), i64(1 << 62), i64(0))
        return [*((v, np.float32) for v in (keys, values, numbers, left)), (out, np.float32), (c.op("ReduceSum", left, keepdims=0), np.float32)]

    keys, values, numbers, left, outs, sums = loop(c, trips, [past, past, list_, rest], step, 6)
    whole = c.op("Concat", past, c.op("Transpose", x, perm=[1, 0, 2]), axis=1)
    c.output(c.op("Add", keys, whole)), c.output(values), c.output(c.op("Relu", numbers)), c.output(left), c.output(outs), c.output(sums)
    return c.each(seq=[1, 2, 17], batch=[1, 3], past=[1, 5], more=[1, 4, 20])


@case
def picked_as_loop():
    """As many rows as are positive in each iteration, until a condition ends it; the branch drops the first ones."""
    c = Case()
    x, most = c.input("seq", 6), c.input(fill=lambda rng, shape, sizes: rng.integers(0, 40, shape))
    i64, zero = lambda *values: c.constant(np.int64(values)), c.constant(np.float32(0))
    trips = c.op("Squeeze", c.op("Slice", c.op("Shape", x), i64(0), i64(1)), i64(0))
    start, limit = c.constant(np.zeros((0, 1), np.float32)), i64(9)

    def step(i, go, rows):
        row = c.op("Gather", x, i, axis=0)
        picked = c.op("Compress", c.op("Unsqueeze", row, i64(1)), c.op("Greater", row, zero), axis=0)
        all = c.op("Concat", rows, picked, axis=0)
        size = c.op("Slice", c.op("Shape", all), i64(0), i64(1))
        keep = subgraph(c, [], lambda: [(c.op("Identity", all), np.float32)])
        drop = subgraph(c, [], lambda: [(c.op("Slice", all, i64(4), i64(1 << 62), i64(0)), np.float32)])
        rows = c.op("If", c.op("Squeeze", c.op("Less", size, limit)), then_branch=keep, else_branch=drop)
        count = c.op("Cast", c.op("Squeeze", size), to=1)
        return [(c.op("Less", count, most), bool), (rows, np.float32), (c.op("ReduceSum", rows, keepdims=0), np.float32)]

    body = subgraph(c, [(c.fresh("a"), np.int64, []), (c.fresh("a"), bool, []), (c.fresh("a"), np.float32, None)], step)
    rows, sums = c.op("Loop", trips, "", start, outputs=2, body=body)
    c.output(rows), c.output(sums)
    return c.at(seq=[1, 2, 3, 5, 8, 13, 17, 31])


@case
def recurrence_as_loop():
    c = Case()
    x, h = c.input("seq", "batch", 10), c.input("batch", 20)
    w, r, zero = c.weights(10, 20), c.weights(20, 20), c.constant(np.int64(0))
    trips = c.op("Gather", c.op("Shape", x), zero)

    def step(i, h):
        row = c.op("Gather", x, i, axis=0)
        new = c.op("Tanh", c.op("Add", c.op("MatMul", row, w), c.op("MatMul", h, r)))
        return [(new, np.float32), (c.op("Add", new, h), np.float32)]

    last, all_steps = loop(c, trips, [h], step, 2)
    c.output(last), c.output(c.op("Softmax", all_steps, axis=-1))
    return c.each(seq=[1, 2, 17], batch=[1, 3])  # the reference stacks nothing badly


@case
def branch_on_size():
    c = Case()
    x, k = c.input("n", 8), c.input(dtype=np.int64)
    count = c.op("Gather", c.op("Shape", x), c.constant(np.int64(0)))
    large = c.op("Greater", count, c.op("Mul", k, c.constant(np.int64(2))))
    once = c.op("Exp", x)
    yes = subgraph(c, [], lambda: [(c.op("Softmax", once, axis=0), np.float32)])
    no = subgraph(c, [], lambda: [(c.op("Neg", c.op("Add", once, x)), np.float32)])
    c.output(c.op("If", large, then_branch=yes, else_branch=no))
    return c.at(n=[*range(1, 20)])


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
def attention():
    c = Case(24)
    q, k, v = c.input("batch", 6, "l", 8), c.input("batch", 2, "s", 8), c.input("batch", 2, "s", 5)
    mask = c.input("l", "s", dtype=bool, fill=lambda rng, shape, _: rng.random(shape) < 0.8)
    past_k, past_v = c.input("batch", 2, "past", 8), c.input("batch", 2, "past", 5)
    c.output(c.op("Attention", q, k, v, mask, outputs=1))
    c.output(c.op("Attention", q, k, v, outputs=1, is_causal=1, scale=0.5))
    for output in c.op("Attention", q, k, v, "", past_k, past_v, outputs=3, is_causal=1):
        c.output(output)
    return c.each(batch=[1, 3], l=[2, 7, 17], s=[17, 33], past=[0, 5])  # ONNX Runtime 1.30 lets one query see all keys


@case
def attention_flat():
    c = Case(24)
    q, k, v = c.input("batch", "l", 24), c.input("batch", "s", 24), c.input("batch", "s", 12)
    bias = c.input("batch", 1, "l", "s")
    c.output(c.op("Attention", q, k, v, bias, q_num_heads=3, kv_num_heads=3, softcap=2.0))
    return c.each(batch=[1, 2], l=[1, 7, 64], s=[1, 13, 100])


def written_out(c, q, k, v, heads, width, value_width, between):
    """Heads of [batch, steps, heads * width], attended to and joined again."""
    split = lambda x, w, order: c.op("Transpose", c.op("Reshape", x, c.constant(np.int64([0, 0, heads, w]))), perm=order)
    scores = between(c.op("MatMul", split(q, width, [0, 2, 1, 3]), split(k, width, [0, 2, 3, 1])))
    y = c.op("MatMul", c.op("Softmax", scores, axis=-1), split(v, value_width, [0, 2, 1, 3]))
    return c.output(c.op("Reshape", c.op("Transpose", y, perm=[0, 2, 1, 3]), c.constant(np.int64([0, 0, heads * value_width]))))


@case
def attention_widths():
    c = Case()
    for heads, width, value_width in [(3, 1, 1), (2, 33, 5), (1, 64, 64), (2, 80, 20), (1, 128, 128)]:
        q, k, v = c.input("batch", "l", heads * width), c.input("batch", "s", heads * width), c.input("batch", "s", heads * value_width)
        written_out(c, q, k, v, heads, width, value_width, lambda x, width=width: c.op("Mul", x, c.constant(np.float32(width**-0.5))))
    return c.each(batch=[1, 2], l=[1, 4, 17, 130], s=[1, 13, 128, 129])


def late(lowest, at_least):
    """A mask whose early keys, in whole blocks, are out; in some rows all of them."""

    def fill(rng, shape, _):
        mask = np.where(rng.random(shape) < 0.3, lowest, 0).astype(np.float32)
        mask[..., : shape[-1] * 2 // 3] = lowest
        mask[..., :: max(at_least, 1), :] = lowest
        return mask

    return fill


@case
def attention_masks():
    """The maximum grows from block to block, or is minus infinity for some."""
    c = Case()
    wide = lambda rng, shape, _: np.sort(rng.standard_normal(shape), axis=1) * 8
    for lowest in [-np.inf, float(np.finfo(np.float32).min), -1e4]:
        q, k, v = c.input("batch", "l", 16, fill=lambda rng, shape, _: abs(rng.standard_normal(shape))), c.input("batch", "s", 16, fill=wide), c.input("batch", "s", 16)
        mask = c.input("batch", 1, "l", "s", fill=late(lowest, 5))
        written_out(c, q, k, v, 2, 8, 8, lambda x, mask=mask: c.op("Add", x, mask))
        keep = c.op("Equal", c.op("Slice", mask, *[c.constant(np.int64([n])) for n in (0, 1, 2)]), c.constant(np.float32(0)))
        written_out(c, q, k, v, 2, 8, 8, lambda x, keep=keep, lowest=lowest: c.op("Where", keep, x, c.constant(np.float32(lowest))))
    written_out(c, q, k, v, 2, 8, 8, lambda x: x)
    return c.each(batch=[1, 2], l=[1, 2, 7, 21], s=[1, 31, 300, 517])


@case
def rotary():
    c = Case(23)
    x, positions = c.input("batch", "l", 48), c.input("batch", "l", dtype=np.int64, fill=lambda rng, shape, _: rng.integers(0, 50, shape))
    for width, interleaved in [(0, 0), (8, 0), (8, 1)]:
        columns = (width or 16) // 2
        cosine, sine = c.weights(50, columns), c.weights(50, columns)
        c.output(c.op("RotaryEmbedding", x, cosine, sine, positions, num_heads=3, rotary_embedding_dim=width, interleaved=interleaved))
    return c.each(batch=[1, 3], l=[1, 2, 17])


@case
def written_cache():
    c = Case(24)
    cache, update = c.input("batch", 2, "room", 4), c.input("batch", 2, "l", 4)
    start = c.input("batch", dtype=np.int64, fill=lambda rng, shape, _: rng.integers(0, 4, shape))
    c.output(c.op("TensorScatter", cache, update, start))
    c.output(c.op("TensorScatter", cache, update, start, mode="circular"))
    return c.each(batch=[1, 3], room=[9, 20], l=[1, 2, 5])


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
