"""The examples of examples/ray, in a cluster of one machine: a deployment of Ray Serve, asked by HTTP and by its handle, and a data set of Ray Data.

    clusters.py --build build [NAMES OF TESTS]
"""
import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import urllib.request

import numpy as np
import server
from server import package

RNG = np.random.default_rng(1)
# Ray's processes may take minutes to start where other tests run.
PATIENCE = {"RAY_raylet_start_wait_time_s": "600", "RAY_DASHBOARD_STARTUP_TIMEOUT_S": "600", "RAY_agent_register_timeout_ms": "600000"}
WEIGHTS = RNG.standard_normal((8, 2)).astype(np.float32)


def example(name):
    """A script of examples/ray as a module."""
    spec = importlib.util.spec_from_file_location(name, package.ROOT / f"examples/ray/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Its classes go to the actors by value, which cannot import a file by this name.
    sys.modules[name] = module
    ray.cloudpickle.register_pickle_by_value(module)
    return module


class Clusters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="ingot-ray-"))
        cls.model = cls.folder / "mlp.onnx"
        weights = ", ".join(map(str, WEIGHTS.reshape(-1)))
        text = f"(float[batch, 8] features) => (float[batch, 2] scores) <float[8, 2] w = {{{weights}}}> {{ scores = MatMul(features, w) }}"
        cls.model.write_bytes(package.parse(text).SerializeToString())
        environment = {name: os.environ[name] for name in ("INGOT_PROGRAM", "INGOT_CACHE")}
        environment["PYTHONPATH"] = os.pathsep.join([str(BUILD / "python"), os.environ.get("PYTHONPATH", "")])
        ray.init(num_cpus=4, include_dashboard=False, runtime_env={"env_vars": environment}, logging_level="ERROR", object_store_memory=100 << 20)

    @classmethod
    def tearDownClass(cls):
        ray.shutdown()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def test_serve(self):
        from ray import serve

        port = server.free_ports(1)[0]
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        self.addCleanup(serve.shutdown)
        handle = example("serve_mlp").start(str(self.model))
        rows = RNG.standard_normal((24, 8)).astype(np.float32)
        answers = [handle.scores.remote(row) for row in rows]
        np.testing.assert_allclose([answer.result() for answer in answers], rows @ WEIGHTS, rtol=1e-4, atol=1e-5)
        request = urllib.request.Request(f"http://127.0.0.1:{port}/mlp", json.dumps(rows[0].tolist()).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            np.testing.assert_allclose(json.loads(answer.read()), rows[0] @ WEIGHTS, rtol=1e-4, atol=1e-5)

    def test_data(self):
        rows = RNG.standard_normal((1000, 8)).astype(np.float32)
        data = ray.data.from_items([{"number": number, "features": row} for number, row in enumerate(rows)])
        scored = sorted(example("batches").score(data, str(self.model)).take_all(), key=lambda row: row["number"])
        self.assertEqual(len(scored), 1000)
        np.testing.assert_allclose(np.stack([row["scores"] for row in scored]), rows @ WEIGHTS, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", type=pathlib.Path, required=True), arguments.add_argument("tests", nargs="*")
    given = arguments.parse_args()
    BUILD = given.build.resolve()
    package.use(BUILD)
    package.need("ray", "pyarrow")
    for name, value in PATIENCE.items():
        os.environ.setdefault(name, value)
    import ray

    unittest.main(argv=["clusters.py", *given.tests])
