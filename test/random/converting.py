"""Networks through the tools of ONNX Runtime: its quantizers, its converter to float16, and its own optimizer, which writes what it has fused as operators of com.microsoft.

What they write is what people bring. ingot must run it as ONNX Runtime does: a step on the other side of a rounding is read by all behind it, so the measure is a cosine, which finds
what is computed wrongly and not a bit that is lost."""
import contextlib
import logging
import os
import pathlib
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.matmul_bnb4_quantizer import MatMulBnb4Quantizer
from onnxruntime.transformers import float16, optimizer

from quantizing import data_sets, least_cosine
from case import Skip
from trial import Compiled, Reference, Refused, Status, elsewhere, inputs_of, is_undefined, refusal, word_of

SAME = 0.99
PRODUCTS = ["Conv", "MatMul", "Gemm", "LSTM", "EmbedLayerNormalization", "Attention"]


class Data(CalibrationDataReader):
    def __init__(self, sets):
        self.sets = iter(sets)

    def get_next(self):
        return next(self.sets, None)


def statically(rng, model, sets, path):
    kind = rng.choice([QuantType.QUInt8] * 4 + [QuantType.QInt8] * 3 + [QuantType.QUInt16, QuantType.QInt16])
    is_wide = kind in (QuantType.QUInt16, QuantType.QInt16)
    form = QuantFormat.QDQ if is_wide or rng.random() < 0.6 else QuantFormat.QOperator
    weight = rng.choice([QuantType.QInt8, QuantType.QInt8, QuantType.QUInt8] if not is_wide else [QuantType.QInt8, QuantType.QUInt8, kind])
    if form == QuantFormat.QOperator and kind == QuantType.QInt8:
        weight = QuantType.QInt8
    extra = {"ActivationSymmetric": rng.random() < 0.3, "WeightSymmetric": rng.random() < 0.7, "AddQDQPairToWeight": rng.random() < 0.2, "QuantizeBias": rng.random() < 0.8,
             "DedicatedQDQPair": rng.random() < 0.2, "ForceQuantizeNoInputCheck": rng.random() < 0.3, "EnableSubgraph": rng.random() < 0.2}  # fmt: skip
    options = {"quant_format": form, "activation_type": kind, "weight_type": weight, "per_channel": rng.random() < 0.5, "reduce_range": rng.random() < 0.2,
               "calibrate_method": rng.choice([CalibrationMethod.MinMax] * 3 + [CalibrationMethod.Entropy, CalibrationMethod.Percentile]), "extra_options": extra}  # fmt: skip
    quantize_static(model, path, Data(sets), **options)
    return f"static {options}"


def dynamically(rng, model, sets, path):
    options = {"weight_type": rng.choice([QuantType.QInt8, QuantType.QUInt8]), "per_channel": rng.random() < 0.5, "reduce_range": rng.random() < 0.2,
               "op_types_to_quantize": rng.choice([None, PRODUCTS]), "extra_options": {"MatMulConstBOnly": rng.random() < 0.7, "WeightSymmetric": rng.random() < 0.7}}  # fmt: skip
    quantize_dynamic(model, path, **options)
    return f"dynamic {options}"


def in_half(rng, model, sets, path):
    options = {"keep_io_types": rng.random() < 0.6, "force_fp16_initializers": rng.random() < 0.3}
    onnx.save(float16.convert_float_to_float16(model, **options), path)
    return f"float16 {options}"


def by_blocks(rng, model, sets, path):
    options = {"quant_type": rng.choice([0, 1]), "block_size": rng.choice([16, 32, 64])}
    quantizer = MatMulBnb4Quantizer(model, **options)
    quantizer.process()
    onnx.save(quantizer.model.model, path)
    return f"bnb4 {options}"


def by_bits(rng, model, sets, path):
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    options = {"bits": rng.choice([4, 4, 4, 8, 2]), "block_size": rng.choice([16, 32, 64, 128]), "is_symmetric": rng.random() < 0.5, "accuracy_level": rng.choice([None, 0, 1, 4]),
               "quant_format": rng.choice([QuantFormat.QOperator, QuantFormat.QDQ]), "op_types_to_quantize": rng.choice([("MatMul",), ("MatMul", "Gather")])}  # fmt: skip
    quantizer = MatMulNBitsQuantizer(model, **options)
    quantizer.process()
    quantizer.model.save_model_to_file(str(path))
    return f"nbits {options}"


def for_transformers(rng, model, sets, path):
    options = {"model_type": rng.choice(["bert", "gpt2", "vit", "t5", "bart", "clip", "swin", "unet", "conformer"]), "opt_level": 0}
    optimizer.optimize_model(model, **options).save_model_to_file(str(path))
    return f"transformers {options}"


def fused(rng, model, path):
    """What ONNX Runtime makes of a model before it runs it."""
    options = onnxruntime.SessionOptions()
    level = rng.choice(["ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_EXTENDED"])
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.optimized_model_filepath, options.log_severity_level, options.intra_op_num_threads = str(path), 4, 1
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return level


TOOLS = [statically] * 4 + [dynamically] * 2 + [in_half, by_blocks, by_bits, by_bits, for_transformers, for_transformers]


def converted(rng, model, sets):
    """(model, how), or None where the tools fail, of which there are many ways."""
    with tempfile.TemporaryDirectory(prefix="ingot-converting-") as folder, elsewhere(), silence():
        path, told = pathlib.Path(folder) / "model.onnx", []
        try:
            if rng.random() < 0.85:
                told.append(rng.choice(TOOLS)(rng, onnx.ModelProto.FromString(model.SerializeToString()), sets, path))
                model = onnx.load(path)
            if not told or rng.random() < 0.5:
                told.append(fused(rng, model, pathlib.Path(folder) / "fused.onnx"))
                model = onnx.load(pathlib.Path(folder) / "fused.onnx")
        except Exception:
            return None
    return model, ", then ".join(told)


@contextlib.contextmanager
def silence():
    """Its tools write to the root logger and print."""
    logging.disable(logging.CRITICAL)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def differ(mine, theirs, model):
    """(verdict, text) of outputs."""
    shapes = [(np.shape(a), np.shape(b)) for a, b in zip(mine, theirs, strict=True) if np.shape(a) != np.shape(b)]
    if shapes:
        return "wrong", f"shapes {shapes}"
    if (least := least_cosine(mine, theirs)) < SAME:
        # Of one element it is 1, for which ONNX Runtime writes 256 into a byte.
        is_odd = any(node.op_type == "QLinearSoftmax" for node in model.graph.node)
        return "disputed" if is_odd else "wrong", f"cosine {least:.4f} with ONNX Runtime"
    return "pass", ""


def made(rng, model, feeds):
    """What the tools make of a model, and how; its inputs are those of the model, perhaps narrower."""
    found = converted(rng, model, data_sets(rng, feeds))
    if found is None:
        raise Skip("the tool fails")
    return found


def check(ingot, model, sets, level):
    """(verdict, text, inputs) of what the tools made, whose sizes may be open, on sets of inputs; all sizes but those of the first one may be declined."""
    reference = Reference(model)
    sets = [{value.name: feeds[value.name].astype(helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)) for value in inputs_of(model)} for feeds in sets]
    with elsewhere():
        wanted = [None if is_undefined(model, feeds) else word_of(reference.run, feeds) for feeds in sets]
    if wanted[0] is None:
        raise Skip("ONNX Runtime does not run what its tool made")
    for policy in ("default", "strict"):
        try:
            compiled = Compiled(ingot, model, level, ["--accuracy", policy])
        except Refused as refused:
            verdict, text = refusal(refused)
            return verdict, f"{policy}: {text}", sets[0]
        with compiled:
            for turn, (feeds, theirs) in enumerate(zip(sets, wanted)):
                try:
                    mine = compiled.at(feeds)
                except Status as problem:
                    if turn == 0 or not str(problem).startswith("status"):
                        return "wrong", f"{policy}: ingot does not run it: {problem}", feeds
                    continue
                verdict, text = differ(mine, theirs, model) if theirs is not None else ("pass", "")
                if verdict != "pass":
                    return verdict, f"{policy}: {text}", feeds
    return "pass", "", sets[0]
