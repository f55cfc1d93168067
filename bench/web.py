"""Models in WebAssembly beside onnxruntime-web: what is downloaded, how long the first result takes, and a run.

    web.py --ingot build/bin/ingot --ort FOLDER/node_modules/onnxruntime-web MODELS... [--engine node|chromium] [--seconds 3] [--page]

`npm install onnxruntime-web` in a folder outside the tree brings the peer, which runs on one thread with SIMD, as ingot does. A model is a folder with
model.onnx and test_data_set_0/input_K.pb. Both run the same inputs in turns; the ratio is the median over rounds (web.mjs). A start is measured in a
process of its own, from reading the module to the first result, and is the middle of five. `--page` writes the table into bench/web.md.
"""
import argparse
import gzip
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "test/web"), str(HERE.parent / "test/tools")]
import browser
import onnx
from onnx import numpy_helper

ARRAYS = {"float32": "Float32Array", "float64": "Float64Array", "int8": "Int8Array", "uint8": "Uint8Array", "int32": "Int32Array", "int64": "BigInt64Array", "bool": "Uint8Array"}
LIBRARY = {"node": ["ort.node.min.mjs"], "chromium": ["ort.wasm.min.mjs"]}
RUNTIME = ["ort-wasm-simd-threaded.wasm", "ort-wasm-simd-threaded.mjs"]
LOADER = ["loader.js", "index.js"]


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=500)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"[:2000])
    return done.stdout


def title(name):
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


class Model:
    """A model as a package, and its inputs as files."""

    def __init__(self, ingot, folder, out):
        self.name, self.folder, self.out = folder.name, folder, out
        name = re.sub(r"\W", "_", folder.name)
        name = name if name[0].isalpha() else f"m_{name}"
        out.mkdir()
        call(ingot, "package", "--for", "npm", folder / "model.onnx", "--name", name, "--weights", "extern", "--package-name", "measured", "-o", out / "apart")
        call(ingot, "package", "--for", "npm", folder / "model.onnx", "--name", name, "--package-name", "measured", "-o", out / "package")
        graph = onnx.load(folder / "model.onnx", load_external_data=False).graph
        constants, self.inputs, self.sizes = {tensor.name for tensor in graph.initializer}, [], {}
        for k, value in enumerate(value for value in graph.input if value.name not in constants):
            array = numpy_helper.to_array(onnx.load_tensor(str(folder / f"test_data_set_0/input_{k}.pb")))
            (out / f"input_{k}.bin").write_bytes(array.tobytes())
            self.inputs.append({"name": value.name, "array": ARRAYS[array.dtype.name], "dims": list(array.shape), "file": f"input_{k}.bin"})
        for place, symbol in re.findall(r"/\*\* from [^:\n]*: ([^\n]*) \*/\n  (\".*\"): number;", (out / "package/index.d.ts").read_text()):
            axis, of = re.match(r"axis (\d+) of input '(.*?)'", place).groups()  # the first of its places
            self.sizes[json.loads(symbol)] = next(each["dims"][int(axis)] for each in self.inputs if re.sub(r"[/*]", "_", each["name"]) == of)
        self.load, self.module = f"load{title(name)}", name

    def request(self, base, model):
        """What web.mjs is told; paths begin with `base`, which serves the folders or is one."""
        return {"load": self.load, "sizes": self.sizes, "file": model, "package": f"{base}/package/index.js", "inputs": [{**each, "file": f"{base}/{each['file']}"} for each in self.inputs]}

    def downloads(self):
        """Bytes without weights: as they are, and compressed as servers send them."""
        files = [self.out / "apart" / name for name in (f"{self.module}.wasm", *LOADER)]
        return sum(len(file.read_bytes()) for file in files), sum(len(gzip.compress(file.read_bytes())) for file in files)


def in_node(model, arguments, who=None):
    request = {"model": model.request(str(model.out), str(model.folder / "model.onnx")), "library": str(arguments.ort / "dist" / LIBRARY["node"][0]), "seconds": arguments.seconds, "who": who}
    path = model.out / "request.json"
    path.write_text(json.dumps(request))
    return json.loads(call("node", HERE / "web.mjs", path))


def in_chromium(model, arguments, who=None):
    folders = {"model": model.out, "onnx": model.folder, "ort": arguments.ort / "dist", "bench": HERE}
    action = f'start(model, ort, read, "{who}")' if who else f"measure(model, ort, read, {arguments.seconds})"
    script = f"""import * as ort from "/ort/{LIBRARY["chromium"][0]}"; import {{ measure, start }} from "/bench/web.mjs";
ort.env.wasm.numThreads = 1; ort.env.wasm.wasmPaths = "/ort/";
const read = async (file) => (await fetch(file)).arrayBuffer(), model = {json.dumps(model.request("/model", "/onnx/model.onnx"))};
await send(await {action});"""
    return browser.ask(script, folders)


def kilobytes(bytes):
    return f"{bytes / 1000:,.0f}"


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--ingot", type=pathlib.Path, required=True), flags.add_argument("--ort", type=pathlib.Path, required=True), flags.add_argument("models", nargs="+", type=pathlib.Path)
    flags.add_argument("--engine", choices=LIBRARY, default="node"), flags.add_argument("--seconds", type=float, default=3), flags.add_argument("--page", action="store_true")
    arguments = flags.parse_args()
    arguments.ort = arguments.ort.resolve()
    ask = {"node": in_node, "chromium": in_chromium}[arguments.engine]
    runtime = [(arguments.ort / "dist" / name).read_bytes() for name in (*LIBRARY["chromium"], *RUNTIME)]
    rows, ratios = [], []
    with tempfile.TemporaryDirectory(prefix="ingot-bench-web-") as scratch:
        for k, folder in enumerate(arguments.models):
            model = Model(arguments.ingot, folder.resolve(), pathlib.Path(scratch, str(k)))
            measured = ask(model, arguments)
            starts = {who: statistics.median(ask(model, arguments, who) for _ in range(5)) for who in ("ingot", "ort")}
            plain, packed = model.downloads()
            ratios.append(measured["ratio"])
            rows.append(f"| {model.name} | {kilobytes(plain)} | {kilobytes(packed)} | {starts['ingot']:.1f} | {starts['ort']:.1f} | {measured['ingot']:.3f} | {measured['ort']:.3f} "
                        f"| {measured['ratio']:.2f} | {measured['difference']:.1e} |")  # fmt: skip
            print(rows[-1], flush=True)
    mean = math.exp(statistics.mean(map(math.log, ratios)))
    head = ["| model | download, kB | compressed | start, ms | onnxruntime-web | run, ms | onnxruntime-web | ratio | difference |", "|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    table = "\n".join([*head, *rows, f"| geometric mean | | | | | | | {mean:.2f} | |"])
    version = json.loads((arguments.ort / "package.json").read_text())["version"]
    table += f"\n\nonnxruntime-web {version}: {kilobytes(sum(map(len, runtime)))} kB of runtime, {kilobytes(sum(len(gzip.compress(part)) for part in runtime))} kB compressed."
    print(table)
    if arguments.page:
        page, mark = HERE / "web.md", f"<!-- generated by bench/web.py --engine {arguments.engine} -->"
        text = page.read_text()
        begin = text.index(mark) + len(mark)
        page.write_text(text[:begin] + "\n" + table + "\n" + text[text.index("<!-- end -->", begin) :])


if __name__ == "__main__":
    sys.exit(main())
