// A layered layout: nodes read results of nodes above them. Layers by longest path; the order within layers by the
// middle of the neighbours, swept down and up; then each node moves towards its neighbours as far as its layer lets it.
// An edge that passes several layers gets a point in each, so that it goes around the boxes.
"use strict";

const boxWidth = 168, boxHeight = 40, gapX = 22, gapY = 34;

function layersOf(nodes) {
  const layer = new Array(nodes.length).fill(0);
  nodes.forEach((node, i) => { // in an order in which nobody reads what comes later
    for (const from of node.from) {
      layer[i] = Math.max(layer[i], layer[from] + 1);
    }
  });
  // What is read only far below begins just above its first reader.
  const readers = nodes.map(() => []);
  nodes.forEach((node, i) => node.from.forEach(from => readers[from].push(i)));
  for (let i = nodes.length - 1; i >= 0; --i) {
    if (readers[i].length && !nodes[i].from.length) {
      layer[i] = Math.min(...readers[i].map(reader => layer[reader])) - 1;
    }
  }
  return layer;
}

// Nodes and, for edges over several layers, points: {node or -1, layer, above: [], below: []}.
function withPoints(nodes) {
  const layer = layersOf(nodes);
  const items = nodes.map((node, i) => ({ node: i, layer: layer[i], width: boxWidth, above: [], below: [] }));
  const paths = [];
  nodes.forEach((node, i) => {
    for (const from of node.from) {
      const path = [items[from]];
      for (let at = layer[from] + 1; at < layer[i]; ++at) {
        const point = { node: -1, layer: at, width: 8, above: [], below: [] };
        items.push(point);
        path.push(point);
      }
      path.push(items[i]);
      for (let k = 1; k < path.length; ++k) {
        path[k].above.push(path[k - 1]);
        path[k - 1].below.push(path[k]);
      }
      paths.push({ from, to: i, path });
    }
  });
  return { items, paths };
}

function middle(items, value) {
  const values = items.map(value).sort((a, b) => a - b), half = values.length >> 1;
  return values.length % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

function order(rows, sweeps) {
  rows.forEach(row => row.forEach((item, i) => { item.place = i; }));
  for (let sweep = 0; sweep < sweeps; ++sweep) {
    const down = sweep % 2 === 0, sequence = down ? rows : [...rows].reverse();
    for (const row of sequence) {
      for (const item of row) {
        const near = down ? item.above : item.below;
        item.key = near.length ? middle(near, other => other.place) : item.place;
      }
      row.sort((a, b) => a.key - b.key);
      row.forEach((item, i) => { item.place = i; });
    }
  }
}

function place(rows, sweeps) {
  for (const row of rows) {
    let x = 0;
    for (const item of row) {
      item.x = x + item.width / 2;
      x += item.width + gapX;
    }
  }
  for (let sweep = 0; sweep < sweeps; ++sweep) {
    const down = sweep % 2 === 0, sequence = down ? rows : [...rows].reverse();
    for (const row of sequence) {
      const wanted = row.map(item => {
        const near = down ? item.above : item.below;
        return near.length ? middle(near, other => other.x) : item.x;
      });
      // As near to what is wanted as the order lets them: once pushed to the right, once to the left, the mean of both.
      const right = [], left = [];
      row.forEach((item, i) => {
        right[i] = i ? Math.max(wanted[i], right[i - 1] + (row[i - 1].width + item.width) / 2 + gapX) : wanted[i];
      });
      for (let i = row.length - 1; i >= 0; --i) {
        left[i] = i < row.length - 1 ? Math.min(wanted[i], left[i + 1] - (row[i + 1].width + row[i].width) / 2 - gapX) : wanted[i];
      }
      row.forEach((item, i) => { item.x = (left[i] + right[i]) / 2; });
    }
  }
}

// A graph much deeper than wide goes on at the top of a next column: {rows: of a column, lefts: of each, shifts: what
// its items move by, width}. As many columns as make the whole about as wide as a screen.
function columnsOf(used) {
  const extents = used.map(row => [Math.min(...row.map(item => item.x - item.width / 2)), Math.max(...row.map(item => item.x + item.width / 2))]);
  let best = null;
  for (let count = 1; count <= Math.min(16, used.length); ++count) {
    const rows = Math.ceil(used.length / count), candidate = { rows, lefts: [], shifts: [], width: 0 };
    for (let start = 0; start < used.length; start += rows) {
      const mine = extents.slice(start, start + rows), left = Math.min(...mine.map(extent => extent[0]));
      candidate.lefts.push(candidate.width);
      candidate.shifts.push(candidate.width - left);
      candidate.width += Math.max(...mine.map(extent => extent[1])) - left + 4 * gapX;
    }
    candidate.error = Math.abs(Math.log(candidate.width / (rows * (boxHeight + gapY)) / 1.4));
    best = !best || candidate.error < best.error ? candidate : best;
  }
  return best;
}

// An edge into the next column leaves at the bottom of its own, rises between the two and comes in at the top.
function aroundColumns(points, lefts, height) {
  const path = [];
  points.forEach((point, i) => {
    const before = points[i - 1];
    for (let column = before ? before.column : point.column; column < point.column; ++column) {
      const gap = lefts[column + 1] - 2 * gapX, bottom = height - gapY / 2;
      path.push({ x: gap, y: bottom, bend: true }, { x: gap, y: -gapY / 2, bend: true });
    }
    path.push(point);
  });
  return path;
}

// {boxes: [{x, y}], edges: [{from, to, points}], width, height}; x and y are of middles.
function layOut(nodes) {
  const { items, paths } = withPoints(nodes), rows = [];
  for (const item of items) {
    (rows[item.layer] = rows[item.layer] || []).push(item);
  }
  const used = rows.filter(row => row), sweeps = items.length > 20000 ? 4 : 12;
  order(used, sweeps);
  place(used, sweeps);
  const columns = columnsOf(used), height = columns.rows * (boxHeight + gapY);
  used.forEach((row, i) => row.forEach(item => {
    item.column = Math.floor(i / columns.rows);
    item.x += columns.shifts[item.column];
    item.y = i % columns.rows * (boxHeight + gapY) + boxHeight / 2;
  }));
  const point = item => ({ x: item.x, y: item.y, column: item.column });
  return {
    boxes: items.slice(0, nodes.length).map(point),
    edges: paths.map(({ from, to, path }) => ({ from, to, points: aroundColumns(path.map(point), columns.lefts, height) })),
    width: columns.width - 4 * gapX, height,
  };
}

// Nodes in a row that only hand on to one another become one: {members, from}, from by the new numbers.
function foldChains(nodes) {
  const readers = nodes.map(() => []);
  nodes.forEach((node, i) => node.from.forEach(from => readers[from].push(i)));
  const groupOf = new Array(nodes.length), groups = [];
  nodes.forEach((node, i) => {
    const before = node.from.length === 1 ? node.from[0] : -1;
    if (before >= 0 && readers[before].length === 1 && !nodes[before].port && !node.port) {
      groupOf[i] = groupOf[before];
      groups[groupOf[i]].members.push(i);
    } else {
      groupOf[i] = groups.length;
      groups.push({ members: [i], from: [] });
    }
  });
  // A group reads what its first member reads, and stands where its last one stood: no order is lost.
  groups.forEach(group => { group.from = [...new Set(nodes[group.members[0]].from.map(from => groupOf[from]))]; });
  return groups;
}
