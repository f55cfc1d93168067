"""ingot.from_torch and torch.compile(backend="ingot"): what is compiled gives what PyTorch gives, without copies; what cannot be runs in PyTorch, which is said once.

    pytorch.py --build build [NAMES OF TESTS]
"""
import concurrent.futures
import contextlib
import doctest
import importlib
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest
import warnings

import package

ENTRY = """\
import sys, warnings
import torch
warnings.simplefilter("error", RuntimeWarning)
assert "ingot" not in sys.modules
assert "ingot" in torch._dynamo.list_backends()
model = torch.nn.Linear(3, 2).eval()
x = torch.ones(4, 3)
with torch.no_grad():
    assert torch.allclose(torch.compile(model, backend="ingot")(x), model(x))
assert "ingot._dynamo" in sys.modules
"""


def said(call):
    """(result, texts of the warnings about what runs in PyTorch)"""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return result, [str(each.message) for each in caught if issubclass(each.category, ingot.FallbackWarning)]


def forget():
    """As in a new process: nothing is compiled, nothing was said."""
    torch._dynamo.reset()
    importlib.import_module("ingot._torch")._said.clear()


class Case(unittest.TestCase):
    def setUp(self):
        forget()
        torch.manual_seed(1)

    def same(self, got, want):
        self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape))
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5, check_stride=False)

    def compiled(self, model, *calls, fallbacks=(), **options):
        """Calls the compiled model, and the model itself; with `fallbacks`, parts of the messages that are expected."""
        function = torch.compile(model, backend=backend, options=options or None)
        texts = []
        for arguments in calls:
            got, more = said(lambda: function(*arguments))
            texts += more
            want = model(*arguments)
            for a, b in zip(*(each if isinstance(each, tuple) else (each,) for each in (got, want)), strict=True):
                self.same(a, b) if isinstance(b, torch.Tensor) else self.assertEqual(a, b)
        self.assertEqual(len(texts), len(fallbacks), texts)
        for text, words in zip(texts, fallbacks):
            self.assertIn(words, text)
        return function


class Small(torch.nn.Module if (torch := importlib.util.find_spec("torch") and importlib.import_module("torch")) else object):
    def __init__(self):
        super().__init__()
        self.linear, self.norm, self.drop = torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Dropout(0.5)
        self.norm.running_mean.uniform_(), self.norm.running_var.uniform_(1, 2)

    def forward(self, x):
        return self.drop(torch.relu(self.norm(self.linear(x))))


class Compile(Case):
    def test_without_gradients(self):
        with torch.no_grad():
            self.compiled(Small().eval(), [torch.randn(2, 4)], [torch.randn(2, 4)], [torch.randn(7, 4)], [torch.randn(9, 4)], accuracy="strict")
        forget()
        model = Small().eval()
        with torch.inference_mode():
            self.compiled(model, [torch.randn(2, 4)])
            self.compiled(Small().eval(), [torch.randn(2, 4)], fallbacks=["made in inference mode"])

    def test_open_sizes_are_compiled_once(self):
        made = count_codes()
        with torch.no_grad(), made:
            model = Small().eval()
            function = torch.compile(model, backend=backend, dynamic=True)
            for rows in (2, 3, 8):
                x = torch.randn(rows, 4)
                self.same(function(x), model(x))
        self.assertEqual(made.count, 1)

    def test_numbers_and_sizes(self):
        def scaled(x, n):
            y = x * n
            return y, y.shape[0], y.shape[0] * 2 + n, None

        with torch.no_grad():
            self.compiled(scaled, [torch.randn(2, 3), 2], [torch.randn(5, 3), 2], [torch.randn(6, 3), 3], [torch.randn(6, 3), 4])

    def test_changed_weights(self):
        model = Small().eval()
        x, made = torch.randn(2, 4), count_codes()
        with torch.no_grad(), made:
            function = self.compiled(model, [x])
            model.linear.weight.add_(1)
            self.same(function(x), model(x))
            model.load_state_dict(Small().state_dict())
            self.same(function(x), model(x))
            self.assertEqual(made.count, 3)
            model.linear.weight.mul_(2), model.linear.bias.zero_(), model.norm.running_mean.add_(1)
            self.same(function(x), model(x))
            self.assertEqual(made.count, 3, "weights that changed before are arguments")
            model.linear.weight.data = torch.randn(3, 4)
            self.same(function(x), model(x))

    def test_a_layer_for_all_of_its_instances(self):
        layers = [torch.nn.Linear(4, 4).eval() for _ in range(3)]
        x = torch.randn(2, 4)
        with torch.no_grad():
            want = layers[2](layers[1](layers[0](x)))
            for layer in layers:
                layer.compile(backend=backend)
            for _ in range(2):
                self.same(layers[2](layers[1](layers[0](x))), want)

    def test_gradients_run_in_pytorch(self):
        model = Small().train()
        function = torch.compile(model, backend=backend)
        x = torch.randn(8, 4)
        y, texts = said(lambda: function(x))
        y.sum().backward()
        self.assertIsNotNone(model.linear.weight.grad)
        self.assertEqual(len(texts), 1)
        self.assertIn("torch.no_grad()", texts[0])
        self.assertEqual(said(lambda: torch.compile(Small().train(), backend=backend)(x))[1], [], "the same reason is said once")
        with torch.no_grad():
            self.compiled(model.eval(), [x])

    def test_training_without_gradients(self):
        with torch.no_grad():
            model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3)).train()
            before = model[1].running_mean.clone()
            self.compiled(model, [torch.randn(8, 4)], fallbacks=["changes the buffer"])
            self.assertFalse(torch.equal(model[1].running_mean, before))
            y, texts = said(lambda: torch.compile(torch.nn.Dropout(0.5).train(), backend=backend)(torch.ones(1000)))
            self.assertTrue(200 < int((y == 0).sum()) < 800)
            self.assertIn("random", texts[0])

    def test_what_drops_nothing(self):
        """Attention and recurrent layers have a tag that says they draw numbers, which they do with a probability alone."""
        attention = lambda drop: lambda x: torch.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=drop)
        with torch.no_grad():
            self.compiled(attention(0.0), [torch.randn(1, 2, 3, 4)])
            model = torch.nn.LSTM(4, 3, num_layers=2, dropout=0.5, batch_first=True).eval()
            made = ingot.from_torch(lambda x: model(x)[0], (x := torch.randn(2, 5, 4),), fallback=False)
            self.same(made(x), model(x)[0])
            with self.assertRaisesRegex(ingot.Error, "random"):
                ingot.from_torch(attention(0.5), (torch.randn(1, 2, 3, 4),), fallback=False)

    def test_what_is_no_function(self):
        def adds(x):
            x.add_(1)
            return x * 2

        def views(x):
            return x * 2, x.reshape(-1)[1:]

        with torch.no_grad():
            x = torch.zeros(3)
            _, texts = said(lambda: torch.compile(adds, backend=backend)(x))
            self.assertEqual((x.tolist(), len(texts)), ([1, 1, 1], 1))
            x = torch.zeros(2, 2)
            (_, view), texts = said(lambda: torch.compile(views, backend=backend)(x))
            self.assertIn("lies in the memory", texts[0])
            view.add_(1)
            self.assertEqual(x.tolist(), [[0, 1], [1, 1]])

    def test_what_the_exporter_refuses(self):
        def solves(a):
            return torch.linalg.eigvalsh(a) + 1

        with torch.no_grad():
            self.compiled(solves, [torch.eye(3)], [torch.eye(3) * 2], fallbacks=["exporter refuses"])
            forget()
            with self.assertRaisesRegex(ingot.Error, "exporter refuses"):
                torch.compile(solves, backend=backend, options={"fallback": False})(torch.eye(3))

    def test_what_ingot_refuses(self):
        with torch.no_grad():
            self.compiled(Small().eval(), [torch.randn(2, 4)], fallbacks=["no target is called 'abacus'"], target="abacus")

    def test_threads(self):
        model = Small().eval()
        function = torch.compile(model, backend=backend)
        inputs = [torch.randn(4, 4) for _ in range(8)]
        with torch.no_grad():
            want = [model(x) for x in inputs]
            function(inputs[0])  # PyTorch's exporter does not bear other threads that call modules

        def run(number):
            with torch.no_grad():
                return function(inputs[number % 8])

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for number, got in enumerate(pool.map(run, range(64))):
                self.same(got, want[number % 8])


class count_codes:
    """How often graphs were compiled."""

    def __enter__(self):
        import ingot._dynamo as module

        self.count, self.module, self.own = 0, module, module.export
        module.export = self.export

    def export(self, *arguments):
        self.count += 1
        return self.own(*arguments)

    def __exit__(self, *error):
        self.module.export = self.own


class FromTorch(Case):
    def test_arguments_and_results(self):
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(4, 3)

            def forward(self, x, factor=1, *, mask=None, unused=None):
                y = self.linear(x) * factor
                z = torch.where(mask, y, 0)
                return {"y": y, "again": [y, None, 3], "z": z, "x": x}

        model, open_rows = Model().eval(), {0: "rows"}
        x, mask = torch.randn(2, 4), torch.rand(2, 3) > 0.5
        made = ingot.from_torch(model, (x, 2), {"mask": mask}, dynamic_shapes={"x": open_rows, "factor": None, "mask": open_rows})
        self.assertIsNone(made.reason)
        for rows in (2, 5):
            x, mask = torch.randn(rows, 4), torch.rand(rows, 3) > 0.5
            with torch.no_grad():
                got, want = made(x, 2, mask=mask), model(x, 2, mask=mask)
            self.assertEqual(list(got), list(want))
            for name in ("y", "z", "x"):
                self.same(got[name], want[name])
            self.assertIs(got["again"][0], got["y"])
            self.assertEqual(got["again"][1:], [None, 3])
        with self.assertRaisesRegex(ValueError, "was 2 when"):
            made(x, 3, mask=mask)
        with self.assertRaisesRegex(TypeError, "other arguments"):
            made(x, 2)
        with self.assertRaises(ingot.ShapeError):
            made(x, 2, mask=mask[:2])

    def test_types_and_memory(self):
        from ingot._exported import to_array, to_tensor

        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int32, torch.int64, torch.bool, torch.float8_e4m3fn):
            with self.subTest(str(dtype)):
                x = torch.tensor([[0, 1, 2], [3, 4, 6]]).to(dtype)
                array = to_array(x)
                self.assertEqual(array.__array_interface__["data"][0], x.data_ptr())
                self.assertEqual(to_tensor(array, dtype).data_ptr(), x.data_ptr())
                made = ingot.from_torch(lambda x: x.t().contiguous(), (x,), fallback=False)
                got = made(x)
                self.assertEqual((got.dtype, got.shape), (dtype, (3, 2)))
                self.assertTrue(torch.equal(got.to(torch.float32), x.t().to(torch.float32)))
        made = ingot.from_torch(lambda x, y: x + y, (torch.zeros(2, 3), torch.tensor(1.0)), fallback=False)
        self.same(made(torch.ones(3, 2).t(), torch.tensor(2.0)), torch.full((2, 3), 3.0))

    def test_in_pytorch(self):
        class Random(torch.nn.Module):
            def forward(self, x):
                return x + torch.rand_like(x)

        made, texts = said(lambda: ingot.from_torch(Random(), (torch.zeros(3),)))
        self.assertIsNone(made.model)
        self.assertIn("Random runs in PyTorch", texts[0])
        self.assertEqual(made(torch.zeros(3)).shape, (3,))
        with self.assertRaisesRegex(ingot.Error, "random"):
            ingot.from_torch(Random(), (torch.zeros(3),), fallback=False)
        made = ingot.from_torch(torch.nn.Tanh(), (torch.zeros(3),), fallback=False)
        x = torch.zeros(3, requires_grad=True)
        y, texts = said(lambda: made(x))
        y.sum().backward()
        self.assertEqual((x.grad.tolist(), len(texts)), ([1, 1, 1], 1))

    def test_files(self):
        model = Small().eval()
        made = ingot.from_torch(model, (torch.randn(2, 4),), name="small", fallback=False)
        x = torch.randn(2, 4)
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            self.same(torch.from_numpy(ingot.load(made.model.save(folder))(x)), model(x))

    def test_weights_beside_the_model(self):
        import ingot._exported as module

        own, module.LARGEST_MESSAGE = module.LARGEST_MESSAGE, 16
        try:
            model, x = Small().eval(), torch.randn(2, 4)
            made = ingot.from_torch(model, (x,), fallback=False)
            with torch.no_grad():
                self.same(made(x), model(x))
        finally:
            module.LARGEST_MESSAGE = own


@contextlib.contextmanager
def entry_point():
    """A folder on the path with the entry points of pyproject.toml, as an installed package has them."""
    project = tomllib.loads((package.ROOT / "python/pyproject.toml").read_text())["project"]
    with tempfile.TemporaryDirectory() as folder:
        facts = pathlib.Path(folder, "ingot-0.dist-info")
        facts.mkdir()
        (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: ingot\nVersion: 0\n")
        points = [f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in each.items()) for group, each in project["entry-points"].items()]
        (facts / "entry_points.txt").write_text("\n".join(points))
        sys.path.insert(0, folder)
        yield folder
        sys.path.remove(folder)


class Package(unittest.TestCase):
    def run_python(self, code, *path):
        environment = {**os.environ, "HERE": str(path[0]) if path else "", "PYTHONPATH": os.pathsep.join([*map(str, path), *filter(None, sys.path)])}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_ingot_imports_no_pytorch(self):
        self.run_python("import ingot, sys; assert 'torch' not in sys.modules and 'sklearn' not in sys.modules")

    def test_the_entry_point(self):
        with entry_point() as folder:
            self.run_python(ENTRY, folder)

    def test_the_guide(self):
        with entry_point() as folder:
            self.run_python("import os, warnings\nos.chdir(os.environ['HERE'])\nwarnings.simplefilter('error', RuntimeWarning)\n" + package.code("PyTorch"), folder)

    def test_doctests(self):
        result = doctest.testmod(importlib.import_module("ingot._torch"))
        self.assertEqual(result.failed, 0)
        self.assertGreater(result.attempted, 0)


if __name__ == "__main__":
    build, tests = package.command_line(__doc__)
    ingot = package.use(build)
    package.need("torch", "onnxscript")
    from ingot._torch import backend

    unittest.main(argv=[sys.argv[0], *tests])
