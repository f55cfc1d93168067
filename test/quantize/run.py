"""Operators of com.microsoft give ONNX Runtime's numbers, and QDQ patterns those of their operators one by one.

    run.py --ingot build/bin/ingot [--target T]

A quantized result may differ by a step where the order of operations is left open; with --accuracy strict and scales that are powers of two nothing may."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import ingot_run
import numpy as np
import onnx
import peer
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

MICROSOFT = "com.microsoft"
random = np.random.default_rng(1)


def f(*shape):
    return random.standard_normal(shape).astype(np.float32)


def scale(value):
    return np.array(value, np.float32)


def bytes_of(dtype, *shape):
    low, high = (-128, 127) if dtype == np.int8 else (0, 255)
    return random.integers(low, high + 1, shape).astype(dtype)


def node(op, operands, domain=MICROSOFT, read=(0,), results=1, **attributes):
    """Operands by name; an array is a weight, None one left out. `read` are the results that are compared, of so many at least."""
    return op, operands, domain, attributes, ["y{}" if k == read[0] else f"y{{}}_{k}" if k in read else f"unread{{}}_{k}" for k in range(max(results, read[-1] + 1))]


def unary(op, dtype, shape, **attributes):
    x, zero = {"x": bytes_of(dtype, *shape)}, np.array(30, dtype)
    return x, [node(op, ["x", scale(0.02), zero, scale(1 / 128), np.array(3, dtype)], **attributes)], 1


def binary(op, dtype):
    operands = ["x", scale(0.02), np.array(3, dtype), "z", scale(0.03), np.array(7, dtype), scale(0.05), np.array(10, dtype)]
    return {"x": bytes_of(dtype, 2, 3, 5, 7), "z": bytes_of(dtype, 3, 1, 7)}, [node(op, operands)], 1


def masked():
    """A mask, 1 or 0 times the lowest float32, as ONNX Runtime's quantizer writes it: what is dequantized is infinite, and one product of the two no number."""
    operands = ["x", scale(1 / 255), np.array(0, np.uint8), np.array(0, np.uint8), scale(2.668881e36), np.array(128, np.uint8), scale(1.333789e36), np.array(255, np.uint8)]
    return {"x": np.array([[0, 255, 255, 0, 3]], np.uint8)}, [node("QLinearMul", operands)], 0


def concat(dtype, alike):
    parts = ["x", scale(0.05 if alike else 0.02), np.array(10, dtype), "z", scale(0.05), np.array(10, dtype)]
    return {"x": bytes_of(dtype, 2, 3, 5), "z": bytes_of(dtype, 2, 4, 5)}, [node("QLinearConcat", [scale(0.05), np.array(10, dtype), *parts], axis=1)], 0 if alike else 1


def where(dtype):
    operands = ["c", "x", scale(0.02), np.array(3, dtype), "z", scale(0.03), np.array(7, dtype), scale(0.05), np.array(10, dtype)]
    return {"c": random.random((2, 3, 5)) < 0.5, "x": bytes_of(dtype, 2, 3, 5), "z": bytes_of(dtype, 2, 3, 5)}, [node("QLinearWhere", operands)], 1


def gemm(dtype, transposed_a, transposed_b, quantized):
    shape = (10, 6) if transposed_a else (6, 10)
    b = bytes_of(np.int8, *((8, 10) if transposed_b else (10, 8)))
    bias = random.integers(-900, 900, 8).astype(np.int32)
    operands = ["x", scale(0.02), np.array(3, dtype), b, scale(random.random(8) * 0.02), np.zeros(8, np.int8), bias]
    result = [scale(0.05), np.array(10, dtype)] if quantized else []
    return {"x": bytes_of(dtype, *shape)}, [node("QGemm", operands + result, alpha=0.5, transA=transposed_a, transB=transposed_b)], 1 if quantized else 1e-4


def to_float(dtype):
    zeros = random.integers(-9, 9, 8).astype(np.int8)
    operands = ["x", bytes_of(np.int8, 10, 8), scale(0.02), scale(random.random(8) * 0.02), np.array(3, dtype), zeros, f(8)]
    return {"x": bytes_of(dtype, 2, 6, 10)}, [node("MatMulIntegerToFloat", operands)], 1e-4


def dynamic(dtype, zero):
    operands = ["x", bytes_of(dtype, 10, 8), scale(0.02), zero, f(8)]
    return {"x": f(2, 6, 10)}, [node("DynamicQuantizeMatMul", operands)], 1e-4


def recurrent(dtype, read, direction="forward", by_column=False, states=False, lengths=False, peephole=False, **attributes):
    steps, batch, inputs, hidden, ways = 6, 3, 5, 9, 2 if direction == "bidirectional" else 1
    count = [ways, 4 * hidden] if by_column else [ways]
    factors, zeros = [scale(random.random(count) * 0.003 + 0.001) for _ in range(2)], np.full(count, 125 if dtype == np.uint8 else 0 if by_column else 3, dtype)
    state = [f(ways, batch, hidden), f(ways, batch, hidden)] if states else [None, None]
    operands = ["x", bytes_of(dtype, ways, inputs, 4 * hidden), bytes_of(dtype, ways, hidden, 4 * hidden), f(ways, 8 * hidden), np.array([6, 2, 4], np.int32) if lengths else None, *state,
                f(ways, 3 * hidden) if peephole else None, factors[0], zeros, factors[1], zeros]  # fmt: skip
    # A number that is quantized to its neighbour moves what follows.
    return {"x": f(steps, batch, inputs)}, [node("DynamicQuantizeLSTM", operands, read=read, direction=direction, hidden_size=hidden, **attributes)], 0.02


def recurrents(dtype):
    for read in (0,), (1,), (2,), (0, 1, 2):
        yield f"two ways, outputs {read}", recurrent(dtype, read, "bidirectional", states=True)
    yield "two ways, all of it", recurrent(dtype, (0, 1, 2), "bidirectional", by_column=True, states=True, lengths=True, peephole=True)
    yield "reverse", recurrent(dtype, (0,), "reverse", by_column=True)
    yield "lengths", recurrent(dtype, (0,), "bidirectional", lengths=True)
    yield "lengths, the last state", recurrent(dtype, (1,), "reverse", lengths=True, states=True)
    yield "peephole, clip", recurrent(dtype, (0,), peephole=True, clip=0.5)
    yield "activations", recurrent(dtype, (0,), activations=["HardSigmoid", "Tanh", "LeakyRelu"], activation_alpha=[0.3, 0.1], activation_beta=[0.4], by_column=True)
    yield "activations and all else", recurrent(
        dtype, (0, 1, 2), "reverse", states=True, lengths=True, peephole=True, clip=1.5, input_forget=1, activations=["HardSigmoid", "LeakyRelu", "Affine"], activation_alpha=[0.25, 0.125, 0.5], activation_beta=[0.4, 0.1])
    yield "input_forget", recurrent(dtype, (2,), input_forget=1)


def few_bits(bits, depth, columns, block, zeros, rows=(3,), name="x"):
    """`name`: "open" is an input whose first axis only the run knows."""
    blocks = -(-depth // block)
    operands = [name, bytes_of(np.uint8, columns, blocks, block * bits // 8), scale(random.random(columns * blocks) * 0.1)]
    if zeros == "packed":
        operands.append(bytes_of(np.uint8, columns * -(-blocks * bits // 8)))
    elif zeros == "float":
        operands.append((random.random(columns * blocks) * 8).astype(np.float32))
    return {name: f(*rows, depth)}, [node("MatMulNBits", operands, K=depth, N=columns, bits=bits, block_size=block)], 2e-3


def bnb(kind, depth, columns, block, transposed):
    factors = scale(random.random(-(-depth * columns // block)) + 0.1)
    operands = ["x", bytes_of(np.uint8, -(-depth * columns // 2)), factors]
    attributes = dict(K=depth, N=columns, block_size=block, quant_type=kind)
    if transposed:
        return {"x": f(2, 3, depth)}, [node("MatMulBnb4", operands, **attributes)], 1e-4
    # ONNX Runtime's kernel reads past its operands here; what it makes of the identity are the weights.
    identity, x = {"x": np.eye(depth, dtype=np.float32)}, f(2, 3, columns)
    weights = expected(model(identity, [node("MatMulBnb4", operands, transB=1, **attributes)]), identity)[0].T
    return {"x": x}, [node("MatMulBnb4", operands, transB=0, **attributes)], 1e-4, [x @ weights]


def gathered(bits, zeros, rank, block=16):
    rows, columns = 7, 3 * block
    table, factors = bytes_of(np.uint8, rows, columns * bits // 8), scale(random.random((rows, columns // block)) + 0.1)
    operands = [table, "x", factors] + [bytes_of(np.uint8, rows, -(-(columns // block) * bits // 8))] * zeros
    return {"x": random.integers(-rows, rows, (2, 3, 5)[:rank])}, [node("GatherBlockQuantized", operands, bits=bits, block_size=block, gather_axis=0, quantize_axis=1)], 1e-5


def nibbles(signed, axis, quantized, zeros):
    """Data of four bits, of which numpy has no type."""
    low, name = (-8, onnx.TensorProto.INT4) if signed else (0, onnx.TensorProto.UINT4)
    packed = lambda *shape: helper.make_tensor("", name, shape, random.integers(low, low + 16, shape).flatten().tolist())
    sizes = [5, 7]
    sizes[quantized] = 32
    blocks = [2 if k == quantized else size for k, size in enumerate(sizes)]
    indices = random.integers(-sizes[axis], sizes[axis], (2, 3)).astype(np.int32)
    operands = [packed(*sizes), "i", f(*blocks), packed(*blocks) if zeros else None]
    return {"i": indices}, [node("GatherBlockQuantized", operands, block_size=16, gather_axis=axis, quantize_axis=quantized)], 0


def weight_only(kind, depth, columns, block, rows=(3,), zeros=False, form="MatMul", element=np.float32, name="x", axis=0):
    """Floats by a dequantized matrix: in blocks along its depth; for block 0 with a scale for each column, for None with one. `form`: how the product reads it."""
    bits, low = int(kind[-1]), 0 if kind[0] == "u" else -(1 << int(kind[-1]) - 1)
    turned = form != "MatMul"
    packed = lambda *shape: helper.make_tensor("", getattr(onnx.TensorProto, kind.upper()), shape, random.integers(low, low + (1 << bits), shape).flatten().tolist())
    shape = [-(-depth // block) if block else 1, columns]
    shape = [columns] if block == 0 else [] if block is None else shape[::-1] if turned else shape
    along = {"axis": int(turned)} | ({"block_size": block} if block else {}) if block else {"axis": int(not turned)} if block == 0 else {}
    nodes = [node("DequantizeLinear", [packed(columns, depth) if turned else packed(depth, columns), ((random.random(shape) - 0.4) * 0.15).astype(element), packed(*shape) if zeros else None], "", **along)]
    if form == "Transpose":
        nodes.append(node("Transpose", ["y0"], "", perm=[1, 0]))
    if form == "Gemm":
        nodes.append(node("Gemm", [name, "y0", random.random(columns).astype(element)], "", transB=1, alpha=0.5))
    else:
        nodes.append(node("MatMul", [name, f"y{len(nodes) - 1}"], ""))
    return {name: f(*rows, depth).astype(element)}, nodes, 2e-3 if element == np.float32 else 0.0005 * depth * 2 ** (bits / 2)


def looked_up(kind, columns, block, zeros, rank, element=np.float32):
    """Rows of a dequantized table: in blocks, for block 0 with a scale for each row, for None with one."""
    bits, low, rows = int(kind[-1]), 0 if kind[0] == "u" else -(1 << int(kind[-1]) - 1), 9
    packed = lambda *shape: helper.make_tensor("", getattr(onnx.TensorProto, kind.upper()), shape, random.integers(low, low + (1 << bits), shape).flatten().tolist())
    shape = [rows, -(-columns // block)] if block else [rows] if block == 0 else []
    along = {"axis": 1, "block_size": block} if block else {"axis": 0}
    table = node("DequantizeLinear", [packed(rows, columns), (random.random(shape) - 0.4).astype(element), packed(*shape) if zeros else None], "", **along)
    return {"i": random.integers(-rows, rows, (2, 3, 5)[:rank])}, [table, node("Gather", ["y0", "i"], "")], 0


def attention(dtype, past=0, mask=None, by_column=False, **attributes):
    """The input is of uint8, for which alone ONNX Runtime has a kernel; weights are of either kind."""
    batch, steps, heads, width = 2, 5, 2, 8
    hidden = heads * width
    factors = scale(random.random(3 * hidden) * 0.01) if by_column else scale(0.01)
    kept = {"lengths": np.array([3, 5], np.int32), "rows": np.array([[1, 1, 1, 0, 0], [1] * 5], np.int32)}.get(mask)
    zeros = np.full(factors.shape, 120 if dtype == np.uint8 else 0, dtype)
    operands = ["x", bytes_of(dtype, 12, 3 * hidden), f(3 * hidden), scale(0.02), factors, kept, np.array(3, np.uint8), zeros, f(2, batch, heads, past, width) if past else None]
    return {"x": bytes_of(np.uint8, batch, steps, 12)}, [node("QAttention", operands, read=(0, 1) if past else (0,), results=2, num_heads=heads, **attributes)], 1e-3


def convolution(dtype, last):
    shape = (2, 6, 5, 4) if last else (2, 4, 6, 5)
    operands = ["x", scale(0.02), np.array(3, dtype), bytes_of(np.int8, 8, 2, 3, 3), scale(random.random(8) * 0.02), np.zeros(8, np.int8), scale(0.5), np.array(9, dtype), random.integers(-99, 99, 8).astype(np.int32)]
    return {"x": bytes_of(dtype, *shape)}, [node("QLinearConv", operands, channels_last=last, group=2, pads=[1, 0, 1, 2], strides=[1, 2])], 1


def pooled(dtype):
    return {"x": bytes_of(dtype, 2, 7, 8, 3)}, [node("NhwcMaxPool", ["x"], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1], ceil_mode=1)], 0


def experts(bits, block, activation, zeros, fusion=1):
    """With 8 bits by block ONNX Runtime quantizes what it multiplies, too, where weights are constant."""
    count, width, inner, tokens = 4, 32, 16, 5
    outer = inner * 2 if activation == "swiglu" else inner

    def layer(outputs, inputs):
        blocks = [inputs // block] if block else []
        packed = [outputs, -(-blocks[0] * bits // 8)] if block else [-(-outputs * bits // 8)]
        return bytes_of(np.uint8, count, outputs, inputs * bits // 8), scale(random.random((count, outputs, *blocks)) * 0.05), bytes_of(np.uint8, count, *packed) if zeros else None

    first, second = layer(outer, width), layer(width, inner)
    router = np.stack([random.permutation(count) for _ in range(tokens)]).astype(np.float32)
    operands = ["x", router, first[0], first[1], f(count, outer), second[0], second[1], f(count, width), None, None, None, first[2], second[2]]
    more = dict(swiglu_fusion=1, activation_alpha=1.7, activation_beta=1.0, swiglu_limit=1.5) if activation == "swiglu" else {}
    if block:
        more["block_size"] = block
    more |= dict(k=2, activation_type=activation, expert_weight_bits=bits, normalize_routing_weights=1)
    x, fused = {"x": f(tokens, width)}, [node("QMoE", operands, **more)]
    if fusion == 1:
        return x, fused, 2e-3
    # ONNX Runtime has a kernel only for rows in turn, and it is what tells the numbers for others, too.
    parts = [*operands, *[None] * (14 - len(operands))]
    for at, other in (2, 8), (3, 9), (4, 10), (11, 13):
        if operands[at] is not None:
            gate, linear = operands[at][:, ::2], operands[at][:, 1::2]
            parts[at], parts[other] = (gate, linear) if fusion == 0 else (np.concatenate([gate, linear], 1), None)
    return x, [node("QMoE", parts, **more | dict(swiglu_fusion=fusion))], 2e-3, expected(model(x, fused), x)


def named_before(dtype):
    quantized = node("QuantizeLinear", ["x", scale(0.02), np.array(3, dtype)])
    back = node("DequantizeLinear", ["y0", scale([0.5, 0.25, 2]), np.array([1, 2, 3], dtype)], axis=0)
    return {"x": f(3, 5)}, [quantized, back], 0


def around(dtype, operation, weights, axis, bias=True, signs=np.float32([1]), **attributes):
    """An operation between dequantized tensors: x, weights and a bias."""
    ends = scale(0.0625), np.array(12 if dtype == np.uint8 else -20, dtype)
    outputs = weights.shape[axis]
    factors = np.exp2(-random.integers(4, 7, outputs)).astype(np.float32) * np.resize(signs, outputs)
    nodes = [node("DequantizeLinear", ["x", scale(0.25), np.array(5, dtype)], ""), node("DequantizeLinear", [weights, factors, np.zeros(outputs, np.int8)], "", axis=axis)]
    operands = ["y0", "y1"]
    if bias:
        nodes.append(node("DequantizeLinear", [random.integers(-99, 99, outputs).astype(np.int32), factors / 4, np.zeros(outputs, np.int32)], "", axis=0))
        operands.append("y2")
    nodes.append(node(operation, operands, "", **attributes))
    nodes.append(node("Relu", [f"y{len(nodes) - 1}"], ""))
    return nodes + [node("QuantizeLinear", [f"y{len(nodes) - 1}", *ends], "")]


def patterns(dtype):
    """(name, case) of the patterns that quantizers write."""
    images = {"x": bytes_of(dtype, 2, 12, 9, 7)}
    yield "conv", (images, around(dtype, "Conv", bytes_of(np.int8, 20, 12, 3, 3), 0, pads=[1, 1, 1, 1]), 0)
    yield "conv with scales below zero", (images, around(dtype, "Conv", bytes_of(np.int8, 20, 12, 3, 3), 0, signs=np.float32([1, -1, -1]), pads=[1, 1, 1, 1]), 0)
    yield "product with scales below zero", ({"x": bytes_of(dtype, 5, 40)}, around(dtype, "MatMul", bytes_of(np.int8, 40, 33), 1, bias=False, signs=np.float32([-1, 1])), 0)
    yield "conv in groups", (images, around(dtype, "Conv", bytes_of(np.int8, 12, 1, 3, 3), 0, pads=[1, 0, 1, 2], strides=[2, 1], group=12), 0)
    for rows, columns, stride, pads in (8, 8, 1, [3, 3, 4, 4]), (3, 3, 2, [1, 1, 1, 1]), (1, 5, 1, [0, 2, 0, 1]), (2, 13, 3, [0, 0, 1, 7]), (5, 4, 1, [0, 0, 0, 0]):
        image = {"x": bytes_of(dtype, 2, 1, 13, 17)}
        yield f"conv of one channel {rows}x{columns}", (image, around(dtype, "Conv", bytes_of(np.int8, 7, 1, rows, columns), 0, pads=pads, strides=[1, stride]), 0)
    for channels, outputs, kernel, more in (1, 1, 1, {}), (7, 13, 1, {}), (13, 40, 1, {"strides": [2, 2]}), (6, 33, 5, {"strides": [2, 1], "pads": [2, 2, 2, 2]}), (26, 26, 3, {"group": 2}):
        image = {"x": bytes_of(dtype, 1, channels, 7, 11)}
        weights = bytes_of(np.int8, outputs, channels // more.get("group", 1), kernel, kernel)
        yield f"conv {channels} to {outputs}, {kernel}x{kernel}", (image, around(dtype, "Conv", weights, 0, **more), 0)
    yield "conv in rows, dilated", ({"x": bytes_of(dtype, 1, 16, 33)}, around(dtype, "Conv", bytes_of(np.int8, 2, 16, 3), 0, pads=[2, 2], dilations=[2]), 0)
    for rows, depth, columns in (1, 1, 1), (1, 33, 13), (7, 13, 17), (13, 7, 100), (31, 128, 65):
        yield f"gemm {rows} {depth} {columns}", ({"x": bytes_of(dtype, rows, depth)}, around(dtype, "Gemm", bytes_of(np.int8, columns, depth), 0, transB=1), 0)
    yield "gemm", ({"x": bytes_of(dtype, 5, 40)}, around(dtype, "Gemm", bytes_of(np.int8, 17, 40), 0, transB=1), 0)
    yield "matmul", ({"x": bytes_of(dtype, 2, 5, 7)}, around(dtype, "MatMul", bytes_of(np.int8, 7, 33), 1, bias=False), 0)


def activated(dtype, channels, outputs):
    """x * sigmoid(x) of a convolution, in bytes: its exponential may be a coarse one."""
    nodes = around(dtype, "Conv", bytes_of(np.int8, outputs, channels, 1, 1), 0)[:-2]
    y = f"y{len(nodes) - 1}"
    nodes += [node("Sigmoid", [y], ""), node("Mul", [y, f"y{len(nodes)}"], "")]
    return {"x": bytes_of(dtype, 1, channels, 5, 11)}, nodes + [node("QuantizeLinear", [f"y{len(nodes) - 1}", scale(0.3), np.array(9, dtype)], "")], 1


def far(dtype):
    """What is too large for an integer is quantized to the ends."""
    x = np.array([np.inf, -np.inf, 3e38, -3e38, 4e9, -4e9, 2e9, -2e9, 40000, -40000, 255.5, -128.5, 0.5, 1.5, -0.5, 0, 1e-30], np.float32)
    return {"x": x}, [node("QuantizeLinear", ["x", scale(1), np.array(7, dtype)], "")], 0


def twice(dtype):
    """A convolution, a depthwise one, and a sum with what both read."""
    ends, back = [scale(0.25), np.array(5, dtype)], {"axis": 0}
    weights = lambda *shape: node("DequantizeLinear", [bytes_of(np.int8, *shape), np.exp2(-random.integers(4, 7, shape[0])).astype(np.float32), np.zeros(shape[0], np.int8)], "", **back)
    nodes = [node("DequantizeLinear", ["x", *ends], ""), weights(13, 13, 1, 1), node("Conv", ["y0", "y1"], ""), weights(13, 1, 3, 3), node("Conv", ["y0", "y3"], "", group=13, pads=[1, 1, 1, 1])]
    nodes += [node("Add", ["y2", "y4"], ""), node("Add", ["y5", "y0"], ""), node("QuantizeLinear", ["y6", scale(0.5), np.array(3, dtype)], "")]
    return {"x": bytes_of(dtype, 1, 13, 7, 5)}, nodes, 0


def cases():
    yield "QLinearMul of a mask", masked()
    for dtype in np.uint8, np.int8:
        name = np.dtype(dtype).name
        for op in "QLinearAdd", "QLinearMul":
            yield f"{op} {name}", binary(op, dtype)
        yield f"QLinearSigmoid {name}", unary("QLinearSigmoid", dtype, (2, 3, 5))
        yield f"QLinearLeakyRelu {name}", unary("QLinearLeakyRelu", dtype, (2, 3, 5), alpha=0.1)
        yield f"QLinearSoftmax {name}", unary("QLinearSoftmax", dtype, (2, 3, 5), axis=-1, opset=13)
        yield f"QLinearSoftmax of opset 11 {name}", unary("QLinearSoftmax", dtype, (2, 3, 5), axis=1, opset=11)
        for last in 0, 1:
            yield f"QLinearGlobalAveragePool {name} {last}", unary("QLinearGlobalAveragePool", dtype, (1, 5, 6, 7), channels_last=last)
            window = dict(kernel_shape=[3, 2], pads=[1, 0, 1, 1], strides=[2, 1], count_include_pad=0)
            yield f"QLinearAveragePool {name} {last}", unary("QLinearAveragePool", dtype, (1, 5, 6, 7), channels_last=last, **window)
            yield f"QLinearConcat {name} {last}", concat(dtype, last)
        yield f"QLinearWhere {name}", where(dtype)
        for transposed_a, transposed_b in (0, 0), (0, 1), (1, 1):
            for quantized in False, True:
                yield f"QGemm {name} {transposed_a} {transposed_b} {quantized}", gemm(dtype, transposed_a, transposed_b, quantized)
        yield f"MatMulIntegerToFloat {name}", to_float(dtype)
        yield f"DynamicQuantizeMatMul {name}", dynamic(dtype, np.array(7, dtype))
        for form, case in recurrents(dtype):
            yield f"DynamicQuantizeLSTM {name}, {form}", case
        yield f"QuantizeLinear, DequantizeLinear {name}", named_before(dtype)
        for pattern, case in patterns(dtype):
            yield f"{pattern} {name}", case
        for channels, outputs in (1, 7), (13, 48), (33, 16):
            yield f"x sigmoid(x) of {channels} to {outputs} {name}", activated(dtype, channels, outputs)
        yield f"far {name}", far(dtype)
        yield f"read twice {name}", twice(dtype)
        for by_column in False, True:
            for past, mask, attributes in (0, None, {"unidirectional": 1}), (0, "lengths", {"scale": 0.25}), (0, "rows", {"mask_filter_value": -1000.0}), (3, None, {}), (3, None, {"unidirectional": 1}):
                yield f"QAttention {name} {by_column} {past} {mask} {attributes}", attention(dtype, past, mask, by_column, **attributes)
        for last in 0, 1:
            yield f"QLinearConv of com.microsoft {name} {last}", convolution(dtype, last)
        yield f"NhwcMaxPool {name}", pooled(dtype)
    for bits, block, activation, zeros in (4, 0, "silu", False), (4, 16, "swiglu", False), (8, 0, "relu", False), (4, 16, "silu", True), (2, 16, "gelu", False), (8, 0, "swiglu", True):
        yield f"QMoE {bits} by {block} {activation} {zeros}", experts(bits, block, activation, zeros)
    for bits, block, zeros, fusion in (4, 16, False, 2), (4, 16, True, 0), (8, 0, False, 0), (2, 16, True, 2):
        yield f"QMoE {bits} by {block} swiglu {zeros}, fusion {fusion}", experts(bits, block, "swiglu", zeros, fusion)
    for kind in 0, 1:
        for depth, columns, block in (64, 24, 16), (33, 9, 32), (40, 10, 16), (128, 7, 64):
            for transposed in 0, 1:
                yield f"MatMulBnb4 {kind} {depth}x{columns} by {block} {transposed}", bnb(kind, depth, columns, block, transposed)
    for signed, axis, quantized, zeros in (True, 0, 1, False), (False, 1, 0, True), (True, 1, 1, True), (False, 0, 0, False):
        yield f"GatherBlockQuantized of four bits {signed} {axis} {quantized} {zeros}", nibbles(signed, axis, quantized, zeros)
    for bits in 2, 4, 8:
        for zeros in False, True:
            for block in 16, 32, 64:
                yield f"GatherBlockQuantized {bits} by {block} {zeros}", gathered(bits, zeros, 1 + bits // 4, block)
        for depth, columns, block in (64, 24, 32), (40, 10, 16), (128, 9, 64):
            for zeros in ("none", "packed", "float")[: 2 if bits == 8 else 3]:
                yield f"MatMulNBits {bits} {depth}x{columns} by {block}, zero points: {zeros}", few_bits(bits, depth, columns, block, zeros)
                yield f"MatMulNBits {bits} {depth}x{columns} by {block}, one row, zero points: {zeros}", few_bits(bits, depth, columns, block, zeros, (1,))
        for rows in (), (2, 7), (17,):  # more than 16 rows: weights are floats
            yield f"MatMulNBits {bits} rows {rows}", few_bits(bits, 300, 100, 256, "packed", rows)
        for rows in (1,), (7,), (2, 3), (3, 1, 5):
            yield f"MatMulNBits {bits} open rows {rows}", few_bits(bits, 100, 70, 32, "packed", rows, "open")
    for depth, columns, block, zeros, rows in (1, 1, 16, "none", (1,)), (13, 7, 16, "float", (1, 1)), (200, 130, 128, "none", (2, 3, 1)), (64, 66000, 16, "packed", (1,)), (255, 33, 256, "packed", (16,)):
        yield f"MatMulNBits 4 {depth}x{columns} by {block}, zero points: {zeros}, rows {rows}", few_bits(4, depth, columns, block, zeros, rows)


    for kind in "int4", "uint4", "int8", "uint8", "int2", "uint2":
        for k, form in enumerate(("MatMul", "Transpose", "Gemm")):
            for block, depth in (32, 96), (16, 40), (48, 150), (24, 48), (1024, 2050), (0, 70), (0, 600), (None, 33):
                yield f"{form} of {kind} by {block}, {depth}", weight_only(kind, depth, 23 + depth % 50, block, [(3,), (1,), ()][k] if form != "Gemm" else (5,), zeros=(depth + k) % 3 != 0, form=form)
        yield f"MatMul of {kind}, open rows", weight_only(kind, 200, 70, 32, (7,), True, name="open")
        yield f"MatMul of {kind}, many rows", weight_only(kind, 64, 20, 32, (17,), True)
        yield f"MatMul of {kind}, float16", weight_only(kind, 130, 20, 32, (2, 3), True, "Transpose", np.float16)
        for block, columns in (16, 48), (32, 100), (16, 16), (0, 33), (None, 7):
            for zeros in False, True:
                yield f"Gather of {kind} by {block} {zeros}", looked_up(kind, columns, block, zeros, 1 + zeros, np.float16 if columns == 48 else np.float32)
    for bits in 2, 4, 8:
        yield f"MatMulNBits {bits} of float16", halved(few_bits(bits, 96, 40, 32, "packed", (2, 3)))
        yield f"GatherBlockQuantized {bits} of float16", halved(gathered(bits, True, 2, 32))


def halved(case):
    """The same with floats of 16 bits."""
    inputs, steps, _ = case
    half = lambda v: v.astype(np.float16) if isinstance(v, np.ndarray) and v.dtype == np.float32 else v
    return {name: half(v) for name, v in inputs.items()}, [(op, [half(v) for v in operands], *rest) for op, operands, *rest in steps], 0.1


def model(inputs, steps):
    nodes, weights = [], []
    for k, (op, operands, domain, attributes, results) in enumerate(steps):
        names = []
        for operand in operands:
            named = operand is None or isinstance(operand, str)
            names.append(operand or "" if named else f"w{len(weights)}")
            if isinstance(operand, onnx.TensorProto):
                operand.name = names[-1]
                weights.append(operand)
            elif not named:
                weights.append(numpy_helper.from_array(operand, names[-1]))
        nodes.append(helper.make_node(op, names, [result.format(k) for result in results], domain=domain, name=f"node_{k}", **attributes))
    shapes = {name: ["rows" if name == "open" else array.shape[0], *array.shape[1:]] if array.ndim else [] for name, array in inputs.items()}
    declared = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shapes[name]) for name, array in inputs.items()]
    read = [helper.make_empty_tensor_value_info(name) for name in nodes[-1].output if not name.startswith("unread")]
    graph = helper.make_graph(nodes, "quantized", declared, read, weights)
    kinds = {onnx.TensorProto.DataType.Name(tensor.data_type) for tensor in weights}
    blocks = any("block_size" in step[3] and not step[2] for step in steps)
    opset, ir = (25, 13) if kinds & {"INT2", "UINT2"} else (21, 10) if blocks or kinds & {"INT4", "UINT4"} else (17, 8)
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(MICROSOFT, 1)] * any(step[2] for step in steps)
    return helper.make_model(graph, opset_imports=imports, ir_version=ir)


def expected(made, inputs):
    try:
        return peer.session(made).run(None, inputs)
    except Exception:  # it has no blocks that end short, and not all types
        return ReferenceEvaluator(made).run(None, inputs)


def check(ingot, flags, inputs, steps, tolerance, want=None):
    made = model(inputs, steps)
    want = expected(made, inputs) if want is None else want
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        if not any(step[2] == "" for step in steps):
            del made.opset_import[1:]  # exporters forget com.microsoft
        onnx.save(made, path / "m.onnx")
        for k, (name, array) in enumerate(inputs.items()):
            (path / f"input_{k}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
        code, _, err = ingot_run.invoke([ingot, "run", path / "m.onnx", "--data", path, "--out", path / "out", *flags])
        if code:
            return err
        got = [numpy_helper.to_array(onnx.load_tensor(path / "out" / f"output_{k}.pb")) for k in range(len(want))]
    return next(filter(None, (compared(*pair, tolerance) for pair in zip(got, want))), None)


def compared(got, want, tolerance):
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    difference = np.abs(got.astype(np.float64) - want.astype(np.float64)).max()
    return None if difference <= tolerance else f"differs by {difference}"


def digits_for(ingot, flags):
    """Whether rows of a product with weights of 4 bits become digits."""
    inputs, steps, _ = few_bits(4, 64, 40, 32, "none", rows=(1,))
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model(inputs, steps), pathlib.Path(folder) / "m.onnx")
        done = subprocess.run([ingot, "compile", pathlib.Path(folder) / "m.onnx", "--stop-after", "partition", *flags], capture_output=True, text=True, check=True)
    return "formats.SplitIntegerMatMul" in done.stdout


def choices(ingot):
    """All machines that the product may be for must multiply bytes, and the order of operations be left open."""
    for flags, digits in (
        (["--target", "cascadelake"], True), (["--target", "cascadelake", "--accuracy", "strict"], False), (["--target", "x86-64-v3"], True), (["--levels", "x86-64-v4,x86-64-v3,x86-64-v2"], True), (["--target", "alderlake"], True),
        (["--target", "armv8.6-a"], True), (["--target", "portable", "--emit", "cpp"], False), (["--target", "x86-64-v3", "--emit", "cpp"], False), (["--levels", "armv8.6-a,armv8-a"], False)):  # fmt: skip
        found = digits_for(ingot, flags)
        yield f"digits with {' '.join(flags)}", None if found == digits else f"are {'' if found else 'not '}used"


def precision(ingot):
    """Rows of three digits are as good as floats, those of two (--accuracy fast) worse by their 2^-16 of the largest element: beside float64, as a part of the sum of the absolute products."""
    x, packed, scales = f(1, 768), bytes_of(np.uint8, 40, 24, 16), (random.random((40, 24)) * 0.1 + 0.01).astype(np.float32)
    steps = [node("MatMulNBits", ["x", packed, scales.reshape(-1)], K=768, N=40, bits=4, block_size=32)]
    numbers = np.stack([packed & 15, packed >> 4], -1).reshape(40, 768).astype(np.float64) - 8
    weights = numbers * np.repeat(scales.astype(np.float64), 32, axis=1)
    want, most = x.astype(np.float64) @ weights.T, np.abs(x).astype(np.float64) @ np.abs(weights).T
    for target in ("native", *(f"x86-64-v{level}" for level in ingot_run.levels_here(ingot, [3, 2], "digits"))):
        for accuracy, least, limit in (("default", 0, 6e-7), ("fast", 6e-7, 3e-5)):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder)
                onnx.save(model({"x": x}, steps), path / "m.onnx")
                (path / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
                subprocess.run([ingot, "run", path / "m.onnx", "--data", path, "--out", path / "out", "--target", target, "--accuracy", accuracy], capture_output=True, text=True, check=True)
                error = (np.abs(numpy_helper.to_array(onnx.load_tensor(path / "out" / "output_0.pb")) - want) / most).max()
            yield f"digits for {target}, {accuracy}", None if least <= error <= limit else f"off by {error}"


def rounded_rows(x, block):
    """Rows as what `accuracy_level` 4 lets them be: bytes, with a scale for each block."""
    blocks = np.pad(x, [(0, 0), (0, -x.shape[1] % block)]).reshape(len(x), -1, block)
    most = np.maximum(np.abs(blocks).max(-1, keepdims=True), np.float32(1e-30))
    values = np.round(blocks * (np.float32(127) / most)).astype(np.float64) * (most.astype(np.float64) / 127)
    return values.reshape(len(x), -1)[:, : x.shape[1]]


def byte_rows(ingot):
    """Rows that a model lets be bytes are bytes by default, for any number of them, and floats with strict accuracy. Integers are exact, so that what is left is the rounding of the sums of the blocks."""
    for bits, k, n, block, rows, name, with_zeros in ((4, 2048, 64, 32, 1, "x", False), (4, 300, 33, 64, 65, "x", True), (4, 96, 40, 32, 7, "x", True), (4, 512, 70, 128, 131, "open", False), (2, 96, 200, 16, 5, "open", True), (4, 13, 35, 16, 17, "x", False)):
        blocks = -(-k // block)
        x, packed, scales = f(rows, k), bytes_of(np.uint8, n, blocks, block * bits // 8), (random.random((n, blocks)) * 0.1 + 0.01).astype(np.float32)
        zeros = bytes_of(np.uint8, n, -(-blocks * bits // 8)) if with_zeros else None
        split = lambda bytes_, bits=bits, n=n: np.stack([bytes_ >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)], -1).reshape(n, -1).astype(np.float64)
        points = split(zeros)[:, :blocks] if with_zeros else np.full((n, blocks), 1 << bits - 1)
        wide = lambda values, block=block, k=k: np.repeat(values, block, axis=1)[:, :k]
        weights = (split(packed)[:, :k] - wide(points)) * wide(scales.astype(np.float64))
        most = (np.abs(x).astype(np.float64) @ np.abs(weights).T).max()
        steps = [node("MatMulNBits", [name, packed, scales.reshape(-1), *([zeros] if with_zeros else [])], K=k, N=n, bits=bits, block_size=block, accuracy_level=4)]
        for target in ("native", *(f"x86-64-v{level}" for level in ingot_run.levels_here(ingot, [3, 2], "rows of bytes"))):
            for accuracy, left in (("default", rounded_rows(x, block)), ("strict", x.astype(np.float64))):
                flags = ["--target", target, "--accuracy", accuracy]
                yield f"{rows}x{k} by {n} of {bits} bits, bytes, {' '.join(flags)}", check(ingot, flags, {name: x}, steps, 1e-6 * most, [(left @ weights.T).astype(np.float32)])


def main():
    arguments = ingot_run.parser(__doc__).parse_args()
    count, ingot = ingot_run.Count("quantized"), os.path.abspath(arguments.ingot)
    target = ["--target", arguments.target] if arguments.target else []
    for name, (inputs, steps, tolerance, *want) in cases():
        for accuracy in ("default", "strict") if tolerance == 0 else ("default",):
            count.add(f"{name}, {accuracy}", check(ingot, [*target, "--accuracy", accuracy], inputs, steps, tolerance, *want))
    for name, problem in choices(ingot):
        count.add(name, problem)
    for name, problem in (*precision(ingot), *byte_rows(ingot)):
        count.add(name, problem)
    count.finish()


if __name__ == "__main__":
    main()
