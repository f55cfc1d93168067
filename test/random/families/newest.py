"""Operators that ONNX Runtime does not have, or in opsets that it does not have all of: onnx's reference evaluator says what they give, and nothing follows them."""
import numpy as np

from families import op

TRAINING = "ai.onnx.preview.training."


@op("CumProd")
def cum_prod(c, x):
    c.newest(26)
    type = c.choice([np.float32, np.float64, np.int32, np.int64])
    x = c.data([max(size, 1) for size in c.shape(1, 4, 2000)], type, *((-1.25, 1.25) if np.dtype(type).kind == "f" else (-1, 1)))
    axis = c.tensor(np.array(c.axis(x.rank), c.choice([np.int32, np.int64])), constant=True)
    c.node("CumProd", [x, axis], exclusive=c.choice([None, 0, 1]), reverse=c.choice([None, 0, 1]))


@op("BitCast")
def bit_cast(c, x):
    c.newest(26)
    pairs = [(np.int32, 1), (np.int64, 11), (np.float32, 6), (np.float64, 7), (np.uint8, 3), (np.int16, 4), (np.float32, 12), (np.uint32, 6)]
    type, to = c.choice(pairs)
    c.node("BitCast", [c.data(c.shape(0, 4), type, 0, 100)], to=to)


@op("SwiGLU")
def swiglu(c, x):
    c.newest(28)
    shape = c.shape(1, 4)
    c.node("SwiGLU", [c.data(shape), c.data(shape)], alpha=c.choice([None, 0.5, 1.75]))


@op("CausalConvWithState")
def causal_conv(c, x):
    c.newest(27)
    batch, channels, steps, kernel = c.choice([1, 2, 3]), c.choice([1, 5, 16]), c.choice([1, 2, 7]), c.choice([2, 3, 4])
    past = c.data([batch, channels, kernel - 1]) if c.chance(0.6) else None
    c.node("CausalConvWithState", [c.data([batch, channels, steps]), c.data([channels, 1, kernel], constant=True), c.data([channels]) if c.chance(0.5) else None, past], outputs=2,
           activation=c.choice([None, "none", "silu", "swish"]))  # fmt: skip


@op("LinearAttention")
def linear_attention(c, x):
    c.newest(27)
    batch, steps, shared, group, width, wide = c.choice([1, 2]), c.choice([1, 3, 5]), c.choice([1, 2]), c.choice([1, 1, 2]), c.choice([4, 7, 8]), c.choice([4, 5, 8])
    rule, heads = c.choice(["linear", "gated", "delta", "gated_delta"]), shared * group
    small = lambda *shape: c.data(shape, low=-0.5, high=0.5)
    past = small(batch, shared, width, wide) if c.chance(0.5) else None
    decay = small(batch, steps, shared * c.choice([1, width])) if "gated" in rule else None
    beta = small(batch, steps, c.choice([1, shared])) if "delta" in rule else None
    c.node("LinearAttention", [small(batch, steps, heads * width), small(batch, steps, shared * width), small(batch, steps, shared * wide), past, decay, beta], outputs=2, q_num_heads=heads, kv_num_heads=shared,
           scale=c.choice([None, 0.5]), update_rule=rule, chunk_size=c.choice([None, 64]))  # fmt: skip


@op(TRAINING + "Adagrad", TRAINING + "Adam", TRAINING + "Momentum")
def optimizer(c, x, name):
    count, kind = c.choice([1, 1, 2]), name.rpartition(".")[2]
    shapes = [c.shape(0, 3, 500) for _ in range(count)]
    states = {"Adagrad": 1, "Adam": 2, "Momentum": 1}[kind]
    rate, step = c.tensor(np.float32(0.125)), c.tensor(np.int64(0 if kind == "Adam" else c.choice([0, 1, 7])))  # of later steps the reference evaluator makes float64
    values = [c.data(shape, low=0.25 if part > 1 else -2) for part in range(2 + states) for shape in shapes]
    attributes = dict(norm_coefficient=c.choice([0.0, 0.125]))
    if kind == "Adagrad":
        attributes |= dict(decay_factor=c.choice([0.0, 0.25]), epsilon=0.0625)
    elif kind == "Adam":
        attributes |= dict(alpha=0.5, beta=0.75, epsilon=0.0625, norm_coefficient_post=c.choice([0.0, 0.125]))
    else:
        attributes |= dict(alpha=0.5, beta=0.75, mode=c.choice(["standard", "nesterov"]))
    c.node(name, [rate, step, *values], outputs=count * (1 + states), **attributes)
    c.finds = True
