"""Between text and tokens: the package tokenizers reads tokenizer.json, and jinja2 writes a conversation as the model was taught to read it.

A character may take several tokens, whose bytes alone are no UTF-8; a decoder writes U+FFFD for them. Such an end is kept back until the next tokens complete
it. A token may also change how the one before is written (spaces at the beginning of a word), so a few tokens before are decoded again:

    tokens     ... 17 | 40 41 | 9         text of 17: "in", of 17 40: "in?", of 17 40 41: "in ä", which gives " ä"
              known    new

What stop texts are made of is kept back, too, until it is clear whether one of them stands there."""
import datetime
import json
import typing

from . import _decoder_files
from ._errors import Error


class Tokenizer:
    """The tokenizer of a folder: tokenizer.json, and what tokenizer_config.json says of conversations.

    Raises FileNotFoundError without tokenizer.json, and ImportError without the package tokenizers."""

    def __init__(self, folder):
        path = folder / "tokenizer.json"
        if not path.exists():
            raise FileNotFoundError(f"{path}: there is none, so that prompts are lists of tokens")
        try:
            import tokenizers
        except ImportError as error:
            raise ImportError("text needs the package tokenizers, which is not installed; prompts may be lists of tokens") from error
        self._own = tokenizers.Tokenizer.from_file(str(path))
        self._config = _decoder_files.read(folder / "tokenizer_config.json")
        file = folder / "chat_template.jinja"
        self._template = file.read_text(encoding="utf-8") if file.exists() else named_template(self._config.get("chat_template"))

    def encode(self, text: str, special: bool = True) -> typing.List[int]:
        """The tokens of a text; `special`: with those that begin every text."""
        return list(self._own.encode(text, add_special_tokens=special).ids)

    def decode(self, tokens: typing.Sequence[int]) -> str:
        """The text of tokens, without special ones."""
        return str(self._own.decode(list(tokens), skip_special_tokens=True))

    def number(self, token: str) -> typing.Optional[int]:
        """The number of a token that is written so."""
        return self._own.token_to_id(token)

    def conversation(self, messages: typing.Sequence[typing.Mapping[str, typing.Any]], **more: typing.Any) -> str:
        """The prompt for the next answer. Raises ingot.Error where the folder has no template, or the template refuses the messages."""
        if not self._template:
            raise Error("the model has no chat template (tokenizer_config.json, chat_template.jinja): it is for texts, not for conversations")
        import jinja2

        token = lambda name: (value.get("content", "") if isinstance(value := self._config.get(name) or "", dict) else value)
        try:
            return str(compiled(self._template).render(messages=messages, add_generation_prompt=True, bos_token=token("bos_token"), eos_token=token("eos_token"), **more))
        except jinja2.TemplateError as error:
            raise Error(f"the chat template refuses the messages: {error}") from error


def named_template(template):
    """The template of a configuration: a text, or a list of several, of which one is the default."""
    if isinstance(template, list):
        return {each["name"]: each["template"] for each in template}.get("default")
    return template


def compiled(template):
    """A template with what transformers gives to templates."""
    try:
        import jinja2.sandbox
    except ImportError as error:
        raise ImportError("conversations need the package jinja2, which is not installed") from error

    def refuse(message):
        raise jinja2.TemplateError(message)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    environment.filters["tojson"] = lambda value, indent=None: json.dumps(value, ensure_ascii=False, indent=indent)
    environment.globals |= {"raise_exception": refuse, "strftime_now": lambda form: datetime.datetime.now().strftime(form)}
    return environment.from_string(template)


class Detokenizer:
    """The text of tokens that come one by one, for a `decode` of lists of tokens.

    >>> pieces = [b"a", "ä".encode()[:1], "ä".encode()[1:], b"b"]
    >>> detokenizer = Detokenizer(lambda tokens: b"".join(pieces[token] for token in tokens).decode(errors="replace"))
    >>> [detokenizer.push(token) for token in range(4)], detokenizer.flush()
    (['a', '', 'ä', 'b'], '')
    """

    MOST = 16  # tokens that are kept back: no character takes more, and random bytes never become one

    def __init__(self, decode):
        self._decode, self._tokens = decode, []
        self._known = 0  # of the tokens: those whose text has been given

    def push(self, token: int) -> str:
        """The text that is certain with one token more."""
        self._tokens.append(token)
        return self._text(final=len(self._tokens) - self._known >= self.MOST)

    def flush(self) -> str:
        """What was kept back at the end of a text."""
        return self._text(final=True)

    def _text(self, final):
        before, now = self._decode(self._tokens[: self._known]), self._decode(self._tokens)
        if len(now) <= len(before) or (now.endswith("\ufffd") and not final):
            return ""
        self._tokens = self._tokens[self._known :]  # what was new is what the next text is compared with
        self._known = len(self._tokens)
        return now[len(before) :]


class Stops:
    """Cuts text that comes in pieces before the first of the stop texts.

    >>> stops = Stops(["END"])
    >>> [stops.push(piece) for piece in ("a E", "N", "x", " EN", "D b")], stops.found, stops.flush()
    (['a ', '', 'ENx', ' ', ''], True, '')
    """

    def __init__(self, texts):
        self._texts, self._held, self.found = [text for text in texts if text], "", False

    def push(self, piece: str) -> str:
        """The text that is certain with a piece more."""
        if self.found:
            return ""
        text = self._held + piece
        places = [place for stop in self._texts if (place := text.find(stop)) >= 0]
        if places:
            self._held, self.found = "", True
            return text[: min(places)]
        kept = max((size for stop in self._texts for size in range(1, min(len(stop), len(text)) + 1) if text.endswith(stop[:size])), default=0)
        self._held = text[len(text) - kept :]
        return text[: len(text) - kept]

    def flush(self) -> str:
        """What was kept back, when no text follows."""
        held, self._held = self._held, ""
        return held
