"""Fourier transforms and windows."""
import numpy as np

from families import op


@op("HannWindow", "HammingWindow", "BlackmanWindow")
def window(c, x, name):
    """ONNX Runtime computes on doubles only where it is asked for them, and has no integers of other sizes."""
    c.since(17)
    periodic = c.choice([None, 0, 1])
    size = c.choice([1, 2, 3, 8, 17, 64, 400]) + (periodic == 0)  # a symmetric window of one sample is 0/0
    size = c.lengths(size, c.choice([np.int32, np.int64]))
    c.node(name, [size], periodic=periodic, output_datatype=c.choice([None, 1, 11]))


@op("DFT", weight=2)
def dft(c, x):
    c.since(17)
    onesided, inverse = c.choice([None, 0, 1]), c.choice([None, 0, 1])
    c.need(not (onesided and inverse))  # ONNX Runtime declines, and onnx.reference does not say what it does with an imaginary last bin
    x = x or c.data([*[max(c.size(17), 1) for _ in range(c.choice([1, 2, 2, 3]))], 1 if onesided else c.choice([1, 2])])
    c.need(x.dtype == np.float32 and x.rank in (2, 3, 4) and x.shape[-1] == 1 or (x.shape and x.shape[-1] == 2 and not onesided))
    c.need(x.dtype == np.float32 and x.rank in (2, 3, 4) and x.array.size and np.isfinite(x.array).all() and np.abs(x.array).max() < 40)
    axis = c.choice([None, *range(x.rank - 1)])
    c.need(axis is not None or (x.rank > 2 if c.opset < 20 else True))
    length = c.lengths(c.choice([1, 2, 5, 8, 16, 31])) if c.chance(0.4) else None
    if c.opset < 20:
        c.node("DFT", [x, length], axis=axis, inverse=inverse, onesided=onesided)
    else:
        c.node("DFT", [x, length, None if axis is None else c.lengths(axis)], inverse=inverse, onesided=onesided)


@op("STFT", weight=2)
def stft(c, x):
    c.since(17)
    x = x or c.data([c.choice([1, 2, 3]), c.choice([16, 33, 64, 100]), 1])
    c.need(x.dtype == np.float32 and x.rank == 3 and x.shape[2] == 1 and x.shape[1] >= 8 and x.array.size and np.isfinite(x.array).all() and np.abs(x.array).max() < 40)
    length, given = c.choice([2, 5, 8]), c.choice(["window", "length", "both"])
    window = c.data([length], low=0.25, high=2) if given != "length" else None
    c.node("STFT", [x, c.lengths(c.choice([1, 3, 4, 9])), window, c.lengths(length) if given != "window" else None], onesided=c.choice([None, 0, 1]))
