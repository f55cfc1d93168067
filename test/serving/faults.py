"""What a server has to bear: more requests than it can answer, a model that is replaced, a worker that is killed, and its end.

    faults.py --build build [NAMES OF TESTS]
"""
import os
import signal
import threading
import time
import unittest

import numpy as np
import server
from server import package

# So many products of matrices: a run that takes as long as it is told to.
LOOP = """(int64 n, float[batch, 64] x) => (float[batch, 64] y) <float[1] small = {0.01}, int64[2] square = {64, 64}> {
    go = Constant<value = bool {1}>()
    m = Expand(small, square)
    y = Loop(n, go, x) <body = step (int64 i, bool c, float[b, 64] v) => (bool d, float[b, 64] w) { d = Identity(c) p = MatMul(v, m) w = Tanh(p) }>
}"""


def add(k):
    return package.parse(f"(float[batch, 4] x) => (float[batch, 4] y) <float[1] k = {{{k}}}> {{ y = Add(x, k) }}")


class Load:
    """Threads that ask for x + k until they are ended. `wrong` has the answers that are neither 1 nor 2 more than the question, `failed` the errors."""

    def __init__(self, served, threads=4):
        self.url, self.end, self.right, self.wrong, self.failed = f"127.0.0.1:{served.grpc_port}", threading.Event(), 0, [], []
        self.threads = [threading.Thread(target=self.work) for _ in range(threads)]
        for thread in self.threads:
            thread.start()

    def work(self):
        client, number = grpc_client(self.url), 0
        while not self.end.is_set():
            number += 1
            x = np.full((1, 4), number % 100, np.float32)
            try:
                y = ask(client, "add", {"x": x})
            except Exception as error:
                self.failed.append(str(error))
                time.sleep(0.01)
                continue
            self.right += 1
            if y.tolist() not in ((x + 1).tolist(), (x + 2).tolist()):
                self.wrong.append((x, y))
        client.close()

    def finish(self):
        self.end.set()
        for thread in self.threads:
            thread.join()


def grpc_client(url):
    import tritonclient.grpc

    return tritonclient.grpc.InferenceServerClient(url)


def ask(client, name, feeds):
    """The first output for arrays by name."""
    import tritonclient.grpc
    from tritonclient.utils import np_to_triton_dtype

    inputs = []
    for key, array in feeds.items():
        inputs.append(tritonclient.grpc.InferInput(key, list(array.shape), np_to_triton_dtype(array.dtype)))
        inputs[-1].set_data_from_numpy(array)
    answer = client.infer(name, inputs)
    return answer.as_numpy(answer.get_response().outputs[0].name)


def at_once(count, work):
    """The results of so many threads, which an exception is, too."""
    results = [None] * count

    def call(number):
        try:
            results[number] = work(number)
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=call, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    return threads, results


class Faults(unittest.TestCase):
    def serve(self, workers=0, **extra):
        served = server.Server(BUILD, workers)
        self.addCleanup(served.__exit__)
        served.add("add", add(1))
        served.add("loop", package.parse(LOOP), extra={"runs": 1, **extra})
        return served.start()

    def loop(self, served, turns):
        client = grpc_client(f"127.0.0.1:{served.grpc_port}")
        try:
            return ask(client, "loop", {"n": np.array(turns, np.int64), "x": np.zeros((1, 64), np.float32)})
        finally:
            client.close()

    def test_overload(self):
        """Beyond max_waiting requests are refused at once, by UNAVAILABLE and 503; those before are answered, and so are all when the rush is over."""
        for workers in (0, 1):
            with self.subTest(workers=workers):
                served = self.serve(workers, max_waiting=2)
                threads, results = at_once(12, lambda number: self.loop(served, 200_000))
                body = {"inputs": [{"name": "n", "datatype": "INT64", "shape": [], "data": [1]}, {"name": "x", "datatype": "FP32", "shape": [1, 64], "data": [0] * 64}]}
                answers = {served.call("/v2/models/loop/infer", body)[0] for _ in range(3)}
                for thread in threads:
                    thread.join()
                refused = [each for each in results if isinstance(each, Exception)]
                self.assertTrue(all("UNAVAILABLE" in str(each) and "max_waiting" in str(each) for each in refused), refused)
                self.assertTrue(1 <= len(refused) < len(results), f"{len(refused)} of {len(results)} refused")
                self.assertLessEqual(answers, {200, 503})
                self.assertEqual(self.loop(served, 1).shape, (1, 64))

    def test_rolling_reload(self):
        """No request is lost while the model is replaced again and again."""
        for workers in (0, 2):
            with self.subTest(workers=workers):
                served = self.serve(workers)
                load, client = Load(served), grpc_client(f"127.0.0.1:{served.grpc_port}")
                for turn in range(6):
                    served.add("add", add(turn % 2 + 1))
                    client.load_model("add")
                x = np.zeros((1, 4), np.float32)
                self.assertEqual(ask(client, "add", {"x": x}).tolist(), [[2] * 4])
                load.finish()
                client.close()
                self.assertEqual((load.failed, load.wrong), ([], []))
                self.assertGreater(load.right, 20)
                print(f"{load.right} requests answered during 6 reloads, {workers} workers")

    def test_a_failed_reload_leaves_the_old_model(self):
        from tritonclient.utils import InferenceServerException

        served = self.serve()
        client = grpc_client(f"127.0.0.1:{served.grpc_port}")
        served.add("add", package.parse("(float[2] x) => (float[2] y) { y = Nonsense(x) }"))
        with self.assertRaisesRegex(InferenceServerException, "Nonsense"):
            client.load_model("add")
        self.assertEqual(ask(client, "add", {"x": np.zeros((1, 4), np.float32)}).tolist(), [[1] * 4])
        client.close()

    def test_a_killed_worker(self):
        """MLServer starts another worker in place of one that is killed; what that one had under way are errors, and the server answers again."""
        served = self.serve(workers=2)
        load = Load(served)
        before = served.children()
        self.assertEqual(len(before), 2)
        time.sleep(1)
        os.kill(before[0], signal.SIGKILL)
        end = time.monotonic() + 60
        while time.monotonic() < end and (len(served.children()) < 2 or before[0] in served.children()):
            time.sleep(0.1)
        self.assertEqual(len(served.children()), 2)
        while time.monotonic() < end and served.text().count("is now ready") < 1:
            time.sleep(0.1)
        failed, right = len(load.failed), load.right
        time.sleep(2)
        load.finish()
        self.assertEqual(load.wrong, [])
        self.assertGreater(load.right, right)
        self.assertEqual(load.failed[failed:], [], "errors after the new worker was there")
        self.assertTrue(all("orker" in each for each in load.failed), load.failed[:3])
        self.assertEqual(self.loop(served, 10).shape, (1, 64))
        print(f"{load.right} requests answered, {len(load.failed)} errors while a worker was killed")

    def test_graceful_stop(self):
        """SIGTERM without workers of MLServer: what is under way is answered, and the exit code is 0."""
        served = self.serve()
        self.loop(served, 1)
        threads, results = at_once(3, lambda number: self.loop(served, 100_000))
        time.sleep(0.5)
        self.assertEqual(served.stop(), 0)
        for thread in threads:
            thread.join()
        self.assertEqual([getattr(each, "shape", each) for each in results], [(1, 64)] * 3)


if __name__ == "__main__":
    BUILD, tests = package.command_line(__doc__)
    ingot = package.use(BUILD)
    server.need()
    unittest.main(argv=["faults.py", *tests])
