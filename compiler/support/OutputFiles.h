// Writes files whole or not at all.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace ingot::support {

using WriteContent = llvm::function_ref<void(llvm::raw_ostream &)>;

/// Files that get their names together, when all of them are complete. Each is first written under another name in its
/// folder. Whatever fails before keep(), the files that stood there are as they were. A device, a pipe and "-", which
/// is stdout, are written at once. Errors are llvm::FileError.
class OutputFiles {
public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles &) = delete;
  ~OutputFiles();

  /// Writes a file under a temporary name beside `path`.
  llvm::Error add(const std::string &path, WriteContent write);
  /// Gives all files their names.
  llvm::Error keep();

private:
  struct File {
    std::string path; ///< the path with links followed
    std::string temporary;
  };
  std::vector<File> files;
};

/// Writes one file whole or not at all.
llvm::Error writeFile(const std::string &path, WriteContent write);

/// Returns the error that writing the file would end with, as far as that can be known before: work that takes minutes
/// should not be lost.
llvm::Error checkWritable(const std::string &path);

/// Returns a FileError as "PATH: error: cannot be written: REASON".
llvm::Error located(llvm::Error error);

/// Returns whether two paths lead to the same file, by links or by another spelling. Paths of files that do not exist
/// yet are compared by their folders.
bool isSameFile(const std::string &a, const std::string &b);

} // namespace ingot::support
