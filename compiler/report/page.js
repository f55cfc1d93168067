// The page: reads the data, fills the sections. Names from the model are put in as text only.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function draw(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function bytesText(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  for (; bytes >= 1000 && unit < 3; ++unit) {
    bytes /= 1000;
  }
  return `${unit ? bytes.toFixed(bytes < 10 ? 2 : 1) : bytes} ${units[unit]}`;
}

function countText(count) {
  const units = [[1e9, " G"], [1e6, " M"], [1e3, " k"]];
  const unit = units.find(([size]) => count >= size);
  return unit ? (count / unit[0]).toPrecision(3) + unit[1] : String(count);
}

const timeText = seconds => seconds >= 1e-3 ? `${(seconds * 1e3).toFixed(3)} ms` : `${(seconds * 1e6).toFixed(2)} µs`;
const shorten = (text, most) => text.length > most ? "…" + text.slice(text.length - most + 1) : text;
const begin = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
const operatorOf = node => (/\(([^()]*)\)$/.exec(node) || ["", node])[1];

// One colour an operator, the same everywhere: the hue from its letters.
function colourOf(text) {
  let hash = 7;
  for (const letter of text) {
    hash = (hash * 31 + letter.codePointAt(0)) % 9973;
  }
  return `hsl(${(hash * 47) % 360} 62% ${72 + hash % 10}%)`;
}

function table(columns, rows) {
  const body = make("tbody"), head = make("tr");
  const element = make("table", {}, make("thead", {}, head), body);
  columns.forEach(column => {
    const cell = make("th", { class: `${column.kind || ""} ${column.key ? "sortable" : ""}` }, column.title);
    if (column.key) {
      cell.title = "sort";
      cell.addEventListener("click", () => {
        rows.sort((a, b) => column.key(a) < column.key(b) ? -1 : column.key(a) > column.key(b) ? 1 : 0);
        body.replaceChildren(...rows.map(row => row.element));
      });
    }
    head.append(cell);
  });
  for (const row of rows) {
    row.element = row.element || make("tr");
    row.element.replaceChildren(...columns.map(column => make("td", { class: column.kind || "" }, column.cell(row))));
    body.append(row.element);
  }
  return element;
}

const times = new Map(data.times.map(time => [time.launch, time]));
const measured = data.times.reduce((sum, time) => sum + time.seconds, 0);
const secondsOf = launch => (times.get(launch) || { seconds: 0 }).seconds;

function fillHead() {
  document.title = `${data.model} - ingot report`;
  at("title").textContent = data.model;
  at("subtitle").textContent = `compiled for ${data.target}`;
  const tile = (value, label) => {
    at("tiles").append(make("div", { class: "tile" }, make("b", { class: value.length > 24 ? "long" : "" }, value), make("span", {}, label)));
  };
  if (data.median > 0) {
    tile(timeText(data.median), "a run, median");
  }
  tile(`${data.before.length} → ${data.after.length}`, "nodes → kernel calls");
  tile(typeof data.macs === "number" ? countText(data.macs) : data.macs, "multiply-adds");
  tile(data.arena < 0 ? "by size" : bytesText(data.arena), "arena");
  tile(bytesText(data.weights), "weights");
  if (data.streamed) {
    tile(bytesText(data.streamed.bytes), "streamed weights");
  }
  if (data.code > 0) {
    tile(bytesText(data.code), "code");
  }
  if (data.cycles >= 0) {
    tile(countText(data.cycles), "cycles, by estimate");
  }
}

const kernelRows = data.after.map((kernel, i) => ({ kernel, i, element: make("tr", { class: "pick" }) }));

function fillKernels() {
  const slowest = Math.max(...data.times.map(time => time.seconds), 1e-12);
  const columns = [
    { title: "#", kind: "number", key: row => row.i, cell: row => String(row.i) },
    { title: "kernel", kind: "names", key: row => row.kernel.name, cell: row => {
      const cell = make("span", { class: "kernel" }, make("i", { class: "swatch" }), make("span", {}, row.kernel.name));
      cell.firstChild.style.background = colourOf(row.kernel.op);
      return cell;
    } },
    { title: "ONNX nodes", kind: "names", cell: row => row.kernel.nodes.join(", ") },
    { title: "result", kind: "names", cell: row => make("span", { class: row.kernel.type.length < 26 ? "short" : "" }, row.kernel.type) },
  ];
  if (data.after.some(kernel => kernel.choice)) {
    columns.push({ title: "chosen", kind: "names", cell: row => {
      const cell = make("span", {}, row.kernel.choice.split(";")[0]);
      cell.title = row.kernel.choice;
      return cell;
    } });
  }
  if (data.open_sizes.length) {
    columns.push({ title: "depends on", kind: "names", cell: row => row.kernel.symbols.join(", ") });
  }
  if (data.cycles >= 0) {
    const whole = Math.max(data.cycles, 1);
    columns.push({ title: "cycles, by estimate", kind: "number", key: row => -row.kernel.cycles, cell: row => row.kernel.cycles < 0 ? "" : countText(Math.round(row.kernel.cycles)) });
    columns.push({ title: "share of them", kind: "number", key: row => -row.kernel.cycles, cell: row => row.kernel.cycles < 0 ? "" : `${(100 * row.kernel.cycles / whole).toFixed(1)} %` });
  }
  if (measured > 0) {
    columns.push({ title: "time", kind: "number", key: row => -secondsOf(row.i), cell: row => timeText(secondsOf(row.i)) });
    columns.push({ title: "share", kind: "number", key: row => -secondsOf(row.i), cell: row => `${(100 * secondsOf(row.i) / measured).toFixed(1)} %` });
    columns.push({ title: "", kind: "bar", cell: row => {
      const bar = make("i");
      bar.style.width = `${100 * secondsOf(row.i) / slowest}%`;
      return bar;
    } });
    kernelRows.sort((a, b) => secondsOf(b.i) - secondsOf(a.i));
  }
  at("kernel-table").append(table(columns, kernelRows));
  at("kernels-hint").textContent = measured > 0
    ? `${timeText(measured)} in kernels a run${data.body ? ` of the variant for ${data.body}` : ""}; click on a title to sort, on a kernel to see it in the graph`
    : "Times are missing: ingot report --bench measures them. Click on a kernel to see it in the graph.";
  kernelRows.forEach(row => row.element.addEventListener("click", () => {
    show("after");
    choose(row.i, true);
    at("graph").scrollIntoView();
  }));
}

// The graph.

const view = { which: "after", boxes: [], edges: [], x: 0, y: 0, scale: 1, chosen: -1 };

// The nodes with the model's inputs before them: numbers of nodes begin behind those of the inputs.
function withInputs(nodes) {
  const inputs = Math.max(0, ...nodes.flatMap(node => node.from.map(from => from < 0 ? -from : 0)));
  const ports = Array.from({ length: inputs }, (_, k) => ({ name: data.inputs[k] || `input ${k}`, op: "input", type: "", nodes: [], symbols: [], from: [], port: true }));
  const shifted = nodes.map((node, i) => ({ ...node, number: i, from: [...new Set(node.from.map(from => from < 0 ? -1 - from : from + inputs))] }));
  return { all: [...ports, ...shifted], inputs };
}

function boxTitle(members) {
  const titles = members.map(node => view.which === "after" && node.nodes.length ? [...new Set(node.nodes.map(operatorOf))].join(" + ") : node.op);
  return titles.length > 1 ? `${titles[0]} … ${titles[titles.length - 1]}` : titles[0];
}

function makeBox(members, place) {
  const first = members[0], group = draw("g", { class: `box ${first.port ? "port" : ""}`, transform: `translate(${place.x - boxWidth / 2},${place.y - boxHeight / 2})` });
  const rectangle = draw("rect", { width: boxWidth, height: boxHeight, rx: 7 });
  if (!first.port) {
    rectangle.style.fill = colourOf(first.op);
  }
  const title = draw("text", { x: 10, y: 17 }), under = draw("text", { x: 10, y: 32, class: "small" });
  title.textContent = begin(boxTitle(members), 22);
  const seconds = view.which === "after" ? members.reduce((sum, node) => sum + secondsOf(node.number), 0) : 0;
  under.textContent = seconds > 0 ? timeText(seconds) : members.length > 1 ? `${members.length} in a row` : shorten(first.name, 26);
  if (seconds > 0 && measured > 0) {
    const bar = draw("rect", { x: 0, y: boxHeight - 4, height: 4, width: boxWidth * seconds / measured });
    bar.style.fill = "#c2410c";
    bar.style.stroke = "none";
    group.append(rectangle, bar);
  } else {
    group.append(rectangle);
  }
  group.append(title, under);
  return group;
}

function curve(points) {
  let text = `M${points[0].x} ${points[0].y + boxHeight / 2}`;
  for (let i = 1; i < points.length; ++i) {
    const from = points[i - 1], to = points[i], last = i === points.length - 1;
    const y0 = from.y + (i === 1 ? boxHeight / 2 : 0), y1 = to.y - (last ? boxHeight / 2 : 0), half = (y0 + y1) / 2;
    text += to.bend && from.bend ? ` L${to.x} ${to.y}` : ` C${from.x} ${half} ${to.x} ${half} ${to.x} ${y1}`;
  }
  return text;
}

function show(which) {
  view.which = which;
  document.querySelectorAll("[data-graph]").forEach(button => button.classList.toggle("chosen", button.dataset.graph === which));
  const { all } = withInputs(data[which]);
  const groups = at("fold").checked ? foldChains(all) : all.map((node, i) => ({ members: [i], from: node.from }));
  const result = layOut(groups);
  const layer = draw("g"), edges = draw("g");
  view.boxes = groups.map((group, i) => {
    const members = group.members.map(member => all[member]);
    const element = makeBox(members, result.boxes[i]);
    element.addEventListener("click", event => { event.stopPropagation(); pick(i); });
    element.addEventListener("pointerenter", () => near(i, true));
    element.addEventListener("pointerleave", () => near(i, false));
    layer.append(element);
    return { members, from: group.from, element, ...result.boxes[i] };
  });
  view.edges = result.edges.map(edge => {
    const element = draw("path", { class: "edge", d: curve(edge.points) });
    edges.append(element);
    return { ...edge, element };
  });
  view.content = draw("g", {}, edges, layer);
  view.width = result.width;
  view.height = result.height;
  at("canvas").replaceChildren(draw("svg", {}, view.content));
  at("graph-hint").textContent = `${data[which].length} ${which === "after" ? "kernel calls" : "nodes"} in ${view.boxes.length} boxes; drag to move, wheel to zoom`;
  fit(view.boxes.length > 60 ? .8 : 0);
  find();
}

function near(box, on) {
  view.edges.forEach(edge => edge.element.classList.toggle("near", on && (edge.from === box || edge.to === box)));
}

function moved() {
  view.content.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.scale})`);
}

// The whole graph; or its top, in a size that can be read.
function fit(leastScale) {
  const { clientWidth: width, clientHeight: height } = at("canvas");
  view.scale = Math.max(Math.min(width / (view.width + 40), height / (view.height + 40), 1.2), leastScale);
  view.x = (width - view.width * view.scale) / 2;
  view.y = 20;
  const first = view.boxes[0];
  if (first && view.width * view.scale > width) {
    view.x = Math.min(20, width / 2 - first.x * view.scale);
  }
  moved();
}

function zoom(factor, x, y) {
  const scale = Math.min(Math.max(view.scale * factor, .02), 4);
  view.x = x - (x - view.x) * scale / view.scale;
  view.y = y - (y - view.y) * scale / view.scale;
  view.scale = scale;
  moved();
}

function centre(box) {
  const { clientWidth: width, clientHeight: height } = at("canvas");
  view.scale = Math.max(view.scale, .8);
  view.x = width / 2 - view.boxes[box].x * view.scale;
  view.y = height / 2 - view.boxes[box].y * view.scale;
  moved();
}

function describe(node) {
  const list = make("dl");
  const say = (term, ...content) => { if (content.some(part => part !== "")) { list.append(make("dt", {}, term), make("dd", {}, ...content)); } };
  say(view.which === "after" ? "kernel" : "node", node.name);
  say("operator", node.op);
  say("result", node.type);
  if (view.which === "after" && !node.port) {
    say("ONNX nodes", ...node.nodes.map(name => make("div", {}, name)));
    say("sizes depend on", node.symbols.join(", "));
    if (times.has(node.number)) {
      const time = times.get(node.number);
      say("time", `${timeText(time.seconds)}, ${(100 * time.seconds / measured).toFixed(1)} % of the run` + (time.calls > 1.001 ? `, ${time.calls.toFixed(1)} calls` : ""));
    }
  }
  return list;
}

function pick(box) {
  view.boxes.forEach((other, i) => other.element.classList.toggle("chosen", i === box));
  const link = i => {
    const element = make("a", {}, boxTitle(view.boxes[i].members), make("br"));
    element.addEventListener("click", () => { pick(i); centre(i); });
    return element;
  };
  const readers = view.boxes.map((_, i) => i).filter(i => view.boxes[i].from.includes(box));
  at("details").replaceChildren(...view.boxes[box].members.map(describe),
    make("h3", {}, "reads"), ...view.boxes[box].from.map(link), make("h3", {}, "is read by"), ...readers.map(link));
}

// The node or kernel of that number.
function choose(number, centred) {
  const box = view.boxes.findIndex(candidate => candidate.members.some(member => member.number === number));
  if (box >= 0) {
    pick(box);
    if (centred) {
      centre(box);
    }
  }
}

function fillGraph() {
  const canvas = at("canvas");
  at("fold").checked = data.after.length > 120;
  document.querySelectorAll("[data-graph]").forEach(button => button.addEventListener("click", () => {
    at("fold").checked = data[button.dataset.graph].length > 120;
    show(button.dataset.graph);
  }));
  at("fold").addEventListener("change", () => show(view.which));
  at("fit").addEventListener("click", () => fit(0));
  at("plus").addEventListener("click", () => zoom(1.3, canvas.clientWidth / 2, canvas.clientHeight / 2));
  at("minus").addEventListener("click", () => zoom(1 / 1.3, canvas.clientWidth / 2, canvas.clientHeight / 2));
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    const frame = canvas.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 500), event.clientX - frame.left, event.clientY - frame.top);
  }, { passive: false });
  let from = null;
  canvas.addEventListener("pointerdown", event => { from = { x: event.clientX - view.x, y: event.clientY - view.y }; canvas.classList.add("dragging"); });
  window.addEventListener("pointermove", event => {
    if (from) {
      view.x = event.clientX - from.x;
      view.y = event.clientY - from.y;
      moved();
    }
  });
  window.addEventListener("pointerup", () => { from = null; canvas.classList.remove("dragging"); });
  show("after");
}

// What the search box says, in the kernels' table and in the graph.
function find() {
  const text = at("search").value.trim().toLowerCase();
  const has = node => text !== "" && [node.name, node.op, ...node.nodes].some(part => part.toLowerCase().includes(text));
  kernelRows.forEach(row => row.element.classList.toggle("found", has(row.kernel)));
  let first = -1;
  view.boxes.forEach((box, i) => {
    const found = box.members.some(has);
    box.element.classList.toggle("found", found);
    first = found && first < 0 ? i : first;
  });
  return first;
}

// Memory.

function tip(event, text) {
  const element = at("tip");
  element.hidden = text === "";
  element.textContent = text;
  element.style.left = `${Math.min(event.clientX + 14, window.innerWidth - 340)}px`;
  element.style.top = `${event.clientY + 14}px`;
}

function fillMemory() {
  at("memory-hint").textContent = data.buffers.length
    ? `From left to right the order of kernel calls, from bottom to top the offset; the line is what lives.${data.arena < 0 ? " Sizes are open: this is the plan for 128 of each." : ""}`
    : "No buffers: every result is the caller's.";
  const steps = Math.max(...data.buffers.map(buffer => buffer.last)) + 1;
  for (const target of new Set(data.buffers.map(buffer => buffer.target))) {
    drawArena(target, data.buffers.filter(buffer => buffer.target === target), steps);
  }
}

// The buffers of one memory.
function drawArena(target, buffers, steps) {
  const peak = Math.max(...buffers.map(buffer => buffer.offset + buffer.bytes));
  const width = 1200, height = 420, left = 66, bottom = 26;
  const x = step => left + (width - left - 8) * step / steps, y = bytes => (height - bottom) * (1 - bytes / peak) + 4;
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" });
  for (let i = 0; i <= 4; ++i) {
    const bytes = peak * i / 4, label = draw("text", { x: left - 6, y: y(bytes) + (i === 4 ? 8 : 3), "text-anchor": "end" });
    label.textContent = bytesText(Math.round(bytes));
    picture.append(draw("line", { class: "grid", x1: left, x2: width - 8, y1: y(bytes), y2: y(bytes) }), label);
  }
  const live = new Array(steps).fill(0);
  for (const buffer of buffers) {
    const top = y(buffer.offset + buffer.bytes);
    const shape = draw("rect", { class: "life", x: x(buffer.first), y: top, width: x(buffer.last + 1) - x(buffer.first), height: Math.max(y(buffer.offset) - top, .5) });
    shape.style.fill = colourOf(buffer.name.split("_")[0]);
    const text = `${buffer.name}\n${bytesText(buffer.bytes)} at ${buffer.offset}\nsteps ${buffer.first} to ${buffer.last}`;
    shape.addEventListener("pointermove", event => tip(event, text));
    shape.addEventListener("pointerleave", event => tip(event, ""));
    picture.append(shape);
    for (let step = buffer.first; step <= buffer.last; ++step) {
      live[step] += buffer.bytes;
    }
  }
  picture.append(draw("path", { class: steps > 150 ? "live fine" : "live", d: live.map((bytes, step) => `${step ? "L" : "M"}${x(step)} ${y(bytes)} L${x(step + 1)} ${y(bytes)}`).join(" ") }));
  const marks = [...new Set(Array.from({ length: 9 }, (_, i) => Math.round(steps * i / 8)))];
  for (const step of marks) {
    const label = draw("text", { x: x(step), y: height - 6, "text-anchor": step === steps ? "end" : "middle" });
    label.textContent = step === steps ? `${step} steps` : String(step);
    picture.append(label);
  }
  const memory = (data.memories || []).find(memory => memory.name === target);
  const use = memory ? ` Runs have ${bytesText(memory.most_bytes)} of it, and read and write ${bytesText(memory.traffic_bytes)} there.` : "";
  at("arena").append(make("p", { class: "hint" }, `${target ? `Of ${target}: ` : ""}${buffers.length} buffers in ${bytesText(peak)}; the most that live at one time: ${bytesText(Math.max(...live))}.${use}`), picture);
}

// Sizes and targets.

function fillAllocations(into) {
  if (data.allocations.length) {
    into.append(make("h3", {}, "Memory that every run asks for, as nothing bounds it"), make("div", { class: "scroll" }, table([
      { title: "bytes", kind: "names", cell: allocation => allocation.bytes },
      { title: "for node", kind: "names", cell: allocation => allocation.node },
      { title: "output", kind: "names", cell: allocation => allocation.output },
      { title: "because", kind: "names", cell: allocation => allocation.why },
    ], data.allocations)));
  }
}

function fillSizes() {
  const into = at("size-tables");
  fillAllocations(into);
  if (!data.open_sizes.length) {
    into.append(make("p", { class: "hint" }, "All sizes are fixed."));
    return;
  }
  into.append(table([
    { title: "every run chooses", cell: size => size.name },
    { title: "least", kind: "number", cell: size => String(size.least) },
    { title: "most", kind: "number", cell: size => size.most === null ? "any" : String(size.most) },
    { title: "bounded by", kind: "names", cell: size => size.bounded_by },
    { title: "bodies of their own", cell: size => size.bodies.join(", ") },
    { title: "it is", kind: "names", cell: size => size.from },
  ], data.open_sizes));
  if (data.requirements.length) {
    into.append(make("h3", {}, "Every run is checked for"), make("div", { class: "scroll" }, table([
      { title: "sizes", kind: "names", cell: requirement => requirement.text },
      { title: "for node", kind: "names", cell: requirement => requirement.node },
    ], data.requirements)));
  }
}

function fillTargets() {
  const counts = new Map(), into = at("target-tables");
  for (const node of data.placement) {
    counts.set(node.target || "nowhere", (counts.get(node.target || "nowhere") || 0) + 1);
  }
  into.append(table([
    { title: "target", cell: row => row.target },
    { title: "nodes after simplification", kind: "number", cell: row => String(row.count) },
  ], [...counts].map(([target, count]) => ({ target, count }))));
  const moved = data.placement.filter(node => node.why_not !== "");
  const weighed = data.placement.some(node => "seconds" in node); // then each node has a place worth a line
  const rows = weighed ? data.placement : moved;
  into.append(make("p", { class: "hint" }, moved.length ? "Not on the first target:" : "Everything runs on the first target that was asked for."));
  if (weighed) {
    into.lastChild.textContent = `${moved.length} nodes are not on the first target. Times are what the partition estimated.`;
  }
  if (rows.length) {
    const columns = [
      { title: "node", kind: "names", cell: node => node.node },
      { title: "operator", cell: node => node.op },
      { title: "runs on", cell: node => node.target || "nowhere" },
    ];
    if (weighed) {
      columns.push({ title: "piece", kind: "number", cell: node => "piece" in node ? String(node.piece) : "" });
      columns.push({ title: "estimate", kind: "number", cell: node => timeText(node.seconds) });
    }
    columns.push({ title: "why not on an earlier target", kind: "names", cell: node => node.why_not });
    into.append(make("div", { class: "scroll" }, table(columns, rows)));
  }
  fillTransfers(into);
}

function fillTransfers(into) {
  if (data.transfers.length) {
    into.append(make("h3", {}, "Copies between memories"), make("div", { class: "scroll" }, table([
      { title: "value", kind: "names", cell: transfer => transfer.value },
      { title: "from", cell: transfer => transfer.from },
      { title: "to", cell: transfer => transfer.to },
      { title: "bytes", kind: "number", cell: transfer => typeof transfer.bytes === "number" ? bytesText(transfer.bytes) : transfer.bytes },
      { title: "for", kind: "names", cell: transfer => transfer.readers.join(", ") },
      { title: "copy", kind: "number", cell: transfer => String(transfer.copy + 1) },
      { title: "why together", cell: transfer => "saved_seconds" in transfer ? `small: ${timeText(transfer.saved_seconds)} less than one by one` : "" },
    ], data.transfers)));
  }
}

window.addEventListener("error", event => { document.documentElement.dataset.error = event.message; });
fillHead();
fillKernels();
fillGraph();
fillMemory();
fillSizes();
fillTargets();
at("search").addEventListener("input", find);
at("search").addEventListener("keydown", event => {
  const first = event.key === "Enter" ? find() : -1;
  if (first >= 0) {
    centre(first);
    pick(first);
    at("graph").scrollIntoView();
  }
});
document.documentElement.dataset.state = "ready";
