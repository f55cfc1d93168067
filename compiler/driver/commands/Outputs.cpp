#include "compiler/driver/commands/Outputs.h"
#include "compiler/driver/Driver.h"
#include "compiler/driver/execution/DataSet.h"
#include "compiler/driver/execution/SampleFiles.h"
#include "compiler/importer/Graph.h"
#include "compiler/importer/ModelFile.h"
#include "compiler/support/OutputFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>

namespace ingot::driver {
namespace {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

using Locations = std::set<std::string>;

void addLocation(const onnx::TensorProto &tensor, Locations &locations) {
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    if (entry.key() == "location") {
      locations.insert(entry.value());
    }
  }
}

/// Adds the names that a graph gives its external data, those of its bodies included.
void addLocations(const onnx::GraphProto &graph, Locations &locations) {
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    addLocation(tensor, locations);
  }
  for (const onnx::SparseTensorProto &sparse : graph.sparse_initializer()) {
    addLocation(sparse.values(), locations);
    addLocation(sparse.indices(), locations);
  }
  for (const onnx::NodeProto &node : graph.node()) {
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      addLocation(attribute.t(), locations);
      llvm::for_each(attribute.tensors(), [&](const onnx::TensorProto &tensor) { addLocation(tensor, locations); });
    }
    for (const onnx::GraphProto *body : importer::subgraphs(node)) {
      addLocations(*body, locations);
    }
  }
}

void addData(const std::string &folder, std::vector<std::string> &files) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (isSampleFile(entry->path()) || path::extension(entry->path()) == ".pb") {
      files.push_back(entry->path());
    }
  }
}

} // namespace

llvm::Expected<std::vector<std::string>> filesRead(const Invocation &invocation) {
  const pipeline::Options &model = invocation.model;
  std::vector<std::string> files{model.modelPath};
  support::Problems problems(model.modelPath);
  std::unique_ptr<importer::ModelFile> file = importer::ModelFile::load(model.modelPath, problems);
  if (!file) {
    return llvm::make_error<ExitError>(1, llvm::StringRef(problems.text()).rtrim().str());
  }
  Locations locations;
  addLocations(file->model().graph(), locations);
  for (const std::string &location : locations) {
    llvm::SmallString<256> whole(path::parent_path(model.modelPath));
    path::append(whole, location);
    files.push_back(std::string(whole));
  }
  llvm::copy_if(std::vector{model.placementFile, model.tuningFile}, std::back_inserter(files),
                [](const std::string &given) { return !given.empty(); });
  llvm::append_range(files, model.plugIns);
  for (const std::string &folder : invocation.data.empty() ? dataBeside(model.modelPath) : invocation.data) {
    addData(folder, files);
  }
  return files;
}

llvm::Error checkOutputs(llvm::ArrayRef<Output> outputs, llvm::ArrayRef<std::string> read) {
  for (auto [number, output] : llvm::enumerate(outputs)) {
    auto isSame = [path = output.path](const std::string &other) { return support::isSameFile(path, other); };
    if (const auto *lost = llvm::find_if(read, isSame); lost != read.end()) {
      return llvm::createStringError(output.flag + " " + output.path + ": would replace '" + *lost +
                                     "', which is read; give another file");
    }
    for (const Output &other : outputs.take_front(number)) {
      if (isSame(other.path)) {
        return llvm::createStringError(output.flag + " " + output.path + ": is what " + other.flag +
                                       " writes, too; give another file");
      }
    }
    if (llvm::Error error = support::checkWritable(output.path)) {
      return support::located(std::move(error));
    }
  }
  return llvm::Error::success();
}

llvm::Error checkFolder(const std::string &folder) {
  std::string there = folder;
  while (!there.empty() && !fs::exists(there)) {
    there = path::parent_path(there).str();
  }
  std::error_code code = folder.empty() ? std::make_error_code(std::errc::no_such_file_or_directory)
                                        : fs::access(there.empty() ? "." : there, fs::AccessMode::Write);
  if (!code && !there.empty() && !fs::is_directory(there)) {
    code = std::make_error_code(std::errc::not_a_directory);
  }
  return code ? llvm::createStringError(folder + ": error: nothing can be written there: " + code.message())
              : llvm::Error::success();
}

} // namespace ingot::driver
