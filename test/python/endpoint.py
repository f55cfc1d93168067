"""The server with OpenAI's interface, asked by the package openai: models, texts and conversations, streamed and not, four at once, numbers of tokens, errors;
text from tokens, and the page docs/using/language-models.md.

    endpoint.py --build build [NAMES OF TESTS]

The model is a small one of random weights (decoders.py), with a tokenizer of all bytes. What it has to write, ingot.Generator writes."""
import concurrent.futures
import contextlib
import http.client
import io
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import package

FOLDER = tempfile.TemporaryDirectory(prefix="ingot-endpoint-")
TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}{% if messages[0]['role'] == 'nobody' %}{{ raise_exception('who?') }}{% endif %}assistant:"
LENGTH = 160
PAGE = package.ROOT / "docs/using/language-models.md"
HELLO = [{"role": "user", "content": "Hello"}]


def setUpModule():
    global server, client, generator, port
    import decoders
    import openai

    folder = decoders.grouped(pathlib.Path(FOLDER.name, "tiny"))
    tokenizer(folder, TEMPLATE)
    generator = ingot.Generator(folder, slots=4, max_length=LENGTH)
    server, port = serve(["python", "-m", "ingot.openai", str(folder), "--slots", "4", "--queue", "8", "--max-length", str(LENGTH)])
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0, timeout=120)


def tokenizer(folder, template=None):
    """Writes a tokenizer of all bytes and as many words of this repository's pages as the vocabulary has room for."""
    import decoders
    import tokenizers

    own = tokenizers.Tokenizer(tokenizers.models.BPE())
    own.pre_tokenizer, own.decoder = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False), tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=decoders.VOCABULARY, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False)
    own.train_from_iterator([path.read_text() for path in sorted((package.ROOT / "docs").glob("*.md"))], trainer)
    own.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<end>", **({"chat_template": template} if template else {})}))


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(build / "python"), os.environ.get("PYTHONPATH", "")])}


def serve(command):
    """(process, port) of a server that answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, *command[1:], "--port", str(port)], env=environment(), stdout=subprocess.DEVNULL)
    end = time.monotonic() + 300
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                process.kill()
                raise
            time.sleep(0.1)


def tearDownModule():
    server.terminate()
    if server.wait(60) not in (0, -15):
        raise RuntimeError(f"the server ended with {server.returncode}")


class Answers(unittest.TestCase):
    def test_models(self):
        self.assertEqual([each.id for each in client.models.list()], ["tiny"])
        self.assertEqual(client.models.retrieve("tiny").owned_by, "ingot")

    def test_a_text(self):
        want = generator.generate("Hello", max_new_tokens=30)
        got = client.completions.create(model="tiny", prompt="Hello", max_tokens=30, temperature=0)
        self.assertEqual((got.choices[0].text, got.choices[0].finish_reason, got.object), (want, "length", "text_completion"))
        read = len(generator.encode("Hello"))
        self.assertEqual((got.usage.prompt_tokens, got.usage.completion_tokens, got.usage.total_tokens), (read, 30, read + 30))

    def test_prompts_of_all_kinds(self):
        tokens = generator.encode("Hello")
        want = [generator.generate(each, max_new_tokens=16) for each in ("Hello", "You")]
        texts = lambda prompt, **more: [each.text for each in client.completions.create(model="tiny", prompt=prompt, **more).choices]
        self.assertEqual(texts(["Hello", "You"]), want)
        self.assertEqual(texts(tokens), want[:1])
        self.assertEqual(texts([tokens, generator.encode("You")]), want)
        self.assertEqual(texts("Hello", n=2), [want[0]] * 2)
        self.assertEqual(client.completions.create(model="tiny", prompt=["Hello", "You"], n=2).usage.prompt_tokens, len(tokens) + len(generator.encode("You")))

    def test_a_conversation(self):
        prompt = generator.conversation(HELLO)
        self.assertEqual(generator.decode(prompt), "user: Hello\nassistant:")
        want = generator.decode(generator.generate(prompt, max_new_tokens=40))
        got = client.chat.completions.create(model="tiny", messages=HELLO, max_completion_tokens=40)
        self.assertEqual((got.choices[0].message.content, got.choices[0].message.role, got.object), (want, "assistant", "chat.completion"))
        parts = [{"role": "user", "content": [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]}]
        self.assertEqual(client.chat.completions.create(model="tiny", messages=parts, max_tokens=40).choices[0].message.content, want)
        whole = client.chat.completions.create(model="tiny", messages=HELLO)
        self.assertEqual((whole.usage.total_tokens, whole.choices[0].finish_reason), (LENGTH, "length"))

    def test_streams(self):
        want = generator.generate("Hello", max_new_tokens=50)
        pieces = list(client.completions.create(model="tiny", prompt="Hello", max_tokens=50, stream=True, stream_options={"include_usage": True}))
        self.assertEqual("".join(each.choices[0].text for each in pieces if each.choices), want)
        self.assertGreater(len(pieces), 5)
        self.assertEqual((pieces[-1].choices, pieces[-1].usage.completion_tokens), ([], 50))
        self.assertEqual([each.choices[0].finish_reason for each in pieces[-3:-1]], [None, "length"])
        want = generator.decode(generator.generate(generator.conversation(HELLO), max_new_tokens=50))
        pieces = list(client.chat.completions.create(model="tiny", messages=HELLO, max_tokens=50, stream=True, n=2))
        self.assertEqual(pieces[0].choices[0].delta.role, "assistant")
        for index in range(2):
            own = [each.choices[0].delta.content or "" for each in pieces if each.choices[0].index == index]
            self.assertEqual("".join(own), want)

    def test_stops_and_seeds(self):
        whole = generator.generate("Hello", max_new_tokens=50)
        stop = whole[len(whole) // 2 :][:2]
        got = client.completions.create(model="tiny", prompt="Hello", max_tokens=50, stop=[stop]).choices[0]
        self.assertEqual((got.text, got.finish_reason), (whole.split(stop)[0], "stop"))
        draw = lambda seed: client.completions.create(model="tiny", prompt="Hello", max_tokens=20, temperature=1, top_p=0.9, seed=seed).choices[0].text
        self.assertEqual(draw(1), draw(1))
        self.assertNotEqual(draw(1), draw(2))

    def test_four_at_once(self):
        prompts = [f"Number {number} says" for number in range(12)]
        want = [generator.generate(each, max_new_tokens=60) for each in prompts]
        streamed = lambda prompt: "".join(each.choices[0].text for each in client.completions.create(model="tiny", prompt=prompt, max_tokens=60, stream=True))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertEqual(list(pool.map(streamed, prompts)), want)
        together = client.completions.create(model="tiny", prompt=prompts, max_tokens=60)  # twelve, of which eight wait
        self.assertEqual([each.text for each in together.choices], want)

    def test_a_client_that_leaves_gives_back_its_slot(self):
        for _ in range(6):
            stream = client.completions.create(model="tiny", prompt="Hello", max_tokens=140, stream=True)
            next(iter(stream))
            stream.close()
        end = time.monotonic() + 60
        while ask("GET", "/health")[1]["texts"] and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(ask("GET", "/health")[1], {"status": "ok", "slots": 4, "texts": 0})


def ask(method, path, body=None):
    """(status, object) of a request that no well-behaved client sends."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, json.loads(response.read())


class Errors(unittest.TestCase):
    def refuses(self, kind, words, **body):
        import openai

        make = client.chat.completions if "messages" in body else client.completions
        with self.assertRaisesRegex(getattr(openai, kind), words) as caught:
            make.create(**{"model": "tiny", **body})
        return caught.exception

    def test_too_long(self):
        error = self.refuses("BadRequestError", f"has {LENGTH} tokens, and the generator has room for {LENGTH}", prompt=[1] * LENGTH)
        self.assertEqual((error.status_code, error.code, error.param, error.type), (400, "context_length_exceeded", "prompt", "invalid_request_error"))
        self.assertEqual(self.refuses("BadRequestError", "room for", messages=[{"role": "user", "content": "word " * LENGTH}]).code, "context_length_exceeded")

    def test_wrong_fields(self):
        self.assertEqual(self.refuses("NotFoundError", "'gpt' does not exist; this server has 'tiny'", model="gpt", prompt="x").code, "model_not_found")
        for words, body in (
            ("'temperature' has to be from 0 to 2", {"temperature": 3}),
            ("'temperature' has to be a number", {"extra_body": {"temperature": "hot"}}),
            ("'max_tokens' has to be from 1", {"max_tokens": 0}),
            ("'max_tokens' has to be an integer", {"extra_body": {"max_tokens": True}}),
            ("'logprobs' is not supported", {"logprobs": 3}),
            ("'echo' is not supported", {"echo": True}),
            ("'n' has to be from 1 to 64", {"n": 65}),
            ("'stop' has to be", {"stop": ["a"] * 5}),
            ("from 1 to 64 prompts", {"prompt": ["x"] * 65}),
            ("'prompt' has to be", {"prompt": [[]]}),
            ("'prompt' has to be", {"prompt": ["a", 1]}),
            ("320 is none of the model's 320 tokens", {"prompt": [[1], [320]]}),
            ("prompt is empty", {"prompt": ""}),
            ("'messages' is missing or empty", {"messages": []}),
            ("content of a message has to be text", {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}),
            ("has to be an object with a role", {"messages": ["x"]}),
            ("refuses the messages: who?", {"messages": [{"role": "nobody", "content": ""}]}),
            ("'tools' is not supported", {"messages": HELLO, "tools": [{"type": "function", "function": {"name": "f"}}]}),
        ):
            with self.subTest(words):
                self.refuses("BadRequestError", words, **(body if "messages" in body else {"prompt": "x", **body}))

    def test_no_requests(self):
        for method, path, body, status, words in (
            ("POST", "/v1/completions", "{", 400, "no JSON"),
            ("POST", "/v1/completions", "[]", 400, "no JSON object"),
            ("POST", "/v1/completions", '{"prompt": "x"}', 400, "'model' is missing"),
            ("POST", "/v1/completions", "x" * (5 << 20), 413, "at most"),
            ("GET", "/v1/completions", None, 405, "Method Not Allowed"),
            ("GET", "/v1/nothing", None, 404, "/v1/nothing"),
            ("GET", "/v1/models/gpt", None, 404, "does not exist"),
        ):
            with self.subTest(path=path, words=words):
                got = ask(method, path, body)
                self.assertEqual((got[0], set(got[1]["error"])), (status, {"message", "type", "param", "code"}))
                self.assertIn(words, got[1]["error"]["message"])

    def test_too_many(self):
        error = self.refuses("RateLimitError", "come again later", prompt=["x"] * 13)
        self.assertEqual((error.status_code, error.code), (429, "rate_limit_exceeded"))

    def test_command_line(self):
        done = subprocess.run([sys.executable, "-m", "ingot.openai", FOLDER.name], env=environment(), capture_output=True, text=True)
        self.assertEqual((done.returncode, "no such model" in done.stderr), (1, True), done.stderr)


class Texts(unittest.TestCase):
    def test_with_a_tokenizer(self):
        import decoders
    
        folder = decoders.grouped(pathlib.Path(FOLDER.name, "text"))
        tokenizer(folder)
        generator = ingot.Generator(folder, slots=2, max_length=200)
        tokens = generator.generate(generator.encode("Hello"), max_new_tokens=60)
        whole = generator.decode(tokens)
        self.assertEqual("".join(pieces := list(generator.stream("Hello", max_new_tokens=60))), whole)
        self.assertGreater(len(pieces), 3)
        self.assertEqual(generator.generate(["Hello", [1, 2]], max_new_tokens=60)[0], whole)
        stop = whole[len(whole) // 2 :][:2]
        text = generator.stream("Hello", max_new_tokens=60, stop=stop)
        self.assertEqual(("".join(text), text.finish_reason), (whole.split(stop)[0], "stop"))
        with self.assertRaisesRegex(ingot.Error, "no chat template"):
            generator.conversation([{"role": "user", "content": "Hello"}])


class Page(unittest.TestCase):
    def test_the_guide(self):
        """The code of the page in its order, with a small model in the place of the one that it names, and its server on a port that is free."""
        text = PAGE.read_text()
        self.assertLess(len(text.splitlines()), 110, "two screens are enough")
        os.symlink(pathlib.Path(FOLDER.name, "tiny"), pathlib.Path(FOLDER.name, "qwen3"))
        before, process, names, count, port = os.getcwd(), None, {}, 0, 8000
        os.chdir(FOLDER.name)
        try:
            for code, command in re.findall(r"^```python\n(.*?)^```|^    (python -m ingot[^\n]*)$", text, re.M | re.S):
                if command:
                    process, port = serve(command.replace("--port 8000 ", "").split())
                else:
                    with contextlib.redirect_stdout(io.StringIO()) as said:
                        exec(compile(code.replace(":8000/", f":{port}/"), str(PAGE), "exec"), names)
                    self.assertGreater(len(said.getvalue()), 10)
                    count += 1
        finally:
            os.chdir(before)
            if process:
                process.terminate()
                process.wait(60)
        self.assertEqual((count, process is not None), (4, True))


if __name__ == "__main__":
    build, tests = package.command_line(__doc__)
    ingot = package.use(build)
    package.need("openai", "starlette", "uvicorn", "tokenizers", "jinja2")
    unittest.main(argv=[sys.argv[0], *tests])
