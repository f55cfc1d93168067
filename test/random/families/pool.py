"""Pooling and normalisation, Softmax."""
import numpy as np

from families import op
from families.dense import image, window


@op("MaxPool", "AveragePool", weight=4)
def pool(c, x, name):
    x = image(c, x)
    spatial = x.shape[2:]
    kernel = c.kernel(len(spatial), 5)
    dilated = c.opset >= (10 if name == "MaxPool" else 19)
    attributes = window(c, spatial, kernel, None if dilated else True)
    rank = len(spatial)
    reach = [(size - 1) * step + 1 for size, step in zip(kernel, attributes.get("dilations", [1] * rank))]
    c.need(all(size >= need for size, need in zip(spatial, reach)))
    if "auto_pad" not in attributes and c.opset >= 10 and c.chance(0.3):
        attributes["ceil_mode"] = 1
    if name == "AveragePool":
        attributes["count_include_pad"] = c.choice([None, 0, 1])
        # What a window that ends beyond the padding divides by changed between ONNX versions and differs between runtimes.
        c.need(not (attributes.get("count_include_pad") and (attributes.get("ceil_mode") or attributes.get("auto_pad"))))
    outputs = 1
    if name == "MaxPool" and c.opset >= 8 and "dilations" not in attributes and c.chance(0.15) and x.exact:
        outputs = 2
        attributes["storage_order"] = 0
    c.node(name, [x], outputs, exact=name == "MaxPool", kernel_shape=kernel, **attributes)


@op("LpPool")
def lp_pool(c, x):
    x = image(c, x)
    c.need(x.rank <= 5 and c.opset >= 11)
    kernel = c.kernel(x.rank - 2, 3)
    attributes = window(c, x.shape[2:], kernel, None if c.opset >= 18 else True)
    reach = [(size - 1) * step + 1 for size, step in zip(kernel, attributes.get("dilations", [1] * len(kernel)))]
    c.need(all(size >= need for size, need in zip(x.shape[2:], reach)))
    if c.opset >= 18 and "auto_pad" not in attributes:
        attributes["ceil_mode"] = c.choice([None, 1])
    c.node("LpPool", [x], kernel_shape=kernel, p=c.choice([None, 1, 2, 3]), **attributes)


@op("Hardmax")
def hardmax(c, x):
    x = x or c.data(c.shape(1, 4))
    c.need(x.dtype == np.float32 and x.rank and x.array.size and x.exact)
    c.node("Hardmax", [x], exact=True, axis=c.choice([None, c.axis(x.rank, negative=c.opset >= 11)]))


@op("MeanVarianceNormalization")
def mean_variance(c, x):
    c.since(9)
    x = image(c, x)
    c.need(x.rank == 4 and x.shape[0] * np.prod(x.shape[2:]) > 3)
    [y] = c.node("MeanVarianceNormalization", [x], axes=c.choice([None, [0, 2, 3], [1, 2, 3]]))
    # Of values that are all zero ONNX Runtime makes 0 / 0; by the definition, which adds 1e-9, it is 0.
    c.need(np.isfinite(y.array).all() or not np.isfinite(x.array).all())


@op("LpNormalization")
def lp_normalization(c, x):
    x = x or c.data(c.shape(1, 4), np.float32, 0.5, 2)
    c.need(x.dtype == np.float32 and x.rank and x.array.size and np.abs(x.array).min() > 1e-3)
    c.node("LpNormalization", [x], axis=c.choice([None, c.axis(x.rank)]), p=c.choice([None, 1, 2]))


@op("GlobalLpPool")
def global_lp_pool(c, x):
    c.node("GlobalLpPool", [image(c, x)], p=c.choice([None, 1, 2, 3]))


@op("GlobalAveragePool", "GlobalMaxPool")
def global_pool(c, x, name):
    c.node(name, [image(c, x)], exact=name == "GlobalMaxPool")


def channels(c, count, low=-1.0, high=1.0):
    return c.data(count if isinstance(count, list) else [count], np.float32, low, high, constant=c.chance(0.9))


@op("BatchNormalization", weight=2)
def batch_normalization(c, x):
    if x is None:
        x = image(c, None) if c.chance(0.7) else c.data([c.size(), c.size()])
    c.need(x.dtype == np.float32 and x.rank >= 2 and x.shape[1] > 0)
    spatial = c.choice([None, 0, 1]) if c.opset < 9 else None  # 0: statistics for each place
    count = x.shape[1:] if spatial == 0 else x.shape[1]
    operands = [x, channels(c, count), channels(c, count), channels(c, count), channels(c, count, 0.2, 3)]
    c.node("BatchNormalization", operands, epsilon=c.choice([None, 1e-3]), momentum=c.choice([None, 0.8]), spatial=spatial)


@op("RMSNormalization", weight=2)
def rms_normalization(c, x):
    c.since(23)
    x = x or c.data([max(size, 1) for size in c.shape(1, 4)])
    c.need(x.dtype == np.float32 and x.rank and x.array.size)
    axis = c.choice([-1, -1, c.axis(x.rank)])
    scale = c.data(x.shape[axis if axis >= 0 else axis + x.rank :], np.float32, -1, 1)
    c.node("RMSNormalization", [x, scale], axis=None if axis == -1 and c.chance(0.5) else axis, epsilon=c.choice([1e-2, 1e-1]), stash_type=c.choice([None, 1]))


@op("InstanceNormalization", weight=2)
def instance_normalization(c, x):
    x = image(c, x)
    c.need(np.prod(x.shape[2:]) > 1)
    c.node("InstanceNormalization", [x, channels(c, x.shape[1]), channels(c, x.shape[1])], epsilon=c.choice([1e-2, 1e-1]))


@op("LayerNormalization", weight=2)
def layer_normalization(c, x):
    c.since(17)
    x = x or c.data([max(size, 1) for size in c.shape(1, 4)])
    c.need(x.dtype == np.float32 and x.rank and x.array.size)
    axis = c.choice([-1, -1, c.axis(x.rank)])
    tail = x.shape[axis if axis >= 0 else axis + x.rank :]
    c.need(np.prod(tail) > 1)
    scale = c.data(tail, np.float32, -1, 1)
    bias = c.data(tail, np.float32, -1, 1) if c.chance(0.7) else None
    c.node("LayerNormalization", [x, scale, bias], axis=None if axis == -1 and c.chance(0.5) else axis, epsilon=c.choice([1e-2, 1e-1]), stash_type=c.choice([None, 1]))


@op("GroupNormalization")
def group_normalization(c, x):
    c.need(c.opset >= 21)
    groups = c.choice([1, 2, 3, 4])
    x = image(c, x if x is not None and x.rank >= 3 and x.shape[1] % groups == 0 else None, channels=groups * c.extent(17))
    c.need(x.array.size // x.shape[0] // groups > 1)
    c.node("GroupNormalization", [x, channels(c, x.shape[1]), channels(c, x.shape[1])], num_groups=groups, epsilon=c.choice([1e-2, 1e-1]), stash_type=c.choice([None, 1]))


@op("LRN")
def lrn(c, x):
    x = image(c, x)
    c.node("LRN", [x], size=c.choice([1, 3, 5]), alpha=c.choice([None, 0.1]), beta=c.choice([None, 0.5]), bias=c.choice([None, 2.0]))


@op("Softmax", "LogSoftmax", weight=3)
def softmax(c, x, name):
    x = x or c.data(c.shape(1, 4), np.float32, -6, 6)
    c.need(x.dtype == np.float32 and x.rank and x.array.size and np.isfinite(x.array).all() and np.abs(x.array).max() < 50)
    default = [None] if c.opset >= 13 or x.rank > 1 else []  # axis 1 of a vector: runtimes do not agree
    c.node(name, [x], axis=c.choice([*default, c.axis(x.rank, negative=c.opset >= 11)]))
