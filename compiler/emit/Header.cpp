// Writes the header of a model. Everything in it comes from ModelInfo; a model's C++ class goes through the checked
// generic entry of libingot_rt, so that a wrong size is an error value. For a model `net` with an open size `batch`:
//
//   a comment            the tensors and sizes, with the names that they have in the model
//   NET_WORKSPACE_ALIGN, NET_X_ELEMENTS ...     numbers that are known, as macros
//   net_x_elements(batch)                       those that depend on sizes, as inline functions
//   net_run, net_workspace_bytes, net_model     prototypes
//   ingot::models::net                          the class, for C++17
//
// Parts are left out where the model has nothing for them. Names of parameters are in `names`; macros and functions are
// called after `stems`, which have no underscore behind them (Names.h).
#include "compiler/emit/Names.h"
#include "compiler/emit/Texts.h"
#include "compiler/support/ElementTypes.h"
#include "compiler/support/SymbolNames.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using ingot::emit::inComment;
using ingot::plan::ModelInfo;
using ingot::plan::TensorInfo;
using ingot::support::elementType;
using ingot::support::Size;

namespace {

class HeaderWriter {
public:
  HeaderWriter(const ModelInfo &model, const ingot::emit::BuildSizes &sizes)
      : model(model), sizes(sizes), stems(ingot::emit::parameterNames(model)), names(ingot::emit::namesInCode(model)),
        className(ingot::emit::className(model)), upper(StringRef(model.name).upper()), out(text) {}

  std::string write() {
    writeComment();
    out << formatv("#ifndef INGOT_MODEL_{0}_H\n#define INGOT_MODEL_{0}_H\n\n#include \"ingot.h\"\n\n", upper);
    writeVersionCheck();
    writeMacros();
    writeElementFunctions();
    out << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    writePrototypes();
    out << "#ifdef __cplusplus\n}\n#endif\n\n";
    writeClass();
    out << "#endif\n";
    return text;
  }

private:
  bool isOpen() const { return !model.symbols.empty(); }
  bool hasOptional() const {
    return llvm::any_of(model.inputs, [](const TensorInfo &input) { return input.isOptional; });
  }
  bool finds() const { return !model.dataDependentSizes.empty(); }
  bool allocates() const { return !model.allocations.empty(); }
  /// Whether exec may not be null.
  bool needsExec() const {
    return model.takesWeights() || model.streamsWeights() || allocates() || model.makesStrings || needsDevices();
  }
  bool needsDevices() const { return !model.devices.empty() && !model.hostFallback; }

  /// Returns a size with the parameters' names for the symbols.
  Size asParameters(const Size &size) const {
    auto symbol = [&](ingot::support::Symbol name) {
      for (auto [info, parameter] : llvm::zip(model.symbols, names.symbols)) {
        if (info.name == name.text()) {
          return Size::symbol(parameter);
        }
      }
      for (auto [info, parameter] : llvm::zip(model.dataDependentSizes, names.dataDependentSizes)) {
        if (info.name == name.text()) {
          return Size::symbol(parameter);
        }
      }
      return Size(name);
    };
    return size.replaced(symbol);
  }

  /// Returns a shape like "float32[batch][2*sequence]".
  std::string shape(const TensorInfo &tensor) const {
    std::string text = elementType(tensor.type).name.str();
    for (const Size &dim : tensor.dims) {
      text += "[" + (dim.isUnknown() ? "?" : asParameters(dim).text()) + "]";
    }
    return text;
  }

  /// Returns parameters like "int64_t batch, int64_t sequence", with `separator` between them.
  std::string symbolParameters(StringRef type, StringRef separator) const {
    std::string text;
    for (const std::string &name : names.symbols) {
      text += (Twine(text.empty() ? "" : separator) + type + " " + name).str();
    }
    return text;
  }
  std::string symbolArguments() const { return llvm::join(names.symbols, ", "); }
  /// Returns parameters like "std::int64_t &boxes_dim0, ", with `separator` behind each.
  std::string dataDependentParameters(StringRef type, StringRef separator) const {
    std::string text;
    for (const std::string &name : names.dataDependentSizes) {
      text += (type + name + separator).str();
    }
    return text;
  }

  /// Returns what a size may be, behind a colon, such as ": at least 1, at most 8"; empty: anything.
  static std::string bounds(const ingot::plan::SymbolInfo &symbol) {
    if (!symbol.sizes.empty() && !symbol.others) {
      return ": one of " + llvm::join(llvm::map_range(symbol.sizes, [](int64_t n) { return std::to_string(n); }), ", ");
    }
    std::string least = symbol.least > 0 ? "at least " + std::to_string(symbol.least) : "";
    std::string most = symbol.most >= 0 ? "at most " + std::to_string(symbol.most) : "";
    return least.empty() && most.empty() ? "" : ": " + least + (least.empty() || most.empty() ? "" : ", ") + most;
  }

  /// Writes the comment at the head: what the model reads and writes, and what a run asks of its caller.
  void writeComment() {
    out << "/* The model " << model.name << ", compiled by ingot for " << model.target << ".\n *\n";
    auto list = [&](const char *role, ArrayRef<TensorInfo> tensors, ArrayRef<std::string> parameters) {
      for (auto [tensor, parameter] : llvm::zip(tensors, parameters)) {
        out << " * " << role << parameter << ": " << shape(tensor);
        if (tensor.name != parameter) {
          out << ", in the model '" << inComment(tensor.name) << "'";
        }
        out << (tensor.isOptional ? "; optional, may be null" : "");
        out << (tensor.isAllocated ? "; allocated by the run" : "");
        if (!tensor.mapKeys.empty()) {
          out << "; a row for each map, a column for each of " << keysMacro(tensor);
        }
        out << (tensor.device ? "; in the memory of device " + std::to_string(tensor.device - 1) : "");
        out << (tensor.inPlaceOf >= 0 ? "; may be the memory of " + names.inputs[tensor.inPlaceOf] : "") << "\n";
      }
    };
    for (auto [symbol, parameter] : llvm::zip(model.symbols, names.symbols)) {
      out << " * size   " << parameter << bounds(symbol);
      if (std::string name = ingot::support::symbolName(symbol.name); name != parameter) {
        out << ", in the model '" << inComment(name) << "'";
      }
      out << "\n";
    }
    for (auto [found, parameter] : llvm::zip(model.dataDependentSizes, names.dataDependentSizes)) {
      out << " * found  " << parameter
          << (found.most.isUnknown() ? ": nothing bounds it" : ": at most " + asParameters(found.most).text()) << "\n";
    }
    list("input  ", model.inputs, names.inputs);
    list("output ", model.outputs, names.outputs);
    if (finds()) {
      out << " *\n * Sizes that are found are written by the run; outputs that have them need room for the most.\n";
    }
    if (model.makesStrings) {
      out << " *\n * A run makes strings: it needs exec->strings, and exec->allocate where these have no memory.\n";
    }
    if (!model.levels.empty()) {
      out << " *\n * A run takes the highest of these levels that the machine has, or ends with INGOT_ERROR_TARGET.\n";
    }
    if (allocates()) {
      out << " *\n * Nothing bounds some of the sizes: a run needs exec->allocate and exec->release. Outputs that it\n"
             " * allocates belong to the caller, who releases them.\n";
    }
    for (auto [number, device] : llvm::enumerate(model.devices)) {
      out << formatv(" *\n * exec->devices[{0}] is a device for {1}; ingot_device_open makes it ready.", number,
                     inComment(device.spec));
    }
    out << (model.devices.empty() ? "" : "\n")
        << (model.hostFallback ? " *\n * A run without them takes code for the host alone.\n" : "")
        << " *\n * Tensors are dense and row-major. See ingot.h for the rules. */\n";
  }

  void writeVersionCheck() {
    out << formatv("#if INGOT_ABI != {0}\n#error \"{1}.h is for version {0} of the interface in ingot.h (INGOT_ABI): "
                   "compile the model with the ingot that ingot.h comes from\"\n#endif\n\n",
                   INGOT_ABI, model.name);
  }

  void writeMacros() {
    if (model.workspaceBytes >= 0) {
      out << formatv("#define {0}_WORKSPACE_BYTES {1}{2}\n", upper, model.workspaceBytes,
                     model.memories.empty() ? "" : " /* of all memories, one behind the other, for ingot_run */");
    }
    for (auto [memory, part] : llvm::zip(model.memories, stems.memories)) {
      out << formatv("#define {0} {1}\n", partMacro(part), memory.workspaceBytes);
    }
    out << formatv("#define {0}_WORKSPACE_ALIGN {1}\n", upper, model.workspaceAlign);
    if (sizes.stack.bytes >= 0) {
      out << formatv("#define {0}_STACK_BYTES {1} /* at most, in a call of {2}_run */\n", upper, sizes.stack.bytes,
                     model.name);
    }
    if (model.weightsPlace != ingot::plan::WeightsPlace::Embed) {
      writeWeightMacros();
    }
    auto list = [&](ArrayRef<TensorInfo> tensors, ArrayRef<std::string> parameters) {
      for (auto [tensor, parameter] : llvm::zip(tensors, parameters)) {
        Size elements = ceilDiv(ingot::support::product(tensor.capacity()), elementType(tensor.type).pack());
        if (elements.isNumber()) {
          out << formatv("#define {0} {1}\n", countMacro(parameter), elements.number());
        }
      }
    };
    list(model.inputs, stems.inputs);
    list(model.outputs, stems.outputs);
    for (const TensorInfo &tensor : model.outputs) {
      writeKeys(tensor, keysMacro(tensor));
    }
    out << "\n";
  }

  /// Writes the keys of maps as an initializer of an array.
  void writeKeys(const TensorInfo &tensor, const std::string &macro) {
    if (tensor.mapKeys.empty()) {
      return;
    }
    out << "#define " << macro << " {";
    for (auto [i, key] : llvm::enumerate(tensor.mapKeys)) {
      out << (i ? ", " : "");
      if (!tensor.hasStringKeys) {
        out << "INT64_C(" << key << ")";
        continue;
      }
      out << '"'; // octal codes have three digits, so that a digit behind one is not part of it
      for (unsigned char c : key) {
        bool isPlain = llvm::isPrint(static_cast<char>(c)) && c != '"' && c != '\\' && c != '?';
        isPlain ? out << char(c) : out << formatv("\\{0}{1}{2}", c >> 6, c >> 3 & 7, c & 7).str();
      }
      out << '"';
    }
    out << "}\n";
  }

  /// Writes macros about the file that is written beside the header.
  void writeWeightMacros() {
    if (model.weightsPlace == ingot::plan::WeightsPlace::File) {
      out << formatv("#define {0}_WEIGHTS_FILE \"{1}.weights\"\n", upper, model.name);
    }
    bool streams = model.weightsPlace == ingot::plan::WeightsPlace::Stream;
    if (streams && model.streamBytes >= 0) {
      out << formatv("#define {0}_STREAM_BYTES {1} /* of the workspace, for weights that are read */\n", upper,
                     model.streamBytes);
    }
    out << formatv("#define {0}_WEIGHTS_BYTES {1}\n", upper, streams ? model.streamedBytes : model.weightBytes)
        << formatv("#define {0}_WEIGHTS_ALIGN {1}\n", upper, INGOT_WEIGHTS_ALIGN)
        << formatv("#define {0}_WEIGHTS_HASH 0x{1}u\n", upper, utohexstr(model.weightHash, /*LowerCase=*/true, 16));
  }

  /// Writes functions that count the elements of open tensors, where C can say the count: as sums of products.
  void writeElementFunctions() {
    std::string functions;
    auto list = [&](ArrayRef<TensorInfo> tensors, ArrayRef<std::string> parameters) {
      for (auto [tensor, parameter] : llvm::zip(tensors, parameters)) {
        Size elements = asParameters(ingot::support::product(tensor.capacity()));
        std::vector<std::string> used;
        elements.eachSymbol([&](StringRef name) { used.push_back(name.str()); });
        llvm::sort(used);
        used.erase(llvm::unique(used), used.end());
        bool calls = false;
        elements.eachCall([&](ingot::support::Call, const Size &, const Size &) { calls = true; });
        if (used.empty() || calls) {
          continue;
        }
        functions += formatv("static inline int64_t {0}_{1}_elements(int64_t {2}) {{ return {3}; }\n", model.name,
                             parameter, llvm::join(used, ", int64_t "), elements.text());
      }
    };
    list(model.inputs, stems.inputs);
    list(model.outputs, stems.outputs);
    if (!functions.empty()) {
      out << "/* Elements of open tensors, for sizes that the model can run with; ingot_plan knows all shapes. */\n"
          << functions << "\n";
    }
  }

  /// Returns what a caller has to know of the workspace.
  std::string workspaceRule() const {
    if (model.memories.empty()) {
      std::string bytes = model.workspaceBytes >= 0 ? upper + "_WORKSPACE_BYTES"
                                                    : model.name + "_workspace_bytes(" + symbolArguments() + ")";
      return "workspace has " + bytes + " bytes, aligned.";
    }
    std::string text;
    for (const std::string &part : stems.memories) {
      text += "\n *   " + part + ": " + partMacro(part);
    }
    return "each part of\n * the workspace has its bytes, aligned (one of 0 bytes may be null):" + text + "\n *";
  }

  /// Writes the prototypes of the entry, of NAME_workspace_bytes for open sizes, and of NAME_model.
  void writePrototypes() {
    out << "/* Runs the model; 0, or a status that ingot_error_text explains. Nothing is checked: pointers must not "
           "be\n"
           " * null"
        << (hasOptional() ? " but those of optional inputs" : "") << ", and " << workspaceRule()
        << (allocates() ? " exec->allocate and exec->release have to be there." : "")
        << (needsDevices() ? " exec->devices has to be there." : "")
        << (model.takesWeights()     ? " exec->weights is the address of the bytes of " + model.name +
                                           ".weights;\n * see ingot_weights_load and ingot_weights_check. */\n"
            : model.streamsWeights() ? " exec->weights is the address of an ingot_reader\n * of the bytes of " +
                                           model.name + ".weights. */\n"
            : needsExec()            ? " */\n"
                                     : " exec may be null: the calling thread only. */\n");
    std::string start = "int " + model.name + "_run(";
    std::string indent = ",\n" + std::string(start.size(), ' ');
    out << start;
    for (auto [tensor, parameter] : llvm::zip(model.inputs, names.inputs)) {
      out << "const " << elementType(tensor.type).c << " *" << parameter << indent;
    }
    for (auto [tensor, parameter] : llvm::zip(model.outputs, names.outputs)) {
      out << elementType(tensor.type).c << (tensor.isAllocated ? " **" : " *") << parameter << indent;
    }
    out << symbolParameters("int64_t", indent) << (isOpen() ? indent : "")
        << dataDependentParameters("int64_t *", indent);
    for (const std::string &part : names.memories) {
      out << "void *" << part << indent;
    }
    out << (model.memories.empty() ? "void *workspace, " : "") << "const ingot_exec *exec);\n\n";
    if (isOpen()) {
      out << "/* The workspace that a run with these sizes needs, in bytes; negative: minus a status, because the "
             "model "
             "cannot\n"
             " * run with them."
          << (model.workspaceBytes >= 0 ? " The same for all that are within their bounds." : "") << " */\nint64_t "
          << model.name << "_workspace_bytes(" << symbolParameters("int64_t", ", ") << ");\n\n";
    }
    out << "/* Names, types and sizes of the model, and its generic entry. */\nconst ingot_model *" << model.name
        << "_model(void);\n\n";
  }

  void writeClass() {
    out << "#if defined(__cplusplus) && __cplusplus >= 201703L && !defined(INGOT_PLAIN_C)\n#include "
           "\"ingot.hpp\"\n\nnamespace ingot::models "
           "{\n\n";
    // A macro of that name gets an underscore, which is known only where the header is included.
    bool isMacro = ingot::emit::mayBeMacro(className);
    if (isMacro) {
      out << formatv("#ifdef {0}\n#define INGOT_CLASS {0}_\n#else\n#define INGOT_CLASS {0}\n#endif\n\n", className);
      className = "INGOT_CLASS";
    }
    isOpen() ? writeOpenConstruction() : writeConstruction();
    out << "  static const ingot_model *model() { return " << model.name << "_model(); }\n\n"
        << "  /// Spans must have exactly "
        << (model.inputs.size() + model.outputs.size() > 1 ? "the numbers" : "the number")
        << " of elements above; anything else is an error value.\n"
        << (hasOptional() ? "  /// Empty spans leave optional inputs out.\n" : "");
    writeRunMethod();
    // No parameter has one of these names, since those that end with an underscore begin otherwise.
    out << "\nprivate:\n  Workspace ownMemory_;\n"
        << (isOpen() ? "  Status reserveStatus_;\n" : "")
        << (model.takesWeights() ? "  const void *weightsAddress_;\n" : "")
        << (model.streamsWeights() ? "  const ingot_reader *weightsReader_;\n" : "")
        << (model.makesStrings ? "  Strings madeStrings_; // of the last run\n" : "") << "};\n"
        << (isMacro ? "#undef INGOT_CLASS\n" : "") << "\n} // namespace ingot::models\n#endif\n\n";
  }

  /// Returns the parameter of the constructor for the address of weights that the library does not contain.
  std::string weightsParameter() const {
    return model.takesWeights() ? "const void *weights_" : model.streamsWeights() ? "const ingot_reader &weights_" : "";
  }
  std::string weightsInitializer() const {
    return model.takesWeights()     ? ", weightsAddress_(weights_)"
           : model.streamsWeights() ? ", weightsReader_(&weights_)"
                                    : "";
  }
  std::string weightsComment() const {
    if (model.streamsWeights()) {
      return "  /// `weights_` reads " + model.name + ".weights, and has to live as long as the object.\n";
    }
    return model.takesWeights() ? "  /// `weights_` has to live as long as the object: WeightsFile(" + model.name +
                                      "_model(), path).data(), or\n  /// any place with these bytes.\n"
                                : "";
  }

  /// Writes the beginning of a class whose workspace has a known size.
  void writeConstruction() {
    out << "/// The model with a workspace of its own: one for each thread that runs it. The only allocation is made "
           "by\n"
           "/// the constructor"
        << (allocates() ? " and for what nothing bounds" : "") << "; test the object for whether there was memory.\n"
        << "class " << className << " {\npublic:\n"
        << weightsComment() << "  " << (weightsParameter().empty() ? "" : "explicit ") << className << "("
        << weightsParameter() << ") : ownMemory_(" << upper << "_WORKSPACE_BYTES, " << upper << "_WORKSPACE_ALIGN)"
        << weightsInitializer() << " {}\n\n"
        << "  explicit operator bool() const { return static_cast<bool>(ownMemory_); }\n";
  }

  /// Writes the beginning of a class whose workspace depends on sizes: the constructor takes them, and so does
  /// reserve().
  void writeOpenConstruction() {
    std::string parameters = symbolParameters("std::int64_t", ", "), arguments = symbolArguments();
    out << "/// The model with a workspace of its own: one for each thread that runs it. The only allocations are made "
           "by\n"
           "/// the constructor and by reserve(); test the object for whether there was memory, and whether the model "
           "can "
           "run\n"
           "/// with these sizes at all.\n"
        << "class " << className << " {\npublic:\n"
        << "  /// For runs whose workspace is not larger than that for these sizes: give the largest.\n"
        << weightsComment() << "  explicit " << className << "(" << weightsParameter()
        << (weightsParameter().empty() ? "" : ", ") << parameters << ")"
        << (weightsParameter().empty() ? "" : " : " + weightsInitializer().substr(2)) << " { (void)this->reserve("
        << arguments << "); }\n\n"
        << "  /// Makes the workspace large enough for runs with these sizes.\n"
        << "  Status reserve(" << parameters
        << ") {\n    return reserveStatus_ = ingot::Model(model()).reserve(ownMemory_, {" << arguments << "});\n  }\n\n"
        << "  explicit operator bool() const { return reserveStatus_.ok(); }\n";
  }

  /// Writes the method run(): it brings spans to arrays of ingot_buffer, calls the generic entry, and hands back sizes
  /// that the run has found.
  void writeRunMethod() {
    out << "  Status run(";
    for (auto [tensor, parameter] : llvm::zip(model.inputs, names.inputs)) {
      out << "Span<const " << elementType(tensor.type).cpp << "> " << parameter << ", ";
    }
    for (auto [tensor, parameter] : llvm::zip(model.outputs, names.outputs)) {
      out << (tensor.isAllocated ? "Allocated<" : "Span<") << elementType(tensor.type).cpp
          << (tensor.isAllocated ? "> &" : "> ") << parameter << ", ";
    }
    out << symbolParameters("std::int64_t", ", ") << (isOpen() ? ", " : "")
        << dataDependentParameters("std::int64_t &", ", ") << "const ingot_exec *exec = nullptr) {\n";
    if (needsExec()) {
      out << "    ingot_exec exec_ = exec ? *exec : ingot_exec{};\n"
          << (model.takesWeights() ? "    exec_.weights = weightsAddress_;\n" : "")
          << (model.streamsWeights() ? "    exec_.weights = weightsReader_;\n" : "")
          << (allocates() || model.makesStrings ? "    ingot::allocateOnHeap(exec_); // unless it says how\n" : "");
      if (model.makesStrings) {
        out << "    if (!exec_.strings) {\n      madeStrings_.serve(exec_);\n    }\n";
      }
    }
    writeBuffers("inputs", model.inputs, names.inputs, /*isConst=*/true);
    writeBuffers("outputs", model.outputs, names.outputs, /*isConst=*/false);
    if (isOpen() || finds()) {
      out << "    std::int64_t sizes_[" << model.symbols.size() + model.dataDependentSizes.size() << "] = {"
          << symbolArguments() << "};\n";
    }
    out << formatv(
        "    {5}Status{6}(ingot_run(model(), {0}, {1}, {2}, {3}, {4}, ownMemory_.data(), ownMemory_.size(), {7}),\n"
        "                  model());\n",
        model.inputs.empty() ? "nullptr" : "inputs", model.inputs.size(), model.outputs.empty() ? "nullptr" : "outputs",
        model.outputs.size(), isOpen() || finds() ? "sizes_" : "nullptr", finds() ? "" : "return ",
        finds() ? " status_" : "", needsExec() ? "&exec_" : "exec");
    for (auto [i, name] : llvm::enumerate(names.dataDependentSizes)) {
      out << "    " << name << " = sizes_[" << model.symbols.size() + i << "];\n";
    }
    out << (finds() ? "    return status_;\n  }\n" : "  }\n");
  }

  void writeBuffers(StringRef variable, ArrayRef<TensorInfo> tensors, ArrayRef<std::string> parameters, bool isConst) {
    if (tensors.empty()) {
      return;
    }
    out << "    const ingot_buffer " << variable << "[] = {\n";
    for (auto [tensor, parameter] : llvm::zip(tensors, parameters)) {
      if (tensor.isAllocated) {
        out << "        " << parameter << ".receive(exec_),\n";
        continue;
      }
      std::string data = parameter + ".data()";
      if (isConst) {
        data = formatv("const_cast<{0} *>({1})", elementType(tensor.type).cpp, data);
      }
      out << "        {" << data << ", static_cast<std::int64_t>(" << parameter << ".size())},\n";
    }
    out << "    };\n";
  }

  std::string keysMacro(const TensorInfo &output) const {
    return upper + "_" + StringRef(stems.outputs[&output - model.outputs.data()]).upper() + "_KEYS";
  }
  std::string partMacro(StringRef part) const { return upper + "_" + part.upper() + "_BYTES"; }
  std::string countMacro(StringRef parameter) { return upper + "_" + parameter.upper() + "_ELEMENTS"; }

  const ModelInfo &model;
  const ingot::emit::BuildSizes &sizes;
  /// `stems` are parts of names of macros and functions, and `names` are parameters
  ingot::emit::ParameterNames stems, names;
  std::string className, upper, text;
  raw_string_ostream out;
};

} // namespace

std::string ingot::emit::headerText(const ModelInfo &model, const BuildSizes &sizes) {
  return HeaderWriter(model, sizes).write();
}
