"""ONNX Runtime as a reference: sessions whose results do not depend on the processor.

Graph optimizations are off and one thread works, so that every operator is computed by itself. What remains is products of bytes: without VNNI, ONNX Runtime adds two products of an
unsigned and a signed byte in 16 bits, which saturate (of a random 5x64 by 64x32 MatMulInteger 109 of 160 elements are wrong on a Haswell). Products of unsigned bytes by unsigned bytes are
exact on every processor, so a model whose nodes multiply signed bytes is given to ONNX Runtime with 128 added to these bytes and to their zero points, which changes no result.
peer.py --selftest compares this form with sums of int64 by numpy. To see what an older processor makes of a model, run Python in an emulator: qemu-x86_64 -cpu Haswell build/venv/bin/python."""
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(4)

# Operators that multiply bytes: their operands of bytes, each with its zero point, and the zero point of the result where that is bytes, too; places in the list of operands.
PRODUCTS = {
    ("", "MatMulInteger"): (((0, 2), (1, 3)), None),
    ("", "ConvInteger"): (((0, 2), (1, 3)), None),
    ("", "QLinearMatMul"): (((0, 2), (3, 5)), 7),
    ("", "QLinearConv"): (((0, 2), (3, 5)), 7),
    ("com.microsoft", "QLinearConv"): (((0, 2), (3, 5)), 7),
    ("com.microsoft", "QGemm"): (((0, 2), (3, 5)), 8),
    ("com.microsoft", "MatMulIntegerToFloat"): (((0, 4), (1, 5)), None),
    ("com.microsoft", "DynamicQuantizeMatMul"): (((1, 3),), None),
    ("com.microsoft", "QAttention"): (((0, 6), (1, 7)), None),
    ("com.microsoft", "DynamicQuantizeLSTM"): (((1, 9), (2, 11)), None),
}


def session(model):
    """An InferenceSession of a model (ModelProto or the path of a file)."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    if isinstance(model, onnx.ModelProto):
        model = unsigned(model).SerializeToString()
    elif has_products(onnx.load(model, load_external_data=False).graph):
        model = unsigned(onnx.load(model)).SerializeToString()
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def bodies(node):
    return [attribute.g for attribute in node.attribute if attribute.type == onnx.AttributeProto.GRAPH]


def product_of(node):
    return PRODUCTS.get(("" if node.domain == "ai.onnx" else node.domain, node.op_type))


def has_products(graph):
    return any(product_of(node) or any(map(has_products, bodies(node))) for node in graph.node)


def unsigned(model):
    """The model with products of unsigned bytes only; itself where it has no others."""
    if not has_products(model.graph):
        return model
    try:
        typed = onnx.shape_inference.infer_shapes(model)
    except Exception:  # a type that onnx contradicts; what is declared has to do
        typed = model
    result = onnx.ModelProto()
    result.CopyFrom(model)
    Unsigned(typed.graph, {}, {}).rewrite(result.graph)
    return result


class Unsigned:
    """What is known of the values that a graph sees: element types, and the constants among them."""

    def __init__(self, graph, types, constants):
        self.constants = {**constants, **{tensor.name: tensor for tensor in graph.initializer}}
        self.constants |= {node.output[0]: node.attribute[0].t for node in graph.node if node.op_type == "Constant" and node.attribute[0].name == "value"}
        declared = {value.name: value.type.tensor_type.elem_type for value in [*graph.input, *graph.value_info, *graph.output]}
        self.types = {**types, **declared, **{name: tensor.data_type for name, tensor in self.constants.items()}}
        self.typed, self.made = [bodies(node) for node in graph.node], 0

    def rewrite(self, graph):
        nodes, self.graph = list(graph.node), graph
        del graph.node[:]
        for node, typed in zip(nodes, self.typed):
            for body, with_types in zip(bodies(node), typed):
                Unsigned(with_types, self.types, self.constants).rewrite(body)
            self.product(node, *product_of(node)) if product_of(node) else graph.node.append(node)

    def product(self, node, pairs, of_result):
        operands = list(node.input) + [""] * 12
        for value, zero in pairs:
            if operands[value] and self.is_signed(operands[value], operands[zero]):
                operands[value] = self.raised(operands[value])
                operands[zero] = self.raised(operands[zero]) if operands[zero] else self.constant(np.array(128, np.uint8))
        back = of_result is not None and operands[of_result] and self.is_signed(operands[of_result], "")
        if back:
            operands[of_result] = self.raised(operands[of_result])
        while operands and not operands[-1]:
            operands.pop()
        made = onnx.NodeProto()
        made.CopyFrom(node)
        del made.input[:]
        made.input.extend(operands)
        if back:
            made.output[0] = self.name()
        self.graph.node.append(made)
        if back:
            self.add("Cast", self.add("Sub", self.add("Cast", made.output[0], to=TensorProto.INT32), self.constant(np.array(128, np.int32))), result=node.output[0], to=TensorProto.INT8)

    def is_signed(self, value, zero):
        kind = self.types.get(value) or self.types.get(zero)
        if kind not in (TensorProto.UINT8, TensorProto.INT8):
            raise ValueError(f"'{value}': whether its bytes are signed is not known")
        return kind == TensorProto.INT8

    def raised(self, value):
        """A value of signed bytes, and 128."""
        if value in self.constants:
            return self.constant((numpy_helper.to_array(self.constants[value]).astype(np.int32) + 128).astype(np.uint8))
        return self.add("Cast", self.add("Add", self.add("Cast", value, to=TensorProto.INT32), self.constant(np.array(128, np.int32))), to=TensorProto.UINT8)

    def name(self):
        self.made += 1
        return f"unsigned/{self.graph.name}/{self.made}"

    def constant(self, array):
        name = self.name()
        self.graph.initializer.append(numpy_helper.from_array(array, name))
        return name

    def add(self, op, *operands, result=None, **attributes):
        result = result or self.name()
        self.graph.node.append(helper.make_node(op, operands, [result], **attributes))
        return result


def selftest():
    """Products at the ends of their types, by each operator that has a form in integers, against numpy."""
    random, wrong = np.random.default_rng(1), 0
    for a in np.uint8, np.int8:
        for b in np.uint8, np.int8:
            ends = [np.iinfo(a).min, np.iinfo(a).max], [np.iinfo(b).min, np.iinfo(b).max]
            x, w = random.choice(ends[0], (5, 64)).astype(a), random.choice(ends[1], (64, 32)).astype(b)
            image, taps = random.choice(ends[0], (1, 16, 9, 7)).astype(a), random.choice(ends[1], (8, 16, 3, 3)).astype(b)
            windows = np.lib.stride_tricks.sliding_window_view(image.astype(np.int64), (3, 3), (2, 3))
            cases = {"MatMulInteger": (x, w, x.astype(np.int64) @ w.astype(np.int64)), "ConvInteger": (image, taps, np.einsum("nchwij,ocij->nohw", windows, taps.astype(np.int64)))}
            for op, (left, right, want) in cases.items():
                for constant in False, True:
                    given = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape) for name, array in (("l", left), ("r", right))][: 2 - constant]
                    graph = helper.make_graph([helper.make_node(op, ["l", "r"], ["y"])], "product", given, [helper.make_tensor_value_info("y", TensorProto.INT32, None)], [numpy_helper.from_array(right, "r")] * constant)
                    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
                    got = session(model).run(None, {"l": left} if constant else {"l": left, "r": right})[0]
                    if not np.array_equal(got, want):
                        wrong += 1
                        print(f"{op} of {np.dtype(a).name} by {np.dtype(b).name}: {(got != want).sum()} of {want.size} differ")
    print(f"{16 - wrong} passed, {wrong} failed")
    return wrong


if __name__ == "__main__":
    sys.exit("--selftest" not in sys.argv or selftest() > 0)
