// Translates types in messages of MLIR's verifiers: a string's element type is an integer of 128 bits there, which
// nobody who has a model with strings would understand.
#include "compiler/onnx/Messages.h"

namespace ingot::onnx {

/// Replaces `from` where `isMeant` holds for the text in front of it and behind it.
static std::string replaced(llvm::StringRef text, llvm::StringRef from, llvm::StringRef to,
                            bool (*isMeant)(llvm::StringRef before, llvm::StringRef behind)) {
  std::string result;
  for (size_t done = 0;;) {
    size_t at = text.find(from, done), end = at + from.size();
    if (at == llvm::StringRef::npos) {
      return result + text.substr(done).str();
    }
    result += text.slice(done, at);
    result += isMeant(text.take_front(at), text.substr(end)) ? to : from;
    done = end;
  }
}

std::string withStrings(llvm::StringRef message) {
  std::string text = replaced(message, "128-bit signless integer", "string",
                              [](llvm::StringRef, llvm::StringRef behind) { return behind.starts_with(" values"); });
  return replaced(text, "i128", "string", [](llvm::StringRef before, llvm::StringRef behind) {
    size_t tensor = before.rfind("tensor<");
    if (before.ends_with("'") && behind.starts_with("'")) {
      return true; // it is an element type
    }
    return tensor != llvm::StringRef::npos && !before.substr(tensor).contains('>') &&
           (behind.starts_with(">") || behind.starts_with(","));
  });
}

} // namespace ingot::onnx
