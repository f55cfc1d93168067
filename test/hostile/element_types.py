"""Element types: for each operator that ingot has, what the standard's schema forbids is refused by name, and what it allows is not.

    element_types.py --ingot build/bin/ingot

All nodes stand in one model, which lists all of its problems at once: for each input one node with a type that the schema forbids there, and one
with each type that it allows; where inputs share a type, one node where they do not. Types are judged before shapes, so shapes need not fit.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import ingot_run
import operators
import onnx
from onnx import TensorProto, helper

TYPES = {"tensor(float)": TensorProto.FLOAT, "tensor(int64)": TensorProto.INT64, "tensor(bool)": TensorProto.BOOL, "tensor(int32)": TensorProto.INT32,
         "tensor(double)": TensorProto.DOUBLE, "tensor(uint8)": TensorProto.UINT8, "tensor(uint32)": TensorProto.UINT32, "tensor(uint64)": TensorProto.UINT64,
         "tensor(string)": TensorProto.STRING}  # fmt: skip
NOT_TENSORS = {"MelWeightMatrix", "TfIdfVectorizer", "Constant", "QuantizeLinear", "DequantizeLinear"}
# BatchNormalization's three types and Upsample's, which the importer replaces before it looks, are of one kind in every model there is.
# A scale says more about the types of QuantizeLinear and DequantizeLinear than a name of them can: test/diagnostics has their messages.
# Attention looks at the shapes of Q, K and V first.
LENIENT = {("Upsample", 1), ("Attention", 3)}
# What is said of types by operators that take strings, or make them.
MUST_BE = r"input '.*' must be .* but got|not of strings|bits of strings|needs a tensor of uint8|element type \d+ is unsupported"


def attributes(schema):
    """The required ones, with values of the right kind."""
    kinds = onnx.defs.OpSchema.AttrType
    values = {kinds.INT: 1, kinds.INTS: [1, 1], kinds.FLOAT: 1.0, kinds.FLOATS: [1.0], kinds.STRING: "LEFT"}
    return {name: values[attribute.type] for name, attribute in schema.attributes.items() if attribute.required and attribute.type in values}


def has_subgraphs(schema):
    """Such a node needs a body that fits it: test/control and test/importer have some."""
    return any(attribute.type == onnx.defs.OpSchema.AttrType.GRAPH for attribute in schema.attributes.values())


class Model:
    def __init__(self):
        self.nodes, self.inputs, self.expected = [], {}, {}

    def add(self, schema, types, expected):
        """A node of these input types; `expected` is a pattern of what must be said of it, or None: nothing of types."""
        name = f"n{len(self.nodes)}"
        for kind in types:
            self.inputs[kind] = f"x{TYPES[kind]}"
        outputs = [f"{name}_{k}" for k in range(max(schema.min_output, 1))]
        self.nodes.append(helper.make_node(schema.name, [self.inputs[kind] for kind in types], outputs, name=name, **attributes(schema)))
        self.expected[name] = (expected, f"{schema.name} of {', '.join(types)}")

    def fill(self, schema):
        inputs = list(schema.inputs)
        if inputs[-1].option == onnx.defs.OpSchema.FormalParameterOption.Variadic:
            inputs.append(inputs[-1])
        allowed = [[kind for kind in TYPES if kind in value.types] for value in inputs]
        default = [kinds[0] for kinds in allowed]

        def shared(i, kind):
            return [kind if value.type_str == inputs[i].type_str else default[k] for k, value in enumerate(inputs)]

        for i in range(len(inputs)):
            for kind in allowed[i]:
                self.add(schema, shared(i, kind), None)
            wrong = next((kind for kind in TYPES if kind not in allowed[i]), None)
            if wrong and (schema.name, i) not in LENIENT:
                self.add(schema, shared(i, wrong), MUST_BE)
            other = next((kind for kind in allowed[i] if kind != default[i]), None)
            if other and any(value.type_str == inputs[i].type_str for value in inputs[:i]):
                self.add(schema, default[:i] + [other] + default[i + 1 :], "same element type|element types that differ")

    def proto(self):
        graph = helper.make_graph(
            self.nodes, "types", [helper.make_tensor_value_info(name, TYPES[kind], [2, 2]) for kind, name in self.inputs.items()],
            [helper.make_empty_tensor_value_info(self.nodes[0].output[0])])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", onnx.defs.onnx_opset_version())], ir_version=10)


def main():
    arguments = ingot_run.parser(__doc__).parse_args()
    model, count = Model(), ingot_run.Count("types")
    for name, schema in operators.schemas().items():
        if name not in NOT_TENSORS and schema.inputs and not has_subgraphs(schema):
            model.fill(schema)
    with tempfile.TemporaryDirectory(prefix="ingot-types-") as folder:
        path = pathlib.Path(folder, "model.onnx")
        path.write_bytes(model.proto().SerializeToString())
        done = subprocess.run([arguments.ingot, "compile", str(path), "-o", folder], capture_output=True, text=True, timeout=60)
    if done.returncode != 1:
        sys.exit(f"exit code {done.returncode}: {done.stderr[-600:]}")
    said = {}
    for name, text in re.findall(r"error: node '(n\d+)' \(.*?\): (.*)", done.stderr):
        said[name] = said.get(name, "") + text
    for name, (expected, what) in model.expected.items():
        text = said.get(name, "")
        about = re.search("must be .* but got|same element type|element types that differ", text)
        wrong = None if (re.search(expected, text) if expected else not about) else f"expected {expected or 'no word on types'}: {text or 'nothing is said'}"
        count.add(what, wrong)
    count.finish()


if __name__ == "__main__":
    main()
