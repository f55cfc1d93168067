"""KServe's protocol v2 as python/mlserver serves it, asked by Triton's clients over HTTP and gRPC.

    kserve.py --build build [NAMES OF TESTS]
"""
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import numpy as np
import server
from server import package

RNG = np.random.default_rng(1)
WEIGHTS = RNG.standard_normal((8, 2)).astype(np.float32)
TYPES = {"bool": "BOOL", "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64", "int8": "INT8", "int16": "INT16", "int32": "INT32", "int64": "INT64"}
TYPES |= {"float16": "FP16", "float": "FP32", "double": "FP64", "string": "BYTES"}
VALUES = {"bool": [True, False], "float16": [0.5, -65504], "float": [1.5, -3e38], "double": [0.1, -1e300], "string": ["", "\u00e4 b"]}
VALUES |= {f"{sign}int{bits}": [0 if sign else -(2 ** (bits - 1)), 2 ** (bits - (not sign)) - 1] for sign in ("", "u") for bits in (8, 16, 32, 64)}


def numpy_type(name):
    return {"float": np.dtype(np.float32), "double": np.dtype(np.float64), "string": np.dtype(object)}.get(name) or np.dtype(name)


def mlp(scale=1):
    weights = ", ".join(map(str, (WEIGHTS * np.float32(scale)).reshape(-1)))
    return package.parse(f"(float[batch, 8] features) => (float[batch, 2] scores) <float[8, 2] w = {{{weights}}}> {{ scores = MatMul(features, w) }}")


def identities():
    """A model that gives back a tensor of each type."""
    ports = lambda sign: ", ".join(f"{name}[2] {sign}_{name}" for name in TYPES)
    return package.parse(f"({ports('x')}) => ({ports('y')}) {{ {' '.join(f'y_{name} = Identity(x_{name})' for name in TYPES)} }}")


PICKED = "(float[rows, 4] x, int64[rows, 1] i) => (float[rows, 1] picked) { picked = GatherElements <axis = 1> (x, i) }"
SQUARE = "(float[a, b] x, float[b, a] y) => (float[a, a] z, float[] sum) { z = MatMul(x, y) sum = ReduceSum <keepdims = 0> (z) }"


def repository(build):
    served = server.Server(build)
    served.add("mlp", mlp(), version="1")
    served.add("mlp", mlp(2), version="2")
    served.add("types", identities())
    served.add("square", package.parse(SQUARE), extra={"max_bytes": 4000})
    served.add("picked", package.parse(PICKED), max_batch_size=8, max_batch_time=0.05)
    served.add("variants", mlp(), extra={"dims": {"batch": [1, 4]}}, max_batch_size=16, max_batch_time=0.05)
    served.add("bounded", mlp(), extra={"dims": {"batch": "1..4"}})
    served.add("sums", implementation="other_runtime.Sums")
    folder = served.add("compiled")
    ingot.compile(mlp(3), name="three").save(folder)
    return served


class Served(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import tritonclient.grpc
        import tritonclient.http

        cls.server = repository(BUILD).start()
        cls.modules = {"http": tritonclient.http, "grpc": tritonclient.grpc}
        urls = {"http": f"127.0.0.1:{cls.server.http_port}", "grpc": f"127.0.0.1:{cls.server.grpc_port}"}
        cls.clients = {name: module.InferenceServerClient(urls[name]) for name, module in cls.modules.items()}

    @classmethod
    def tearDownClass(cls):
        for client in cls.clients.values():
            client.close()
        cls.server.__exit__()

    def infer(self, protocol, name, feeds, datatypes=None, outputs=None, version="", shapes=None):
        """The answer of Triton's client for arrays by name."""
        module, inputs = self.modules[protocol], []
        for key, array in feeds.items():
            datatype = (datatypes or {}).get(key) or module.InferInput.__init__.__globals__["np_to_triton_dtype"](array.dtype)
            inputs.append(module.InferInput(key, list(array.shape), datatype))
            inputs[-1].set_data_from_numpy(array, **({"binary_data": False} if protocol == "http" else {}))
            if shapes and key in shapes:
                inputs[-1].set_shape(shapes[key])
        wanted = [module.InferRequestedOutput(key, **({"binary_data": False} if protocol == "http" else {})) for key in outputs] if outputs else None
        return self.clients[protocol].infer(name, inputs, model_version=version, outputs=wanted)

    def both(self, *arguments, **named):
        """(protocol, answer) by each."""
        for protocol in self.clients:
            with self.subTest(protocol):
                yield protocol, self.infer(protocol, *arguments, **named)

    def refused(self, pattern, protocol, *arguments, **named):
        from tritonclient.utils import InferenceServerException

        with self.subTest(pattern, protocol=protocol), self.assertRaisesRegex(InferenceServerException, pattern):
            self.infer(protocol, *arguments, **named)
        self.assertTrue(self.clients[protocol].is_server_live())

    def post(self, name, inputs, **more):
        """(status, answer) of a request as JSON."""
        status, text = self.server.call(f"/v2/models/{name}/infer", {"inputs": inputs, **more})
        return status, json.loads(text) if text[:1] in b"{[" else text

    def test_health(self):
        for client in self.clients.values():
            self.assertTrue(client.is_server_live() and client.is_server_ready() and client.is_model_ready("mlp") and client.is_model_ready("mlp", "1"))
        self.assertFalse(self.clients["http"].is_model_ready("nobody"))

    def test_metadata(self):
        self.assertEqual(self.clients["http"].get_server_metadata()["name"], "mlserver")
        self.assertEqual(self.clients["grpc"].get_server_metadata().name, "mlserver")
        http = self.clients["http"].get_model_metadata("mlp")
        self.assertEqual(http["inputs"], [{"name": "features", "datatype": "FP32", "shape": [-1, 8]}])
        self.assertEqual(http["outputs"], [{"name": "scores", "datatype": "FP32", "shape": [-1, 2]}])
        grpc = self.clients["grpc"].get_model_metadata("types", as_json=True)
        self.assertEqual({each["name"]: each["datatype"].removeprefix("Datatype.") for each in grpc["inputs"]}, {f"x_{name}": datatype for name, datatype in TYPES.items()})
        self.assertEqual(self.clients["grpc"].get_model_metadata("square").outputs[1].shape, [])

    def test_answers(self):
        x = RNG.standard_normal((3, 8)).astype(np.float32)
        for _, answer in self.both("mlp", {"features": x}, version="1"):
            np.testing.assert_allclose(answer.as_numpy("scores"), x @ WEIGHTS, rtol=1e-5, atol=1e-5)
        for _, answer in self.both("mlp", {"features": x}):
            np.testing.assert_allclose(answer.as_numpy("scores"), x @ WEIGHTS * 2, rtol=1e-5, atol=1e-5)
        for _, answer in self.both("compiled", {"features": x}, outputs=["scores"]):
            np.testing.assert_allclose(answer.as_numpy("scores"), x @ WEIGHTS * 3, rtol=1e-5, atol=1e-5)
        y = np.ascontiguousarray(x.T)
        for _, answer in self.both("square", {"y": y, "x": x}, outputs=["sum"]):
            np.testing.assert_allclose(answer.as_numpy("sum"), (x @ y).sum(), rtol=1e-4)
            self.assertIsNone(answer.as_numpy("z"))
        for _, answer in self.both("mlp", {"features": x[:0]}):
            self.assertEqual(answer.as_numpy("scores").shape, (0, 2))

    def test_every_datatype(self):
        feeds = {f"x_{name}": np.array([text.encode() for text in VALUES[name]] if name == "string" else VALUES[name], numpy_type(name)) for name in TYPES}
        datatypes = {f"x_{name}": datatype for name, datatype in TYPES.items()}
        answer = self.infer("grpc", "types", feeds, datatypes)
        for name in TYPES:
            self.assertEqual(answer.get_output(f"y_{name}").datatype, TYPES[name])
            np.testing.assert_array_equal(answer.as_numpy(f"y_{name}"), feeds[f"x_{name}"], name)
        status, answer = self.post("types", [{"name": f"x_{name}", "datatype": TYPES[name], "shape": [2], "data": VALUES[name]} for name in TYPES])
        self.assertEqual(status, 200, answer)
        for output in answer["outputs"]:
            name = output["name"].removeprefix("y_")
            self.assertEqual((output["datatype"], output["shape"]), (TYPES[name], [2]))
            want = VALUES[name] if name == "string" else np.array(VALUES[name], numpy_type(name)).tolist()
            self.assertEqual(output["data"], want, name)

    def test_data_as_lists(self):
        x = RNG.standard_normal((2, 8)).astype(np.float32)
        flat, nested = x.reshape(-1).tolist(), x.tolist()
        for data in (flat, nested):
            status, answer = self.post("mlp", [{"name": "features", "datatype": "FP32", "shape": [2, 8], "data": data}], id="mine")
            self.assertEqual((status, answer["id"], answer["model_name"], answer["model_version"]), (200, "mine", "mlp", "2"))
            np.testing.assert_allclose(np.reshape(answer["outputs"][0]["data"], (2, 2)), x @ WEIGHTS * 2, rtol=1e-5, atol=1e-5)

    def test_wrong_requests(self):
        x = np.zeros((2, 8), np.float32)
        for protocol in self.clients:
            self.refused("no input 'feature'", protocol, "mlp", {"feature": x})
            self.refused("is missing", protocol, "square", {"x": x})
            self.refused("is FP32, and was given FP64", protocol, "mlp", {"features": x.astype(np.float64)})
            self.refused(r"has the shape \[.*\], and was given \[2, 7\]", protocol, "mlp", {"features": x[:, :7].copy()})
            self.refused("has the shape", protocol, "mlp", {"features": x[0]})
            self.refused("no output 'score'", protocol, "mlp", {"features": x}, outputs=["score"])
            self.refused("'a' is 3, and 2 of another input", protocol, "square", {"x": x, "y": np.zeros((8, 3), np.float32)})
            self.refused("from 1 to 4 in the model", protocol, "bounded", {"features": np.zeros((5, 8), np.float32)})
            self.refused("4000 are taken", protocol, "square", {"x": np.zeros((30, 30), np.float32), "y": np.zeros((30, 30), np.float32)})
            self.refused("lies outside", protocol, "picked", {"x": np.zeros((1, 4), np.float32), "i": np.full((1, 1), 9)})
            self.refused("not found", protocol, "nobody", {"x": x})
            self.refused("not found", protocol, "mlp", {"features": x}, version="9")

    def test_wrong_json(self):
        tensor = {"name": "features", "datatype": "FP32", "shape": [1, 8], "data": [0] * 8}
        for change, pattern in (
            ({"data": [0] * 7}, "7 elements"),
            ({"shape": [10**9, 8]}, "bytes, and"),
            ({"shape": [-1, 8]}, "has the shape"),
            ({"data": ["0"] * 8}, "element of type str"),
            ({"data": [[0] * 4, [0] * 4]}, "nested"),
            ({"data": [[0] * 7]}, "nested"),
            ({"data": [1e39] * 8}, "overflow"),
            ({"data": "text"}, "no list"),
            ({"parameters": {"content_type": "base64"}}, "content type"),
        ):
            status, answer = self.post("mlp", [{**tensor, **change}])
            self.assertEqual(status, 400, answer)
            self.assertRegex(answer["error"], pattern)
        status, answer = self.post("mlp", [tensor, tensor])
        self.assertEqual((status, answer["error"]), (400, "input 'features' is given twice"))
        whole = [{"name": f"x_{name}", "datatype": TYPES[name], "shape": [2], "data": VALUES[name]} for name in TYPES]
        for name, value, pattern in (("uint8", 256, "out of bounds"), ("int64", 1.5, "type float"), ("bool", 1, "type int"), ("string", 1, "type int"), ("float16", 1e5, "overflow")):
            status, answer = self.post("types", [{**each, "data": [value, value]} if each["name"] == f"x_{name}" else each for each in whole])
            self.assertEqual(status, 400, answer)
            self.assertRegex(answer["error"], pattern)
        for body in (b"{", b"[]", b'{"inputs": 3}', b'{"inputs": [{"name": "features", "datatype": "FP33", "shape": [1], "data": [1]}]}'):
            self.assertEqual(self.server.call("/v2/models/mlp/infer", body)[0], 422)
        self.assertEqual(self.server.call("/v2/health/live")[0], 200)

    def test_other_runtimes(self):
        """A runtime that is not ingot's sees the lists of numbers that MLServer documents, also where raw contents stay arrays for ingot's."""
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        for protocol in self.clients:
            np.testing.assert_array_equal(self.infer(protocol, "sums", {"x": x}).as_numpy("sums"), [[15], [15]])

    def test_wrong_bytes(self):
        """Raw contents of gRPC that are not as long as the shape says, and the binary form of HTTP, which MLServer does not read: errors, and the server lives."""
        import grpc
        from tritonclient.grpc import service_pb2, service_pb2_grpc

        with grpc.insecure_channel(f"127.0.0.1:{self.server.grpc_port}") as channel:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            for raw in ([], [b"123"], [b"1234" * 7]):
                request = service_pb2.ModelInferRequest(model_name="mlp", raw_input_contents=raw)
                tensor = request.inputs.add(name="features", datatype="FP32", shape=[1, 8])
                with self.assertRaises(grpc.RpcError) as caught:
                    stub.ModelInfer(request)
                self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
            tensor.contents.fp32_contents.extend([1] * 8)
            request.ClearField("raw_input_contents")
            answer = stub.ModelInfer(request)
            np.testing.assert_allclose(answer.outputs[0].contents.fp32_contents, np.ones(8, np.float32) @ WEIGHTS * 2, rtol=1e-5)
        http = self.modules["http"]
        tensor = http.InferInput("features", [1, 8], "FP32")
        tensor.set_data_from_numpy(np.zeros((1, 8), np.float32), binary_data=True)
        with self.assertRaises(Exception):
            self.clients["http"].infer("mlp", [tensor])
        self.assertTrue(self.clients["http"].is_server_live())

    def test_batches(self):
        """Requests at once are right, share runs, and do not suffer from a wrong one among them."""
        runs = lambda name: self.metric(f'ingot_run_rows_count{{model_name="{name}",model_version=""}}')
        for name in ("variants", "picked"):
            before = runs(name)
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                for problem in pool.map(lambda rows, name=name: self.one_of_many(name, rows), [rows % 6 + 1 for rows in range(32)]):
                    self.assertEqual(problem, "")
            self.assertLess(runs(name) - before, 32 if name == "picked" else 32 * 4)

    def one_of_many(self, name, rows):
        rng = np.random.default_rng(rows)
        if name == "variants":
            x = rng.standard_normal((rows, 8)).astype(np.float32)
            got, want = self.infer("grpc", name, {"features": x}).as_numpy("scores"), x @ WEIGHTS
        else:
            x, i = rng.standard_normal((rows, 4)).astype(np.float32), rng.integers(0, 4, (rows, 1))
            feeds = {"x": x, "i": i if rows != 4 else i + 10}
            try:
                got, want = self.infer("grpc", name, feeds).as_numpy("picked"), np.take_along_axis(x, i, 1)
            except Exception as error:
                return "" if rows == 4 and "lies outside" in str(error) else str(error)
        return "" if got.shape == want.shape and np.allclose(got, want, rtol=1e-4, atol=1e-5) else f"{rows} rows: {got} and not {want}"

    def metric(self, name):
        status, text = self.server.call("/metrics", port=self.server.metrics_port)
        self.assertEqual(status, 200)
        found = re.search(rf"^{re.escape(name)} (\S+)$", text.decode(), re.M)
        return float(found.group(1)) if found else 0

    def test_metrics(self):
        before = self.metric('model_infer_request_success_total{model="types",version="None"}')
        self.test_every_datatype()
        self.assertGreater(self.metric('model_infer_request_success_total{model="types",version="None"}'), before)
        self.assertGreater(self.metric('ingot_request_seconds_count{model_name="types",model_version=""}'), 0)

    def test_repository(self):
        """Index, load and unload; a model that cannot be served is an error that says why, and the others are served on."""
        from tritonclient.utils import InferenceServerException

        names = lambda: {each.name for each in self.clients["grpc"].get_model_repository_index().models}
        self.assertIn("types", names())
        self.assertIn("types", {each["name"] for each in json.loads(self.server.call("/v2/repository/index", {})[1])})
        for protocol, client in self.clients.items():
            self.server.add("later", mlp())
            client.load_model("later")
            self.assertTrue(client.is_model_ready("later"))
            x = np.ones((1, 8), np.float32)
            first = self.infer(protocol, "later", {"features": x}).as_numpy("scores")
            self.server.add("later", mlp(4))
            client.load_model("later")
            np.testing.assert_allclose(self.infer(protocol, "later", {"features": x}).as_numpy("scores"), first * 4, rtol=1e-5)
            client.unload_model("later")
            self.refused("not found", protocol, "later", {"features": x})
            for what, pattern in self.broken():
                with self.subTest(pattern, protocol=protocol), self.assertRaisesRegex(InferenceServerException, pattern):
                    client.load_model(what)
            self.assertTrue(client.is_server_live() and client.is_model_ready("mlp"))

    def broken(self):
        """(name, message) of models that are not served."""
        add = self.server.add
        add("nonsense", package.parse("(float[2] x) => (float[2] y) { y = Nonsense(x) }"))
        add("slip", mlp(), extra={"max_byte": 1})
        add("few", mlp(), extra={"max_waiting": 0})
        add("brain", package.parse("(bfloat16[2] x) => (bfloat16[2] y) { y = Identity(x) }"))
        add("alone", package.parse("(float[8] x) => (float[8] y) { y = Exp(x) }"), max_batch_size=4, max_batch_time=0.1)
        add("empty")
        yield "nonsense", "Nonsense"
        yield "slip", "no 'max_byte'"
        yield "few", "'max_waiting' is a number from 1"
        yield "brain", "no datatype"
        yield "alone", "no first axis in common"
        yield "empty", "neither an .onnx nor"


class Package(unittest.TestCase):
    def test_wheel(self):
        """pip makes a wheel of python/mlserver that has its modules."""
        with tempfile.TemporaryDirectory() as name:
            shutil.copytree(package.ROOT / "python/mlserver", f"{name}/source", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
            command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", name, f"{name}/source"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            wheel = next(pathlib.Path(name).glob("ingot_mlserver-*-py3-none-any.whl"))
            files = {each for each in zipfile.ZipFile(wheel).namelist() if each.startswith("ingot_mlserver/")}
        self.assertEqual(files, {f"ingot_mlserver/{path.name}" for path in (package.ROOT / "python/mlserver/ingot_mlserver").iterdir() if path.is_file()})


if __name__ == "__main__":
    BUILD, tests = package.command_line(__doc__)
    ingot = package.use(BUILD)
    server.need()
    unittest.main(argv=["kserve.py", *tests])
