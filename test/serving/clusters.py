"""examples/ray, on a cluster of Ray that this starts on the machine: the deployment of Ray Serve over HTTP, and the batches of Ray Data.

    clusters.py --build build
"""
import json
import os
import pathlib
import sys
import tempfile
import unittest
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import kserve
import numpy as np
import server
from server import package

EXAMPLES = package.ROOT / "examples/ray"
ROWS = 1000


class Clusters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import ray

        cls.folder = tempfile.TemporaryDirectory(prefix="ingot-ray-")
        cls.model = str(ingot.compile(kserve.mlp(), name="mlp").save(cls.folder.name).resolve())
        os.environ["MODEL"] = cls.model
        paths = os.pathsep.join([str(BUILD / "python"), str(EXAMPLES), os.environ.get("PYTHONPATH", "")])
        sys.path.insert(0, str(EXAMPLES))
        ray.init(address="local", num_cpus=3, include_dashboard=False, object_store_memory=100 << 20, runtime_env={"env_vars": {"PYTHONPATH": paths}}, log_to_driver=False)

    @classmethod
    def tearDownClass(cls):
        import ray

        ray.shutdown()
        cls.folder.cleanup()

    def test_deployment(self):
        """Requests of several rows each, at once: each gets its own rows; a wrong one is its sender's error alone."""
        import deployment
        from ray import serve

        (port,) = server.free_ports(1)
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        serve.run(deployment.app)

        def ask(rows):
            request = urllib.request.Request(f"http://127.0.0.1:{port}/", json.dumps(rows).encode(), {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)

        given = [np.random.default_rng(seed).standard_normal((1 + seed % 3, 8)).astype(np.float32) for seed in range(40)]
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda rows: ask(rows.tolist()), given))
            for wrong in ([[1, 2]], [], "rows", [["a"] * 8]):
                with self.assertRaises(urllib.error.HTTPError) as caught:
                    ask(wrong)
                self.assertEqual(caught.exception.code, 400)
        for rows, answer in zip(given, answers):
            np.testing.assert_allclose(answer, rows @ kserve.WEIGHTS, rtol=1e-4, atol=1e-5)
        serve.shutdown()

    def test_batches(self):
        """A data set in a file of Parquet, as lists, by two workers."""
        import batches
        import pandas
        import ray

        features = np.random.default_rng(1).standard_normal((ROWS, 8)).astype(np.float32)
        path = pathlib.Path(self.folder.name, "features.parquet")
        pandas.DataFrame({"number": range(ROWS), "features": list(features)}).to_parquet(path)
        found = {each["number"]: each["scores"] for each in batches.scored(self.model, ray.data.read_parquet(str(path))).iter_rows()}
        np.testing.assert_allclose([found[number] for number in range(ROWS)], features @ kserve.WEIGHTS, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    BUILD, tests = package.command_line(__doc__)
    ingot = package.use(BUILD)
    package.need("ray", "starlette", "pandas", "pyarrow")
    unittest.main(argv=[sys.argv[0], *tests], verbosity=2)
