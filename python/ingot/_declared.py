"""What the file of a model says of itself, its inputs and outputs, as onnxruntime's sessions tell it. A compiled model has names of its own for sizes that
the file leaves nameless, and tensors in the place of maps and sequences.

The few fields are read here from protobuf's wire format (onnx.proto has their numbers), so that sessions do not need the package onnx; weights are skipped."""
import mmap
import os
import typing

# Element types by ONNX's numbers, as onnxruntime writes them.
TYPES = "? float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64 complex128 bfloat16".split()
TYPES += "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 int2".split()

NO_VERSION = (1 << 63) - 1  # what onnxruntime says of a model that has none

Shape = typing.List[typing.Union[int, str, None]]


class Value(typing.NamedTuple):
    """An input or output: its type as onnxruntime writes it, and the shape of a tensor; None where the file has none."""

    name: str
    type: str
    shape: typing.Optional[Shape]


class Declared(typing.NamedTuple):
    inputs: typing.List[Value]  # without those that are initializers
    outputs: typing.List[Value]
    texts: typing.Dict[str, str]  # producer_name, graph_name, domain, description
    version: int
    metadata: typing.Dict[str, str]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of the fields of a message: integers, and views of bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind in (1, 5):
            value, at = None, at + (8 if kind == 1 else 4)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            raise ValueError("no message of protobuf")
        yield number, value


def text(data):
    return bytes(data).decode("utf-8", "replace")


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def read_shape(data):
    shape: Shape = []
    for number, value in fields(data):
        if number == 1:
            own = dict(fields(value))
            size = signed(own[1]) if 1 in own else text(own[2]) if 2 in own else None
            shape.append(None if size == "" or isinstance(size, int) and size < 0 else size)
    return shape


def read_type(data):
    """(type as text, shape) of a TypeProto."""
    for number, value in fields(data):
        if number not in (1, 4, 5, 8, 9):
            continue
        own = dict(fields(value))
        if number in (1, 8):  # a tensor, a sparse one
            element = TYPES[own.get(1, 0)] if own.get(1, 0) < len(TYPES) else "?"
            return f"{'tensor' if number == 1 else 'sparse_tensor'}({element})", read_shape(own[2]) if 2 in own else None
        if number == 5:
            return f"map({TYPES[own[1]]},{read_type(own[2])[0]})", []
        inner, shape = read_type(own[1])
        return (f"seq({inner})", []) if number == 4 else (f"optional({inner})", shape)
    return "", None


def read_value(data):
    own = dict(fields(data))
    return Value(text(own.get(1, b"")), *(read_type(own[2]) if 2 in own else ("", None)))


def parse(data):
    """What a ModelProto declares."""
    texts, version, metadata, graph = {"producer_name": "", "domain": "", "description": "", "graph_name": ""}, NO_VERSION, {}, memoryview(b"")
    for number, value in fields(data):
        if number in (2, 4, 6):
            texts[{2: "producer_name", 4: "domain", 6: "description"}[number]] = text(value)
        elif number == 5:
            version = signed(value)
        elif number == 7:
            graph = value
        elif number == 14:
            own = dict(fields(value))
            metadata[text(own.get(1, b""))] = text(own.get(2, b""))
    inputs, outputs, weights = [], [], set()
    for number, value in fields(graph):
        if number == 2:
            texts["graph_name"] = text(value)
        elif number == 5:
            weights.add(next((text(name) for field, name in fields(value) if field == 8), ""))
        elif number == 15:  # a sparse initializer has the name of its values
            values = dict(fields(value)).get(1, b"")
            weights.add(next((text(name) for field, name in fields(values) if field == 8), ""))
        elif number in (11, 12):
            (inputs if number == 11 else outputs).append(read_value(value))
    return Declared([each for each in inputs if each.name not in weights], outputs, texts, version, metadata)


def mapped(path, use):
    """What `use` makes of the bytes of a file, which are mapped meanwhile."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        with memoryview(data) as view:
            return use(view)


def declared(source):
    """What a model declares: a path, bytes or a ModelProto."""
    if hasattr(source, "SerializeToString"):
        source = source.SerializeToString()
    return mapped(source, parse) if isinstance(source, (str, os.PathLike)) else parse(memoryview(source))
