// Keeps a model on disk open for the life of a compilation: the mapped .onnx file and its external data files, and the
// parsed graph whose tensors' bytes are slices of those mappings. Whatever holds weights by reference (the IR does)
// needs this object alive.
#pragma once
#include "compiler/importer/Protobuf.h"
#include "compiler/support/Problems.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <deque>
#include <map>
#include <memory>

namespace ingot::importer {

using support::Problems;
using support::quoted;
using support::Where;

/// A regular file that is mapped for reading.
class MappedFile {
public:
  static llvm::Expected<std::unique_ptr<MappedFile>> open(const llvm::Twine &path);
  llvm::StringRef bytes() const { return region ? llvm::StringRef(region->const_data(), region->size()) : ""; }
  /// Gives the memory back; what is read again comes from the file again.
  void forget();

private:
  std::unique_ptr<llvm::sys::fs::mapped_file_region> region; ///< null: the file is empty, and cannot be mapped
};

class ModelFile {
public:
  /// Maps and parses `path`. Null: `problems` says why.
  static std::unique_ptr<ModelFile> load(llvm::StringRef path, Problems &problems);

  const pb::ModelProto &model() const { return proto; }
  llvm::StringRef path() const { return file; }

  /// Returns the raw data of a tensor of this model, in the mapping; empty if it has none.
  llvm::StringRef rawData(const pb::TensorProto &tensor) const;

  /// Returns the bytes of an external data file. `location` comes from the model, so it is relative and stays inside
  /// the model's folder, symbolic links followed, or it is refused.
  llvm::Expected<llvm::StringRef> external(llvm::StringRef location);

  /// Returns the external data files that were opened so far, links followed, in the order of their names.
  std::vector<std::string> externalPaths() const;

  /// Returns these files with the names that the model gives them, relative to its folder.
  const std::map<std::string, std::string> &externalFiles() const { return locations; }

  /// Keeps bytes that stand nowhere in the file (values spread over typed fields) as long as the mappings live.
  llvm::StringRef keep(std::vector<char> bytes);

  /// Gives back the memory of all mappings: a compilation needs that of the weights only while it packs them.
  void forget();

  /// Counts bytes that a small file asks for (sparse tensors made dense). False: the model as a whole asks for too
  /// much.
  bool spend(int64_t bytes) { return (budget -= bytes) >= 0; }

private:
  bool parse(llvm::StringRef bytes, Problems &problems);

  std::string file;
  std::unique_ptr<MappedFile> mapping;
  pb::ModelProto proto;
  std::vector<llvm::StringRef> slices;
  llvm::StringMap<std::unique_ptr<MappedFile>> externals; ///< files by real path
  std::map<std::string, std::string> locations;           ///< names in the model to real paths
  std::deque<std::vector<char>> kept;
  int64_t budget = int64_t(256) << 20;
};

/// Returns a field of a message that Debian's onnx.proto (1.12) does not know yet, or null.
const std::string *unknownField(const google::protobuf::Message &message, int number);

} // namespace ingot::importer
