"""record.py MODEL DIR: writes DIR/input_K.pb with seeded values for each input; symbolic dims are 1."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper

folder = pathlib.Path(sys.argv[2])
folder.mkdir(parents=True)
generator = np.random.default_rng(2)
graph = onnx.load(sys.argv[1]).graph
weights = {tensor.name for tensor in graph.initializer}
for k, value in enumerate(value for value in graph.input if value.name not in weights):
    shape = [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
    (folder / f"input_{k}.pb").write_bytes(numpy_helper.from_array(generator.uniform(-1, 1, shape).astype(np.float32)).SerializeToString())
