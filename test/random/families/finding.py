"""Operators whose results have a size that only data tells."""
import numpy as np

from families import op


@op("Unique", weight=2)
def unique(c, x):
    c.since(11)
    x = x or c.data(c.shape(1, 3, 3000), c.choice([np.float32, np.int64, np.int8, np.float64]), -3, 3)
    c.need(x.exact and x.array.size and x.dtype != bool and (x.dtype.kind != "f" or not np.isnan(x.array).any()))
    c.need(x.dtype in (np.float32, np.float64, np.int64, np.int8))
    axis = c.axis(x.rank) if x.rank and c.chance(0.5) else None
    outputs = c.choice([1, 4, [True, True], [True, False, True], [True, False, False, True]])
    c.node("Unique", [x], outputs, exact=True, axis=axis, sorted=c.choice([None, 0, 1]))
    c.finds = True


@op("NonMaxSuppression", weight=2)
def suppression(c, x):
    c.since(10)
    batches, classes, boxes = c.choice([1, 1, 2]), c.choice([1, 2, 3]), c.extent(65)
    center = c.choice([None, 0, 1])
    corners = c.numbers([batches, boxes, 2, 2], np.float32, 0, 4)
    if center:
        corners[:, :, 1] = np.abs(corners[:, :, 1]) + np.float32(0.25)
    number = lambda value, type=np.float32: c.tensor(np.array([value], type), constant=c.chance(0.8))
    # No two scores of a class are alike, and no overlap is near a threshold.
    scores = np.stack([np.stack([np.array(c.rng.sample(range(boxes), boxes), np.float32) for _ in range(classes)]) for _ in range(batches)]) / np.float32(boxes)
    operands = [c.tensor(corners.reshape(batches, boxes, 4)), c.tensor(scores), number(c.choice([1, 2, 5, 100]), np.int64)]
    operands += [[], [number(0.3713)], [number(0.5171), number(0.3137)]][c.choice([0, 1, 2])]
    c.node("NonMaxSuppression", operands, exact=True, center_point_box=center)
    c.finds = True
