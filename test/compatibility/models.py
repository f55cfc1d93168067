"""The models that fixtures are made of. Each is small, and together they use most of what a compiled model asks of the support library: loops over threads,
weights in a file, sizes that a run chooses or finds, memory that a run asks for, strings, a choice of levels, and an error that names a node."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
RANDOM = np.random.default_rng(50)


def floats(*shape):
    return RANDOM.uniform(-0.5, 0.5, shape).astype(np.float32)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=f"{op}_{outputs.split()[0]}", **attributes)


def model(name, nodes, inputs, outputs, weights):
    ports = [[helper.make_tensor_value_info(*port) for port in ports] for ports in (inputs, outputs)]
    graph = helper.make_graph(nodes, name, *ports, [numpy_helper.from_array(np.asarray(value), key) for key, value in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def conv():
    """Convolutions of all pixels and of each channel, a pool, a product, Softmax: kernels that are split over threads."""
    nodes = [node("Conv", "x w1 b1", "a", pads=[1] * 4), node("Relu", "a", "b"), node("MaxPool", "b", "c", kernel_shape=[2, 2], strides=[2, 2]),
             node("Conv", "c w2 b2", "d", group=8, pads=[1] * 4), node("Add", "c d", "e"), node("GlobalAveragePool", "e", "f"), node("Flatten", "f", "g"),
             node("Gemm", "g w3 b3", "h", transB=1), node("Softmax", "h", "y")]  # fmt: skip
    weights = {"w1": floats(8, 3, 3, 3), "b1": floats(8), "w2": floats(8, 1, 3, 3), "b2": floats(8), "w3": floats(5, 8), "b3": floats(5)}
    return model("conv", nodes, [("x", FLOAT, [1, 3, 16, 12])], [("y", FLOAT, [1, 5])], weights), [floats(1, 3, 16, 12)]


def int8():
    """A quantized product."""
    nodes = [node("QuantizeLinear", "x sx zx", "a"), node("QLinearMatMul", "a sx zx w sw zw sy zy", "b"), node("DequantizeLinear", "b sy zy", "y")]
    weights = {"sx": np.float32(0.01), "zx": np.uint8(120), "w": RANDOM.integers(-100, 100, (32, 12)).astype(np.int8), "sw": np.float32(0.02), "zw": np.int8(0),
               "sy": np.float32(0.05), "zy": np.uint8(110)}  # fmt: skip
    return model("int8", nodes, [("x", FLOAT, [6, 32])], [("y", FLOAT, [6, 12])], weights), [2 * floats(6, 32)]


def open_sizes():
    """Rows of which each run has as many as it likes, with weights in a file."""
    nodes = [node("Add", "x b", "a"), node("Softmax", "a", "c"), node("Mul", "c w", "y")]
    ports = [("x", FLOAT, ["batch", "rows", 12])], [("y", FLOAT, ["batch", "rows", 12])]
    return model("open_sizes", nodes, *ports, {"b": floats(12), "w": floats(12)}), [floats(2, 7, 12)]


def found():
    """A size that the run finds within a bound, and one that nothing bounds, for which it asks for memory."""
    nodes = [node("NonZero", "x", "where"), node("Range", "zero limit one", "r"), node("Mul", "r r", "squares")]
    ports = [("x", FLOAT, [4, 5]), ("limit", INT64, [])], [("where", INT64, [2, "count"]), ("squares", INT64, ["n"])]
    weights = {"zero": np.int64(0), "one": np.int64(1)}
    return model("found", nodes, *ports, weights), [np.where(floats(4, 5) > 0, np.float32(1), np.float32(0)), np.array(9)]


def strings():
    """Strings that the run makes, and of which it keeps some."""
    nodes = [node("StringConcat", "x end", "a"), node("StringNormalizer", "a", "y", case_change_action="NONE", stopwords=["the!"], is_case_sensitive=1)]
    ports = [("x", STRING, [4]), ("end", STRING, [])], [("y", STRING, ["n"])]
    return model("strings", nodes, *ports, {}), [np.array(["the", "quick", "brown", "fox"], object), np.array("!", object)]


def sequence():
    """A sequence into which data says where a tensor goes."""
    nodes = [node("SequenceConstruct", "a b", "s"), node("SequenceInsert", "s c at", "t"), node("ConcatFromSequence", "t", "y", axis=0)]
    ports = [("a", FLOAT, [2, 3]), ("b", FLOAT, [2, 3]), ("c", FLOAT, [2, 3]), ("at", INT64, [])], [("y", FLOAT, [6, 3])]
    return model("sequence", nodes, *ports, {}), [floats(2, 3), floats(2, 3), floats(2, 3), np.array(1)]


def lookup():
    """Rows of a table, by numbers that a run may get wrong."""
    nodes = [node("Gather", "table i", "a"), node("ReduceMean", "a axes", "y")]
    return model("lookup", nodes, [("i", INT64, [4])], [("y", FLOAT, [4, 1])], {"table": floats(10, 9), "axes": np.array([-1])}), [np.array([3, 0, 9, 3])]


# Each with its flags of `ingot compile`.
MODELS = {"conv": (conv, []), "int8": (int8, []), "open_sizes": (open_sizes, ["--weights=file"]), "found": (found, []), "strings": (strings, []),
          "sequence": (sequence, []), "lookup": (lookup, [])}  # fmt: skip


def tensor(values):
    values = np.asarray(values)
    if values.dtype == object:
        return TensorProto(data_type=STRING, dims=values.shape, string_data=[text.encode() for text in values.reshape(-1)])
    return numpy_helper.from_array(values)


def write_data(folder, proto, inputs):
    """Writes the inputs and what ONNX Runtime computes of them."""
    import onnxruntime

    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, {port.name: values for port, values in zip(session.get_inputs(), inputs)})
    for kind, tensors in ("input", inputs), ("output", outputs):
        for k, values in enumerate(tensors):
            (folder / f"{kind}_{k}.pb").write_bytes(tensor(values).SerializeToString())


def write(folder):
    """Writes NAME/model.onnx with its data for each model."""
    for name, (make, _) in MODELS.items():
        (folder / name).mkdir(parents=True)
        proto, inputs = make()
        onnx.save(proto, folder / name / "model.onnx")
        write_data(folder / name, proto, inputs)
