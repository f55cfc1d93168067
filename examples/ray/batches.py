"""A compiled model over a data set of Ray Data: each of `concurrency` actors opens the model once, and runs on blocks of rows.

    batches.py mlp.onnx rows.parquet scores.parquet      (a column `features` of eight numbers)
"""
import sys

import numpy as np
import ray


class Scores:
    def __init__(self, path):
        import ingot

        self.model = ingot.compile(path, threads=1)

    def __call__(self, batch):
        batch["scores"] = self.model(np.stack(batch["features"]).astype(np.float32))
        return batch


def score(rows, path, actors=2):
    """The data set with a column `scores` more."""
    return rows.map_batches(Scores, fn_constructor_args=(path,), concurrency=actors, batch_size=256)


if __name__ == "__main__":
    model, source, result = sys.argv[1:]
    score(ray.data.read_parquet(source), model).write_parquet(result)
