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
    c.output(c.op("STFT", c.input("batch", "samples"), one(5), c.weights(12)))  # as PyTorch's TorchScript exporter has it
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


@case
def transforms_of_open_length():
    c = Case(20)
    axis, one = lambda n: c.constant(np.array(n)), lambda n: c.constant(np.array(n))
    x, z = c.input("b", "n", 1), c.input("b", "n", 2)
    c.output(c.op("DFT", x, "", axis(1))), c.output(c.op("DFT", z, "", axis(1)))
    c.output(c.op("DFT", x, "", axis(1), onesided=1)), c.output(c.op("DFT", z, "", axis(-2), inverse=1))
    c.output(c.op("DFT", c.input("n", "b", 2), one(9), axis(0))), c.output(c.op("DFT", x, c.op("Squeeze", c.op("Shape", c.input("m"))), axis(1)))
    return c.each(b=[1, 3], n=[1, 2, 7, 8, 60], m=[1, 12])


@case
def numbers_of_one_or_two_parts():
    """Whether the numbers are real or complex only the run knows."""
    c = Case(20)
    x, axis = c.input("b", "n", "parts"), c.constant(np.array(1))
    c.output(c.op("DFT", x, "", axis)), c.output(c.op("DFT", x, "", axis, inverse=1))
    c.output(c.op("DFT", c.input("b", "n", "one"), "", axis, onesided=1))
    return c.each(b=[1, 3], n=[1, 7, 8], parts=[1, 2], one=[1])


@case
def spectra_back():
    c = Case(20)
    c.output(c.op("DFT", c.input("b", "bins", 2), "", c.constant(np.array(1)), inverse=1, onesided=1))
    return c.at(b=[1, 3], bins=[2, 3, 8, 33])


@case
def channels_that_weights_fix():
    """Open axes that have one length only: the run is checked, all else is computed for it."""
    c = Case(21)
    x = c.input("b", "c", "h", "w")
    y = c.op("Relu", c.op("Conv", x, c.weights(16, 3, 3, 3), pads=[1, 1, 1, 1]))
    c.output(y)
    c.output(c.op("Conv", c.input("b", "one", "h", "w"), c.weights(39, 1, 1, 3)))
    c.output(c.op("ConvTranspose", c.input("b", "c8", "h", "w"), c.weights(8, 4, 2, 2), strides=[2, 2]))
    for kind, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        c.output(c.op(kind, c.input("w", "b", "features"), c.weights(1, gates * 6, 5), c.weights(1, gates * 6, 6), c.weights(1, 2 * gates * 6), hidden_size=6))
    c.output(c.op("GroupNormalization", c.input("b", "c8", "h"), c.weights(8), c.weights(8), num_groups=2))
    c.output(c.op("InstanceNormalization", c.input("b", "c8", "h"), c.weights(8), c.weights(8)))
    c.output(c.op("InstanceNormalization", c.input("b", "one", "h"), c.weights(1), c.weights(1)))
    c.output(c.op("BatchNormalization", c.input("b", "c8", "h"), c.weights(8), c.weights(8), c.weights(8), c.constant(np.ones(8, np.float32))))
    c.output(c.op("LayerNormalization", c.input("b", "h", "d"), c.weights(8), c.weights(8)))
    return c.each(b=[1, 3], c=[3], h=[3, 9], w=[3, 16], one=[1], c8=[8], features=[5], d=[8])


@case
def groups_of_open_channels():
    c = Case(18)
    c.output(c.op("GroupNormalization", c.input("b", "c", "w"), c.weights(3), c.weights(3), num_groups=3))
    c.output(c.op("Hardmax", c.input("b", "c", "w"), axis=1)), c.output(c.op("Hardmax", c.input("b", "w")))
    return c.each(b=[1, 2], c=[3, 6, 24], w=[1, 7, 16])


@case
def weights_that_the_run_brings():
    """Convolutions of which no size is known when they are compiled."""
    c = Case(21)
    x, w = c.input("b", "ci", "h", "w"), c.input("co", "ci", "kh", "kw")
    c.output(c.op("Conv", x, w, c.input("co"), pads=[2, 1, 2, 1], strides=[2, 1]))
    c.output(c.op("Conv", x, w, auto_pad="SAME_LOWER", strides=[1, 2]))
    c.output(c.op("Conv", c.input("b", "twice", "w"), c.input("even", "ci", "kw"), c.input("even"), group=2, dilations=[2], pads=[4, 4]))
    back = c.input("ci", "co", "kh", "kw")
    c.output(c.op("ConvTranspose", x, back, c.input("co"), strides=[3, 1], output_padding=[1, 0]))
    c.output(c.op("ConvTranspose", x, back, auto_pad="SAME_UPPER", strides=[2, 1]))
    c.output(c.op("ConvTranspose", c.input("b", "twice", "w"), c.input("twice", "co", "kw"), group=2, dilations=[2], pads=[1, 0]))
    c.at(b=[1, 2], ci=[1, 3], twice=[2, 6], co=[4, 1], even=[2, 8], h=[3, 7], w=[7, 8], kh=[2, 3], kw=[2, 3])
    return c.at(b=[1, 3], ci=[2], twice=[4], co=[17, 5], even=[4], h=[9], w=[16, 31], kh=[5], kw=[1, 4])


@case
def kernels_that_attributes_name():
    """Of open weights the attribute says how large the kernel is, or how many units there are."""
    c = Case(21)
    c.output(c.op("Conv", c.input("b", "ci", "h", "w"), c.input("co", "ci", "k3", "k1"), kernel_shape=[3, 1], pads=[1, 0, 1, 0]))
    for kind, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        w, r = c.input("one", f"{kind}_rows", "features"), c.input("one", f"{kind}_rows", "units")
        c.output(c.op(kind, c.input("steps", "b", "features"), w, r, c.input("one", f"{kind}_biases"), "", c.input("one", "b", "units"), hidden_size=6))
    return c.at(b=[1, 3], ci=[1, 5], co=[4, 9], h=[3, 8], w=[1, 16], k3=[3], k1=[1], one=[1], units=[6], features=[1, 7], steps=[1, 5],
                LSTM_rows=[24], GRU_rows=[18], RNN_rows=[6], LSTM_biases=[48], GRU_biases=[36], RNN_biases=[12])
