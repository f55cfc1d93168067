// Has small inline functions that expressions call. Each is written into the source only where it is used.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <set>
#include <string>

namespace ingot::emit::cpp {

class Helpers {
public:
  /// Notes that the helper is used, and returns its name. `name` is a row of the table: for integers of a width with
  /// the bits behind it ("largest64"), for pointers with the element's name ("at_f32").
  std::string use(llvm::StringRef name);

  /// Returns the functions that are used, in an order in which each is known before it is called.
  std::string text() const;
  bool has(const std::string &name) const { return used.count(name) != 0; }
  /// Whether any of them, or the text itself, needs <cmath>.
  bool needsMath() const { return math; }
  void useMath() { math = true; }

private:
  std::set<std::string> used;
  bool math = false;
};

} // namespace ingot::emit::cpp
