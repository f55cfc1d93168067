"""What a request of OpenAI's interface asks for, and what it is told where that cannot be done.

A request is a JSON object. Each of its fields is read here with its type and its bounds; a field that would change the answer in a way that is not there (tools,
probabilities of tokens) is refused, since an answer without it would be a wrong one. Fields that say nothing about the answer (user, metadata) are ignored."""
import json
import typing

Object = typing.Dict[str, typing.Any]

MOST_BYTES = 4 << 20  # of a request
MOST_CHOICES = 64  # of one request: prompts times n

# Fields that are refused, and the values with which they ask for nothing.
REFUSED: Object = {"tools": ([],), "tool_choice": ("none", "auto"), "functions": ([],), "logprobs": (False,), "top_logprobs": (0,), "logit_bias": ({},), "audio": ()}
REFUSED |= {"echo": (False,), "suffix": ("",), "best_of": (1,), "presence_penalty": (0,), "frequency_penalty": (0,), "response_format": ({"type": "text"},), "modalities": (["text"],)}


class Refusal(Exception):
    """A request that is answered by an error: a status of HTTP, and the object that OpenAI's clients read."""

    def __init__(self, message: str, *, status: int = 400, param: typing.Optional[str] = None, code: typing.Optional[str] = None) -> None:
        super().__init__(message)
        kind = {429: "rate_limit_error", 500: "server_error", 503: "server_error"}.get(status, "invalid_request_error")
        self.status, self.body = status, {"error": {"message": message, "type": kind, "param": param, "code": code}}


class Asked(typing.NamedTuple):
    """What a request asks for: prompts (texts, or lists of tokens), options of Generator.tokens, and how it is to be answered."""

    model: str
    prompts: typing.List[typing.Any]
    options: Object
    stop: typing.List[str]
    stream: bool
    usage: bool  # whether a stream ends with the numbers of tokens
    repeats: int  # how often each prompt stands in `prompts`


def read(data: bytes) -> Object:
    """The object of a request."""
    try:
        body = json.loads(data)
    except ValueError as error:
        raise Refusal(f"the request is no JSON: {error}") from None
    if not isinstance(body, dict):
        raise Refusal("the request is no JSON object")
    for name, allowed in REFUSED.items():
        if body.get(name) is not None and body[name] not in allowed:
            raise Refusal(f"'{name}' is not supported", param=name, code="unsupported_parameter")
    return body


def field(body, name, kinds, wanted, default=None):
    """A field of these types; null is as if it were not there, and a truth value is no number."""
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
        raise Refusal(f"'{name}' has to be {wanted}", param=name, code="invalid_type")
    return value


def number(body, name, kinds, least, most):
    value = field(body, name, kinds, "a number" if kinds is not int else "an integer")
    if value is not None and not least <= value <= most:
        raise Refusal(f"'{name}' has to be from {least} to {most}", param=name, code="invalid_value")
    return value


def options(body: Object, most_tokens: typing.Tuple[str, ...], usual: typing.Optional[int]) -> Object:
    """Those of Generator.tokens. `most_tokens` are the fields that may say how many tokens are wanted, `usual` is how many otherwise."""
    real, huge = (int, float), 1 << 62
    found = {"temperature": number(body, "temperature", real, 0, 2), "top_p": number(body, "top_p", real, 0, 1), "top_k": number(body, "top_k", int, 0, huge)}
    found |= {"seed": number(body, "seed", int, -huge, huge), "repetition_penalty": number(body, "repetition_penalty", real, 0.01, 100)}
    if found["top_p"] == 0:  # some clients say so for greedy
        found |= {"top_p": None, "temperature": 0}
    if found["seed"] is not None:
        found["seed"] %= 1 << 63
    given = [value for name in most_tokens if (value := number(body, name, int, 1, huge)) is not None]
    return {**found, "max_new_tokens": given[0] if given else usual}


def stop_texts(body):
    stop = field(body, "stop", (str, list), "a string or a list of strings", [])
    stop = [stop] if isinstance(stop, str) else stop
    if len(stop) > 4 or not all(isinstance(each, str) for each in stop):
        raise Refusal("'stop' has to be a string or up to four strings", param="stop", code="invalid_value")
    return stop


def answer(body, prompts, chosen):
    repeats = number(body, "n", int, 1, MOST_CHOICES) or 1
    repeated = [each for each in prompts for _ in range(repeats)]
    if not 0 < len(repeated) <= MOST_CHOICES:
        raise Refusal(f"a request has from 1 to {MOST_CHOICES} prompts, each counted n times", param="prompt", code="invalid_value")
    stream_options = field(body, "stream_options", dict, "an object", {})
    usage = field(stream_options, "include_usage", bool, "a truth value", False)
    model = field(body, "model", str, "a string")
    if model is None:
        raise Refusal("'model' is missing", param="model", code="missing_required_parameter")
    return Asked(model, repeated, chosen, stop_texts(body), field(body, "stream", bool, "a truth value", False), usage, repeats)


def completion(body: Object) -> Asked:
    """What a request to /v1/completions asks for."""
    prompt = field(body, "prompt", (str, list), "a string, a list of strings or of tokens")
    whole = lambda value: isinstance(value, int) and not isinstance(value, bool)
    prompts = prompt if isinstance(prompt, list) and not (prompt and all(map(whole, prompt))) else [prompt]
    for each in prompts:
        if not isinstance(each, str) and not (isinstance(each, list) and each and all(map(whole, each))):
            raise Refusal("'prompt' has to be a string, a list of strings, or lists of tokens", param="prompt", code="invalid_type" if prompt else "missing_required_parameter")
    return answer(body, prompts, options(body, ("max_tokens",), 16))


def plain(message):
    """A message whose content is text; OpenAI's form of parts of text is put together."""
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise Refusal("each of 'messages' has to be an object with a role", param="messages", code="invalid_type")
    content = message.get("content")
    if isinstance(content, list) and all(isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str) for part in content):
        content = "".join(part["text"] for part in content)
    if not isinstance(content, str):
        raise Refusal("the content of a message has to be text", param="messages", code="invalid_type")
    return {**message, "content": content}


def conversation(body: Object, prompt_of: typing.Callable[[typing.List[Object]], typing.List[int]]) -> Asked:
    """What a request to /v1/chat/completions asks for; `prompt_of` makes the tokens of a prompt of messages."""
    messages = field(body, "messages", list, "a list of messages")
    if not messages:
        raise Refusal("'messages' is missing or empty", param="messages", code="missing_required_parameter")
    chosen = options(body, ("max_completion_tokens", "max_tokens"), None)
    return answer(body, [prompt_of(list(map(plain, messages)))], chosen)
