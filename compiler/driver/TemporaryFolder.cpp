#include "compiler/driver/TemporaryFolder.h"
#include "llvm/Support/FileSystem.h"

namespace ingot::driver {

llvm::Expected<TemporaryFolder> TemporaryFolder::make() {
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("ingot", path)) {
    return llvm::createStringError("a temporary folder cannot be made: " + error.message());
  }
  TemporaryFolder folder;
  folder.whole = std::string(path);
  return folder;
}

TemporaryFolder::~TemporaryFolder() {
  if (!whole.empty()) {
    (void)llvm::sys::fs::remove_directories(whole);
  }
}

} // namespace ingot::driver
