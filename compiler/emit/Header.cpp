// The header of a model. Everything in it comes from ModelInfo; a model's C++ class goes through the checked generic
// entry of libingot_rt, so that a wrong size is an error value.
#include "compiler/emit/Names.h"
#include "compiler/emit/Texts.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using ingot::emit::elementNames;
using ingot::plan::ModelInfo;
using ingot::plan::TensorInfo;
using ingot::support::Size;

const ingot::emit::ElementNames *ingot::emit::elementNames(int32_t type) {
  static constexpr struct {
    int32_t type;
    ElementNames names;
  } table[] = {{INGOT_FLOAT32, {"float", "float", "float32"}},
               {INGOT_FLOAT64, {"double", "double", "float64"}},
               {INGOT_FLOAT16, {"uint16_t", "Float16", "float16"}},
               {INGOT_BFLOAT16, {"uint16_t", "BFloat16", "bfloat16"}},
               {INGOT_BOOL, {"uint8_t", "bool", "bool"}},
               {INGOT_INT8, {"int8_t", "std::int8_t", "int8"}},
               {INGOT_INT16, {"int16_t", "std::int16_t", "int16"}},
               {INGOT_INT32, {"int32_t", "std::int32_t", "int32"}},
               {INGOT_INT64, {"int64_t", "std::int64_t", "int64"}},
               {INGOT_UINT8, {"uint8_t", "std::uint8_t", "uint8"}},
               {INGOT_UINT16, {"uint16_t", "std::uint16_t", "uint16"}},
               {INGOT_UINT32, {"uint32_t", "std::uint32_t", "uint32"}},
               {INGOT_UINT64, {"uint64_t", "std::uint64_t", "uint64"}}};
  for (const auto &row : table) {
    if (row.type == type) {
      return &row.names;
    }
  }
  return nullptr;
}

namespace {

/// An ONNX name inside a C comment: printable, and unable to end the comment.
std::string inComment(StringRef name) {
  std::string text;
  for (unsigned char c : name) {
    text += c < 0x20 || c == 0x7f ? ' ' : char(c);
  }
  for (size_t at; (at = text.find("*/")) != std::string::npos;) {
    text[at] = ' ';
  }
  for (size_t at; (at = text.find("/*")) != std::string::npos;) {
    text[at] = ' ';
  }
  return text;
}

std::string shape(const TensorInfo &tensor) {
  std::string text = elementNames(tensor.type)->onnx;
  for (const Size &dim : tensor.dims) {
    text += "[" + dim.text() + "]";
  }
  return text;
}

int64_t elements(const TensorInfo &tensor) { return ingot::support::product(tensor.dims).number(); }

class HeaderWriter {
public:
  explicit HeaderWriter(const ModelInfo &model)
      : model(model), names(ingot::emit::parameterNames(model)), upper(StringRef(model.name).upper()), out(text) {}

  std::string write() {
    writeComment();
    out << formatv("#ifndef INGOT_MODEL_{0}_H\n#define INGOT_MODEL_{0}_H\n\n#include \"ingot.h\"\n\n", upper);
    writeMacros();
    out << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    writePrototypes();
    out << "#ifdef __cplusplus\n}\n#endif\n\n";
    writeClass();
    out << "#endif\n";
    return text;
  }

private:
  void writeComment() {
    out << "/* The model " << model.name << ", compiled by ingot for " << model.target << ".\n *\n";
    auto list = [&](const char *role, ArrayRef<TensorInfo> tensors, ArrayRef<std::string> parameters) {
      for (auto [tensor, parameter] : llvm::zip(tensors, parameters)) {
        out << " * " << role << parameter << ": " << shape(tensor);
        if (tensor.name != parameter) {
          out << ", in the model '" << inComment(tensor.name) << "'";
        }
        out << "\n";
      }
    };
    list("input  ", model.inputs, names.inputs);
    list("output ", model.outputs, names.outputs);
    out << " *\n * Tensors are dense and row-major. See ingot.h for the rules. */\n";
  }

  void writeMacros() {
    out << formatv("#define {0}_WORKSPACE_BYTES {1}\n#define {0}_WORKSPACE_ALIGN {2}\n", upper, model.workspaceBytes,
                   model.workspaceAlign);
    auto list = [&](ArrayRef<TensorInfo> tensors, ArrayRef<std::string> parameters) {
      for (auto [tensor, parameter] : llvm::zip(tensors, parameters)) {
        out << formatv("#define {0} {1}\n", countMacro(parameter), elements(tensor));
      }
    };
    list(model.inputs, names.inputs);
    list(model.outputs, names.outputs);
    out << "\n";
  }

  void writePrototypes() {
    out << "/* Runs the model; 0, or a status that ingot_error_text explains. Nothing is checked: pointers must not "
           "be\n"
           " * null, and workspace has "
        << upper << "_WORKSPACE_BYTES bytes, aligned. exec may be null: the calling thread only. */\n";
    std::string start = "int " + model.name + "_run(";
    std::string indent = ",\n" + std::string(start.size(), ' ');
    out << start;
    for (auto [tensor, parameter] : llvm::zip(model.inputs, names.inputs)) {
      out << "const " << elementNames(tensor.type)->c << " *" << parameter << indent;
    }
    for (auto [tensor, parameter] : llvm::zip(model.outputs, names.outputs)) {
      out << elementNames(tensor.type)->c << " *" << parameter << indent;
    }
    out << "void *workspace, const ingot_exec *exec);\n\n";
    out << "/* Names, types and sizes of the model, and its generic entry. */\nconst ingot_model *" << model.name
        << "_model(void);\n\n";
  }

  void writeClass() {
    out << "#if defined(__cplusplus) && __cplusplus >= 201703L\n#include \"ingot.hpp\"\n\nnamespace ingot::models {\n\n"
        << "/// The model with a workspace of its own: one for each thread that runs it. The only allocation is made "
           "by\n"
           "/// the constructor; test the object for whether there was memory.\n"
        << "class " << model.name << " {\npublic:\n"
        << "  " << model.name << "() : memory(" << upper << "_WORKSPACE_BYTES, " << upper << "_WORKSPACE_ALIGN) {}\n\n"
        << "  explicit operator bool() const { return static_cast<bool>(memory); }\n"
        << "  static const ingot_model *model() { return " << model.name << "_model(); }\n\n"
        << "  /// Spans must have exactly "
        << (model.inputs.size() + model.outputs.size() > 1 ? "the numbers" : "the number")
        << " of elements above; anything else is an error value.\n"
        << "  Status run(";
    for (auto [tensor, parameter] : llvm::zip(model.inputs, names.inputs)) {
      out << "Span<const " << elementNames(tensor.type)->cpp << "> " << parameter << ", ";
    }
    for (auto [tensor, parameter] : llvm::zip(model.outputs, names.outputs)) {
      out << "Span<" << elementNames(tensor.type)->cpp << "> " << parameter << ", ";
    }
    out << "const ingot_exec *exec = nullptr) {\n";
    writeBuffers("inputs", model.inputs, names.inputs, /*isConst=*/true);
    writeBuffers("outputs", model.outputs, names.outputs, /*isConst=*/false);
    out << formatv("    return Status(ingot_run(model(), {0}, {1}, {2}, {3}, memory.data(), memory.size(), exec),\n"
                   "                  model());\n  }\n\nprivate:\n  Workspace memory;\n};\n\n",
                   model.inputs.empty() ? "nullptr" : "inputs", model.inputs.size(),
                   model.outputs.empty() ? "nullptr" : "outputs", model.outputs.size())
        << "} // namespace ingot::models\n#endif\n\n";
  }

  void writeBuffers(StringRef variable, ArrayRef<TensorInfo> tensors, ArrayRef<std::string> parameters, bool isConst) {
    if (tensors.empty()) {
      return;
    }
    out << "    const ingot_buffer " << variable << "[] = {\n";
    for (auto [tensor, parameter] : llvm::zip(tensors, parameters)) {
      std::string data = parameter + ".data()";
      if (isConst) {
        data = formatv("const_cast<{0} *>({1})", elementNames(tensor.type)->cpp, data);
      }
      out << "        {" << data << ", static_cast<std::int64_t>(" << parameter << ".size())},\n";
    }
    out << "    };\n";
  }

  std::string countMacro(StringRef parameter) { return upper + "_" + parameter.upper() + "_ELEMENTS"; }

  const ModelInfo &model;
  ingot::emit::ParameterNames names;
  std::string upper, text;
  raw_string_ostream out;
};

} // namespace

std::string ingot::emit::headerText(const ModelInfo &model) { return HeaderWriter(model).write(); }
