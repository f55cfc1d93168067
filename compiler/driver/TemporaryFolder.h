// Makes a folder for files that one command needs while it runs.
#pragma once
#include "llvm/Support/Error.h"
#include <string>
#include <utility>

namespace ingot::driver {

/// A folder that is removed with all that is in it when the object goes.
class TemporaryFolder {
public:
  static llvm::Expected<TemporaryFolder> make();

  TemporaryFolder() = default;
  TemporaryFolder(TemporaryFolder &&other) noexcept : whole(std::exchange(other.whole, {})) {}
  TemporaryFolder &operator=(TemporaryFolder &&other) noexcept {
    std::swap(whole, other.whole);
    return *this;
  }
  ~TemporaryFolder();

  const std::string &path() const { return whole; }

private:
  std::string whole; ///< empty: there is none
};

} // namespace ingot::driver
