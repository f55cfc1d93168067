#include "compiler/support/SymbolNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace ingot::support {

using llvm::StringRef;

/// Returns whether a byte is part of a letter or of anything else that has no meaning in the texts of sizes.
static bool isPlain(char c) {
  return llvm::isAlnum(c) || static_cast<unsigned char>(c) >= 0x80 || StringRef("_./:").contains(c);
}

std::string symbolText(StringRef name) {
  if (!name.empty() && !llvm::isDigit(name[0]) && llvm::all_of(name, isPlain)) {
    return name.str();
  }
  std::string text = "'";
  for (char c : name) {
    bool isEscaped = static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\'' || c == '\\';
    text += isEscaped ? "\\" + llvm::toHex(StringRef(&c, 1), /*LowerCase=*/true) : std::string(1, c);
  }
  return text + "'";
}

std::string symbolName(StringRef text) {
  if (!text.consume_front("'")) {
    return text.str();
  }
  text.consume_back("'");
  std::string name;
  while (!text.empty()) {
    uint8_t code = 0;
    if (text.size() > 2 && text[0] == '\\' && !text.substr(1, 2).getAsInteger(16, code)) {
      name += static_cast<char>(code);
      text = text.drop_front(3);
    } else {
      name += text[0];
      text = text.drop_front();
    }
  }
  return name;
}

std::string asWord(StringRef name) {
  std::string word;
  for (unsigned char c : name) {
    // torch.export calls axes "s0 + 1" and "s0 - 1", and names may be of any alphabet.
    word += c == '+'           ? "plus"
            : c == '*'         ? "times"
            : c >= 0x80        ? llvm::utohexstr(c, /*LowerCase=*/true)
            : llvm::isAlnum(c) ? std::string(1, static_cast<char>(c))
                               : "_";
  }
  return !word.empty() && llvm::isDigit(word[0]) ? "d" + word : word;
}

} // namespace ingot::support
