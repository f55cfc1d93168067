"""Writes two data sets beside the model of digest.test, and the digest of what it gives, as docs/using/accuracy.md has it."""
import hashlib
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper

folder, digest = pathlib.Path(sys.argv[1]), hashlib.sha256()
for number, x in enumerate(([-4, 2, -9], [0, -1, 7])):
    data = folder / f"test_data_set_{number}"
    data.mkdir()
    onnx.save_tensor(numpy_helper.from_array(np.array(x, np.float32)), data / "input_0.pb")
    with np.errstate(invalid="ignore"):
        root = np.sqrt(-np.array(x, np.float32))
    bits = root.view(np.uint32).copy()
    bits[np.isnan(root)] = 0xFFFFFFFF
    digest.update(b"float32[3]\n" + bits.tobytes() + b"int64[3]\n" + np.array(x, np.int64).tobytes())
(folder / "wanted").write_text(digest.hexdigest() + "\n")
