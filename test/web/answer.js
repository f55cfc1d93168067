// Runs cases on the models of a package, in Node and on a page. A case has the name of a model's function, what that is given (`options`), and
// inputs as [name of an array, its bytes in base64] by name; its answer has outputs as [dims, bytes in base64], or the message of an error.
const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const textOf = ({ buffer, byteOffset, byteLength }) => btoa(Array.from(new Uint8Array(buffer, byteOffset, byteLength), (b) => String.fromCharCode(b)).join(""));

async function answerOne(models, { load, options, inputs, sizes, times = 1 }) {
  const arrays = Object.fromEntries(Object.entries(inputs).map(([name, [type, bytes]]) => [name, new globalThis[type](bytesOf(bytes).buffer)]));
  let model;
  try {
    model = await models[load](options);
    let outputs;
    for (let k = 0; k < times; ++k) outputs = await model.run(arrays, sizes);
    return { outputs: Object.fromEntries(Object.entries(outputs).map(([name, { data, dims }]) => [name, [dims, textOf(data)]])) };
  } catch (error) {
    return { error: error.message, status: error.status ?? null };
  } finally {
    model?.close?.();
  }
}

export async function answer(models, cases) {
  const answers = [];
  for (const each of cases) answers.push(await answerOne(models, each));
  return answers;
}
