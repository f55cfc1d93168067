"""ingot.Generator on small decoders of random weights: tokens beside onnxruntime's, slots, sampling, what ends a text, text from tokens, threads, errors.

    generator.py --build build [NAMES OF TESTS]

models of PyTorch and of ONNX Runtime's model builder are those of languages.py, the server that of endpoint.py."""
import concurrent.futures
import doctest
import importlib
import json
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import package

FOLDER = tempfile.TemporaryDirectory(prefix="ingot-generator-")
PROMPTS = [[5, 17, 42], [1], list(range(2, 90)), [7, 7, 7, 7, 7, 7], [319, 0, 13, 8], list(range(60, 20, -1)), [11, 12]]


def setUpModule():
    import decoders

    global grouped, concatenated
    grouped = decoders.grouped(pathlib.Path(FOLDER.name, "grouped"), config={"model": {"context_length": 512, "eos_token_id": [], "decoder": {"filename": "model.onnx"}}})
    concatenated = decoders.concatenated(pathlib.Path(FOLDER.name, "concatenated"))


class BesideOnnxruntime(unittest.TestCase):
    def compare(self, folder, slots):
        import decoders

        generator = ingot.Generator(folder, slots=slots, max_length=300)
        for prompt in PROMPTS[:3]:
            self.assertEqual(generator.generate(prompt, max_new_tokens=200), decoders.expected(folder, prompt, 200))
        return generator

    def test_200_tokens_with_grouped_queries(self):
        for slots in (1, 2):
            self.assertTrue(self.compare(grouped, slots)._decoder.ragged)

    def test_200_tokens_with_concatenated_caches(self):
        generator = self.compare(concatenated, 1)
        self.assertIn("one after the other", repr(generator))

    def test_several_at_once(self):
        import decoders

        for folder in (grouped, concatenated):
            want = [decoders.expected(folder, prompt, 40 + 7 * number) for number, prompt in enumerate(PROMPTS)]
            generator = ingot.Generator(folder, slots=3, max_length=200)
            generator._decoder.chunk = 16  # so that some prompts are read in parts between the tokens of others
            texts = [generator.tokens(prompt, max_new_tokens=40 + 7 * number) for number, prompt in enumerate(PROMPTS)]
            last = [next(texts[-1])]  # the last one waits for a slot: others are written meanwhile
            self.assertEqual(generator.waiting, 0)
            self.assertEqual([list(text) for text in texts[:-1]] + [last + list(texts[-1])], want)

    def test_caches_stay_where_they_are(self):
        generator = ingot.Generator(grouped, slots=2, max_length=64)
        caches = generator._decoder._caches
        self.assertEqual({each.name: each.in_place_of for each in generator.model.outputs}["present.1.value"], "past_key_values.1.value")
        places = [each.ctypes.data for each in caches]
        generator.generate([1, 2, 3], max_new_tokens=5)
        self.assertEqual([each.ctypes.data for each in caches], places)
        written = [int(np.any(each[0] != 0, axis=(0, 2)).sum()) for each in caches]
        self.assertEqual(written, [7] * len(caches))  # of the prompt, and of the tokens but the last one


class Slots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.generator = ingot.Generator(grouped, slots=2, max_length=128)

    def test_a_slot_is_free_when_a_text_is_closed_or_dropped(self):
        started = [self.generator.tokens([each]) for each in (1, 2)]
        self.assertEqual([next(each) >= 0 for each in started], [True, True])
        started[0].close()
        self.assertEqual((started[0].finish_reason, list(started[0])), ("cancelled", []))
        del started[1]
        self.assertEqual(len(self.generator.generate([[3], [4], [5]], max_new_tokens=4)), 3)

    def test_threads(self):
        want = [self.generator.generate(prompt, max_new_tokens=30) for prompt in PROMPTS]
        with concurrent.futures.ThreadPoolExecutor(len(PROMPTS)) as pool:
            got = list(pool.map(lambda prompt: self.generator.generate(prompt, max_new_tokens=30), PROMPTS))
        self.assertEqual(got, want)

    def test_a_run_that_fails_is_told_to_all_and_the_next_one_works(self):
        started = [self.generator.tokens([each], max_new_tokens=3) for each in (1, 2)]
        decoder, step = self.generator._decoder, self.generator._decoder.step
        decoder.step = lambda *_: (_ for _ in ()).throw(MemoryError("none left"))
        try:
            for each in started:
                with self.assertRaisesRegex(MemoryError, "none left"):
                    next(each)
        finally:
            decoder.step = step
        self.assertEqual(len(self.generator.generate([1], max_new_tokens=3)), 3)


class Ends(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.generator = ingot.Generator(grouped, max_length=32)
        cls.tokens = cls.generator.generate([5, 17], max_new_tokens=20)

    def test_stop_tokens(self):
        last = self.tokens[6]
        text = self.generator.tokens([5, 17], stop_tokens=[last])
        self.assertEqual(list(text), self.tokens[: self.tokens.index(last)])
        self.assertEqual((text.finish_reason, text.prompt), ("stop", [5, 17]))

    def test_those_of_the_model(self):
        import decoders

        config = {"model": {"context_length": 64, "eos_token_id": [self.tokens[4]], "decoder": {"filename": "model.onnx", "inputs": {"input_ids": "input_ids"}}}}
        config["search"] = {"do_sample": True, "temperature": 0.5, "top_k": 1}
        generator = ingot.Generator(decoders.grouped(pathlib.Path(FOLDER.name, "ends"), config=config))
        self.assertEqual((generator.max_length, generator.stop_tokens, generator.sampling.temperature), (64, (self.tokens[4],), 0.5))
        self.assertEqual(generator.generate([5, 17]), self.tokens[: self.tokens.index(self.tokens[4])])  # top_k = 1 is greedy

    def test_lengths(self):
        for prompt, most, count in ([5, 17], 3, 3), ([5, 17], None, 30), ([1] * 31, None, 1):
            text = self.generator.tokens(prompt, max_new_tokens=most)
            self.assertEqual((len(list(text)), text.finish_reason, len(text.produced)), (count, "length", count))

    def test_refused(self):
        for words, prompt, options in (
            ("32 tokens, and the generator has room for 32", [1] * 32, {}),
            ("empty", [], {}),
            ("320 is none of the model's 320 tokens", [320], {}),
            ("-1 is none", [-1], {}),
            ("max_new_tokens: 0", [1], {"max_new_tokens": 0}),
            ("temperature: -1", [1], {"temperature": -1}),
            ("top_p: 2", [1], {"top_p": 2}),
            ("top_k: -1", [1], {"top_k": -1}),
            ("repetition_penalty: 0", [1], {"repetition_penalty": 0}),
            ("seed: -1", [1], {"seed": -1}),
        ):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                self.generator.tokens(prompt, **options)
        with self.assertRaisesRegex(FileNotFoundError, "tokenizer.json"):
            self.generator.generate("text")
        with self.assertRaisesRegex(TypeError, "nonsense"):
            self.generator.tokens([1], nonsense=1)

    def test_models_that_are_no_decoders(self):
        import onnx

        folder = pathlib.Path(FOLDER.name, "none")
        folder.mkdir()
        with self.assertRaisesRegex(FileNotFoundError, "no such model"):
            ingot.Generator(folder)
        for name in ("one", "two"):
            onnx.save(package.parse("(float[N] x) => (float[N] y) { y = Neg(x) }"), folder / f"{name}.onnx")
        with self.assertRaisesRegex(ingot.Error, "has several models, one.onnx, two.onnx"):
            ingot.Generator(folder)
        with self.assertRaisesRegex(ingot.Error, "'x' is neither tokens, mask, positions nor a cache"):
            ingot.Generator(folder / "one.onnx")
        (folder / "genai_config.json").write_text("{")
        with self.assertRaisesRegex(ingot.Error, "is no JSON"):
            ingot.Generator(folder / "one.onnx")
        for options in ({"slots": 0}, {"max_length": 1}, {"max_length": 1024}):
            with self.assertRaisesRegex(ValueError, list(options)[0]):
                ingot.Generator(grouped, **options)


class Samples(unittest.TestCase):
    def test_frequencies(self):
        from ingot._sampling import Sampler, Sampling

        scores = np.float32([2, 1, 0.5, -1, -3])
        parts = lambda scores: np.exp(scores) / np.exp(scores).sum()
        want = {"all": parts(scores), "cold": parts(scores / 0.5), "three": np.append(parts(scores[:3]), [0, 0]), "nucleus": np.append(parts(scores[:2]), [0, 0, 0])}
        how = {"all": {"temperature": 1}, "cold": {"temperature": 0.5}, "three": {"temperature": 1, "top_k": 3}, "nucleus": {"temperature": 1, "top_p": 0.7}}
        for name, options in how.items():
            with self.subTest(name):
                sampler = Sampler(Sampling(seed=1, **options))
                counts = np.bincount([sampler.pick(scores) for _ in range(20000)], minlength=5)
                self.assertTrue(np.all(np.abs(counts / 20000 - want[name]) < 0.015), (counts, want[name]))
                self.assertTrue(np.all((counts > 0) <= (want[name] > 0)))

    def test_repetition_beside_a_formula(self):
        from ingot._sampling import Sampler, Sampling

        scores = np.float32([1.5, -1, 1.4, 1])
        sampler = Sampler(Sampling(repetition_penalty=1.2), prompt=[1])
        self.assertEqual([sampler.pick(scores) for _ in range(3)], [0, 2, 0])  # 1.5/1.2 = 1.25 < 1.4; then 1.25 > 1.4/1.2
        np.testing.assert_array_equal(scores, np.float32([1.5, -1, 1.4, 1]))

    def test_seeds(self):
        generator = ingot.Generator(grouped, slots=3, max_length=64)
        draw = lambda seed: generator.generate([3, 4], temperature=1.5, seed=seed, max_new_tokens=25)
        self.assertEqual(draw(1), draw(1))
        self.assertNotEqual(draw(1), draw(2))
        self.assertNotEqual(draw(None), draw(None))
        started = [generator.tokens([3, 4], temperature=1.5, seed=seed, max_new_tokens=25) for seed in (9, 1, 8)]
        self.assertEqual([list(each) for each in started][1], draw(1))  # whatever is written beside it


class Texts(unittest.TestCase):
    def test_pieces_do_not_cut_characters(self):
        from ingot._text import Detokenizer

        rng = np.random.default_rng(1)
        text = "".join(rng.choice(list("aä€😀 नमस्ते"), 400)).encode()
        decode = lambda tokens: b"".join(bytes([token]) for token in tokens).decode(errors="replace")
        detokenizer = Detokenizer(decode)
        pieces = [detokenizer.push(token) for token in text] + [detokenizer.flush()]
        self.assertEqual("".join(pieces).encode(), text)
        self.assertNotIn("\ufffd", "".join(pieces))
        broken = Detokenizer(decode)
        self.assertEqual("".join([broken.push(token) for token in b"a\xff\xffb\xe2\x82"] + [broken.flush()]), decode(b"a\xff\xffb\xe2\x82"))

    def test_stop_texts(self):
        from ingot._text import Stops

        text = "abcabdabcabcabd"
        for stop in ("abcabd", "d", "zz", "abcabcabd", "c"):
            for size in (1, 2, 5, 15):
                stops = Stops([stop, ""])
                got = "".join(stops.push(text[at : at + size]) for at in range(0, len(text), size)) + stops.flush()
                self.assertEqual((got, stops.found), (text.split(stop)[0], stop in text))


def load_tests(loader, tests, pattern):
    for name in ("ingot._generator", "ingot._sampling", "ingot._text"):
        tests.addTests(doctest.DocTestSuite(importlib.import_module(name)))
    return tests


if __name__ == "__main__":
    build, tests = package.command_line(__doc__)
    ingot = package.use(build)
    unittest.main(argv=[sys.argv[0], *tests])
