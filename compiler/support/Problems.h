// Collects what is wrong with a model, so that the user sees everything at once.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::support {

/// The node that a problem belongs to. Empty fields are not printed.
struct Where {
  std::string node; ///< the node's name, or its first output where it has none
  std::string op;   ///< "Conv", or with a domain "com.microsoft.FusedConv"
  int64_t opset = 0;

  std::string opText() const; ///< "Conv, opset 17", control characters escaped
};

class Problems {
public:
  explicit Problems(llvm::StringRef file) : file(file.str()) {}
  /// Returns an empty collection for the same file.
  Problems emptyForSameFile() const { return Problems(file); }

  void add(const llvm::Twine &text) { add(Where(), text); }
  void add(const Where &where, const llvm::Twine &text);
  /// Adds a problem that is the compiler's own fault and not the model's.
  void addBug(const Where &where, const llvm::Twine &text);
  bool haveBug() const { return isBug; }

  /// Takes over the problems of another collection.
  void add(const Problems &others);
  /// Returns the first problem without the file's name.
  std::string first() const;

  bool empty() const { return lines.empty(); }
  size_t count() const { return total; }
  /// Returns how often something was added, which counts problems that were known, too.
  size_t additionCount() const { return additions; }

  /// Returns the problems, one a line: "FILE: error: node 'x' (Op, opset 11): text". A hostile model can be wrong in a
  /// million places, so only the first two thousand are kept and a last line counts the others.
  std::string text() const;

private:
  std::string file;
  std::vector<std::string> lines;
  llvm::StringSet<> known; ///< the lines, none of which is said twice
  size_t total = 0, additions = 0;
  bool isBug = false;
};

/// Returns a name as messages show it: control characters are escaped, and it is cut where it is absurdly long.
std::string quoted(llvm::StringRef name);

} // namespace ingot::support
