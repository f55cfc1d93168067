"""The Python package in the build folder: arguments and their errors, types, sizes, outputs given and made, sequences, threads, child processes, saving and loading,
the cache, InferenceSession beside onnxruntime, and the doctests.

    run.py --build build [NAMES OF TESTS]
"""
import array
import concurrent.futures
import doctest
import gc
import importlib
import os
import pathlib
import pickle
import resource
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np
import package

FLOATS = np.float32([1, 2, 3])


def compiled(text, **options):
    return ingot.compile(package.parse(text), **options)


class Arguments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.add = compiled("(float[N] a, int64[N] b) => (float[N] c) { f = Cast<to = 1>(b) c = Add(a, f) }")
        cls.two = compiled("(float[N] x) => (float[N] y, float[N] z) { y = Neg(x) z = Abs(x) }")

    def refuses(self, error, words, *given, model=None, **named):
        with self.assertRaisesRegex(error, words):
            (model or self.add)(*given, **named)

    def test_places_and_names(self):
        for given in (self.add(FLOATS, [1, 2, 3]), self.add(b=[1, 2, 3], a=FLOATS), self.add(FLOATS, b=np.int64([1, 2, 3])), self.add.run({"a": FLOATS, "b": [1, 2, 3]})["c"]):
            np.testing.assert_array_equal(given, np.float32([2, 4, 6]))

    def test_wrong_arguments(self):
        self.refuses(TypeError, "'b' is not given", FLOATS)
        self.refuses(TypeError, "takes 2 inputs", FLOATS, FLOATS, FLOATS)
        self.refuses(TypeError, "no input 'd'", FLOATS, d=1)
        self.refuses(TypeError, "'a' is given twice", FLOATS, a=FLOATS)
        self.refuses(TypeError, "'a' is float32, and was given float64", np.float64([1]), [1])
        self.refuses(TypeError, "no input 'd'", model=lambda: self.add.run({"d": 1}))
        self.refuses(ValueError, "input 'b': a shape is not the model's", FLOATS, [1, 2])
        self.refuses(ingot.ShapeError, "input 'a'", FLOATS[None], [1, 2, 3])
        self.refuses(TypeError, "dictionary with sizes", FLOATS, [1, 2, 3], sizes={"M": 3})
        self.refuses(TypeError, "integer", FLOATS, [1, 2, 3], sizes={self.add.symbols[0].name: "three"})

    def test_memory_of_inputs(self):
        want = np.float32([2, 4, 6])
        for x in (array.array("f", FLOATS), memoryview(FLOATS), np.float32([1, 0, 2, 0, 3])[::2], np.frombuffer(b"-" + FLOATS.tobytes(), np.float32, offset=1), Lent(FLOATS)):
            np.testing.assert_array_equal(self.add(x, [1, 2, 3]), want)

    def test_given_outputs(self):
        out = np.empty(3, np.float32)
        self.assertIs(self.add(FLOATS, [1, 1, 1], out=out), out)
        np.testing.assert_array_equal(out, np.float32([2, 3, 4]))
        y, z = self.two(FLOATS, out={"z": out})
        self.assertIs(z, out)
        y, z = self.two(FLOATS, out=[None, Lent(out)])
        np.testing.assert_array_equal(out, FLOATS)
        self.refuses(ValueError, r"shape \(3,\)", FLOATS, [1, 2, 3], out=np.empty(4, np.float32))
        self.refuses(TypeError, "float32, and was given int32", FLOATS, [1, 2, 3], out=np.empty(3, np.int32))
        self.refuses(TypeError, "has 1 outputs", FLOATS, [1, 2, 3], out=[out, out])
        self.refuses(TypeError, "is no output", FLOATS, [1, 2, 3], out={"d": out})
        self.refuses(ValueError, "writeable", FLOATS, [1, 2, 3], out=np.frombuffer(bytes(12), np.float32))
        self.refuses(ValueError, "lies in the memory of 'y'", FLOATS, out=[out, out], model=self.two)
        mixed = compiled("(float[4] x) => (float[4] y) { two = Constant<value_ints = [1, 0, 3, 2]>() y = Gather(x, two) }")
        self.assertIsNone(mixed.outputs[0].in_place_of)
        x = np.zeros(4, np.float32)
        self.refuses(ValueError, "lies in the memory of 'x'", x, out=x, model=mixed)

    def test_references_are_given_back(self):
        x, b = np.float32([1, 2, 3]), np.int64([1, 2, 3])
        before = sys.getrefcount(x), sys.getrefcount(b)
        for _ in range(20):
            self.add(x, b)
            with self.assertRaises(ValueError):
                self.add(x, b[:2])
        self.assertEqual((sys.getrefcount(x), sys.getrefcount(b)), before)
        x.resize(4, refcheck=False)  # no buffer is held


class Lent:
    """An array by DLPack alone, as other libraries have them."""

    def __init__(self, own):
        self.own = own

    def __dlpack__(self, **options):
        return self.own.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.own.__dlpack_device__()


class Types(unittest.TestCase):
    def test_every_type_comes_back(self):
        from ingot._tensors import numpy_type

        names = "float float16 double int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool bfloat16 float8e4m3fn float8e5m2 int4 uint4 float4e2m1".split()
        for name in names:
            with self.subTest(name):
                model = compiled(f"({name}[2, 3] x) => ({name}[3, 2] y) {{ y = Transpose(x) }}")
                x = np.array([[0, 1, 2], [3, 4, 6]]).astype(numpy_type(model.inputs[0].type))
                y = model(x)
                self.assertEqual((y.dtype, y.shape), (x.dtype, (3, 2)))
                np.testing.assert_array_equal(y.astype(np.float32), x.T.astype(np.float32))

    def test_negative_packed(self):
        import ml_dtypes

        x = np.array([-8, 7, -1]).astype(ml_dtypes.int4)
        np.testing.assert_array_equal(compiled("(int4[3] x) => (int4[3] y) { y = Identity(x) }")(x).astype(int), [-8, 7, -1])

    def test_strings(self):
        model = compiled('(string[N] s) => (string[N] t) { k = Constant<value_string = "!">() t = StringConcat(s, k) }')
        self.assertEqual(model(["a", "", "ä"]).tolist(), ["a!", "!", "ä!"])
        self.assertEqual(model(np.array([b"x", "y"], object)).tolist(), ["x!", "y!"])
        self.assertEqual(model([]).shape, (0,))
        with self.assertRaisesRegex(TypeError, "made by the run"):
            model(["a"], out=np.empty(1, object))

    def test_scalars(self):
        y = compiled("(float x) => (float y) { y = Neg(x) }")(3)
        self.assertEqual((y.shape, float(y)), ((), -3))


class Sizes(unittest.TestCase):
    def test_found_and_allocated(self):
        found = compiled("(float[N] x) => (int64[1, M] i) { i = NonZero(x) }")
        np.testing.assert_array_equal(found([0, 1, 0, 2]), [[1, 3]])
        self.assertEqual(found(np.zeros(5, np.float32)).shape, (1, 0))
        text = "(int64 n) => (int64[M] i) { z = Constant<value_int = 0>() o = Constant<value_int = 1>() i = Range(z, n, o) }"
        allocated = compiled(text)
        for n in (0, 1, 1000):
            np.testing.assert_array_equal(allocated(n), np.arange(n))

    def test_dims(self):
        model = compiled("(float[N] x) => (float[N] y) { y = Neg(x) }", dims={"N": [1, 8]})
        self.assertEqual(model([1]).tolist(), [-1])
        with self.assertRaises(ingot.RunError):
            model([1, 2, 3])
        model = compiled("(float[N] x) => (float[N] y) { y = Neg(x) }", dims={"N": range(1, 5)})
        self.assertEqual(model.symbols, (ingot.Symbol("N", 1, 4),))
        with self.assertRaisesRegex(ingot.ShapeError, "'x'"):
            model([1, 2, 3, 4, 5])
        self.assertEqual(compiled("(float[N] x) => (float[N] y) { y = Neg(x) }", shapes={"x": (2,)}).inputs[0].shape, (2,))

    def test_cache_of_a_language_model(self):
        text = "(float[1, P, 4] past, float[1, 1, 4] new) => (float[1, Q, 4] present) { present = Concat<axis = 1>(past, new) }"
        model = compiled(text, flags=["--cache", "past=present", "--cache-room", 8])
        self.assertEqual(model.outputs[0].in_place_of, "past")
        rows = np.zeros((1, 8, 4), np.float32)
        for step in range(8):
            self.assertIs(model(rows, np.full((1, 1, 4), step, np.float32), out=rows, sizes={"P": step}), rows)
        np.testing.assert_array_equal(rows[0, :, 0], np.arange(8))

    def test_sequences(self):
        model = compiled("(seq(float[2]) s) => (float[K] y) { y = ConcatFromSequence<axis = 0>(s) }", sequences={"s": 2})
        self.assertEqual(model([[1, 2], [3, 4]]).tolist(), [1, 2, 3, 4])
        with self.assertRaisesRegex(ValueError, "sequence of 2"):
            model([[1, 2]])
        model = compiled("(float[N] x) => (seq(float[M]) s) { k = Constant<value_int = 2>() s = SplitToSequence<axis = 0>(x, k) }")
        self.assertEqual([each.tolist() for each in model([1, 2, 3, 4, 5])], [[1, 2], [3, 4], [5]])


class Errors(unittest.TestCase):
    def test_compilation(self):
        with self.assertRaisesRegex(ingot.CompileError, r"node 'y' \(Nonsense, opset 21\)") as caught:
            compiled("(float[N] x) => (float[N] y) { y = Nonsense(x) }")
        self.assertEqual(caught.exception.exit_code, 1)
        for wrong, words in ((b"no model", "not an ONNX model"), ("/nowhere.onnx", "No such file")):
            with self.assertRaisesRegex(ingot.CompileError, words):
                ingot.compile(wrong)
        with self.assertRaisesRegex(TypeError, "not int"):
            ingot.compile(3)
        with self.assertRaisesRegex(ingot.CompileError, "no target is called 'abacus'"):
            compiled("(float[N] x) => (float[N] y) { y = Neg(x) }", target="abacus")

    def test_run(self):
        model = compiled("(float[4] x, int64[2] i) => (float[2] picked) { picked = Gather(x, i) }")
        with self.assertRaisesRegex(ingot.RunError, "node 'picked'") as caught:
            model([1, 2, 3, 4], [0, 9])
        self.assertEqual((caught.exception.kind, caught.exception.number), ("index", 0))
        with self.assertRaises(TypeError):
            pickle.dumps(model)


class Files(unittest.TestCase):
    def test_save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            weights = f"(float[1, 32] x) => (float[1, 32] y) <float[32, 32] w = {{{', '.join(map(str, range(1024)))}}}> {{ y = MatMul(x, w) }}"
            for flags in ([], ["--weights", "file"]):
                path = compiled(weights, name="scaled", flags=flags).save(folder)
                self.assertEqual(path, pathlib.Path(folder, "scaled.json"))
                model = ingot.load(path)
                model.save(folder)  # onto itself
                self.assertEqual(model([[1] + [0] * 31]).tolist(), [list(range(32))])
            pathlib.Path(folder, "scaled.weights").write_bytes(bytes(8))
            with self.assertRaisesRegex(ingot.Error, "scaled.weights"):
                ingot.load(path)
            pathlib.Path(folder, "scaled.so").unlink()
            with self.assertRaises(FileNotFoundError):
                ingot.load(path)

    def test_machines(self):
        text = "(float[2] x) => (float[2] y) { y = Neg(x) }"
        levels = compiled(text, levels=["x86-64-v2", "x86-64-v3"])
        self.assertEqual(levels([1, 2]).tolist(), [-1, -2])
        with tempfile.TemporaryDirectory() as folder:
            path = compiled(text, target="x86-64-v2", name="old").save(folder)
            self.assertEqual(ingot.load(path)([1, 2]).tolist(), [-1, -2])
            path.write_text(path.read_text().replace("x86-64-v2", "x86-64-v9"))
            with self.assertRaisesRegex(ingot.Error, "for x86-64-v9, and this machine"):
                ingot.load(path)

    def test_the_cache(self):
        import onnx

        with tempfile.TemporaryDirectory() as folder:
            model = package.parse("(float[2] x) => (float[2] y) { y = Neg(x) }")
            for _ in range(2):
                ingot.compile(model, cache=folder)
            self.assertEqual(len([path for path in pathlib.Path(folder).rglob("artifacts")]), 1)
            path = pathlib.Path(folder, "neg.onnx")
            onnx.save(model, path)
            ingot.compile(path, cache=folder)
            ingot.compile(str(path), cache=False)
            with self.assertWarnsRegex(RuntimeWarning, "are not kept"):
                ingot.compile(path, cache=path / "below a file")


class Reports(unittest.TestCase):
    def test_report_and_profile(self):
        model = compiled("(float[N, 4] x) => (float[N, 4] y) { s = Softmax(x) y = Exp(s) }")
        page = model.report()
        self.assertIn("Softmax", page.text)
        self.assertIn("srcdoc", page._repr_html_())
        times = model.profile(seconds=0.05, sizes={"N": 16})
        self.assertGreater(times["median_us"], 0)
        self.assertIn("s (Softmax)", [node for kernel in times["profile"] for node in kernel["nodes"]])
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(ingot.Error, "was loaded"):
            ingot.load(model.save(folder)).report()


class Threads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        weights = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)
        text = f"(float[N, 64] x) => (float[N, 64] y) <float[64, 64] w = {{{', '.join(map(str, weights.reshape(-1)))}}}> {{ p = MatMul(x, w) q = Tanh(p) y = MatMul(q, w) }}"
        cls.model = compiled(text)

    def test_many_threads_on_one_model(self):
        rng = np.random.default_rng(2)
        inputs = [rng.standard_normal((rows, 64)).astype(np.float32) for rows in (1, 3, 64, 200)]
        want = [self.model(x).tobytes() for x in inputs]
        work = lambda number: all(self.model(inputs[(number + k) % 4]).tobytes() == want[(number + k) % 4] for k in range(200))
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            self.assertTrue(all(pool.map(work, range(10))))
            pool_size = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            gc.collect()
            before = pool_size()
            self.assertTrue(all(pool.map(work, range(40))))
        self.assertLess(pool_size() - before, 20_000, "KB more after four times the runs")

    def test_one_thread_gives_the_same_bits(self):
        x = np.random.default_rng(3).standard_normal((300, 64)).astype(np.float32)
        many = self.model(x).tobytes()
        self.model.threads = 1
        self.assertEqual(self.model(x).tobytes(), many)
        self.model.threads = 0

    def test_a_child_process(self):
        x = np.ones((256, 64), np.float32)
        want = self.model(x).tobytes()
        child = os.fork()
        if child == 0:
            os._exit(0 if self.model(x).tobytes() == want else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Sessions(unittest.TestCase):
    def test_beside_onnxruntime(self):
        import onnxruntime

        text = "(float[N] x, int64[N] i) => (float[N] y, int64[N] j) { f = Cast<to = 1>(i) y = Add(x, f) j = Neg(i) }"
        data = package.parse(text).SerializeToString()
        feed = {"x": np.float32([1, 2, 3]), "i": np.int64([4, 5, 6])}
        ours, theirs = (kind(data, providers=["CPUExecutionProvider"]) for kind in (ingot.InferenceSession, onnxruntime.InferenceSession))
        for names in (None, [], ["j"], ["j", "y"]):
            got, want = ours.run(names, feed), theirs.run(names, feed)
            self.assertEqual(len(got), len(want))
            for a, b in zip(got, want):
                self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
                np.testing.assert_allclose(a, b, rtol=1e-6)
        facts = lambda all: [(each.name, each.type, each.shape) for each in all]
        self.assertEqual(facts(ours.get_inputs()), facts(theirs.get_inputs()))
        self.assertEqual(facts(ours.get_outputs()), facts(theirs.get_outputs()))
        self.assertEqual(ours.get_providers(), theirs.get_providers())
        self.assertEqual(ours.get_modelmeta().graph_name, theirs.get_modelmeta().graph_name)
        for names, wrong in ((None, {"x": feed["x"]}), (None, {**feed, "z": feed["i"]}), (["z"], feed), (None, {**feed, "x": np.float64([1, 2, 3])})):
            for session in (ours, theirs):
                with self.assertRaises(Exception):
                    session.run(names, wrong)

    def test_what_the_file_declares(self):
        """Names of sizes, maps and sequences as onnxruntime says them; what the file leaves open has no name."""
        import onnx
        import onnxruntime

        floats = onnx.TensorProto.FLOAT
        tensor = lambda name, shape: onnx.helper.make_tensor_value_info(name, floats, shape)
        sequence = onnx.helper.make_tensor_sequence_value_info("s", floats, None)
        one = onnx.numpy_helper.from_array(np.float32([1]), "one")
        nodes = [onnx.helper.make_node("Mul", ["x", "one"], ["y"]), onnx.helper.make_node("SplitToSequence", ["y"], ["s"], axis=0)]
        nodes += [onnx.helper.make_node("ZipMap", ["y"], ["m"], domain="ai.onnx.ml", classlabels_int64s=[7, 5, 3])]
        kind = onnx.TypeProto()
        kind.sequence_type.elem_type.map_type.key_type = onnx.TensorProto.INT64
        kind.sequence_type.elem_type.map_type.value_type.tensor_type.elem_type = floats
        outputs = [tensor("y", ["rows", None]), sequence, onnx.helper.make_value_info("m", kind)]
        graph = onnx.helper.make_graph(nodes, "declared", [tensor("x", ["rows", 3]), tensor("one", [1])], outputs, [one], doc_string="a graph")
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8, producer_name="test")
        onnx.helper.set_model_props(model, {"author": "\u00e4"})
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.onnx")
            onnx.save(model, path)
            ours, theirs = (kind(path, providers=["CPUExecutionProvider"]) for kind in (ingot.InferenceSession, onnxruntime.InferenceSession))
        facts = lambda all: [(each.name, each.type, each.shape) for each in all]
        self.assertEqual(facts(ours.get_inputs()), facts(theirs.get_inputs()))
        self.assertEqual(facts(ours.get_outputs()), facts(theirs.get_outputs()))
        texts = lambda meta: (meta.producer_name, meta.graph_name, meta.domain, meta.description, meta.version, meta.custom_metadata_map)
        self.assertEqual(texts(ours.get_modelmeta()), texts(theirs.get_modelmeta()))
        feed = {"x": np.float32([[1, 2, 3], [4, 5, 6]])}
        for a, b in zip(ours.run(None, feed), theirs.run(None, feed)):
            np.testing.assert_equal(a, b)

    def test_maps_as_inputs(self):
        import onnx

        value = onnx.TypeProto()
        value.map_type.key_type = onnx.TensorProto.STRING
        value.map_type.value_type.tensor_type.elem_type = onnx.TensorProto.FLOAT
        node = onnx.helper.make_node("DictVectorizer", ["words"], ["x"], domain="ai.onnx.ml", string_vocabulary=["b", "a", "c"])
        result = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 3])
        graph = onnx.helper.make_graph([node], "g", [onnx.helper.make_value_info("words", value)], [result])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8)
        session = ingot.InferenceSession(model.SerializeToString())
        self.assertEqual((session.get_inputs()[0].name, session.get_inputs()[0].type), ("words", "map(string,tensor(float))"))
        self.assertEqual(session.run(None, {"words": {"a": 2.0, "b": 3.0}})[0].tolist(), [[3, 2, 0]])

    def test_options(self):
        options = ingot.SessionOptions()
        options.intra_op_num_threads = 1
        options.add_free_dimension_override_by_name("N", 2)
        session = ingot.InferenceSession(package.parse("(float[N] x) => (float[N] y) { y = Neg(x) }").SerializeToString(), options)
        self.assertEqual((session.get_inputs()[0].shape, session.model.threads), ([2], 1))
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(ingot.InferenceSession(session.model.save(folder)).run(None, {"x": [1, 2]})[0].tolist(), [-1, -2])


class Quantizing(unittest.TestCase):
    def test_data(self):
        """Samples in all forms say the same; what is written is what the command writes."""
        text = "(float[1, 4] a, float[1, 4] b) => (float[1, 2] y) <float[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}> { s = Add(a, b) y = MatMul(s, w) }"
        draw = np.random.default_rng(3)
        samples = [{"a": draw.normal(size=(1, 4)).astype(np.float32), "b": draw.normal(size=(4, 1)).T} for _ in range(5)]  # float64, in another order
        with tempfile.TemporaryDirectory() as folder:
            place, files = pathlib.Path(folder), []
            for number, sample in enumerate(samples):
                files.append(place / f"{number}.npz")
                np.savez(files[-1], **sample)
            reports = []
            for data in samples, iter(samples), lambda: (sample for sample in samples), files:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)
                    reports.append(ingot.quantize(package.parse(text), place / "q.onnx", data))
                self.assertEqual((reports[-1]["samples"], [layer["quantized"] for layer in reports[-1]["layers"]]), (5, [True]))
                self.assertEqual({key: reports[-1]["layers"][0][key] for key in ("low", "high", "cosine")}, {key: reports[0]["layers"][0][key] for key in ("low", "high", "cosine")})
            result = ingot.compile(place / "q.onnx")(samples[0]["a"], samples[0]["b"].astype(np.float32))
            np.testing.assert_allclose(result, compiled(text)(samples[0]["a"], samples[0]["b"].astype(np.float32)), atol=0.3)
            with self.assertWarnsRegex(RuntimeWarning, "converted|float64"):
                ingot.quantize(package.parse(text), place / "q.onnx", samples)
            alone = "(float[1, 4] a) => (float[1, 2] y) <float[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}> { y = MatMul(a, w) }"
            self.assertEqual(ingot.quantize(package.parse(alone), place / "q.onnx", [sample["a"] for sample in samples], flags=["--method", "min-max"])["method"], "min-max")
            self.assertEqual(ingot.quantize(package.parse(alone), place / "q.onnx", scheme="int8-dynamic")["samples"], 0)

    def test_errors(self):
        dense = package.parse("(float[1, 4] a) => (float[1, 2] y) <float[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}> { y = MatMul(a, w) }")
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder, "q.onnx")
            for error, words, data in ((ValueError, "there is no sample", []), (ingot.CompileError, "ranges are those of values", None), (ingot.CompileError, "shape", [np.zeros((1, 5), np.float32)])):
                with self.assertRaisesRegex(error, words):
                    ingot.quantize(dense, place, data)
            self.assertFalse(place.exists())


class Texts(unittest.TestCase):
    def test_doctests(self):
        for name in ("ingot", "ingot._compile", "ingot._model", "ingot._quantize", "ingot._session", "ingot.backend", "ingot.onnxruntime"):
            result = doctest.testmod(importlib.import_module(name))
            self.assertEqual(result.failed, 0, name)
            self.assertGreater(result.attempted, 0, name)

    def test_command_line(self):
        environment = {**os.environ, "PYTHONPATH": sys.path[0]}
        said = subprocess.run([sys.executable, "-m", "ingot", "--version"], env=environment, capture_output=True, text=True, check=True).stdout
        self.assertIn(ingot.__version__, said)


if __name__ == "__main__":
    build, tests = package.command_line(__doc__)
    ingot = package.use(build)
    unittest.main(argv=[sys.argv[0], *tests])
