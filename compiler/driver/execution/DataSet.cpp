#include "compiler/driver/execution/DataSet.h"
#include "compiler/driver/Driver.h"
#include "compiler/driver/execution/Execution.h"
#include "compiler/importer/ElementType.h"
#include "compiler/importer/Import.h"
#include "compiler/support/Sequences.h"
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
    if (own == ValueKind::Map) {
      llvm::Expected<std::vector<HostTensor>> keysAndValues = importer::readMapFile(path);
      if (!keysAndValues) {
        return keysAndValues.takeError();
      }
      all.sequences.push_back(Recorded::kMap);
      llvm::move(*keysAndValues, std::back_inserter(all.tensors));
      continue;
    }
    if (own == ValueKind::Sequence) {
      llvm::Expected<std::optional<std::vector<HostTensor>>> items = importer::readSequenceFile(path);
      if (!items) {
        return items.takeError();
      }
      all.sequences.push_back(*items ? int64_t((*items)->size()) : Recorded::kAbsent);
      if (*items) {
        llvm::move(**items, std::back_inserter(all.tensors));
      }
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
    all.sequences.push_back(Recorded::kTensor);
    all.tensors.push_back(std::move(*tensor));
  }
}

std::string DataSet::fileOf(size_t input) const { return isFile ? folder : fileName(folder, "input", input); }

ValueKinds kindsOf(const ModelFacts &facts) {
  auto kind = [](const ValueFacts &value) {
    return value.isSequence ? ValueKind::Sequence
           : value.isMap    ? ValueKind::Map
           : value.areMaps  ? ValueKind::Maps
                            : ValueKind::Tensor;
  };
  ValueKinds kinds;
  llvm::transform(facts.inputs, std::back_inserter(kinds.inputs), kind);
  llvm::transform(facts.outputs, std::back_inserter(kinds.outputs), kind);
  return kinds;
}

llvm::Expected<DataSet> readDataSet(const std::string &folder, const ValueKinds &kinds) {
  llvm::Expected<Recorded> inputs = readTensors(folder, "input", kinds.inputs);
  if (!inputs) {
    return inputs.takeError();
  }
  return DataSet{folder, std::move(inputs->tensors), std::move(inputs->sequences)};
}

std::vector<std::string> dataBeside(const std::string &modelPath) {
  std::vector<std::string> folders;
  llvm::SmallString<128> parent(modelPath);
  llvm::sys::path::remove_filename(parent);
  std::error_code error;
  llvm::sys::fs::directory_iterator entry(parent.empty() ? "." : parent.str(), error), end;
  for (; !error && entry != end; entry.increment(error)) {
    if (llvm::sys::path::filename(entry->path()).starts_with("test_data_set_")) {
      folders.push_back(entry->path());
    }
  }
  llvm::sort(folders);
  return folders;
}

/// Fixes the sizes of a sequence's tensors, which are those of the data: they need not be alike.
static void fixSequence(const ValueFacts &input, llvm::ArrayRef<HostTensor> tensors, pipeline::Options &options) {
  options.sequences.emplace(input.name, int64_t(tensors.size()));
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    options.shapes.emplace(support::nameInSequence(input.name, i), tensor.dims);
  }
}

llvm::Error fixShapes(const ModelFacts &facts, const DataSet &data, pipeline::Options &options) {
  if (data.sequences.size() != facts.inputs.size()) {
    return llvm::createStringError(data.folder + ": error: the folder has " + llvm::Twine(data.sequences.size()) +
                                   " input_K.pb, the model has " + llvm::Twine(facts.inputs.size()) + " inputs");
  }
  llvm::ArrayRef<HostTensor> rest = data.inputs;
  for (auto [index, input, items] : llvm::enumerate(facts.inputs, data.sequences)) {
    if (items == Recorded::kAbsent) {
      options.sequences.emplace(input.name, support::absentLength);
      continue;
    }
    llvm::ArrayRef<HostTensor> own = rest.take_front(items == Recorded::kMap ? 2 : items < 0 ? 1 : items);
    rest = rest.drop_front(own.size());
    if (items == Recorded::kMap) {
      continue; // each run takes as many as there are
    }
    if (items >= 0) {
      fixSequence(input, own, options);
      continue;
    }
    const HostTensor &tensor = own.front();
    if (tensor.isAbsent) {
      continue; // the model will say so of an input that is not optional
    }
    if (!fits(input, tensor.dims) && !options.shapes.count(input.name)) {
      return llvm::createStringError(data.fileOf(index) + ": error: the tensor has shape " +
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
  files.reset(); // files go before the folders that they are in
  for (const std::string &path : llvm::reverse(made)) {
    (void)llvm::sys::fs::remove(path);
  }
}

llvm::Error OutputWriter::keep() {
  llvm::Error error = support::located(files->keep());
  if (!error) {
    made.clear();
  }
  return error;
}

/// Returns the tensors of a packed sequence; an error where its two tensors do not fit each other.
static llvm::Expected<std::vector<HostTensor>> unpacked(const HostTensor &elements, const HostTensor &shapes) {
  std::vector<HostTensor> items;
  std::vector<int64_t> rows(shapes.bytes.size() / sizeof(int64_t));
  llvm::copy(shapes.bytes, reinterpret_cast<char *>(rows.data()));
  size_t at = 0;
  for (llvm::ArrayRef<int64_t> rest(rows); int64_t(items.size()) < shapes.dims[0];) {
    llvm::ArrayRef<int64_t> row = rest.take_front(shapes.dims[1]);
    rest = rest.drop_front(row.size());
    HostTensor item;
    item.name =
        support::nameInSequence(llvm::StringRef(elements.name).drop_back(sizeof(".elements") - 1), items.size());
    item.type = elements.type;
    item.dims = row.take_while([](int64_t dim) { return dim >= 0; }).vec();
    bool areStrings = item.type == INGOT_STRING;
    size_t own = size_t(areStrings ? *importer::elementCount(item.dims) : tensorBytes(item.type, item.dims));
    if (own > (areStrings ? elements.strings.size() : elements.bytes.size()) - at) {
      return llvm::make_error<ExitError>(2, "internal error: the tensors of sequence '" + elements.name +
                                                "' do not fit their elements");
    }
    if (areStrings) {
      item.strings.assign(elements.strings.begin() + ptrdiff_t(at), elements.strings.begin() + ptrdiff_t(at + own));
    } else {
      item.bytes.assign(elements.bytes.begin() + ptrdiff_t(at), elements.bytes.begin() + ptrdiff_t(at + own));
    }
    at += own;
    items.push_back(std::move(item));
  }
  return items;
}

llvm::Expected<Recorded> recordedOf(std::vector<HostTensor> outputs, const std::vector<int64_t> &codes) {
  Recorded all;
  if (codes.empty()) {
    all.sequences.assign(outputs.size(), Recorded::kTensor);
    all.tensors = std::move(outputs);
    return all;
  }
  auto next = outputs.begin();
  for (int64_t code : codes) {
    auto own = next;
    next += support::tensorsOf(code);
    bool isOptional = code == support::isOptionalPacked, isPacked = isOptional || code == support::isPacked;
    all.optionals.push_back(isOptional);
    if (!isPacked) {
      all.sequences.push_back(code == support::isTensor ? Recorded::kTensor : code);
      std::move(own, next, std::back_inserter(all.tensors));
      continue;
    }
    if (isOptional && !(own++)->bytes.front()) {
      all.sequences.push_back(Recorded::kAbsent);
      continue;
    }
    llvm::Expected<std::vector<HostTensor>> items = unpacked(own[0], own[1]);
    if (!items) {
      return items.takeError();
    }
    all.sequences.push_back(int64_t(items->size()));
    llvm::move(*items, std::back_inserter(all.tensors));
  }
  return all;
}

llvm::Error OutputWriter::write(const std::string &folder, const Recorded &outputs) {
  if (!llvm::sys::fs::exists(folder)) {
    if (std::error_code error = llvm::sys::fs::create_directories(folder)) {
      return llvm::createStringError(folder + ": error: the folder cannot be made: " + error.message());
    }
    made.push_back(folder);
  }
  llvm::ArrayRef<HostTensor> rest = outputs.tensors;
  for (auto [file, count] : llvm::enumerate(outputs.sequences)) {
    std::string path = fileName(folder, "output", file);
    llvm::ArrayRef<HostTensor> own = rest.take_front(count == Recorded::kTensor ? 1 : std::max<int64_t>(count, 0));
    rest = rest.drop_front(own.size());
    bool isOptional = file < outputs.optionals.size() && outputs.optionals[file];
    llvm::Error error = count == Recorded::kTensor   ? importer::writeTensorFile(*files, path, own.front())
                        : count == Recorded::kAbsent ? importer::writeAbsentFile(*files, path)
                                                     : importer::writeSequenceFile(*files, path, own, isOptional);
    if (error) {
      return error;
    }
  }
  return llvm::Error::success();
}

} // namespace ingot::driver
