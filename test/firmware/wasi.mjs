// Runs a WebAssembly program that reads standard input and writes standard output: node wasi.mjs PROGRAM.
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { WASI } from "node:wasi";

setFlagsFromString("--experimental-wasm-relaxed-simd"); // of Node 20; later ones do without

const wasi = new WASI({ version: "preview1", returnOnExit: true });
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), wasi.getImportObject());
process.exitCode = wasi.start(instance);
