#include "compiler/driver/DataSet.h"
#include "compiler/importer/ElementType.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace ingot::driver {
namespace {

std::string fileName(const std::string &folder, const std::string &kind, size_t number) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, kind + "_" + std::to_string(number) + ".pb");
  return std::string(path);
}

bool fits(const ValueFacts &input, const std::vector<int64_t> &dims) {
  if (!input.shape) {
    return true;
  }
  return input.shape->size() == dims.size() && llvm::all_of(llvm::zip(*input.shape, dims), [](auto pair) {
           auto [declared, size] = pair;
           return declared.size < 0 || declared.size == size;
         });
}

} // namespace

llvm::Expected<std::vector<HostTensor>> readTensors(const std::string &folder, const std::string &kind) {
  if (!llvm::sys::fs::is_directory(folder)) {
    return llvm::createStringError(folder + ": error: is not a folder");
  }
  std::vector<HostTensor> tensors;
  for (;;) {
    std::string path = fileName(folder, kind, tensors.size());
    if (!llvm::sys::fs::exists(path)) {
      return tensors;
    }
    llvm::Expected<HostTensor> tensor = importer::readTensorFile(path);
    if (!tensor) {
      return tensor.takeError();
    }
    if (tensor->isOptional && kind == "output") {
      return llvm::createStringError(path + ": error: holds a sequence or an optional value; a tensor was expected");
    }
    tensors.push_back(std::move(*tensor));
  }
}

llvm::Expected<DataSet> readDataSet(const std::string &folder) {
  llvm::Expected<std::vector<HostTensor>> inputs = readTensors(folder, "input");
  if (!inputs) {
    return inputs.takeError();
  }
  return DataSet{folder, std::move(*inputs)};
}

llvm::Error fixShapes(const ModelFacts &facts, const DataSet &data, pipeline::Options &options) {
  if (data.inputs.size() != facts.inputs.size()) {
    return llvm::createStringError(data.folder + ": error: the folder has " + llvm::Twine(data.inputs.size()) +
                                   " input_K.pb, the model has " + llvm::Twine(facts.inputs.size()) + " inputs");
  }
  for (auto [index, input, tensor] : llvm::enumerate(facts.inputs, data.inputs)) {
    if (tensor.isAbsent) {
      continue; // of an input that is not optional the model will say so
    }
    if (!fits(input, tensor.dims) && !options.shapes.count(input.name)) {
      return llvm::createStringError(fileName(data.folder, "input", index) + ": error: the tensor has shape " +
                                     importer::dimsText(tensor.dims) + ", but input '" + input.name + "' is " +
                                     input.text());
    }
    if (!input.shape) {
      options.shapes.emplace(input.name, tensor.dims);
    }
  }
  return llvm::Error::success();
}

OutputWriter::~OutputWriter() {
  for (const std::string &path : llvm::reverse(written)) {
    (void)llvm::sys::fs::remove(path);
  }
}

llvm::Error OutputWriter::write(const std::string &folder, const std::vector<HostTensor> &outputs) {
  if (!llvm::sys::fs::exists(folder)) {
    if (std::error_code error = llvm::sys::fs::create_directories(folder)) {
      return llvm::createStringError(folder + ": error: the folder cannot be made: " + error.message());
    }
    written.push_back(folder);
  }
  for (auto [index, output] : llvm::enumerate(outputs)) {
    std::string path = fileName(folder, "output", index);
    written.push_back(path);
    if (llvm::Error error = importer::writeTensorFile(path, output)) {
      return error;
    }
  }
  return llvm::Error::success();
}

} // namespace ingot::driver
