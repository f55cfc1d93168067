"""ingot.Generator: language models write text.

A generator has slots. A text that is to be written waits until a slot is free, and has it until it ends. Nothing runs in the background: whoever waits for a
token, in any thread, runs the next step for all slots, and finds the tokens of others laid ready. A step

1. gives free slots to those who wait,
2. reads a part of the longest waiting prompt, if there is one, so that a long prompt does not keep the others waiting until it has been read, and
3. reads the last token of each text whose prompt has been read, all in one run where the decoder can do that (_decoder.py).

    slot 0   prompt prompt t t t t t t t end      prompt t t
    slot 1     t t end   prompt t t t t t t t t t t t

A text's tokens that the caches do not have yet are `pending`: the rest of the prompt, then one token."""
import collections
import os
import threading
import typing
import weakref

import numpy as np

from ._decoder import Decoder, room
from ._decoder_files import find
from ._sampling import Sampler, Sampling
from ._text import Detokenizer, Stops, Tokenizer

Prompt = typing.Union[str, typing.Sequence[int]]


class Sequence:
    """A text while it is being written."""

    def __init__(self, prompt, sampler, limit, stops):
        self.prompt, self.pending, self.sampler, self.limit, self.stops = prompt, list(prompt), sampler, limit, stops
        self.produced: typing.List[int] = []
        self.ready: typing.Deque[int] = collections.deque()
        self.length = 0  # tokens that the caches have
        self.finish: typing.Optional[str] = None
        self.error: typing.Optional[BaseException] = None
        self.cancelled = False

    def accept(self, scores):
        """Takes the next token."""
        token = self.sampler.pick(scores)
        if token in self.stops:
            self.finish = "stop"
            return
        self.produced.append(token)
        self.ready.append(token)
        self.pending = [token]
        if len(self.produced) >= self.limit:
            self.finish = "length"


class Engine:
    """Slots, and the sequences that have or want one."""

    def __init__(self, decoder):
        self.decoder, self.lock = decoder, threading.Lock()
        self.slots: typing.List[typing.Optional[Sequence]] = [None] * decoder.slots
        self.waiting: typing.Deque[Sequence] = collections.deque()

    def advance(self, sequence):
        """Runs a step, unless the sequence has a token or its end already."""
        with self.lock:
            if not sequence.ready and sequence.finish is None:
                self._step()

    def _step(self):
        self._assign()
        active = [(slot, each) for slot, each in enumerate(self.slots) if each]
        try:
            reading = next((pair for pair in active if len(pair[1].pending) > 1), None)
            if reading:
                self._read(*reading)
            writing = [(slot, each) for slot, each in active if len(each.pending) == 1 and each.finish is None]
            if writing and self.decoder.ragged:
                self._write(writing)
            else:
                for slot, each in writing:
                    self._read(slot, each)
        except Exception as error:  # of a run, as no memory: those who wait for it are told
            for _, each in active:
                each.error, each.finish = error, "error"
        finally:
            self.slots = [each if each and each.finish is None else None for each in self.slots]

    def _assign(self):
        self.slots = [None if each and each.cancelled else each for each in self.slots]
        for slot, each in enumerate(self.slots):
            while each is None and self.waiting:
                first = self.waiting.popleft()
                each = self.slots[slot] = None if first.cancelled else first

    def _read(self, slot, sequence):
        """Reads a part of what a sequence has pending."""
        part = sequence.pending[: self.decoder.chunk]
        scores = self.decoder.step(slot, [part], [sequence.length])
        sequence.length += len(part)
        sequence.pending = sequence.pending[len(part) :]
        if not sequence.pending:
            sequence.accept(scores[0])

    def _write(self, writing):
        """Reads a token of each of these, in one run of the slots from the first to the last of them. What it writes for others is behind their rows."""
        first, last = writing[0][0], writing[-1][0]
        tokens, lengths = np.zeros((last - first + 1, 1), np.int64), np.zeros(last - first + 1, np.int64)
        for slot in range(first, last + 1):
            lengths[slot - first] = self.slots[slot].length if self.slots[slot] else 0
        for slot, each in writing:
            tokens[slot - first] = each.pending
        scores = self.decoder.step(first, tokens, lengths)
        for slot, each in writing:
            each.length += 1
            each.pending = []
            each.accept(scores[slot - first])


def cancel(engine, sequence):
    sequence.cancelled = True
    sequence.finish = sequence.finish or "cancelled"


class Tokens(typing.Iterator[int]):
    """The tokens of a text, as they are written.

    prompt         the tokens of the prompt
    produced       those that were written so far
    finish_reason  None while it is being written; then "stop" (a token that ends texts), "length" (no more tokens were wanted, or fit) or "cancelled"
    """

    def __init__(self, engine, sequence):
        self._engine, self._sequence = engine, sequence
        weakref.finalize(self, cancel, engine, sequence).atexit = False

    prompt = property(lambda self: list(self._sequence.prompt), doc="The tokens of the prompt.")
    produced = property(lambda self: list(self._sequence.produced), doc="The tokens that were written so far.")
    finish_reason = property(lambda self: self._sequence.finish, doc="Why it ended; None: it did not.")

    def __next__(self) -> int:
        while not self._sequence.ready:
            if self._sequence.error:
                raise self._sequence.error
            if self._sequence.finish:
                raise StopIteration
            self._engine.advance(self._sequence)
        return self._sequence.ready.popleft()

    def close(self) -> None:
        """Ends the text here, so that another one gets its slot."""
        cancel(self._engine, self._sequence)


class Text(typing.Iterator[str]):
    """A text in pieces, as it is written: no piece is empty or ends within a character, and texts that end it are left out.

    tokens         its Tokens
    finish_reason  as that of Tokens; "stop" at one of the texts of `stop`, too"""

    def __init__(self, tokens, tokenizer, stop):
        self.tokens: Tokens = tokens
        self._detokenizer, self._stops = Detokenizer(tokenizer.decode), Stops(stop)
        self.finish_reason: typing.Optional[str] = None

    def __next__(self) -> str:
        while self.finish_reason is None:
            token = next(self.tokens, None)
            piece = self._stops.push(self._detokenizer.flush() if token is None else self._detokenizer.push(token))
            if self._stops.found:
                self.tokens.close()
                self.finish_reason = "stop"
            elif token is None:
                piece += self._stops.flush()
                self.finish_reason = self.tokens.finish_reason
            if piece:
                return piece
        raise StopIteration

    def close(self) -> None:
        """Ends the text here, so that another one gets its slot."""
        self.tokens.close()


class Generator:
    """A language model that is compiled, and writes tokens or text.

    path        a folder as ONNX Runtime's model builder and optimum write it, or a decoder: input_ids, attention_mask, position_ids and
                past_key_values.N.key|value in, logits and present.N.key|value out; genai_config.json may call them otherwise
    slots       how many texts are written at once; others wait
    max_length  tokens of a prompt and its text together, for which each slot has memory; None: what the model was made for, at most 2048
    threads     of each step; 0: all processors
    target, accuracy, cache, flags   as those of ingot.compile

    Attributes: `slots`, `max_length`, `stop_tokens` (which end a text), `sampling` (how tokens are chosen where a call does not say: as the model's folder says,
    otherwise the best one), `model` (the compiled decoder), `tokenizer` (None: the folder has none, or the package tokenizers is not installed).

    Any number of threads may use one generator. Raises CompileError, and ingot.Error for a model that is no decoder."""

    def __init__(
        self,
        path: typing.Union[str, "os.PathLike[str]"],
        *,
        slots: int = 1,
        max_length: typing.Optional[int] = None,
        threads: int = 0,
        target: typing.Optional[str] = None,
        accuracy: typing.Optional[str] = None,
        cache: typing.Union[bool, str, "os.PathLike[str]"] = True,
        flags: typing.Sequence[typing.Any] = (),
    ) -> None:
        if slots < 1:
            raise ValueError(f"slots: {slots} is not at least 1")
        files = find(path)
        self.slots, self.max_length, self.stop_tokens = slots, room(files, max_length), files.stops
        self.sampling = Sampling(**files.sampling)
        decoder = Decoder(files, slots, self.max_length, {"threads": threads, "target": target, "accuracy": accuracy, "cache": cache, "flags": flags})
        self.model, self._decoder, self._engine = decoder.model, decoder, Engine(decoder)
        self.tokenizer: typing.Optional[Tokenizer] = None
        self._why_no_text: typing.Optional[Exception] = None
        try:
            self.tokenizer = Tokenizer(files.folder)
        except (FileNotFoundError, ImportError) as error:
            self._why_no_text = error

    @property
    def waiting(self) -> int:
        """How many texts wait for a slot."""
        return len(self._engine.waiting)

    def tokens(
        self,
        prompt: Prompt,
        *,
        max_new_tokens: typing.Optional[int] = None,
        temperature: typing.Optional[float] = None,
        top_k: typing.Optional[int] = None,
        top_p: typing.Optional[float] = None,
        repetition_penalty: typing.Optional[float] = None,
        seed: typing.Optional[int] = None,
        stop_tokens: typing.Optional[typing.Sequence[int]] = None,
    ) -> Tokens:
        """The tokens that follow a prompt, one by one; the tokens that end texts are left out.

        prompt          text, or tokens
        max_new_tokens  None: as many as fit
        temperature     0: the best token each time (greedy); top_k, top_p, repetition_penalty: _sampling.Sampling; None: as `sampling` says
        seed            makes what is drawn the same each time
        stop_tokens     instead of the model's own

        Raises ValueError for a prompt that is empty, does not fit, or has tokens that the model has not."""
        numbers = self.encode(prompt) if isinstance(prompt, str) else [int(token) for token in prompt]
        self._check(numbers)
        said = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "repetition_penalty": repetition_penalty, "seed": seed}
        how = Sampling(**{**vars(self.sampling), **{name: value for name, value in said.items() if value is not None}})
        limit = self.max_length - len(numbers)
        if max_new_tokens is not None and max_new_tokens < 1:
            raise ValueError(f"max_new_tokens: {max_new_tokens} is not at least 1")
        limit = limit if max_new_tokens is None else min(limit, max_new_tokens)
        sequence = Sequence(numbers, Sampler(how, numbers), limit, frozenset(self.stop_tokens if stop_tokens is None else stop_tokens))
        self._engine.waiting.append(sequence)
        return Tokens(self._engine, sequence)

    def stream(self, prompt: Prompt, *, stop: typing.Union[str, typing.Sequence[str]] = (), **options: typing.Any) -> Text:
        """The text that follows a prompt, in pieces; `stop` are texts before which it ends, `options` those of `tokens`.

        Raises FileNotFoundError or ImportError where the generator has no tokenizer."""
        tokenizer = self._own_tokenizer()
        return Text(self.tokens(prompt, **options), tokenizer, [stop] if isinstance(stop, str) else list(stop))

    def generate(self, prompt: typing.Union[Prompt, typing.Sequence[Prompt]], **options: typing.Any) -> typing.Any:
        """What follows a prompt: text (str) for text, and tokens (a list) for tokens. A list of prompts gives a list, written at once in the slots.

        options  those of `tokens`, and for text `stop`"""
        if isinstance(prompt, str):
            return "".join(self.stream(prompt, **options))
        if any(isinstance(each, (int, np.integer)) for each in prompt) or not len(prompt):
            return list(self.tokens(typing.cast(Prompt, prompt), **options))
        prompts = typing.cast(typing.Sequence[Prompt], prompt)
        started = [self.stream(each, **options) if isinstance(each, str) else self.tokens(each, **options) for each in prompts]
        return ["".join(each) if isinstance(each, Text) else list(each) for each in started]

    def conversation(self, messages: typing.Sequence[typing.Mapping[str, typing.Any]], **more: typing.Any) -> typing.List[int]:
        """The prompt, as tokens, for the next answer in a conversation: [{"role": "user", "content": "..."}]. `more` is what the template knows besides.

        Raises ingot.Error where the model has no template, or the template refuses the messages."""
        tokenizer = self._own_tokenizer()
        return tokenizer.encode(tokenizer.conversation(messages, **more), special=False)

    def encode(self, text: str) -> typing.List[int]:
        """The tokens of a text, with those that begin every text."""
        return self._own_tokenizer().encode(text)

    def decode(self, tokens: typing.Sequence[int]) -> str:
        """The text of tokens, without special ones."""
        return self._own_tokenizer().decode(tokens)

    def _own_tokenizer(self):
        if self.tokenizer is None:
            raise typing.cast(Exception, self._why_no_text)
        return self.tokenizer

    def _check(self, tokens):
        if not tokens:
            raise ValueError("the prompt is empty")
        if len(tokens) >= self.max_length:
            raise ValueError(f"the prompt has {len(tokens)} tokens, and the generator has room for {self.max_length}, one of them for what follows (max_length)")
        if bad := [token for token in tokens if not 0 <= token < self._decoder.vocabulary]:
            raise ValueError(f"{bad[0]} is none of the model's {self._decoder.vocabulary} tokens")

    def __repr__(self) -> str:
        together = "together" if self._decoder.ragged else "one after the other: its caches have one length"
        return f"<ingot generator {self.model.name}: {self.slots} slots of {self.max_length} tokens, stepped {together}; caches of {self._decoder.bytes() >> 20} MB>"
