// Converts names of symbols. What a model calls the sizes that runs choose may be any text. In the texts of sizes,
// where symbols stand beside operators, such a name is in quotes: 'batch-size'*2.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <string>

namespace ingot::support {

/// Returns the text of the symbol (Symbol::chosen) for a name. Different names have different texts.
std::string symbolText(llvm::StringRef name);

/// Returns the name that symbolText() was given.
std::string symbolName(llvm::StringRef text);

/// Returns the name as a word of letters, digits and underscores, which other names may also become: "größe" is
/// grc3b6c39fe, "s0 + 1" s0_plus_1, "2n" d2n.
std::string asWord(llvm::StringRef name);

} // namespace ingot::support
