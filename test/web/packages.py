"""Packages for npm, as docs/web.md describes them, in Node or on a page in headless Chromium.

    packages.py --ingot build/bin/ingot --engine node|chromium [--only REGEX]

Small models, among them those of test/firmware, are in one package: with vectors and without, in a worker, with weights in a file of their own. What
they give is compared with onnx's reference evaluator; integers are the host's bits. Sizes are left open, found by the run, or bounded by nothing.
Errors are exceptions with the runtime's text.
"""
import base64
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "firmware"), str(HERE.parent / "tools")]
import browser
import ingot_run
import numpy as np
import onnx
import run as firmware
from onnx.reference import ReferenceEvaluator

ARRAYS = {"float32": "Float32Array", "float64": "Float64Array", "int8": "Int8Array", "uint8": "Uint8Array", "int16": "Int16Array", "uint16": "Uint16Array", "int32": "Int32Array",
          "uint32": "Uint32Array", "int64": "BigInt64Array", "uint64": "BigUint64Array", "bool": "Uint8Array", "float16": "Uint16Array"}  # fmt: skip

# More models, as those of test/firmware: sizes that a run finds, and that nothing bounds; two outputs of a type each; floats of 16 bits.
MODELS = {
    "found": ("g (float[N] x) => (int64[1,K] y) {y = NonZero (x)}", {}, [np.float32([0, 2, 0, 3, -1])]),
    "unbounded": ("g (int64 n) => (int64[K] y, float[K] f) {y = Range (zero, n, one) f = Cast <to=1> (y)}", {"zero": np.int64(0), "one": np.int64(1)}, [np.int64(70000)]),
    "halves": ("g (float16[4] x) => (float16[4] y, bool[4] p) {y = Add (x, x) p = Greater (x, y)}", {}, [np.float16([1, -2, 0.5, 3])]),
    "wide": ("g (float[N,64] x) => (float[N,512] y, float[N,512] z) {y = MatMul (x, w) z = Exp (y)}", {"w": firmware.floats(64, 512)}, [firmware.floats(150, 64) / 50]),
    "weights": ("g (float[N,200] x) => (float[N,300] y) {y = MatMul (x, w)}", {"w": firmware.floats(200, 300)}, [firmware.floats(3, 200)]),
}  # fmt: skip


def models():
    return {re.sub(r"\W", "_", name): model for name, model in {**firmware.MODELS, **MODELS}.items()}


def title(name):
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def case(name, inputs, sizes, **options):
    """What answer.js is asked: a run of a model on arrays."""
    given = {key: [ARRAYS[array.dtype.name], base64.b64encode(array.tobytes()).decode()] for key, array in inputs.items()}
    return {"load": f"load{title(name)}", "inputs": given, "sizes": sizes, "options": options, "times": 2}


def sizes_of(model, inputs):
    """The values of a model's symbols."""
    sizes = {}
    for value in model.graph.input:
        for dim, size in zip(value.type.tensor_type.shape.dim, inputs[value.name].shape):
            if dim.dim_param:
                sizes[dim.dim_param] = size
    return sizes


class Package:
    """The models in a package, and what each should give."""

    def __init__(self, ingot, folder, only=".", flags=()):
        self.folder, self.cases, self.expected = folder / "package", {}, {}
        files = []
        for name, (text, constants, arrays) in models().items():
            if not re.search(only, name):
                continue
            model = firmware.model_of(text, constants)
            files.append(folder / f"{name}.onnx")
            onnx.save(model, files[-1])
            inputs = {value.name: np.asarray(array) for value, array in zip(model.graph.input, arrays)}
            self.cases[name] = (inputs, sizes_of(model, inputs))
            outputs = ReferenceEvaluator(model).run(None, inputs)
            self.expected[name] = dict(zip([value.name for value in model.graph.output], map(np.asarray, outputs)))
        done = subprocess.run([ingot, "package", "--for", "npm", *files, "-o", self.folder, *flags], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"ingot package: exit {done.returncode}: {done.stderr}")

    def ask(self, engine, cases):
        if engine == "chromium":
            folders = {"package": self.folder, "test": HERE}
            script = f'import {{ answer }} from "/test/answer.js"; import * as models from "/package/index.js"; await send(await answer(models, {json.dumps(cases)}));'
            return browser.ask(script, folders)
        path = self.folder.parent / "cases.json"
        path.write_text(json.dumps(cases))
        done = subprocess.run(["node", HERE / "node.mjs", self.folder, path], capture_output=True, text=True, timeout=300)
        if done.returncode:
            sys.exit(f"node: exit {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)


def wrong(answer, expected, step):
    """What differs, or None."""
    if "error" in answer:
        return f"threw: {answer['error']}"
    if list(answer["outputs"]) != list(expected):
        return f"outputs are {list(answer['outputs'])}"
    for name, want in expected.items():
        dims, text = answer["outputs"][name]
        if tuple(dims) != want.shape:
            return f"'{name}' has dims {dims}, expected {list(want.shape)}"
        got = np.frombuffer(base64.b64decode(text), want.dtype).reshape(want.shape)
        if difference := ingot_run.difference(got, want, step):
            return f"'{name}': {difference}"
    return None


def try_results(arguments, scratch, count):
    package = Package(arguments.ingot, scratch / "all", arguments.only or ".")
    kinds = {"": {}, " without relaxed ones": {"relaxed": False}, " without vectors": {"simd": False}, " in a worker": {"worker": True},
             " in two threads": {"threads": 2}, " in five threads": {"threads": 5}}
    cases = [(name, kind, case(name, *package.cases[name], **options)) for name in package.cases for kind, options in kinds.items()]
    for (name, kind, _), answer in zip(cases, package.ask(arguments.engine, [asked for *_, asked in cases])):
        count.add(f"{name}{kind}", wrong(answer, package.expected[name], firmware.STEP.get(name, 5e-5)))


def try_weights(arguments, scratch, count):
    """Weights beside the module, and a module that is smaller for it."""
    apart = Package(arguments.ingot, scratch / "apart", "weights", ["--weights", "extern"])
    for kind, options in {"": {}, " without relaxed ones": {"relaxed": False}, " without vectors": {"simd": False}}.items():
        answer = apart.ask(arguments.engine, [case("weights", *apart.cases["weights"], **options)])[0]
        count.add(f"weights apart{kind}", wrong(answer, apart.expected["weights"], 5e-5))
    bytes = {file.name: file.stat().st_size for file in apart.folder.iterdir()}
    count.add("size of weights", None if bytes["weights.weights"] >= 200 * 300 * 4 > bytes["weights.wasm"] else str(bytes))
    relaxed = {file.name for file in (scratch / "all/package").iterdir() if file.name.endswith(".relaxed.wasm")}
    count.add("modules of relaxed instructions", None if "weights.relaxed.wasm" in relaxed and not relaxed & {"found.relaxed.wasm", "unbounded.relaxed.wasm"} else str(relaxed))
    count.add("size of the loader", None if bytes["loader.js"] <= 5 << 10 else f"{bytes['loader.js']} bytes")


# What a call gets wrong, and a part of the message: a type, a size, the number of elements, an index that data has.
def try_errors(arguments, scratch, count):
    package = Package(arguments.ingot, scratch / "errors", "gathers|unbounded")
    x, i = np.zeros((5, 6), np.float32), np.int64([0, -1, 4, -5])
    wrongs = [
        ({"x": x.astype(np.float64), "i": i}, {"N": 5}, "input 'x' is no Float32Array", None),
        ({"i": i}, {"N": 5}, "input 'x' is no Float32Array", None),
        ({"x": x, "i": i}, {}, "size 'N' is not given", None),
        ({"x": x, "i": i}, {"N": 4}, "input 'x': a number of tensors or elements is not the model's, expected [N][6]", 4),
        ({"x": x, "i": i + 9}, {"N": 5}, "index", 5),
        ({"x": x, "i": i}, {"N": 2**40}, "", 12),
    ]
    for worker in (False, True):
        cases = [case("gathers", inputs, sizes, worker=worker) for inputs, sizes, *_ in wrongs]
        for (_, sizes, part, kind), answer in zip(wrongs, package.ask(arguments.engine, cases)):
            status = answer.get("status")
            right = part in answer.get("error", "nothing") and (kind is None if status is None else status & 0xFF == kind)
            count.add(f"error {part or sizes}{' in a worker' if worker else ''}", None if right else f"{answer}, expected status {kind}")
    answer = package.ask(arguments.engine, [case("unbounded", {"n": np.int64(1 << 30)}, {})])[0]
    count.add("error of found sizes", None if (answer.get("status") or 0) & 0xFF == 12 else str(answer)[:200])


def main():
    flags = ingot_run.parser(__doc__)
    flags.add_argument("--only"), flags.add_argument("--engine", choices=("node", "chromium"), default="node"), flags.set_defaults(bare=True)
    arguments = flags.parse_args()
    if missing := browser.lacks(arguments.engine == "chromium"):
        print(f"skipped: no {missing} here")
        sys.exit(77)
    count = ingot_run.Count("web")
    with tempfile.TemporaryDirectory(prefix="ingot-web-") as scratch:
        for folder in ("all", "apart", "errors"):
            pathlib.Path(scratch, folder).mkdir()
        try_results(arguments, pathlib.Path(scratch), count)
        if not arguments.only:
            try_weights(arguments, pathlib.Path(scratch), count)
            try_errors(arguments, pathlib.Path(scratch), count)
    count.finish()


if __name__ == "__main__":
    main()
