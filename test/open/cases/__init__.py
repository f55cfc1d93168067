"""The models: each is a function of a file of this folder that gives a Case."""
import importlib
import pathlib

from .case import ALL

for file in sorted(pathlib.Path(__file__).parent.glob("[a-z]*.py")):
    importlib.import_module(f"{__name__}.{file.stem}")
