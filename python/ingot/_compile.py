"""ingot.compile: writes the model to a folder where it has to, and calls the compiler."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import typing
import warnings
import weakref

from . import _model, _program
from ._errors import CompileError
from ._report import Compilation


class Folder:
    """A temporary folder that goes when nothing needs it any more. That is no mistake of the user, as a TemporaryDirectory would warn."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="ingot-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def assignment(value):
    """The text behind --dim NAME=: 4, [1, 8] (a variant for each), range(1, 9) (bounds), or as the command line has it."""
    if isinstance(value, range):
        if value.step != 1 or len(value) == 0:
            raise ValueError(f"dims: {value} is no range of sizes")
        return f"{value.start}..{value.stop - 1}"
    if isinstance(value, (list, tuple)):
        return ",".join(str(size if isinstance(size, str) else int(size)) for size in value)
    return value if isinstance(value, str) else str(int(value))


def model_file(model, folder):
    """The path of a model, which is written into `folder` unless it is a file already."""
    if isinstance(model, (str, os.PathLike)):
        return os.path.abspath(model)
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if not isinstance(model, (bytes, bytearray, memoryview)):
        raise TypeError(f"a model is a path, bytes or a ModelProto, not {type(model).__name__}")
    (folder / "model.onnx").write_bytes(model)
    return "model.onnx"  # the compile cache has the command line in its keys


def words(values):
    return [values] if isinstance(values, str) else list(values)


def command_line(target, levels, dims, shapes, sequences, accuracy, name, flags):
    line = []
    for flag, values in (("--target", target), ("--levels", levels)):
        line += [flag, ",".join(words(values))] if values else []
    for flag, values in (("--dim", dims), ("--sequence", sequences)):
        line += [word for key, value in (values or {}).items() for word in (flag, f"{key}={assignment(value)}")]
    for key, shape in (shapes or {}).items():
        line += ["--shape", f"{key}={'x'.join(str(int(size)) for size in shape)}"]
    line += ["--accuracy", accuracy] if accuracy else []
    line += ["--name", name] if name else []
    return line + [str(flag) for flag in flags]


def cache_flags(folder):
    """The flag for a folder of earlier compilations; none, with a warning, where it cannot be made."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        warnings.warn(f"compilations are not kept: {error}; INGOT_CACHE names another folder, cache=False none", RuntimeWarning, stacklevel=3)
        return []
    return ["--compile-cache", folder]


Path = typing.Union[str, "os.PathLike[str]"]
Words = typing.Union[str, typing.Sequence[str]]
Size = typing.Union[int, str, range, typing.Sequence[typing.Union[int, str]]]


def compile(
    model: typing.Any,
    *,
    target: typing.Optional[Words] = None,
    levels: typing.Optional[Words] = None,
    dims: typing.Optional[typing.Mapping[str, Size]] = None,
    shapes: typing.Optional[typing.Mapping[str, typing.Sequence[int]]] = None,
    sequences: typing.Optional[typing.Mapping[str, typing.Union[int, str]]] = None,
    accuracy: typing.Optional[str] = None,
    name: typing.Optional[str] = None,
    threads: int = 0,
    cache: typing.Union[bool, Path] = True,
    flags: typing.Sequence[typing.Any] = (),
) -> _model.Model:
    """Compiles an ONNX model for this machine and returns it, ready to be called.

    model      a path, the bytes of a model, or an onnx.ModelProto
    target     the machine: "native" (default), "x86-64-v3", ...; `ingot targets` lists them
    levels     several machines for one library, which takes the best of them that is there: ["x86-64-v2", "x86-64-v3"]
    dims       sizes of symbolic axes: {"batch": 1} fixes one, [1, 8] makes code for each and takes no other, range(1, 9) bounds it;
               without it each run may choose
    shapes     shapes of inputs: {"image": (1, 3, 224, 224)}
    sequences  how many tensors an input has that is a sequence: {"images": 2}
    accuracy   "strict", "default", "close" or "fast" (docs/using/accuracy.md)
    name       the C name of the model, and of the files that save() writes
    threads    of each run; 0: all processors
    cache      keeps compilations in ~/.cache/ingot ($INGOT_CACHE), or in a folder that is given; False: does not
    flags      what else the command line has (`ingot compile --help`): ["--winograd", "off"]

    Raises CompileError with the compiler's messages, which name the node.

    >>> import onnx, numpy as np
    >>> double = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]> double (float[N] x) => (float[N] y) { y = Add(x, x) }')
    >>> m = compile(double)
    >>> m(np.array([1, 2, 3], np.float32))
    array([2., 4., 6.], dtype=float32)
    >>> m.inputs
    (Tensor(name='x', type='float32', shape=('N',), optional=False, in_place_of=None),)
    >>> bad = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]> bad (float[2] x) => (float[2] y) { y = Nonsense(x) }')
    >>> compile(bad)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ingot._errors.CompileError: model.onnx: error: ...Nonsense...
    """
    folder = Folder()
    place = folder.path
    file, given = model_file(model, place), command_line(target, levels, dims, shapes, sequences, accuracy, name, flags)
    line = [_program.path(), "compile", file, *given, "-o", "out", "--emit", "shared"]
    if cache:
        line += cache_flags(_program.cache_folder() if cache is True else os.path.abspath(cache))
    done = subprocess.run(line, cwd=place, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    if done.returncode:
        died = f"the compiler was ended by signal {-done.returncode}" if done.returncode < 0 else ""
        raise CompileError((done.stderr.strip() + "\n" + died).strip(), done.returncode)
    manifest = next((place / "out").glob("*.json"))
    compiled = _model.load(manifest, threads=threads, folder=folder, warnings=done.stderr)
    compiled._compilation = Compilation(file, given, place)
    return compiled
