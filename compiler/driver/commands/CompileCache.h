// Compilations that have been made before: `ingot compile --compile-cache DIR`.
//
// An entry is a folder DIR/KEY with the artifacts and with what was said. The key is a hash of all that a compilation
// depends on: this very compiler, the command line, what `native` is here, and the bytes of all files that are read.
// An artifact that is still where the entry would put it, byte by byte, is left there. Which files of external data
// those are only the model tells; so a first entry, whose key is without them, lists their names. Entries appear by
// renaming a finished folder and disappear the same way, so several processes may use one DIR at once; and nothing in
// DIR is needed: what cannot be read is compiled again.
#pragma once
#include "compiler/driver/commands/CommandLine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace ingot::driver {

class CompileCache {
public:
  /// The output of `compile` on both streams.
  struct Messages {
    std::string out, diagnostics;
  };

  explicit CompileCache(const Invocation &invocation);

  /// Writes the artifacts of an equal compilation to where they were then, and returns what was said of it. Nothing:
  /// there is none.
  std::optional<Messages> find();

  /// Notes what the compilation under way reads besides the model: names as the model gives them, and files.
  void reads(const std::map<std::string, std::string> &external);
  /// Keeps a compilation that has ended well, and then drops those that were not used for longest until all take no
  /// more than Invocation::compileCacheBytes. Failures are silent: a full disk is no reason not to compile.
  void keep(llvm::ArrayRef<emit::Artifact> artifacts, const Messages &messages);

private:
  using Key = std::string; ///< a key in hexadecimal digits
  std::string folder;
  int64_t mostBytes;
  std::string modelFolder;
  Key modelKey;                   ///< the key without external data; empty: some file cannot be read
  std::vector<std::string> names; ///< names of external data, relative to the model's folder
  Key key;                        ///< the key of the compilation under way; empty: it is not known

  std::string pathOf(const Key &key, llvm::StringRef file = "") const;
  Key keyWith(const std::vector<std::string> &external) const;
  void makeRoom() const;
};

} // namespace ingot::driver
