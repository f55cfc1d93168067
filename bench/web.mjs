// Measures models compiled to WebAssembly beside onnxruntime-web, in Node or on a page (bench/web.py). A round calls each of both some times, and the
// two alternate from round to round, so that whatever else the machine does hits both.
// Milliseconds of the processor in Node, which others on the machine do not change as much, and of the clock on a page.
const isNode = Boolean(globalThis.process?.versions?.node);
const used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
const now = () => (isNode ? used() : performance.now());
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

// The smallest of a few groups of calls: milliseconds of one call.
async function timed(call, calls) {
  const begin = now();
  for (let k = 0; k < calls; ++k) await call();
  return (now() - begin) / calls;
}

const ortTypes = { Float32Array: "float32", BigInt64Array: "int64", Int32Array: "int32", Uint8Array: "uint8", Int8Array: "int8", Float64Array: "float64" };

// Loads a model by both: a function for each that runs it once on the same inputs.
async function open(model, ort, read) {
  const inputs = {}, feeds = {};
  for (const { name, array, dims, file } of model.inputs) {
    inputs[name] = new globalThis[array](await read(file));
    feeds[name] = new ort.Tensor(model.bool?.includes(name) ? "bool" : ortTypes[array], inputs[name], dims);
  }
  const { [model.load]: load } = await import(model.package);
  return {
    ingot: async () => { const made = await load(); return () => made.run(inputs, model.sizes); },
    ort: async () => {
      const session = await ort.InferenceSession.create(new Uint8Array(await read(model.file)), { executionProviders: ["wasm"] });
      return () => session.run(feeds);
    },
  };
}

function largestDifference(ours, theirs) {
  let most = 0;
  for (const [name, { data }] of Object.entries(theirs)) {
    const scale = Math.max(1, ...Array.from(data, (x) => Math.abs(Number(x))).slice(0, 100000));
    data.forEach((x, k) => { most = Math.max(most, Math.abs(Number(x) - Number(ours[name].data[k])) / scale); });
  }
  return most;
}

// Milliseconds of a run by both, and by how much outputs differ.
export async function measure(model, ort, read, seconds) {
  const by = await open(model, ort, read), run = { ingot: await by.ingot(), ort: await by.ort() };
  const difference = largestDifference(await run.ingot(), await run.ort());
  const calls = {}, times = { ingot: [], ort: [] };
  for (const who of ["ingot", "ort"]) {
    await timed(run[who], 2);
    const once = await timed(run[who], 3);
    calls[who] = Math.max(1, Math.min(10000, Math.round(1000 * seconds / 30 / once)));
    await timed(run[who], calls[who]); // by now the engine has optimized the code
  }
  for (let round = 0; round < 15; ++round) {
    for (const who of round % 2 ? ["ort", "ingot"] : ["ingot", "ort"]) times[who].push(await timed(run[who], calls[who]));
  }
  return { ingot: median(times.ingot), ort: median(times.ort), ratio: median(times.ingot.map((t, k) => times.ort[k] / t)), difference };
}

// Milliseconds from nothing to the first result, by one of both, in a process of its own.
export async function start(model, ort, read, who) {
  const by = await open(model, ort, read), begin = performance.now();
  await (await by[who]())();
  return performance.now() - begin;
}

if (isNode && process.argv[2]) {
  const { readFile } = await import("node:fs/promises");
  const read = async (file) => { const bytes = await readFile(file); return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length); };
  const { model, library, seconds, who } = JSON.parse(await readFile(process.argv[2], "utf8"));
  const ort = await import(library);
  ort.env.wasm.numThreads = 1;
  console.log(JSON.stringify(who ? await start(model, ort, read, who) : await measure(model, ort, read, seconds)));
}
