"""Classifiers of images and backbones, at sizes that are open where the architecture leaves them open."""
import timm
import torch
import torchvision.models as tv
import transformers as hf
from architecture import VOCABULARY, Architecture, mask, real, table, tokens

BATCHES = table("batch", (1,), (2,), (5,), (3,))
IMAGES = table("batch height width", (1, 32, 32), (1, 33, 47), (2, 64, 40), (3, 50, 61))
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "image_size": 32, "patch_size": 8}
STAGES = {"hidden_sizes": [8, 12, 16, 24], "depths": [1, 1, 1, 1]}
SWIN = {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4}
CLIP_TEXT = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": 16, "eos_token_id": 98}


def pixels(module, pixel_values):
    return module(pixel_values)


def interpolated(module, pixel_values):
    return module(pixel_values, interpolate_pos_encoding=True)


def any_size(name, make, call=pixels, sizes=IMAGES):
    return Architecture(name, make, {"pixel_values": real("batch", 3, "height", "width")}, sizes, call=call)


def one_size(name, make, size=32, call=pixels):
    return Architecture(name, make, {"pixel_values": real("batch", 3, size, size)}, BATCHES, call=call)


def small(name):
    """One of timm's models for tests."""
    return lambda: timm.create_model(name, pretrained=False, num_classes=10)


class Autoencoder(torch.nn.Module):
    """The two halves of a VAE, with transposed convolutions and pixel shuffle."""

    def __init__(self):
        super().__init__()
        self.down = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 4, 2, 1), torch.nn.GroupNorm(2, 8), torch.nn.SiLU(), torch.nn.Conv2d(8, 16, 3, 2, 1))
        self.up = torch.nn.Sequential(torch.nn.ConvTranspose2d(8, 8, 4, 2, 1), torch.nn.InstanceNorm2d(8, affine=True), torch.nn.LeakyReLU(0.1), torch.nn.Conv2d(8, 12, 3, 1, 1), torch.nn.PixelShuffle(2))

    def forward(self, x):
        mean, log_variance = self.down(x).chunk(2, dim=1)
        return torch.tanh(self.up(mean)), mean, log_variance


def clip():
    return hf.CLIPModel(hf.CLIPConfig(text_config=CLIP_TEXT, vision_config=SMALL, projection_dim=24))


def similarities(module, **inputs):
    result = module(**inputs)
    return result.logits_per_image, result.text_embeds, result.image_embeds


CLIP_INPUTS = {"input_ids": tokens("texts", "seq"), "attention_mask": mask("texts", "seq"), "pixel_values": real("images", 3, 32, 32)}
ARCHITECTURES = [
    one_size("vit", lambda: hf.ViTForImageClassification(hf.ViTConfig(**SMALL))),
    any_size("vit-any-size", lambda: hf.ViTForImageClassification(hf.ViTConfig(**SMALL)), call=interpolated),
    one_size("deit", lambda: hf.DeiTForImageClassificationWithTeacher(hf.DeiTConfig(**SMALL))),
    one_size("beit", lambda: hf.BeitForImageClassification(hf.BeitConfig(**SMALL, use_relative_position_bias=True))),
    any_size("dinov2", lambda: hf.Dinov2Model(hf.Dinov2Config(**SMALL, mlp_ratio=2))),
    any_size("swin", lambda: hf.SwinModel(hf.SwinConfig(**SWIN))),
    any_size("swinv2", lambda: hf.Swinv2Model(hf.Swinv2Config(**SWIN))),
    any_size("convnext", lambda: hf.ConvNextForImageClassification(hf.ConvNextConfig(**STAGES))),
    any_size("convnextv2", lambda: hf.ConvNextV2ForImageClassification(hf.ConvNextV2Config(**STAGES))),
    any_size("resnet", lambda: hf.ResNetForImageClassification(hf.ResNetConfig(embedding_size=8, **STAGES))),
    any_size("regnet", lambda: hf.RegNetForImageClassification(hf.RegNetConfig(embedding_size=8, groups_width=4, **STAGES))),
    any_size("mobilenet-v2", lambda: tv.mobilenet_v2(width_mult=0.25, num_classes=10)),
    any_size("mobilenet-v3", lambda: tv.mobilenet_v3_small(width_mult=0.5, num_classes=10)),
    any_size("efficientnet", lambda: hf.EfficientNetForImageClassification(hf.EfficientNetConfig(width_coefficient=0.25, depth_coefficient=0.2, hidden_dim=320))),
    any_size("densenet", lambda: tv.DenseNet(8, (2, 2), 8, num_classes=10)),
    any_size("shufflenet", lambda: tv.ShuffleNetV2([2, 2, 2], [8, 16, 24, 32, 48], num_classes=10)),
    any_size("squeezenet", lambda: tv.squeezenet1_1(num_classes=10)),
    # How it resizes what is not a multiple of its patches is decided in Python, for the traced size.
    one_size("mobilevit", lambda: hf.MobileViTForImageClassification(hf.MobileViTConfig(image_size=64, hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 12, 16, 16, 24, 32], num_attention_heads=2)), size=64),
    any_size("pvt", lambda: hf.PvtV2ForImageClassification(hf.PvtV2Config(hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4]))),
    any_size("poolformer", lambda: hf.PoolFormerForImageClassification(hf.PoolFormerConfig(**STAGES))),
    one_size("mlp-mixer", lambda: timm.models.mlp_mixer.MlpMixer(img_size=32, patch_size=8, embed_dim=32, num_blocks=2, num_classes=10)),
    any_size("nfnet", small("test_nfnet")),
    any_size("mambaout", small("test_mambaout")),
    any_size("byobnet", small("test_byobnet")),
    any_size("autoencoder", Autoencoder),
    one_size("siglip-vision", lambda: hf.SiglipVisionModel(hf.SiglipVisionConfig(**SMALL))),
    Architecture("clip", clip, CLIP_INPUTS, table("texts seq images", (1, 1, 1), (2, 5, 3), (5, 16, 2), (3, 7, 4)), call=similarities),
]
