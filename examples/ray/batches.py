"""A compiled model over a data set by Ray Data: each worker loads it once, and runs it on the batches that Ray deals out.

    python batches.py models/mlp.json features.parquet scores

The column `features` has a row of the model's input for each item; the result has the column `scores` beside it."""
import sys

import ingot
import numpy as np
import ray


class Scores:
    def __init__(self, path):
        self.model = ingot.load(path, threads=1)

    def __call__(self, batch):
        # A column of lists, as Parquet has them, is an array of arrays.
        features = np.stack(batch["features"]).astype(self.model.inputs[0].type, copy=False)
        return {**batch, "scores": self.model(features)}


def scored(path, data, workers=2):
    """`data` with the model's scores; nothing is computed before somebody takes them."""
    return data.map_batches(Scores, fn_constructor_args=[path], batch_size=256, concurrency=workers, num_cpus=1)


if __name__ == "__main__":
    model, features, scores = sys.argv[1:]
    scored(model, ray.data.read_parquet(features)).write_parquet(scores)
