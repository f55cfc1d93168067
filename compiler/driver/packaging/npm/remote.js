// Runs a model in a worker: what a call gives is a promise, and the page's own thread goes on meanwhile.
const isNode = typeof process !== "undefined" && process.versions?.node;

async function start() {
  const url = new URL("./worker.js", import.meta.url);
  if (!isNode) return new Worker(url, { type: "module" });
  const { Worker: Thread } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:worker_threads");
  return new Thread(url);
}

// Has the calls of a Model, each of which gives a promise.
export async function load(...model) {
  const worker = await start(), waiting = new Map();
  let last = 0;
  const ask = (question) => new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject });
    worker.postMessage({ number: last, ...question });
  });
  const answer = ({ number, result, error }) => {
    const { resolve, reject } = waiting.get(number);
    waiting.delete(number);
    error ? reject(Object.assign(new Error(error.message), error)) : resolve(result);
  };
  const fail = (error) => waiting.forEach(({ reject }) => reject(error));
  if (isNode) worker.on("message", answer).on("error", fail);
  else worker.onmessage = ({ data }) => answer(data), worker.onerror = fail;
  await ask({ model });
  return { run: (inputs, sizes) => ask({ inputs, sizes }), close: () => worker.terminate() };
}
