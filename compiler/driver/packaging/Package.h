// Writes compiled models as packages of other tools (`ingot package`). A format is a row of formats(), which says for
// which machines models are compiled, and a function that arranges what the compiler wrote.
#pragma once
#include "compiler/driver/execution/Manifest.h"
#include "compiler/emit/Kinds.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace ingot::driver {

/// A machine that a format has a build of each model for.
struct PackageMachine {
  llvm::StringLiteral name;        ///< what files and folders of the package are called after
  llvm::StringLiteral target;      ///< as --target names it
  llvm::StringLiteral triple = ""; ///< another triple than the target's own, or empty
};

/// A model as it was compiled for one machine, and the folder with its files.
struct CompiledModel {
  const PackageMachine *machine;
  std::string folder;
  Manifest manifest;

  const std::string &name() const { return manifest.name; }
  /// Returns the path of NAME.EXTENSION.
  std::string file(llvm::StringRef extension) const { return folder + "/" + name() + "." + extension.str(); }
};

struct Package {
  std::string name, version, dir;
  std::vector<std::vector<CompiledModel>> models; ///< the builds of each model, in the order of the machines
};

/// The files of a package, by their paths in it. They are written together, when all are there.
class PackageFiles {
public:
  void add(const std::string &path, std::string text) { files[path] = std::move(text); }
  /// Adds a copy of a file.
  llvm::Error copy(const std::string &path, const std::string &from);
  void remove(const std::string &path) { files.erase(path); }
  llvm::Error write(const std::string &dir) const;

  const std::map<std::string, std::string> &all() const { return files; }

private:
  std::map<std::string, std::string> files;
};

struct PackageFormat {
  llvm::StringLiteral word, help;
  llvm::ArrayRef<PackageMachine> machines; ///< for each of which there is a build of a model
  bool choosesTargets;                     ///< whether --target may leave some of them out
  emit::Kind kind;
  std::string (*wrongName)(llvm::StringRef name); ///< what is wrong with a package's name; empty: nothing
  llvm::Error (*write)(const Package &package, PackageFiles &files);
};

llvm::ArrayRef<PackageFormat> packageFormats();
/// Returns the row of a word; null where there is none.
const PackageFormat *packageFormat(llvm::StringRef word);

/// Returns an error if the package cannot have models with such inputs and outputs.
llvm::Error checkTensors(const Manifest &model, const PackageFormat &format);

// These functions write the packages that the rows of the table name.
std::string wrongNpmName(llvm::StringRef name);
llvm::Error writeNpm(const Package &package, PackageFiles &files);
llvm::Error writeArduino(const Package &package, PackageFiles &files);
llvm::Error writePlatformIo(const Package &package, PackageFiles &files);
llvm::Error writeCmsisPack(const Package &package, PackageFiles &files);
llvm::Error writeEspIdf(const Package &package, PackageFiles &files);
llvm::Error writeZephyr(const Package &package, PackageFiles &files);

} // namespace ingot::driver
