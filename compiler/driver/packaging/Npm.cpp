// Writes packages for npm: WebAssembly modules, the loader that runs them, and its types for TypeScript.
//
//   package.json, index.js, index.d.ts   made for the models: a function loadNAME for each
//   loader.js, remote.js, worker.js ...  the same in all packages (npm/)
//   NAME.wasm, NAME.scalar.wasm          with vectors and without
//   NAME.relaxed.wasm                    with relaxed vector instructions, of a model that has use for them
//   NAME.threads.wasm                    for several threads, of a model with kernels that are worth it
//   NAME.weights, ...                    where weights are apart
#include "compiler/driver/Texts.h"
#include "compiler/driver/packaging/Package.h"
#include "compiler/emit/WasmModule.h"
#include "compiler/support/ElementTypes.h"
#include "compiler/support/SymbolNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::driver {
namespace {

using plan::TensorInfo;
using support::ElementKind;

/// Returns a name of the model as a literal of JavaScript.
std::string quoted(llvm::StringRef name) { return llvm::formatv("{0}", llvm::json::Value(llvm::json::fixUTF8(name))); }

/// Returns "MyNet2" for "my_net_2": what functions and types are called after.
std::string titleOf(llvm::StringRef name) {
  std::string title;
  bool begins = true;
  for (char c : name) {
    if (c != '_') {
      title += begins ? llvm::toUpper(c) : c;
    }
    begins = c == '_';
  }
  return title;
}

/// Returns the array that has a tensor's elements; loader.js has the same table.
std::string arrayOf(int32_t type) {
  const support::ElementType &element = support::elementType(type);
  bool isSigned = element.kind == ElementKind::Signed;
  if (element.kind == ElementKind::Float && element.bits >= 16) { // float16 and bfloat16 as their bits
    return element.bits == 16 ? "Uint16Array" : "Float" + std::to_string(element.bits) + "Array";
  }
  if ((isSigned || element.kind == ElementKind::Unsigned) && element.bits >= 8) {
    return std::string(element.bits == 64 ? "Big" : "") + (isSigned ? "Int" : "Uint") + std::to_string(element.bits) +
           "Array";
  }
  return "Uint8Array";
}

/// Returns a text of the model, which may be any, within a comment.
std::string inComment(std::string text) {
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == '/' || c == '*'; }, '_');
  return text;
}

/// Returns a type and its dims, "float32[batch, 3]", for comments.
std::string shapeOf(const TensorInfo &tensor) {
  std::string text = support::elementType(tensor.type).name.str() + "[";
  for (const support::Size &dim : tensor.dims) {
    text += (text.back() == '[' ? "" : ", ") + (dim.isUnknown() ? "?" : dim.text());
  }
  return inComment(text + "]");
}

/// Returns the dims as a type: "[number, 3]".
std::string dimsType(const TensorInfo &tensor) {
  auto type = [](const support::Size &dim) { return dim.isNumber() ? dim.text() : std::string("number"); };
  return "[" + llvm::join(llvm::map_range(tensor.dims, type), ", ") + "]";
}

void writeTypes(llvm::raw_ostream &out, const Manifest &model) {
  std::string title = titleOf(model.name);
  out << "export interface " << title << "Inputs {\n";
  for (const TensorInfo &input : model.inputs) {
    out << "  /** " << shapeOf(input) << " */\n  " << quoted(input.name) << (input.isOptional ? "?: " : ": ")
        << arrayOf(input.type) << ";\n";
  }
  out << "}\n\nexport interface " << title << "Outputs {\n";
  for (const TensorInfo &output : model.outputs) {
    out << "  /** " << shapeOf(output) << " */\n  " << quoted(output.name) << ": Tensor<" << arrayOf(output.type)
        << ", " << dimsType(output) << ">;\n";
  }
  out << "}\n\n";
  if (!model.symbols.empty()) {
    out << "export interface " << title << "Sizes {\n";
    for (const plan::SymbolInfo &symbol : model.symbols) {
      std::string most = symbol.most < 0 ? "" : " to " + std::to_string(symbol.most);
      out << "  /** from " << symbol.least << most << (symbol.from.empty() ? "" : ": " + inComment(symbol.from))
          << " */\n  " << quoted(support::symbolName(symbol.name)) << ": number;\n";
    }
    out << "}\n\n";
  }
  std::string sizes = model.symbols.empty() ? "" : ", sizes: " + title + "Sizes";
  out << llvm::formatv(R"(export interface {0}Model {{
  /** Outputs are copies. Throws an Error with the status of the run where it ends with one. */
  run(inputs: {0}Inputs{1}): {0}Outputs;
}

export interface {0}Worker {{
  run(inputs: {0}Inputs{1}): Promise<{0}Outputs>;
  close(): void;
}

export function load{0}(options: Options & ({{ worker: true } | {{ threads: number })): Promise<{0}Worker>;
export function load{0}(options?: Options & {{ worker?: false; threads?: 1 }): Promise<{0}Model>;
)",
                       title, sizes);
}

std::string typesOf(const Package &package) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "// Generated by `ingot package`.\n\n"
         "export interface Tensor<Data, Dims> {\n  data: Data;\n  dims: Dims;\n}\n\n"
         "export interface Options {\n  /** false: the module without vectors, as where the engine has none. */\n"
         "  simd?: boolean;\n"
         "  /** false: the module whose floats are the same in all engines. */\n  relaxed?: boolean;\n"
         "  /** More than 1: so many workers share a run, where the page is isolated from other origins. */\n"
         "  threads?: number;\n}\n";
  for (const std::vector<CompiledModel> &model : package.models) {
    out << '\n';
    writeTypes(out, model.front().manifest);
  }
  return text;
}

bool hasModule(const std::string &name, const char *level, const PackageFiles &files) {
  return files.all().count(name + level + ".wasm") > 0;
}

std::string indexOf(const Package &package, const PackageFiles &files) {
  std::string text = "// Generated by `ingot package`.\nimport { load } from \"./loader.js\";\n";
  for (const std::vector<CompiledModel> &model : package.models) {
    const Manifest &facts = model.front().manifest;
    text += llvm::formatv(R"(
export async function load{0}({{ worker, ...options } = {{}) {{
  const how = ["{1}", {2}, {3}, import.meta.url, options, {4}];
  return worker || options.threads > 1 ? (await import("./remote.js")).load(...how) : load(...how);
}
)",
                          titleOf(facts.name), facts.name, facts.takesWeights(),
                          hasModule(facts.name, ".relaxed", files), hasModule(facts.name, ".threads", files));
  }
  return text;
}

std::string packageJson(const Package &package, const PackageFiles &files) {
  llvm::json::Array names;
  for (const auto &[path, text] : files.all()) {
    names.push_back(path);
  }
  llvm::json::Object object{{"name", package.name},
                            {"version", package.version},
                            {"type", "module"},
                            {"exports", "./index.js"},
                            {"types", "./index.d.ts"},
                            {"files", std::move(names)},
                            {"engines", llvm::json::Object{{"node", ">=16.4"}}}};
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
}

/// Whether a build of the model has kernels that are cut into parts for several threads.
llvm::Expected<bool> isSplit(const CompiledModel &build) {
  auto object = llvm::MemoryBuffer::getFile(build.file("o"));
  if (!object) {
    return llvm::createStringError(build.file("o") + ": error: cannot be read: " + object.getError().message());
  }
  return (*object)->getBuffer().contains("ingot_parallel_for");
}

/// Adds the module of a build, but those for relaxed instructions and for threads only where they have use for these.
llvm::Error addModule(const CompiledModel &build, PackageFiles &files) {
  std::string module = build.file("wasm"), stem = build.name() + build.machine->name.str();
  bool sharesMemory = build.machine->name == ".threads";
  if (sharesMemory) {
    llvm::Expected<bool> split = isSplit(build);
    if (!split || !*split) {
      return split ? llvm::Error::success() : split.takeError();
    }
  }
  if (llvm::Error error =
          emit::linkWasmModule(build.file("o"), build.manifest.triple, build.name(), sharesMemory, module)) {
    return error;
  }
  if (llvm::Error error = files.copy(stem + ".wasm", module)) {
    return error;
  }
  constexpr llvm::StringLiteral madd = "\xfd\x85\x02", nmadd = "\xfd\x86\x02"; // f32x4.relaxed_madd, and its opposite
  llvm::StringRef code = files.all().at(stem + ".wasm");
  if (build.machine->name == ".relaxed" && !code.contains(madd) && !code.contains(nmadd)) {
    files.remove(stem + ".wasm");
    return llvm::Error::success();
  }
  return build.manifest.takesWeights() ? files.copy(stem + ".weights", build.file("weights")) : llvm::Error::success();
}

} // namespace

std::string wrongNpmName(llvm::StringRef name) {
  llvm::StringRef rest = name;
  if (rest.consume_front("@")) { // "@scope/name"
    auto [scope, own] = rest.split('/');
    return own.empty() || !wrongNpmName(scope).empty() ? "is no scope and name" : wrongNpmName(own);
  }
  bool isPlain = llvm::all_of(
      rest, [](char c) { return llvm::isLower(c) || llvm::isDigit(c) || llvm::StringRef("-._").contains(c); });
  bool isName = isPlain && !rest.empty() && rest.size() <= 214 && rest[0] != '.' && rest[0] != '_';
  return isName ? "" : "has to be lower-case letters, digits, '-', '.' and '_'";
}

llvm::Error writeNpm(const Package &package, PackageFiles &files) {
  std::map<std::string, std::string> titles;
  for (const std::vector<CompiledModel> &model : package.models) {
    auto [known, isNew] = titles.emplace(llvm::StringRef(titleOf(model.front().name())).lower(), model.front().name());
    if (!isNew) {
      return llvm::createStringError("models '" + known->second + "' and '" + model.front().name() +
                                     "' would have the same functions; give one of them another file name");
    }
    for (const CompiledModel &build : model) {
      if (llvm::Error error = addModule(build, files)) {
        return error;
      }
    }
  }
  for (const Text &text : npmTexts()) {
    files.add(text.name.str(), text.text.str());
  }
  files.add("index.js", indexOf(package, files));
  files.add("index.d.ts", typesOf(package));
  files.add("package.json", packageJson(package, files));
  return llvm::Error::success();
}

} // namespace ingot::driver
