"""Models of n repeated pieces, by which bench/scaling.py measures what compiling costs and run.py counts it."""
import numpy
import onnx
from onnx import TensorProto, helper

RANDOM = numpy.random.default_rng(53)


class Graph:
    """Nodes and weights as they are added; names are numbered."""

    def __init__(self):
        self.nodes, self.weights, self.count = [], [], 0

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def node(self, op, *inputs, **attributes):
        output = self.name()
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"{op}_{output}", **attributes))
        return output

    def weight(self, array):
        self.weights.append(onnx.numpy_helper.from_array(array, self.name()))
        return self.weights[-1].name

    def floats(self, *shape):
        """Small numbers, so that a value stays in range behind any number of layers."""
        return self.weight((RANDOM.standard_normal(shape) * 0.01).astype(numpy.float32))

    def square(self, size, *window):
        """Such numbers beside ones on the diagonal, which hand a value on."""
        weights = (RANDOM.standard_normal((size, size, *window)) * 0.01).astype(numpy.float32)
        weights[(range(size), range(size), *(extent // 2 for extent in window))] += 1
        return self.weight(weights)


def value(name, shape, type_=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, type_, shape)


def model(graph, inputs, outputs, functions=()):
    opsets = [helper.make_opsetid("", 21)] + [helper.make_opsetid("local", 1)] * bool(functions)
    return helper.make_model(helper.make_graph(graph.nodes, "scaling", inputs, outputs, graph.weights), opset_imports=opsets, functions=functions, ir_version=10)


def convolutions(n):
    graph, x = Graph(), "x"
    for _ in range(n):
        x = graph.node("Relu", graph.node("Conv", x, graph.square(16, 3, 3), pads=[1, 1, 1, 1]))
    return model(graph, [value("x", [1, 16, 8, 8])], [value(x, [1, 16, 8, 8])])


def reshapes(n):
    graph, x = Graph(), "x"
    for _ in range(n):
        x = graph.node("Softmax", graph.node("Reshape", x, graph.node("Shape", x)))
    return model(graph, [value("x", ["rows", "columns"])], [value(x, ["rows", "columns"])])


def layers(graph, x, n):
    for _ in range(n):
        x = graph.node("Relu", graph.node("Add", graph.node("MatMul", x, graph.square(16)), graph.floats(16)))
    return x


def products(n):
    graph = Graph()
    y = layers(graph, "x", n)
    return model(graph, [value("x", ["rows", 16])], [value(y, ["rows", 16])])


def slices(n):
    graph = Graph()
    ends = [graph.weight(numpy.array([i], numpy.int64)) for i in range(n + 2)]
    parts = [graph.node("Slice", "x", ends[i], ends[i + 2], ends[0]) for i in range(n)]
    y = graph.node("Concat", *parts, axis=1)
    return model(graph, [value("x", [n + 1, 4])], [value(y, [2, 4 * n])])


def columns(n):
    graph = Graph()
    names = [f"column{i}" for i in range(n)]
    y = graph.node("Concat", *names, axis=1)
    return model(graph, [value(name, ["rows", 1]) for name in names], [value(y, ["rows", n])])


def branches(n):
    """An If with half of the layers in each branch."""
    graph, arms = Graph(), {}
    for arm in ("then_branch", "else_branch"):
        inner = Graph()
        inner.name = graph.name
        y = layers(inner, "x", n // 2)
        arms[arm] = helper.make_graph(inner.nodes, arm, [], [value(y, ["rows", 16])], inner.weights)
    y = graph.node("If", "condition", **arms)
    return model(graph, [value("condition", [], TensorProto.BOOL), value("x", ["rows", 16])], [value(y, ["rows", 16])])


def turns(n):
    """A Loop whose body has the layers."""
    graph, inner = Graph(), Graph()
    inner.name = graph.name
    y = layers(inner, "state", n)
    goes = inner.node("Identity", "goes_on")
    body = helper.make_graph(inner.nodes, "body", [value("turn", [], TensorProto.INT64), value("goes_on", [], TensorProto.BOOL), value("state", ["rows", 16])],
                             [value(goes, [], TensorProto.BOOL), value(y, ["rows", 16])], inner.weights)
    y = graph.node("Loop", "count", "", "x", body=body)
    return model(graph, [value("count", [], TensorProto.INT64), value("x", ["rows", 16])], [value(y, ["rows", 16])])


def calls(n):
    """A function of so many layers, whose weights are constants in it."""
    inner = Graph()
    y = layers(inner, "x", n)
    constants = [helper.make_node("Constant", [], [weight.name], value=weight) for weight in inner.weights]
    function = helper.make_function("local", "Layers", ["x"], [y], constants + inner.nodes, [helper.make_opsetid("", 21)])
    graph = Graph()
    graph.nodes.append(helper.make_node("Layers", ["x"], ["y"], domain="local"))
    return model(graph, [value("x", ["rows", 16])], [value("y", ["rows", 16])], [function])


def standardised(n):
    """Convolutions whose weights are standardised by nodes, as NFNets are exported: 18 nodes for each of n layers."""
    graph, x = Graph(), "x"
    one, two = graph.weight(numpy.array(1e-6, numpy.float32)), graph.weight(numpy.array(2, numpy.float32))
    for _ in range(n):
        weights = graph.floats(64, 64, 3, 3)
        flat = graph.node("Reshape", weights, graph.weight(numpy.array([1, 64, -1], numpy.int64)))
        axes = graph.weight(numpy.array([0, 2], numpy.int64))
        centred = graph.node("Sub", flat, graph.node("ReduceMean", flat, axes))
        variance = graph.node("ReduceMean", graph.node("Pow", centred, two), axes)
        scaled = graph.node("Div", centred, graph.node("Sqrt", graph.node("Add", variance, one)))
        gained = graph.node("Mul", scaled, graph.node("Mul", graph.floats(1, 64, 1), graph.weight(numpy.array(0.04, numpy.float32))))
        shaped = graph.node("Reshape", gained, graph.node("Shape", weights))
        y = graph.node("Conv", x, shaped, graph.floats(64), pads=[1, 1, 1, 1])
        gelu = graph.node("Mul", y, graph.node("Sigmoid", graph.node("Mul", y, graph.weight(numpy.array(1.702, numpy.float32)))))
        x = graph.node("Add", x, graph.node("Mul", gelu, graph.weight(numpy.array(0.2, numpy.float32))))
    return model(graph, [value("x", [1, 64, 14, 14])], [value(x, [1, 64, 14, 14])])


MODELS = {"conv": convolutions, "reshape": reshapes, "matmul": products, "slices": slices, "columns": columns, "if": branches, "loop": turns, "function": calls,
          "standardised": standardised}


def found(n):
    """Layers of as many rows as data tells, a table that is read where data tells, and branches on what stands at the beginning."""
    graph = Graph()
    x = graph.node("Compress", "x", "kept", axis=0)
    is_large = graph.node("Greater", graph.node("ReduceSum", x, keepdims=0), graph.weight(numpy.array(0, numpy.float32)))
    for part in range(4):
        x = layers(graph, x, n // 4)
        x = graph.node("Add", x, graph.node("Gather", graph.floats(5, 16), "at"))
        if part % 2:
            arms = {}
            for arm, op in (("then_branch", "Softmax"), ("else_branch", "LogSoftmax")):
                arms[arm] = helper.make_graph([helper.make_node(op, [x], [f"{arm}{part}"])], arm, [], [value(f"{arm}{part}", ["some", 16])])
            x = graph.node("If", is_large, **arms)
    inputs = [value("x", ["rows", 16]), value("kept", ["rows"], TensorProto.BOOL), value("at", [], TensorProto.INT64)]
    return model(graph, inputs, [value(x, ["some", 16])])
