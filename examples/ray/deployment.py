"""A compiled model as a deployment of Ray Serve: replicas on all nodes of a cluster, which answer requests by HTTP in batches.

    ingot compile mlp.onnx --emit shared -o models
    MODEL=$PWD/models/mlp.json serve run deployment:app
    curl -s localhost:8000 --json '[[1, 2, 3, 4, 5, 6, 7, 8]]'

The files of the model have to be on each node, and the package ingot in its environment; a compiler is not needed there."""
import asyncio
import os

import ingot
import numpy as np
from ray import serve
from starlette.responses import JSONResponse


@serve.deployment(ray_actor_options={"num_cpus": 1}, max_ongoing_requests=64)
class Compiled:
    """A model with one input and one output, whose first axis is open and has a row for each item."""

    def __init__(self, path):
        self.model = ingot.load(path, threads=1)
        (self.input,) = self.model.inputs

    @serve.batch(max_batch_size=32, batch_wait_timeout_s=0.002)
    async def run(self, requests):
        """Ray calls this with what several requests gave, and deals the results out. A run frees the interpreter, so it goes to a thread and others are read meanwhile."""
        results = await asyncio.to_thread(self.model, np.concatenate(requests))
        return np.split(results, np.cumsum([len(rows) for rows in requests])[:-1])

    async def __call__(self, request):
        # Rows of a wrong shape are refused here: in a batch they would be an error of all requests in it.
        wanted = list(self.input.shape[1:])
        try:
            rows = np.asarray(await request.json(), self.input.type)
        except ValueError as error:
            return JSONResponse({"error": str(error)}, 400)
        if list(rows.shape[1:]) != wanted or not len(rows):
            return JSONResponse({"error": f"rows of the shape {wanted} are needed, and the shape is {list(rows.shape)}"}, 400)
        return (await self.run(rows)).tolist()


app = Compiled.bind(os.environ.get("MODEL", "models/mlp.json"))
