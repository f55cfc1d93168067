"""Nodes that ingot must refuse, and what it says of each.

    nodes.py --ingot build/bin/ingot

The nodes of a table stand in one model for each opset, unconnected, and every one must be reported, with its name, operator and opset, in a single run."""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import ingot_run
import numpy as np
from onnx import TensorProto, helper, numpy_helper

DOMAINS = {"ai.onnx.ml": 5, "com.microsoft": 1, "ai.onnx.preview.training": 1}  # and their versions
F, D, I = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64


def f(*shape):
    return F, shape


def i(*shape):
    return I, shape


def s(*shape):
    return TensorProto.STRING, shape


def i32(*shape):
    return TensorProto.INT32, shape


def ints(*values):
    """A constant operand."""
    return np.array(values, np.int64)


def numbers(*values, type=np.float32):
    return np.array(values, type)


BYTES = (TensorProto.UINT8, (2, 4))
ONE, U8, I8 = np.array(1, np.float32), np.array(0, np.uint8), np.array(0, np.int8)
IMAGE, KERNEL = f(1, 4, 8, 8), f(8, 4, 3, 3)
EXPERTS = [f(6, 8), f(6, 4), f(4, 16, 8), None, f(4, 8, 16)]
BYTE_EXPERTS = [f(6, 8), f(6, 4), (TensorProto.UINT8, (4, 16, 4)), f(4, 16), None, (TensorProto.UINT8, (4, 8, 8)), f(4, 8)]
LSTM = [f(5, 2, 3), f(1, 16, 3), f(1, 16, 4)]


def tree(**changes):
    """Attributes of a tree of three nodes, for two targets or classes."""
    nodes = dict(nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_featureids=[1, 0, 0], nodes_values=[0.5, 0.0, 0.0], nodes_truenodeids=[1, 0, 0],
                 nodes_falsenodeids=[2, 0, 0], n_targets=2, target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 1], target_weights=[1.0, 2.0])  # fmt: skip
    return {name: value for name, value in (nodes | changes).items() if value is not None}


def classes(**changes):
    """The same as a classifier."""
    return {name.replace("target_", "class_"): value for name, value in tree(n_targets=None, outputs=2, **changes).items()}


def forest(**changes):
    """A node and two leaves as TreeEnsemble has them."""
    real, small = TensorProto.FLOAT, TensorProto.UINT8
    nodes = dict(nodes_featureids=[0], nodes_modes=helper.make_tensor("", small, [1], [0]), nodes_splits=helper.make_tensor("", real, [1], [0.5]), nodes_truenodeids=[0], nodes_trueleafs=[1],
                 nodes_falsenodeids=[1], nodes_falseleafs=[1], leaf_targetids=[0, 0], leaf_weights=helper.make_tensor("", real, [2], [1.0, 2.0]), tree_roots=[0], n_targets=1)  # fmt: skip
    return {name: value for name, value in (nodes | changes).items() if value is not None}


def machine(**changes):
    """Two classes with a support vector each."""
    return dict(classlabels_ints=[0, 1], coefficients=[1.0, -1.0], support_vectors=[1.0, 2.0], vectors_per_class=[1, 1], rho=[0.5]) | changes


TOKENIZER = dict(mark=0, pad_value="", mincharnum=1, separators=[" "])
GRAMS = dict(mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0], ngram_indexes=[0, 1], pool_int64s=[1, 2])
DEFORM = [IMAGE, f(8, 4, 3, 3), f(1, 18, 6, 6)]


def decoder(*inputs, outputs=2, heads=2):
    """A decoder of the GPT-2 kind that is none: its scores are its weights."""
    kinds = [(TensorProto.INT32, ("b", "s"))] * 3 + [(F, (2, "b", heads, "p", 4))]
    given = [helper.make_tensor_value_info(f"in_{k}", *kind) for k, kind in enumerate(inputs or kinds)]
    nodes = [helper.make_node("Cast", ["in_0"], [f"out_{k}"], to=F) for k in range(outputs)]
    return helper.make_graph(nodes, "decoder", given, [helper.make_empty_tensor_value_info(f"out_{k}") for k in range(outputs)])


UNTYPED = helper.make_graph([helper.make_node("Cast", ["in_0"], ["out_0"], to=F)], "decoder", [helper.make_empty_tensor_value_info("in_0")], [helper.make_empty_tensor_value_info("out_0")])
TOKENS, ONE_MORE = (TensorProto.INT32, (2, 3)), np.array(9, np.int32)
GENERATION = dict(eos_token_id=2, pad_token_id=1)
BEAMS = [TOKENS, ONE_MORE, None, np.array(2, np.int32), np.array(2, np.int32)]
ML, MS, TRAINING = "ai.onnx.ml.", "com.microsoft.", "ai.onnx.preview.training."

# Found while the model is read: operator, operands (type and shape: an input; array: an initializer; None: left out), attributes, message; opset 17 unless `opset` says other.
READ = [
    ("QuantizeLinear", [f(2, 4), numbers(1, 1, 1)], {"axis": 1}, "scales of type 'tensor<3xf32>' for 4 places along axis 1"),
    ("QuantizeLinear", [f(2, 4), np.ones((2, 4), np.float32)], {}, "scales of type 'tensor<2x4xf32>', expected one number or a list of them"),
    ("QuantizeLinear", [f(2, 4), numbers(1, 1)], {"axis": 5}, "axis 5 is outside a tensor of rank 2"),
    ("QuantizeLinear", [f(2, 4), np.array(0, np.float32)], {}, "a scale is 0.00, expected a positive number"),
    ("QuantizeLinear", [f(2, 4), np.array(-2, np.float32)], {}, "a scale is -2.00, expected a positive number"),
    ("QuantizeLinear", [f(2, 4), np.array(np.nan, np.float32)], {}, "a scale is nan, expected a positive number"),
    ("QuantizeLinear", [f(2, 4), ONE, np.array(0, np.int64)], {}, "quantizes to element type 'i64', which has no such meaning"),
    ("QuantizeLinear", [f(2, 4), ONE, I8], {"output_dtype": 2, "opset": 21}, "zero point of element type 'i8', but attribute 'output_dtype' names 'ui8'"),
    ("QuantizeLinear", [f(2, 4), np.ones((2, 3), np.float32)], {"block_size": 2, "opset": 21}, "scales of type 'tensor<2x3xf32>' for blocks of 2 along axis 1 of 'tensor<2x4xf32>'"),
    ("QuantizeLinear", [f(2, 4), numbers(1, 1)], {"block_size": 2, "opset": 21}, "scales of type 'tensor<2xf32>' for blocks of a tensor of rank 2"),
    ("QuantizeLinear", [f(2, 4), ONE], {"output_dtype": 99, "opset": 21}, "attribute 'output_dtype' is 99, an unsupported element type"),
    (MS + "SkipLayerNormalization", [f(1, 4, 8), f(3, 4, 8), f(8)], {}, "the skip of type 'tensor<3x4x8xf32>' is larger than the input of type 'tensor<1x4x8xf32>'"),
    (MS + "ConvTransposeWithDynamicPads", [f(1, 4, 8), f(4, 2)], {}, "needs weights of known rank, three or more"),
    (MS + "MatMulNBitsMlp", [f(2, 32), None, f(32), (TensorProto.UINT8, (8, 1, 16)), f(8)], {"K": 32, "N": 8, "block_size": 32, "activation": "silu"}, "needs weights and scales of each product, and their sizes as attributes"),
    (MS + "MatMulNBitsMlp", [f(2, 32), None, f(32), *[(TensorProto.UINT8, (8, 1, 16)), f(8), None] * 2], {"K": 32, "N": 8, "block_size": 32, "activation": "gelu"}, "activation 'gelu' is not known"),
    (MS + "NhwcConv", [f(1, 4, 8), f(4, 2)], {}, "needs weights of known rank, three or more"),
    (MS + "CropAndResize", [IMAGE, f(3, 4), (TensorProto.INT32, (3,)), np.array([2, 2], np.int32)], {"mode": "cubic"}, "mode 'cubic' is unknown, expected 'bilinear' or 'nearest'"),
    (MS + "PackedAttention", [f(5, 6), f(6, 12), f(12), i32(2, 4), i32(3)], {"num_heads": 2, "qkv_hidden_sizes": [4, 8]}, "attribute 'qkv_hidden_sizes' has 2 numbers, expected three"),
    (MS + "PackedAttention", [f(5, 6), f(6, 12), f(12), i32(2, 4), i32(3)], {"num_heads": 0}, "needs a positive 'num_heads'"),
    (MS + "PackedMultiHeadAttention", [f(5, 8), f(5, 8), None, None, i32(2, 4), i32(3)], {"num_heads": 2}, "needs a query, key and value together or neither, and the tokens' offsets and numbers"),
    (MS + "RelativePositionBias", [f(3), i(1), i(1)], {"max_distance": 128}, "a table that is no matrix of known sizes is unsupported"),
    (MS + "RelativePositionBias", [f(32, 2), i(1), i(1)], {"max_distance": 16}, "a 'max_distance' of 16 does not fit 32 buckets"),
    (MS + "GatedRelativePositionBias", [f(1, 3, 8), f(8), f(1, 2, 3, 3), f(4, 3), f(3), f(1, 2, 1, 1)], {"num_heads": 2},
     "needs a positive 'num_heads' and weights of known sizes with an even number of columns"),
    (MS + "MRotaryEmbedding", [f(1, 2, 8), i(3, 1, 2), f(9, 4), f(9, 4)], {"mrope_section": [2, 2]}, "needs three numbers in 'mrope_section'"),
    (MS + "MRotaryEmbedding", [f(1, 2, 8), i(3, 1, 2), f(9, 4), f(9, 4)], {"mrope_section": [2, 1, 1], "scale": 2.0}, "is_packed_batching and a scale are unsupported"),
    (MS + "MRotaryEmbedding", [f(2, 8), i(3, 1, 2), f(9, 4), f(9, 4)], {"mrope_section": [2, 1, 1]}, "needs an input of three or four dimensions"),
    (MS + "SparseAttention", [f(1, 2, 32), f(1, 2, 16), None, f(1, 1, 8, 16), f(1, 1, 8, 16), i32(1, 5), i32(1, 10), i32(1), i32(1)],
     {"num_heads": 2, "kv_num_heads": 1, "sparse_block_size": 2}, "key and value, and with do_rotary both tables of angles, are given together"),
    (MS + "SparseAttention", [f(1, 2, 33), f(1, 2, 16), f(1, 2, 16), f(1, 1, 8, 16), f(1, 1, 8, 16), i32(1, 5), i32(1, 10), i32(1), i32(1)],
     {"num_heads": 2, "kv_num_heads": 1, "sparse_block_size": 2}, "2 heads and 1 of keys do not fit 'tensor<1x2x33xf32>'"),
    (MS + "SparseAttention", [f(1, 2, 32), f(1, 2, 16), f(1, 2, 16), f(1, 1, 8, 16), f(1, 1, 8, 16), i32(1, 5), i32(1, 10), i32(1), i32(1), (F, (9, "w")), (F, (9, "w"))],
     {"num_heads": 2, "kv_num_heads": 1, "sparse_block_size": 2, "do_rotary": 1}, "the width of the tables of angles must be known when the model is compiled"),
    (MS + "DecoderAttention", [f(2, 1, 8), f(3, 1, 8), f(8, 8), f(8, 16), f(24), None, None, None, *[(TensorProto.BOOL, (1,))] * 4], {"num_heads": 2},
     "needs a positive 'num_heads', flags that are constants, and the caches and the mask that they name"),
    (MS + "GroupNorm", [f(1, 4, 4, 8), f(8), f(8)], {"groups": 2, "activation": 2}, "needs an image, positive 'groups' and an 'activation' of 0 or 1"),
    (MS + "SkipGroupNorm", [f(1, 4, 4, 8), f(8), f(8), f(8)], {"groups": 2, "activation": 0}, "needs a skip of two dimensions, or of as many as the image"),
    (MS + "Rfft", [f(2, 8)], {"signal_ndim": 3}, "needs a signal of 'signal_ndim' axes; 'normalized' is 0 and 'onesided' 1"),
    (MS + "MulInteger", [BYTES], {}, "needs two operands"),
    (MS + "QOrderedGelu", [(TensorProto.INT8, (2, 4)), ONE, ONE], {"order_X": 1, "order_Y": 0}, "attributes 'order_X' and 'order_Y' are 1 and 0, expected the same"),
    (MS + "QOrderedGelu", [(TensorProto.INT8, (2, 4)), ONE, numbers(1, 1)], {"order_X": 1}, "scale of type 'tensor<2xf32>', expected one number"),
    (MS + "QOrderedLayerNormalization", [(TensorProto.INT8, (2, 4)), ONE, f(4), None, ONE], {"order_X": 0, "order_Y": 0}, "attributes 'order_X' and 'order_Y' are 0 and 0, expected 1: matrices are stored by rows"),
    (MS + "QuantizeWithOrder", [f(2, 32), ONE], {"order_input": 2, "order_output": 1}, "attribute 'order_input' is 2, expected 1: floats are stored by rows"),
    (MS + "QuantizeWithOrder", [f(2, 32), ONE], {"order_input": 1, "order_output": 3}, "attribute 'order_output' is 3, expected 0, 1 or 2"),
    (MS + "QuantizeWithOrder", [f(2, 33), ONE], {"order_input": 1, "order_output": 2}, "matrices of 'tensor<2x33xf32>' cannot be stored in strips of 32 columns"),
    (MS + "DequantizeWithOrder", [(TensorProto.INT8, (2, 32)), ONE], {"order_input": 1, "order_output": 1, "to": 11}, "attribute 'to' is 11, expected the number of float32 or float16"),
    (MS + "MurmurHash3", [BYTES], {}, "keys that are no numbers of 32 or 64 bits are unsupported"),
    (MS + "IsAllFinite", [f(2)], {"isinf_only": 1, "isnan_only": 1}, "needs an input, and at most one of 'isinf_only' and 'isnan_only'"),
    (MS + "IsAllFinite", [f(2), None, f(2)], {}, "has an input that is left out"),
    (MS + "BranchwiseRMSNorm", [f(2, 9)], {"num_branches": 2}, "needs streams of known width, and a number of branches that divides it"),
    (MS + "HyperConnectionPreMix", [f(2, 4, 8), f(2, 3)], {}, "a gate of type [2, 3] does not fit 4 branches of 8"),
    (MS + "EngramGate", [f(2, 4, 8), f(2, 4, 8), f(2, 8), f(4, 8), f(4, 8)], {}, "needs keys of four axes, the last of them known"),
    (MS + "NGramHashMapping", [i(1, 4), i(1), i(1)], {"max_ngram_size": 1, "n_head_per_ngram": 1, "pad_id": 0}, "needs a 'max_ngram_size' of two or more and a positive 'n_head_per_ngram'; ends of sequences"),
    (MS + "DynamicTimeWarping", [f(2, 4, 8)], {}, "costs of type 'tensor<2x4x8xf32>', expected a matrix"),
    (MS + "DynamicTimeWarping", [f(0, 8)], {}, "costs of type 'tensor<0x8xf32>' have no place"),
    ("com.microsoft.QLinearConcat", [ONE, U8, BYTES, ONE], {"axis": 0}, "has 4 inputs, expected a scale, a zero point and three for each part"),
    ("com.microsoft.QLinearAdd", [BYTES, numbers(1, 1), U8, BYTES, ONE, U8, ONE, U8], {}, "scale of type 'tensor<2xf32>', expected one number"),
    ("com.microsoft.MatMulNBits", [f(2, 32), (TensorProto.UINT8, (8, 1, 16)), f(8)], {"K": 32, "N": 8, "block_size": 32, "bits": 3}, "attribute 'bits' is 3, expected 2, 4 or 8"),
    ("com.microsoft.MatMulNBits", [f(2, 32), (TensorProto.UINT8, (8, 1, 16)), f(8)], {"K": 32, "N": 8, "block_size": 24},
     "attributes 'K', 'N' and 'block_size' are 32, 8 and 24, expected positive numbers and a power of two, at least 16"),
    ("com.microsoft.MatMulNBits", [f(2, 32), (TensorProto.UINT8, (8, 1, 15)), f(8)], {"K": 32, "N": 8, "block_size": 32}, "weights of type 'tensor<8x1x15xui8>', expected 128 bytes"),
    ("com.microsoft.MatMulNBits", [f(2, 32), (TensorProto.UINT8, (8, 1, 16)), f(9)], {"K": 32, "N": 8, "block_size": 32}, "scales of type 'tensor<9xf32>', expected 8"),
    ("com.microsoft.MatMulNBits", [f(2, 32), (TensorProto.UINT8, (8, 1, 16)), f(8), (TensorProto.UINT8, (9,))], {"K": 32, "N": 8, "block_size": 32}, "zero points of type 'tensor<9xui8>', expected 8"),
    ("com.microsoft.MatMulNBits", [f(2, 32), (TensorProto.UINT8, (2, 1, 16)), numbers(1, np.nan)], {"K": 32, "N": 2, "block_size": 32}, "a scale is nan, expected a finite number"),
    ("com.microsoft.MatMulNBits", [f(2, 32), (TensorProto.UINT8, (2, 1, 16)), numbers(-np.inf, -1)], {"K": 32, "N": 2, "block_size": 32}, "a scale is -INF, expected a finite number"),
    ("com.microsoft.MatMulNBits", [f(2, 32), (TensorProto.UINT8, (2, 1, 16)), numbers(1, -1), numbers(8, np.inf)], {"K": 32, "N": 2, "block_size": 32}, "a zero point is INF, expected a finite number"),
    ("com.microsoft.MatMulNBits", [f(2, 32), (TensorProto.UINT8, (2, 1, 16)), numbers(1, 1), numbers(15, 16, type=np.int32)], {"K": 32, "N": 2, "block_size": 32}, "a zero point is 16, expected one of 4 bits"),
    ("com.microsoft.MatMulNBits", [f(2, 32), (TensorProto.UINT8, (2, 1, 16)), numbers(1, 1), numbers(-1, 7, type=np.int32)], {"K": 32, "N": 2, "block_size": 32}, "a zero point is -1, expected one of 4 bits"),
    ("com.microsoft.GatherBlockQuantized", [(TensorProto.UINT8, (1, 24)), i(2), np.array([[1, np.inf, 1]], np.float32)], {"block_size": 16}, "a scale is INF, expected a finite number"),
    ("com.microsoft.GatherBlockQuantized", [(TensorProto.UINT8, (7, 24)), i(2), f(7, 3), (TensorProto.UINT8, (7, 3))], {"block_size": 16}, "zero points of type 'tensor<7x3xui8>', expected 'tensor<7x2xui8>'"),
    ("com.microsoft.GatherBlockQuantized", [(TensorProto.INT8, (7, 48)), i(2), f(7, 3), (TensorProto.UINT8, (7, 3))], {"block_size": 16, "bits": 8}, "zero points of type 'tensor<7x3xui8>', expected 'tensor<7x3xi8>'"),
    ("com.microsoft.MatMulNBits", [f(2, 32), (TensorProto.UINT8, (8, 1, 16)), f(8), None, (TensorProto.INT32, (32,))], {"K": 32, "N": 8, "block_size": 32}, "weights in an order of their own are unsupported"),
    ("com.microsoft.MatMulBnb4", [f(2, 32), (TensorProto.UINT8, (128,)), f(8)], {"K": 32, "N": 8, "block_size": 32, "quant_type": 2},
     "attributes 'K', 'N', 'block_size' and 'quant_type' are 32, 8, 32 and 2, expected positive numbers, a power of two, at least 16, and 0 or 1"),
    ("com.microsoft.MatMulBnb4", [f(2, 32), (TensorProto.UINT8, (127,)), f(8)], {"K": 32, "N": 8, "block_size": 32, "quant_type": 1},
     "weights 'tensor<127xui8>' with factors 'tensor<8xf32>', expected 128 bytes and 8 factors"),
    ("com.microsoft.MatMulBnb4", [f(2, 31), (TensorProto.UINT8, (128,)), f(8)], {"K": 32, "N": 8, "block_size": 32, "quant_type": 1}, "operand 'tensor<2x31xf32>' for weights of 8 by 32"),
    ("com.microsoft.GatherBlockQuantized", [(TensorProto.UINT8, (7, 24)), i(2), f(7, 3)], {"block_size": 8}, "attributes 'bits' and 'block_size' are 4 and 8, expected 2, 4 or 8, and a power of two, at least 16"),
    ("com.microsoft.GatherBlockQuantized", [(TensorProto.FLOAT8E4M3FN, (7, 48)), i(2), f(7, 3)], {"block_size": 16}, "a table of type 'tensor<7x48xf8E4M3FN>' with scales 'tensor<7x3xf32>' is unsupported"),
    ("com.microsoft.GatherBlockQuantized", [(TensorProto.UINT8, (7, 24)), i(2), f(7, 2)], {"block_size": 16}, "a table of type 'tensor<7x24xui8>' with scales 'tensor<7x2xf32>' along axis 1 does not fit"),
    ("com.microsoft.DynamicQuantizeLSTM", [f(5, 2, 3), (TensorProto.UINT8, (1, 3, 16)), (TensorProto.UINT8, (1, 4, 16)), None, None, None, None, None, f(3), (TensorProto.UINT8, (3,)), f(1), (TensorProto.UINT8, (1,))], {"hidden_size": 4},
     "scales of W are of type 'tensor<3xf32>', expected one for each direction or one for each of its columns, of 'tensor<1x3x16xui8>'"),
    ("com.microsoft.QAttention", [(TensorProto.UINT8, (1, 2, 6)), (TensorProto.INT8, (6, 12)), f(12), ONE, ONE], {"num_heads": 2, "do_rotary": 1}, "do_rotary and past_present_share_buffer are unsupported"),
    ("com.microsoft.QAttention", [(TensorProto.UINT8, (1, 2, 6)), (TensorProto.INT8, (6, 12)), f(12), ONE, ONE], {"num_heads": 3}, "input 'tensor<1x2x6xui8>', weights 'tensor<6x12xi8>' and 3 heads do not fit each other"),
    ("com.microsoft.QAttention", [(TensorProto.UINT8, (1, 2, 6)), (TensorProto.INT8, (6, 12)), f(12), ONE, ONE, None, None, None, f(3, 1, 2, 4, 2)], {"num_heads": 2},
     "past of type 'tensor<3x1x2x4x2xf32>' does not hold keys and values of so many heads"),
    ("com.microsoft.GroupQueryAttention", [f(1, 2, 32), f(1, 2, 16), f(1, 2, 16), None, None, (TensorProto.INT32, (1,)), (TensorProto.INT32, ())], {"num_heads": 2, "kv_num_heads": 1, "qk_output": 1},
     "a quantized or a sliding cache and qk_output are unsupported"),
    ("com.microsoft.GroupQueryAttention", [f(1, 2, 32), f(1, 2, 16), None, None, None, (TensorProto.INT32, (1,)), (TensorProto.INT32, ())], {"num_heads": 2, "kv_num_heads": 1},
     "key and value, past_key and past_value, the weights of a normalisation, and with do_rotary both caches are given together"),
    ("com.microsoft.GroupQueryAttention", [f(1, 2, 33), f(1, 2, 16), f(1, 2, 16), None, None, (TensorProto.INT32, (1,)), (TensorProto.INT32, ())], {"num_heads": 2, "kv_num_heads": 1},
     "2 heads and 1 of keys do not fit 'tensor<1x2x33xf32>', 'tensor<1x2x16xf32>', 'none'"),
    ("DequantizeLinear", [BYTES, ONE, I8], {}, "zero point of element type 'i8' for a tensor of 'ui8', expected the same"),
    ("DequantizeLinear", [BYTES, numbers(1, 1, 1, 1), numbers(0, 0, type=np.uint8)], {}, "zero points of type 'tensor<2xui8>' for scales of type 'tensor<4xf32>', expected as many"),
    ("DequantizeLinear", [BYTES, np.array(np.inf, np.float32)], {}, "a scale is INF, expected a positive number"),
    ("MatMulInteger", [BYTES, (TensorProto.INT8, (3, 5))], {}, "inner dimensions differ: A is 'tensor<2x4xui8>' and B is 'tensor<3x5xi8>'"),
    ("MatMulInteger", [BYTES, (TensorProto.INT8, (4, 5)), I8], {}, "zero point of element type 'i8' for a tensor of 'ui8', expected the same"),
    ("QLinearMatMul", [BYTES, ONE, U8, (TensorProto.INT8, (4, 5)), ONE, U8, ONE, U8], {}, "zero point of element type 'ui8' for a tensor of 'i8', expected the same"),
    ("QLinearConv", [(TensorProto.UINT8, (1, 4, 8, 8)), ONE, U8, (TensorProto.INT8, (8, 4, 3, 3)), numbers(1, 1, 1), np.zeros(3, np.int8), ONE, U8], {},
     "scales of W are of type 'tensor<3xf32>', expected one number or 8"),
    ("QLinearConv", [(TensorProto.UINT8, (1, 4, 8, 8)), numbers(1, 1), U8, (TensorProto.INT8, (8, 4, 3, 3)), ONE, I8, ONE, U8], {}, "scales of X are of type 'tensor<2xf32>', expected one number"),
    ("QLinearConv", [(TensorProto.UINT8, (1, 4, 8, 8)), ONE, U8, (TensorProto.INT8, (8, 4, 3, 3)), ONE, I8, numbers(1, 1, 1, 1, 1, 1, 1, 1), U8], {}, "scales of Y are of type 'tensor<8xf32>', expected one number"),
    ("QLinearMatMul", [BYTES, numbers(1, 1, 1), U8, (TensorProto.INT8, (4, 5)), ONE, I8, ONE, U8], {}, "scales of A are of type 'tensor<3xf32>', expected one number or 2"),
    ("QLinearMatMul", [BYTES, ONE, U8, (TensorProto.INT8, (4, 5)), numbers(1, 1, 1, 1), np.zeros(4, np.int8), ONE, U8], {}, "scales of B are of type 'tensor<4xf32>', expected one number or 5"),
    ("QLinearMatMul", [BYTES, ONE, U8, (TensorProto.INT8, (4, 5)), ONE, I8, numbers(1, 1, 1, 1, 1), U8], {}, "scales of Y are of type 'tensor<5xf32>', expected one number or 2"),
    ("com.microsoft.QGemm", [BYTES, ONE, U8, (TensorProto.INT8, (5, 4)), numbers(1, 1, 1, 1), np.zeros(4, np.int8)], {"transB": 1}, "scales of B are of type 'tensor<4xf32>', expected one number or 5"),
    ("com.microsoft.MatMulIntegerToFloat", [BYTES, (TensorProto.INT8, (4, 5)), ONE, numbers(1, 1, 1, 1), U8, np.zeros(4, np.int8)], {}, "scales of B are of type 'tensor<4xf32>', expected one number or 5"),
    ("com.microsoft.DynamicQuantizeMatMul", [f(2, 4), (TensorProto.INT8, (4, 5)), numbers(1, 1, 1, 1)], {}, "scales of B are of type 'tensor<4xf32>', expected one number or 5"),
    ("MatMulInteger", [BYTES, (TensorProto.INT8, (4, 5)), None, np.zeros(4, np.int8)], {}, "zero points of B are of type 'tensor<4xi8>', expected one number or 5"),
    ("ConvInteger", [(TensorProto.UINT8, (1, 4, 8, 8)), (TensorProto.INT8, (8, 4, 3, 3)), None, np.zeros(4, np.int8)], {}, "zero points of W are of type 'tensor<4xi8>', expected one number or 8"),
    ("DequantizeLinear", [(TensorProto.INT32, (2, 4)), ONE, np.array(3, np.int32)], {}, "a zero point of int32 is 3, expected zero"),
    ("ConvInteger", [(TensorProto.UINT8, (1, 4, 8, 8)), (TensorProto.INT8, (8, 3, 3, 3))], {}, "input has 4 channels, the weights are for 3"),
    ("Conv", [f(2, 3), KERNEL], {}, "input of rank 2, expected batch, channels and at least one spatial axis"),
    ("Conv", [IMAGE, f(8, 4, 3)], {}, "weights of rank 3 for an input of rank 4"),
    ("Conv", [IMAGE, KERNEL], dict(group=0), "attribute 'group' is 0"),
    ("Conv", [IMAGE, f(8, 3, 3, 3)], {}, "input has 4 channels, the weights are for 3"),
    ("Conv", [IMAGE, f(6, 1, 3, 3)], dict(group=4), "group of 4 does not divide 6 channels"),
    ("Conv", [IMAGE, KERNEL, f(7)], {}, "bias of type 'tensor<7xf32>' for 8 output channels"),
    ("Conv", [IMAGE, (D, (8, 4, 3, 3))], {}, "needs that operands have the same element type, but they are of tensor<1x4x8x8xf32>, tensor<8x4x3x3xf64>"),
    ("Conv", [IMAGE, KERNEL], dict(kernel_shape=[2, 2]), "attribute 'kernel_shape' contradicts the weights of type 'tensor<8x4x3x3xf32>'"),
    ("Conv", [IMAGE, KERNEL], dict(strides=[1, 1, 1]), "attribute 'strides' has 3 entries, expected 2"),
    ("Conv", [IMAGE, KERNEL], dict(strides=[0, 1]), "attribute 'strides' has the entry 0, expected 1 or more"),
    ("Conv", [IMAGE, KERNEL], dict(auto_pad="SOMETIMES"), "attribute 'auto_pad' is 'SOMETIMES', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER"),
    ("ConvTranspose", [IMAGE, f(4, 2, 3)], {}, "weights of rank 3 for an input of rank 4"),
    ("ConvTranspose", [IMAGE, f(4, 2, 3, 3)], dict(output_shape=[0, 5]), "attribute 'output_shape' must have a positive entry for each of 2 spatial axes"),
    ("ConvTranspose", [IMAGE, f(4, 2, 3, 3)], dict(pads=[9, 0, 9, 0]), "pads leave nothing of the output on axis 2"),
    ("MaxPool", [IMAGE], dict(kernel_shape=[9, 9]), "a window of 9 does not fit the padded input of 8 on axis 2"),
    ("MaxPool", [IMAGE], dict(kernel_shape=[9, 9], ceil_mode=1), "a window of 9 does not fit the padded input of 8 on axis 2"),
    ("MaxPool", [IMAGE], dict(kernel_shape=[0, 1]), "kernel has a dimension of 0"),
    ("AveragePool", [IMAGE], dict(kernel_shape=[2]), "kernel has 1 spatial axes, the input 2"),
    ("MaxPool", [f(2, 3)], dict(kernel_shape=[2]), "input of rank 2, expected batch, channels and at least one spatial axis"),
    ("GlobalMaxPool", [f(3)], {}, "input of rank 1, expected batch, channels and spatial axes"),
    ("LRN", [f(3)], dict(size=3), "input of rank 1, expected batch and channels"),
    ("LRN", [IMAGE], dict(size=0), "attribute 'size' is 0"),
    ("Mul", [f(2), (D, (2,))], {}, "operands have element types that differ: 'f32' and 'f64'"),
    ("Mul", [f(2, 3), f(4, 3)], {}, "operands have shapes that do not broadcast: [2, 3] and 'tensor<4x3xf32>'"),
    ("Where", [f(2), f(2), f(2)], {}, "must be tensor of 1-bit signless integer values, but got 'tensor<2xf32>'"),
    ("Where", [(TensorProto.BOOL, (2,)), f(2), i(2)], {}, "operands have element types that differ: 'f32' and 'i64'"),
    ("MatMul", [f(2, 3), f()], {}, "operands must have at least one dimension"),
    ("MatMul", [f(2, 3), f(4, 5)], {}, "inner dimensions differ: A is 'tensor<2x3xf32>' and B is 'tensor<4x5xf32>'"),
    ("MatMul", [f(3, 2, 2), f(2, 2, 2)], {}, "batch dimensions do not broadcast: A is 'tensor<3x2x2xf32>' and B is 'tensor<2x2x2xf32>'"),
    ("Gemm", [f(3), f(3, 3)], {}, "A and B must be matrices, not 'tensor<3xf32>' and 'tensor<3x3xf32>'"),
    ("Gemm", [f(2, 3), f(4, 5)], {}, "inner dimensions differ: A' has 3 columns, B' has 4 rows"),
    ("Gemm", [f(2, 3), f(3, 5), f(4)], {}, "C of type 'tensor<4xf32>' does not broadcast to [2, 5]"),
    ("Einsum", [f(2, 3)], dict(equation="ab,bc->ac"), "equation 'ab,bc->ac' has 2 terms for 1 operands"),
    ("Einsum", [f(2, 3)], dict(equation="abc->a"), "term 'abc' does not fit 'tensor<2x3xf32>'"),
    ("Einsum", [f(2, 3), f(4, 5)], dict(equation="ab,bc->ac"), "an axis of equation 'ab,bc->ac' has sizes that differ"),
    ("Einsum", [f(2, 3)], dict(equation="ab->c"), "the result of equation 'ab->c' has an axis that no term has"),
    ("Gather", [f(2, 3), i(1)], dict(axis=2), "axis 2 is outside of 'tensor<2x3xf32>'"),
    ("Gather", [f(2, 3), ints(1, 2)], {}, "index 2 is outside of a dimension of size 2"),
    ("GatherElements", [f(2, 3), i(2)], {}, "data and indices have ranks that differ"),
    ("GatherElements", [f(2, 3), i(2, 4)], {}, "indices go beyond the data along axis 1"),
    ("GatherND", [f(2, 3), i(4, 3)], {}, "tuples of 3 after 0 batch dimensions do not fit 'tensor<2x3xf32>'"),
    ("ScatterElements", [f(2, 3), i(1, 3), f(2, 3)], {}, "updates and indices differ in shape, or from the data in rank"),
    ("ScatterND", [f(2, 3), i(4, 3), f(4)], {}, "tuples of 3 do not fit 'tensor<2x3xf32>'"),
    ("ScatterND", [f(2, 3), i(4, 1), f(4, 2)], {}, "updates have the shape 'tensor<4x2xf32>', expected [4, 3]"),
    ("OneHot", [i(2), ints(-1), f(2)], {}, "depth is negative"),
    ("OneHot", [i(2), i(0), f(2)], {}, "depth of type 'tensor<0xi64>' is not one number"),
    ("OneHot", [i(2), ints(3), f(2)], dict(axis=4), "axis is outside of the result's shape"),
    ("Trilu", [f(3)], {}, "needs at least two axes, has 'tensor<3xf32>'"),
    ("TopK", [f(2, 3), ints(2)], dict(axis=5), "axis 5 is outside of 'tensor<2x3xf32>'"),
    ("TopK", [f(2, 3), ints(4)], {}, "k is 4, along an axis of 3"),
    ("TopK", [f(2, 3), ints(1, 2)], {}, "k of type 'tensor<2xi64>' is not one number"),
    ("Transpose", [f(2, 3)], dict(perm=[0, 0]), "perm [0, 0] is not a permutation of the axes of 'tensor<2x3xf32>'"),
    ("Slice", [f(2, 3), ints(0), ints(1, 2)], {}, "starts, ends, axes and steps have lengths that differ"),
    ("Slice", [f(2, 3), i(1), i(1), i(2)], {}, "starts, ends, axes and steps have lengths that differ"),
    ("Reshape", [f(2, 3), i(65)], {}, "gives a tensor of 65 dimensions, more than 64 are unsupported"),
    ("Unsqueeze", [f(2, 3), i(63)], {}, "gives a tensor of 65 dimensions, more than 64 are unsupported"),
    ("Slice", [f(2, 3), ints(0), ints(1), ints(2)], {}, "axis is outside of the operand's shape"),
    ("Slice", [f(2, 3), ints(0), ints(1), ints(0), ints(0)], {}, "step is zero"),
    ("Concat", [f(2), i(2)], dict(axis=0), "needs that operands have the same element type, but they are of tensor<2xf32>, tensor<2xi64>"),
    ("Concat", [f(2), f(2)], dict(axis=1), "axis 1 is outside of 'tensor<2xf32>'"),
    ("Gather", [f(3), (TensorProto.UINT32, (2,))], {}, "must be tensor of int32 or int64 values, but got 'tensor<2xui32>'"),
    ("GatherElements", [f(3), (TensorProto.UINT64, (2,))], {}, "must be tensor of int32 or int64 values, but got 'tensor<2xui64>'"),
    ("Concat", [f(2), f(2, 3)], dict(axis=0), "operands have ranks that differ"),
    ("Concat", [f(2, 3), f(2, 4)], dict(axis=0), "operands differ along axis 1: 3 and 4"),
    ("Compress", [f(2, 3), np.array([True, False, True])], dict(axis=0), "keeps element 2 of 2"),
    ("Expand", [f(2, 3), ints(2, 4)], {}, "cannot expand 'tensor<2x3xf32>' to [2, 4]"),
    ("Tile", [f(2, 3), ints(2)], {}, "repeats of type 'tensor<1xi64>' for 2 axes"),
    ("Tile", [f(2, 3), ints(2, -1)], {}, "repeats an axis -1 times"),
    ("Pad", [f(2, 3), ints(1, 1)], {}, "pads of type 'tensor<2xi64>' for 2 axes"),
    ("Pad", [f(2, 3), ints(1, 1), None, ints(3)], dict(opset=19), "axis 3 is outside of 'tensor<2x3xf32>'"),
    ("Pad", [f(2, 3), ints(0, -2, 0, -2)], {}, "cuts more than there is along axis 1"),
    ("Pad", [f(2, 0), ints(0, 1, 0, 0)], dict(mode="edge"), "cannot pad 0 elements from themselves along axis 1"),
    ("Split", [f(5), ints(2, 2)], dict(outputs=2), "cannot split 5 into [2, 2]"),
    ("Split", [f(5), ints(2, 2, 1)], dict(outputs=2), "split of type 'tensor<3xi64>' for 2 results"),
    ("Split", [f(5)], dict(axis=1, outputs=2), "axis 1 is outside of 'tensor<5xf32>'"),
    ("DepthToSpace", [f(4, 4)], dict(blocksize=2), "needs four axes and a positive block size, has 'tensor<4x4xf32>' and 2"),
    ("SpaceToDepth", [f(1, 1, 3, 4)], dict(blocksize=2), "blocks of 2 do not divide 'tensor<1x1x3x4xf32>'"),
    ("LSTM", [f(5, 2, 3), f(16, 3), f(1, 16, 4)], dict(hidden_size=4), "X, W and R must have three dimensions, not 'tensor<5x2x3xf32>', 'tensor<16x3xf32>', 'tensor<1x16x4xf32>'"),
    ("LSTM", LSTM, dict(hidden_size=4, direction="upward"), "direction 'upward' is not known"),
    ("GRU", LSTM, dict(hidden_size=4), "W of type 'tensor<1x16x3xf32>' and R of type 'tensor<1x16x4xf32>' do not fit X of type 'tensor<5x2x3xf32>' and 3 gates"),
    ("LSTM", LSTM, dict(hidden_size=4, activations=["Tanh", "Nothing", "Tanh"]), "an activation is not known: [\"Tanh\", \"Nothing\", \"Tanh\"]"),
    ("LSTM", [*LSTM, f(4)], dict(hidden_size=4), "B has the shape [4], expected [1, 32]"),
    ("Attention", [f(2, 3), f(2, 3), f(2, 3)], dict(opset=23), "Q, K and V must all have three dimensions or all four, not 'tensor<2x3xf32>'"),
    ("Attention", [f(1, 2, 3, 4)] * 3 + [None, f(1, 2, 3, 4)], dict(opset=23), "past_key and past_value are given together or not at all"),
    ("Attention", [f(1, 2, 3, 4)] * 3, dict(opset=23, qk_matmul_output_mode=4), "attribute 'qk_matmul_output_mode' is 4"),
    ("Attention", [f(1, 2, 3, 4), f(1, 2, 3, 4), f(2, 2, 3, 4)], dict(opset=23), "Q, K and V have different batches: 'tensor<1x2x3x4xf32>', 'tensor<1x2x3x4xf32>', 'tensor<2x2x3x4xf32>'"),
    ("Attention", [f(1, 2, 3, 4), f(1, 2, 3, 4), f(1, 2, 5, 4)], dict(opset=23), "K and V have different heads or steps: 'tensor<1x2x3x4xf32>', 'tensor<1x2x5x4xf32>'"),
    ("BatchNormalization", [IMAGE, f(4), f(4), f(4), f(3)], {}, "operand of type 'tensor<3xf32>' does not have a value for each channel of 'tensor<1x4x8x8xf32>'"),
    ("BatchNormalization", [f(5), f(1), f(1), f(5), f(1)], {}, "operand of type 'tensor<5xf32>' does not have a value for each channel of 'tensor<5xf32>'"),
    ("BatchNormalization", [IMAGE, f(4), f(4), f(4), f(4)], dict(opset=9, outputs=5), "has outputs that only training writes, which is unsupported"),
    ("NonMaxSuppression", [f(1, 5, 4), f(1, 2, 6)], {}, "needs boxes [batches, boxes, 4] and scores [batches, classes, boxes], not 'tensor<1x5x4xf32>' and 'tensor<1x2x6xf32>'"),
    ("NonMaxSuppression", [f(1, 5, 4), f(1, 2, 5), i(2)], {}, "needs a limit and thresholds of one element"),
    ("Unique", [f(2, 0)], dict(axis=0), "compares slices without elements"),
    ("Unique", [f(2, 3)], dict(axis=2), "axis 2 is outside of 'tensor<2x3xf32>'"),
    ("ReverseSequence", [f(2, 3), i(2)], dict(time_axis=0, batch_axis=1), "sequence_lens of type 'tensor<2xi64>' do not fit 'tensor<2x3xf32>'"),
    ("OneHot", [i(2), ints(3), f(3)], {}, "values of type 'tensor<3xf32>' are not two"),
    ("GroupNormalization", [IMAGE, f(3), f(3)], dict(num_groups=3, opset=18), "the channels of 'tensor<1x4x8x8xf32>' do not divide into 3 groups"),
    ("ReverseSequence", [f(2, 3), i(2)], dict(time_axis=4, batch_axis=0), "time_axis or batch_axis is outside of 'tensor<2x3xf32>'"),
    ("CumSum", [f(2, 3), ints(2)], {}, "axis 2 is outside a tensor of rank 2"),
    ("CumProd", [f(2, 3), ints(2)], dict(opset=26), "axis 2 is outside a tensor of rank 2"),
    ("BitCast", [f(2)], dict(to=7, opset=26), "gives the bits of 'f32' as 'i64', which has others"),
    ("BitCast", [f(2)], dict(to=14, opset=26), "casts to element type 14, which is unsupported"),
    ("NegativeLogLikelihoodLoss", [f(2, 3), i(2)], dict(reduction="most"), "attribute 'reduction' is 'most', expected none or sum or mean"),
    ("NegativeLogLikelihoodLoss", [f(2, 3), i(3)], {}, "needs scores [batch, classes, places...] and a class [batch, places...], not 'tensor<2x3xf32>' and 'tensor<3xi64>'"),
    ("SoftmaxCrossEntropyLoss", [f(2, 3), i(2), f(2)], dict(outputs=2), "needs a weight for each class of 'tensor<2x3xf32>', not 'tensor<2xf32>'"),
    ("HannWindow", [ints(4).reshape(())], dict(output_datatype=9), "element type 9 is unsupported"),
    ("BlackmanWindow", [ints(-4).reshape(())], {}, "has -4 samples"),
    ("DFT", [f(2, 8, 3)], {}, "cannot transform 'tensor<2x8x3xf32>' along axis 1: the last axis is for the parts of a number"),
    ("DFT", [f(2, 8, 2)], dict(axis=2), "cannot transform 'tensor<2x8x2xf32>' along axis 2: the last axis is for the parts of a number"),
    ("DFT", [f(2, 8, 2)], dict(onesided=1), "gives one side of the transform of complex numbers, which has two"),
    ("DFT", [f(2, 8, 1), ints(0).reshape(())], {}, "transforms 0 samples"),
    ("DFT", [f(2, 1 << 14, 1)], {}, "transforms of 16384 samples are unsupported"),
    ("STFT", [f(80), ints(4).reshape(()), f(8)], {}, "needs a signal [batch, samples] or [batch, samples, parts], a step and a window [samples], not 'tensor<80xf32>', 'tensor<i64>' and 'tensor<8xf32>'"),
    ("STFT", [f(2, 80, 1), ints(4).reshape(()), f(8), ints(9).reshape(())], {}, "has frames of 9 samples and a window of 'tensor<8xf32>'"),
    ("AffineGrid", [f(2, 2, 4), ints(2, 3, 4, 5)], dict(opset=20), "needs matrices [batch, 2, 3] or [batch, 3, 4] and the size of an image of so many axes, not 'tensor<2x2x4xf32>' and 'tensor<4xi64>'"),
    ("CenterCropPad", [f(2, 3), ints(4)], dict(opset=18), "axes and sizes of type 'tensor<1xi64>' do not fit 'tensor<2x3xf32>'"),
    ("Col2Im", [f(1, 9, 4), ints(4, 4), ints(3, 3)], dict(strides=[1], opset=18), "image_shape or block_shape has not 1 entries, one for each axis"),
    ("Col2Im", [f(1, 9, 5), ints(4, 4), ints(3, 3)], dict(opset=18), "blocks of type 'tensor<1x9x5xf32>' do not make the image that is asked for"),
    ("MaxUnpool", [f(1, 1, 2, 2), i(1, 1, 2, 3)], dict(kernel_shape=[2, 2]), "indices, kernel, pads, strides or output_shape do not fit 'tensor<1x1x2x2xf32>'"),
    ("CausalConvWithState", [f(1, 4, 6), f(4, 1, 3)], dict(outputs=2, activation="relu", opset=27), "attribute 'activation' is 'relu', expected none or silu or swish"),
    ("CausalConvWithState", [f(1, 4, 6), f(3, 1, 3)], dict(outputs=2, opset=27), "weights of type 'tensor<3x1x3xf32>' or the past state do not fit 'tensor<1x4x6xf32>'"),
    ("LinearAttention", [f(1, 2, 8)] * 3, dict(outputs=2, q_num_heads=2, kv_num_heads=2, update_rule="fast", opset=27), "attribute 'update_rule' is 'fast', expected linear or gated or delta or gated_delta"),
    ("LinearAttention", [f(1, 2, 8)] * 3, dict(outputs=2, q_num_heads=2, kv_num_heads=2, opset=27), "decay, beta, the past state or 2 query heads and 2 heads of keys do not fit 'tensor<1x2x8xf32>', 'tensor<1x2x8xf32>', 'tensor<1x2x8xf32>'"),
    ("LpPool", [IMAGE], dict(kernel_shape=[2, 2], p=0), "attribute 'p' is 0"),
    ("GlobalLpPool", [IMAGE], dict(p=0), "attribute 'p' is 0"),
    ("GlobalLpPool", [IMAGE], dict(p=2.5), "attribute 'p' is 2.500000, which is no integer"),
    ("ImageDecoder", [(TensorProto.UINT8, (9,))], dict(pixel_format="HSV"), "attribute 'pixel_format' is 'HSV'; it may be RGB, BGR or Grayscale"),
    ("ImageDecoder", [IMAGE], {}, "needs a tensor of uint8 of one axis"),
    ("ReduceSum", [f(2, 3), ints(2)], {}, "axis 2 is outside a tensor of rank 2"),
    ("ArgMax", [f(2, 3)], dict(axis=2), "axis 2 is outside a tensor of rank 2"),
    ("Softmax", [f(2, 3)], dict(axis=2), "axis 2 is outside a tensor of rank 2"),
    ("Softmax", [f(2, 3)], dict(axis=3, opset=11), "axis 3 is outside a tensor of rank 2"),
    ("Resize", [f(2, 3), None, None, ints(4)], {}, "scales, sizes or roi do not have an entry for each axis"),
    ("Resize", [f(), None, f(4)], {}, "scales, sizes or roi do not have an entry for each axis"),
    ("Resize", [f(2, 3), None, None, ints(4, -1)], {}, "cannot resize axis 1 of 'tensor<2x3xf32>'"),
    ("Resize", [f(2, 3), None, None, ints(4)], dict(axes=[2], opset=18), "axis 2 is outside of 'tensor<2x3xf32>'"),
    ("GridSample", [IMAGE, f(1, 2, 2, 2)], dict(mode="cubist"), "attribute 'mode' is 'cubist', expected linear or nearest or cubic"),
    ("GridSample", [IMAGE, f(1, 2, 2, 2)], dict(padding_mode="ones"), "attribute 'padding_mode' is 'ones', expected zeros or border or reflection"),
    ("GridSample", [IMAGE, f(1, 2, 2, 3)], {}, "needs a grid [batch, places..., spatial axes] for an image [batch, channels, pixels...], not 'tensor<1x2x2x3xf32>' for 'tensor<1x4x8x8xf32>'"),
    ("GridSample", [f(1, 4, 8, 0), f(1, 2, 2, 2)], {}, "samples an image without pixels"),
    ("GridSample", [f(1, 1, 1 << 16, 1 << 15), f(1, 2, 2, 2)], {}, "samples an image of more than 2147483647 pixels"),
    ("MaxRoiPool", [IMAGE, f(3, 5)], dict(pooled_shape=[2]), "attribute 'pooled_shape' is [2], expected two positive numbers"),
    ("MaxRoiPool", [IMAGE, f(3, 5)], dict(pooled_shape=[2, 0]), "attribute 'pooled_shape' is [2, 0], expected two positive numbers"),
    ("MaxRoiPool", [IMAGE, f(3, 4)], dict(pooled_shape=[2, 2]), "needs an image [batch, channels, height, width] and regions [n, 5], not 'tensor<1x4x8x8xf32>' and 'tensor<3x4xf32>'"),
    ("RoiAlign", [IMAGE, f(3, 4), i(3)], dict(mode="sum"), "attribute 'mode' is 'sum', expected avg or max"),
    ("RoiAlign", [IMAGE, f(3, 4), i(3)], dict(coordinate_transformation_mode="pixel"), "attribute 'coordinate_transformation_mode' is 'pixel', expected half_pixel or output_half_pixel"),
    ("RoiAlign", [IMAGE, f(3, 4), i(3)], dict(output_width=0), "regions of 1 by 0 bins"),
    ("RoiAlign", [IMAGE, f(3, 4), i(3)], dict(sampling_ratio=1 << 40), "attribute 'sampling_ratio' is 1099511627776"),
    ("RoiAlign", [IMAGE, f(3, 5), i(3)], {}, "needs an image [batch, channels, height, width], regions [n, 4] and batches [n], not 'tensor<1x4x8x8xf32>', 'tensor<3x5xf32>' and 'tensor<3xi64>'"),
    ("Reshape", [f(2, 3), ints(-2, 3)], {}, "shape has a negative dimension -2"),
    ("Reshape", [f(2, 3), ints(2, 3, 0)], {}, "shape copies dimension 2 of an operand of 2 dimensions"),
    ("Reshape", [f(2, 3), ints(-1, -1)], {}, "shape has more than one dimension of -1"),
    ("Reshape", [f(2, 3), ints(4, 2)], {}, "cannot give 6 elements the shape [4, 2]"),
    ("Flatten", [f(2, 3)], dict(axis=3), "axis 3 is outside of 'tensor<2x3xf32>'"),
    ("Squeeze", [f(2, 1), ints(2)], {}, "axis 2 is outside of the shape"),
    ("Unsqueeze", [f(2, 1), ints(1, 1)], {}, "axis 1 is given twice"),
    ("Squeeze", [f(2, 1), ints(0)], {}, "squeezes a dimension of 2"),
    ("ConstantOfShape", [ints(2, -1)], {}, "shape has a negative dimension"),
    ("Range", [i(0), i(), i()], {}, "has an operand of type 'tensor<0xi64>', which is not one number"),
    ("Range", [ints(0).reshape(()), ints(9).reshape(()), ints(0).reshape(())], {}, "delta is zero"),
    ("EyeLike", [f(2, 2)], dict(dtype=8), "element type 8 is unsupported"),
    ("Cast", [f(2)], dict(to=14), "casts to element type 14, which is unsupported"),
    ("Cast", [f(2)], {}, "attribute 'to' is missing"),
    ("Cast", [f(2)], dict(to=24, round_mode="odd", opset=25), "attribute 'round_mode' is 'odd', expected up or down or nearest"),
    ("CastLike", [f(2), f(2)], dict(round_mode="odd", opset=25), "attribute 'round_mode' is 'odd', expected up or down or nearest"),
    ("Add", [f(2, 3), f(3)], dict(broadcast=1, axis=3, opset=6), "'axis' 3 is outside of the first operand's shape"),
    ("Tile", [f(2, 3), i(1), ints(0)], dict(opset=5), "tiles along an axis that is not known at compile time"),
    ("Crop", [f(2, 3)], dict(border=[0, 0, 0, 0], opset=5), "needs four axes, a border of four numbers and, if any, a scale of two"),
    ("Crop", [IMAGE], dict(border=[0, 9, 0, 0], opset=5), "border goes beyond 'tensor<1x4x8x8xf32>'"),
    ("Constant", [], {}, "needs exactly one attribute with the value"),
    ("Constant", [f(1)], dict(value_int=1), "needs no input and one output"),
    ("Expand", [f(1), ints(1 << 40, 1 << 40)], {}, "gives a tensor of impossible dims [1099511627776, 1099511627776]"),
    ("Relu", [f(1), f(1)], {}, "has 2 inputs, but the operator takes 1"),
    ("Relu", [f(1)], dict(outputs=2), "has 2 outputs, but the operator gives 1"),
    ("Relu", [f(1)], dict(alpha=1.0), "has the unknown attribute 'alpha'"),
    ("Relu", [], {}, "has too few inputs: the first is missing"),
    ("Add", [f(1)], {}, "has too few inputs: input 1 is missing"),
    ("RandomNormal", [], dict(shape=[2], dtype=6), "cannot draw numbers of element type 6"),
    ("RandomUniformLike", [i(2)], {}, "cannot draw numbers of element type 7"),
    ("Bernoulli", [f(2)], dict(dtype=8), "cannot draw numbers of element type 8"),
    ("RandomUniform", [], dict(shape=[2, -1]), "shape has a negative dimension"),
    ("Multinomial", [f(3)], {}, "needs logarithms of probabilities [batch, classes], not 'tensor<3xf32>'"),
    ("Multinomial", [f(2, 3)], dict(sample_size=-1), "draws int32 or int64 numbers of classes, not -1 of element type 6"),
    ("LayerNormalization", [f(2, 3), f(4)], {}, "operand of type 'tensor<4xf32>' does not fit the last axes of 'tensor<2x3xf32>'"),
    ("Frobnicate", [f(1)], {}, "unknown or unsupported operator"),
    ("Det", [f(2, 3)], {}, "needs square matrices, not 'tensor<2x3xf32>'"),
    ("DeformConv", [f(1, 4, 8), *DEFORM[1:]], dict(opset=19), "takes an image of two spatial axes, not 'tensor<1x4x8xf32>'"),
    ("DeformConv", DEFORM, dict(opset=19, strides=[0, 1]), "strides, dilations, pads or groups do not fit 'tensor<8x4x3x3xf32>'"),
    ("DeformConv", [*DEFORM[:2], f(1, 17, 6, 6)], dict(opset=19), "channels, groups and offsets do not fit each other: 'tensor<1x4x8x8xf32>'"),
    ("DeformConv", [*DEFORM[:2], f(1, 18, 7, 6)], dict(opset=19), "offset of type 'tensor<1x18x7x6xf32>' for results of"),
    ("MelWeightMatrix", [i(), i(), i(), f(), f()], dict(output_datatype=6), "gives elements of a type that is unsupported"),
    ("TfIdfVectorizer", [f(3)], GRAMS, "has no pool for elements of its input, or their rank is unknown"),
    ("TfIdfVectorizer", [i(3, 3, 3)], GRAMS, "takes a matrix or one row"),
    ("TfIdfVectorizer", [i(3)], GRAMS | dict(min_gram_length=2), "lengths of n-grams, their counts, or their weights do not fit each other"),
    ("TfIdfVectorizer", [i(3)], GRAMS | dict(ngram_counts=[0, 1]), "the pool has 1 elements for n-grams of 2"),
    ("TfIdfVectorizer", [i(3)], GRAMS | dict(ngram_indexes=[0]), "1 indexes for 2 n-grams, or one that is no index"),
    ("TfIdfVectorizer", [i(3)], GRAMS | dict(mode="FT"), "mode 'FT' is not known, expected TF, IDF or TFIDF"),
    (ML + "ZipMap", [f(1, 2)], dict(classlabels_int64s=[0, 1, 2]), "3 keys for 2 columns"),
    (ML + "ZipMap", [f(1, 2, 2)], dict(classlabels_int64s=[0, 1]), "needs a matrix, or one row"),
    (ML + "CategoryMapper", [i(2)], dict(cats_int64s=[0, 1], cats_strings=["a"]), "2 integers do not fit 1 strings"),
    (ML + "DictVectorizer", [i(2), f(2)], dict(string_vocabulary=["a"]), "has no vocabulary for keys of int64"),
    (ML + "CastMap", [i(2), f(2)], dict(cast_to="TO_BYTES"), "cast_to 'TO_BYTES' or map_form 'DENSE' is not known"),
    (ML + "CastMap", [i(2), f(2)], dict(map_form="SPARSE", max_map=0), "max_map 0 is no size of a row"),
    ("StringConcat", [f(2), f(2)], dict(opset=20), "input 0 is of float32, not of strings"),
    ("StringNormalizer", [s(2, 2)], {}, "needs strings [c] or [1, c]"),
    ("StringNormalizer", [s(2)], dict(case_change_action="TITLE"), "case_change_action 'TITLE' is not known, expected NONE, LOWER or UPPER"),
    *(("RegexFullMatch", [s(2)], dict(pattern=pattern, opset=20), why) for pattern, why in [
        ("a)", "pattern 'a)' has a ) without a ("), ("(a", "has a ( without a )"), ("[a", "has a [ without a ]"), ("*", "repeats nothing"), ("a**", "repeats a repetition"), ("\\", None),
        ("a{2000}", "repeats 2000 to 2000 times; at most 1000 are supported"), (r"\1", "refers back to a group, which is unsupported"), (r"\pL", r"has \p, which is unsupported"),
        ("(?=a)", "has a group that begins with (?=, which is unsupported"), ("(?<=a)", "has a group with an invalid name, or looks behind, which is unsupported"), ("[[:word]", "has an unknown class of characters [:word]:]"),
        ("[b-a]", "has a range of characters that ends before it begins"), (r"\xzz", r"has \x without a hexadecimal code behind it"), ("a\\", "ends with a backslash"), ("(" * 300 + ")" * 300, "is nested too deeply"),
        ("((a{100}){100}){100}", "is too long once its repetitions are written out, which is unsupported"), ("(a|b)*a(a|b){20}", "needs an automaton of more than 10,000 states, which is unsupported")] if why),
    (MS + "Tokenizer", [f(2)], TOKENIZER, "input 0 is of float32, not of strings"),
    (MS + "Tokenizer", [s(2, 2, 2)], TOKENIZER, "needs strings [c] or [n, c]"),
    (MS + "Tokenizer", [s(2)], dict(mark=0, pad_value="", mincharnum=1), "needs separators, or a tokenexp"),
    (MS + "Tokenizer", [s(2)], TOKENIZER | dict(mincharnum=0), "mincharnum 0 is not positive"),
    (MS + "Tokenizer", [s(2)], TOKENIZER | dict(separators=[""], mincharnum=2), "each character is a token, which is less than mincharnum says"),
    (MS + "Tokenizer", [s(2)], TOKENIZER | dict(separators=["a", "(b"]), "separator '(b' has a ( without a )"),
    (MS + "Tokenizer", [s(2)], TOKENIZER | dict(separators=[f"a{k}" for k in range(65)]), "65 separators follow each other; at most 64 that are no single characters are supported"),
    (MS + "Tokenizer", [s(2)], dict(mark=0, pad_value="", mincharnum=1, tokenexp="[a"), "tokenexp '[a' has a [ without a ]"),
    (MS + "WordConvEmbedding", [i32(3, 5), f(4, 1, 2), f(4), f(9, 7)], {}, "needs words [n, characters], filters [m, 1, window, size] and characters [n, size]"),
    (MS + "WordConvEmbedding", [i32(3, 5), f(4, 1, 2, 7), f(4), f(9, 7)], dict(conv_window_size=3), "conv_window_size 3 does not fit 2"),
    (MS + "WordConvEmbedding", [i32(3, 5), f(4, 1, 6, 7), f(4), f(9, 7)], {}, "words of 5 characters are shorter than a window of 6"),
    ("Add", [s(2), s(2)], {}, "but got 'tensor<2xstring>'"),
    ("Relu", [s(2, 3)], {}, "but got 'tensor<2x3xstring>'"),
    ("Equal", [s(2), f(2)], dict(opset=19), "operands have element types that differ: 'string' and 'f32'"),
    ("BitCast", [s(2)], dict(to=7, opset=26), "gives the bits of strings, which have none"),
    (ML + "TreeEnsembleRegressor", [f(2, 1)], tree(), "reads element 1 of each row, but has 'tensor<2x1xf32>'"),
    (ML + "TreeEnsembleRegressor", [f(2, 3, 4)], tree(), "needs a matrix, or one row, not 'tensor<2x3x4xf32>'"),
    (ML + "TreeEnsembleRegressor", [f(2, 3)], tree(nodes_values=[float("nan"), 0.0, 0.0]), "node 0 compares with a value that is not a number"),
    (ML + "TreeEnsembleRegressor", [f(2, 3)], tree(nodes_featureids=[-1, 0, 0]), "node 0 asks for element -1 of a row"),
    (ML + "TreeEnsembleRegressor", [f(2, 3)], tree(nodes_values=[1.0]), "the attributes nodes_* have lengths that differ, or there are no nodes"),
    (ML + "TreeEnsembleRegressor", [f(2, 3)], tree(nodes_nodeids=[0, 1, 1]), "node 1 of tree 0 is there twice"),
    (ML + "TreeEnsembleRegressor", [f(2, 3)], tree(nodes_modes=["BRANCH", "LEAF", "LEAF"]), "the mode 'BRANCH' is not known"),
    (ML + "TreeEnsembleRegressor", [f(2, 3)], tree(nodes_truenodeids=[7, 0, 0]), "tree 0 leads to node 7, which it does not have"),
    (ML + "TreeEnsembleRegressor", [f(2, 3)], tree(nodes_truenodeids=[2, 0, 0]), "tree 0 has two roots"),
    (ML + "TreeEnsembleRegressor", [f(2, 3)], tree(nodes_truenodeids=[0, 0, 0], nodes_treeids=[0, 1, 0], target_treeids=[1, 0]), "tree 0 has no root: it leads back to itself"),
    (ML + "TreeEnsembleRegressor", [f(2, 3)], tree(target_nodeids=[0, 2]), "weight 0 is for node 0 of tree 0, which is no leaf"),
    (ML + "TreeEnsembleRegressor", [f(2, 3)], tree(target_ids=[0, 2]), "weight 1 is for target 2 of 2"),
    (ML + "TreeEnsembleRegressor", [f(2, 3)], tree(target_ids=[0]), "the attributes target_* have lengths that differ"),
    (ML + "TreeEnsembleRegressor", [f(2, 3)], tree(n_targets=0), "n_targets is 0 and there are 0 base values"),
    (ML + "TreeEnsembleRegressor", [f(2, 3)], tree(aggregate_function="MODE"), "aggregate_function 'MODE' is not known"),
    (ML + "TreeEnsembleRegressor", [f(2, 3)], tree(post_transform="MAX"), "post_transform 'MAX' is not known"),
    (ML + "TreeEnsembleClassifier", [f(2, 3)], classes(), "has no labels of classes"),
    (ML + "TreeEnsembleClassifier", [f(2, 3)], classes(classlabels_int64s=[3, 4], base_values=[1.0]), "has 1 base values for 2 classes"),
    (ML + "TreeEnsemble", [f(2, 3)], forest(nodes_trueleafs=[1, 1]), "the attributes nodes_* have lengths that differ"),
    (ML + "TreeEnsemble", [f(2, 3)], forest(leaf_targetids=[0]), "the attributes nodes_* or leaf_* have lengths that differ"),
    (ML + "TreeEnsemble", [f(2, 3)], forest(nodes_trueleafs=[0]), "node 0 of a tree leads back to itself"),
    (ML + "TreeEnsemble", [f(2, 3)], forest(nodes_truenodeids=[5]), "node 0 leads to leaf 5, which is not there"),
    (ML + "TreeEnsemble", [f(2, 3)], forest(leaf_targetids=[0, 1]), "leaf 1 is for target 1 of 1"),
    (ML + "TreeEnsemble", [f(2, 3)], forest(tree_roots=[1]), "a tree begins at node 1, which is not there"),
    (ML + "TreeEnsemble", [f(2, 3)], forest(tree_roots=None), "there are no trees"),
    (ML + "TreeEnsemble", [f(2, 3)], forest(n_targets=0), "n_targets is 0"),
    (ML + "TreeEnsemble", [f(2, 3)], forest(aggregate_function=4), "aggregate_function 4 or post_transform 0 is not known"),
    (ML + "LinearRegressor", [f(2, 3)], dict(coefficients=[1.0, 2.0, 3.0], targets=2), "3 coefficients and 0 intercepts do not make 2 scores"),
    (ML + "SVMRegressor", [f(2, 3)], dict(coefficients=[1.0], support_vectors=[1.0, 2.0, 3.0], n_supports=1), "or rho is missing"),
    (ML + "SVMRegressor", [f(2, 1)], dict(coefficients=[1.0], support_vectors=[1.0], n_supports=1, rho=[0.0], kernel_type="CUBIC"), "kernel_type 'CUBIC' is not known"),
    (ML + "SVMClassifier", [f(2, 3)], dict(coefficients=[1.0], rho=[0.0]), "has no labels of classes"),
    (ML + "SVMClassifier", [f(2, 3)], dict(coefficients=[1.0], rho=[0.0], classlabels_ints=[0, 1]), "1 coefficients do not make 2 scores, or rho is missing"),
    (ML + "SVMClassifier", [f(2, 1)], machine(vectors_per_class=[2]), "vectors_per_class has 1 numbers for 2 classes; it needs one each, none of them negative, and two classes"),
    (ML + "SVMClassifier", [f(2, 1)], machine(support_vectors=[1.0]), "2 support vectors of 2 classes do not fit 2 coefficients, 1 of their elements and 1 of rho"),
    (ML + "SVMClassifier", [f(2, 1)], machine(prob_a=[1.0]), "prob_a has 1 numbers and prob_b has 0; both need 1"),
    (ML + "SVMClassifier", [f(2, 1)], machine(kernel_type="CUBIC"), "kernel_type 'CUBIC' is not known"),
    (ML + "SVMClassifier", [f(2, 1)], machine(post_transform="SQUARE"), "post_transform 'SQUARE' is not known"),
    (ML + "Normalizer", [f(2, 3)], dict(norm="L3"), "norm 'L3' is not known"),
    (ML + "Imputer", [f(2, 3)], {}, "has no values to put in"),
    (ML + "Imputer", [f(2, 1)], dict(imputed_value_floats=[1.0, 2.0]), "2 values for columns of tensor<2x1xf32>"),
    (ML + "Scaler", [f(2, 1)], dict(scale=[1.0, 2.0]), "2 values for columns of tensor<2x1xf32>"),
    (ML + "FeatureVectorizer", [f(2, 3)], dict(inputdimensions=[3, 1]), "2 widths for 1 inputs"),
    (ML + "FeatureVectorizer", [f(2, 3)], dict(inputdimensions=[-4]), "a width is negative: -4"),
    (ML + "OneHotEncoder", [i(2)], dict(cats_strings=["a"]), "has no categories for elements of int64"),
    (ML + "LabelEncoder", [i(2)], dict(keys_strings=["a"], values_strings=["a"]), "keys are of another type than the input, which is of int64"),
    (ML + "LabelEncoder", [i(2)], dict(keys_int64s=[1], values_tensor=numpy_helper.from_array(np.int16([1])), default_tensor=numpy_helper.from_array(np.int16([1, 2]))), "default_tensor is not one element of the type of the values"),
    (ML + "LabelEncoder", [i(2)], dict(keys_int64s=[1, 2], values_int64s=[1]), "2 keys do not fit 1 values"),
    (TRAINING + "Adam", [f(), i(), f(2), f(2)], {}, "needs R, T, and 4 inputs for each tensor, has 4 inputs"),
    (TRAINING + "Adam", [f(), i(), i(2), f(2), f(2), f(2)], {}, "needs tensors, gradients and states of floats"),
    (TRAINING + "Momentum", [f(), i(), f(2), f(2), f(2)], dict(mode="fast"), "mode 'fast' is not known, expected standard or nesterov"),
    (MS + "FusedGemm", [f(2, 3), f(3, 4)], dict(activation="Swell"), "activation 'Swell' with 0 parameters is not known"),
    (MS + "CausalConvWithState", [f(1, 4, 5), f(4, 1, 3)], dict(dilation=2), "more than one axis, dilations, channels_last and a window of states are unsupported"),
    (MS + "LinearAttention", [f(1, 4, 8), f(1, 4, 8), f(1, 4, 8)], dict(q_num_heads=2), "needs 'q_num_heads' and 'kv_num_heads'; a window of states is unsupported"),
    (MS + "QEmbedLayerNormalization", [(TensorProto.INT32, (1, 3)), None, BYTES, BYTES, None, BYTES, BYTES], {}, "input 2 has no scale or no zero point"),
    (MS + "FusedMatMul", [f(2, 3), f(4, 5)], {}, "operands 'tensor<2x3xf32>' and 'tensor<4x5xf32>' do not fit"),
    (MS + "FusedMatMul", [f(2, 3), f(3, 4)], dict(transBatchA=1), "'transBatchA' needs an operand of three dimensions or more"),
    (MS + "BiasGelu", [f(2, 3)], {}, "has too few inputs: input 1 is missing"),
    (MS + "Inverse", [f(2, 3)], {}, "needs square matrices, not 'tensor<2x3xf32>'"),
    (MS + "Attention", [f(2, 3, 8), f(8, 24)], dict(num_heads=2, do_rotary=1), "do_rotary, past_present_share_buffer and past_sequence_length are unsupported"),
    (MS + "Attention", [f(2, 3, 8), f(7, 24)], dict(num_heads=2), "input 'tensor<2x3x8xf32>' and weights 'tensor<7x24xf32>' do not fit each other"),
    (MS + "Attention", [f(2, 3, 8), f(8, 24)], dict(num_heads=3), "3 heads do not divide the columns of weights 'tensor<8x24xf32>'"),
    (MS + "Attention", [f(2, 3, 8), f(8, 24), None, None, f(2, 2, 4)], dict(num_heads=2), "past of type 'tensor<2x2x4xf32>' does not hold keys and values of so many heads"),
    (MS + "Attention", [f(2, 3, 8), f(8, 24), None, i(2, 2, 3, 3)], dict(num_heads=2), "a mask of type 'tensor<2x2x3x3xi64>' is unsupported"),
    (MS + "MultiHeadAttention", [f(2, 3, 8)], dict(num_heads=2), "keys and values are missing, and not packed with the queries"),
    (MS + "MultiHeadAttention", [f(2, 3, 8), f(2, 3, 8), f(2, 8)], dict(num_heads=2), "query 'tensor<2x3x8xf32>', key 'tensor<2x3x8xf32>' and value 'tensor<2x8xf32>' are unsupported"),
    (MS + "MultiHeadAttention", [f(2, 3, 8), f(2, 3, 8), f(2, 3, 8)], dict(num_heads=3), "3 heads do not divide 'tensor<2x3x8xf32>' and 'tensor<2x3x8xf32>'"),
    (MS + "MultiHeadAttention", [f(2, 3, 8), f(2, 3, 8), f(2, 3, 8), None, None, None, f(2, 2, 1, 4)], dict(num_heads=2), "past_key and past_value are given together or not at all"),
    (MS + "DecoderMaskedMultiHeadAttention", [f(2, 1, 8), f(2, 1, 8), f(2, 1, 8)], dict(num_heads=2, output_qk=1), "output_qk is unsupported"),
    (MS + "DecoderMaskedMultiHeadAttention", [f(2, 1, 8), f(2, 1, 8)], dict(num_heads=2), "key and value, past_key and past_value are given together or not at all"),
    (MS + "DecoderMaskedMultiHeadAttention", [f(2, 1, 8), f(2, 1, 8), f(2, 1, 8), None, None, f(2, 2, 5, 4), f(2, 2, 5, 4)], dict(num_heads=2, past_present_share_buffer=1),
     "past_present_share_buffer needs past_sequence_length"),
    (MS + "DecoderMaskedMultiHeadAttention", [f(2, 1, 8), f(2, 1, 8), f(2, 1, 8), *[None] * 6, (TensorProto.INT32, (1, 2, 5))], dict(num_heads=2),
     "cache_indirection needs past_present_share_buffer and beam_width"),
    (MS + "DecoderMaskedMultiHeadAttention", [f(2, 2, 8), f(2, 2, 8), f(2, 2, 8)], dict(num_heads=2),
     "2 heads do not fit 'tensor<2x2x8xf32>', 'tensor<2x2x8xf32>', 'tensor<2x2x8xf32>' and a past of 'none', for one token of each sentence"),
    (MS + "DecoderMaskedSelfAttention", [f(2, 1, 8), np.zeros((8, 24), np.float32), f(24), None, f(2, 2, 2, 5, 4)], dict(num_heads=2, do_rotary=1), "do_rotary is unsupported"),
    (MS + "DecoderMaskedSelfAttention", [f(2, 1, 8), np.zeros((8, 24), np.float32), f(24), None, f(2, 2, 2, 5)], dict(num_heads=2),
     "2 heads do not fit input 'tensor<2x1x8xf32>', weights 'tensor<8x24xf32>' and past 'tensor<2x2x2x5xf32>'"),
    (MS + "NGramRepeatBlock", [i(2, 3), f(2, 9)], dict(ngram_size=1000), "needs tokens [batch, length], scores [batch, vocabulary], and an ngram_size from 1 to 256"),
    (MS + "GreedySearch", [TOKENS, ONE_MORE], dict(GENERATION, decoder=decoder(), size=1), "has the unknown attribute 'size'"),
    (MS + "GreedySearch", [TOKENS, ONE_MORE], dict(GENERATION, decoder=decoder(), model_type=0.0), "attribute 'model_type' failed to satisfy constraint"),
    (MS + "GreedySearch", [TOKENS, ONE_MORE], dict(decoder=decoder()), "needs the attributes 'eos_token_id' and 'pad_token_id'"),
    (MS + "GreedySearch", [TOKENS, ONE_MORE], dict(GENERATION, decoder=decoder(), model_type=1), "model_type 1 is unsupported"),
    (MS + "GreedySearch", [TOKENS, ONE_MORE], dict(GENERATION, decoder=decoder(), no_repeat_ngram_size=1000), "no_repeat_ngram_size 1000 is unsupported"),
    (MS + "GreedySearch", [TOKENS], dict(GENERATION, decoder=decoder()), "leaves out an input that it needs"),
    (MS + "GreedySearch", [(TensorProto.INT32, (3,)), ONE_MORE], dict(GENERATION, decoder=decoder()), "needs tokens [batch, length]"),
    (MS + "GreedySearch", [TOKENS, ONE_MORE], GENERATION, "needs the attribute 'decoder'"),
    (MS + "GreedySearch", [TOKENS, ONE_MORE], dict(GENERATION, decoder=UNTYPED), "needs to know the type of input 0 of 'decoder'"),
    (MS + "BeamSearch", [*BEAMS[:4], np.array(3, np.int32)], dict(GENERATION, decoder=decoder()), "returns 3 sequences of 2 beams"),
    (MS + "BeamSearch", [*BEAMS, *[None] * 5, TOKENS], dict(GENERATION, decoder=decoder()), "decoder_input_ids and logits_processor are unsupported"),
    (MS + "BeamSearch", BEAMS, dict(GENERATION, model_type=1, decoder=decoder()), "needs the attribute 'encoder'"),
    (MS + "QLinearConv", [(TensorProto.UINT8, (1, 4, 4, 2)), ONE, U8], {}, "has too few inputs: input 3 is missing"),
    (MS + "QMoE", BYTE_EXPERTS, dict(quant_type="fp4"), "router_weights, and weights other than integers with scales, are unsupported"),
    (MS + "QMoE", BYTE_EXPERTS, dict(weights_prepacked=1), "weights in an order of their own are unsupported"),
    (MS + "QMoE", BYTE_EXPERTS, dict(expert_weight_bits=3), "layer 1 has weights of an unsupported shape or 3 bits"),
    (MS + "MoE", EXPERTS, dict(use_sparse_mixer=1), "use_sparse_mixer is unsupported"),
    (MS + "MoE", EXPERTS, dict(activation_type="tanh"), "activation 'tanh' with swiglu_fusion 0 is not known"),
    (MS + "MoE", EXPERTS, dict(activation_type="swiglu"), "a third layer belongs to swiglu that is not fused"),
    (MS + "MoE", [f(6, 8), f(6, 4), f(4, 16, 8), None, f(4, 8, 15)], {}, "layer 1 does not fit 4 experts of 8 inputs and 15 outputs"),
    (MS + "MoE", [f(6, 8), f(6, 5), *EXPERTS[2:]], {}, "1 of 4 experts of width 8 do not fit input 'tensor<6x8xf32>' and router 'tensor<6x5xf32>'"),
    (MS + "MoE", EXPERTS, dict(k=5), "5 of 4 experts of width 8 do not fit input 'tensor<6x8xf32>' and router 'tensor<6x4xf32>'"),
    (MS + "QMoE", [*BYTE_EXPERTS[:6], f(4, 8, 2)], dict(block_size=16), "layer 2 does not fit 4 experts of 16 inputs and 8 outputs"),
    (MS + "QMoE", BYTE_EXPERTS, dict(block_size=24), "block_size is to be a power of two, at least 16, or 0"),
    (MS + "NhwcMaxPool", [(TensorProto.UINT8, (1, 5, 5, 3))], {}, "attribute 'kernel_shape' is missing"),
    (MS + "CDist", [f(2, 2, 3), f(4, 3)], {}, "needs two matrices"),
    (MS + "Unique", [f(2, 2)], {}, "needs a vector"),
    (MS + "CDist", [f(2, 3), f(4, 3)], dict(metric="cosine"), "metric 'cosine' is unsupported, expected 'sqeuclidean' or 'euclidean'"),
    (MS + "GatedRMSNorm", [f(2, 4), f("n"), f(2, 4)], {}, "a scale that is no vector of known length is unsupported"),
    (MS + "GatedRMSNorm", [f(2, 4), f(4), f(2, 4)], dict(activation="tanh"), "activation 'tanh' is not known"),
    (MS + "UnfoldTensor", [f(2, 4)], dict(size=5), "cannot take slices of 5 places, 1 apart, along axis -1 of 'tensor<2x4xf32>'"),
    (MS + "RotaryEmbedding", [f(2, 3, 8), i(1), f(9, 2), f(9, 2)], dict(scale=2.0), "is_packed_batching and a scale are unsupported"),
]

# Found when operators are written in terms of others.
EXPANDED = [
    (MS + "GreedySearch", [TOKENS, ONE_MORE], dict(GENERATION, decoder=decoder(TOKENS)), "'decoder' has 1 inputs, and so no cache"),
    (MS + "GreedySearch", [TOKENS, ONE_MORE], dict(GENERATION, decoder=decoder(outputs=1)), "gives 4 values to 'decoder', which has 4 inputs and 1 outputs"),
    (MS + "GreedySearch", [TOKENS, ONE_MORE], dict(GENERATION, decoder=decoder(heads="n")), "needs to know of input 'in_3' of 'decoder' how many heads it has and how wide they are"),
    (MS + "BeamSearch", BEAMS, dict(GENERATION, model_type=1, decoder=decoder(), encoder=decoder(TOKENS, TOKENS)), "has an encoder of 2 outputs and a decoder of 4 inputs, which do not fit each other"),
]

# Found when the graph is simple.
SIMPLE = [
    ("com.microsoft.MatMulNBits", [f(2, 32), (TensorProto.UINT8, (8, 1, 16)), f(8)], {"K": 32, "N": 8, "block_size": 32}, "weights that are not constant are unsupported"),
    ("com.microsoft.MatMulBnb4", [f(2, 32), (TensorProto.UINT8, (128,)), f(8)], {"K": 32, "N": 8, "block_size": 32, "quant_type": 1}, "weights that are not constant are unsupported"),
    ("com.microsoft.GatherBlockQuantized", [(TensorProto.UINT8, (7, 24)), i(2), f(7, 3)], {"block_size": 16}, "weights that are not constant are unsupported"),
    ("com.microsoft.MoE", [f(1, 2, 3, 8), *EXPERTS[1:]], {}, "input 'tensor<1x2x3x8xf32>' and router 'tensor<6x4xf32>' are unsupported"),
    ("com.microsoft.QMoE", BYTE_EXPERTS, {}, "weights that are not constant are unsupported"),
    ("RotaryEmbedding", [f(1, 2, 3, 8), f(9, 5), f(9, 5), i(1, 3)], {"rotary_embedding_dim": 10}, "rotates 10 of 8 columns"),
    ("Reshape", [f(2, 3), (TensorProto.INT64, ("rank",))], {}, "has a result of unsupported shape: its rank is known only when the model runs"),
]

# No target takes them.
UNTAKEN = [
    ("MaxPool", [f(1, 1, 2, 2, 2, 2)], dict(kernel_shape=[1, 1, 1, 2]), "more than three spatial axes"),
    ("MatMul", [(TensorProto.UINT8, (2, 2)), (TensorProto.UINT8, (2, 2))], {}, "products of this element type are not built"),
    ("GRU", [(D, (5, 2, 3)), (D, (1, 12, 3)), (D, (1, 12, 4))], dict(hidden_size=4), "recurrent networks of this element type are not built"),
]


def model(cases, opset):
    """All cases of an opset as nodes of one model, which also has an output that is right."""
    nodes, inputs, weights, outputs = [], [helper.make_tensor_value_info("x", F, [2])], [], []
    for index, (op, operands, attributes, _) in cases:
        attributes = {name: value for name, value in attributes.items() if name not in ("opset", "outputs")}
        names = []
        for k, operand in enumerate(operands):
            names.append("" if operand is None else f"{op}_{index}_{k}")
            if isinstance(operand, np.ndarray):
                weights.append(numpy_helper.from_array(operand, names[-1]))
            elif operand:
                inputs.append(helper.make_tensor_value_info(names[-1], *operand))
        results = [f"y_{index}_{k}" for k in range(cases_outputs(cases, index))]
        domain, _, plain = op.rpartition(".")
        nodes.append(helper.make_node(plain, names, results, name=f"node_{index}", domain=domain or None, **attributes))
        outputs += [helper.make_empty_tensor_value_info(name) for name in results]
    nodes.append(helper.make_node("Relu", ["x"], ["y"]))
    graph = helper.make_graph(nodes, "refused", inputs, [helper.make_tensor_value_info("y", F, [2]), *outputs], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *(helper.make_opsetid(*each) for each in DOMAINS.items())])
    made.ir_version = 8
    return made


def cases_outputs(cases, index):
    return next(case[2].get("outputs", 1) for at, case in cases if at == index)


def check(ingot, table):
    """(what was counted, what is wrong)."""
    by_opset = collections.defaultdict(list)
    for index, case in enumerate(table):
        by_opset[case[2].get("opset", 17)].append((index, case))
    for opset, cases in sorted(by_opset.items()):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.onnx"
            path.write_bytes(model(cases, opset).SerializeToString())
            done = subprocess.run([ingot, "compile", path, "-o", folder], capture_output=True, text=True, timeout=120, preexec_fn=ingot_run.limits)
        said = collections.defaultdict(list)
        for node, about, text in re.findall(r"error: node 'node_(\d+)' \(([^)]*)\): (.*)", done.stderr):
            said[int(node)].append((about, text))
        for index, (op, _, _, message) in cases:
            wanted = (f"{op}, opset {DOMAINS.get(op.rpartition('.')[0], opset)}", message)
            found = any(about == wanted[0] and message.replace("INDEX", str(index)) in text for about, text in said[index])
            yield f"{op}: {message}", None if found and len(said[index]) == 1 and done.returncode == 1 else f"exit {done.returncode}, got {said[index]}"
        stray = set(said) - {index for index, _ in cases} or re.findall(r"^(?!.*error: node 'node_).*error.*$", done.stderr, re.M)
        yield f"opset {opset}: nothing else", f"{stray}" if stray else None


def main():
    arguments = ingot_run.parser(__doc__).parse_args()
    count = ingot_run.Count("diagnostics")
    for table in (READ, EXPANDED, SIMPLE, UNTAKEN):
        for name, wrong in check(os.path.abspath(arguments.ingot), table):
            count.add(name, wrong)
    count.finish()


if __name__ == "__main__":
    main()
