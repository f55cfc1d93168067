// Makes C identifiers from ONNX names, which may be any text.
#pragma once
#include "compiler/plan/Model.h"

namespace ingot::emit {

/// Returns `text` with single underscores for everything that is no letter or digit; empty when nothing is left.
std::string identifierFrom(llvm::StringRef text);

/// Returns the name of the model's C++ class: the model's name, with an underscore behind it where it is a keyword or
/// names something else in the class, its members or its base library.
std::string className(const plan::ModelInfo &model);

/// The parts that stand for the model's tensors and sizes in names of macros and functions, NAME_image_elements. They
/// differ from each other even in capitals. A name without any letter is put behind input_, output_ or size_. None ends
/// with an underscore.
struct ParameterNames {
  std::vector<std::string> inputs, outputs, symbols, found;
};
ParameterNames parameterNames(const plan::ModelInfo &model);

/// Returns such names for parameters of functions, where they must not be names that code around them uses. An
/// underscore is put behind those that begin with a capital, as macros and our types do; with ingot, as all else does
/// that ingot.h declares; or as POSIX reserves names; and behind keywords. Nothing else that a header uses ends so, and
/// begins like that.
ParameterNames namesInCode(const plan::ModelInfo &model);

/// Returns a name of the model as a comment of C may have it: UTF-8 that is printable, reads from left to right, and
/// does not end the comment or its line.
std::string inComment(llvm::StringRef name);

/// Whether the class's name looks like that of a macro: it begins with an underscore, with two
/// capitals, or as POSIX reserves names.
bool mayBeMacro(llvm::StringRef className);

} // namespace ingot::emit
