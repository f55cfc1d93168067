// The worker's side of remote.js: loads one model, then runs it once for each message.
import { load } from "./loader.js";

const isNode = typeof process !== "undefined" && process.versions?.node;
const port = isNode ? (await import("node:worker_threads")).parentPort : globalThis;
let model;

// Loads the model for this worker alone, or for several where they may share a memory.
async function start(name, isApart, isRelaxed, base, options, isThreaded) {
  const { threads = 1, simd = true } = options;
  const shares = threads > 1 && isThreaded && simd && (isNode || globalThis.crossOriginIsolated);
  return shares ? (await import("./pool.js")).load(name, isApart, base, threads) : load(name, isApart, isRelaxed, base, options);
}

async function answer({ number, model: wanted, inputs, sizes }) {
  try {
    let result;
    if (wanted) model = await start(...wanted);
    else result = model.run(inputs, sizes);
    port.postMessage({ number, result });
  } catch (error) {
    port.postMessage({ number, error: { message: error.message, status: error.status } });
  }
}

if (isNode) port.on("message", answer);
else port.onmessage = ({ data }) => answer(data);
