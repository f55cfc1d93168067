"""Compiled models in NVIDIA's Triton server by serving/triton, asked by Triton's clients. The server is the one in the package nvidia-pytriton, which runs without a GPU.

    triton_server.py --build build [NAMES OF TESTS]
"""
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import kserve
import numpy as np
import server
from server import package

SECONDS = 60  # for the server to start
BATCHES = 'backend: "ingot" max_batch_size: 16 dynamic_batching { max_queue_delay_microseconds: 2000 }'
ALONE = 'backend: "ingot" instance_group [{ count: 2 }] parameters { key: "threads" value { string_value: "2" } }'
REDUCED = "(float[batch, 8] features) => (float[] sum) { sum = ReduceSum <keepdims = 0> (features) }"
SELECTED = "(float[batch, 8] features, int64[batch, 1] index) => (float[batch, 1] picked) { picked = GatherElements <axis = 1> (features, index) }"


def program():
    """The server that the package pytriton brings."""
    folder = pathlib.Path(importlib.util.find_spec("pytriton").origin).parent
    return folder / "tritonserver/bin/tritonserver"


class Triton(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import tritonclient.grpc
        import tritonclient.http

        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="ingot-triton-"))
        backend = cls.folder / "backends/ingot"
        backend.mkdir(parents=True)
        shutil.copy(BUILD / "serving/triton/libtriton_ingot.so", backend)
        types = [name for name in kserve.TYPES if name != "string"]
        ports = lambda sign: ", ".join(f"{name}[2] {sign}_{name}" for name in types)
        identities = f"({ports('x')}) => ({ports('y')}) {{ {' '.join(f'y_{name} = Identity(x_{name})' for name in types)} }}"
        cls.add("mlp", kserve.mlp(), BATCHES, 1)
        cls.add("mlp", kserve.mlp(2), BATCHES + " version_policy: { all {}}", 2)
        cls.add("types", package.parse(identities), ALONE, 1)
        cls.add("reduced", package.parse(REDUCED), ALONE, 1)
        cls.add("selected", package.parse(SELECTED), BATCHES, 1)
        cls.http_port, grpc_port, metrics = server.free_ports(3)
        given = {"model-repository": cls.folder / "models", "backend-directory": cls.folder / "backends", "http-port": cls.http_port, "grpc-port": grpc_port, "metrics-port": metrics}
        cls.log = open(cls.folder / "log", "w+")
        cls.process = subprocess.Popen([program(), *(f"--{name}={value}" for name, value in given.items())], stdout=cls.log, stderr=cls.log)
        cls.modules = {"http": tritonclient.http, "grpc": tritonclient.grpc}
        cls.clients = {"http": tritonclient.http.InferenceServerClient(f"127.0.0.1:{cls.http_port}"), "grpc": tritonclient.grpc.InferenceServerClient(f"127.0.0.1:{grpc_port}")}
        end = time.monotonic() + SECONDS
        while not cls.ready():
            if cls.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server does not start:\n{(cls.folder / 'log').read_text()[-4000:]}")
            time.sleep(0.1)

    @classmethod
    def add(cls, name, model, configuration, version):
        folder = cls.folder / "models" / name
        (folder / str(version)).mkdir(parents=True)
        ingot.compile(model, name=name).save(folder / str(version))
        (folder / "config.pbtxt").write_text(configuration)

    @classmethod
    def ready(cls):
        try:
            return cls.clients["http"].is_server_ready()
        except Exception:  # it does not listen yet
            return False

    @classmethod
    def tearDownClass(cls):
        for client in cls.clients.values():
            client.close()
        cls.process.terminate()
        code = cls.process.wait(60)
        cls.log.close()
        shutil.rmtree(cls.folder)
        assert code == 0, f"the server ended with {code}"

    def infer(self, protocol, name, feeds, version="", client=None):
        module = self.modules[protocol]
        inputs = []
        for key, array in feeds.items():
            kind = next(datatype for each, datatype in kserve.TYPES.items() if kserve.numpy_type(each) == array.dtype)
            inputs.append(module.InferInput(key, list(array.shape), kind))
            inputs[-1].set_data_from_numpy(array)
        return (client or self.clients[protocol]).infer(name, inputs, model_version=version)

    def test_metadata(self):
        """Inputs and outputs that config.pbtxt does not name are the model's."""
        facts = self.clients["grpc"].get_model_metadata("mlp", as_json=True)
        self.assertEqual(facts["inputs"], [{"name": "features", "datatype": "FP32", "shape": ["-1", "8"]}])
        self.assertEqual(facts["versions"], ["1", "2"])

    def test_types(self):
        """Every type that numpy and Triton have, there and back, by both protocols."""
        feeds = {f"x_{name}": np.array(kserve.VALUES[name], kserve.numpy_type(name)) for name in kserve.TYPES if name != "string"}
        for protocol in self.clients:
            answer = self.infer(protocol, "types", feeds)
            for name, array in feeds.items():
                np.testing.assert_array_equal(answer.as_numpy(name.replace("x_", "y_")), array)

    def test_versions(self):
        x = np.ones((1, 8), np.float32)
        for version in ("1", "2"):
            np.testing.assert_allclose(self.infer("grpc", "mlp", {"features": x}, version).as_numpy("scores"), x @ kserve.WEIGHTS * int(version), rtol=1e-5)

    def test_scalar(self):
        """An output without an axis is one of shape [1], which is what Triton has."""
        x = np.arange(16, dtype=np.float32).reshape(2, 8)
        np.testing.assert_allclose(self.infer("http", "reduced", {"features": x}).as_numpy("sum"), [x.sum()])

    def test_batches(self):
        """Requests that come at once share runs; each gets its own rows."""
        given = [np.random.default_rng(seed).standard_normal((1 + seed % 3, 8)).astype(np.float32) for seed in range(200)]
        with ThreadPoolExecutor(16) as threads:
            answers = list(threads.map(lambda x: self.infer("grpc", "mlp", {"features": x}, "1").as_numpy("scores"), given))
        for x, y in zip(given, answers):
            np.testing.assert_allclose(y, x @ kserve.WEIGHTS, rtol=1e-4, atol=1e-5)
        facts = self.clients["grpc"].get_inference_statistics("mlp", "1", as_json=True)["model_stats"][0]
        self.assertLess(int(facts["execution_count"]), int(facts["inference_count"]) / 2)

    def test_wrong_requests(self):
        """Errors are their sender's alone, also in a batch, and the server lives."""
        x = np.ones((2, 8), np.float32)
        for protocol in self.clients:
            for name, feeds in (("mlp", {"features": x[:, :7].copy()}), ("mlp", {}), ("mlp", {"features": x.astype(np.int64)}), ("mlp", {"wrong": x})):
                with self.assertRaises(Exception):
                    self.infer(protocol, name, feeds)
        with ThreadPoolExecutor(16) as threads:

            def ask(number):
                index = np.full((1, 1), 8 if number % 5 == 0 else number % 8, np.int64)
                try:
                    return self.infer("grpc", "selected", {"features": np.arange(8, dtype=np.float32).reshape(1, 8), "index": index}).as_numpy("picked").item()
                except Exception as error:
                    return str(error)

            answers = list(threads.map(ask, range(100)))
        for number, answer in enumerate(answers):
            if number % 5:
                self.assertEqual(answer, number % 8)
            else:
                self.assertIn("index", answer)
        self.assertTrue(self.ready())

    def test_metrics(self):
        self.infer("http", "reduced", {"features": np.ones((1, 8), np.float32)})
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}/v2/models/reduced/stats") as answer:
            self.assertGreater(json.load(answer)["model_stats"][0]["inference_stats"]["success"]["count"], 0)


if __name__ == "__main__":
    BUILD, tests = package.command_line(__doc__)
    ingot = package.use(BUILD)
    package.need("pytriton", "tritonclient", "geventhttpclient", "grpc")
    if not program().exists():
        print("skipped: the package pytriton brings no server")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *tests], verbosity=2)
