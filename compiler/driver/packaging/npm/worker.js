// The worker's side of remote.js: loads one model, then runs it once for each message.
import { load } from "./loader.js";

const isNode = typeof process !== "undefined" && process.versions?.node;
const port = isNode ? (await import("node:worker_threads")).parentPort : globalThis;
let model;

async function answer({ number, model: wanted, inputs, sizes }) {
  try {
    let result;
    if (wanted) model = await load(...wanted);
    else result = model.run(inputs, sizes);
    port.postMessage({ number, result });
  } catch (error) {
    port.postMessage({ number, error: { message: error.message, status: error.status } });
  }
}

if (isNode) port.on("message", answer);
else port.onmessage = ({ data }) => answer(data);
