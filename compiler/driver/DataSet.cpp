#include "compiler/driver/DataSet.h"
#include "compiler/importer/ElementType.h"
#include "compiler/importer/Import.h"
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

llvm::Expected<Recorded> readTensors(const std::string &folder, const std::string &kind,
                                     const std::vector<ValueKind> &kinds) {
  if (!llvm::sys::fs::is_directory(folder)) {
    return llvm::createStringError(folder + ": error: is not a folder");
  }
  Recorded all;
  for (;;) {
    size_t number = all.sequences.size();
    std::string path = fileName(folder, kind, number);
    if (!llvm::sys::fs::exists(path)) {
      return all;
    }
    ValueKind own = number < kinds.size() ? kinds[number] : ValueKind::Tensor;
    if (own == ValueKind::Sequence || own == ValueKind::Map) {
      bool isMap = own == ValueKind::Map;
      llvm::Expected<std::vector<HostTensor>> items =
          isMap ? importer::readMapFile(path) : importer::readSequenceFile(path);
      if (!items) {
        return items.takeError();
      }
      all.sequences.push_back(isMap ? importer::kMap : int64_t(items->size()));
      llvm::move(*items, std::back_inserter(all.tensors));
      continue;
    }
    llvm::Expected<HostTensor> tensor =
        own == ValueKind::Maps ? importer::readMapsFile(path) : importer::readTensorFile(path);
    if (!tensor) {
      return tensor.takeError();
    }
    if (tensor->isOptional && kind == "output") {
      return llvm::createStringError(path + ": error: holds a sequence or an optional value; a tensor was expected");
    }
    all.sequences.push_back(importer::kTensor);
    all.tensors.push_back(std::move(*tensor));
  }
}

llvm::Expected<DataSet> readDataSet(const std::string &folder, const ValueKinds &kinds) {
  llvm::Expected<Recorded> inputs = readTensors(folder, "input", kinds.inputs);
  if (!inputs) {
    return inputs.takeError();
  }
  return DataSet{folder, std::move(inputs->tensors), std::move(inputs->sequences)};
}

/// The sizes of a sequence's tensors are those of the data: they need not be alike.
static void fixSequence(const ValueFacts &input, llvm::ArrayRef<HostTensor> tensors, pipeline::Options &options) {
  options.sequences.emplace(input.name, int64_t(tensors.size()));
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    options.shapes.emplace(importer::nameInSequence(input.name, i), tensor.dims);
  }
}

llvm::Error fixShapes(const ModelFacts &facts, const DataSet &data, pipeline::Options &options) {
  if (data.sequences.size() != facts.inputs.size()) {
    return llvm::createStringError(data.folder + ": error: the folder has " + llvm::Twine(data.sequences.size()) +
                                   " input_K.pb, the model has " + llvm::Twine(facts.inputs.size()) + " inputs");
  }
  llvm::ArrayRef<HostTensor> rest = data.inputs;
  for (auto [index, input, items] : llvm::enumerate(facts.inputs, data.sequences)) {
    llvm::ArrayRef<HostTensor> own = rest.take_front(items == importer::kMap ? 2 : items < 0 ? 1 : items);
    rest = rest.drop_front(own.size());
    if (items == importer::kMap) {
      continue; // each run takes as many as there are
    }
    if (items >= 0) {
      fixSequence(input, own, options);
      continue;
    }
    const HostTensor &tensor = own.front();
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

llvm::Error OutputWriter::write(const std::string &folder, const std::vector<HostTensor> &outputs,
                                const std::vector<int64_t> &sequences) {
  if (!llvm::sys::fs::exists(folder)) {
    if (std::error_code error = llvm::sys::fs::create_directories(folder)) {
      return llvm::createStringError(folder + ": error: the folder cannot be made: " + error.message());
    }
    written.push_back(folder);
  }
  llvm::ArrayRef<HostTensor> rest = outputs;
  for (size_t file = 0; sequences.empty() ? !rest.empty() : file < sequences.size(); ++file) {
    bool isSequence = !sequences.empty() && sequences[file] >= 0;
    llvm::ArrayRef<HostTensor> own = rest.take_front(isSequence ? sequences[file] : 1);
    rest = rest.drop_front(own.size());
    std::string path = fileName(folder, "output", file);
    written.push_back(path);
    if (llvm::Error error =
            isSequence ? importer::writeSequenceFile(path, own) : importer::writeTensorFile(path, own.front())) {
      return error;
    }
  }
  return llvm::Error::success();
}

} // namespace ingot::driver
