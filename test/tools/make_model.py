"""make_model.py IN OUT.onnx: writes the model that IN describes in ONNX's text form (onnx.parser).

Lines beginning with `//` or `#` are comments, so that a lit test may hold its RUN lines and the model in one file. A name that the text
form cannot say (an empty name, a slash) can be given by %rename OLD "NEW" lines, applied to node names, values and op types."""
import re
import sys

import onnx
import onnx.parser


def rename(model, old, new):
    def fix(names):
        for i, name in enumerate(names):
            if name == old:
                names[i] = new

    graph = model.graph
    for node in graph.node:
        fix(node.input), fix(node.output)
        node.name = new if node.name == old else node.name
        node.op_type = new if node.op_type == old else node.op_type
    for value in [*graph.input, *graph.output, *graph.initializer, *graph.value_info]:
        value.name = new if value.name == old else value.name


def main():
    source, target = sys.argv[1:]
    lines = [line for line in open(source).read().splitlines() if not re.match(r"\s*(//|#)", line)]
    renames = [match.groups() for line in lines if (match := re.match(r'\s*%rename (\S+) "(.*)"', line))]
    model = onnx.parser.parse_model("\n".join(line for line in lines if not line.lstrip().startswith("%rename")))
    for old, new in renames:
        rename(model, old, new)
    with open(target, "wb") as file:
        file.write(model.SerializeToString())


if __name__ == "__main__":
    main()
