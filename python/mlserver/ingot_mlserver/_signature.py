"""What a model takes and gives, in KServe's words, and whether a request is that.

A request is checked against the names, datatypes, shapes and limits while its data are still what MLServer has read; arrays are made of it only afterwards. Sizes of
a shape are the client's claims: their product is compared with the limit as a number of Python, and with how many elements there are, before memory is asked for."""

import math
import typing

import numpy as np
from mlserver.errors import InferenceError
from mlserver.types import InferenceRequest, MetadataTensor, Parameters, RequestInput, ResponseOutput, TensorData

from ._contents import ArrayData
from ._engine import Engine, Value

DATATYPES = {
    "bool": "BOOL",
    "uint8": "UINT8",
    "uint16": "UINT16",
    "uint32": "UINT32",
    "uint64": "UINT64",
    "int8": "INT8",
    "int16": "INT16",
    "int32": "INT32",
    "int64": "INT64",
    "float16": "FP16",
    "float32": "FP32",
    "float64": "FP64",
    "string": "BYTES",
}
# What Python types the elements of a tensor have; a null of JSON is what MLServer writes for a NaN.
ELEMENTS: typing.Dict[str, typing.Set[type]] = {"b": {bool}, "i": {int}, "u": {int}, "f": {float, int, type(None)}, "O": {str, bytes}}
CONTENT_TYPES = {None, "np", "str"}
POINTER = 8  # bytes of an element of strings, beside its text


def numpy_type(name: str) -> "np.dtype[typing.Any]":
    return np.dtype(object if name == "string" else name)


def flattened(data: typing.List[typing.Any], shape: typing.Sequence[int], name: str) -> typing.List[typing.Any]:
    """The elements of data as JSON may have them: in one list, or nested as the shape says."""
    if not data or not isinstance(data[0], list):
        return data
    parts: typing.List[typing.Any] = [data]
    for size in shape:
        if any(not isinstance(each, list) or len(each) != size for each in parts):
            raise InferenceError(f"input '{name}': its data are nested otherwise than its shape {list(shape)} says")
        parts = [element for each in parts for element in each]
    return parts


class Checked(typing.NamedTuple):
    """The elements of an input that is as the model wants it."""

    value: Value
    shape: typing.Tuple[int, ...]
    data: typing.Union[typing.List[typing.Any], np.ndarray]  # an array is of the model's type already

    def array(self) -> np.ndarray:
        if isinstance(self.data, np.ndarray):
            return self.data.reshape(self.shape)
        dtype = numpy_type(self.value.type)
        if unlike := set(map(type, self.data)) - ELEMENTS[dtype.kind]:
            raise InferenceError(f"input '{self.value.name}' is {DATATYPES[self.value.type]}, and has an element of type {sorted(each.__name__ for each in unlike)[0]}")
        try:
            with np.errstate(over="raise"):
                return np.array(self.data, dtype).reshape(self.shape)
        except (FloatingPointError, OverflowError, ValueError) as error:
            raise InferenceError(f"input '{self.value.name}' is {DATATYPES[self.value.type]}: {error}") from None


class Signature:
    def __init__(self, engine: Engine, max_bytes: int) -> None:
        self.inputs, self.outputs = list(engine.inputs), list(engine.outputs)
        self.bounds, self.variants, self.max_bytes = engine.bounds, engine.variants, max_bytes
        self.split: typing.Optional[str] = None  # the size that need not be one of the variants, since a batch is cut into them
        for value in self.inputs + self.outputs:
            if value.type not in DATATYPES:
                raise ValueError(f"'{value.name}' is {value.type}, for which KServe's protocol has no datatype")

    def metadata(self, values: typing.Sequence[Value]) -> typing.List[MetadataTensor]:
        return [MetadataTensor(name=each.name, datatype=DATATYPES[each.type], shape=[size if isinstance(size, int) else -1 for size in each.shape]) for each in values]

    def batch_size(self) -> typing.Optional[str]:
        """The size of a run that is the first axis of every input and output, if there is one."""
        first = {value.shape[0] if value.shape else None for value in self.inputs + self.outputs}
        size = first.pop() if self.inputs and len(first) == 1 else None
        return size if isinstance(size, str) and size in self.bounds else None

    def check(self, request: InferenceRequest) -> typing.List[typing.Optional[Checked]]:
        """The inputs in the model's order; None for one that is left out. Raises InferenceError, which is the client's fault."""
        given: typing.Dict[str, RequestInput] = {}
        for tensor in request.inputs:
            if tensor.name in given:
                raise InferenceError(f"input '{tensor.name}' is given twice")
            given[tensor.name] = tensor
        if unknown := sorted(set(given) - {value.name for value in self.inputs}):
            raise InferenceError(f"the model has no input '{unknown[0]}'; it has {', '.join(value.name for value in self.inputs) or 'none'}")
        if missing := [value.name for value in self.inputs if value.name not in given and not value.optional]:
            raise InferenceError(f"input '{missing[0]}' is missing")
        sizes: typing.Dict[str, int] = {}
        for value in self.inputs:
            if value.name in given:
                self._check_shape(value, given[value.name], sizes)
        self._check_bytes([(value, given[value.name].shape) for value in self.inputs if value.name in given])
        checked = [self._check_data(value, given[value.name]) if value.name in given else None for value in self.inputs]
        texts = sum(len(text) for each in checked if each and each.value.type == "string" for text in each.data if isinstance(text, (str, bytes)))
        if texts > self.max_bytes:
            raise InferenceError(f"the strings of the inputs have {texts} bytes, and {self.max_bytes} are taken (max_bytes)")
        return checked

    def _check_shape(self, value: Value, tensor: RequestInput, sizes: typing.Dict[str, int]) -> None:
        datatype, wanted = tensor.datatype, DATATYPES[value.type]
        if datatype != wanted:
            raise InferenceError(f"input '{value.name}' is {wanted}, and was given {datatype}")
        shown = [size if size is not None else -1 for size in value.shape]
        if len(tensor.shape) != len(value.shape):
            raise InferenceError(f"input '{value.name}' has the shape {shown}, and was given {list(tensor.shape)}")
        for size, want in zip(tensor.shape, value.shape):
            if size < 0 or isinstance(want, int) and size != want:
                raise InferenceError(f"input '{value.name}' has the shape {shown}, and was given {list(tensor.shape)}")
            if not isinstance(want, str):
                continue
            if sizes.setdefault(want, size) != size:
                raise InferenceError(f"input '{value.name}': '{want}' is {size}, and {sizes[want]} of another input")
            least, most = self.bounds.get(want, (0, None))
            if size < least or most is not None and size > most and want != self.split:
                raise InferenceError(f"input '{value.name}': '{want}' is {size}, and from {least} to {most if most is not None else 'any number'} in the model")
            if want in self.variants and size not in self.variants[want] and want != self.split:
                raise InferenceError(f"input '{value.name}': '{want}' is {size}, and one of {', '.join(map(str, self.variants[want]))} in the model")

    def _check_bytes(self, tensors: typing.Sequence[typing.Tuple[Value, typing.Sequence[int]]]) -> None:
        needed = sum(math.prod(shape) * (POINTER if value.type == "string" else numpy_type(value.type).itemsize) for value, shape in tensors)
        if needed > self.max_bytes:
            raise InferenceError(f"the inputs have {needed} bytes, and {self.max_bytes} are taken (max_bytes)")

    def _check_data(self, value: Value, tensor: RequestInput) -> Checked:
        content_type = tensor.parameters.content_type if tensor.parameters else None
        if content_type not in CONTENT_TYPES:
            raise InferenceError(f"input '{value.name}': the content type '{content_type}' is not taken")
        if isinstance(tensor.data, ArrayData):  # which has as many elements of the datatype as its shape says
            return Checked(value, tuple(tensor.shape), tensor.data.array)
        data = getattr(tensor.data, "root", tensor.data)
        if not isinstance(data, list):
            raise InferenceError(f"input '{value.name}': its data are no list")
        data = flattened(data, tensor.shape, value.name)
        if len(data) != math.prod(tensor.shape):
            raise InferenceError(f"input '{value.name}' has the shape {list(tensor.shape)}, and {len(data)} elements")
        return Checked(value, tuple(tensor.shape), data)

    def requested(self, request: InferenceRequest) -> typing.List[int]:
        """The numbers of the outputs that a request names; all, if it names none."""
        numbers = {value.name: number for number, value in enumerate(self.outputs)}
        if unknown := [each.name for each in request.outputs or [] if each.name not in numbers]:
            raise InferenceError(f"the model has no output '{unknown[0]}'; it has {', '.join(numbers)}")
        return [numbers[each.name] for each in request.outputs or []] or list(numbers.values())

    def response(self, number: int, array: np.ndarray) -> ResponseOutput:
        """An output as KServe has it. It is not validated once more, which would take as long as small models run."""
        value, parameters = self.outputs[number], None
        data: TensorData = ArrayData.of(array)
        if value.type == "string":
            texts = [text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogateescape") for text in array.reshape(-1).tolist()]
            data, parameters = TensorData.model_construct(root=texts), Parameters(content_type="str")
        return ResponseOutput.model_construct(name=value.name, datatype=DATATYPES[value.type], shape=list(array.shape), parameters=parameters, data=data)
