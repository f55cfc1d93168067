"""Models whose inputs or outputs are sequences or maps: lists and dictionaries in Python, one or more tensors each in the compiled model
(docs/using/strings.md). `input_sequences` and `output_sequences` of the manifest have a number for each value of the ONNX model."""
import numpy as np

from ._model import Model, Tensor
from ._tensors import as_array, numpy_type

TENSOR, PACKED, OPTIONAL_PACKED, MAP = -1, -2, -3, -4  # otherwise: a sequence of so many tensors


def count(form):
    """How many tensors stand for a value."""
    return form if form >= 0 else {TENSOR: 1, OPTIONAL_PACKED: 3}.get(form, 2)


def map_keys(facts):
    """The keys of an output whose rows are maps, which the manifest has as texts; None for another output."""
    keys = facts.get("map_keys")
    return [int(key) for key in keys] if keys and facts["map_key_type"] == "int64" else keys


def described(form, tensors, number):
    """The Tensor of a value of the ONNX model, whose type says what it is."""
    if form == TENSOR:
        return tensors[0]
    if form == MAP:
        return Tensor(tensors[0].name.removesuffix("[keys]"), f"map({tensors[0].type}, {tensors[1].type})", ())
    if form < 0:
        elements = tensors[-2]
        return Tensor(elements.name.removesuffix(".elements"), f"sequence({elements.type})", (None,), form == OPTIONAL_PACKED)
    name = tensors[0].name.removesuffix("[0]") if tensors else f"sequence_{number}"
    return Tensor(name, f"sequence({tensors[0].type if tensors else '?'})", (form,))


def packed(items, elements, shapes):
    """The two tensors of a sequence that has any length: all elements, and a row for each shape."""
    dtype, rank = numpy_type(elements.type), shapes.shape[1]
    arrays = [as_array(item) if hasattr(item, "dtype") else np.asarray(item, dtype) for item in items]
    rows = np.full((len(arrays), rank), -1, np.int64)
    for row, array in zip(rows, arrays):
        row[: array.ndim] = array.shape
    return [np.concatenate([np.empty(0, dtype), *(array.reshape(-1) for array in arrays)], dtype=dtype), rows]


def unpacked(elements, rows):
    items, at = [], 0
    for row in rows:
        shape = tuple(int(size) for size in row if size >= 0)
        size = int(np.prod(shape, dtype=np.int64))
        items.append(elements[at : at + size].reshape(shape).copy())
        at += size
    return items


class GroupedModel(Model):
    """A Model that takes and gives lists (sequences) and dictionaries (maps)."""

    def _group(self, facts):
        """Reads from the manifest which tensors belong together."""
        self._tensors = self.inputs, self.outputs
        self._keys = [map_keys(each) for each in facts["outputs"]]
        self._forms = [facts.get(name) or [TENSOR] * len(tensors) for name, tensors in zip(("input_sequences", "output_sequences"), self._tensors)]
        values = []
        for forms, tensors in zip(self._forms, self._tensors):
            rest, own = list(tensors), []
            for number, form in enumerate(forms):
                own.append(described(form, rest[: count(form)], number))
                rest = rest[count(form) :]
            values.append(own)
        number = 0  # of a tensor, as the manifest has it
        for place, form in enumerate(self._forms[1]):
            if form == TENSOR and self._keys[number]:
                each = values[1][place]
                values[1][place] = each._replace(type=f"sequence(map({facts['outputs'][number]['map_key_type']}, {each.type}))", shape=(each.shape[0],))
            number += count(form)
        self.inputs, self.outputs = map(tuple, values)

    def __call__(self, *given, out=None, sizes=None, **named):
        if out is not None:
            raise TypeError("out: a model with sequences or maps makes its outputs")
        names = [each.name for each in self.inputs]
        if len(given) > len(names) or (unknown := set(named) - set(names)):
            raise TypeError(f"the model takes {len(names)} inputs" if len(given) > len(names) else f"the model has no input '{sorted(unknown)[0]}'")
        values = [*given, *(named.get(name) for name in names[len(given) :])]
        results = super().__call__(*self._flat(values), sizes=sizes or {})
        results = self._grouped([results] if len(self._tensors[1]) == 1 else list(results))
        return results[0] if len(results) == 1 else tuple(results)

    def _flat(self, values):
        flat, rest = [], list(self._tensors[0])
        for form, value, facts in zip(self._forms[0], values, self.inputs):
            own, rest = rest[: count(form)], rest[count(form) :]
            if form == TENSOR:
                flat.append(value)
            elif form == MAP:
                if not isinstance(value, dict):
                    raise TypeError(f"input '{facts.name}' is a map, and takes a dictionary")
                flat += [list(value), list(value.values())]
            elif form >= 0:
                if len(value if value is not None else ()) != form:
                    raise ValueError(f"input '{facts.name}' is compiled for a sequence of {form} tensors (sequences={{'{facts.name}': {form}}})")
                flat += list(value or ())
            else:
                present = [np.array(value is not None)] if form == OPTIONAL_PACKED else []
                flat += present + packed(value if value is not None else (), *own[-2:])
        return flat

    def _grouped(self, results):
        grouped, number = [], 0
        for form in self._forms[1]:
            own = results[number : number + count(form)]
            if form == TENSOR:
                keys = self._keys[number]
                grouped.append([dict(zip(keys, row.tolist())) for row in own[0]] if keys else own[0])
            elif form >= 0:
                grouped.append(own)
            elif form == OPTIONAL_PACKED and not own[0]:
                grouped.append(None)
            else:
                grouped.append(unpacked(*own[-2:]))
            number += count(form)
        return grouped
