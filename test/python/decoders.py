"""Small language models of random weights, as files for the tests of ingot.Generator; onnxruntime reads them, too.

    grouped        as ONNX Runtime's model builder writes models: GroupQueryAttention with rotary embeddings inside, MatMulNBits of 4 bits
    concatenated   as PyTorch's exporter does: standard operators, present = Concat(past, new rows), positions from a table

`expected` writes a text with onnxruntime, greedily and token by token, with caches that grow."""
import json
import pathlib
import typing

import numpy as np
import onnx
from onnx import TensorProto, helper

VOCABULARY = 320


class Sizes(typing.NamedTuple):
    """How large a model is; 1.2 billion weights are those of bench/generator.py."""

    vocabulary: int = VOCABULARY
    width: int = 64
    heads: int = 4
    key_heads: int = 2
    layers: int = 2
    inner: int = 128  # of the layers behind attention
    room: int = 512  # tokens
    accuracy_level: int = 0  # of products: 4 lets onnxruntime round what they multiply to bytes

    @property
    def head(self):
        return self.width // self.heads


SMALL = Sizes()


class Graph:
    """A graph while it is written, with weights drawn from one seed."""

    def __init__(self, seed, sizes):
        self.rng, self.sizes, self.nodes, self.weights, self.count = np.random.default_rng(seed), sizes, [], [], 0

    def constant(self, value, dtype=None):
        self.count += 1
        self.weights.append(onnx.numpy_helper.from_array(np.asarray(value, dtype), f"w{self.count}"))
        return f"w{self.count}"

    def draw(self, *shape, scale=1.0):
        return self.constant(self.rng.standard_normal(shape, np.float32) * np.float32(scale))

    def ones(self):
        return self.constant(np.ones(self.sizes.width, np.float32))

    def op(self, kind, *inputs, outputs=None, **attributes):
        self.count += 1
        names = outputs or [f"v{self.count}"]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=f"{kind}{self.count}", **attributes))
        return names[0]

    def product(self, x, inner, outer, outputs=None):
        return self.op("MatMul", x, self.draw(inner, outer, scale=1.5 / np.sqrt(inner)), outputs=outputs)

    def product_of_4_bits(self, x, inner, outer, outputs=None):
        packed = self.constant(self.rng.integers(0, 256, (outer, inner // 32, 16), np.uint8))
        scales = self.constant(self.rng.uniform(0.2, 0.4, outer * inner // 32) / np.sqrt(inner), np.float32)
        level = {"accuracy_level": self.sizes.accuracy_level} if self.sizes.accuracy_level else {}
        return self.op("MatMulNBits", x, packed, scales, outputs=outputs, domain="com.microsoft", K=inner, N=outer, bits=4, block_size=32, **level)

    def save(self, folder, name, key_heads, *inputs):
        sizes = self.sizes
        value = lambda name, shape, kind=TensorProto.FLOAT: helper.make_tensor_value_info(name, kind, shape)
        parts = [f"{layer}.{part}" for layer in range(sizes.layers) for part in ("key", "value")]
        given = [value(each, ["batch", size], TensorProto.INT64) for each, size in inputs]
        given += [value(f"past_key_values.{part}", ["batch", key_heads, "past", sizes.head]) for part in parts]
        made = [value("logits", ["batch", "steps", sizes.vocabulary])]
        made += [value(f"present.{part}", ["batch", key_heads, "total", sizes.head]) for part in parts]
        graph = helper.make_graph(self.nodes, name, given, made, self.weights)
        versions = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
        folder.mkdir(parents=True, exist_ok=True)
        large = sizes.layers * sizes.width > 10_000  # protobuf's limit is 2 GB
        onnx.save(helper.make_model(graph, opset_imports=versions, ir_version=8), folder / "model.onnx", save_as_external_data=large, location="model.onnx.data")
        return folder


def grouped(folder, seed=1, config=None, sizes=SMALL):
    g, width, head = Graph(seed, sizes), sizes.width, sizes.head
    angles = np.outer(np.arange(sizes.room), 1 / 100.0 ** (np.arange(0, head, 2) / head))
    tables = [g.constant(function(angles), np.float32) for function in (np.cos, np.sin)]
    sums = g.op("ReduceSum", "attention_mask", g.constant([1], np.int64), keepdims=1)
    lengths = g.op("Cast", g.op("Sub", sums, g.constant([1], np.int64)), to=TensorProto.INT32)
    whole = g.op("Cast", g.op("Gather", g.op("Shape", "attention_mask"), g.constant(1, np.int64)), to=TensorProto.INT32)
    normal = lambda x: g.op("SimplifiedLayerNormalization", x, g.ones(), axis=-1, epsilon=1e-5)
    attributes = {"num_heads": sizes.heads, "kv_num_heads": sizes.key_heads, "scale": 1 / np.sqrt(head), "do_rotary": 1}
    x = g.op("Gather", g.draw(sizes.vocabulary, width), "input_ids")
    for layer in range(sizes.layers):
        past, present = ([f"{name}.{layer}.{part}" for part in ("key", "value")] for name in ("past_key_values", "present"))
        y = normal(x)
        rows = [g.product_of_4_bits(y, width, heads * head) for heads in (sizes.heads, sizes.key_heads, sizes.key_heads)]
        y = g.op("GroupQueryAttention", *rows, *past, lengths, whole, *tables, outputs=[f"a{layer}", *present], domain="com.microsoft", **attributes)
        x = g.op("Add", x, g.product_of_4_bits(y, width, width))
        y = normal(x)
        gate, up = (g.product_of_4_bits(y, width, sizes.inner) for _ in range(2))
        y = g.op("Mul", g.op("Mul", gate, g.op("Sigmoid", gate)), up)
        x = g.op("Add", x, g.product_of_4_bits(y, sizes.inner, width))
    g.product_of_4_bits(normal(x), width, sizes.vocabulary, outputs=["logits"])
    g.save(folder, "grouped", sizes.key_heads, ("input_ids", "steps"), ("attention_mask", "total"))
    if config is not None:
        (folder / "genai_config.json").write_text(json.dumps(config))
    return folder


def concatenated(folder, seed=2, sizes=SMALL):
    g, width, head = Graph(seed, sizes), sizes.width, sizes.head
    x = g.op("Add", g.op("Gather", g.draw(sizes.vocabulary, width), "input_ids"), g.op("Gather", g.draw(sizes.room, width), "position_ids"))
    split, merged = g.constant([0, 0, sizes.heads, head], np.int64), g.constant([0, 0, width], np.int64)
    last = g.op("Unsqueeze", "position_ids", g.constant([1, 3], np.int64))
    visible = g.op("Cast", g.op("Unsqueeze", "attention_mask", g.constant([1, 2], np.int64)), to=TensorProto.BOOL)
    ends = g.op("Squeeze", g.op("Shape", "attention_mask", start=1, end=2))
    keys = g.op("Range", g.constant(0, np.int64), ends, g.constant(1, np.int64))
    bias = g.op("Where", g.op("And", visible, g.op("LessOrEqual", keys, last)), g.constant(0, np.float32), g.constant(-1e9, np.float32))
    normal = lambda x: g.op("LayerNormalization", x, g.ones())
    for layer in range(sizes.layers):
        y = normal(x)
        q, k, v = (g.op("Transpose", g.op("Reshape", g.product(y, width, width), split), perm=[0, 2, 1, 3]) for _ in range(3))
        k, v = (g.op("Concat", f"past_key_values.{layer}.{part}", rows, outputs=[f"present.{layer}.{part}"], axis=2) for part, rows in (("key", k), ("value", v)))
        scores = g.op("Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), g.constant(1 / np.sqrt(head), np.float32))
        y = g.op("MatMul", g.op("Softmax", g.op("Add", scores, bias), axis=-1), v)
        x = g.op("Add", x, g.product(g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]), merged), width, width))
        y = g.product(normal(x), width, sizes.inner)
        x = g.op("Add", x, g.product(g.op("Relu", y), sizes.inner, width))
    g.product(normal(x), width, sizes.vocabulary, outputs=["logits"])
    return g.save(folder, "concatenated", sizes.heads, ("input_ids", "steps"), ("attention_mask", "total"), ("position_ids", "steps"))


def expected(path, prompt, count, session=None):
    """The tokens that onnxruntime writes behind a prompt: a list. `path` is a model's file or its folder."""
    import onnxruntime

    path = pathlib.Path(path)
    session = session or onnxruntime.InferenceSession(str(path / "model.onnx" if path.is_dir() else path), providers=["CPUExecutionProvider"])
    inputs = {each.name: each for each in session.get_inputs()}
    types = {"tensor(float)": np.float32, "tensor(float16)": np.float16}
    caches = {name: np.zeros((1, each.shape[1], 0, each.shape[3]), types[each.type]) for name, each in inputs.items() if name.startswith("past")}
    outputs = [each.name for each in session.get_outputs()]
    tokens, written, length = list(prompt), [], 0
    while len(written) < count:
        feeds = {"input_ids": np.int64([tokens]), "attention_mask": np.ones((1, length + len(tokens)), np.int64), "position_ids": np.arange(length, length + len(tokens))[None], **caches}
        results = dict(zip(outputs, session.run(None, {name: value for name, value in feeds.items() if name in inputs})))
        caches = {name: results[name.replace("past_key_values", "present")] for name in caches}
        length += len(tokens)
        tokens = [int(results["logits"][0, -1].argmax())]
        written += tokens
    return written
