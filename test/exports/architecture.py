"""What an architecture of test/exports is: a module with small seeded weights, its inputs, whose axes have names, and the sizes that it is run at.

    Architecture("bert", lambda: BertModel(BertConfig(...)), {"input_ids": tokens("batch", "seq")}, table("batch seq", (1, 1), (2, 5), (3, 17)))

Sizes are given by name; those that rows have in common, and whatever else the module's call wants, are in the declaration. Files in architectures/ hold
lists named ARCHITECTURES; a new file there is found by itself."""
import dataclasses
import importlib
import pathlib
from collections.abc import Callable

import numpy as np

VOCABULARY = 99


def table(names, *rows):
    """[{"batch": 1, "seq": 1}, ...]"""
    return [dict(zip(names.split(), row)) for row in rows]


@dataclasses.dataclass(frozen=True)
class Input:
    dims: tuple  # numbers and names
    fill: Callable  # (rng, shape) -> array

    def shape(self, sizes):
        return tuple(sizes[dim] if isinstance(dim, str) else dim for dim in self.dims)

    def axes(self):
        return {axis: dim for axis, dim in enumerate(self.dims) if isinstance(dim, str)}


def real(*dims):
    return Input(dims, lambda rng, shape: rng.standard_normal(shape).astype(np.float32))


def positive(*dims):
    return Input(dims, lambda rng, shape: rng.uniform(0.1, 1, shape).astype(np.float32))


def tokens(*dims, below=VOCABULARY):
    return Input(dims, lambda rng, shape: rng.integers(3, below, shape))


def mask(*dims, dtype=np.int64):
    """Rows of ones, then zeros; the first element is one."""

    def fill(rng, shape):
        lengths = rng.integers(1, shape[-1] + 1, shape[:-1])
        return (np.arange(shape[-1]) < lengths[..., None]).astype(dtype)

    return Input(dims, fill)


def ones(*dims):
    return Input(dims, lambda rng, shape: np.ones(shape, np.int64))


@dataclasses.dataclass(frozen=True)
class Architecture:
    name: str
    make: Callable  # () -> torch.nn.Module
    inputs: dict[str, Input]
    sizes: list[dict[str, int]]
    call: Callable | None = None  # (module, **inputs) -> what is exported: tensors in tuples, lists, dicts, caches
    trace: dict[str, int] | None = None  # the sizes that the exporters see; default: those of the last row
    untraceable: str = ""  # why torch.onnx.export(dynamo=False) is not tried: what it would write is known to hold the traced sizes
    tolerance: float = 1e-4  # of the largest value of an output, and ten times that of each

    def feeds(self, row):
        rng = np.random.default_rng(row)
        sizes = self.sizes[row]
        return {name: value.fill(rng, value.shape(sizes)) for name, value in self.inputs.items()}

    def traced(self):
        rng, sizes = np.random.default_rng(99), self.trace or self.sizes[-1]
        return {name: value.fill(rng, value.shape(sizes)) for name, value in self.inputs.items()}


def everything():
    """Name -> architecture, of all files in architectures/."""
    found = {}
    for path in sorted((pathlib.Path(__file__).parent / "architectures").glob("*.py")):
        for architecture in importlib.import_module(f"architectures.{path.stem}").ARCHITECTURES:
            assert architecture.name not in found, architecture.name
            found[architecture.name] = architecture
    return found
