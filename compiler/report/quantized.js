"use strict";
// The page of a quantization: the report's JSON as tables and pictures. Names get into the page as text alone.
window.addEventListener("error", (event) => { document.documentElement.dataset.error = event.message; });
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function add(parent, tag, text, className) {
  const element = parent.appendChild(document.createElement(tag));
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function draw(parent, tag, attributes, text) {
  const element = parent.appendChild(document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

const number = (value, digits) => (value === undefined || value === null ? "" : Number(value.toPrecision(digits)).toString());
const bytes = (value) => (value < 1e3 ? `${value} B` : value < 1e6 ? `${(value / 1e3).toFixed(1)} kB` : `${(value / 1e6).toFixed(2)} MB`);

function tile(value, what) {
  const box = add(document.getElementById("tiles"), "div", undefined, "tile");
  add(box, "b", value);
  add(box, "span", what);
}

document.getElementById("title").textContent = data.model;
document.getElementById("subtitle").textContent = `${data.scheme}, ${data.samples} samples`;
tile(`${bytes(data.bytes_before)} → ${bytes(data.bytes_after)}`, "file");
if (data.cosine !== undefined) tile(number(data.cosine, 6), "least cosine of an output");
if (data.us_before !== undefined) tile(`${number(data.us_before, 4)} → ${number(data.us_after, 4)} us`, "a run");
tile(`${data.layers.filter((layer) => layer.quantized).length} of ${data.layers.length}`, "layers quantized");

const warnings = document.getElementById("warnings");
if (data.warnings.length === 0) warnings.hidden = true;
for (const text of data.warnings) add(warnings, "p", text);

const columns = [
  ["layer", (layer) => layer.name, "names"],
  ["operator", (layer) => layer.operator],
  ["scheme", (layer) => layer.scheme],
  ["dB", (layer) => number(layer.sqnr_db, 3), "number"],
  ["cosine", (layer) => number(layer.cosine, 6), "number"],
  ["range", (layer) => (layer.low === undefined ? "" : `${number(layer.low, 3)} to ${number(layer.high, 3)}`), "number"],
  ["range by", (layer) => layer.range_by],
  ["smoothing", (layer) => number(layer.smoothing, 2), "number"],
  ["drop alone", (layer) => number(layer.drop_alone, 2), "number"],
  ["weights", (layer) => `${bytes(layer.weight_bytes_before)} → ${bytes(layer.weight_bytes_after)}`, "number"],
  ["us", (layer) => (layer.us_before === undefined ? "" : `${number(layer.us_before, 3)} → ${number(layer.us_after, 3)}`), "number"],
  ["share of the time", (layer) => (layer.share === undefined ? "" : `${(100 * layer.share).toFixed(1)} %`), "number"],
  ["in float, because", (layer) => layer.why, "names"],
].filter(([, of]) => data.layers.some((layer) => of(layer)));

const table = add(document.getElementById("layer-table"), "table");
const head = add(table, "tr");
for (const [title, , className] of columns) add(head, "th", title, className);
for (const layer of data.layers) {
  const row = add(table, "tr");
  for (const [, of, className] of columns) add(row, "td", of(layer) ?? "", className);
}

// Draws counts over values, with dashed lines at the ends of a range.
function picture(parent, title, distribution, ends) {
  const width = 480, height = 150, foot = 18, top = 16;
  const svg = draw(parent, "svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  const { low, high, counts } = distribution;
  const most = Math.log1p(Math.max(...counts)) || 1;
  const x = (value) => ((value - low) / (high - low || 1)) * width;
  counts.forEach((count, i) => {
    const tall = (Math.log1p(count) / most) * (height - foot - top);
    draw(svg, "rect", { class: "bars", x: (i / counts.length) * width, width: width / counts.length - 0.5, y: height - foot - tall, height: tall });
  });
  for (const end of ends) {
    const place = Math.min(Math.max(x(end), 1), width - 1);
    draw(svg, "line", { class: "ends", x1: place, x2: place, y1: top, y2: height - foot });
  }
  draw(svg, "text", { x: 0, y: 11 }, title);
  draw(svg, "text", { x: 0, y: height - 4 }, number(low, 3));
  draw(svg, "text", { x: width, y: height - 4, "text-anchor": "end" }, number(high, 3));
}

const worst = document.getElementById("worst");
const shown = data.layers.filter((layer) => layer.weights).sort((a, b) => (a.sqnr_db ?? Infinity) - (b.sqnr_db ?? Infinity));
if (shown.length === 0) worst.hidden = true;
for (const layer of shown) {
  add(worst, "h3", `${layer.name} (${layer.operator}), ${layer.scheme}${layer.sqnr_db === null || layer.sqnr_db === undefined ? "" : `, ${number(layer.sqnr_db, 3)} dB`}`);
  if (layer.reads) picture(worst, "what it reads", layer.reads, layer.low === undefined ? [] : [layer.low, layer.high]);
  picture(worst, "its weights", layer.weights, []);
}
document.documentElement.dataset.state = "ready";
