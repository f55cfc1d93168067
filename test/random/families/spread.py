"""Windows that go back to where they came from."""
import numpy as np

from families import op


@op("Col2Im", weight=2)
def col2im(c, x):
    c.since(18)
    rank = c.choice([2, 2, 2, 3])
    image = [c.choice([4, 5, 9]) for _ in range(rank)]
    block = [c.choice([1, 2, 3]) for _ in range(rank)]
    numbers = lambda options: [c.choice(options) for _ in range(rank)]
    strides, dilations = c.choice([None, numbers([1, 2, 3])]), c.choice([None, numbers([1, 2])])
    dilations = dilations if rank == 2 else None  # ONNX Runtime 1.31 forgets them in three dimensions
    pads = c.choice([None, numbers([0, 1]) + numbers([0, 1])])
    room = [size + sum((pads or [0] * 2 * rank)[axis::rank]) - (dilations or [1] * rank)[axis] * (block[axis] - 1) - 1 for axis, size in enumerate(image)]
    c.need(min(room) >= 0)
    places = np.prod([space // (strides or [1] * rank)[axis] + 1 for axis, space in enumerate(room)])
    x = c.data([c.choice([1, 2]), c.choice([1, 2, 5]) * int(np.prod(block)), int(places)])
    c.node("Col2Im", [x, c.lengths(image), c.lengths(block)], exact=True, strides=strides, dilations=dilations, pads=pads)


@op("MaxUnpool")
def unpool(c, x):
    """Indices as MaxPool gives them: each place of the image once."""
    c.since(9)
    rank = c.choice([1, 2, 2, 3])
    small, kernel = [c.choice([1, 2, 3, 5]) for _ in range(rank)], [c.choice([2, 3]) for _ in range(rank)]
    pads = c.choice([None, [0] * 2 * rank])
    large = [size * step for size, step in zip(small, kernel)]
    batch = [c.choice([1, 2]), c.choice([1, 3])]
    order = np.random.Generator(np.random.PCG64(c.rng.getrandbits(64))).permutation(int(np.prod(batch + large)))
    indices = order[: int(np.prod(batch + small))].reshape(batch + small).astype(np.int64)
    x = c.data(batch + small)
    shape = c.lengths(batch + large) if c.chance(0.3) else None
    c.node("MaxUnpool", [x, c.tensor(indices), shape], exact=True, kernel_shape=kernel, strides=kernel, pads=pads)
