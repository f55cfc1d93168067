"""A compiled model as a deployment of Ray Serve: JSON by HTTP, and calls by a handle. Requests that come at once share a run.

    serve_mlp.py mlp.onnx
    curl -s localhost:8000/mlp --json '[1, 2, 3, 4, 5, 6, 7, 8]'

Every replica compiles the model when it starts, or takes it from ingot's cache; num_replicas of them run in processes of their own on any machine of the cluster."""
import sys
import time

import numpy as np
from ray import serve


@serve.deployment(num_replicas=1, max_ongoing_requests=64, ray_actor_options={"num_cpus": 1})
class Mlp:
    def __init__(self, path):
        import ingot

        self.model = ingot.compile(path, threads=1)

    @serve.batch(max_batch_size=32, batch_wait_timeout_s=0.002)
    async def scores(self, rows):
        return list(self.model(np.stack(rows)))

    async def __call__(self, request):
        row = np.array(await request.json(), np.float32)
        return (await self.scores(row)).tolist()


def start(path):
    """Starts the deployment and returns its handle."""
    return serve.run(Mlp.bind(path), name="mlp", route_prefix="/mlp")


if __name__ == "__main__":
    start(sys.argv[1])
    while True:
        time.sleep(60)
