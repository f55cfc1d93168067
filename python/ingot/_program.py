"""The compiler: a program of its own beside this package, so that neither its memory nor its libraries are in the process that runs models."""
import functools
import json
import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def path():
    """The program: $INGOT_PROGRAM, that of the wheel, or one on the PATH."""
    for name in (os.environ.get("INGOT_PROGRAM"), HERE / "bin/ingot", shutil.which("ingot")):
        if name and os.access(name, os.X_OK):
            return str(name)
    raise FileNotFoundError("no compiler: this package has no program bin/ingot, the PATH has no ingot, and INGOT_PROGRAM names none")


@functools.cache
def host():
    """What the compiler knows of this machine."""
    said = subprocess.run([path(), "targets", "--json"], capture_output=True, text=True, check=True).stdout
    return json.loads(said)["host"]


def cache_folder():
    """Where earlier compilations are: $INGOT_CACHE, or ingot in the user's folder of caches."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.environ.get("INGOT_CACHE") or os.path.join(base, "ingot")
