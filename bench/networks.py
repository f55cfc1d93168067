"""Well-known networks that no folder of recorded models holds, written as ONNX models with seeded weights, for bench/compare.py and `ingot verify`.

    networks.py --out DIR [NAME...]      writes DIR/NAME/{model.onnx, test_data_set_0/*.pb, network.txt}
    networks.py --list

Each network is built in PyTorch (torchvision, timm, transformers, or written here), its weights drawn from a fixed seed (what is measured is
independent of their values; batch normalisation gets statistics that keep the activations in range), and exported with fixed shapes. The expected
outputs are ONNX Runtime's, with its optimisations off. network.txt names the network, so that bench/compare.py can measure PyTorch, too.

Needs torch, torchvision, timm, transformers, onnx, onnxscript and onnxruntime: what is absent is said, network by network.
"""
import argparse
import pathlib
import sys


def torchvision_network(name, **options):
    import torchvision

    return getattr(torchvision.models, name)(weights=None, **options)


def timm_network(name):
    import timm

    return timm.create_model(name, pretrained=False)


def deeplab():
    import torch
    import torchvision

    class Segmentation(torch.nn.Module):
        """The scores of the head, without the dictionary around them."""

        def __init__(self):
            super().__init__()
            self.network = torchvision.models.segmentation.deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None)

        def forward(self, image):
            return self.network(image)["out"]

    return Segmentation()


def t5(decoder):
    import torch
    from transformers import T5Config, T5Model

    config = T5Config(vocab_size=4096, d_model=512, d_kv=64, d_ff=2048, num_layers=6, num_heads=8, use_cache=False, attn_implementation="eager")

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = T5Model(config).encoder

        def forward(self, tokens):
            return self.network(input_ids=tokens, return_dict=False)[0]

    class Decoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = T5Model(config).decoder

        def forward(self, tokens, encoded):
            return self.network(input_ids=tokens, encoder_hidden_states=encoded, return_dict=False)[0]

    return Decoder() if decoder else Encoder()


def yolov5s():
    """YOLOv5s 6.0 (Jocher 2021): CSP backbone, SPPF, PAN neck and the three raw heads."""
    import torch
    from torch import nn

    class Conv(nn.Sequential):
        def __init__(self, inputs, outputs, kernel=1, stride=1, padding=None):
            pad = kernel // 2 if padding is None else padding
            super().__init__(nn.Conv2d(inputs, outputs, kernel, stride, pad, bias=False), nn.BatchNorm2d(outputs), nn.SiLU())

    class Bottleneck(nn.Module):
        def __init__(self, channels, shortcut):
            super().__init__()
            self.body, self.shortcut = nn.Sequential(Conv(channels, channels), Conv(channels, channels, 3)), shortcut

        def forward(self, x):
            return x + self.body(x) if self.shortcut else self.body(x)

    class C3(nn.Module):
        def __init__(self, inputs, outputs, depth, shortcut=True):
            super().__init__()
            half = outputs // 2
            self.one, self.two, self.last = Conv(inputs, half), Conv(inputs, half), Conv(outputs, outputs)
            self.body = nn.Sequential(*(Bottleneck(half, shortcut) for _ in range(depth)))

        def forward(self, x):
            return self.last(torch.cat((self.body(self.one(x)), self.two(x)), 1))

    class Pyramid(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.one, self.last, self.pool = Conv(channels, channels // 2), Conv(channels * 2, channels), nn.MaxPool2d(5, 1, 2)

        def forward(self, x):
            x = self.one(x)
            y = self.pool(x)
            z = self.pool(y)
            return self.last(torch.cat((x, y, z, self.pool(z)), 1))

    class Yolo(nn.Module):
        def __init__(self):
            super().__init__()
            self.early = nn.Sequential(Conv(3, 32, 6, 2, 2), Conv(32, 64, 3, 2), C3(64, 64, 1), Conv(64, 128, 3, 2), C3(128, 128, 2))
            self.middle = nn.Sequential(Conv(128, 256, 3, 2), C3(256, 256, 3))
            self.late = nn.Sequential(Conv(256, 512, 3, 2), C3(512, 512, 1), Pyramid(512), Conv(512, 256))
            self.up, self.neck4, self.turn4 = nn.Upsample(scale_factor=2), C3(512, 256, 1, False), Conv(256, 128)
            self.neck3, self.down3, self.neck4b = C3(256, 128, 1, False), Conv(128, 128, 3, 2), C3(256, 256, 1, False)
            self.down4, self.neck5 = Conv(256, 256, 3, 2), C3(512, 512, 1, False)
            self.heads = nn.ModuleList(nn.Conv2d(channels, 255, 1) for channels in (128, 256, 512))

        def forward(self, image):
            p3 = self.early(image)
            p4 = self.middle(p3)
            top = self.late(p4)
            turn = self.turn4(self.neck4(torch.cat((self.up(top), p4), 1)))
            small = self.neck3(torch.cat((self.up(turn), p3), 1))
            medium = self.neck4b(torch.cat((self.down3(small), turn), 1))
            large = self.neck5(torch.cat((self.down4(medium), top), 1))
            return tuple(head(x) for head, x in zip(self.heads, (small, medium, large)))

    return Yolo()


def speech_gru():
    """Two strided convolutions over the spectrum, three GRU layers, scores of 29 letters: the shape of Deep Speech 2 (Amodei et al. 2016)."""
    import torch
    from torch import nn

    class Speech(nn.Module):
        def __init__(self):
            super().__init__()
            self.front = nn.Sequential(
                nn.Conv2d(1, 32, (41, 11), (2, 2), (20, 5)), nn.BatchNorm2d(32), nn.Hardtanh(0, 20), nn.Conv2d(32, 32, (21, 11), (2, 1), (10, 5)), nn.BatchNorm2d(32), nn.Hardtanh(0, 20)
            )
            self.recurrent, self.last = nn.GRU(32 * 41, 512, 3, bidirectional=True), nn.Linear(1024, 29)

        def forward(self, spectrum):
            x = self.front(spectrum)
            x = x.flatten(1, 2).permute(2, 0, 1)
            return torch.log_softmax(self.last(self.recurrent(x)[0]), -1)

    return Speech()


def bert():
    import torch
    from transformers import BertConfig, BertModel

    class Bert(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = BertModel(BertConfig(attn_implementation="eager"), add_pooling_layer=False)

        def forward(self, tokens):
            return self.network(input_ids=tokens, return_dict=False)[0]

    return Bert()


def image(size):
    return lambda torch: (torch.randn(1, 3, size, size),)


NETWORKS = {
    "resnet18": (lambda: torchvision_network("resnet18"), image(224)),
    "resnet101": (lambda: torchvision_network("resnet101"), image(224)),
    "resnet50": (lambda: torchvision_network("resnet50"), image(224)),
    "mobilenet-v2": (lambda: torchvision_network("mobilenet_v2"), image(224)),
    "vgg16": (lambda: torchvision_network("vgg16"), image(224)),
    "mnasnet": (lambda: torchvision_network("mnasnet1_0"), image(224)),
    "deeplabv3-mobilenetv3": (deeplab, image(224)),
    "ghostnet": (lambda: timm_network("ghostnet_100"), image(224)),
    "mobilevit-s": (lambda: timm_network("mobilevit_s"), image(256)),
    "efficientvit-b0": (lambda: timm_network("efficientvit_b0"), image(224)),
    "yolov5s-640": (yolov5s, image(640)),
    "bert-base-128": (bert, lambda torch: (torch.randint(0, 30000, (1, 128)),)),
    "t5-encoder-128": (lambda: t5(False), lambda torch: (torch.randint(0, 4096, (1, 128)),)),
    "t5-decoder-32": (lambda: t5(True), lambda torch: (torch.randint(0, 4096, (1, 32)), torch.randn(1, 128, 512))),
    "speech-gru": (speech_gru, lambda torch: (torch.randn(1, 1, 161, 100),)),
}


def build(name):
    """The PyTorch module in evaluation mode and its example inputs."""
    import torch

    torch.manual_seed(17)
    make, inputs = NETWORKS[name]
    module = make()
    examples = inputs(torch)
    with torch.no_grad():
        for layer in module.modules():
            if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
                layer.momentum = 1.0
        if any(isinstance(layer, torch.nn.modules.batchnorm._BatchNorm) for layer in module.modules()):
            batch = tuple(torch.cat((x, x.flip(-1) * 0.5)) if x.is_floating_point() else x for x in examples)
            module.train()
            for layer in module.modules():
                if isinstance(layer, torch.nn.Dropout):
                    layer.eval()
            module(*batch)  # one step with momentum 1: the statistics become those of this batch
    return module.eval(), examples


def write(name, folder):
    import numpy as np
    import onnx
    import onnxruntime
    import torch
    from onnx import numpy_helper

    module, examples = build(name)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    with torch.no_grad():
        torch.onnx.export(module, examples, folder / "model.onnx", dynamo=True, external_data=False, optimize=True)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    feeds = {port.name: np.ascontiguousarray(value.numpy()) for port, value in zip(session.get_inputs(), examples)}
    names = [port.name for port in session.get_outputs()]
    for kind, values in (("input", feeds.items()), ("output", zip(names, session.run(names, feeds)))):
        for index, (port, value) in enumerate(values):
            onnx.save_tensor(numpy_helper.from_array(np.asarray(value), port), data / f"{kind}_{index}.pb")
    (folder / "network.txt").write_text(name + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME"), parser.add_argument("--out", type=pathlib.Path), parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        return print("\n".join(NETWORKS))
    if not arguments.out:
        parser.error("--out DIR is missing")
    unknown = set(arguments.names) - set(NETWORKS)
    if unknown:
        parser.error(f"no such network: {', '.join(sorted(unknown))} (see --list)")
    failed = []
    for name in arguments.names or NETWORKS:
        try:
            write(name, arguments.out / name)
            print(f"{name}: written", flush=True)
        except ImportError as error:
            print(f"{name}: skipped: {error}", flush=True)
        except Exception as error:  # one network that cannot be exported must not keep the others
            failed.append(name)
            print(f"{name}: {type(error).__name__}: {str(error).strip().splitlines()[-1][:200] if str(error).strip() else ''}", flush=True)
    sys.exit(len(failed) > 0)


if __name__ == "__main__":
    main()
