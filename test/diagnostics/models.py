"""Models that are wrong as a whole, and what ingot says of them: files that are no models, functions, initializers, inputs.

    models.py --ingot build/bin/ingot

Each is compiled by itself and must end with exit code 1 and the message."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import ingot_run
from onnx import ModelProto, TensorProto, ValueInfoProto, helper

F = TensorProto.FLOAT


def value(name, shape, element=F):
    return helper.make_tensor_value_info(name, element, shape)


def model(nodes, inputs=None, outputs=None, weights=(), opset=17, functions=()):
    graph = helper.make_graph(nodes, "g", inputs or [value("x", [2])], outputs or [value("y", [2])], list(weights))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("mine", 1)], functions=list(functions))
    made.ir_version = 8
    return made


def node(op="Relu", inputs=("x",), outputs=("y",), **attributes):
    return helper.make_node(op, list(inputs), list(outputs), name="n", **attributes)


def function(nodes, inputs=("a",), outputs=("b",)):
    return helper.make_function("mine", "F", list(inputs), list(outputs), nodes, [helper.make_opsetid("", 17)])


def weight(**fields):
    """Relu of an initializer."""
    return model([node("Relu", ["w"])], weights=[TensorProto(name="w", **fields)])


def sparse(dims, values, indices):
    made = model([node("Relu", ["w"])])
    made.graph.sparse_initializer.append(helper.make_sparse_tensor(helper.make_tensor("w", F, [len(values)], values), helper.make_tensor("i", TensorProto.INT64, [len(indices)], indices), dims))
    return made


def dropout(ratio, training, op="Dropout"):
    """Dropout of x, with a bias or without; None: a ratio that is left out, a training mode that is an input."""
    weights = [helper.make_tensor("b", F, [2], [0.0, 0.0])] + ([helper.make_tensor("r", F, [], ratio)] if ratio else []) + ([helper.make_tensor("t", TensorProto.BOOL, [], training)] if training else [])
    inputs = ["x"] + (["b", ""] if op == "BiasDropout" else []) + ["r" if ratio else "", "t"]
    made = model([node(op, inputs, domain="com.microsoft" if op == "BiasDropout" else None)], [value("x", [2])] + ([] if training else [value("t", [], TensorProto.BOOL)]), weights=weights)
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return made


def batch_normalization(training, variance=(1.0,)):
    channels = len(variance)
    weights = [helper.make_tensor(name, F, [channels], variance if name == "v" else [1.0] * channels) for name in "sbmv"]
    outputs = ["y", "mean", "variance"][: 3 if training else 1]
    return model([node("BatchNormalization", ["x", *"sbmv"], outputs, training_mode=training)], [value("x", [2, channels])], [value("y", [2, channels])], weights)


def attribute(kind):
    made = model([node()])
    made.graph.node[0].attribute.add(name="alpha", type=kind)
    return made


def without(field):
    made = model([node()])
    made.graph.ClearField(field)
    return made


def unnamed():
    made = model([node()])
    made.graph.node[0].op_type = ""
    return made


def reshaped(op, opset, inputs, **attributes):
    """A node of an old form on a value whose rank is not known: a Reshape by an input of any length."""
    made = model([node("Reshape", ["x", "shape"], ["s"]), node("F", ["s", *inputs], ["y"], domain="mine")], [value("x", [1, 2, 1]), value("shape", ["rank"], TensorProto.INT64), value("z", [2])], opset=13)
    body = helper.make_node(op, ["a", "c"], ["b"], name="old", **attributes)
    made.functions.append(helper.make_function("mine", "F", ["a", "c"], ["b"], [body], [helper.make_opsetid("", opset)]))
    return made


def sized(shape):
    """A tensor as long as another is large, in two dimensions; the model declares that it has this shape."""
    nodes = [node("Size", ["x"], ["s"]), node("Unsqueeze", ["s", "zero"], ["l"]), node("Concat", ["l", "l"], ["ll"], axis=0), node("ConstantOfShape", ["ll"], ["y"])]
    return model(nodes, [value("x", [2, 2])], [value("y", shape)], [helper.make_tensor("zero", TensorProto.INT64, [1], [0])])


def choice(then, otherwise, condition=()):
    """An If whose branches give these names."""
    branches = {}
    for name, results in ((f"{side}_branch", names) for side, names in (("then", then), ("else", otherwise))):
        nodes = [helper.make_node("Relu", ["x"], [result]) for result in results]
        branches[name] = helper.make_graph(nodes, name, [], [value(result, [2]) for result in results])
    return model([node("If", ["c"], **branches)], [value("c", list(condition), TensorProto.BOOL), value("x", [2])])


def loop(results, trips=()):
    """A Loop over x whose body gives these names."""
    inputs = [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL), value("v", [2])]
    kinds = {"go": value("go", [], TensorProto.BOOL), "a": value("a", [2])}
    body = helper.make_graph([helper.make_node("Relu", ["v"], ["a"])], "body", inputs, [kinds[name] for name in results])
    return model([node("Loop", ["m", "", "x"], body=body)], [value("m", list(trips), TensorProto.INT64), value("x", [2])])


def of_version(ir, opset=17):
    made = model([node()], opset=opset)
    made.ir_version = ir
    return made


def in_function(op, opset):
    made = model([node("F", ["x"], ["y"], domain="mine")])
    made.functions.append(helper.make_function("mine", "F", ["a"], ["b"], [node(op, ["a"], ["b"])], [helper.make_opsetid("", opset)]))
    return made


def of_other_domain(domain, version):
    made = model([node("Binarizer", domain=domain)])
    made.opset_import.append(helper.make_opsetid(domain, version))
    return made


MODELS = [
    ("IR version 2", of_version(2), "has IR version 2; supported are 3 to 14"),
    ("IR version 15", of_version(15), "has IR version 15; supported are 3 to 14"),
    ("opset 29, an operator of its own", model([node("Frobnicate")], opset=29), "(Frobnicate, opset 29): unknown or unsupported operator; the newest known opset is 28"),
    ("opset 0", of_version(8, 0), "the model imports operator set 0 of ai.onnx; the first is 1"),
    ("no graph", ModelProto(ir_version=8), "not an ONNX model: it has no graph"),
    ("pointer of git-lfs", b"version https://git-lfs.github.com/spec/v1\n", "is a git-lfs pointer, not the model itself ('git lfs pull' fetches it)"),
    ("field of the wrong kind", b"\x38\x01", "not an ONNX model, or a damaged one: malformed at byte 0: field 7 has the wrong wire type"),
    ("endless number", b"\x08" + b"\xff" * 10 + b"\x01", "malformed at byte 0: has a number of more than 64 bits"),
    ("cut number", b"\x08\xff", "malformed at byte 0: ends within a number"),
    ("cut field", b"\x3a\x05ab", "malformed at byte 0: needs 5 bytes where 2 are left"),
    ("field number 0", b"\x00\x01", "malformed at byte 0: has the impossible field number 0"),
    ("unknown wire type", b"\x0f\x01", "malformed at byte 0: has a field of the unknown wire type 7"),
    ("bad text", b"\x12\x01\xff" + model([node()]).SerializeToString() + b"\x3a\x02\x0a\x00\x0b", "not an ONNX model, or a damaged one: "),
    ("no outputs", without("output"), "the graph has no outputs"),
    ("no operator", unnamed(), "node 'n': has no operator"),
    ("input twice", model([node()], [value("x", [2]), value("x", [2])]), "input 'x' is defined twice"),
    ("initializer twice", model([node()], weights=[TensorProto(name="w", data_type=F, dims=[1], float_data=[v]) for v in (1, 2)]), "initializer 'w' is defined twice"),
    ("call with too much", model([node("F", ["x", "x"], domain="mine")], functions=[function([node("Relu", ["a"], ["b"])])]), "node 'n' (mine.F, opset 1): has more inputs or outputs than the function that it calls"),
    ("function without its output", model([node("F", domain="mine")], functions=[function([node("Relu", ["a"], ["c"])])]), "function 'F' does not define its output 'b'"),
    ("function with an input twice", model([node("F", ["x", "x"], domain="mine")], functions=[function([node("Relu", ["a"], ["b"])], ["a", "a"])]), "function 'F' has the input 'a' twice"),
    ("rank unknown", model([node()], [value("x", None)], [value("y", None)]), "input 'x' has an unknown number of dims; fix them with --shape x=AxBx..."),
    ("sequence", model([node()], [helper.make_tensor_sequence_value_info("x", F, [2])]), "input 'x' is a sequence; say how many tensors it has with --sequence x=N"),
    ("map", model([node()], [helper.make_value_info("x", helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(F, [2])))]), "node 'n' (Relu, opset 17): input 'x' is a map, or several, which is unsupported here"),
    ("sparse input", model([node()], [helper.make_sparse_tensor_value_info("x", F, [2])]), "input 'x' is a sparse tensor, which is unsupported; inputs may be tensors, sequences of tensors, both of them optional, and maps"),
    ("optional map", model([node()], [helper.make_value_info("x", helper.make_optional_type_proto(helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(F, [2]))))]), "input 'x' is an optional value of no tensor, which is unsupported; inputs may be tensors"),
    ("input without a type", model([node()], [ValueInfoProto(name="x")]), "input 'x' has no type that is known; inputs may be tensors"),
    ("map to maps", model([node()], [helper.make_value_info("x", helper.make_map_type_proto(TensorProto.INT64, helper.make_sequence_type_proto(helper.make_tensor_type_proto(F, [2]))))]), "input 'x' is a map to what is no tensor, which is unsupported"),
    ("map that goes through", model([node("Identity", ["z"])], [helper.make_value_info("x", helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(F, []))), value("z", [2])], [value("x", [2])]), "output 'x' is a map that is an input, which is unsupported"),
    ("complex", model([node()], [value("x", [2], TensorProto.COMPLEX64)]), "input 'x' has the element type complex64, which is unsupported"),
    ("impossible input", model([node()], [value("x", [1 << 40, 1 << 40])], [value("y", None)]), "input 'x' has impossible dims [1099511627776, 1099511627776]"),
    ("segment", weight(data_type=F, dims=[2], raw_data=b"12345678", segment=TensorProto.Segment(begin=0, end=1)), "initializer 'w' is a segment of a larger tensor, which is unsupported"),
    ("unknown element type", weight(data_type=99, dims=[2]), "initializer 'w' has the unknown element type 99"),
    ("strings missing", weight(data_type=TensorProto.STRING, dims=[2], string_data=[b"one"]), "initializer 'w' string[2] needs 2 strings, but string_data holds 1"),
    ("sparse indices", sparse([4], [1.0, 2.0], [0]), "initializer 'w' is a sparse tensor whose indices do not match its values"),
    ("sparse index", sparse([4], [1.0], [4]), "initializer 'w' is a sparse tensor with the index 4, outside [4]"),
    ("sparse and huge", sparse([1 << 20, 1 << 20], [1.0], [0]), "initializer 'w' is a sparse tensor that is too large to be made dense: float32[1048576, 1048576]"),
    ("sparse and impossible", sparse([1 << 40, 1 << 40], [1.0], [0]), "initializer 'w' is a sparse tensor of impossible dims [1099511627776, 1099511627776]"),
    ("attribute of a type", attribute(13), "node 'n' (Relu, opset 17): has the unknown attribute 'alpha'"),
    ("attribute of types", attribute(14), "node 'n' (Relu, opset 17): attribute 'alpha' holds a value of a kind that is unsupported"),
    ("attribute of graphs", attribute(10), "node 'n' (Relu, opset 17): attribute 'alpha' holds a subgraph, which is unsupported"),
    ("attribute with a graph", model([node("Relu", ["x"], body=model([node()]).graph)]), "node 'n' (Relu, opset 17): has the unknown attribute 'body'"),
    ("if with unlike branches", choice(["a"], ["a", "b"]), "node 'n' (If, opset 17): has 1 outputs, but a branch gives 2"),
    ("if with a wide condition", choice(["a"], ["a"], condition=[2]), "node 'n' (If, opset 17): needs a condition of one element"),
    ("loop without a body", model([node("Loop", ["", "", "x"])]), "node 'n' (Loop, opset 17): needs the attribute 'body'"),
    ("loop with too few results", loop(["go"]), "node 'n' (Loop, opset 17): carries 1 values, but its body has 1 outputs"),
    ("loop with a wide count", loop(["go", "a"], trips=[2]), "node 'n' (Loop, opset 17): needs a trip count and a condition of one element"),
    ("loop that goes on by a float", loop(["a", "a"]), "node 'n' (Loop, opset 17): needs a body whose first output is a boolean of one element, not 'tensor<2xf32>'"),
    ("mean of a normalization", model([node("SimplifiedLayerNormalization", ["x", "x"], ["y", "m"])]), "output 'm' is of use in training only, which is unsupported"),
    ("output of another element type", model([node()], outputs=[value("y", [2], TensorProto.INT64)]), "node 'n' (Relu, opset 17): gives output 'y' the element type float32, but the model declares int64"),
    ("old broadcast of unknown rank", reshaped("Add", 6, ["z"], broadcast=1, axis=0), "broadcasts along an axis of a tensor whose rank is not known"),
    ("old slope of unknown rank", reshaped("PRelu", 6, ["z"]), "the slope is given by channel, and the rank of the operand is not known"),
]

# Flags that the model does not fit: flags, message.
FLAGS = [
    (["--dim", "n=2,*,8"], "--dim: 'n=2,*,8': '*' or a range stands for all other sizes, at the end"),
    (["--dim", "m=2,8,*"], "--dim gives sizes to 'm', which is not an open dimension of any input"),
    (["--dim", "n=" + ",".join(map(str, range(17)))], "--dim asks for 17 variants, all combinations of sizes; at most 16 are made"),
    (["--dim", "m=2..8"], "--dim gives bounds to 'm', which is not an open dimension of any input"),
    (["--dim", "m=2"], "--dim names 'm', which is not a dimension of any input"),
    (["--shape", "z=2"], "--shape names 'z', which is not an input"),
    (["--shape", "x=2x3"], "--shape gives input 'x' 2 dims, but the model says '[n]'"),
    (["--dim", "n=2", "--target", "x86-64-v9"], "unknown x86-64 level 'x86-64-v9'; use x86-64-v2, x86-64-v3, x86-64-v4, native or the name of a CPU, such as haswell"),
    (["--dim", "n=2", "--target", "core2"], "CPU 'core2' has no SSE4.2; x86-64-v2 is the least that kernels are built for"),
    (["--dim", "n=2", "--target", "armv9-a"], "unknown Arm level 'armv9-a'; use armv8-a, armv8.2-a+dotprod, armv8.6-a or the name of a 64-bit CPU, such as cortex-a76"),
    (["--dim", "n=2", "--target", "abacus"], "no target is called 'abacus'; 'ingot targets' lists them"),
]

DROPS = "node 'n' (Dropout, opset 17): drops elements at random in every run, because its training mode is on"
TAKES_STATISTICS = "node 'n' (BatchNormalization, opset 17): normalizes each batch by its own mean and variance, because its training mode is on"
NO_ROOT = "node 'n' (BatchNormalization, opset 17): the variance of channel 1 is -0.5, which has no root: all of the channel's results are NaN"
WARNINGS = [
    ("Dropout in training", dropout([0.5], [True]), DROPS),
    ("Dropout in training, of half", dropout(None, [True]), DROPS),
    ("Dropout in training with a bias", dropout([0.5], [True], "BiasDropout"), "node 'n' (com.microsoft.BiasDropout, opset 1): drops elements at random in every run"),
    ("BatchNormalization in training", batch_normalization(1), TAKES_STATISTICS),
    ("BatchNormalization in training, with a negative variance", batch_normalization(1, [-0.5]), TAKES_STATISTICS),
    ("BatchNormalization with a negative variance", batch_normalization(0, [1.0, -0.5, -2.0]), NO_ROOT),
    ("opset 29", of_version(8, 29), "m.onnx: warning: opset 29 of ai.onnx is newer than 28, the newest that is known; its operators are taken as opset 28 defines them"),
    ("opset 2000000000", of_version(8, 2000000000), "m.onnx: warning: opset 2000000000 of ai.onnx is newer than 28, the newest that is known"),
    ("opset 30 in a function", in_function("Relu", 30), "m.onnx: warning: opset 30 of ai.onnx is newer than 28"),
    ("version 6 of ai.onnx.ml", of_other_domain("ai.onnx.ml", 6), "m.onnx: warning: opset 6 of ai.onnx.ml is newer than 5, the newest that is known; its operators are taken as opset 5 defines them"),
    ("output of another rank", model([node()], outputs=[value("y", [1, 2])]), "node 'n' (Relu, opset 17): gives output 'y' the shape [2], but the model declares [1, 2]"),
    ("output of another size", model([node()], outputs=[value("y", [3])]), "node 'n' (Relu, opset 17): gives output 'y' the shape [2], but the model declares [3]"),
    ("output of another size, which is computed", sized([3, 3]), "gives output 'y' the shape [4, 4], but the model declares [3, 3]"),
    ("output of another rank, whose sizes are computed", sized(["n", "m", "k"]), "gives output 'y' the shape [4, 4], but the model declares [?, ?, ?]"),
]


# Models that are taken without a warning.
QUIET = [
    ("Dropout", dropout([0.5], [False])),
    ("Dropout that is told when it runs", dropout([0.5], None)),
    ("Dropout of nothing", dropout([0.0], [True])),
    ("BatchNormalization", batch_normalization(0)),
    ("BatchNormalization whose epsilon makes up for a rounding", batch_normalization(0, [0.0, -1e-6])),
]


def compile(ingot, data, flags=()):
    """(exit code, what was said)."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.onnx"
        path.write_bytes(data if isinstance(data, bytes) else data.SerializeToString())
        done = subprocess.run([ingot, "compile", path, "-o", f"{folder}/out", *flags], capture_output=True, text=True, timeout=120, preexec_fn=ingot_run.limits)
        return done.returncode, done.stderr.replace(f"{folder}/", "")


def main():
    arguments = ingot_run.parser(__doc__).parse_args()
    ingot, count = os.path.abspath(arguments.ingot), ingot_run.Count("diagnostics")
    open_size = model([node()], [value("x", ["n"])], [value("y", ["n"])])
    cases = [(name, data, [], message) for name, data, message in MODELS] + [(" ".join(flags), open_size, flags, message) for flags, message in FLAGS]
    for name, data in [(f"IR version {ir}", of_version(ir)) for ir in range(3, 14)] + [(f"opset {opset}", of_version(8, opset)) for opset in range(1, 29)]:
        code, text = compile(ingot, data)
        count.add(f"{name} is taken", None if code == 0 and "warning" not in text else f"exit {code}: {text}")
    declared = model([node()], [value("x", ["n"])], [value("y", [1])])
    for name, flags in ("an output declared for one of its sizes", []), ("an output declared for another size than the user's", ["--dim", "n=2"]), ("one for another shape", ["--shape", "x=2"]):
        code, text = compile(ingot, declared, flags)
        count.add(f"{name} is taken", None if code == 0 else f"exit {code}: {text}")
    for name, data, message in WARNINGS:
        code, text = compile(ingot, data)
        count.add(f"{name}, a warning", None if code == 0 and text.count("warning") == 1 and message in text else f"exit {code}, expected {message!r}, got {text!r}")
    for name, data in QUIET:
        code, text = compile(ingot, data)
        count.add(f"{name}, no warning", None if code == 0 and not text else f"exit {code}: {text}")
    for name, data, flags, message in cases:
        code, text = compile(ingot, data, flags)
        count.add(name, None if code == 1 and message in text else f"exit {code}, expected {message!r}, got {text!r}")
    count.finish()


if __name__ == "__main__":
    main()
