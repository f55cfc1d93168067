"""The operators, by family. A generator is a function of (case, x): it adds one node (or two) to the case. x is a value to consume, or None,
and then the generator makes its own input. `raise Skip` (case.need) when x does not fit."""
import importlib
import pathlib

GENERATORS = {}  # operator -> (function, weight)


def op(*names, weight=1):
    """Registers the decorated generator; with several names it is called as function(case, x, name)."""

    def register(function):
        for name in names:
            call = function if len(names) == 1 else (lambda case, x, name=name: function(case, x, name))
            GENERATORS[name] = (call, weight)
        return function

    return register


def load():
    for path in sorted(pathlib.Path(__file__).parent.glob("[a-z]*.py")):
        importlib.import_module(f"families.{path.stem}")
    return GENERATORS
