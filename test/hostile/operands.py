"""Operands of shapes that do not fit: each node ends in success or in a message of its own, never in a crash.

    operands.py --ingot build/bin/ingot [--only OP]

The newest form of every operator that ingot takes, with one operand in turn of each of SHAPES. The nodes of an operator stand in one model, from which
those are taken that are refused until the others compile; where that ends badly, each is tried by itself."""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tools"), str(HERE.parent / "opsets")]
import ingot_run
import run as opsets

SHAPES = [[], [3], [1, 7], [3, 1, 5], [2, 0, 4, 4], [1, 2, 3, 4, 5]]


def variants(schema):
    """(label, how to add the node) of each way to be wrong."""
    required = [a for a in schema.attributes.values() if a.required and opsets.value_of(a) is not None]
    inputs, outputs = opsets.wide(schema)
    for at, parameter in enumerate(schema.inputs):
        for shape in SHAPES:
            yield f"{schema.name} with {parameter.name} of {shape}", (schema, required, inputs, outputs, at, shape)


class Wrong(opsets.Maker):
    """Operand `at` has another shape."""

    def add(self, schema, attributes, inputs, outputs, at, shape):
        self.wrong = (schema.inputs[at].name, shape)
        super().add(schema, attributes, inputs, outputs)

    def shape_of(self, schema, parameter):
        return self.wrong[1] if parameter.name == self.wrong[0] else super().shape_of(schema, parameter)


def bad(ingot, schema, ways):
    """What is wrong with a model of these nodes, or None."""
    maker = Wrong(schema.since_version)
    for way in ways:
        maker.add(*way)
    try:
        done, _ = opsets.said(ingot, maker, [], seconds=60)
    except subprocess.TimeoutExpired:
        return "more than 60 s"
    return None if done.returncode == 0 else f"exit {done.returncode}: {done.stderr[-300:]}"


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    ingot, count = os.path.abspath(arguments.ingot), ingot_run.Count("operands")
    for name, schemas in opsets.forms().items():
        ways = list(variants(schemas[-1])) if arguments.only in (None, name) else []
        together = bad(ingot, schemas[-1], [way for _, way in ways])
        for label, way in ways:
            count.add(label, bad(ingot, schemas[-1], [way]) if together else None)
    count.finish()


if __name__ == "__main__":
    main()
