// A thread of pool.js: says that it is there, and works on loops until it is ended.
const isNode = typeof process !== "undefined" && process.versions?.node;
const port = isNode ? (await import("node:worker_threads")).parentPort : globalThis;

function help({ module, memory, stack }) {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  exports.__stack_pointer.value = stack;
  port.postMessage("ready");
  exports.ingot_module_help();
}

if (isNode) port.on("message", help);
else port.onmessage = ({ data }) => help(data);
