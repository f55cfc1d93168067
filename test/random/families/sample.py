"""Operators that read images between the pixels: GridSample, RoiAlign; and MaxRoiPool."""
import numpy as np

from families import op


@op("GridSample", weight=3)
def grid_sample(c, x):
    """Modes have other names before opset 20. ONNX Runtime has no volumes sampled cubically."""
    c.since(16)
    rank = 2 if c.opset < 20 else c.choice([2, 2, 2, 3])
    x = x or c.data([c.extent(3), c.extent(33), *[c.extent(13) for _ in range(rank)]])
    c.need(x.dtype == np.float32 and x.rank in (4, 5 if c.opset >= 20 else 4) and x.array.size and x.array.size < 8000)
    rank = x.rank - 2
    modes = [None, "bilinear", "nearest", "bicubic"] if c.opset < 20 else [None, "linear", "nearest", "cubic"]
    mode = c.choice(modes[: 4 if rank == 2 else 3])
    places = [c.size(9) for _ in range(rank)]
    reach = c.choice([1.0, 1.3, 4.0])
    # No coordinate is a multiple of half a pixel, where a rounding decides which pixel is nearest, and which side a mirror shows.
    grid = c.numbers([x.shape[0], *places, rank], np.float32, -reach, reach) + np.float32(0.00713)
    c.node("GridSample", [x, c.tensor(grid)], mode=mode, padding_mode=c.choice([None, "zeros", "border", "reflection"]), align_corners=c.choice([None, 0, 1]))


@op("RoiAlign", weight=3)
def roi_align(c, x):
    c.since(10)
    x = x or c.data([c.extent(3), c.extent(), c.extent(17), c.extent(17)])
    c.need(x.dtype == np.float32 and x.rank == 4 and x.array.size and x.array.size < 20000)
    scale = c.choice([None, 1.0, 0.5, 0.0625])
    count, (height, width) = c.choice([1, 2, 3, 7]), x.shape[2:]
    corners = c.numbers([count, 2], np.float32, -0.3, 1.0)
    regions = np.concatenate([corners, corners + c.numbers([count, 2], np.float32, 0.05, 0.8)], axis=1) * np.array([width, height] * 2) / (scale or 1) + 0.00713
    ratio, mode = c.choice([None, 0, 1, 2, 3]), c.choice([None, "avg", "max"])
    batch = c.numbers([count], np.int64, 0, x.shape[0] - 1)
    c.need(c.opset < 22 or mode != "max")  # ONNX Runtime has no such form, and onnx.reference takes the largest value in a way of its own
    transformation = c.choice([None, "half_pixel", "output_half_pixel"]) if c.opset >= 16 else None
    c.node("RoiAlign", [x, c.tensor(regions.astype(np.float32)), c.tensor(batch)], mode=mode, output_height=c.choice([None, 1, 3, 7]),
           output_width=c.choice([None, 2, 7]), sampling_ratio=ratio, spatial_scale=scale, coordinate_transformation_mode=transformation)  # fmt: skip


@op("MaxRoiPool", weight=2)
def max_roi_pool(c, x):
    """Corners half between pixels as well, and regions that are outside, or turned round."""
    x = x or c.data([c.extent(3), c.extent(), c.extent(17), c.extent(17)])
    c.need(x.dtype == np.float32 and x.rank == 4 and x.array.size and x.array.size < 20000)
    scale, count, (height, width) = c.choice([None, 1.0, 0.5, 0.0625]), c.choice([1, 2, 3, 7]), x.shape[2:]
    corners = np.round(c.numbers([count, 4], np.float32, -0.6, 1.6) * np.array([width, height] * 2) * 2) / 2 / (scale or 1)
    batch = c.numbers([count, 1], np.int64, 0, x.shape[0] - 1)
    c.node("MaxRoiPool", [x, c.tensor(np.concatenate([batch, corners], axis=1).astype(np.float32))], pooled_shape=[c.choice([1, 3, 7]), c.choice([1, 2, 7, 20])], spatial_scale=scale)


@op("AffineGrid", weight=2)
def affine_grid(c, x):
    c.since(20)
    spatial = c.choice([2, 2, 3])
    x = c.data([c.choice([1, 2, 3]), spatial, spatial + 1])
    corners = c.choice([None, 0, 1])
    size = [x.shape[0], 3, *[c.choice([1, 2, 5, 8, 17]) + (corners == 1) for _ in range(spatial)]]  # one pixel is no distance between corners
    c.node("AffineGrid", [x, c.lengths(size)], align_corners=corners)
