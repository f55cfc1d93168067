"""Detectors, up to the boxes that they report or to what their losses take."""
import torch
import torchvision.models.detection as tv
import transformers as hf
from architecture import Architecture, real, table
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.mask_rcnn import MaskRCNNHeads, MaskRCNNPredictor

BATCHES = table("batch", (1,), (2,), (5,), (3,))
IMAGES = table("batch height width", (1, 64, 64), (1, 65, 79), (2, 96, 64), (3, 81, 70))
PICTURES = table("height width", (64, 64), (65, 79), (96, 64), (81, 70))
RESNET = {"embedding_size": 8, "hidden_sizes": [8, 12, 16, 24], "depths": [1, 1, 1, 1], "out_features": ["stage2", "stage3", "stage4"]}
DETR = {"d_model": 32, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "num_queries": 9, "num_labels": 5}
DETR |= {"use_timm_backbone": False, "use_pretrained_backbone": False, "backbone": None}
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "patch_size": 8}


def boxes(module, pixel_values):
    result = module(pixel_values)
    return result.logits, result.pred_boxes


def reported(module, image):
    """What torchvision's detectors give for one image: boxes, labels, scores, sometimes masks."""
    return module([image])[0]


def backbone(**options):
    return hf.ResNetConfig(**RESNET | options)


def pyramid(width=32):
    """A small backbone with a feature pyramid: maps at a quarter, an eighth and a sixteenth of the image, and a pooled one."""
    conv = lambda i, o: torch.nn.Sequential(torch.nn.Conv2d(i, o, 3, 2, 1, bias=False), torch.nn.BatchNorm2d(o), torch.nn.ReLU())
    body = torch.nn.Sequential(conv(3, 8), conv(8, 12), conv(12, 16), conv(16, 24))
    return BackboneWithFPN(body, {"1": "0", "2": "1", "3": "2"}, [12, 16, 24], width)


TWO_STAGES = {"min_size": 64, "max_size": 96, "rpn_pre_nms_top_n_test": 40, "rpn_post_nms_top_n_test": 20, "box_detections_per_img": 10, "box_score_thresh": 0.0}
ONE_STAGE = {"num_classes": 5, "min_size": 64, "max_size": 96, "topk_candidates": 50, "detections_per_img": 10, "score_thresh": 0.0}


def anchors(count=3):
    return AnchorGenerator(((8,), (16,), (32,), (64,)), ((0.5, 1.0, 2.0)[:count],) * 4)


def two_stages(make, **options):
    return make(pyramid(), None, rpn_anchor_generator=anchors(), box_head=TwoMLPHead(32 * 49, 32), box_predictor=FastRCNNPredictor(32, 5), **TWO_STAGES, **options)


def picture(name, make):
    return Architecture(name, make, {"image": real(3, "height", "width")}, PICTURES, call=reported)


def detr():
    return hf.DetrForObjectDetection(hf.DetrConfig(**DETR, backbone_config=backbone(out_features=["stage4"])))


def conditional_detr():
    return hf.ConditionalDetrForObjectDetection(hf.ConditionalDetrConfig(**DETR, backbone_config=backbone(out_features=["stage4"])))


def deformable_detr():
    return hf.DeformableDetrForObjectDetection(hf.DeformableDetrConfig(**DETR, backbone_config=backbone(), num_feature_levels=3, encoder_n_points=2, decoder_n_points=2))


class Head(torch.nn.Module):
    """The head of a YOLO: boxes from distributions over distances, on a grid made for the image at hand."""

    def __init__(self):
        super().__init__()
        conv = lambda i, o, stride: torch.nn.Sequential(torch.nn.Conv2d(i, o, 3, stride, 1, bias=False), torch.nn.BatchNorm2d(o), torch.nn.SiLU())
        self.stem, self.down = torch.nn.Sequential(conv(3, 8, 2), conv(8, 16, 2), conv(16, 16, 2)), conv(16, 16, 2)
        self.merge, self.out = conv(32, 16, 1), torch.nn.ModuleList(torch.nn.Conv2d(16, 4 * 8 + 5, 1) for _ in range(2))

    def forward(self, image):
        fine = self.stem(image)
        coarse = self.down(fine)
        fine = self.merge(torch.cat([fine, torch.nn.functional.interpolate(coarse, size=fine.shape[2:], mode="nearest")], dim=1))
        results = []
        for features, head, stride in zip((fine, coarse), self.out, (8, 16)):
            distances, scores = head(features).flatten(2).transpose(1, 2).split([32, 5], dim=-1)
            y, x = torch.meshgrid(torch.arange(features.shape[2]) + 0.5, torch.arange(features.shape[3]) + 0.5, indexing="ij")
            centres = torch.stack([x, y], dim=-1).view(1, -1, 2)
            low, high = (distances.unflatten(-1, (4, 8)).softmax(-1) @ torch.arange(8.0)).chunk(2, dim=-1)
            results.append(torch.cat([(centres - low) * stride, (centres + high) * stride, scores.sigmoid()], dim=-1))
        return torch.cat(results, dim=1)


PIXELS = {"pixel_values": real("batch", 3, "height", "width")}
ARCHITECTURES = [
    Architecture("detr", detr, PIXELS, IMAGES, call=boxes),
    Architecture("conditional-detr", conditional_detr, PIXELS, IMAGES, call=boxes),
    Architecture("deformable-detr", deformable_detr, PIXELS, IMAGES, call=boxes),
    Architecture("yolos", lambda: hf.YolosForObjectDetection(hf.YolosConfig(**SMALL, image_size=[64, 64], num_detection_tokens=7, use_mid_position_embeddings=False)), PIXELS, IMAGES, call=boxes),
    Architecture("yolo-head", Head, {"image": real("batch", 3, "height", "width")}, IMAGES),
    picture("ssdlite", lambda: tv.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5)),
    picture("fasterrcnn", lambda: two_stages(tv.FasterRCNN)),
    picture("maskrcnn", lambda: two_stages(tv.MaskRCNN, mask_head=MaskRCNNHeads(32, (16, 16), 1), mask_predictor=MaskRCNNPredictor(16, 16, 5))),
    picture("retinanet", lambda: tv.RetinaNet(pyramid(), anchor_generator=anchors(), **ONE_STAGE)),
    picture("fcos", lambda: tv.FCOS(pyramid(), anchor_generator=anchors(1), **ONE_STAGE)),
]
