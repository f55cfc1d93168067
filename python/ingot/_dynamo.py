"""The back end of torch.compile: runs the graphs that torch.compile cuts out of a program.

Such a graph takes as arguments what changes from call to call, the weights of modules, and the sizes that torch.compile lets open. It is compiled at its
first call, with the weights as constants of that code (Bound), and again where the code does not fit a later call: other weights (a layer that is
compiled once and called for each of its instances), weights that were changed, a size that the exporter could not leave open. A weight that
changed once stays an argument from then on. What cannot be compiled, and calls of which gradients are recorded, run in PyTorch."""
import functools
import threading
import typing
import weakref

import torch

from ._errors import Error
from ._exported import CannotExport, CompiledProgram, Results, Traced, borrowed, check_inputs, check_packages, export
from ._torch import say

MOST_CODES = 32  # for one graph; what needs more of them changes with every call


class Stamp(typing.NamedTuple):
    """Which tensor a constant was, and which of its values: in-place changes count its version, `.data` moves it."""

    tensor: "weakref.ref[torch.Tensor]"
    version: int
    address: int

    @staticmethod
    def of(tensor):
        if tensor.is_inference():
            raise CannotExport("a weight was made in inference mode, where PyTorch counts no changes of it")
        return Stamp(weakref.ref(tensor), tensor._version, tensor.data_ptr())

    def is_same(self, tensor):
        return self.tensor() is tensor

    def fits(self, tensor):
        return self.tensor() is tensor and tensor._version == self.version and tensor.data_ptr() == self.address


class Bound(torch.nn.Module):
    """The graph with constants in the place of some arguments, and sizes read from the tensors that have them.

    `form` says of each argument of the graph what it is: the number of a tensor among those that are given, the number and an axis of which it is the
    size, or a list of a constant."""

    def __init__(self, graph, form, sizes):
        super().__init__()
        self.graph, self.form, self.sizes = graph, form, sizes
        for position, each in enumerate(form):
            if isinstance(each, list) and isinstance(each[0], torch.Tensor):
                self.register_buffer(f"weight_{position}", each[0].detach())

    def _argument(self, position, tensors):
        each = self.form[position]
        if isinstance(each, int):
            return tensors[each]
        if isinstance(each, tuple):
            return tensors[each[0]].shape[each[1]]
        return getattr(self, f"weight_{position}", each[0])

    def forward(self, *tensors):
        results = self.graph(*[self._argument(position, tensors) for position in range(len(self.form))])
        # Results that are sizes are computed beside the compiled code.
        return tuple(None if number in self.sizes else value for number, value in enumerate(results))


class Float:
    """A number that torch.compile gives to a graph as a tensor, of which the graph takes the item."""

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


def is_number(node):
    """Whether an argument is a number: of no type of tensors, or a tensor of which only the item is used."""
    value = node.meta.get("example_value")
    items = [user.op == "call_method" and user.target == "item" for user in node.users]
    return not isinstance(value, torch.Tensor) or (value.dim() == 0 and items != [] and all(items))


def number(argument):
    return argument.item() if isinstance(argument, torch.Tensor) else argument


class Code(typing.NamedTuple):
    """The graph, compiled for some constants."""

    program: CompiledProgram
    results: Results
    inputs: typing.List[int]
    weights: typing.Dict[int, Stamp]
    numbers: typing.Dict[int, typing.Any]
    fixed: typing.List[typing.Tuple[int, int, int]]  # position, axis, size

    def fits(self, arguments):
        return (
            all(stamp.fits(arguments[position]) for position, stamp in self.weights.items())
            and all(number(arguments[position]) == value for position, value in self.numbers.items())
            and all(arguments[position].shape[axis] == size for position, axis, size in self.fixed)
        )

    def __call__(self, arguments):
        return list(self.results.assemble(self.program([arguments[position] for position in self.inputs])))


def expression(size):
    """The formula of a size that is open, or None."""
    return size.node.expr if isinstance(size, torch.SymInt) else None


class Graph:
    """What torch.compile calls in the place of a graph."""

    def __init__(self, graph, options):
        self.eager, self.module = graph.forward, graph
        self.fallback, self.options = options.pop("fallback", True), options
        self.codes, self.reason, self.lock = [], None, threading.Lock()
        self._read(graph)

    def _read(self, graph):
        """Finds out what the arguments and results are."""
        arguments = [node for node in graph.graph.nodes if node.op == "placeholder"]
        values = [node.meta.get("example_value") for node in arguments]
        self.weights, self.tensors, self.numbers = set(), [], []
        for position, (node, value) in enumerate(zip(arguments, values)):
            if is_number(node):
                self.numbers.append(position)
                continue
            self.tensors.append(position)
            source = getattr(node, "_dynamo_source", None)
            if source is not None and source.guard_source.is_unspecialized_nn_module():
                self.weights.add(position)
        # Position -> formulas of its axes; the axes that are open; formula -> where a tensor has it.
        self.open = {position: [axis for axis, size in enumerate(values[position].shape) if expression(size) is not None] for position in self.tensors}
        self.known = {}
        for position in self.tensors:
            for axis in self.open[position]:
                self.known.setdefault(expression(values[position].shape[axis]), (position, axis))
        self.formulas = {position: expression(values[position]) for position in self.numbers}
        results = next(node for node in reversed(graph.graph.nodes) if node.op == "output").args[0]
        self.sizes = {number: node.meta["example_value"].node.expr for number, node in enumerate(results) if isinstance(node, torch.fx.Node) and isinstance(node.meta.get("example_value"), torch.SymInt)}

    def __call__(self, *arguments):
        code = self._code(arguments)
        if code is None:
            return self.eager(*arguments)
        results = code(arguments)
        for number, formula in self.sizes.items():
            results[number] = self._size(formula, arguments)
        return tuple(results)

    def _size(self, formula, arguments):
        values = {known: arguments[position].shape[axis] for known, (position, axis) in self.known.items() if known.is_Symbol}
        values |= {known: arguments[position] for position, known in self.formulas.items() if known is not None}
        return int(formula.xreplace(values))

    def _code(self, arguments):
        """The code for these arguments, which is made where there is none; None where PyTorch has to run them."""
        try:
            if self.reason is not None:
                return None
            if torch.is_grad_enabled() and any(arguments[position].requires_grad for position in self.tensors):
                raise CannotExport("gradients are recorded; torch.no_grad() or torch.inference_mode() around the call compiles it")
            return next((code for code in self.codes if code.fits(arguments)), None) or self._compile(arguments)
        except CannotExport as error:
            self.reason = str(error)
            if not self.fallback:
                raise Error(f"a graph of torch.compile: {self.reason}") from error
            say("a graph of torch.compile", self.reason)
            return None

    def _compile(self, arguments):
        # The exporter patches classes of PyTorch while it traces, as torch.compile does; at least these two take turns.
        with self.lock, torch._dynamo.convert_frame.compile_lock:
            if code := next((code for code in self.codes if code.fits(arguments)), None):
                return code
            for code in self.codes:
                # The same tensors with other values are no constants; the code for their old ones will not fit again.
                if all(stamp.is_same(arguments[position]) for position, stamp in code.weights.items()):
                    self.weights -= {position for position, stamp in code.weights.items() if not stamp.fits(arguments[position])}
            self.codes = [code for code in self.codes if self.weights >= set(code.weights)]
            if len(self.codes) == MOST_CODES:
                raise CannotExport(f"it would be compiled more than {MOST_CODES} times, for sizes, numbers or weights that change from call to call")
            self.codes.insert(0, self._make(arguments))
            return self.codes[0]

    def _make(self, arguments):
        check_inputs(arguments)
        weights = {position: Stamp.of(arguments[position]) for position in sorted(self.weights)}
        inputs = [position for position in self.tensors if position not in weights]
        form = [inputs.index(position) if position in inputs else [argument] for position, argument in enumerate(arguments)]
        for position in self.numbers:
            if isinstance(arguments[position], torch.Tensor):
                form[position] = [Float(arguments[position].item())]
            tensor, axis = self.known.get(self.formulas[position], (None, None))
            if tensor in inputs:
                form[position] = inputs.index(tensor), axis
        numbers = {position: number(arguments[position]) for position in self.numbers if isinstance(form[position], list)}
        if not inputs:
            raise CannotExport("no argument is a tensor")
        results = Results()
        module = Traced(Bound(self.module, form, self.sizes), results)
        dims = tuple({axis: torch.export.Dim.AUTO for axis in self.open[position]} or None for position in inputs)
        exported = export(module, tuple(arguments[position].detach() for position in inputs), {}, {"tensors": dims})
        if views := borrowed(exported):
            raise CannotExport(f"its result '{views[0]}' lies in the memory of an argument or a weight")
        program = CompiledProgram(exported, self.options)
        shapes = zip(inputs, program.shapes)
        fixed = [(position, axis, shape[axis]) for position, shape in shapes for axis in self.open[position] if shape[axis] is not None]
        return Code(program, results, inputs, weights, numbers, fixed)


def compile_graph(graph, examples, options):
    """A function for a graph that torch.compile has found."""
    check_packages()
    return torch._dynamo.disable(functools.partial(Graph(graph, options)))
