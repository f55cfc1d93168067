"""What `ingot compile` writes, looked at from outside: run.py --ingot build/bin/ingot --runtime libingot_rt.a --include DIR [--target T]

For some small models: two compiles give equal bytes, whatever the folder; the library defines only NAME_run and NAME_model and needs only ingot_*; the
header compiles as strict C99 and as C++11 to C++20; a run makes no system call, no allocation, changes nothing of the floating-point environment, gives the same
bits twice with a dirty workspace, and stays within 16 KB of stack (manners.c, which is first shown to notice models that do these things: rude.c), also where open rows
meet long panels, and sums wait on the stack for tiles of all heights;
mistakes of a caller are error values (errors.c).
"""
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tools")]
import ingot_run
import numpy as np
import onnx
from onnx import helper, numpy_helper

LLVM = "/usr/lib/llvm-22/bin/"
STACK = 16 * 1024


def model(nodes, inputs, outputs, weights):
    generator = np.random.default_rng(3)
    tensors = [numpy_helper.from_array(value if isinstance(value, np.ndarray) else generator.uniform(-0.5, 0.5, value).astype(np.float32), name) for name, value in weights.items()]
    value = lambda name, shape, kind=onnx.TensorProto.FLOAT: helper.make_tensor_value_info(name, kind, shape)
    graph = helper.make_graph(nodes, "g", [value(*item) for item in inputs], [value(*item) for item in outputs], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs.split(), output.split(), name=f"{op}_{output.split()[0]}", **attributes)


def models():
    """A small network of each kind: convolutions, a perceptron, recurrence, and indices from an input."""
    yield "convs", model(
        [node("Conv", "x w1 b1", "a", pads=[1] * 4), node("Relu", "a", "b"), node("MaxPool", "b", "c", kernel_shape=[2, 2], strides=[2, 2]),
         node("Conv", "c w2 b2", "d", group=20, pads=[1] * 4), node("Add", "c d", "e"), node("GlobalAveragePool", "e", "f"), node("Flatten", "f", "g"),
         node("Gemm", "g w3 b3", "h", transB=1), node("Softmax", "h", "y")],
        [("x", [1, 3, 19, 23])], [("y", [1, 7])], {"w1": [20, 3, 3, 3], "b1": [20], "w2": [20, 1, 3, 3], "b2": [20], "w3": [7, 20], "b3": [7]})
    yield "mlp", model([node("MatMul", "x w", "a"), node("Add", "a b", "c"), node("Tanh", "c", "d"), node("MatMul", "d v", "y")],
                       [("x", [5, 33])], [("y", [5, 3])], {"w": [33, 40], "b": [40], "v": [40, 3]})
    yield "lstm", model([node("LSTM", "x w r b", "y h c", hidden_size=9)], [("x", [6, 2, 5])], [("y", [6, 1, 2, 9]), ("h", [1, 2, 9])],
                        {"w": [1, 36, 5], "r": [1, 36, 9], "b": [1, 72]})
    yield "lookup", model([node("Gather", "table i", "a"), node("ReduceMean", "a", "y", axes=[-1])],
                          [("i", [4], onnx.TensorProto.INT64)], [("y", [4, 1])], {"table": [10, 17]})


def tool(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise AssertionError(f"{pathlib.Path(str(command[0])).name}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[-600:]}")
    return done.stdout


def check_bytes(first, second):
    names = sorted(path.name for path in first.iterdir())
    assert names == sorted(path.name for path in second.iterdir()), "the two compiles wrote other files"
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), f"{name} differs between two compiles"


def check_symbols(library, name):
    symbols = [line.split() for line in tool(LLVM + "llvm-nm", "-g", library).splitlines() if line.strip() and not line.endswith(":")]
    defined = {parts[-1] for parts in symbols if len(parts) == 3}
    wanted = {parts[-1] for parts in symbols if len(parts) == 2} - defined
    assert defined == {f"{name}_run", f"{name}_model"}, f"defines {sorted(defined)}"
    assert all(symbol.startswith("ingot_") for symbol in wanted), f"needs {sorted(wanted)}"


def found(compiler, name):
    """Whether a compiler is there; GCC need not be."""
    if shutil.which(compiler):
        return True
    ingot_run.skip(f"header of {name} with {compiler}", f"there is no {compiler}")
    return False


def check_header(folder, name, include):
    (folder / "use.c").write_text(f'#include "{name}.h"\nint use(void) {{ return {name}_model()->abi != INGOT_ABI; }}\n')
    strict = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I", folder, "-I", include]
    for compiler in ("clang-22", "gcc"):
        if found(compiler, name):
            tool(compiler, "-std=c99", *strict, folder / "use.c")
    for compiler, level in itertools.product(("clang++-22", "g++"), ("c++11", "c++17", "c++20")):
        if found(compiler, name):
            tool(compiler, f"-std={level}", "-x", "c++", *strict, folder / "use.c")
    (folder / "use.c").unlink()


def check_manners(folder, name, code, arguments):
    """Runs the model in `code`, a source file or a library."""
    program = folder / "manners"
    tool("clang-22", "-O1", f"-DMODEL={name}", "-I", arguments.include, HERE / "manners.c", *code, arguments.runtime, "-o", program)
    text = tool(program)
    facts = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
    assert facts["status"] == "0 0", f"status {facts['status']}"
    assert facts["allocations"] == "0", f"{facts['allocations']} allocations"
    assert facts["environment"] == "kept", "the floating-point environment was changed"
    assert int(facts["stack"]) <= STACK, f"{facts['stack']} bytes of stack"
    if "not shown" in text:
        ingot_run.skip(f"system calls of {name}", "the kernel has no strict mode of seccomp")
    else:
        assert "system calls none" in text, "a system call"
    return f"stack {facts['stack']} bytes"


def check_errors(folder, name, arguments):
    program = folder / "errors"
    tool("clang-22", "-O1", f"-DMODEL={name}", "-I", arguments.include, HERE / "errors.c", folder / f"{name}.a", arguments.runtime, "-o", program)
    tool(program)


def check_the_check(arguments):
    """A polite model passes manners.c; each rude one does not, for its own reason."""
    reasons = {0: None, 1: "1 allocations|2 allocations", 2: "manners: exit -9", 3: "environment was changed", 4: "bytes of stack", 5: "differs from run to run", 6: "status 5 5"}
    for rude, reason in reasons.items():
        try:
            with tempfile.TemporaryDirectory(prefix="ingot-artifacts-") as scratch:
                check_manners(pathlib.Path(scratch), "rude", [f"-DRUDE={rude}", HERE / "rude.c"], arguments)
            wrong = None
        except AssertionError as error:
            wrong = str(error)
        assert (wrong is None) == (reason is None) and re.search(reason or "", wrong or ""), f"manners.c says of rude model {rude}: {wrong}"


def check_frames(arguments):
    """No function of a product of open rows with a long panel, and of what follows it, has a larger frame than the compiler warns of."""
    nodes = [node("MatMul", "x w", "a"), node("Erf", "a", "y")]
    proto = model(nodes, [("x", ["m", 3072])], [("y", ["m", 768])], {"w": [3072, 768]})
    with tempfile.TemporaryDirectory(prefix="ingot-artifacts-") as scratch:
        onnx.save(proto, scratch + "/m.onnx")
        command = [arguments.ingot, "compile", scratch + "/m.onnx", "-o", scratch, *(["--target", arguments.target] if arguments.target else [])]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0 and "stack frame" not in done.stderr, f"a product of open rows: {done.stderr}"


def check_all(arguments):
    check_the_check(arguments)
    check_frames(arguments)


def one(arguments, scratch, name, proto):
    source = scratch / "model.onnx"
    source.write_bytes(proto.SerializeToString())
    folders = [scratch / name / part for part in ("first", "a/longer/second")]
    for folder in folders:
        folder.mkdir(parents=True)
        tool(arguments.ingot, "compile", source, "--name", name, "-o", folder, *(["--target", arguments.target] if arguments.target else []), preexec_fn=ingot_run.limits)
    check_bytes(*folders)
    manifest = json.loads((folders[0] / f"{name}.json").read_text())
    assert manifest["name"] == name, "the manifest has another name"
    check_symbols(folders[0] / f"{name}.a", name)
    check_header(folders[0], name, arguments.include)
    check_errors(folders[0], name, arguments)
    return check_manners(folders[0], name, [folders[0] / f"{name}.a"], arguments)


def each(description, suite, models, one, before=lambda arguments: None):
    """Runs one(arguments, scratch, name, ...) on each of models(), for the flags that these tests have."""
    parser = ingot_run.parser(description)
    parser.add_argument("--runtime", required=True), parser.add_argument("--include", required=True), parser.add_argument("--only")
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    before(arguments)
    count = ingot_run.Count(suite)
    for name, *rest in models():
        if arguments.only in (None, name):
            with tempfile.TemporaryDirectory(prefix=f"ingot-{suite}-") as scratch:
                try:
                    print(f"{name}: {one(arguments, pathlib.Path(scratch), name, *rest)}")
                    count.add(name, None)
                except AssertionError as error:
                    count.add(name, str(error))
    count.finish()


if __name__ == "__main__":
    each(__doc__, "artifacts", models, one, check_all)
