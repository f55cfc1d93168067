"""What cases are made of: (operator, attribute's value, element type, size class, level), counted; and the share that was never drawn.

What an operator can have is what was ever seen of it: each of its attribute values, with each of its element types, size classes and levels. Combinations of
these that nobody drew are the holes. Numbers without few values (a float, a long list) count as one value of their kind."""
import collections
import json

import numpy as np
import onnx

KINDS = {0: "0", 1: "1", 2: "2-3", 3: "2-3"}


def size_class(size):
    if size in KINDS:
        return KINDS[size]
    if size > 65:
        return "large"
    if size % 8 == 0:
        return "8n"
    if (size + 1) % 8 == 0 or (size - 1) % 8 == 0:
        return "8n+-1"
    return "prime" if all(size % k for k in range(2, size)) else "other"


def value_class(attribute):
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode(errors="replace") if len(value) < 24 and attribute.name != "equation" else "text"
    if isinstance(value, int):
        return str(value) if -4 <= value <= 4 else "n"
    if isinstance(value, float):
        return "float"
    if isinstance(value, (list, tuple, np.ndarray)) and len(value) and isinstance(value[0], int):
        same = len(set(value)) == 1
        return f"all {value[0]}" if same and value[0] in (0, 1) else "equal" if same else "different"
    return "given"


def of_case(case):
    """The points of a case, without the level."""
    points = set()
    for node in case.nodes:
        if node.op_type == "Constant":
            continue
        first = next((case.values[name] for name in [*node.input, *node.output] if name), None)
        sizes = {size_class(size) for size in first.shape} or {"scalar"}
        attributes = {(attribute.name, value_class(attribute)) for attribute in node.attribute}
        try:
            given = {name for name, _ in attributes}
            attributes |= {(name, "absent") for name, said in onnx.defs.get_schema(node.op_type, case.opset).attributes.items() if name not in given and not said.required}
        except onnx.defs.SchemaError:  # an operator that has left the standard
            pass
        for name, value in attributes or {("", "")}:
            points |= {(node.op_type, f"{name}={value}" if name else "", first.dtype.name, size) for size in sizes}
    return sorted(points)


class Coverage:
    def __init__(self, path):
        self.path, self.counts = path, collections.Counter()
        if path.exists():
            self.counts.update({tuple(key.split("\t")): count for key, count in json.loads(path.read_text()).items()})

    def add(self, points, level):
        self.counts.update((*point, level) for point in points)

    def write(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps({"\t".join(key): count for key, count in sorted(self.counts.items())}, indent=0))

    def holes(self):
        """operator -> (points that were drawn, points that it can have)."""
        seen = collections.defaultdict(lambda: [set(), set(), set(), set(), 0])
        for operator, *parts in self.counts:
            for values, part in zip(seen[operator], parts):
                values.add(part)
            seen[operator][4] += 1
        return {operator: (drawn, len(a) * len(t) * len(s) * len(v)) for operator, (a, t, s, v, drawn) in seen.items()}

    def report(self):
        holes = self.holes()
        drawn, all = sum(d for d, _ in holes.values()), sum(n for _, n in holes.values())
        if not all:
            return "nothing was drawn"
        worst = sorted(holes.items(), key=lambda entry: entry[1][0] - entry[1][1])[:8]
        return (f"{100 * (1 - drawn / all):.1f} % never drawn of {all} points (operator, attribute value, element type, size class, level) of {len(holes)} operators; most of: "
                + ", ".join(f"{operator} {total - count} of {total}" for operator, (count, total) in worst))
