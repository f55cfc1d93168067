"""PyTorch's models, compiled: ingot.from_torch, and the function behind torch.compile(backend="ingot"). PyTorch is imported when one of them is called."""
import typing
import warnings

if typing.TYPE_CHECKING:
    from ._exported import TorchModel

_said: typing.Set[str] = set()  # reasons that this process has given already


class FallbackWarning(RuntimeWarning):
    """Something runs in PyTorch as it is, and not compiled by ingot."""


def say(what: str, reason: str) -> None:
    """Warns that something is not compiled; each reason is given once."""
    if reason not in _said:
        _said.add(reason)
        warnings.warn(f"{what} runs in PyTorch, not compiled by ingot: {reason}", FallbackWarning, stacklevel=3)


def from_torch(
    model: typing.Callable[..., typing.Any],
    args: typing.Tuple[typing.Any, ...] = (),
    kwargs: typing.Optional[typing.Mapping[str, typing.Any]] = None,
    *,
    dynamic_shapes: typing.Any = None,
    fallback: bool = True,
    **options: typing.Any,
) -> "TorchModel":
    """Exports a module of PyTorch as ONNX (torch.export, torch.onnx), compiles it for inference, and returns what is called as the module was.

    model           a torch.nn.Module or a function of tensors; its weights become constants of the compiled model
    args, kwargs    arguments to trace it with. Numbers, strings and None stay what they are here
    dynamic_shapes  which axes are open, as torch.export has it: {"x": {0: "batch"}}; a name stands for torch.export.Dim(name). Other sizes are fixed
    fallback        a module that cannot be exported or compiled runs in PyTorch, after a FallbackWarning that says why; False: that is an Error
    options         of ingot.compile: accuracy="strict", threads=1

    Needs the packages torch, onnx and onnxscript. The result takes and gives tensors, which share memory with the compiled model's inputs and
    outputs; it records no gradients. Its attribute `model` is the ingot.Model, or None where PyTorch runs and `reason` says why.

    >>> import torch
    >>> m = from_torch(torch.nn.Softmax(dim=1), (torch.zeros(2, 3),), dynamic_shapes={"input": {0: "rows"}})
    >>> m(torch.zeros(1, 3))
    tensor([[0.3333, 0.3333, 0.3333]])
    """
    from ._exported import from_torch as make

    return make(model, tuple(args), dict(kwargs or {}), dynamic_shapes, fallback, options)


def backend(graph: typing.Any, examples: typing.Sequence[typing.Any], *, options: typing.Optional[typing.Mapping[str, typing.Any]] = None) -> typing.Callable[..., typing.Any]:
    """torch.compile(model, backend="ingot"): the entry point of the group torch_dynamo_backends.

    `options` are those of ingot.compile, and fallback=False, which makes an Error of what would run in PyTorch."""
    from ._dynamo import compile_graph

    return compile_graph(graph, examples, dict(options or {}))
