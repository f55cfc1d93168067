// Makes C identifiers from ONNX names, which may be any text.
#pragma once
#include "compiler/plan/Model.h"

namespace ingot::emit {

/// Returns `text` with single underscores for everything that is no letter or digit; empty when nothing is left.
std::string identifierFrom(llvm::StringRef text);

/// Returns the name of the model's C++ class: the model's name, with an underscore appended where that is a keyword, or
/// a name that the class's members or the support library use.
std::string className(const plan::ModelInfo &model);

/// How the model's tensors, sizes and memories are called within names of macros and functions: `image` in
/// NAME_image_elements. No two are equal, not even in capitals, and none ends with an underscore. Where a name of the
/// model has no letter, input_, output_ or size_ is put before it. A memory `fast` has the part `workspace_fast` of the
/// workspace.
struct ParameterNames {
  std::vector<std::string> inputs, outputs, symbols, dataDependentSizes, memories;
};
ParameterNames parameterNames(const plan::ModelInfo &model);

/// Returns those names as parameters of functions, which must not collide with macros and declarations of any header.
/// An underscore is appended to keywords and to names that begin with a capital (as macros and our types do), with
/// `ingot` (as all else that ingot.h declares), or as POSIX reserves names. No name of a header that begins so ends
/// with one.
ParameterNames namesInCode(const plan::ModelInfo &model);

/// Returns a name of the model for use within a comment of C: printable UTF-8 that is read from left to right and ends
/// neither the comment nor the line.
std::string inComment(llvm::StringRef name);

/// Whether the class's name could be that of a macro: it begins with an underscore, with two capitals, or as POSIX
/// reserves names.
bool mayBeMacro(llvm::StringRef className);

} // namespace ingot::emit
