"""One random model while it is being made.

A case grows node by node. Each node is evaluated as it is added, with ONNX Runtime, so a family never computes a shape: it looks at the values that are
there. The reference evaluator of onnx has the word where ONNX Runtime declines, and where an operand has no elements: ONNX Runtime 1.30 forgets beta in a Gemm
whose sums are of nothing, and keeps axes that ReduceL2 reduces. Every value knows whether it is exact, that is, whether two right
implementations agree on all its bits: operators with jumps (Floor, ArgMax, comparisons) take only exact values."""
import dataclasses
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSETS = [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]
DOMAINS = {"com.microsoft": 1, "ai.onnx.ml": 3, "ai.onnx.preview.training": 1}  # and the version of each that cases import
# Kinds of sizes, which are drawn first: each axis for itself, so that any two kinds meet. Primes, and the lengths of vectors and tiles with their neighbours.
SIZES = [[1], [1], [2, 3], [2, 3], [5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 53], [4, 6, 8, 12, 14, 16, 24, 32, 48, 64], [7, 9, 15, 17, 31, 33, 47, 49, 63, 65]]
LARGE = [96, 100, 127, 128, 129, 197, 255, 256, 257, 300, 384, 500, 513, 1000, 1024]
# Integers that no float64 is, and those at the ends of types: times, ids, hashes, masks, "no limit".
EXTREMES = [2**31 - 1, 2**31, 2**32 - 1, 2**53 + 1, 2**60 + 1, 1700000000123456789, 2**63 - 2, 2**63 - 1, 2**63, 2**64 - 1]
EXTREMES = [0, 1, -1, *EXTREMES, *(-n for n in EXTREMES)]


class Skip(Exception):
    """The operator cannot be put here (opset, rank, values); the driver draws another."""


@dataclasses.dataclass
class Value:
    name: str
    array: np.ndarray
    exact: bool = True

    @property
    def shape(self):
        return list(self.array.shape)

    @property
    def rank(self):
        return self.array.ndim

    @property
    def dtype(self):
        return self.array.dtype


class Case:
    largest, most_elements, most_products = 0, 40_000, 4_000_000  # of a network: what its largest value has at least, a value at most, a node's multiplications

    def __init__(self, seed, index):
        self.rng = random.Random(f"{seed}/{index}")
        self.opset = self.rng.choice(OPSETS)
        self.zero = self.rng.random() < 0.05  # whether sizes may be zero
        self.nodes, self.inputs, self.constants, self.values, self.used = [], [], [], {}, set()
        self.extra, self.batched, self.computed = set(), [], False  # outputs that are read, too; inputs whose first axis is the batch
        self.finds, self.lists, self.of_lengths = False, set(), random.Random(f"{seed}/{index}/lengths")  # whether sizes are in data, and in which

    # Random choices ------------------------------------------------------------------------------------------------------------------
    def chance(self, probability):
        return self.rng.random() < probability

    def choice(self, options):
        return self.rng.choice(list(options))

    def size(self, limit=65):
        return 0 if self.zero and self.chance(0.25) else self.extent(limit)

    def extent(self, limit=65):
        """A size that is not zero. Large ones are rare, and where the limit lets them in."""
        kinds = [kind for sizes in SIZES if (kind := [size for size in sizes if size <= limit])]
        large = [size for size in LARGE if size <= limit]
        return self.choice(large if large and self.chance(0.04) else self.choice(kinds))

    def kernel(self, rank, limit=7):
        """Sizes of a window: often the same along all axes, as networks have them."""
        sizes = [size for size in [1, 1, 2, 3, 3, 3, 4, 5, 7] if size <= limit]
        return [self.choice(sizes)] * rank if self.chance(0.5) else [self.choice(sizes) for _ in range(rank)]

    def shape(self, low=0, high=5, elements=20000):
        rank = self.rng.randint(low, high)
        while True:
            shape = [self.size(1024) for _ in range(rank)]
            if np.prod(shape, dtype=np.int64) <= elements:
                return shape

    def axis(self, rank, negative=True):
        axis = self.rng.randrange(rank)
        return axis - rank if negative and self.chance(0.3) else axis

    def need(self, condition):
        if not condition:
            raise Skip()

    def since(self, opset):
        self.need(self.opset >= opset)

    def newest(self, opset):
        """Of an opset that ONNX Runtime does not have, or not all of: its operators begin a case, and end it."""
        self.need(not self.nodes)
        self.opset, self.finds = opset, True

    # Values --------------------------------------------------------------------------------------------------------------------------
    def numbers(self, shape, dtype=np.float32, low=-2.0, high=2.0):
        """Floats are multiples of 1/64 so that many sums are exact and ties occur."""
        generator = np.random.Generator(np.random.PCG64(self.rng.getrandbits(64)))
        dtype = np.dtype(dtype)
        if dtype == bool:
            return generator.integers(0, 2, shape).astype(bool)
        if dtype.kind in "iu":
            return generator.integers(max(int(low), 0) if dtype.kind == "u" else int(low), int(high) + 1, shape).astype(dtype)
        return (np.round(generator.uniform(low, high, shape) * 64) / 64).astype(dtype)

    def integers(self, shape, dtype):
        """Integers from all over their type, its ends and what float64 leaves out more often than others; in half of the tensors one for all elements."""
        limits = np.iinfo(dtype)
        special = [n for n in EXTREMES if limits.min <= n <= limits.max]
        draw = lambda: self.choice(special) if self.chance(0.6) else self.rng.randint(limits.min, limits.max)
        count = int(np.prod(shape, dtype=np.int64))
        numbers = [draw()] * count if self.chance(0.5) else [draw() for _ in range(count)]
        return np.array(numbers, dtype).reshape(shape)

    def wide(self, shape, dtype, low, high):
        """As numbers(), and now and then integers() where the type is one of 32 bits or more."""
        large = np.dtype(dtype).kind in "iu" and np.dtype(dtype).itemsize >= 4 and np.prod(shape, dtype=np.int64) < 3000 and self.chance(0.3)
        return self.integers(shape, np.dtype(dtype)) if large else self.numbers(shape, dtype, low, high)

    def tensor(self, array, constant=None):
        """A fresh tensor: an input of the graph, an initializer or a Constant node. None: drawn, but the first one is an input."""
        array = np.asarray(array)
        constant = (bool(self.inputs) and self.chance(0.5)) if constant is None else constant
        name = f"{'c' if constant else 'x'}{len(self.values)}"
        self.values[name] = Value(name, array)
        if not constant:
            self.inputs.append(name)
        elif self.chance(0.2):
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array, name)))
        else:
            self.constants.append(name)
        return self.values[name]

    def data(self, shape, dtype=np.float32, low=-2.0, high=2.0, constant=None):
        return self.tensor(self.numbers(shape, dtype, low, high), constant)

    def ints(self, values, dtype=np.int64):
        """A constant operand such as axes or a shape."""
        return self.tensor(np.array(values, dtype), constant=True)

    def lengths(self, values, dtype=np.int64, constant=None):
        """An operand that says how large a result is: a constant, or data; not every operator behind it takes such a size."""
        data = constant is None and self.opset >= 10 and self.of_lengths.random() < 0.3
        self.finds |= data
        made = self.tensor(np.array(values, dtype), constant=not data)
        if data:
            self.lists.add(made.name)
        return made

    def batch_input(self, shape=None, array=None):
        """An input whose first axis is the batch."""
        value = self.tensor(self.numbers(shape) if array is None else array, constant=False)
        self.batched.append(value.name)
        return value

    def keep(self):
        """What is there now, for take_back when what follows does not fit."""
        return list(self.nodes), list(self.inputs), list(self.constants), dict(self.values), set(self.used), self.finds, set(self.extra), list(self.batched)

    def take_back(self, kept):
        self.nodes, self.inputs, self.constants, self.values, self.used, self.finds, self.extra, self.batched = kept

    # Nodes ---------------------------------------------------------------------------------------------------------------------------
    def node(self, op, inputs, outputs=1, exact=False, **attributes):
        """Adds a node and evaluates it. `exact`: the operator keeps exact values exact. `outputs` may hold None for one left out.
        The name of an operator of another domain begins with that: com.microsoft.Gelu."""
        domain, _, op = op.rpartition(".")
        names = [f"v{len(self.values)}_{k}" if wanted else "" for k, wanted in enumerate([True] * outputs if isinstance(outputs, int) else outputs)]
        attributes = {key: value for key, value in attributes.items() if value is not None}
        operands = [value.name if value else "" for value in inputs]
        while operands and not operands[-1]:
            operands.pop()
        self.nodes.append(helper.make_node(op, operands, names, name=f"{op}_{len(self.nodes)}", domain=domain or None, **attributes))
        self.used.update(operands)
        present = [name for name in names if name]
        exact = exact and all(value.exact for value in inputs if value)
        for name, array in zip(present, evaluate(*self.alone())):
            self.values[name] = Value(name, np.asarray(array), exact)
        return [self.values[name] for name in present]

    def alone(self):
        """The newest node as a model of its own, and what to feed it: an evaluator that declines it leaves the others of the case to the other."""
        constants = {name for node in self.nodes if node.op_type == "Constant" for name in node.output} | set(self.constants)
        feeds, known = {}, {}
        for name in set(self.nodes[-1].input) - {""}:
            (known if name in constants else feeds)[name] = self.values[name].array
        return self.finished(graph_of(self.nodes[-1], feeds, known)), feeds

    def feeds(self):
        return {name: self.values[name].array for name in self.inputs}

    def results(self):
        """What the model returns: everything that nothing consumes, and what was asked for."""
        produced = [name for node in self.nodes if node.op_type != "Constant" for name in node.output if name]
        return [name for name in produced if name not in self.used or name in self.extra]

    def model(self, outputs, final=False):
        def info(name, shape):
            value = self.values[name]
            return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), shape)

        declared = []
        for name in outputs:
            if name in self.values:
                declared.append(info(name, self.values[name].shape if not final or self.chance(0.7) else None))
            else:
                declared.append(helper.make_empty_tensor_value_info(name))
        graph = helper.make_graph(
            self.nodes, "random", [info(name, self.values[name].shape) for name in self.inputs], declared,
            [numpy_helper.from_array(self.values[name].array, name) for name in self.constants])
        return self.finished(graph)

    def finished(self, graph):
        imports = {"": self.opset, **{node.domain: DOMAINS[node.domain] for node in graph.node if node.domain}}
        if any(node.op_type == "TreeEnsemble" for node in graph.node):
            imports["ai.onnx.ml"] = 5
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*each) for each in imports.items()])
        model.ir_version = 8 if self.opset < 19 else 10
        return model


def evaluate(model, feeds):
    """The outputs as arrays. Skip when neither implementation takes the model."""
    # Before opset 13 a Resize leaves an operand out by an empty vector; what a node that was taken back had is nobody's.
    read = {name for node in model.graph.node for name in (node.input[:1] if node.op_type == "Resize" else node.input)}
    empty = not all(array.size for array in feeds.values()) or not all(np.prod(tensor.dims) for tensor in model.graph.initializer if tensor.name in read)
    failures = []
    # ONNX Runtime's Fourier transforms are off by 5e-4, and its Clip of int64 lets 2^31 to 2^32 - 1 pass a maximum of 1 (1.31 with AVX-512).
    inexact = len(model.graph.node) == 1 and model.graph.node[0].op_type in ("DFT", "STFT", "Clip")
    for compute in [by_reference, by_onnxruntime] if empty or inexact else [by_onnxruntime, node_by_node if len(model.graph.node) > 1 else by_reference]:
        try:
            return compute(model, feeds)
        except Exception as error:  # each has failures of many classes
            failures.append(str(error)[:300])
    raise Skip(f"{model.graph.node[-1].op_type}: {' / '.join(failures)}")


def graph_of(node, feeds, constants):
    """A graph of one node, of all of its outputs."""
    infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape) for name, array in sorted(feeds.items())]
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
    return helper.make_graph([node], "alone", infos, outputs, [numpy_helper.from_array(array, name) for name, array in sorted(constants.items())])


def onnxruntime_errs(node, operands):
    """Max and Min of 64-bit integers beyond 32 bits: ONNX Runtime 1.32 says that the larger of 1 and 2147483648 is 1."""
    return node.op_type in ("Max", "Min") and any(array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size and np.abs(array.astype(np.float64)).max() >= 1 << 31 for array in operands)


def node_by_node(model, feeds):
    """Each node as a model of its own: what ONNX Runtime declines or is known to get wrong of it goes to the reference evaluator, and nothing else does."""
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    values = {**constants, **feeds}
    for node in model.graph.node:
        operands = {name: values[name] for name in node.input if name and name not in constants}
        graph = graph_of(node, operands, {name: constants[name] for name in node.input if name in constants})
        alone = helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
        errs = onnxruntime_errs(node, [np.asarray(values[name]) for name in node.input if name])
        values.update(zip((name for name in node.output if name), map(np.asarray, (by_reference if errs else evaluate)(alone, operands))))
    return [values[output.name] for output in model.graph.output]


def by_onnxruntime(model, feeds):
    import peer

    session = peer.session(model)
    if any(kind in output.type for output in session.get_outputs() for kind in ("float8", "float4", "bfloat16", "int4", "int2")):
        raise TypeError("types that numpy does not know come as others")
    return session.run(None, feeds)


def by_reference(model, feeds):
    from onnx.reference import ReferenceEvaluator

    with np.errstate(all="ignore"):
        return ReferenceEvaluator(model).run(None, feeds)
