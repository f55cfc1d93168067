#include "compiler/driver/packaging/Library.h"
#include "compiler/driver/Texts.h"
#include "compiler/emit/Names.h"
#include "compiler/emit/Texts.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace ingot::driver {
namespace {

/// The libraries that have code for a processor: those for Arm's boards, packs for Arm's tools, those for RISC-V.
enum Libraries : unsigned { Arm = 1, Packs = 2, RiscV = 4 };

struct FirmwareMachine {
  PackageMachine machine;
  unsigned libraries;
};

constexpr FirmwareMachine firmwareRows[] = {
    {{"cortex-m0plus", "cortex-m0plus"}, Arm | Packs},
    {{"cortex-m3", "cortex-m3"}, Arm | Packs},
    {{"cortex-m4-nofp", "cortex-m4+nofp"}, Arm | Packs},
    {{"cortex-m33-nofp", "cortex-m33+nofp"}, Arm | Packs},
    {{"cortex-m4-hard", "cortex-m4", "thumbv7em-none-eabihf"}, Arm | Packs},
    {{"cortex-m7-hard", "cortex-m7", "thumbv7em-none-eabihf"}, Arm | Packs},
    {{"cortex-m33-hard", "cortex-m33", "thumbv8m.main-none-eabihf"}, Arm | Packs},
    {{"cortex-m55-hard", "cortex-m55", "thumbv8.1m.main-none-eabihf"}, Arm | Packs},
    {{"cortex-m85-hard", "cortex-m85", "thumbv8.1m.main-none-eabihf"}, Arm | Packs},
    {{"cortex-m4", "cortex-m4"}, Arm},
    {{"cortex-m7", "cortex-m7"}, Arm},
    {{"cortex-m33", "cortex-m33"}, Arm},
    {{"cortex-m55", "cortex-m55"}, Arm},
    {{"cortex-m85", "cortex-m85"}, Arm},
    {{"rv32imc", "rv32imc"}, RiscV},
    {{"rv32imafc", "rv32imafc"}, RiscV},
};

/// Returns the processors that one of these libraries has code for.
std::vector<PackageMachine> machinesOf(unsigned libraries) {
  std::vector<PackageMachine> machines;
  for (const FirmwareMachine &row : firmwareRows) {
    if (row.libraries & libraries) {
      machines.push_back(row.machine);
    }
  }
  return machines;
}

/// Returns a reason where a program cannot know before it runs how much memory the model takes.
std::string whyNotStatic(const Manifest &model) {
  if (!model.symbols.empty()) {
    return "size '" + model.symbols.front().name + "' is open; fix it with --dim or --shape";
  }
  if (model.takesWeights()) {
    return "its weights are not in the archive; leave --weights out";
  }
  return model.allocations.empty() ? "" : "runs ask for memory of a size that nothing bounds";
}

std::string sizesTable(const Package &package) {
  auto text = [](int64_t bytes) { return bytes < 0 ? std::string("-") : std::to_string(bytes); };
  std::string rows = "| model | processor | flash | RAM | stack, at most |\n|---|---|--:|--:|--:|\n";
  for (const std::vector<CompiledModel> &model : package.models) {
    for (const CompiledModel &build : model) {
      const emit::BuildSizes &sizes = build.manifest.sizes;
      rows += llvm::formatv("| {0} | {1} | {2} | {3} | {4} |\n", build.name(), build.machine->name, text(sizes.flash),
                            text(sizes.ram), text(sizes.stack.bytes));
    }
  }
  return rows;
}

std::string readme(const Package &package, const std::string &how) {
  return llvm::formatv(R"(# {0}

Models that ingot has compiled ahead of time: an archive for each processor, a header for each model, and the core of the support
library as source.

{1}
Bytes that a model takes of its board. RAM is the workspace, inputs and outputs; flash has the weights. The support library's code
(a few kilobytes at most, of which a linker takes what is used) and the program come on top.

{2})",
                       package.name, how, sizesTable(package));
}

/// Returns the header for all processors: a model's workspace and stack differ from one to another, and what the header
/// says is enough for each.
std::string commonHeader(const std::vector<CompiledModel> &builds) {
  Manifest model = builds.front().manifest;
  std::vector<std::string> names;
  for (const CompiledModel &build : builds) {
    const Manifest &other = build.manifest;
    names.push_back(build.machine->name.str());
    model.workspaceBytes = std::max(model.workspaceBytes, other.workspaceBytes);
    model.workspaceAlign = std::max(model.workspaceAlign, other.workspaceAlign);
    model.sizes.stack.bytes = std::max(model.sizes.stack.bytes, other.sizes.stack.bytes);
  }
  model.target = llvm::join(names, ", ");
  return emit::headerText(model, model.sizes);
}

llvm::Error addModel(const std::vector<CompiledModel> &builds, const LibraryFolders &folders, PackageFiles &files) {
  const std::string &name = builds.front().name();
  if (std::string wrong = whyNotStatic(builds.front().manifest); !wrong.empty()) {
    return llvm::createStringError("model '" + name + "': " + wrong);
  }
  files.add(folders.headers + name + ".h", commonHeader(builds));
  for (const CompiledModel &build : builds) {
    if (llvm::Error error = files.copy(folders.archives(*build.machine) + "lib" + name + ".a", build.file("a"))) {
      return error;
    }
  }
  return llvm::Error::success();
}

/// Returns the statements of the example for one model: arrays for its tensors, and the call.
std::pair<std::string, std::string> exampleOf(const Manifest &model) {
  emit::ParameterNames stems = emit::parameterNames(model), names = emit::namesInCode(model);
  std::string name = model.name, upper = llvm::StringRef(name).upper(), arrays, arguments;
  auto add = [&](llvm::ArrayRef<plan::TensorInfo> tensors, llvm::ArrayRef<std::string> macros,
                 llvm::ArrayRef<std::string> members) {
    for (auto [tensor, macro, member] : llvm::zip(tensors, macros, members)) {
      arrays += llvm::formatv("  {0} {1}[{2}_{3}_ELEMENTS];\n", support::elementType(tensor.type).c, member, upper,
                              llvm::StringRef(macro).upper());
      arguments += llvm::formatv("tensors_of_{0}.{1}, ", name, member);
    }
  };
  add(model.inputs, stems.inputs, names.inputs);
  add(model.outputs, stems.outputs, names.outputs);
  for (size_t i = 0; i < names.dataDependentSizes.size(); ++i) {
    arguments += llvm::formatv("&found_by_{0}[{1}], ", name, i);
  }
  std::string found;
  if (!names.dataDependentSizes.empty()) {
    found = llvm::formatv("static int64_t found_by_{0}[{1}];\n", name, names.dataDependentSizes.size());
  }
  return {llvm::formatv("static struct {{\n{0}} tensors_of_{1};\n{2}"
                        "static unsigned char workspace_of_{1}[{3}_WORKSPACE_BYTES + 1] "
                        "__attribute__((aligned({3}_WORKSPACE_ALIGN)));\n",
                        arrays, name, found, upper),
          llvm::formatv("  status = status ? status : {0}_run({1}workspace_of_{0}, 0);\n", name, arguments)};
}

} // namespace

Processor::Processor(const PackageMachine &machine)
    : core(machine.name), isHard(core.consume_back("-hard")), lacksFloats(core.consume_back("-nofp")) {}

llvm::ArrayRef<PackageMachine> firmwareMachines() {
  static const std::vector<PackageMachine> machines = machinesOf(Arm | Packs | RiscV);
  return machines;
}
llvm::ArrayRef<PackageMachine> packMachines() {
  static const std::vector<PackageMachine> machines = machinesOf(Packs);
  return machines;
}
llvm::ArrayRef<PackageMachine> armMachines() {
  static const std::vector<PackageMachine> machines = machinesOf(Arm);
  return machines;
}
llvm::ArrayRef<PackageMachine> riscvMachines() {
  static const std::vector<PackageMachine> machines = machinesOf(RiscV);
  return machines;
}

llvm::Error addLibrary(const Package &package, const LibraryFolders &folders, const std::string &how,
                       PackageFiles &files) {
  for (const Text &text : supportTexts()) {
    auto [folder, name] = text.name.rsplit('/');
    files.add((folder == "include" ? folders.headers : folders.sources) + name.str(), text.text.str());
  }
  for (const std::vector<CompiledModel> &model : package.models) {
    if (llvm::Error error = addModel(model, folders, files)) {
      return error;
    }
  }
  files.add("README.md", readme(package, how));
  return llvm::Error::success();
}

std::vector<std::string> coreSources() {
  std::vector<std::string> names;
  for (const Text &text : supportTexts()) {
    if (text.name.ends_with(".c")) {
      names.push_back(text.name.rsplit('/').second.str());
    }
  }
  return names;
}

std::string exampleSource(const Package &package) {
  std::string includes, data, calls;
  for (const std::vector<CompiledModel> &model : package.models) {
    const Manifest &facts = model.front().manifest;
    auto [arrays, call] = exampleOf(facts);
    includes += "#include \"" + facts.name + ".h\"\n";
    data += arrays, calls += call;
  }
  return includes + "\n" + data +
         "\n/* Runs each model once, on zeros. Returns 0, or the status of the first that fails; ingot_error_text "
         "explains "
         "it. */\nint run_models(void) {\n  int status = 0;\n" +
         calls + "  return status;\n}\n";
}

std::string eachOf(llvm::ArrayRef<std::string> words, const char *format) {
  std::string text;
  for (const std::string &word : words) {
    text += llvm::formatv(format, word).str();
  }
  return text;
}

std::vector<std::string> modelNames(const Package &package) {
  std::vector<std::string> names;
  llvm::transform(package.models, std::back_inserter(names),
                  [](const std::vector<CompiledModel> &model) { return model.front().name(); });
  return names;
}

std::string wrongLibraryName(llvm::StringRef name) {
  bool isName = !name.empty() && name.size() < 64 && llvm::isAlpha(name[0]) &&
                llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '-'; });
  return isName ? "" : "has to begin with a letter, and to be letters, digits, '-' and '_'";
}

} // namespace ingot::driver
