// C identifiers from ONNX names, which may be any text.
#pragma once
#include "compiler/plan/Model.h"

namespace ingot::emit {

/// `text` with everything else than letters and digits as single underscores. Empty when nothing is left.
std::string identifierFrom(llvm::StringRef text);

/// The name of the model's C++ class: the model's, behind which an underscore stands where that is a keyword or what
/// the class, its members or its base library call something else.
std::string className(const plan::ModelInfo &model);

/// What names of macros and functions have for the model's tensors and sizes, NAME_image_elements: unlike each other
/// even in capitals. A name without any letter is put behind input_, output_ or size_. None ends with an underscore.
struct ParameterNames {
  std::vector<std::string> inputs, outputs, symbols, found;
};
ParameterNames parameterNames(const plan::ModelInfo &model);

/// The same as parameters of functions, where they must not be what code around them means by a name: those that begin
/// with a capital, as macros and our types do, with ingot, as all else does that ingot.h declares, or as POSIX reserves
/// names, and keywords have an underscore behind them. Nothing else that a header uses ends so, and begins like that.
ParameterNames namesInCode(const plan::ModelInfo &model);

/// A name of the model inside of a comment of C: UTF-8 that is printable, reads from left to right, and does not end
/// the comment or its line.
std::string inComment(llvm::StringRef name);

/// Whether the class's name looks like that of a macro: it begins with an underscore, with two
/// capitals, or as POSIX reserves names.
bool mayBeMacro(llvm::StringRef className);

} // namespace ingot::emit
