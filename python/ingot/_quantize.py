"""ingot.quantize: writes samples where `ingot quantize` reads them, and calls it."""
import json
import os
import pathlib
import subprocess
import tempfile
import typing
import warnings

import numpy as np

from . import _program
from ._compile import Path, model_file
from ._errors import CompileError

Sample = typing.Union[typing.Any, typing.Mapping[str, typing.Any]]
Samples = typing.Union[Path, typing.Sequence[Path], typing.Iterable[Sample], typing.Callable[[], typing.Iterable[Sample]]]


def is_path(value):
    return isinstance(value, (str, os.PathLike))


def data_flags(data, folder):
    """The flags for data: paths as they are, samples as files in `folder`, one at a time."""
    if data is None:
        return []
    if is_path(data):
        data = [data]
    if isinstance(data, (list, tuple)) and data and all(map(is_path, data)):
        return [word for path in data for word in ("--data", os.path.abspath(path))]
    number = 0
    for number, sample in enumerate(data() if callable(data) else data, 1):
        if isinstance(sample, typing.Mapping):
            np.savez(folder / f"sample {number:06}.npz", **{name: np.asarray(array) for name, array in sample.items()})
        else:
            np.save(folder / f"sample {number:06}.npy", np.asarray(sample), allow_pickle=False)
    if number == 0:
        raise ValueError("data: there is no sample")
    return ["--data", str(folder)]


def quantize(model: typing.Any, output: Path, data: typing.Optional[Samples] = None, *, scheme: str = "int8", flags: typing.Sequence[typing.Any] = ()) -> typing.Dict[str, typing.Any]:
    """Writes an ONNX model with smaller weights, and returns the report of `ingot quantize --json`.

    model   a path, the bytes of a model, or an onnx.ModelProto
    output  the file to write
    data    typical inputs, ten to a hundred: samples, or a function that gives them (a generator). A sample is an array, or a dictionary of arrays by the names of the inputs.
            Or the path of a folder or a file with samples, or several (docs/using/quantizing.md)
    scheme  "int8" (default), "int8-dynamic", "int4", ... (`ingot quantize --help`)
    flags   what else the command line has: ["--max-drop", 0.005]

    Raises CompileError with the messages of the command; its warnings are Python's, too.

    >>> import onnx, numpy as np
    >>> text = '<ir_version: 8, opset_import: ["" : 17]> dense (float[1, 4] x) => (float[1, 2] y) <float[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}> { y = MatMul(x, w) }'
    >>> def samples():
    ...     for seed in range(8):
    ...         yield np.random.default_rng(seed).normal(size=(1, 4)).astype(np.float32)
    >>> report = quantize(onnx.parser.parse_model(text), "/tmp/ingot-doctest.onnx", samples)
    >>> report["samples"], report["cosine"] > 0.99, [layer["quantized"] for layer in report["layers"]]
    (8, True, [True])
    """
    with tempfile.TemporaryDirectory(prefix="ingot-") as made:
        folder = pathlib.Path(made)
        (folder / "data").mkdir()
        line = [_program.path(), "quantize", model_file(model, folder), "-o", os.path.abspath(output), "--json", "--scheme", scheme, *data_flags(data, folder / "data"), *map(str, flags)]
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    if done.returncode:
        raise CompileError(done.stderr.strip(), done.returncode)
    for said in done.stderr.splitlines():
        if "warning: " in said or "note: " in said:
            warnings.warn(said.strip(), RuntimeWarning, stacklevel=2)
    return json.loads(done.stdout)
