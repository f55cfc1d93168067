// C identifiers from ONNX names, which may be any text.
#pragma once
#include "compiler/plan/Model.h"

namespace ingot::emit {

/// `text` with everything else than letters and digits as single underscores. Empty when nothing is left.
std::string identifierFrom(llvm::StringRef text);

/// The name of the model's C++ class: the model's, behind which an underscore stands where that is a keyword or what
/// the class, its members or its base library call something else.
std::string className(const plan::ModelInfo &model);

/// The names of the parameters of NAME_run: unlike each other, all keywords of C and C++, and the other names that the
/// header uses. A name without any letter is put behind input_, output_ or size_.
struct ParameterNames {
  std::vector<std::string> inputs, outputs, symbols, found;
};
ParameterNames parameterNames(const plan::ModelInfo &model);

} // namespace ingot::emit
