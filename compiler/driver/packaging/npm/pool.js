// Runs a model's kernels on several threads: workers with instances of one module in one memory. The caller is a worker
// itself, which may wait.
import { open, read } from "./loader.js";

const isNode = typeof process !== "undefined" && process.versions?.node;
const stackBytes = 1 << 18, pageBytes = 1 << 16, mostPages = 1 << 14; // of the memory, as the module was linked

// Gives a promise of a helper that waits for loops.
async function help(what) {
  const url = new URL("./helper.js", import.meta.url);
  const worker = isNode
    ? new (await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:worker_threads")).Worker(url)
    : new Worker(url, { type: "module" });
  await new Promise((resolve, reject) => {
    if (isNode) worker.once("message", resolve).on("error", reject);
    else worker.onmessage = resolve, worker.onerror = reject;
    worker.postMessage(what);
  });
}

export async function load(name, isApart, base, threads) {
  const file = (kind) => read(new URL(`${name}.threads${kind}`, base));
  const [code, weights] = await Promise.all([file(".wasm"), isApart && file(".weights")]);
  const pages = Math.ceil(code.byteLength / pageBytes) + 16; // its stack and data, which are in the file
  const memory = new WebAssembly.Memory({ initial: pages, maximum: mostPages, shared: true });
  const module = await WebAssembly.compile(code);
  const { exports } = await WebAssembly.instantiate(module, { env: { memory } });
  const first = exports.__heap_base.value + (-exports.__heap_base.value & 63), end = first + stackBytes * (threads - 1);
  memory.grow(Math.max(0, Math.ceil(end / pageBytes) - memory.buffer.byteLength / pageBytes));
  const helpers = Array.from({ length: threads - 1 }, (_, k) => help({ module, memory, stack: first + stackBytes * (k + 1) }));
  await Promise.all(helpers);
  const exec = (constants, from) => {
    const how = exports.ingot_module_exec(constants, from);
    exports.ingot_module_share(how, threads);
    return how;
  };
  return open({ ...exports, memory, __heap_base: { value: end }, ingot_module_exec: exec }, name, weights);
}
