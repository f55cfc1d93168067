"""Small language models with seeded weights, as ONNX Runtime's convert_generation.py writes them: a node GreedySearch, Sampling or BeamSearch of com.microsoft that holds the decoder."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

F, I = TensorProto.FLOAT, TensorProto.INT32
MS = "com.microsoft"
HEADS, WIDTH, LAYERS = 2, 4, 2
HIDDEN = HEADS * WIDTH
POSITIONS = 64


class Net:
    """A graph in the making. Weights are drawn once for each name, so that several graphs of a model share them."""

    def __init__(self, weights, rng):
        self.nodes, self.constants, self.weights, self.rng, self.count = [], {}, weights, rng, 0

    def op(self, kind, *inputs, outputs=1, domain="", **attributes):
        names = []
        for _ in range(outputs):
            self.count += 1
            names.append(f"{kind}_{self.count}")
        self.nodes.append(helper.make_node(kind, [self.name(v) for v in inputs], names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def name(self, value):
        if isinstance(value, str):
            return value
        array = np.asarray(value)
        key = f"c_{array.dtype}_{'_'.join(map(str, array.shape))}_{'_'.join(map(str, array.ravel()))}".replace("-", "m")
        self.constants[key] = array
        return key

    def weight(self, name, *shape, scale=0.5):
        if name not in self.weights:
            self.weights[name] = (self.rng.standard_normal(shape) * scale).astype(np.float32)
        return name

    def norm(self, x, name):
        return self.op("LayerNormalization", x, self.weight(f"{name}.g", HIDDEN), self.weight(f"{name}.b", HIDDEN), axis=-1)

    def linear(self, x, name, columns):
        return self.op("Add", self.op("MatMul", x, self.weight(f"{name}.w", HIDDEN, columns)), self.weight(f"{name}.c", columns))

    def mlp(self, x, name):
        hidden = self.op("FastGelu", self.linear(x, f"{name}.up", HIDDEN), domain=MS)
        return self.op("Add", x, self.linear(hidden, f"{name}.down", HIDDEN))

    def apart(self, x):
        return self.op("Transpose", self.op("Reshape", x, np.int64([0, 0, HEADS, WIDTH])), perm=[0, 2, 1, 3])

    def attend(self, q, k, v, bias):
        scores = self.op("MatMul", self.op("Mul", q, np.float32(WIDTH**-0.5)), self.op("Transpose", k, perm=[0, 1, 3, 2]))
        weights = self.op("Softmax", self.op("Add", scores, bias) if bias else scores, axis=-1)
        rows = self.op("Transpose", self.op("MatMul", weights, v), perm=[0, 2, 1, 3])
        return self.op("Reshape", rows, np.int64([0, 0, HIDDEN]))

    def mask_bias(self, mask):
        hidden = self.op("Sub", np.float32(1), self.op("Cast", mask, to=F))
        return self.op("Unsqueeze", self.op("Mul", hidden, np.float32(-10000)), np.int64([1, 2]))

    def axis(self, x, axis):
        return self.op("Shape", x, start=axis, end=axis + 1)

    def causal_bias(self, new, total):
        """[new, total]: what a query must not look at yet."""
        scalar = lambda v: self.op("Squeeze", v)
        zero, one = np.int64(0), np.int64(1)
        keys = self.op("Range", zero, scalar(total), one)
        queries = self.op("Add", self.op("Range", zero, scalar(new), one), self.op("Sub", total, new))
        ahead = self.op("Greater", keys, self.op("Unsqueeze", queries, np.int64([1])))
        return self.op("Mul", self.op("Cast", ahead, to=F), np.float32(-10000))

    def graph(self, name, inputs, outputs, weights=()):
        held = [numpy_helper.from_array(self.weights[w], w) for w in weights]
        return helper.make_graph(self.nodes, name, inputs, outputs, [*held, *(numpy_helper.from_array(v, k) for k, v in self.constants.items())])


def value(name, element, *shape):
    return helper.make_tensor_value_info(name, element, shape)


def outputs_named(net, pairs):
    """Gives values of the graph the names that its outputs have to have."""
    for old, new in pairs:
        net.nodes.append(helper.make_node("Identity", [old], [new]))


def gpt(weights, rng, vocabulary, ends, plain, inside):
    """A decoder of the GPT-2 kind; `plain`: attention as exporters write it, `inside`: it holds its weights itself."""
    net = Net(weights, rng)
    x = net.op("Add", net.op("Gather", net.weight("tokens", vocabulary, HIDDEN, scale=1), "input_ids"), net.op("Gather", net.weight("places", POSITIONS, HIDDEN), "position_ids"))
    presents = []
    for i in range(LAYERS):
        y = net.norm(x, f"l{i}.n")
        if not plain:
            y, present = net.op("Attention", y, net.weight(f"l{i}.qkv", HIDDEN, 3 * HIDDEN), net.weight(f"l{i}.qkvc", 3 * HIDDEN), "attention_mask", f"past_{i}", outputs=2, domain=MS,
                                num_heads=HEADS, unidirectional=1)  # fmt: skip
        else:
            both = net.op("Add", net.op("MatMul", y, net.weight(f"l{i}.qkv", HIDDEN, 3 * HIDDEN)), net.weight(f"l{i}.qkvc", 3 * HIDDEN))
            q, k, v = map(net.apart, net.op("Split", both, np.int64([HIDDEN] * 3), outputs=3, axis=-1))
            k, v = (net.op("Concat", net.op("Gather", f"past_{i}", np.int64(half), axis=0), new, axis=2) for half, new in enumerate((k, v)))
            bias = net.op("Add", net.mask_bias("attention_mask"), net.causal_bias(net.axis(q, 2), net.axis(k, 2)))
            present = net.op("Concat", *(net.op("Unsqueeze", part, np.int64([0])) for part in (k, v)), axis=0)
            y = net.attend(q, k, v, bias)
        presents.append(present)
        x = net.mlp(net.op("Add", x, net.linear(y, f"l{i}.out", HIDDEN)), f"l{i}")
    x = net.norm(x, "final")
    weights.setdefault("ends", ends)
    logits = net.op("Add", net.op("MatMul", x, net.weight("head", HIDDEN, vocabulary, scale=1.5)), "ends")
    outputs_named(net, [(logits, "logits"), *((present, f"present_{i}") for i, present in enumerate(presents))])
    inputs = [value("input_ids", I, "b", "s"), value("position_ids", I, "b", "s"), value("attention_mask", I, "b", "t")]
    inputs += [value(f"past_{i}", F, 2, "b", HEADS, "p", WIDTH) for i in range(LAYERS)]
    outputs = [value("logits", F, "b", "s", vocabulary), *(value(f"present_{i}", F, 2, "b", HEADS, "t", WIDTH) for i in range(LAYERS))]
    return net.graph("decoder", inputs, outputs, weights if inside else ())


def t5_decoder(net, ids, states, pasts, crosses, mask, vocabulary):
    """(logits, presents); `crosses` are keys and values of the encoder's states, made of `states` where they are none."""
    x, presents, made = net.op("Gather", net.weight("tokens", vocabulary, HIDDEN, scale=1), ids), [], []
    for i in range(LAYERS):
        y = net.norm(x, f"d{i}.n")
        q, k, v = (net.apart(net.linear(y, f"d{i}.{part}", HIDDEN)) for part in "qkv")
        if pasts:
            k, v = net.op("Concat", pasts[2 * i], k, axis=2), net.op("Concat", pasts[2 * i + 1], v, axis=2)
        presents += [k, v]
        y = net.attend(q, k, v, net.causal_bias(net.axis(q, 2), net.axis(k, 2)))
        x = net.op("Add", x, net.linear(y, f"d{i}.out", HIDDEN))
        y = net.norm(x, f"d{i}.m")
        if crosses is None:
            made += [net.apart(net.linear(states, f"d{i}.c{part}", HIDDEN)) for part in "kv"]
        k, v = (made if crosses is None else crosses)[2 * i : 2 * i + 2]
        y = net.attend(net.apart(net.linear(y, f"d{i}.cq", HIDDEN)), k, v, net.mask_bias(mask))
        x = net.mlp(net.op("Add", x, net.linear(y, f"d{i}.cout", HIDDEN)), f"d{i}")
    logits = net.op("Add", net.op("MatMul", net.norm(x, "final"), net.weight("head", HIDDEN, vocabulary, scale=1.5)), "ends")
    return logits, presents, made


def t5_encoder(net, vocabulary):
    x = net.op("Gather", net.weight("words", vocabulary, HIDDEN, scale=1), "encoder_input_ids")
    y = net.norm(x, "e.n")
    q, k, v = (net.apart(net.linear(y, f"e.{part}", HIDDEN)) for part in "qkv")
    return net.mlp(net.op("Add", x, net.attend(q, k, v, net.mask_bias("encoder_attention_mask"))), "e")


def t5(weights, rng, vocabulary, ends, starts, hidden):
    """(encoder, decoder) of the T5 kind. `starts`: the encoder computes the first step, too; `hidden`: the decoder takes the encoder's states, which it only passes by."""
    weights.setdefault("ends", ends)
    cache = lambda kind, i, length: [value(f"{kind}_{part}_{i}", F, "b", HEADS, length, WIDTH) for part in ("key", "value")]
    names = lambda kind, place: [f"{kind}_{part}_{place}_{i}" for i in range(LAYERS) for part in ("key", "value")]
    caches = lambda kind, place, length: [value(name, F, "b", HEADS, length, WIDTH) for name in names(kind, place)]
    net = Net(weights, rng)
    inputs = [value("encoder_input_ids", I, "b", "e"), value("encoder_attention_mask", I, "b", "e")]
    states = t5_encoder(net, vocabulary)
    if starts:
        logits, presents, made = t5_decoder(net, "decoder_input_ids", states, None, None, "encoder_attention_mask", vocabulary)
        inputs.append(value("decoder_input_ids", I, "b", 1))
        outputs_named(net, [(logits, "logits"), (states, "encoder_hidden_states"), *zip(presents, names("present", "self")), *zip(made, names("present", "cross"))])
        outputs = [value("logits", F, "b", 1, vocabulary), value("encoder_hidden_states", F, "b", "e", HIDDEN), *caches("present", "self", 1), *caches("present", "cross", "e")]
    else:
        made = [net.apart(net.linear(states, f"d{i}.c{part}", HIDDEN)) for i in range(LAYERS) for part in "kv"]
        outputs_named(net, zip(made, names("present", "cross")))
        outputs = caches("present", "cross", "e")
    encoder = net.graph("encoder", inputs, outputs)
    net = Net(weights, rng)
    logits, presents, _ = t5_decoder(net, "input_ids", None, names("past", "self"), names("past", "cross"), "encoder_attention_mask", vocabulary)
    outputs_named(net, [(logits, "logits"), *zip(presents, names("present", "self"))])
    inputs = [value("input_ids", I, "b", 1), value("encoder_attention_mask", I, "b", "e")]
    inputs += [value("encoder_hidden_states", F, "b", "e", HIDDEN)] if hidden else []
    inputs += [*caches("past", "self", "p"), *caches("past", "cross", "e")]
    return encoder, net.graph("decoder", inputs, [value("logits", F, "b", 1, vocabulary), *caches("present", "self", "t")])


def model(kind, inputs, given, outputs, graphs, weights, attributes, known, rows):
    """A model of one such node. `inputs`: names in the node's order ("" is left out); `given`: what each is; `known`: those that are constants; `rows`: the batch and the length,
    numbers or names."""
    elements = {np.dtype(np.int32): I, np.dtype(np.float32): F}
    shapes = {"input_ids": rows, "attention_mask": rows}
    if "prefix_vocab_mask" in given:
        shapes["prefix_vocab_mask"] = [rows[0], given["prefix_vocab_mask"].shape[1]]
    own = [helper.make_tensor_value_info(name, elements[given[name].dtype], shapes.get(name, given[name].shape)) for name in inputs if name and name not in known]
    sizes = {"sequences": F, "sequences_scores": F, "scores": F}
    outs = [helper.make_empty_tensor_value_info(name) for name in outputs if name]
    for out in outs:
        out.type.tensor_type.elem_type = I if out.name == "sequences" else sizes[out.name]
    node = helper.make_node(kind, inputs, outputs, name="search", domain=MS, **attributes, **graphs)
    held = [numpy_helper.from_array(given[name], name) for name in known]
    held += [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph([node], "generation", own, outs, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(MS, 1)], ir_version=8)
