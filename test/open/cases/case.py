"""What a model with open sizes is written with: a Case, whose dimensions are open where they are texts."""
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
        imports = [helper.make_opsetid("", self.opset), *(helper.make_opsetid(domain, 1) for domain in sorted({node.domain for node in self.nodes} - {""}))]
        return helper.make_model(graph, opset_imports=imports, ir_version=10)


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


def whole(least, most):
    """Fills with whole numbers from least to most."""
    return lambda rng, shape, sizes: rng.integers(least, most + 1, shape)
