"""What the compiler tells of a model: the page of `ingot report`, and the times of its kernels by `ingot bench --profile`."""
import html
import json
import os
import pathlib
import subprocess
import tempfile
import typing

from . import _program
from ._errors import CompileError, Error


class Compilation(typing.NamedTuple):
    """How a model was compiled, so that it can be again."""

    model: str
    flags: typing.List[str]
    folder: pathlib.Path

    def call(self, command: str, *more: str) -> str:
        """What the program prints, for the same model and flags."""
        if not (self.folder / self.model).exists():
            raise Error(f"{self.model} is not there any more")
        line = [_program.path(), command, self.model, *self.flags, *more]
        done = subprocess.run(line, cwd=self.folder, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
        if done.returncode:
            raise CompileError(done.stderr.strip(), done.returncode)
        return done.stdout


class Report:
    """A page of HTML, which a notebook shows."""

    def __init__(self, text: str):
        self.text = text

    def save(self, path: typing.Union[str, "os.PathLike[str]"]) -> None:
        pathlib.Path(path).write_text(self.text)

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.text)}" width="100%" height="700" style="border: 0"></iframe>'


def report(compilation: Compilation, measure: bool) -> Report:
    with tempfile.TemporaryDirectory(prefix="ingot-") as folder:
        path = pathlib.Path(folder, "report.html")
        compilation.call("report", "-o", str(path), *(["--bench"] if measure else []))
        return Report(path.read_text())


def profile(compilation: Compilation, seconds: float, sizes: typing.Mapping[str, int], threads: int) -> typing.Dict[str, typing.Any]:
    more = [word for name, size in sizes.items() for word in ("--dim", f"{name}={size}")]
    return json.loads(compilation.call("bench", "--profile", "--json", "--seconds", str(seconds), "--threads", str(threads), *more))
