// node.mjs PACKAGE CASES: prints the answers of answer.js.
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { answer } from "./answer.js";

setFlagsFromString("--experimental-wasm-relaxed-simd"); // of Node 20; later ones do without

const [folder, cases] = process.argv.slice(2);
const models = await import(pathToFileURL(`${folder}/index.js`));
process.stdout.write(JSON.stringify(await answer(models, JSON.parse(await readFile(cases)))));
