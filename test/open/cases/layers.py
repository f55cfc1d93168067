"""Losses, spectrograms, and layers that carry a state from call to call. ONNX Runtime does not have the newest of these: there onnx.reference has the word."""
import numpy as np

from .case import Case, case


@case
def losses():
    c = Case()
    labels = lambda rng, shape, sizes: rng.integers(0, 7, shape)
    for kind in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        for reduction in ("none", "sum", "mean"):
            scores, target = c.input("batch", 7, "places"), c.input("batch", "places", dtype=np.int64, fill=labels)
            c.output(c.op(kind, scores, target, reduction=reduction))
            c.output(c.op(kind, scores, target, c.weights(7), reduction=reduction, ignore_index=3))
    return c.each(batch=[1, 3], places=[1, 17, 30])


@case
def spectrograms():
    c = Case()
    signal, one = c.input("batch", "samples", 1), lambda n: c.constant(np.array(n))
    c.output(c.op("STFT", signal, one(4), c.weights(16)))
    c.output(c.op("STFT", signal, one(7), "", one(10), onesided=0))
    c.output(c.op("DFT", c.input("batch", 24, "w", 2), one(20), axis=1, inverse=1))
    return c.each(batch=[1, 2], samples=[16, 17, 64, 131], w=[1, 5])


@case
def center_crops():
    c = Case(opset=18)
    x = c.input("h", "w", 3)
    c.output(c.op("CenterCropPad", x, c.constant(np.array([8, 9])), axes=[0, 1]))
    c.output(c.op("CenterCropPad", x, c.op("Shape", c.input("w", "h")), axes=[0, 1]))
    return c.each(h=[1, 7, 8, 12], w=[1, 9, 10, 16])


@case
def causal_convolutions():
    c = Case(opset=27)
    for activation in ("none", "silu"):
        x, past = c.input("batch", 6, "steps"), c.input("batch", 6, 3)
        for output in c.op("CausalConvWithState", x, c.weights(6, 1, 4), c.weights(6), past, outputs=2, activation=activation):
            c.output(output)
        for output in c.op("CausalConvWithState", x, c.weights(6, 1, 4), outputs=2):
            c.output(output)
    return c.each(batch=[1, 3], steps=[1, 2, 3, 17])


@case
def linear_attention():
    c = Case(opset=27)
    small = lambda rng, shape, sizes: -rng.random(shape)
    for rule, heads, shared in (("linear", 2, 2), ("gated", 4, 2), ("delta", 2, 1), ("gated_delta", 4, 2)):
        q, k, v = c.input("batch", "steps", heads * 8), c.input("batch", "steps", shared * 8, fill=lambda rng, shape, sizes: rng.standard_normal(shape) / 3), c.input("batch", "steps", shared * 5)
        past = c.input("batch", shared, 8, 5)
        decay = c.input("batch", "steps", shared * (8 if rule == "gated" else 1), fill=small) if "gated" in rule else ""
        beta = c.input("batch", "steps", shared, fill=lambda rng, shape, sizes: rng.random(shape)) if "delta" in rule else ""
        for output in c.op("LinearAttention", q, k, v, past, decay, beta, outputs=2, q_num_heads=heads, kv_num_heads=shared, update_rule=rule):
            c.output(output)
    return c.each(batch=[1, 3], steps=[1, 2, 17])
