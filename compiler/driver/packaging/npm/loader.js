// Runs models that ingot compiled. What a model is its module says: offsets are those of ingot.h's structures.
const arrays = { 1: Float32Array, 3: Int8Array, 4: Uint16Array, 5: Int16Array, 6: Int32Array, 7: BigInt64Array,
  10: Uint16Array, 11: Float64Array, 12: Uint32Array, 13: BigUint64Array, 16: Uint16Array };
const optional = 1, allocated = 2; // flags

// Whether the engine has a vector instruction.
const has = (...op) => WebAssembly.validate(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0,
  10, 15, 1, 13, 0, 65, 0, 253, 15, 65, 0, 253, 15, 253, ...op, 11));

export async function read(url) {
  if (url.protocol === "file:") {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises")).readFile(url);
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.arrayBuffer();
}

export function open(calls, name, weights) {
  const { memory } = calls, model = calls[`${name}_model`]();
  let end = calls.__heap_base.value;

  const place = (bytes) => {
    const at = end;
    end += bytes + (-bytes & 63);
    const pages = Math.ceil((end - memory.buffer.byteLength) / 65536);
    if (pages > 0) memory.grow(pages);
    return at;
  };
  const view = () => new DataView(memory.buffer);
  const number = (at) => view().getInt32(at, true);
  const wide = (at) => (k) => Number(view().getBigInt64(at + 8 * k, true));
  const text = (at) => {
    const all = new Uint8Array(memory.buffer, at);
    return new TextDecoder().decode(all.slice(0, all.indexOf(0)));
  };
  const list = (length, item) => Array.from({ length }, (_, k) => item(k));
  const tensors = (at, count) => list(count, (k) => {
    const field = (offset) => number(number(at) + 48 * k + offset);
    return { name: text(field(0)), type: field(4), rank: field(8), flags: field(32), array: arrays[field(4)] ?? Uint8Array };
  });
  const check = (status) => {
    if (!status) return;
    const at = place(1024);
    calls.ingot_error_text(model, status, at, 1024);
    throw Object.assign(new Error(text(at)), { status });
  };

  const inputs = tensors(model + 32, number(model + 16)), outputs = tensors(model + 36, number(model + 20));
  const symbols = list(number(model + 28), (k) => text(number(number(model + 68) + 24 * k)));
  const found = number(model + 88), ranks = outputs.reduce((sum, y) => sum + y.rank, 0);
  end += -end & 63;
  const constants = weights ? place(weights.byteLength) : 0;
  if (weights) new Uint8Array(memory.buffer).set(new Uint8Array(weights), constants);

  const first = end;
  const run = (values, sizes = {}) => {
    end = first;
    const numbers = place(8 * (symbols.length + found)), dims = place(8 * ranks), bytes = place(8);
    const from = place(16 * inputs.length), to = place(16 * outputs.length);
    symbols.forEach((symbol, k) => {
      if (!(sizes[symbol] >= 0)) throw new TypeError(`size '${symbol}' is not given`);
      view().setBigInt64(numbers + 8 * k, BigInt(sizes[symbol]), true);
    });
    check(calls.ingot_plan(model, numbers, dims, bytes));
    const room = wide(bytes)(0), workspace = place(room);
    const buffer = (at, address, count) => {
      view().setUint32(at, address, true);
      view().setBigInt64(at + 8, BigInt(count), true);
    };
    inputs.forEach(({ name, array, flags }, k) => {
      const value = values[name];
      if (value == null && flags & optional) return buffer(from + 16 * k, 0, 0);
      if (!(value instanceof array)) throw new TypeError(`input '${name}' is no ${array.name}`);
      const at = place(value.byteLength);
      buffer(from + 16 * k, at, value.length);
      new array(memory.buffer, at, value.length).set(value);
    });
    let dim = dims;
    const made = outputs.map(({ name, rank, type, flags, array }, k) => {
      const shape = dim, isAllocated = flags & allocated;
      const length = () => Number(calls.ingot_sizes_elements(shape, rank, type));
      const at = place(isAllocated ? 4 : length() * array.BYTES_PER_ELEMENT);
      buffer(to + 16 * k, at, isAllocated ? 0 : length());
      dim += 8 * rank;
      return () => [name, {
        data: new array(memory.buffer, isAllocated ? number(at) : at, length()).slice(), dims: list(rank, wide(shape)) }];
    });
    const how = calls.ingot_module_exec(constants, end);
    check(calls.ingot_run(model, from, inputs.length, to, outputs.length, numbers, workspace, room, how));
    calls.ingot_found_dims(model, numbers, dims);
    return Object.fromEntries(made.map((output) => output()));
  };

  return { run };
}

// Loads NAME.wasm beside `base`, or its module with fewer or more instructions.
export async function load(name, isApart, isRelaxed, base, { simd = has(142, 0), relaxed = has(128, 2) } = {}) {
  const level = !simd ? ".scalar" : isRelaxed && relaxed ? ".relaxed" : "";
  const file = (kind) => read(new URL(name + level + kind, base));
  const [code, weights] = await Promise.all([file(".wasm"), isApart && file(".weights")]);
  return open((await WebAssembly.instantiate(code)).instance.exports, name, weights);
}
