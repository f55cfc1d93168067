"""Models that are compiled, as Python sees them."""
import json
import os
import pathlib
import shutil
import subprocess
import typing

from . import _native, _program, _report
from ._errors import Error


class Tensor(typing.NamedTuple):
    """An input or output. Sizes are numbers, names of sizes that change from run to run, or None where a formula gives them."""

    name: str
    type: str
    shape: typing.Tuple[typing.Union[int, str, None], ...]
    optional: bool = False
    in_place_of: typing.Optional[str] = None  # of an output: the input whose memory it may be


class Symbol(typing.NamedTuple):
    """A size that each run chooses, with its bounds; None: there is none."""

    name: str
    least: int
    most: typing.Optional[int]


class Model(_native.Model):
    """A compiled model, which is called with its inputs, in their order or by their names.

    `m(x, y)` and `m(a=x, b=y)` return the output, or a tuple of several. Arrays of numpy, and whatever has the buffer protocol or DLPack, are read
    where they are if they are dense and of the model's type; another type is an error. None leaves an optional input out.

    out=    memory for outputs: an array, a list (None: is made), or a dictionary. It may be an input's own where `in_place_of` says so (caches).
    sizes=  values of sizes that no input tells, as that of how many rows a cache has (`symbols` has their names): {"past": 12}

    Any number of threads may call one model at once; the interpreter's lock is free while it runs. Attributes: `name`, `target`, `inputs`, `outputs`,
    `symbols`, `warnings` (what the compiler said), `threads` (of each run; 0: all processors)."""

    name: str
    target: str
    inputs: typing.Tuple[Tensor, ...]
    outputs: typing.Tuple[Tensor, ...]
    symbols: typing.Tuple[Symbol, ...]
    warnings: str
    _manifest: pathlib.Path
    _compilation: typing.Optional[_report.Compilation] = None
    _folder: typing.Any  # the files' temporary folder, which lives as long as the model

    def _group(self, facts: typing.Dict[str, typing.Any]) -> None:
        """Reads which tensors are a sequence or a map together; here none are."""

    def run(self, feeds: typing.Mapping[str, typing.Any], out: typing.Any = None, sizes: typing.Optional[typing.Mapping[str, int]] = None) -> typing.Dict[str, typing.Any]:
        """The outputs by name, for inputs by name; for names that are no words of Python, or are `out` or `sizes`."""
        given = [feeds.get(each.name) for each in self.inputs]
        if unknown := set(feeds) - {each.name for each in self.inputs}:
            raise TypeError(f"the model has no input '{sorted(unknown)[0]}'")
        results = self(*given, out=out, sizes=sizes or {})
        return dict(zip([each.name for each in self.outputs], results if len(self.outputs) != 1 else (results,)))

    def save(self, folder: typing.Union[str, "os.PathLike[str]"]) -> pathlib.Path:
        """Writes the model's files into `folder`, from where `ingot.load` and C and C++ programs take it; returns the path of the manifest.

        >>> import ingot, onnx, tempfile
        >>> text = '<ir_version: 8, opset_import: ["" : 17]> half (float[2] x) => (float[2] y) { two = Constant<value = float[1] {2}>() y = Div(x, two) }'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = ingot.compile(onnx.parser.parse_model(text), name="half").save(folder)
        ...     ingot.load(path)([1, 3])
        array([0.5, 1.5], dtype=float32)
        """
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(self._manifest.parent.glob(self._manifest.stem + ".*")):
            to = folder / path.name
            if to.resolve() != path.resolve():
                to.unlink(missing_ok=True)  # who has loaded the old file keeps it
                shutil.copy2(path, to)
        return folder / self._manifest.name

    def report(self, measure: bool = False) -> _report.Report:
        """The page of `ingot report`: kernels, graph, memory; a notebook shows it, and save() writes it. `measure`: times of the kernels, too."""
        return _report.report(self._known_compilation(), measure)

    def profile(self, seconds: float = 1, sizes: typing.Optional[typing.Mapping[str, int]] = None, threads: int = 1) -> typing.Dict[str, typing.Any]:
        """Times on random inputs, as `ingot bench --profile --json` says them: "median_us", and of each kernel under "profile" its nodes and its "us".
        The model is compiled once more, with calls around each kernel. `sizes` are those of open axes; otherwise 1."""
        return _report.profile(self._known_compilation(), seconds, sizes or {}, threads)

    def _known_compilation(self) -> _report.Compilation:
        if self._compilation is None:
            raise Error("only ingot.compile knows from what a model was made; this one was loaded")
        return self._compilation

    def __repr__(self):
        write = lambda each: f"{each.name}: {each.type}[{', '.join('?' if size is None else str(size) for size in each.shape)}]"
        return f"<ingot model {self.name} ({', '.join(map(write, self.inputs))}) -> ({', '.join(map(write, self.outputs))}), for {self.target}>"

    def __reduce__(self):
        raise TypeError("a compiled model is not pickled; save() writes its files, and ingot.load opens them")


def check_host(facts, manifest):
    """Raises where the machine has not what the code was made for. Of levels the library takes one that is there, or says so."""
    target = facts["target"]
    if facts.get("levels"):
        return
    if target.startswith("x86-64-v"):
        if int(target[-1]) > _native.machine_level:
            raise Error(f"{manifest}: is compiled for {target}, and this machine is x86-64-v{_native.machine_level}")
        return
    try:
        cpu = _program.host().get("cpu", target)
    except (OSError, subprocess.CalledProcessError):
        return  # there is no compiler here that knows processors by their names
    if "," not in target and not target.startswith("portable") and cpu != target:
        raise Error(f"{manifest}: is compiled for {target}, and this machine is {cpu}; target='x86-64-v3' or levels=... make code for others")


def load(path: typing.Union[str, "os.PathLike[str]"], *, threads: int = 0, folder: typing.Any = None, warnings: str = "") -> Model:
    """Opens a model that `Model.save` or `ingot compile --emit shared` wrote: NAME.json, with NAME.so beside it.

    threads  of each run; 0: all processors"""
    manifest = pathlib.Path(path).absolute()
    facts = json.loads(manifest.read_text())
    library = manifest.with_suffix(".so")
    if not library.exists():
        raise FileNotFoundError(f"{library} is not beside the manifest; compile with --emit shared")
    if folder is None:
        check_host(facts, manifest)
    kind = Model
    if facts.get("input_sequences") or facts.get("output_sequences") or any("map_keys" in each for each in facts["outputs"]):
        from ._groups import GroupedModel as kind
    try:
        model = kind(str(library), facts["name"], str(manifest.with_suffix(".weights")), threads)
    except RuntimeError as error:
        raise Error(str(error)) from None
    said = model._describe()
    model.name, model.target, model.warnings = said["name"], said["target"], warnings
    model.inputs = tuple(Tensor(*each) for each in said["inputs"])
    model.outputs = tuple(Tensor(*each) for each in said["outputs"])
    model.symbols = tuple(Symbol(*each) for each in said["symbols"])
    model._manifest, model._folder = manifest, folder
    model._group(facts)
    return model
