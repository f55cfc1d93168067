"""Trains the small models by which bench/trained.py measures quantizers, on data that packages ship, and writes them as ONNX.

    trained_models.py FOLDER [--only NAME ...]

Needs torch and scikit-learn, and takes some minutes on two cores. Pictures are scikit-learn's digits with so much noise that accuracy is well below
1, since a quantizer can do no harm to a model that is sure of all it says. The text is the help of Python's own `pydoc_data`. FOLDER/NAME has
model.onnx, `samples`, which have 32 files to calibrate with (one sample each, from what was trained on), and held.npz with inputs and answers
that training and calibration have not seen. Graphs are written node by node, so that they do not depend on an exporter.
"""
import argparse
import pathlib
import re
import sys
import time

sys.path = [folder for folder in sys.path if folder != str(pathlib.Path(__file__).resolve().parent)]  # torch looks for a module `cuda`, and there is one here

import numpy as np
import onnx
import pydoc_data.topics
import torch
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

SAMPLES = 32  # files to calibrate with
CONTEXT = 64  # letters that the language model reads
SCENE, INK = 24, 4  # pixels on a side of the pictures with several digits, and the most ink of one


class Graph:
    """Nodes in the order in which they are added; arrays and torch's tensors among operands are weights."""

    def __init__(self, shape, kind=TensorProto.FLOAT):
        self.nodes, self.weights = [], []
        self.input = helper.make_tensor_value_info("x", kind, shape)

    def add(self, op, *operands, outputs=1, **attributes):
        names = []
        for operand in operands:
            names.append(operand if isinstance(operand, str) else f"w{len(self.weights)}")
            if not isinstance(operand, str):
                array = operand.detach().numpy() if isinstance(operand, torch.Tensor) else operand
                self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), names[-1]))
        results = [f"v{len(self.nodes)}" + (f"_{k}" if k else "") for k in range(outputs)]
        self.nodes.append(helper.make_node(op, names, results, name=f"{op}_{len(self.nodes)}", **attributes))
        return results[0]

    def model(self, output, *shape):
        declared = helper.make_tensor_value_info(output, TensorProto.FLOAT, ["n", *shape])
        graph = helper.make_graph(self.nodes, "trained", [self.input], [declared], self.weights)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(made)
        return made


def digits(noise, seed):
    """(pictures, answers) of the training part, and of the held-out part four times with other noise."""
    images, answers = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(answers))
    images, answers = (images[order] / 16).astype(np.float32).reshape(-1, 1, 8, 8), answers[order]
    held, held_answers = np.tile(images[1200:], (4, 1, 1, 1)), np.tile(answers[1200:], 4)
    held = held + np.random.default_rng(seed).normal(0, noise, held.shape).astype(np.float32)
    return (images[:1200], answers[:1200]), (held, held_answers)


def train_classifier(net, noise, steps, shape=(1, 8, 8), rate=3e-3):
    """Trains on digits with fresh noise in each step; returns what calibration and evaluation read."""
    (images, answers), (held, held_answers) = digits(noise, seed=1)
    images, answers, random = torch.from_numpy(images), torch.from_numpy(answers), torch.Generator().manual_seed(2)
    optimizer = torch.optim.AdamW(net.parameters(), rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    net.train()
    for _ in range(steps):
        batch = torch.randint(0, len(images), (64,), generator=random)
        noisy = images[batch] + noise * torch.randn(images[batch].shape, generator=random)
        optimizer.zero_grad()
        F.cross_entropy(net(noisy.reshape(-1, *shape)), answers[batch]).backward()
        optimizer.step()
        schedule.step()
    net.eval()
    samples = images[:SAMPLES] + noise * torch.randn((SAMPLES, 1, 8, 8), generator=random)
    return samples.numpy().reshape(-1, 1, *shape), held.reshape(-1, *shape), held_answers


def folded(conv, norm):
    """Weights and bias of a convolution with the normalization behind it."""
    factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return conv.weight * factor.reshape(-1, 1, 1, 1), norm.bias - norm.running_mean * factor


class Block(nn.Module):
    """Expand, depthwise, project, with a residual sum where shapes allow one."""

    def __init__(self, channels, outputs, stride):
        super().__init__()
        wide = 4 * channels
        self.stride, self.residual = stride, stride == 1 and channels == outputs
        self.convs = nn.ModuleList([nn.Conv2d(channels, wide, 1, bias=False), nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), nn.Conv2d(wide, outputs, 1, bias=False)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(wide), nn.BatchNorm2d(wide), nn.BatchNorm2d(outputs)])

    def forward(self, x):
        y = F.relu(self.norms[0](self.convs[0](x)))
        y = F.relu(self.norms[1](self.convs[1](y)))
        y = self.norms[2](self.convs[2](y))
        return y + x if self.residual else y

    def write(self, g, x, random):
        """`random`: a channel of the depthwise layer gets a factor of 2^-3 or 2^3 in front of it and one behind it, which the neighbours take back."""
        (w0, b0), (w1, b1), (w2, b2) = [folded(conv, norm) for conv, norm in zip(self.convs, self.norms)]
        before, behind = [torch.exp2(torch.from_numpy(random.choice([-3, 3], len(w0)).astype(np.float32)) if random else torch.zeros(len(w0))) for _ in range(2)]
        along = lambda factor: factor.reshape(-1, 1, 1, 1)
        w0, b0, w1, b1, w2 = w0 * along(before), b0 * before, w1 * along(behind / before), b1 * behind, w2 / behind.reshape(1, -1, 1, 1)
        y = g.add("Relu", g.add("Conv", x, w0, b0))
        y = g.add("Relu", g.add("Conv", y, w1, b1, group=len(w1), pads=[1] * 4, strides=[self.stride] * 2))
        y = g.add("Conv", y, w2, b2)
        return g.add("Add", y, x) if self.residual else y


class MobileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(1, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        self.blocks = nn.ModuleList([Block(16, 16, 1), Block(16, 24, 2), Block(24, 24, 1), Block(24, 32, 2), Block(32, 32, 1)])
        self.last = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.norm(self.stem(x)))
        for block in self.blocks:
            x = block(x)
        return self.last(x.mean((2, 3)))

    def write(self, random):
        g = Graph(["n", 1, 8, 8])
        x = g.add("Relu", g.add("Conv", "x", *folded(self.stem, self.norm), pads=[1] * 4))
        for block in self.blocks:
            x = block.write(g, x, random)
        return g.model(g.add("Gemm", g.add("Flatten", g.add("GlobalAveragePool", x)), self.last.weight, self.last.bias, transB=1), 10)


class ResNet(nn.Module):
    """Plain convolutions in residual pairs, with SiLU behind them."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(1, 24, 3, 1, 1)] + [nn.Conv2d(24, 24, 3, 1, 1) for _ in range(6)])
        self.last = nn.Linear(24, 10)

    def forward(self, x):
        x = F.silu(self.convs[0](x))
        for first, second in zip(self.convs[1::2], self.convs[2::2]):
            x = x + second(F.silu(first(x)))
        return self.last(F.silu(x).mean((2, 3)))

    def write(self):
        g = Graph(["n", 1, 8, 8])
        conv = lambda x, layer: g.add("Conv", x, layer.weight, layer.bias, pads=[1] * 4)
        silu = lambda x: g.add("Mul", x, g.add("Sigmoid", x))
        x = silu(conv("x", self.convs[0]))
        for first, second in zip(self.convs[1::2], self.convs[2::2]):
            x = g.add("Add", x, conv(silu(conv(x, first)), second))
        return g.model(g.add("Gemm", g.add("Flatten", g.add("GlobalAveragePool", silu(x))), self.last.weight, self.last.bias, transB=1), 10)


class UNet(nn.Module):
    """Says for each pixel of a noisy picture how much ink there is: two halvings with SiLU, and the way back beside what was there before."""

    def __init__(self):
        super().__init__()
        conv = lambda inputs, outputs: nn.Conv2d(inputs, outputs, 3, 1, 1)
        self.convs = nn.ModuleList([conv(1, 16), conv(16, 16), conv(16, 32), conv(32, 32), conv(32, 48), conv(48, 48), conv(80, 32), conv(48, 16)])
        self.last = nn.Conv2d(16, INK + 1, 1)

    def way(self, x, conv, pool, joined, last):
        """The layers in their order, by what computes them."""
        high = conv(conv(x, 0), 1)
        middle = conv(conv(pool(high), 2), 3)
        low = conv(conv(pool(middle), 4), 5)
        return last(conv(joined(conv(joined(low, middle), 6), high), 7))

    def forward(self, x):
        joined = lambda low, high: torch.cat([F.interpolate(low, scale_factor=2), high], 1)
        return self.way(x, lambda x, k: F.silu(self.convs[k](x)), lambda x: F.max_pool2d(x, 2), joined, self.last)

    def write(self):
        g = Graph(["n", 1, SCENE, SCENE])

        def conv(x, k):
            x = g.add("Conv", x, self.convs[k].weight, self.convs[k].bias, pads=[1] * 4)
            return g.add("Mul", x, g.add("Sigmoid", x))

        def joined(low, high):
            twice = g.add("Resize", low, "", np.array([1, 1, 2, 2], np.float32), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
            return g.add("Concat", twice, high, axis=1)

        pool = lambda x: g.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        return g.model(self.way("x", conv, pool, joined, lambda x: g.add("Conv", x, self.last.weight, self.last.bias)), INK + 1, SCENE, SCENE)


def scenes(images, count, noise, random):
    """(pictures of up to four digits at places of their own, the ink of each pixel)."""
    pictures = np.zeros((count, 1, SCENE, SCENE), np.float32)
    for picture in pictures[:, 0]:
        for row, column in ((0, 0), (0, 12), (12, 0), (12, 12)):
            if random.random() < 0.75:
                down, right = random.integers(0, 5, 2)
                picture[row + down : row + down + 8, column + right : column + right + 8] = images[random.integers(len(images)), 0]
    return pictures + random.normal(0, noise, pictures.shape).astype(np.float32), np.rint(INK * pictures[:, 0]).astype(np.int64)


def train_unet(net, noise=0.3, steps=500):
    (images, _), (held, _) = digits(0, seed=1)
    random = np.random.default_rng(6)
    optimizer = torch.optim.AdamW(net.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        pictures, labels = scenes(images, 32, noise, random)
        optimizer.zero_grad()
        F.cross_entropy(net(torch.from_numpy(pictures)), torch.from_numpy(labels)).backward()
        optimizer.step()
        schedule.step()
    net.eval()
    samples = scenes(images, SAMPLES, noise, random)[0]
    return (samples[:, None], *scenes(held, 600, noise, random))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(64, 128), nn.Linear(128, 128), nn.Linear(128, 10)])

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.gelu(layer(x))
        return self.layers[-1](x)

    def write(self):
        g, x = Graph(["n", 64]), "x"
        for number, layer in enumerate(self.layers):
            x = g.add("Add", g.add("MatMul", x, layer.weight.T), layer.bias)
            if number + 1 < len(self.layers):
                x = g.add("Mul", g.add("Mul", x, g.add("Add", g.add("Erf", g.add("Mul", x, np.float32(0.5**0.5))), np.float32(1))), np.float32(0.5))
        return g.model(x, 10)


class Recurrent(nn.Module):
    """Reads a picture row by row."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.net = kind, getattr(nn, kind)(8, 64, batch_first=True)
        self.last = nn.Linear(64, 10)

    def forward(self, x):
        return self.last(self.net(x)[0][:, -1])

    def write(self):
        g = Graph(["n", 8, 8])
        order = {"LSTM": [0, 3, 1, 2], "GRU": [1, 0, 2]}[self.kind]  # torch's gates in ONNX's order
        turned = lambda w: torch.cat([w.chunk(len(order))[k] for k in order])
        w, r, wb, rb = [turned(getattr(self.net, name)) for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")]
        more = {"linear_before_reset": 1} if self.kind == "GRU" else {}
        states = 3 if self.kind == "LSTM" else 2
        g.add(self.kind, g.add("Transpose", "x", perm=[1, 0, 2]), w[None], r[None], torch.cat([wb, rb])[None], hidden_size=64, outputs=states, **more)
        y = g.add("Squeeze", g.nodes[-1].output[1], np.array([0], np.int64))
        return g.model(g.add("Gemm", y, self.last.weight, self.last.bias, transB=1), 10)


def text():
    """(letters, numbers of the letters) of Python's help."""
    whole = re.sub(r"[ \t]+", " ", "\n".join(pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics)))
    letters = sorted(set(whole))
    place = {letter: number for number, letter in enumerate(letters)}
    return letters, np.array([place[letter] for letter in whole], np.int64)


class Language(nn.Module):
    """A transformer that says what the next letter is."""

    WIDTH, HEADS, DEPTH = 64, 4, 3

    def __init__(self, letters):
        super().__init__()
        width = self.WIDTH
        self.embed, self.place = nn.Embedding(letters, width), nn.Parameter(0.02 * torch.randn(CONTEXT, width))
        names = {"q": (width, width), "k": (width, width), "v": (width, width), "o": (width, width), "up": (width, 4 * width), "down": (4 * width, width)}
        self.layers = nn.ModuleList([nn.ModuleDict({name: nn.Linear(*shape) for name, shape in names.items()} | {"n1": nn.LayerNorm(width), "n2": nn.LayerNorm(width)}) for _ in range(self.DEPTH)])
        self.norm, self.last = nn.LayerNorm(width), nn.Linear(width, letters)

    def forward(self, x):
        x = self.embed(x) + self.place
        for layer in self.layers:
            y = layer["n1"](x)
            heads = [layer[name](y).reshape(*y.shape[:2], self.HEADS, -1).transpose(1, 2) for name in "qkv"]
            y = F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).reshape(x.shape)
            x = x + layer["o"](y)
            x = x + layer["down"](F.gelu(layer["up"](layer["n2"](x))))
        return self.last(self.norm(x))

    def write(self, outliers):
        """`outliers`: four channels behind each LayerNorm get 40 times as large, and the weights that read them as much smaller."""
        g, width, heads = Graph(["n", CONTEXT], TensorProto.INT64), self.WIDTH, self.HEADS
        random, each = np.random.default_rng(5), width // heads

        def normalized(x, norm):
            factor = torch.ones(width)
            factor[torch.from_numpy(random.permutation(width)[:4])] = 40 if outliers else 1
            return g.add("LayerNormalization", x, norm.weight * factor, norm.bias * factor), factor

        def dense(x, layer, factor=1):
            return g.add("Add", g.add("MatMul", x, (layer.weight / factor).T), layer.bias)

        split = lambda x, perm: g.add("Transpose", g.add("Reshape", x, np.array([0, CONTEXT, heads, each], np.int64)), perm=perm)
        x = g.add("Add", g.add("Gather", self.embed.weight, "x"), self.place)
        mask = np.triu(np.full((CONTEXT, CONTEXT), -1e4, np.float32), 1)
        for layer in self.layers:
            y, factor = normalized(x, layer["n1"])
            q, k, v = [split(dense(y, layer[name], factor), perm) for name, perm in zip("qkv", ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))]
            scores = g.add("Softmax", g.add("Add", g.add("Mul", g.add("MatMul", q, k), np.float32(each**-0.5)), mask), axis=-1)
            joined = g.add("Reshape", g.add("Transpose", g.add("MatMul", scores, v), perm=[0, 2, 1, 3]), np.array([0, CONTEXT, width], np.int64))
            x = g.add("Add", x, dense(joined, layer["o"]))
            y, factor = normalized(x, layer["n2"])
            y = dense(y, layer["up"], factor)
            y = g.add("Mul", g.add("Mul", y, g.add("Add", g.add("Erf", g.add("Mul", y, np.float32(0.5**0.5))), np.float32(1))), np.float32(0.5))
            x = g.add("Add", x, dense(y, layer["down"]))
        y, factor = normalized(x, self.norm)
        return g.model(dense(y, self.last, factor), CONTEXT, len(self.embed.weight))


def train_language(steps=1500):
    letters, numbers = text()
    # Whole pieces are held out, from all over the text: its topics differ.
    pieces = numbers[: len(numbers) // 1024 * 1024].reshape(-1, 1024)
    is_held = np.arange(len(pieces)) % 10 == 9
    trained, held = torch.from_numpy(pieces[~is_held]), pieces[is_held]
    net, random = Language(len(letters)), torch.Generator().manual_seed(3)
    optimizer = torch.optim.AdamW(net.parameters(), 3e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)

    def windows(count):
        rows = torch.randint(0, len(trained), (count,), generator=random)
        starts = torch.randint(0, 1024 - CONTEXT - 1, (count,), generator=random)
        whole = torch.stack([trained[row, start : start + CONTEXT + 1] for row, start in zip(rows, starts)])
        return whole[:, :-1], whole[:, 1:]

    for _ in range(steps):
        x, y = windows(32)
        optimizer.zero_grad()
        F.cross_entropy(net(x).flatten(0, 1), y.flatten()).backward()
        optimizer.step()
        schedule.step()
    net.eval()
    samples = windows(SAMPLES)[0].numpy()[:, None]
    starts = range(0, 1024 - CONTEXT - 1, CONTEXT)
    return net, samples, np.concatenate([held[:, s : s + CONTEXT] for s in starts]), np.concatenate([held[:, s + 1 : s + CONTEXT + 1] for s in starts])


def made(names):
    """(name, model, samples, held inputs, answers) of each model; what is trained once may be written in two forms."""
    if {"mobilenet", "mobilenet-spread"} & names:
        torch.manual_seed(0)
        net = MobileNet()
        data = train_classifier(net, 0.45, 700)
        yield "mobilenet", net.write(None), *data
        yield "mobilenet-spread", net.write(np.random.default_rng(4)), *data
    for name, make, noise, steps, shape in (
        ("resnet-silu", ResNet, 0.45, 500, (1, 8, 8)),
        ("mlp", Mlp, 0.35, 1500, (64,)),
        ("lstm", lambda: Recurrent("LSTM"), 0.35, 1000, (8, 8)),
        ("gru", lambda: Recurrent("GRU"), 0.35, 1000, (8, 8)),
    ):
        if name in names:
            torch.manual_seed(0)
            net = make()
            data = train_classifier(net, noise, steps, shape)
            yield name, net.write(), *data
    if "unet-silu" in names:
        torch.manual_seed(0)
        net = UNet()
        data = train_unet(net)
        yield "unet-silu", net.write(), *data
    if {"language", "language-outliers"} & names:
        torch.manual_seed(0)
        net, *data = train_language()
        yield "language", net.write(False), *data
        yield "language-outliers", net.write(True), *data


NAMES = ["mobilenet", "mobilenet-spread", "resnet-silu", "unet-silu", "mlp", "lstm", "gru", "language", "language-outliers"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=NAMES, choices=NAMES)
    options = parser.parse_args()
    torch.set_num_threads(1)  # layers this small gain nothing, and two threads wait for each other where the machine is busy
    start = time.time()
    for name, model, samples, held, answers in made(set(options.only)):
        if name not in options.only:
            continue
        folder = options.folder / name
        (folder / "samples").mkdir(parents=True, exist_ok=True)
        onnx.save(model, folder / "model.onnx")
        for number, sample in enumerate(samples):
            np.save(folder / "samples" / f"{number:03}.npy", sample)
        np.savez(folder / "held.npz", x=held, answers=answers)
        print(f"{name}: {sum(np.prod(w.dims, dtype=int) for w in model.graph.initializer)} weights, {len(held)} held out, {time.time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
