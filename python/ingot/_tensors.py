"""Between Python's values and the bytes of tensors, for all that is no dense numpy array of the model's type already (that the extension takes itself)."""
import functools

import numpy as np

# ONNX's names where ml_dtypes has others.
NARROW = {"bfloat16": "bfloat16", "float8e4m3fn": "float8_e4m3fn", "float8e4m3fnuz": "float8_e4m3fnuz", "float8e5m2": "float8_e5m2"}
NARROW |= {"float8e5m2fnuz": "float8_e5m2fnuz", "float8e8m0": "float8_e8m0fnu", "float4e2m1": "float4_e2m1fn"}
NARROW |= {name: name for name in ("int4", "uint4", "int2", "uint2")}
PACKED = {"int4": 4, "uint4": 4, "float4e2m1": 4, "int2": 2, "uint2": 2}  # bits of elements that share a byte


@functools.cache
def numpy_type(name):
    """The dtype of an element type; object for strings."""
    if name == "string":
        return np.dtype(object)
    if name not in NARROW:
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError as error:
        raise ImportError(f"tensors of {name} are arrays of the package ml_dtypes, which is not installed") from error
    return np.dtype(getattr(ml_dtypes, NARROW[name]))


def pack(array, bits):
    """Elements of so many bits, the first one in the lowest bits of a byte."""
    values = array.reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    count = 8 // bits
    values = np.concatenate([values, np.zeros(-values.size % count, np.uint8)]).reshape(-1, count)
    return np.bitwise_or.reduce(values << (np.arange(count, dtype=np.uint8) * bits), axis=1).astype(np.uint8)


def unpack(data, name, count):
    """The elements of packed bytes, each in a byte of its own."""
    bits, dtype = PACKED[name], numpy_type(name)
    values = (data[:, None] >> (np.arange(8 // bits, dtype=np.uint8) * bits) & ((1 << bits) - 1)).reshape(-1)[:count]
    if name in ("int4", "int2"):
        values = (values.astype(np.int8) ^ (1 << (bits - 1))) - (1 << (bits - 1))
        return values.astype(np.int8).astype(dtype)
    return values.astype(dtype) if name in ("uint4", "uint2") else values.view(dtype)


def as_array(value):
    """A numpy array in the same memory where that is possible: by DLPack, __array__ or the buffer protocol."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def has_type(value):
    return isinstance(value, (memoryview, bytearray)) or any(hasattr(value, name) for name in ("dtype", "__dlpack__", "__array_interface__", "typecode"))


def texts(value):
    """(list of bytes, shape) of strings."""
    array = value if isinstance(value, np.ndarray) else np.asarray(value, dtype=object)
    encode = lambda text: bytes(text) if isinstance(text, (bytes, np.bytes_)) else str(text).encode("utf-8", "surrogateescape")
    return [encode(text) for text in array.reshape(-1).tolist()], array.shape


def to_input(value, name, what):
    """(bytes, shape) of an input of type `name`; of strings a list of bytes."""
    if name == "string":
        return texts(value)
    dtype = numpy_type(name)
    array = as_array(value) if has_type(value) else np.asarray(value, dtype)
    if array.dtype != dtype:
        raise TypeError(f"input '{what}' is {name}, and was given {array.dtype}")
    shape = array.shape
    flat = np.require(array, requirements=["C", "A"]).reshape(-1)
    return pack(flat, PACKED[name]) if name in PACKED else flat.view(np.uint8), shape


def to_output(value, name, what, shape):
    """The bytes of the caller's memory for an output, which has to be dense."""
    array = as_array(value)
    if name in PACKED:
        raise TypeError(f"out: output '{what}' of {name} is packed, and takes no memory")
    if array.dtype != numpy_type(name):
        raise TypeError(f"out: output '{what}' is {name}, and was given {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"out: output '{what}' has the shape {shape}, and was given {array.shape}")
    if not array.flags.c_contiguous or not array.flags.aligned or not array.flags.writeable:
        raise ValueError(f"out: output '{what}' needs memory that is dense, aligned and writeable")
    return array.reshape(-1).view(np.uint8)


def to_array(data, size, name, shape):
    """An output whose bytes, or strings, a run has written."""
    if name == "string":
        array = np.empty(len(data), object)
        array[:] = data
        return array.reshape(shape)
    if not isinstance(data, np.ndarray) or data.dtype != np.uint8 or data.ndim != 1:
        return data  # the caller's own
    used = data[:size] if 2 * size >= data.size else data[:size].copy()  # no large memory behind a small array
    if name in PACKED:
        return unpack(used, name, int(np.prod(shape, dtype=np.int64))).reshape(shape)
    return used.view(numpy_type(name)).reshape(shape)
