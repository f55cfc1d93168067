"""--accuracy reproducible: a model gives the same bits on all machines, through C++ source by all compilers, and with any number of threads.

    run.py --ingot build/bin/ingot [--suites own,edges,random,models] [--machines x86-64-v3,aarch64,...] [--only NAME,...] [-j 2]
    run.py ... --suites random --seed N --cases 100      random graphs of test/random
    run.py ... --suites models --models FOLDER           folders of a model with test_data_set_0
    run.py ... --accuracy strict                         which machines and models differ without the promise
    run.py ... --keep                                    writes bits.json anew, with its version raised by hand

What a model gives is a digest (`ingot verify --digest print`). The digest on x86-64-v2 is compared with that of each machine below. Those of edges and of float32 are in bits.json,
too: with another digest there the version of the arithmetic is to be raised (compiler/target/Reproducible.h), since manifests promise the same bits for one version.
"""
import concurrent.futures
import json
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / folder) for folder in ("tools", "types", "random")]
import edges
import halves
import host
import ingot_run
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from open_model import build_source

import families
import seeds
from run import build

BITS = HERE / "bits.json"
REFERENCE = "x86-64-v2"
X, W = halves.X, halves.W


# What halves.py has not: sizes that fill no vector and no tile, axes of all kinds, operators that add up or round.
MORE = {
    **{f"matmul-{m}-{k}-{n}": ("MatMul", [(X, m, k), (W, k, n)], 1, {}) for m in (1, 7, 13) for k in (1, 13, 77) for n in (1, 7, 13)},
    **{f"matmul-data-{m}-{k}-{n}": ("MatMul", [(X, m, k), (X, k, n)], 1, {}) for m in (1, 13) for k in (7, 130) for n in (1, 13)},
    "matmul-long": ("MatMul", [(X, 5, 3000), (W, 3000, 65)], 1, {}),
    "matmul-large": ("MatMul", [(X, 131, 257), (W, 257, 129)], 1, {}),
    "gemm-vector": ("Gemm", [(X, 1, 515), (W, 1, 515)], 1, {"transB": 1}),
    **{f"reduce-{kind.lower()}-{axis}": (f"Reduce{kind}", [(X, 7, 13, 29), [axis]], 1, {}) for kind in ("Sum", "Mean", "L1", "SumSquare", "Prod") for axis in (0, 1, 2)},
    "reduce-sum-images": ("ReduceSum", [(X, 2, 13, 7, 9), [2, 3]], 1, {}),
    "conv-1x1-stride": ("Conv", [(X, 1, 7, 13, 13), (W, 13, 7, 1, 1)], 1, {"strides": [2, 2]}),
    "conv-one-channel": ("Conv", [(X, 1, 13, 11, 11), (W, 1, 13, 3, 3)], 1, {"pads": [1, 1, 1, 1]}),
    "conv-dilated": ("Conv", [(X, 1, 8, 17, 17), (W, 8, 8, 3, 3)], 1, {"dilations": [2, 2]}),
    "conv-volume": ("Conv", [(X, 1, 3, 5, 7, 7), (W, 4, 3, 3, 3, 3)], 1, {}),
    "conv-line": ("Conv", [(X, 1, 1, 400), (W, 9, 1, 31)], 1, {"strides": [3]}),
    "conv-5x5": ("Conv", [(X, 1, 32, 24, 24), (W, 32, 32, 5, 5)], 1, {"pads": [2, 2, 2, 2]}),
    "conv-transpose-one": ("ConvTranspose", [(X, 1, 13, 7, 7), (W, 13, 1, 3, 3)], 1, {}),
    "average-pool-7": ("AveragePool", [(X, 1, 16, 28, 28)], 1, {"kernel_shape": [7, 7]}),
    "lp-pool": ("LpPool", [(X, 1, 5, 13, 13)], 1, {"kernel_shape": [3, 3]}),
    "global-max-pool": ("GlobalMaxPool", [(X, 2, 17, 9, 9)], 1, {}),
    "lstm-wide": ("LSTM", [(X, 3, 1, 13), (W, 1, 4 * 33, 13), (W, 1, 4 * 33, 33), (W, 1, 8 * 33)], 3, {"hidden_size": 33}),
    "rnn-reverse": ("RNN", [(X, 5, 2, 7), (W, 1, 13, 7), (W, 1, 13, 13)], 2, {"hidden_size": 13, "direction": "reverse"}),
    "resize-cubic": ("Resize", [(X, 1, 2, 7, 7), None, [1.0, 1.0, 1.9, 1.3]], 1, {"mode": "cubic"}),
    "det": ("Det", [(X, 3, 7, 7)], 1, {}),
    "mean-variance": ("MeanVarianceNormalization", [(X, 2, 3, 7, 13)], 1, {}),
    "attention-causal": ("Attention", [(X, 1, 2, 13, 7), (X, 1, 2, 29, 7), (X, 1, 2, 29, 13)], 1, {"is_causal": 1}),
}  # fmt: skip
KINDS = {"f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE, **halves.KINDS}


class Random(np.random.RandomState):
    """Draws the same numbers with each version of numpy, by the names that its newer generators have."""

    integers = np.random.RandomState.randint


def own(name):
    """A model of the suite and its inputs; a name is that of a case and its type."""
    case, kind = name.rsplit("/", 1)
    halves.KINDS.update(KINDS)
    halves.CASES.update(MORE)
    model, values = halves.models(kind, case, Random(sum(map(ord, case))))[kind]
    types = {value.name: value for value in onnx.shape_inference.infer_shapes(model).graph.output}
    for output in model.graph.output:
        known = types[output.name].type.tensor_type
        output.type.CopyFrom(types[output.name].type if known.elem_type and known.HasField("shape") else model.graph.input[0].type)
    return model, values


def conversions(source, element):
    """Cast of numbers that the type holds, and of others."""
    dtype, to = np.dtype(source), np.dtype(element)
    if dtype.kind == "f":
        numbers = edges.Graph({"f2": "float16", "f4": "float", "f8": "double"}[dtype.str[1:]]).inputs["x"]
    else:
        random = np.random.RandomState(1)
        numbers = (random.randint(0, 1 << 32, 200, np.int64).astype(np.uint64) << np.uint64(32) | random.randint(0, 1 << 32, 200, np.int64).astype(np.uint64)) >> random.randint(0, 64, 200).astype(np.uint64)
        numbers = numbers.astype(dtype)
    graph = helper.make_graph([helper.make_node("Cast", ["x"], ["y"], to=helper.np_dtype_to_tensor_dtype(to))], "g",
                              [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(dtype), numbers.shape)],
                              [helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(to), numbers.shape)])  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10), [numbers]


def edge(name):
    if name.startswith("cast-"):
        return conversions(*name.split("-")[1:])
    case, kind = edges.CASES[name]
    graph = edges.Graph(kind)
    case(graph)
    return graph.model(), list(graph.inputs.values())


NUMBERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
SUITES = {
    "own": [f"{case}/{kind}" for case in (*halves.CASES, *MORE) for kind in ("f32", "f16", "bf16")] + [f"{case}/f64" for case in ("exp", "tanh", "softmax", "matmul-13-77-13", "reduce-sum-2", "erf")],
    "edges": [*edges.CASES, *(f"cast-{a}-{b}" for a in ("float16", "float32", "float64") for b in NUMBERS), *(f"cast-{a}-{b}" for a in NUMBERS[4:] for b in ("float16", "float32", "float64"))],
}  # fmt: skip


class Machine:
    """How a model runs: `flags` of the compilation, `threads`, the `runner` of another machine, or a C++ `compiler` with its own flags."""

    def __init__(self, *flags, threads=1, runner=None, compiler=None, needs=None, every=1):
        self.flags, self.threads, self.runner, self.compiler, self.needs, self.every = [*flags], threads, runner, compiler, needs, every

    def lacking(self, ingot):
        """What is missing here to run models so; empty: nothing."""
        for tool in ((self.runner or "").split()[:1], (self.compiler or [])[:1]):
            if tool and not shutil.which(tool[0]):
                return f"there is no {tool[0]}"
        if self.runner and not (pathlib.Path(ingot).resolve().parents[1] / "lib" / self.needs).exists():
            return f"there is no support library for {self.needs}"
        return host.lacks(ingot, self.needs) if self.needs and not self.runner else ""


LEVELS = "x86-64-v2,x86-64-v3,x86-64-v4"
QEMU = "qemu-{0} -L /usr/{0}-linux-gnu"
# The emulators and compilers take seconds for a model, so that each of them takes a part of the models, in turn. rv64gcv is not
# among them: qemu 7.2 ends itself where vectors of floats become integers (test/known.txt).
MACHINES = {
    "x86-64-v2": Machine("--target", "x86-64-v2"),
    "x86-64-v3": Machine("--target", "x86-64-v3", needs="x86-64-v3"),
    "x86-64-v4": Machine("--target", "x86-64-v4", needs="x86-64-v4"),
    "native": Machine("--target", "native"),
    "two-threads": Machine("--target", "native", threads=2, every=2),
    "three-threads": Machine("--target", "x86-64-v2", threads=3, every=2),
    "levels": Machine("--levels", LEVELS, every=4),
    "levels-as-v2": Machine("--levels", LEVELS, "--as", "x86-64-v2", every=4),
    "aarch64": Machine("--target", "armv8-a", runner=QEMU.format("aarch64"), needs="aarch64-linux-gnu", every=3),
    "armv8.6-a": Machine("--target", "armv8.6-a", runner=QEMU.format("aarch64"), needs="aarch64-linux-gnu", every=6),
    "rv64gc": Machine("--target", "rv64gc", runner=QEMU.format("riscv64"), needs="riscv64-linux-gnu", every=6),
    "g++ -O2": Machine("--target", "portable", compiler=["g++", "-O2"], every=8),
    "g++ -O3": Machine("--target", "portable", compiler=["g++", "-O3", "-march=native", "-ffp-contract=fast"], every=8),
    "g++ scalar": Machine("--target", "portable-scalar", compiler=["g++", "-O3", "-march=native"], every=12),
    "clang++ -O2": Machine("--target", "portable-256", compiler=["clang++-22", "-O2"], every=8),
    "clang++ -O3": Machine("--target", "portable", compiler=["clang++-22", "-O3", "-march=native", "-ffp-contract=on"], every=8),
    "clang++ v3": Machine("--target", "x86-64-v3", compiler=["clang++-22", "-O3", "-march=x86-64-v3", "-ffp-contract=on"], needs="x86-64-v3", every=12),
}  # fmt: skip


def digest(arguments, machine, folder, flags=()):
    """(digest, "") of what folder/model.onnx gives, or (None, what was said)."""
    data = [word for path in sorted(folder.glob("test_data_set_*")) for word in ("--data", path)]
    model, accuracy, built = folder / "model.onnx", ["--accuracy", arguments.accuracy, *flags], None
    words = [*machine.flags, *accuracy]
    if machine.compiler:
        built = pathlib.Path(tempfile.mkdtemp(prefix="ingot-reproducible-"))
        code, _, err = ingot_run.invoke([arguments.ingot, "compile", model, "-o", built, "--name", "m", "--emit", "cpp", *words], 300)
        said = "" if code == 0 else err
        if code == 0:
            code, said = build_source(built, machine.compiler[0], machine.compiler[1:])
        if code != 0:
            shutil.rmtree(built)
            return None, said.strip()[:600] or f"exit {code}"
        model, words = built / "m.json", []
    runs = ["--threads", machine.threads, *(["--runner", machine.runner] if machine.runner else [])]
    code, out, err = ingot_run.invoke([arguments.ingot, "verify", model, *data, "--digest", "print", *words, *runs], 600)
    if built:
        shutil.rmtree(built)
    return (out.split()[-1], "") if code == 0 else (None, (err or out).strip()[:600] or f"exit {code}")


def write(folder, model, values):
    data = folder / "test_data_set_0"
    data.mkdir()
    onnx.save(model, folder / "model.onnx")
    for k, value in enumerate(values):
        onnx.save_tensor(numpy_helper.from_array(np.asarray(value)), data / f"input_{k}.pb")


def made(arguments, suite, name, folder):
    """Writes a model of a suite with its inputs into the folder, or returns the folder that has it; None where there is none."""
    if suite == "models":
        return pathlib.Path(arguments.models) / name
    if suite == "random":
        case, model, _, _ = build(seeds.of(arguments.seed, int(name)), int(name), sorted(families.load()))
        if case is None:
            return None
        write(folder, model, [case.values[k].array for k in case.inputs])
    else:
        write(folder, *(own if suite == "own" else edge)(name))
    return folder


def one(arguments, suite, number, name, names):
    """(reference digest, what is wrong, how many machines were compared)."""
    with tempfile.TemporaryDirectory(prefix="ingot-reproducible-") as scratch:
        folder = made(arguments, suite, name, pathlib.Path(scratch))
        if folder is None:
            return None, [], 0
        wanted, said = digest(arguments, MACHINES[REFERENCE], folder)
        if wanted is None:
            return None, [] if suite == "random" and "error:" in said and "bug" not in said else [f"{REFERENCE}: {said}"], 0
        wrong, compared = [], 0
        for turn, machine in enumerate(names):
            if machine == REFERENCE or (number + turn) % (MACHINES[machine].every if arguments.sparse else 1):
                continue
            got, said = digest(arguments, MACHINES[machine], folder)
            compared += 1
            if got != wanted:
                wrong.append(f"{machine}: {said or 'other bits'}")
        return wanted, wrong, compared


def compare_kept(arguments, digests):
    """What is wrong with the digests of bits.json, which is written anew with --keep."""
    if arguments.keep:
        kept = json.loads(BITS.read_text()) if BITS.exists() else {"arithmetic_version": 2}
        BITS.write_text(json.dumps({"arithmetic_version": kept["arithmetic_version"], "digests": dict(sorted(digests.items()))}, indent=1) + "\n")
        return []
    kept = json.loads(BITS.read_text())["digests"] if BITS.exists() else {}
    return [f"{name}: other bits than in bits.json" if name in kept else f"{name}: not in bits.json" for name, digest in digests.items() if kept.get(name) != digest]


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--suites", default="own,edges"), parser.add_argument("--machines"), parser.add_argument("--only"), parser.add_argument("--models")
    parser.add_argument("--accuracy", default="reproducible"), parser.add_argument("--keep", action="store_true"), parser.add_argument("--sparse", action="store_true")
    parser.add_argument("--cases", type=int, default=100), parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=lambda text: text if text == "moving" else int(text), default=1)
    arguments = parser.parse_args()
    machines = arguments.machines.split(",") if arguments.machines else list(MACHINES)
    for machine in list(machines):
        if lack := MACHINES[machine].lacking(arguments.ingot):
            ingot_run.skip(machine, lack)
            machines.remove(machine)
    names = {**SUITES, "random": list(map(str, range(arguments.first, arguments.first + arguments.cases)))}
    if "models" in arguments.suites:
        names["models"] = sorted(path.parent.name for path in pathlib.Path(arguments.models).glob("*/model.onnx") if (path.parent / "test_data_set_0").is_dir())
        if not names["models"]:
            ingot_run.skip("models", f"there are none in {arguments.models}")
    jobs = [(suite, number, name) for suite in arguments.suites.split(",") for number, name in enumerate(names[suite]) if not arguments.only or name in arguments.only.split(",")]
    failed, compared, kept = 0, 0, {}
    with concurrent.futures.ProcessPoolExecutor(arguments.j) as pool:
        futures = [pool.submit(one, arguments, suite, number, name, machines) for suite, number, name in jobs]
        for (suite, _, name), future in zip(jobs, futures):
            digest, wrong, count = future.result()
            compared += count
            failed += len(wrong)
            for line in wrong:
                print(f"{suite} {name}: {line}", flush=True)
            if digest and arguments.accuracy == "reproducible" and (suite == "edges" or name.endswith("/f32")):
                kept[f"{suite}/{name}"] = digest
    for line in compare_kept(arguments, kept):
        failed += 1
        print(line)
    print(f"{len(jobs)} models, {compared} digests compared, {failed} wrong")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
