// Writes the whole of NAME.cpp: includes, the helpers that its functions use, weights, a function for each kernel, in
// the order of the IR but behind those that it calls, the run and its plan, the functions of the header, and the
// descriptor.
//
// Functions are written first, because only they say which helpers, types of vectors and includes are needed, which
// stand in front of them. All but the functions of the header, and weights that another file defines, are in unnamed
// namespaces: a program may have several models, whose kernels and helpers have equal names.
#include "compiler/emit/Descriptor.h"
#include "compiler/emit/Names.h"
#include "compiler/emit/Texts.h"
#include "compiler/emit/cpp/Cpp.h"
#include "compiler/emit/cpp/FunctionWriter.h"
#include "compiler/support/Attributes.h"
#include "compiler/support/ElementTypes.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Regex.h"
#include "llvm/TargetParser/Triple.h"
#include <set>

using namespace mlir;
using ingot::plan::LaunchInfo;
using ingot::plan::ModelInfo;

namespace ingot::emit::cpp {
namespace {

constexpr const char *checks = R"(
#if defined(__FAST_MATH__)
#error "this source needs the arithmetic of IEEE 754: compile it without -ffast-math"
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the weights are numbers of little-endian machines"
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi" // no vector leaves this file
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // of arrays that loops fill
#pragma GCC diagnostic ignored "-Wrestrict"            // of tensors without elements, which share places
#endif
)";

/// Options for g++: kernels leave no registers for the values that the first two passes keep from one iteration to the
/// next, and a square root is an instruction where nobody asks for errno.
constexpr const char *options = R"(#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-predictive-commoning", "no-loop-unroll-and-jam", "no-math-errno")
#endif
)";

/// Says that products are rounded before they are added up, whatever instructions there are, where results are to have
/// the same bits everywhere. (clang++ -ffp-contract=fast heeds nothing that source says of it.)
constexpr const char *unfused = R"(#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif
)";

/// Checks that an operation on floats is rounded to their type, which registers of the 387 do not do.
constexpr const char *evaluation = R"(#include <cfloat>
static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16, "this source needs operations on floats that are rounded to float");
)";

/// The types of elements in memory. They may alias, since the workspace is reused by elements of other types.
constexpr const char *elements = R"(
#if defined(__GNUC__)
#define INGOT_IN_MEMORY __attribute__((__may_alias__))
#else
#define INGOT_IN_MEMORY
#endif
typedef uint8_t u8;
typedef uint16_t INGOT_IN_MEMORY u16;
typedef uint32_t INGOT_IN_MEMORY u32;
typedef uint64_t INGOT_IN_MEMORY u64;
#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 INGOT_IN_MEMORY u128; // a string
#endif
typedef float INGOT_IN_MEMORY f32;
typedef double INGOT_IN_MEMORY f64;
#undef INGOT_IN_MEMORY
)";

std::string quoted(StringRef text) {
  std::string result = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', char(c)};
    } else if (c < 0x20 || c >= 0x7f || c == '?') { // three digits end an octal number, and escapes leave no trigraph
      result += '\\', result += llvm::formatv("{0}{1}{2}", c >> 6, c >> 3 & 7, c & 7).str();
    } else {
      result += char(c);
    }
  }
  return result + "\"";
}

/// Returns lines of items with commas between, as many in each as fit.
std::string filledLines(ArrayRef<std::string> items, unsigned indent) {
  std::string text, row(indent, ' ');
  for (const std::string &item : items) {
    if (row.size() + item.size() + 2 > mostColumns) {
      text += StringRef(row).rtrim().str() + "\n";
      row = std::string(indent, ' ');
    }
    row += item + ", ";
  }
  return text + StringRef(row).rtrim(", ").str() + "\n";
}

/// Returns an initializer of bytes as words, with zeros behind them.
std::string initializer(ArrayRef<char> bytes) {
  SmallVector<std::string> words;
  for (size_t at = 0; at < bytes.size(); at += 8) {
    char eight[8] = {};
    llvm::copy(bytes.slice(at, std::min<size_t>(8, bytes.size() - at)), eight);
    uint64_t word = llvm::support::endian::read64le(eight);
    words.push_back((word > 9 ? "0x" + llvm::utohexstr(word, /*LowerCase=*/true) : std::to_string(word)) +
                    (word >> 63 ? "u" : ""));
  }
  return " = {\n" + filledLines(words, 4) + "};\n";
}

/// Writes the members of a structure of the descriptor. Tables of what they point to go to `tables`, which stand in
/// front of it.
class StructureText {
public:
  struct Surroundings {
    const std::string &name; ///< the name of the model
    bool hasPlan;
    llvm::function_ref<std::string(StringRef kernel)> bodyOf; ///< returns the name of the function that runs a kernel
  };
  /// Makes a writer of a row of a table, or of the model itself, which is in none.
  StructureText(const Surroundings &around, std::string &tables, const std::string &table = "", size_t row = 0)
      : around(around), tables(tables), table(table), number(table.empty() ? "" : std::to_string(row)) {}

  /// Returns the members of the model, each in a line with its name.
  std::string rows(const Descriptor &model) {
    visitMembers(*this, model);
    std::string text;
    for (const auto &[name, value] : members) {
      text += "    " + value + ", // " + name + "\n";
    }
    return text;
  }

  void int32(const char *name, int64_t value) { add(name, std::to_string(value)); }
  void int64(const char *name, int64_t value) { add(name, textOf(value)); }
  void hash(const char *name, uint64_t value) {
    add(name, value ? "0x" + llvm::utohexstr(value, /*LowerCase=*/true) + "u" : "0");
  }
  void text(const char *name, StringRef text) { add(name, quoted(text)); }
  /// Writes no levels, since source is for one machine.
  void int32s(const char *name, ArrayRef<int32_t>) { add(name, "nullptr"); }
  void int64s(const char *name, ArrayRef<int64_t> numbers) {
    std::string array = table + "Dims" + number, texts = llvm::join(llvm::map_range(numbers, textOf), ", ");
    addTable(name, numbers.empty() ? "" : array, wrapped("const int64_t " + array + "[] = {" + texts + "};", 0));
  }
  void texts(const char *name, ArrayRef<std::string> texts) {
    std::string rows;
    for (const std::string &text : texts) {
      rows += "    " + quoted(text) + ",\n";
    }
    addRows(name, "const char *const", rows);
  }
  template <typename Record>
  void records(const char *name, const std::string &type, const std::vector<Record> &records) {
    std::string rows;
    for (auto [i, record] : llvm::enumerate(records)) {
      StructureText row(around, tables, tableOf(name), i);
      visitMembers(row, record);
      auto values = llvm::map_range(row.members, [](const auto &member) { return member.second; });
      rows += wrapped("{" + llvm::join(values, ", ") + "},", 4);
    }
    addRows(name, "const " + type, rows);
  }
  void threads(const char *name, ArrayRef<int64_t> threads) {
    add(name, "{" + llvm::join(llvm::map_range(threads, textOf), ", ") + "}");
  }
  void function(const char *name) {
    add(name, StringRef(name) == "run" ? "runGeneric" : around.hasPlan ? "planSizes" : "nullptr");
  }
  void weights(const char *name, const Descriptor::Device &device) {
    std::string all = "reinterpret_cast<const char *>(" + around.name + "_weights)";
    add(name, device.isEmbedded ? all + " + " + textOf(device.weightsAt) : "nullptr");
  }
  void bytes(const char *name, StringRef bytes) {
    std::string array = table + "Bytes" + number, count = std::to_string((bytes.size() + 7) / 8);
    addTable(name, bytes.empty() ? "" : array,
             "alignas(64) const uint64_t " + array + "[" + count + "]" + initializer(bytes));
  }
  void bodies(const char *name, ArrayRef<std::string> kernels) {
    std::string array = table + "Bodies", rows = filledLines(llvm::map_to_vector(kernels, around.bodyOf), 4);
    addTable(name, kernels.empty() ? "" : array,
             "void (*const " + array + "[])(const void *, int64_t, int64_t) = {\n" + rows + "};\n");
  }

private:
  static std::string textOf(int64_t value) { return value == INT64_MIN ? "INT64_MIN" : std::to_string(value); }
  /// Returns the name of the table of a member: "inputTable" for "inputs".
  std::string tableOf(StringRef member) const { return (member.drop_back() + "Table" + number).str(); }

  void add(const char *name, const std::string &value) { members.emplace_back(name, value); }
  void addTable(const char *name, const std::string &array, const std::string &text) {
    tables += array.empty() ? "" : text;
    add(name, array.empty() ? "nullptr" : array);
  }
  void addRows(const char *name, const std::string &type, const std::string &rows) {
    std::string array = tableOf(name);
    addTable(name, rows.empty() ? "" : array, type + " " + array + "[] = {\n" + rows + "};\n");
  }

  const Surroundings &around;
  std::string &tables;
  std::string table, number; ///< the table that the structure is a row of, and the number of the row
  SmallVector<std::pair<const char *, std::string>> members;
};

/// Returns a text of any length as a comment. A backslash at the end of a line would continue it.
std::string comment(StringRef text) {
  std::string all;
  SmallVector<StringRef> words;
  StringRef(text).split(words, ' ');
  std::string row = "//";
  for (StringRef word : words) {
    std::string shown = llvm::json::fixUTF8(word.take_front(mostColumns - 10).rtrim('\\'));
    if (row.size() + shown.size() + 1 > mostColumns && row != "//") {
      all += row + "\n";
      row = "//   ";
    }
    row += " " + shown;
  }
  return all + row + "\n";
}

/// Returns the flag that tells a compiler the machine, where the vectors are a machine's.
std::string machineFlag(const target::MachineModel &machine) {
  if (!machine.machineCode) {
    return "";
  }
  if (machine.level) {
    return "-march=" + machine.spec + " ";
  }
  return (llvm::Triple(machine.triple).isX86() ? "-march=" : "-mcpu=") + machine.cpu + " ";
}

class Program {
public:
  Program(ModuleOp module, const target::MachineModel &machine, const ModelInfo &model, ArrayRef<DeviceCode> devices,
          ArrayRef<char> weights)
      : module(module), model(model), described(describe(model, devices)), weights(weights),
        flag(machineFlag(machine)) {}

  FailureOr<std::string> write() {
    std::string functions;
    for (func::FuncOp function : inOrder()) {
      FailureOr<std::string> text = FunctionWriter(function, model, helpers).write();
      if (failed(text)) {
        return failure();
      }
      functions += "\n" + about(function) + *text;
    }
    functions += deviceBodies();
    std::string ends = entries(), used = helpers.text();
    return head() + "\nnamespace {\n" + elements + vectorTypes(used + functions) + used + constants() + functions +
           "\n} // namespace\n" + ends + descriptor();
  }

private:
  bool isOpen() const { return !model.symbols.empty(); }
  bool hasPlan() const { return !model.symbols.empty() || !model.dataDependentSizes.empty(); }

  /// Returns the functions, each behind those that it calls. Nothing calls those of devices.
  SmallVector<func::FuncOp> inOrder() {
    SmallVector<func::FuncOp> order;
    llvm::SmallDenseSet<Operation *> placed;
    auto place = [&](func::FuncOp function, auto &&again) -> void {
      if (function.isExternal() || !placed.insert(function).second) {
        return;
      }
      std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(function.getOperation());
      for (SymbolTable::SymbolUse use : *uses) {
        if (auto callee = module.lookupSymbol<func::FuncOp>(use.getSymbolRef().getRootReference())) {
          again(callee, again);
        }
      }
      order.push_back(function);
    };
    for (func::FuncOp function : module.getOps<func::FuncOp>()) {
      if (!function.isPrivate()) {
        place(function, place);
      }
    }
    for (const std::string &kernel : deviceKernels()) {
      place(module.lookupSymbol<func::FuncOp>(kernel), place);
    }
    return order;
  }

  /// Whether results are to have the same bits everywhere.
  bool isReproducible() { return module->hasAttr(support::reproducibleName); }

  /// Returns the first lines: how the file is compiled, includes, and checks of the compiler's options.
  std::string head() {
    std::string text = "// The model " + model.name + ", compiled by ingot to C++17. Its functions are declared in " +
                       model.name + ".h.\n";
    text += "//\n//     c++ -std=c++17 -O3 " + flag + "-I<ingot's include folder> -c " + model.name + ".cpp" +
            (areInitialized(model) || model.takesWeights() ? "" : " " + model.name + ".weights.S") + "\n";
    text += options;
    text += isReproducible() ? unfused : "";
    text += "#if !defined(INGOT_PLAIN_C)\n#define INGOT_PLAIN_C // the class in the header is for programs\n#endif\n";
    text += "#include \"" + model.name + ".h\"\n";
    text += helpers.needsMath() ? "#include <cmath>\n" : "";
    return text + "#include <cstdint>\n#include <cstring>\n" +
           (helpers.has("Lane") ? "#include <type_traits>\n#include <utility>\n" : "") +
           (isReproducible() ? evaluation : "") + checks;
  }

  /// Returns the types of vectors that occur in `text`.
  static std::string vectorTypes(StringRef text) {
    static llvm::Regex name("(^|[^A-Za-z0-9_])([fui])(8|16|32|64)x([0-9]+)($|[^A-Za-z0-9_])");
    std::set<std::pair<unsigned, std::string>> types;
    for (SmallVector<StringRef> parts; name.match(text, &parts); text = text.substr(parts[4].end() - text.begin())) {
      unsigned bits = 0, count = 0;
      parts[3].getAsInteger(10, bits), parts[4].getAsInteger(10, count);
      std::string lane = parts[2] == "f" ? bits == 32 ? "float" : "double" : integerName(bits, parts[2] == "i");
      std::string type = (parts[2] + parts[3] + "x" + parts[4]).str();
      types.insert({bits * count, "typedef " + lane + " " + type + " __attribute__((vector_size(" +
                                      std::to_string(bits / 8 * count) + ")));\n"});
    }
    std::string all;
    for (const auto &[bits, type] : types) {
      all += type;
    }
    return all;
  }

  /// Returns the comment of a kernel: its nodes, and its operands.
  std::string about(func::FuncOp function) {
    SmallVector<std::string> nodes;
    const LaunchInfo *first = nullptr;
    for (const LaunchInfo &launch : model.launches) {
      if (launch.function != function.getName()) {
        continue;
      }
      first = first ? first : &launch;
      for (const std::string &node : launch.nodes) {
        if (!llvm::is_contained(nodes, node)) {
          nodes.push_back(node);
        }
      }
    }
    std::string text = nodes.empty() ? "" : comment(inComment(llvm::join(nodes, ", ")));
    if (!first) {
      return text;
    }
    for (auto [i, operand] : llvm::enumerate(first->operands)) {
      text += comment("  p" + std::to_string(i) + ": " + inComment(operand));
    }
    return text;
  }

  /// Returns the kernels of devices that stay in this source.
  SmallVector<std::string> deviceKernels() {
    SmallVector<std::string> kernels;
    for (const Descriptor::Device &device : described.devices) {
      for (const Descriptor::Image &image : device.images) {
        llvm::append_range(kernels, image.bodies);
      }
    }
    return kernels;
  }

  /// Writes the functions that a device calls for such kernels (DeviceBodies.cpp).
  std::string deviceBodies() {
    std::string all;
    for (const std::string &kernel : deviceKernels()) {
      all += deviceBody(module.lookupSymbol<func::FuncOp>(kernel));
    }
    return all;
  }

  /// Returns the function that takes a kernel's arguments out of the words of a launch.
  std::string deviceBody(func::FuncOp kernel) {
    size_t next = 0;
    auto word = [&] { return "words[" + std::to_string(next++) + "]"; };
    SmallVector<std::string> arguments;
    for (Type type : kernel.getArgumentTypes().drop_back(2)) {
      auto buffer = dyn_cast<MemRefType>(type);
      std::string element = buffer ? elementName(buffer.getElementType()) : "", given = word();
      std::string memory = buffer ? helpers.use("memoryAt") + "(" + given + ")" : given;
      arguments.push_back(buffer && element != "u8" ? helpers.use("at_" + element) + "(" + memory + ", 0)" : memory);
    }
    arguments.append({"uint64_t(begin)", "uint64_t(end)"});
    std::string name = functionName(kernel, model), call = name + "(" + llvm::join(arguments, ", ") + ")";
    if (kernel.getNumResults() == 1) {
      std::string place = word(), node = word();
      call = helpers.use("noteStatus") + "(" + call + ", " + place + ", " + node + ")";
    }
    std::string read = next ? "  const uint64_t *const words = static_cast<const uint64_t *>(args);\n" : "";
    return "\n" +
           wrapped("void " + deviceBodyName(name) + "(const void *" + (next ? "args" : "") +
                       ", int64_t begin, int64_t end) {",
                   0) +
           read + wrapped(call + ";", 2) + "}\n";
  }

  /// Returns the weights: an array with its contents, or for large ones the declaration of what NAME.weights.S defines.
  std::string constants() {
    if (!model.weightBytes || model.takesWeights()) {
      return "";
    }
    std::string declared = llvm::formatv("uint64_t {0}_weights[{1}]", model.name, (model.weightBytes + 7) / 8);
    if (!areInitialized(model)) { // the weights are in NAME.weights.S
      return "\n} // namespace\nextern \"C\" const " + declared + ";\nnamespace {\n";
    }
    return "\nalignas(64) const " + declared + initializer(weights);
  }

  /// Returns NAME_run, the other functions that the header declares, and those that the descriptor points to.
  std::string entries() {
    emit::ParameterNames names = parameterNames(model);
    SmallVector<std::string> parameters, arguments, generic;
    auto tensors = [&](ArrayRef<plan::TensorInfo> infos, const char *array, bool isInput) {
      for (auto [i, info] : llvm::enumerate(infos)) {
        std::string type = support::elementType(info.type).c.str(), name = std::string(1, *array) + std::to_string(i);
        std::string pointer = (isInput ? "const " : "") + type + (info.isAllocated ? " **" : " *");
        parameters.push_back(pointer + name);
        arguments.push_back(typed(helpers.use("raw") + "(" + name + ")", arguments.size()));
        generic.push_back("static_cast<" + pointer + ">(" + array + "[" + std::to_string(i) + "])");
      }
    };
    tensors(model.inputs, "inputs", true);
    tensors(model.outputs, "outputs", false);
    for (size_t i = 0; i < model.symbols.size(); ++i) {
      parameters.push_back("int64_t size" + std::to_string(i));
      arguments.push_back("uint64_t(size" + std::to_string(i) + ")");
      generic.push_back("sizes[" + std::to_string(i) + "]");
    }
    for (size_t i = 0; i < model.dataDependentSizes.size(); ++i) {
      parameters.push_back("int64_t *found" + std::to_string(i));
      arguments.push_back(typed(helpers.use("raw") + "(found" + std::to_string(i) + ")", arguments.size()));
      generic.push_back("sizes + " + std::to_string(model.symbols.size() + i));
    }
    std::vector<int64_t> parts = model.workspaceParts();
    for (auto [i, part] : llvm::enumerate(parts)) {
      std::string name = "workspace" + (parts.size() > 1 ? std::to_string(i) : "");
      parameters.push_back("void *" + name);
      arguments.push_back(typed(helpers.use("raw") + "(" + name + ")", arguments.size()));
      generic.push_back(part ? "static_cast<unsigned char *>(workspace) + " + std::to_string(part) : "workspace");
    }
    parameters.push_back("const ingot_exec *exec");
    arguments.push_back("exec");
    generic.push_back("exec");
    std::string text = "\n" + wrapped("int " + model.name + "_run(" + llvm::join(parameters, ", ") + ") {", 0) +
                       wrapped("return int(run(" + llvm::join(arguments, ", ") + "));", 2) + "}\n";
    text += hasPlan() ? planEntries() : "";
    bool hasSizes = hasPlan();
    text += "\nnamespace {\n\n" +
            wrapped("int runGeneric(const void *const *" + std::string(model.inputs.empty() ? "" : "inputs") +
                        ", void *const *" + (model.outputs.empty() ? "" : "outputs") + ", int64_t *" +
                        (hasSizes ? "sizes" : "") + ", void *workspace, const ingot_exec *exec) {",
                    0) +
            wrapped("return " + model.name + "_run(" + llvm::join(generic, ", ") + ");", 2) + "}\n";
    return text;
  }

  /// Returns bytes as the type that the run's parameter points to.
  std::string typed(const std::string &bytes, size_t parameter) {
    auto run = module.lookupSymbol<func::FuncOp>(model.name + "_run");
    auto type = cast<MemRefType>(run.getArgumentTypes()[parameter]);
    std::string element = elementName(type.getElementType());
    return element == "u8" ? bytes : helpers.use("at_" + element) + "(" + bytes + ", 0)";
  }

  /// Returns the plan with the types of the header, and NAME_workspace_bytes where the model has open sizes.
  std::string planEntries() {
    std::string raw = helpers.use("raw"), at = helpers.use("at_u64");
    std::string text =
        "\nnamespace {\n\nint planSizes(const int64_t *sizes, int64_t *dims, int64_t *bytes) {\n" +
        llvm::formatv("  return int(plan({0}({1}(sizes), 0), {0}({1}(dims), 0), {0}({1}(bytes), 0)));\n", at, raw)
            .str() +
        "}\n\n} // namespace\n";
    if (!isOpen()) {
      return text;
    }
    size_t axes = 0;
    for (const Descriptor::Tensor &output : described.outputs) {
      axes += output.dims.size();
    }
    SmallVector<std::string> parameters, sizes;
    for (size_t i = 0; i < model.symbols.size(); ++i) {
      sizes.push_back("size" + std::to_string(i));
      parameters.push_back("int64_t " + sizes.back());
    }
    return text + "\n" +
           wrapped("int64_t " + model.name + "_workspace_bytes(" + llvm::join(parameters, ", ") + ") {", 0) +
           wrapped("const int64_t sizes[] = {" + llvm::join(sizes, ", ") + "};", 2) +
           llvm::formatv("  int64_t dims[{0}], bytes[{1}] = {{};\n"
                         "  const int status = planSizes(sizes, dims, bytes);\n"
                         "  return status ? -int64_t(status) : bytes[0];\n}\n",
                         std::max<size_t>(axes, 1), 1 + described.devices.size())
               .str();
  }

  /// Returns the descriptor behind its tables, and the function that returns its address.
  std::string descriptor() {
    auto bodyOf = [&](StringRef kernel) {
      return deviceBodyName(functionName(module.lookupSymbol<func::FuncOp>(kernel), model));
    };
    StructureText::Surroundings around{model.name, hasPlan(), bodyOf};
    std::string tables, rows = StructureText(around, tables).rows(described);
    return "\n" + tables + "const ingot_model modelTable = {\n" + rows + "};\n\n} // namespace\n\nconst ingot_model *" +
           model.name + "_model(void) { return &modelTable; }\n";
  }

  ModuleOp module;
  const ModelInfo &model;
  Descriptor described;
  ArrayRef<char> weights;
  Helpers helpers;
  std::string flag; ///< the flag of the compiler for the machine
};

} // namespace

FailureOr<std::string> sourceText(ModuleOp module, const target::MachineModel &machine, const ModelInfo &model,
                                  ArrayRef<DeviceCode> devices, ArrayRef<char> weights) {
  return Program(module, machine, model, devices, weights).write();
}

std::string assemblyText(const ModelInfo &model) {
  return llvm::formatv(
      R"(// The weights of the model {0}. The assembler looks for {0}.weights in the folders of -I, too.
#if defined(__APPLE__)
    .const
    .globl _{0}_weights
    .p2align 6
_{0}_weights:
#else
#if defined(_WIN32)
    .section .rdata,"dr"
#else
    .section .rodata
    .type {0}_weights, %object
    .size {0}_weights, {1}
    .hidden {0}_weights
#endif
    .globl {0}_weights
    .p2align 6
{0}_weights:
#endif
    .incbin "{0}.weights"
#if defined(__ELF__)
    .section .note.GNU-stack,"",%progbits
#endif
)",
      model.name, model.weightBytes);
}

} // namespace ingot::emit::cpp
