"""Every form that the standard has had of an operator that ingot takes: its inputs, outputs and attributes are known.

    run.py --ingot build/bin/ingot [--list]      --list: the forms of which no node could be compiled

For each operator and each opset in which the standard changed it, nodes are made from the schema: one with what must be there, one with everything, and one for each attribute.
None may be told that it has an unknown attribute, or too many inputs or outputs: what the form has, the operator's upgrade must take or refuse by a reason of its own.
The version that an operator says its code was written for (Since, in its .td file) is the newest that the standard has of it.
Operands are made to fit by a few rules and are not always such as the operator wants; what is said of those counts as a reason."""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
import ingot_run
import numpy as np
import operators
from onnx import TensorProto, defs, helper, numpy_helper

UNKNOWN = re.compile(r"has the unknown attribute|inputs, but the operator takes|outputs, but the operator gives")
NEWEST = 28
ELEMENTS = {"tensor(float)": TensorProto.FLOAT, "tensor(int64)": TensorProto.INT64, "tensor(bool)": TensorProto.BOOL, "tensor(int32)": TensorProto.INT32, "tensor(uint8)": TensorProto.UINT8,
            "tensor(uint64)": TensorProto.UINT64, "tensor(double)": TensorProto.DOUBLE, "tensor(string)": TensorProto.STRING}

# Operands by name of the schema's input, where a constant is meant: operator.input, or input for all.
CONSTANTS = {
    "axes": [0], "axis": 0, "shape": [4, 4, 1, 4], "starts": [0], "ends": [2], "steps": [1], "repeats": [1, 2, 1, 1], "tiles": 2, "pads": [0] * 8, "split": [2, 2], "k": 1, "depth": 3,
    "TopK.K": [1], "scales": [1.0, 1.0, 2.0, 2.0], "sizes": [4, 4, 8, 8], "roi": [0.0] * 4 + [1.0] * 4, "start": 0, "limit": 4, "delta": 1, "min": -1.0, "max": 1.0, "Expand.shape": [4, 4, 4, 4],
    "Reshape.shape": [4, 64], "ConstantOfShape.input": [2, 3], "ratio": 0.5, "training_mode": False, "constant_value": 0.0, "size": [1, 1, 2, 2], "bias": None, "Squeeze.axes": [2],
    "CumSum.axis": 0, "sequence_lens": None, "CumProd.axis": 0, "AffineGrid.size": [4, 3, 2, 2], "HannWindow.size": 8, "HammingWindow.size": 8, "BlackmanWindow.size": 8,
    "CenterCropPad.shape": [4, 2, 5, 4], "image_shape": [4, 4], "block_shape": [2, 2], "DFT.axis": 1, "dft_length": 4, "frame_step": 2, "frame_length": 4,
    "sample_rate": 8000, "lower_edge_hertz": 0.0, "upper_edge_hertz": 3000.0, "MelWeightMatrix.dft_length": 16,
}  # fmt: skip
VALUES = {
    "perm": [0, 1, 2, 3], "axes": [0], "starts": [0], "ends": [2], "shape": [4, 64], "split": [2, 2], "kernel_shape": [1, 1], "strides": [1, 1], "dilations": [1, 1], "pads": [0, 0, 0, 0], "pooled_shape": [2, 2],
    "paddings": [0] * 8, "output_padding": [0, 0], "output_shape": [4, 4], "auto_pad": "NOTSET", "group": 1, "to": 7, "dtype": 1, "mode": None, "direction": "forward", "activations": ["Tanh"] * 3, "hidden_size": 4,
    "num_groups": 2, "axis": 0, "blocksize": 2, "equation": "abcd->abcd", "size": 3, "scales": [1.0, 1.0, 2.0, 2.0], "repeats": [1, 1], "tiles": 2, "border": [0, 0, 0, 0], "height_scale": 2.0, "width_scale": 2.0,
    "activation_alpha": [0.5], "activation_beta": [0.5], "k": 1, "q_num_heads": 2, "kv_num_heads": 2, "num_heads": 2, "start": 0, "end": 2, "p": 2, "batch_axis": 0, "time_axis": 1, "count": 2, "nearest_mode": None,
    "coordinate_transformation_mode": None, "keep_aspect_ratio_policy": None, "num_outputs": 2, "width": 1, "height": 1, "layout": 0, "storage_order": 0, "select_last_index": 0, "cubic_coeff_a": -0.75,
    "block_size": 0, "output_dtype": None,
}  # fmt: skip

NGRAMS = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0, "ngram_counts": [0], "ngram_indexes": [0, 1], "pool_int64s": [1, 2], "pool_strings": ["a", "b"], "weights": [1.0, 2.0]}


def forms():
    """operator -> its schemas, oldest first."""
    found, wanted = collections.defaultdict(list), set(operators.names()) - {"Constant", "If", "Loop", "Scan"}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.name in wanted and schema.since_version <= NEWEST and not schema.deprecated:
            found[schema.name].append(schema)
    return {name: sorted(schemas, key=lambda schema: schema.since_version) for name, schemas in sorted(found.items())}


def value_of(attribute, operator=""):
    """Something that the attribute may hold."""
    if (operator, attribute.name) == ("Pad", "pads"):
        return [0] * 8
    if (operator, attribute.name) == ("QuantizeLinear", "output_dtype"):
        return TensorProto.UINT8
    if (operator, attribute.name) in (("BitCast", "to"), ("Multinomial", "dtype")):
        return TensorProto.INT32
    if operator == "TfIdfVectorizer":
        return NGRAMS[attribute.name]
    if (operator, attribute.name) == ("StringNormalizer", "case_change_action"):
        return "LOWER"
    if (operator, attribute.name) == ("CenterCropPad", "axes"):
        return [0, 1, 2, 3]
    if attribute.name in VALUES and VALUES[attribute.name] is not None:
        return VALUES[attribute.name]
    if attribute.default_value.name:
        return helper.get_attribute_value(attribute.default_value)
    kind = defs.OpSchema.AttrType
    return {kind.FLOAT: 0.5, kind.INT: 1, kind.STRING: "constant", kind.TENSOR: numpy_helper.from_array(np.array([1.0], np.float32)), kind.FLOATS: [0.5], kind.INTS: [1], kind.STRINGS: ["Tanh"]}.get(attribute.type)


class Maker:
    """One model of many nodes."""

    def __init__(self, opset):
        self.opset, self.nodes, self.inputs, self.weights, self.labels = opset, [], [], [], []

    def operand(self, schema, parameter, name):
        types = sorted(parameter.types)
        element = next((ELEMENTS[text] for text in ELEMENTS if text in types), None)
        if element is None:
            return ""
        constant = CONSTANTS.get(f"{schema.name}.{parameter.name}", CONSTANTS.get(parameter.name))
        if constant is not None and not (parameter is schema.inputs[0] and schema.name not in ("Range", "ConstantOfShape") and not schema.name.endswith("Window")):
            self.weights.append(numpy_helper.from_array(np.array(constant, helper.tensor_dtype_to_np_dtype(element)), name))
        else:
            self.inputs.append(helper.make_tensor_value_info(name, element, self.shape_of(schema, parameter)))
        return name

    def shape_of(self, schema, parameter):
        return shape_of(schema, parameter)

    def add(self, schema, attributes, inputs, outputs):
        number = len(self.nodes)
        operands = []
        for k, parameter in enumerate(schema.inputs[:inputs]):
            operands.append(self.operand(schema, parameter, f"i_{number}_{k}"))
        results = [f"o_{number}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(schema.name, operands, results, name=f"node_{number}", **{a.name: value_of(a, schema.name) for a in attributes}))
        self.labels.append((schema, [a.name for a in attributes]))

    def model(self, numbers):
        """A model of these nodes, and of one that is always right."""
        nodes = [*(self.nodes[number] for number in sorted(numbers)), helper.make_node("Relu", ["x"], ["y"], name="right")]
        inputs = [*self.inputs, helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])]
        outputs = [helper.make_empty_tensor_value_info(name) for node in nodes for name in node.output]
        graph = helper.make_graph(nodes, "forms", inputs, outputs, self.weights)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        made.ir_version = 8
        return made


# By operator, and there by operand.
SHAPES = {
    "QuantizeLinear": {"y_scale": [4], "y_zero_point": [4]}, "DequantizeLinear": {"x_scale": [4], "x_zero_point": [4]}, "QLinearConv": {"x_scale": [], "x_zero_point": [], "w_scale": [4], "w_zero_point": [4], "y_scale": [], "y_zero_point": [], "B": [4]}, "AffineGrid": {"theta": [4, 2, 3]}, "Col2Im": {"input": [2, 8, 9]}, "DFT": {"input": [4, 4, 4, 1]}, "STFT": {"signal": [2, 16, 1], "window": [4]},
    "NegativeLogLikelihoodLoss": {"target": [4, 4, 4], "weight": [4]}, "SoftmaxCrossEntropyLoss": {"labels": [4, 4, 4], "weights": [4]},
    "DeformConv": {"W": [4, 4, 1, 1], "offset": [4, 2, 4, 4], "B": [4], "mask": [4, 1, 4, 4]}, "MelWeightMatrix": {"num_mel_bins": []}, "TfIdfVectorizer": {"X": [4, 4]}, "StringNormalizer": {"X": [4]}, "ImageDecoder": {"encoded_stream": [64]},
    "CausalConvWithState": {"input": [2, 4, 4], "weight": [4, 1, 3], "bias": [4], "past_state": [2, 4, 2]},
    "LinearAttention": {"query": [2, 4, 8], "key": [2, 4, 8], "value": [2, 4, 8], "past_state": [2, 2, 4, 4], "decay": [2, 4, 2], "beta": [2, 4, 2]},
}  # fmt: skip


def shape_of(schema, parameter):
    """Operands are [4, 4, 4, 4] where nothing else is said."""
    if parameter.name in SHAPES.get(schema.name, {}):
        return SHAPES[schema.name][parameter.name]
    special = {("LSTM", "W"): [1, 16, 4], ("LSTM", "R"): [1, 16, 4], ("GRU", "W"): [1, 12, 4], ("GRU", "R"): [1, 12, 4], ("RNN", "W"): [1, 4, 4], ("RNN", "R"): [1, 4, 4]}
    gates = {"LSTM": 4, "GRU": 3}.get(schema.name, 1)
    if schema.name in ("LSTM", "GRU", "RNN"):
        return special.get((schema.name, parameter.name), {"X": [2, 2, 4], "B": [1, 2 * gates * 4], "P": [1, 12], "sequence_lens": [2]}.get(parameter.name, [1, 2, 4]))
    if schema.name == "NonMaxSuppression":
        return {"boxes": [2, 4, 4], "scores": [2, 3, 4]}.get(parameter.name, [1])
    if schema.name in ("Gemm", "Det", "EyeLike", "Multinomial"):
        return [4, 4]
    if schema.name in ("BatchNormalization", "InstanceNormalization", "GroupNormalization") and parameter is not schema.inputs[0]:
        return [4]
    if schema.name == "PRelu" and parameter is not schema.inputs[0]:
        return [1]
    if schema.name in ("Conv", "ConvTranspose") and parameter.name == "W":
        return [4, 4, 1, 1]
    if schema.name in ("Conv", "ConvTranspose") and parameter.name == "B":
        return [4]
    if schema.name == "ReverseSequence" and parameter is not schema.inputs[0]:
        return [4]
    if schema.name == "RotaryEmbedding" and parameter is not schema.inputs[0]:
        return [4, 4, 2]
    if schema.name == "OneHot" and parameter.name == "values":
        return [2]
    if schema.name == "ScatterND" and parameter.name == "updates":
        return [4, 4, 4]
    if schema.name == "GridSample" and parameter.name == "grid":
        return [4, 4, 4, 2]
    if schema.name == "RoiAlign" and parameter is not schema.inputs[0]:
        return [4, 4] if parameter.name == "rois" else [4]
    if schema.name == "MaxRoiPool" and parameter is not schema.inputs[0]:
        return [4, 5]
    if schema.name == "Squeeze":
        return [4, 4, 1, 4]
    return [4, 4, 4, 4]


def wide(schema):
    """How many operands and results the form has at most; variadic results are two, as VALUES has it."""
    variadic = schema.outputs and schema.outputs[-1].option == defs.OpSchema.FormalParameterOption.Variadic
    return len(schema.inputs), len(schema.outputs) + bool(variadic)


def nodes_of(maker, schema):
    required = [a for a in schema.attributes.values() if a.required and value_of(a) is not None]
    optional = [a for a in schema.attributes.values() if not a.required and value_of(a) is not None]
    inputs, outputs = wide(schema)
    maker.add(schema, required, schema.min_input, max(1, schema.min_output))
    maker.add(schema, required, inputs, outputs)
    for attribute in optional:
        maker.add(schema, [*required, attribute], schema.min_input, max(1, schema.min_output))


def said(ingot, maker, flags, seconds=120):
    """What is said of each node, and how the last compilation ended: those that are refused are taken out, until the others pass or nobody is named."""
    told, left = collections.defaultdict(list), set(range(len(maker.nodes)))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.onnx"
        while True:
            path.write_bytes(maker.model(left).SerializeToString())
            command = [ingot, "compile", path, "-o", f"{folder}/out", *flags]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds, preexec_fn=ingot_run.limits)
            named = collections.defaultdict(list)
            for node, text in re.findall(r"error: node 'node_(\d+)' \([^)]*\): (.*)", done.stderr):
                named[int(node)].append(text)
            told.update(named)
            if not named.keys() & left or done.returncode not in (0, 1):
                return done, told
            left -= named.keys()


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    ingot, count, good, whole = os.path.abspath(arguments.ingot), ingot_run.Count("opsets"), set(), 0
    makers = {}
    for name, schemas in forms().items():
        for schema in schemas:
            whole += 1
            nodes_of(makers.setdefault(schema.since_version, Maker(schema.since_version)), schema)
    for opset, maker in sorted(makers.items()):
        done, told = said(ingot, maker, ["--stop-after", "simplify"])
        count.add(f"opset {opset}", None if done.returncode == 0 else f"exit {done.returncode}: {done.stderr[-400:]}")
        for number, (schema, attributes) in enumerate(maker.labels):
            unknown = [text for text in told[number] if UNKNOWN.search(text)]
            count.add(f"{schema.name} of opset {opset} with {', '.join(attributes) or 'no attribute'}", "; ".join(unknown) or None)
            if not told[number]:
                good.add((schema.name, opset))
            elif arguments.list:
                print(f"{schema.name}-{opset} {attributes}: {told[number][0]}")
    for name, schemas in forms().items():
        for schema in schemas:
            count.add(f"{name} of opset {schema.since_version}", None if (name, schema.since_version) in good else "no node of this form is taken")
    written = operators.since()
    for name, schemas in forms().items():
        newest = schemas[-1].since_version
        count.add(f"{name} as it is known", None if written[name] == newest else f"written for the definition of opset {written[name]}, and that of opset {newest} is newer")
    print(f"{whole} forms of {len(forms())} operators, {len(good)} of them compiled")
    count.finish()


if __name__ == "__main__":
    main()
