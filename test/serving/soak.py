"""A server under load does not grow: right and wrong requests by several clients, batches, and a model that is replaced once a second.

    soak.py --build build [--minutes 0.3] [--clients 4]

The server may grow in the first third of the time; after that by 24 MB at most, however long it goes on. By hand: --minutes 60.
"""
import argparse
import pathlib
import sys
import threading
import time

import faults
import kserve
import numpy as np
import server
from server import package

MOST_GROWTH = 24 << 20  # bytes, after the first third of the time
STEPS = 30


class Client(threading.Thread):
    def __init__(self, url, end, seed):
        super().__init__()
        self.url, self.end, self.rng, self.right, self.refused, self.wrong = url, end, np.random.default_rng(seed), 0, 0, []

    def run(self):
        from tritonclient.utils import InferenceServerException

        client = faults.grpc_client(self.url)
        while not self.end.is_set() and not self.wrong:
            rows = int(self.rng.integers(1, 40))
            x = self.rng.standard_normal((rows, 8)).astype(np.float32)
            for name, feeds in (("mlp", {"features": x}), ("batches", {"features": x}), ("mlp", {"features": x[:, :7].copy()})):
                try:
                    y = faults.ask(client, name, feeds)
                    if not np.allclose(y, x @ kserve.WEIGHTS, rtol=1e-3, atol=1e-4):
                        self.wrong.append(f"{name}: {y} for {x}")
                    self.right += 1
                except InferenceServerException as error:
                    self.refused += 1
                    if feeds["features"].shape[1] == 8:
                        self.wrong.append(str(error))
        client.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True), parser.add_argument("--minutes", type=float, default=0.3), parser.add_argument("--clients", type=int, default=4)
    given = parser.parse_args()
    package.use(given.build.resolve())
    server.need()
    with server.Server(given.build.resolve()) as running:
        running.add("mlp", kserve.mlp())
        running.add("batches", kserve.mlp(), max_batch_size=64, max_batch_time=0.002)
        running.start()
        end, sizes, url = threading.Event(), [], f"127.0.0.1:{running.grpc_port}"
        clients = [Client(url, end, seed) for seed in range(given.clients)]
        for client in clients:
            client.start()
        loader, next_load = faults.grpc_client(url), time.monotonic()
        for step in range(STEPS):
            until = time.monotonic() + given.minutes * 60 / STEPS
            while time.monotonic() < until:
                if time.monotonic() > next_load:
                    loader.load_model("mlp")
                    next_load = time.monotonic() + 1
                time.sleep(0.05)
            sizes.append(running.resident())
        end.set()
        for client in clients:
            client.join()
        loader.close()
        growth = max(sizes[2 * STEPS // 3 :]) - max(sizes[: STEPS // 3])
        right, refused, wrong = sum(each.right for each in clients), sum(each.refused for each in clients), [text for each in clients for text in each.wrong]
        say = f"{right} answers, {refused} refused; {sizes[0] / 1e6:.1f} MB at first, {sizes[STEPS // 3 - 1] / 1e6:.1f} MB after a third, {sizes[-1] / 1e6:.1f} MB at the end"
        print(say)
        if wrong or growth > MOST_GROWTH or not right or not refused:
            sys.exit("; ".join(wrong) or f"grew by {growth / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
