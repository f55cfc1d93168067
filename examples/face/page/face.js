// Finds faces with three trained networks, as examples/face/main.cpp does (MTCNN, by Zhang, Zhang, Li and Qiao, 2016): pnet proposes boxes in three
// sizes of the picture, rnet drops most of them, and onet corrects the rest and finds eyes, nose and the corners of the mouth. The proposals are one
// batch of rnet, and what is left of them one of onet.

const width = box => box.right - box.left, height = box => box.bottom - box.top;

/** A picture, whose parts are sampled for a network. */
export class Picture {
  constructor({ data, width, height }) {
    Object.assign(this, { data, width, height });
  }

  /** Writes the box, scaled to columns x rows by averaging, into `out` from `at` on: column by column, RGB from -1 to 1; 0 is outside of the picture. */
  sample(box, columns, rows, out, at) {
    const grid = 4; // points of a pixel along each axis
    for (let column = 0; column < columns; ++column) {
      for (let row = 0; row < rows; ++row) {
        const sum = [0, 0, 0];
        for (let point = 0; point < grid * grid; ++point) {
          const x = Math.floor(box.left + width(box) * (column + (Math.floor(point / grid) + 0.5) / grid) / columns);
          const y = Math.floor(box.top + height(box) * (row + (point % grid + 0.5) / grid) / rows);
          if (x >= 0 && y >= 0 && x < this.width && y < this.height) {
            sum.forEach((_, channel) => { sum[channel] += this.data[4 * (y * this.width + x) + channel]; });
          }
        }
        sum.forEach(value => { out[at++] = (value / (grid * grid) - 127.5) / 128; });
      }
    }
  }

  /** Returns the samples of boxes, all of one size. */
  batch(boxes, columns, rows) {
    const size = 3 * columns * rows, out = new Float32Array(boxes.length * size);
    boxes.forEach((box, i) => this.sample(box, columns, rows, out, i * size));
    return out;
  }
}

/** A box moved by what a network says, in parts of its own size. */
function moved(box, by, score) {
  return { left: box.left + by[0] * width(box), top: box.top + by[1] * height(box), right: box.right + by[2] * width(box), bottom: box.bottom + by[3] * height(box), score };
}

function squared(box) {
  const half = Math.max(width(box), height(box)) / 2, x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  return { left: x - half, top: y - half, right: x + half, bottom: y + half, score: box.score };
}

/** Of boxes that overlap by more than `limit`, only the one with the best score (non-maximum suppression). */
function best(boxes, limit) {
  const kept = [];
  for (const box of [...boxes].sort((a, b) => b.score - a.score)) {
    const isCovered = kept.some(other => {
      const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
      const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
      const common = Math.max(across, 0) * Math.max(down, 0);
      return common > limit * (width(box) * height(box) + width(other) * height(other) - common);
    });
    if (!isCovered) {
      kept.push(box);
    }
  }
  return kept;
}

/** Looks at the whole picture in one size. A cell of pnet's answer stands for the 12x12 pixels from every second one on. */
function propose(picture, pnet, columns, rows) {
  const whole = { left: 0, top: 0, right: picture.width, bottom: picture.height };
  const { conv2d_4: shifts, softmax: scores } = pnet.run({ input_1: picture.batch([whole], columns, rows) }, { N: 1, M1: columns, M2: rows });
  const [, , down] = shifts.dims, stepX = picture.width / columns, stepY = picture.height / rows, found = [];
  for (let cell = 0; cell < scores.data.length / 2; ++cell) {
    const score = scores.data[2 * cell + 1], x = 2 * Math.floor(cell / down), y = 2 * (cell % down);
    if (score > 0.6) {
      const box = { left: x * stepX, top: y * stepY, right: (x + 12) * stepX, bottom: (y + 12) * stepY };
      found.push(moved(box, shifts.data.subarray(4 * cell), score));
    }
  }
  return best(found, 0.5);
}

function refine(picture, rnet, proposals) {
  const boxes = proposals.map(squared);
  if (!boxes.length) {
    return [];
  }
  const { dense_2: shifts, softmax_1: scores } = rnet.run({ input_2: picture.batch(boxes, 24, 24) }, { N: boxes.length });
  const kept = boxes.map((box, i) => moved(box, shifts.data.subarray(4 * i), scores.data[2 * i + 1]));
  return best(kept.filter(box => box.score > 0.7), 0.7);
}

function look(picture, onet, candidates) {
  const boxes = candidates.map(squared);
  if (!boxes.length) {
    return [];
  }
  const { dense_5: shifts, dense_6: places, softmax_2: scores } = onet.run({ input_3: picture.batch(boxes, 48, 48) }, { N: boxes.length });
  const faces = boxes.map((box, i) => {
    const at = places.data.subarray(10 * i);
    const points = [0, 1, 2, 3, 4].map(k => [box.left + at[k] * width(box), box.top + at[k + 5] * height(box)]);
    return { ...moved(box, shifts.data.subarray(4 * i), scores.data[2 * i + 1]), points };
  });
  return faces.filter(face => face.score > 0.7);
}

/** The faces in a picture: boxes with a score, and five points each. */
export function findFaces(picture, { pnet, rnet, onet }) {
  const proposals = [[60, 45], [42, 32], [30, 22]].flatMap(([columns, rows]) => propose(picture, pnet, columns, rows));
  return look(picture, onet, refine(picture, rnet, best(proposals, 0.7)));
}
