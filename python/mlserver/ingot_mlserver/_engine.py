"""Opens what the uri of a model names: an ONNX file, which is compiled; a compiled model's NAME.json; or a folder with one of them."""

import json
import pathlib
import typing

import numpy as np

from ._options import Options


class Value(typing.NamedTuple):
    """An input or output: its type is ONNX's name of it, a size that a run chooses has its name, and one that a run finds is None."""

    name: str
    type: str
    shape: typing.Tuple[typing.Union[int, str, None], ...]
    optional: bool = False


Arrays = typing.Sequence[typing.Optional[np.ndarray]]


class Engine(typing.Protocol):
    """A model that is ready to run. `run` may be called by several threads at once."""

    @property
    def inputs(self) -> typing.Sequence[Value]: ...
    @property
    def outputs(self) -> typing.Sequence[Value]: ...
    @property
    def bounds(self) -> typing.Mapping[str, typing.Tuple[int, typing.Optional[int]]]:
        """Of sizes that a run chooses: the least and the most."""

    @property
    def variants(self) -> typing.Mapping[str, typing.Sequence[int]]:
        """Of such sizes those for which alone there is code."""

    def run(self, arrays: Arrays) -> typing.List[np.ndarray]: ...


def model_file(uri: str) -> pathlib.Path:
    """The model of a path. In a folder a compiled one is preferred; two of a kind are an error."""
    path = pathlib.Path(uri)
    if path.is_file():
        return path
    if not path.is_dir():
        raise ValueError(f"there is no {uri}")
    compiled = sorted(each for each in path.glob("*.json") if each.with_suffix(".so").exists())
    found = compiled or sorted(path.glob("*.onnx"))
    if len(found) != 1:
        names = ", ".join(each.name for each in found) or "neither an .onnx nor a compiled NAME.json with NAME.so"
        raise ValueError(f"the folder {uri} has {names}; one model is needed, or a uri that names it")
    return found[0]


class IngotEngine:
    """A model that ingot has compiled."""

    def __init__(self, uri: str, options: Options) -> None:
        import ingot

        path = model_file(uri)
        if path.suffix == ".json":
            self.model = ingot.load(path, threads=options.threads)
        else:
            chosen = {name: getattr(options, name) for name in ("target", "levels", "dims", "accuracy", "flags", "threads")}
            self.model = ingot.compile(path, **chosen)
        self.inputs = [Value(each.name, each.type, each.shape, each.optional) for each in self.model.inputs]
        self.outputs = [Value(each.name, each.type, each.shape) for each in self.model.outputs]
        self.bounds = {each.name: (each.least, each.most) for each in self.model.symbols}
        self.variants = self._variants()

    def _variants(self) -> typing.Dict[str, typing.List[int]]:
        """Sizes for which alone there is code, which the manifest names."""
        facts = json.loads(self.model._manifest.read_text())
        return {each["name"]: sorted(each["bodies"]) for each in facts["symbols"] if each.get("bodies") and not each["others"]}

    def run(self, arrays: Arrays) -> typing.List[np.ndarray]:
        results = self.model(*arrays)
        return list(results) if len(self.outputs) != 1 else [results]
