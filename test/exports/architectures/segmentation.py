"""Masks, depths and other images as results."""
import torch
import torchvision.models.segmentation as tv
import transformers as hf
from architecture import Architecture, real, table
from torch.nn import functional as F

IMAGES = table("batch height width", (1, 64, 64), (1, 65, 79), (2, 96, 64), (3, 81, 70))
BATCHES = table("batch", (1,), (2,), (5,), (3,))
PIXELS = {"pixel_values": real("batch", 3, "height", "width")}
SWIN = {"image_size": 64, "patch_size": 2, "embed_dim": 8, "depths": [1, 1, 1, 1], "num_heads": [1, 2, 2, 2], "window_size": 4, "out_features": ["stage1", "stage2", "stage3", "stage4"]}
DETR = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "num_queries": 6}
VIT = {"hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 48, "image_size": 32, "patch_size": 8}


class Unet(torch.nn.Module):
    """UNet, which brings its halves back to each other's sizes."""

    def __init__(self, widths=(8, 12, 16)):
        super().__init__()
        block = lambda i, o: torch.nn.Sequential(torch.nn.Conv2d(i, o, 3, padding=1), torch.nn.BatchNorm2d(o), torch.nn.ReLU())
        self.down = torch.nn.ModuleList(block(i, o) for i, o in zip((3, *widths), widths))
        self.grow = torch.nn.ModuleList(torch.nn.ConvTranspose2d(i, o, 2, stride=2) for i, o in zip(widths[:0:-1], widths[-2::-1]))
        self.up = torch.nn.ModuleList(block(2 * o, o) for o in widths[-2::-1])
        self.head = torch.nn.Conv2d(widths[0], 4, 1)

    def forward(self, pixel_values):
        x, kept = pixel_values, []
        for block in self.down:
            x = block(F.max_pool2d(x, 2) if kept else x)
            kept.append(x)
        for grow, up, skip in zip(self.grow, self.up, kept[-2::-1]):
            x = grow(x)
            x = F.pad(x, (0, skip.shape[3] - x.shape[3], 0, skip.shape[2] - x.shape[2]))
            x = up(torch.cat([skip, x], dim=1))
        return self.head(x)


class Diffusion(torch.nn.Module):
    """The UNet of a diffusion model in small: the time as sines, attention to a text at the lowest resolution."""

    def __init__(self, width=16):
        super().__init__()
        self.time = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.SiLU(), torch.nn.Linear(width, width))
        self.first, self.down = torch.nn.Conv2d(4, width, 3, padding=1), torch.nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.norm, self.attend = torch.nn.GroupNorm(4, width), torch.nn.MultiheadAttention(width, 2, kdim=12, vdim=12, batch_first=True)
        self.up, self.last = torch.nn.Conv2d(width, width, 3, padding=1), torch.nn.Conv2d(2 * width, 4, 3, padding=1)

    def forward(self, latents, time, text):
        angles = time[:, None].float() * torch.exp(-torch.arange(8) / 2.0)
        condition = self.time(torch.cat([angles.sin(), angles.cos()], dim=-1))
        first = self.first(latents) + condition[:, :, None, None]
        x = F.silu(self.norm(self.down(first)))
        flat = x.flatten(2).transpose(1, 2)
        x = x + self.attend(flat, text, text, need_weights=False)[0].transpose(1, 2).view_as(x)
        x = self.up(F.interpolate(x, size=first.shape[2:], mode="nearest"))
        return self.last(torch.cat([x, first], dim=1))


def segformer():
    return hf.SegformerForSemanticSegmentation(hf.SegformerConfig(hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=16, num_labels=5))


def maskformer():
    return hf.MaskFormerForInstanceSegmentation(hf.MaskFormerConfig(fpn_feature_size=32, mask_feature_size=32, backbone_config=hf.MaskFormerSwinConfig(**SWIN), decoder_config=hf.DetrConfig(**DETR)))


def mask2former():
    options = {"feature_size": 32, "mask_feature_size": 32, "hidden_dim": 32, "encoder_feedforward_dim": 24, "encoder_layers": 1, "decoder_layers": 2, "num_attention_heads": 2, "dim_feedforward": 24, "num_queries": 6}
    return hf.Mask2FormerForUniversalSegmentation(hf.Mask2FormerConfig(**options, backbone_config=hf.SwinConfig(**SWIN)))


def masks(module, pixel_values):
    result = module(pixel_values)
    return result.class_queries_logits, result.masks_queries_logits


def dpt():
    return hf.DPTForDepthEstimation(hf.DPTConfig(**VIT, backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 12, 16, 24], fusion_hidden_size=16, readout_type="project"))


def depth_anything():
    backbone = hf.Dinov2Config(hidden_size=32, num_hidden_layers=4, num_attention_heads=4, mlp_ratio=2, image_size=28, patch_size=7, out_indices=[1, 2, 3, 4], reshape_hidden_states=False, apply_layernorm=True)
    return hf.DepthAnythingForDepthEstimation(hf.DepthAnythingConfig(backbone_config=backbone, patch_size=7, reassemble_hidden_size=32, neck_hidden_sizes=[8, 12, 16, 24], fusion_hidden_size=16, head_in_channels=16))


def upernet():
    backbone = hf.ConvNextConfig(hidden_sizes=[8, 12, 16, 24], depths=[1, 1, 1, 1], out_features=["stage1", "stage2", "stage3", "stage4"])
    return hf.UperNetForSemanticSegmentation(hf.UperNetConfig(backbone_config=backbone, hidden_size=16, auxiliary_in_channels=16, auxiliary_channels=8, num_labels=5))


def plain(module, pixel_values):
    return module(pixel_values)["out"]


SMALL_TV = {"weights": None, "weights_backbone": None, "num_classes": 5}
LATENTS = {"latents": real("batch", 4, "height", "width"), "time": real("batch"), "text": real("batch", "seq", 12)}
ARCHITECTURES = [
    Architecture("segformer", segformer, PIXELS, IMAGES, call=lambda module, pixel_values: module(pixel_values).logits),
    Architecture("maskformer", maskformer, PIXELS, IMAGES, call=masks),
    Architecture("mask2former", mask2former, PIXELS, IMAGES, call=masks),
    Architecture("upernet", upernet, PIXELS, IMAGES, call=lambda module, pixel_values: module(pixel_values).logits),
    Architecture("dpt", dpt, {"pixel_values": real("batch", 3, 32, 32)}, BATCHES, call=lambda module, pixel_values: module(pixel_values).predicted_depth),
    Architecture("depth-anything", depth_anything, PIXELS, IMAGES, call=lambda module, pixel_values: module(pixel_values).predicted_depth),
    Architecture("deeplab", lambda: tv.deeplabv3_mobilenet_v3_large(**SMALL_TV), PIXELS, IMAGES, call=plain),
    Architecture("lraspp", lambda: tv.lraspp_mobilenet_v3_large(**SMALL_TV), PIXELS, IMAGES, call=plain),
    Architecture("unet", Unet, PIXELS, IMAGES),
    Architecture("diffusion", Diffusion, LATENTS, table("batch height width seq", (1, 8, 8, 1), (2, 9, 13, 7), (1, 16, 10, 5), (3, 11, 12, 4))),
]
