"""`parameters.extra` of a model's settings: what ingot.compile is told, and the limits of the server."""

import dataclasses
import os
import typing

from mlserver.errors import MLServerError
from mlserver.settings import ModelSettings


def invalid(name: str, message: str) -> MLServerError:
    """Settings or a model that cannot be served."""
    return MLServerError(f"model {name}: {message}", 422)


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclasses.dataclass
class Options:
    # What ingot.compile takes.
    target: typing.Optional[str] = None
    levels: typing.Optional[typing.List[str]] = None
    dims: typing.Optional[typing.Dict[str, typing.Any]] = None
    accuracy: typing.Optional[str] = None
    flags: typing.List[str] = dataclasses.field(default_factory=list)
    threads: int = 1  # of each run
    runs: int = dataclasses.field(default_factory=processors)  # at once, in each process
    # What is refused: a request beyond so many that wait, and inputs of more bytes.
    max_waiting: int = 256
    max_bytes: int = 64 << 20
    # MLServer's settings of these names, which take_batching moves here.
    max_batch_size: int = 0
    max_batch_time: float = 0

    @property
    def batches(self) -> bool:
        return self.max_batch_size > 1 and self.max_batch_time > 0


LEAST = {"threads": 0, "runs": 1, "max_waiting": 1, "max_bytes": 1}
TYPES: typing.Dict[str, typing.Tuple[type, ...]] = {"target": (str,), "levels": (list,), "dims": (dict,), "accuracy": (str,), "flags": (list,)}


def take_batching(settings: ModelSettings) -> None:
    """Moves MLServer's settings of batches to the parameters, so that the runtime forms them and not MLServer.

    MLServer merges requests before any runtime sees them: a wrong one is then an error of all in its batch, rows of unlike sizes are dealt out wrongly, and after a
    reload it does not merge at all. The settings go to the workers of MLServer as they are here."""
    if settings.max_batch_size > 1 and settings.max_batch_time > 0 and settings.parameters is not None:
        moved = {"max_batch_size": settings.max_batch_size, "max_batch_time": settings.max_batch_time}
        settings.parameters.extra = {**(settings.parameters.extra or {}), **moved}
        settings.max_batch_size, settings.max_batch_time = 0, 0.0


def read(settings: ModelSettings) -> Options:
    """The options of a model; a word that is none is an error, so that no limit is lost by a slip of the pen."""
    given = dict((settings.parameters.extra if settings.parameters else None) or {})
    known = {field.name for field in dataclasses.fields(Options)}
    if unknown := sorted(set(given) - known):
        raise invalid(settings.name, f"parameters.extra has no '{unknown[0]}'; it may have {', '.join(sorted(known))}")
    for name, value in given.items():
        if name in TYPES and not isinstance(value, TYPES[name]):
            raise invalid(settings.name, f"parameters.extra: '{name}' is of type {TYPES[name][0].__name__}, not {type(value).__name__}")
        if name in LEAST and (type(value) is not int or value < LEAST[name]):
            raise invalid(settings.name, f"parameters.extra: '{name}' is a number from {LEAST[name]} on, not {value!r}")
    return Options(**given)
