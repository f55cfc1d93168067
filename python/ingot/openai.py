"""A server with OpenAI's interface for a language model: `python -m ingot.openai FOLDER --port 8000 --slots 4`.

    GET  /v1/models              the model
    POST /v1/completions         what follows prompts
    POST /v1/chat/completions    the next answer in a conversation
    GET  /health                 that it answers

It is a layer on Starlette, which uvicorn runs (pip install starlette uvicorn tokenizers jinja2). Each text that is being written has a thread that waits for its
tokens; they write at once in the generator's slots (_generator.py). Requests wait for slots up to `queue` of them; more are told to come again (429)."""
import argparse
import asyncio
import contextlib
import json
import pathlib
import time
import typing
import uuid

from . import _openai_requests as requests
from ._errors import Error
from ._generator import Generator, Text
from ._openai_requests import Asked, Refusal


class Choice:
    """One of the texts of an answer, while it is written."""

    def __init__(self, index: int, text: Text) -> None:
        self.index, self.text = index, text

    def tokens(self) -> typing.Tuple[int, int]:
        """(of the prompt, written)"""
        return len(self.text.tokens.prompt), len(self.text.tokens.produced)

    def reason(self) -> str:
        return "stop" if self.text.finish_reason == "stop" else "length"


def usage(choices: typing.Sequence[Choice], repeats: int) -> typing.Dict[str, int]:
    """The numbers of tokens; a prompt that has several choices counts once."""
    counts = [each.tokens() for each in choices]
    read, written = sum(prompt for prompt, _ in counts[::repeats]), sum(count for _, count in counts)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


class Form(typing.NamedTuple):
    """How an interface writes its answers."""

    prefix: str  # of the answer's id
    whole: str  # the kinds of objects
    part: str
    chat: bool

    def choice(self, each: Choice, text: str) -> typing.Dict[str, typing.Any]:
        content = {"message": {"role": "assistant", "content": text}} if self.chat else {"text": text}
        return {"index": each.index, **content, "logprobs": None, "finish_reason": each.reason()}

    def piece(self, index: int, text: typing.Optional[str], reason: typing.Optional[str] = None, first: bool = False) -> typing.Dict[str, typing.Any]:
        delta = {**({"role": "assistant"} if first else {}), **({"content": text} if text is not None else {})}
        return {"index": index, **({"delta": delta} if self.chat else {"text": text or ""}), "logprobs": None, "finish_reason": reason}


COMPLETION = Form("cmpl", "text_completion", "text_completion", False)
CONVERSATION = Form("chatcmpl", "chat.completion", "chat.completion.chunk", True)


class Server:
    """The routes, and what they share. `application` is an ASGI application.

    generator  the model
    name       how requests call it
    queue      how many texts may wait for a slot"""

    def __init__(self, generator: Generator, name: str, queue: int = 64) -> None:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.responses import JSONResponse
        from starlette.routing import Route

        self.generator, self.name, self.queue, self.created = generator, name, queue, int(time.time())
        self._open = 0  # texts that are written or wait
        self._threads: typing.Any = None  # of the event loop, which is not there yet
        answer = lambda refusal: JSONResponse(refusal.body, status_code=refusal.status)

        async def refused(_, error):
            return answer(error)

        async def unknown(request, error):
            return answer(Refusal(f"{request.method} {request.url.path}: {error.detail}", status=error.status_code))

        async def failed(_, error):
            return answer(Refusal(f"{type(error).__name__}: {error}", status=500))

        routes = [Route("/v1/models", self.models), Route("/v1/models/{name:path}", self.models), Route("/health", self.health)]
        routes += [Route("/v1/completions", self.complete, methods=["POST"]), Route("/v1/chat/completions", self.converse, methods=["POST"])]
        self.application = Starlette(routes=routes, exception_handlers={Refusal: refused, HTTPException: unknown, Exception: failed})

    async def health(self, _: typing.Any) -> typing.Any:
        from starlette.responses import JSONResponse

        return JSONResponse({"status": "ok", "slots": self.generator.slots, "texts": self._open})

    async def models(self, request: typing.Any) -> typing.Any:
        from starlette.responses import JSONResponse

        own = {"id": self.name, "object": "model", "created": self.created, "owned_by": "ingot", "max_model_len": self.generator.max_length}
        wanted = request.path_params.get("name")
        if wanted is not None:
            self._check_name(wanted)
        return JSONResponse({"object": "list", "data": [own]} if wanted is None else own)

    async def complete(self, request: typing.Any) -> typing.Any:
        return await self._answer(COMPLETION, requests.completion(requests.read(await self._body(request))))

    async def converse(self, request: typing.Any) -> typing.Any:
        body = requests.read(await self._body(request))
        return await self._answer(CONVERSATION, requests.conversation(body, self._prompt_of))

    def _prompt_of(self, messages):
        try:
            return self.generator.conversation(messages)
        except (Error, ImportError) as error:
            raise Refusal(str(error), param="messages") from error

    def _check_name(self, name):
        if name != self.name:
            raise Refusal(f"the model '{name}' does not exist; this server has '{self.name}'", status=404, param="model", code="model_not_found")

    async def _body(self, request):
        data = bytearray()
        async for part in request.stream():
            data += part
            if len(data) > requests.MOST_BYTES:
                raise Refusal(f"a request has at most {requests.MOST_BYTES} bytes", status=413)
        return bytes(data)

    def _start(self, asked: Asked) -> typing.List[Choice]:
        """Starts all texts of a request, or none."""
        self._check_name(asked.model)
        if self._open + len(asked.prompts) > self.generator.slots + self.queue:
            raise Refusal("too many texts wait; come again later", status=429, code="rate_limit_exceeded")
        choices: typing.List[Choice] = []
        for index, prompt in enumerate(asked.prompts):
            seed = asked.options["seed"]
            chosen = {**asked.options, "seed": None if seed is None else seed + index}
            try:
                tokens = self.generator.encode(prompt) if isinstance(prompt, str) else prompt
                choices.append(Choice(index, self.generator.stream(tokens, stop=asked.stop, **chosen)))
            except ValueError as error:
                for each in choices:
                    each.text.close()
                code = "context_length_exceeded" if "room for" in str(error) else "invalid_value"
                raise Refusal(str(error), param="prompt", code=code) from error
        return choices

    @contextlib.contextmanager
    def _counted(self, choices):
        """Counts texts while they are written, and gives back their slots however that ends."""
        self._open += len(choices)
        try:
            yield
        finally:
            self._open -= len(choices)
            for each in choices:
                each.text.close()

    async def _next(self, text):
        """The next piece of a text; None at its end."""
        import anyio

        if self._threads is None:  # each text may wait for its next token
            self._threads = anyio.CapacityLimiter(self.generator.slots + self.queue)
        return await anyio.to_thread.run_sync(next, text, None, limiter=self._threads, abandon_on_cancel=True)

    async def _answer(self, form: Form, asked: Asked) -> typing.Any:
        from starlette.responses import JSONResponse, StreamingResponse

        choices = self._start(asked)
        head = {"id": f"{form.prefix}-{uuid.uuid4().hex}", "created": int(time.time()), "model": self.name}
        if asked.stream:
            return StreamingResponse(self._events(form, asked, choices, head), media_type="text/event-stream", headers={"cache-control": "no-cache"})

        async def whole(choice):
            pieces = []
            while (piece := await self._next(choice.text)) is not None:
                pieces.append(piece)
            return form.choice(choice, "".join(pieces))

        with self._counted(choices):
            written = await asyncio.gather(*map(whole, choices))
            return JSONResponse({**head, "object": form.whole, "choices": written, "usage": usage(choices, asked.repeats)})

    async def _events(self, form: Form, asked: Asked, choices: typing.List[Choice], head: typing.Dict[str, typing.Any]) -> typing.AsyncIterator[str]:
        """The events of an answer that is streamed: pieces of all choices as they come, the ends of each, perhaps the numbers of tokens, and [DONE]."""
        event = lambda **more: f"data: {json.dumps({**head, 'object': form.part, **more}, ensure_ascii=False)}\n\n"
        pieces: "asyncio.Queue[typing.Any]" = asyncio.Queue()

        async def pump(choice):
            try:
                if form.chat:
                    pieces.put_nowait(form.piece(choice.index, "", first=True))
                while (piece := await self._next(choice.text)) is not None:
                    pieces.put_nowait(form.piece(choice.index, piece))
                pieces.put_nowait(form.piece(choice.index, None, choice.reason()))
            except Exception as error:
                pieces.put_nowait(error)
            pieces.put_nowait(None)

        with self._counted(choices):
            pumps = [asyncio.create_task(pump(each)) for each in choices]
            try:
                left = len(pumps)
                while left:
                    piece = await pieces.get()
                    if isinstance(piece, Exception):
                        yield f"data: {json.dumps(Refusal(str(piece), status=500).body)}\n\n"
                        return
                    if piece is None:
                        left -= 1
                    else:
                        yield event(choices=[piece])
                if asked.usage:
                    yield event(choices=[], usage=usage(choices, asked.repeats))
                yield "data: [DONE]\n\n"
            finally:
                for task in pumps:
                    task.cancel()


def main(arguments: typing.Optional[typing.Sequence[str]] = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m ingot.openai", description="Serves a language model with OpenAI's interface.")
    parser.add_argument("folder", help="a model's folder (docs/using/language-models.md)")
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0: for other machines, too"), parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--slots", type=int, default=4, help="texts that are written at once")
    parser.add_argument("--queue", type=int, default=64, help="texts that may wait for a slot; more are refused")
    parser.add_argument("--max-length", type=int, help="tokens of a prompt and its text")
    parser.add_argument("--threads", type=int, default=0, help="0: all processors"), parser.add_argument("--name", help="how requests call the model; default: the folder's name")
    given = parser.parse_args(arguments)
    try:
        import uvicorn

        generator = Generator(given.folder, slots=given.slots, max_length=given.max_length, threads=given.threads)
        server = Server(generator, given.name or pathlib.Path(given.folder).absolute().name, given.queue)
        generator.encode("")  # a server without a tokenizer would answer nobody
    except (Error, ValueError, OSError, ImportError) as error:
        parser.exit(1, f"{error}\n")
    print(generator, flush=True)
    uvicorn.run(server.application, host=given.host, port=given.port, log_level="warning", timeout_graceful_shutdown=30)


if __name__ == "__main__":
    main()
