"""A compiled decoder and its caches of keys and values, which stay where they are: a step writes the rows of its own tokens and copies nothing.

There are two forms of decoders, and each cache is [slots, heads, capacity, width] in both:

    GroupQueryAttention   writes new rows where the attention mask of each text ends. With mask and caches as long as the capacity, each slot may have a length
                          of its own: a step takes a token of several slots at once.
    Concat                puts new rows behind those before, whose number is one for the whole run. `--cache` makes rows in place of it; slots are run one by one.

One library has the code for both kinds of steps: variants for a single token beside general ones for prompts. The variants share weights."""
import math
import re
import typing

import numpy as np

from . import _declared
from ._compile import compile
from ._decoder_files import Files, operators
from ._errors import Error
from ._tensors import numpy_type

# The most tokens of a prompt in a step: between two steps other texts get their next token.
CHUNK = 256


class Names(typing.NamedTuple):
    """The decoder's inputs and outputs by what they are."""

    tokens: str
    mask: typing.Optional[str]
    positions: typing.Optional[str]
    scores: str
    caches: typing.Tuple[typing.Tuple[str, str], ...]  # an input, and the output that continues it


def name_pattern(name):
    return re.compile(re.escape(name).replace("%d", r"(\d+)") + "$")


def names_of(inputs, outputs, files: Files) -> Names:
    """Finds what each input is. Raises ingot.Error for one that no decoder has, and for a cache without its output."""
    known, caches = {}, []
    for name in inputs:
        role = next(((role, match) for role, pattern in files.inputs.items() if (match := name_pattern(pattern).match(name))), None)
        if role is None:
            raise Error(f"{files.model}: is no decoder: input '{name}' is neither tokens, mask, positions nor a cache")
        what, match = role
        if not what.startswith("past"):
            known[what] = name
            continue
        present = files.outputs[what.replace("past", "present")].replace("%d", "".join(match.groups()))
        if present not in outputs:
            raise Error(f"{files.model}: cache '{name}' has no output '{present}'")
        caches.append((name, present))
    scores = files.outputs["logits"]
    if "input_ids" not in known or scores not in outputs or not caches:
        raise Error(f"{files.model}: is no decoder: it needs '{files.inputs['input_ids']}', '{scores}' and caches")
    return Names(known["input_ids"], known.get("attention_mask"), known.get("position_ids"), scores, tuple(caches))


def size_name(value, axis):
    """What the compiler calls an open axis of an input; an axis without a name is called after its input."""
    size = value.shape[axis]
    return size if size is not None else f"{value.name}_{axis}"


class Decoder:
    """A compiled decoder with caches for `slots` texts of at most `capacity` tokens each.

    Raises ingot.Error for a model of another form, and CompileError."""

    def __init__(self, files: Files, slots: int, capacity: int, options: typing.Mapping[str, typing.Any]) -> None:
        declared = _declared.declared(files.model)
        inputs = {each.name: each for each in declared.inputs}
        self.names = names_of(inputs, {each.name for each in declared.outputs}, files)
        self.slots, self.capacity = slots, capacity
        self.ragged = "GroupQueryAttention" in operators(files.model)
        compilation = (self._shared if self.ragged else self._appended)(inputs, files)
        given = options.get("flags", ())
        # A library has less than 2 GiB of weights in it, and a file of weights is mapped as it is.
        weights = [] if any(str(flag).startswith("--weights") for flag in given) else ["--weights=file"]
        flags = ["--last-row", self.names.scores, *weights, *compilation.pop("flags", ()), *given]
        self.model = compile(files.model, **compilation, **{**options, "flags": flags})
        self._types = {each.name: numpy_type(each.type) for each in self.model.inputs + self.model.outputs}
        self._allocate(files)

    def _sizes(self, inputs):
        """The names of open sizes: texts (each input may have one of its own), tokens of a step, rows of the caches, tokens of the mask."""
        cache = inputs[self.names.caches[0][0]]
        if len(cache.shape or ()) != 4:
            raise Error(f"a cache is [texts, heads, tokens, width], and '{cache.name}' is {cache.shape}")
        tokens, rows = inputs[self.names.tokens], size_name(cache, 2)
        if isinstance(rows, int):
            raise Error(f"'{cache.name}' has room for {rows} tokens in the model: caches whose size is open are needed")
        mask = size_name(inputs[self.names.mask], 1) if self.names.mask else None
        texts = {size_name(each, 0) for each in inputs.values()}
        return {name for name in texts if isinstance(name, str)}, size_name(tokens, 1), rows, mask

    def _widths(self, inputs, files):
        """The sizes of a head, which the model builder leaves open."""
        names = {size_name(inputs[past], 3) for past, _ in self.names.caches}
        return {name: files.width for name in names if isinstance(name, str) and files.width}

    def _shared(self, inputs, files):
        """How a decoder with GroupQueryAttention is compiled: all caches are as long as the mask."""
        texts, steps, rows, mask = self._sizes(inputs)
        dims = {**self._widths(inputs, files), steps: "1,*", rows: self.capacity, mask: self.capacity}
        dims |= {name: 1 if self.slots == 1 else "1,*" for name in texts}
        return {"dims": {name: size for name, size in dims.items() if isinstance(name, str)}}

    def _appended(self, inputs, files):
        """How a decoder that concatenates is compiled: one text, and outputs in the memory of the caches."""
        texts, _, rows, _ = self._sizes(inputs)
        pairs = [word for past, present in self.names.caches for word in ("--cache", f"{past}={present}")]
        self._rows = rows
        return {"dims": {**self._widths(inputs, files), **{name: 1 for name in texts}}, "flags": [*pairs, "--cache-room", self.capacity]}

    def _allocate(self, files):
        outputs = {each.name: each for each in self.model.outputs}
        shapes = {each.name: each.shape for each in self.model.inputs}
        self._caches = []
        for past, present in self.names.caches:
            if outputs[present].in_place_of != past:
                raise Error(f"{files.model}: '{present}' cannot be the memory of '{past}', so that each step would copy the cache")
            _, heads, _, width = shapes[past]
            if not isinstance(heads, int) or not isinstance(width, int):
                raise Error(f"{files.model}: '{past}' has open numbers of heads or of their elements: {shapes[past]}")
            self._caches.append(np.zeros((self.slots, heads, self.capacity, width), self._types[past]))
        self.vocabulary = outputs[self.names.scores].shape[-1]
        if not isinstance(self.vocabulary, int):
            raise Error(f"{files.model}: the number of tokens that '{self.names.scores}' has scores for is open")
        self.chunk = min(self.capacity, CHUNK)
        self._scores: typing.Dict[int, typing.Any] = {}  # memory for a token of so many texts

    def bytes(self) -> int:
        """How much memory the caches have room in."""
        return sum(cache.nbytes for cache in self._caches)

    def step(self, slot: int, tokens: typing.Any, lengths: typing.Any) -> typing.Any:
        """Reads tokens int[texts, steps] behind the first `lengths` int[texts] ones of the slots from `slot` on. Returns the scores float[texts, vocabulary]
        of what comes next, in memory that the next step may write. A decoder that is not `ragged` takes one text."""
        tokens, lengths = np.asarray(tokens), np.asarray(lengths)
        texts, steps = tokens.shape
        if not self.ragged and texts != 1:
            raise ValueError(f"the decoder takes one text at a time, and was given {texts}")
        if lengths.max() + steps > self.capacity:
            raise ValueError(f"{lengths.max()} tokens and {steps} more do not fit {self.capacity}")
        given, out, sizes = {self.names.tokens: tokens}, {}, None
        if self.names.mask:
            length = self.capacity if self.ragged else int(lengths[0]) + steps
            given[self.names.mask] = np.arange(length) < lengths[:, None] + steps
        if self.names.positions:
            given[self.names.positions] = lengths[:, None] + np.arange(steps)
        given = {name: np.ascontiguousarray(value, self._types[name]) for name, value in given.items()}
        for (past, present), cache in zip(self.names.caches, self._caches):
            given[past] = out[present] = cache[slot : slot + texts]
        if not self.ragged:
            sizes = {self._rows: int(lengths[0])}
        out[self.names.scores] = self._room(texts)
        return self.model.run(given, out=out, sizes=sizes)[self.names.scores][:, -1]

    def _room(self, texts):
        if texts not in self._scores:
            self._scores[texts] = np.empty((texts, 1, self.vocabulary), self._types[self.names.scores])
        return self._scores[texts]


def room(files: Files, wanted: typing.Optional[int]) -> int:
    """The capacity of a slot: what is wanted, at most as many tokens as the model was made for; 2048 where nothing is said.

    Raises ValueError for less than two tokens, or for more than the model was made for."""
    most = math.inf if files.context is None else files.context
    if wanted is None:
        return int(min(most, 2048))
    if not 2 <= wanted <= most:
        raise ValueError(f"max_length: {wanted} is not between 2 and {most}")
    return wanted
