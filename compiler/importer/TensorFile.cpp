// Reads tensors with the same checks as for a model's own tensors. ONNX does not mark what a .pb file holds, but
// SequenceProto and OptionalProto have a name where a TensorProto has dims, and hold messages where it has numbers,
// which tells them apart.
#include "compiler/importer/TensorFile.h"
#include "compiler/importer/ModelFile.h"
#include "compiler/importer/TensorData.h"
#include "compiler/importer/WireReader.h"
#include "compiler/support/ElementTypes.h"
#include "compiler/support/OutputFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <climits>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx-data_pb.h>

namespace ingot::importer {

static llvm::Error problem(const std::string &path, const llvm::Twine &text) {
  return llvm::createStringError(path + ": error: " + text);
}

namespace {
/// The content of a file: a tensor, plain or in an OptionalProto (which a SequenceProto of one tensor looks like, too),
/// or an OptionalProto of nothing.
struct Content {
  llvm::StringRef tensor;
  bool isOptional = false, isAbsent = false;
  std::string error; ///< empty: there is none
};
} // namespace

static Content contentOf(llvm::StringRef bytes) {
  WireReader reader(bytes);
  WireField field;
  std::optional<uint64_t> type;
  llvm::SmallVector<llvm::StringRef> values;
  bool named = false, more = false;
  while (!reader.atEnd()) {
    if (!reader.next(field)) {
      return {{}, false, false, "is no tensor, or a damaged one: it " + reader.error()};
    }
    if (field.type == WireType::Bytes && field.number == 3) {
      values.push_back(field.payload);
    } else if (field.type == WireType::Varint && field.number == 2) {
      type = field.value;
    } else {
      bool isName = field.type == WireType::Bytes && field.number == 1;
      named |= isName;
      more |= !isName;
    }
  }
  if (!type) {
    return {{}, false, false, "is no tensor: it has no element type"};
  }
  if (*type == 0 && values.empty() && !more) {
    return {{}, true, true, ""};
  }
  if (values.empty() && !named) {
    return {bytes, false, false, ""};
  }
  bool isTensor = values.size() == 1 && *type == 1 && !more;
  return {isTensor ? values.front() : "", true, false,
          isTensor ? ""
                   : "holds a sequence, or an optional value that is no tensor, which is unsupported; a tensor was "
                     "expected"};
}

static llvm::Expected<HostTensor> parseTensor(const std::string &path, llvm::StringRef content) {
  google::protobuf::LogSilencer silence;
  HostTensor tensor;
  pb::TensorProto proto;
  if (content.size() > INT_MAX || !proto.ParseFromArray(content.data(), int(content.size()))) {
    return problem(path, "is no tensor: protobuf cannot parse it");
  }
  llvm::Expected<TensorHeader> header = readHeader(proto);
  if (!header) {
    return problem(path, "tensor " + llvm::toString(header.takeError()));
  }
  tensor.name = proto.name();
  tensor.type = header->type;
  tensor.dims.assign(header->dims.begin(), header->dims.end());
  if (proto.data_location() == pb::TensorProto::EXTERNAL) {
    return problem(path, "tensor has external data, which is read for models only");
  }
  if (header->type == kString) {
    tensor.strings.assign(proto.string_data().begin(), proto.string_data().end());
    if (int64_t(tensor.strings.size()) != header->elements) {
      return problem(path, "tensor of " + llvm::Twine(header->elements) + " strings holds " +
                               llvm::Twine(tensor.strings.size()));
    }
    return tensor;
  }
  if (!proto.raw_data().empty() || header->bytes == 0) {
    tensor.bytes.assign(proto.raw_data().begin(), proto.raw_data().end());
  } else {
    llvm::Expected<std::vector<char>> bytes = typedBytes(proto, *header);
    if (!bytes) {
      return problem(path, "tensor " + llvm::toString(bytes.takeError()));
    }
    tensor.bytes = std::move(*bytes);
  }
  if (int64_t(tensor.bytes.size()) != header->bytes) {
    return problem(path, "tensor " + elementName(header->type) + dimsText(header->dims) + " needs " +
                             llvm::Twine(header->bytes) + " bytes, but raw_data holds " +
                             llvm::Twine(tensor.bytes.size()));
  }
  return tensor;
}

llvm::Expected<HostTensor> readTensorFile(const std::string &path) {
  llvm::Expected<std::unique_ptr<MappedFile>> file = MappedFile::open(path);
  if (!file) {
    return problem(path, llvm::toString(file.takeError()));
  }
  Content content = contentOf((*file)->bytes());
  if (!content.error.empty()) {
    return problem(path, content.error);
  }
  if (content.isAbsent) {
    HostTensor nothing;
    nothing.isOptional = nothing.isAbsent = true;
    return nothing;
  }
  llvm::Expected<HostTensor> tensor = parseTensor(path, content.tensor);
  if (tensor) {
    tensor->isOptional = content.isOptional;
  }
  return tensor;
}

/// Returns the tensors of a SequenceProto, alone or in an OptionalProto; nothing: it is something else.
static std::optional<llvm::SmallVector<llvm::StringRef>> tensorsIn(llvm::StringRef bytes, bool mayBeOptional = true) {
  WireReader reader(bytes);
  WireField field;
  llvm::SmallVector<llvm::StringRef> tensors, sequences;
  while (!reader.atEnd()) {
    if (!reader.next(field)) {
      return std::nullopt;
    }
    bool isBytes = field.type == WireType::Bytes, isType = field.type == WireType::Varint && field.number == 2;
    if (isBytes && field.number == 3) {
      tensors.push_back(field.payload);
    } else if (isBytes && field.number == 5) {
      sequences.push_back(field.payload);
    } else if (!isType && !(isBytes && field.number == 1)) {
      return std::nullopt;
    }
  }
  if (sequences.size() == 1 && tensors.empty() && mayBeOptional) {
    return tensorsIn(sequences.front(), false);
  }
  return sequences.empty() ? std::optional(tensors) : std::nullopt;
}

/// Whether a file holds an OptionalProto that says that there is nothing.
static bool isNothing(llvm::StringRef bytes) {
  Content content = contentOf(bytes);
  return content.error.empty() && content.isAbsent;
}

llvm::Expected<std::optional<std::vector<HostTensor>>> readSequenceFile(const std::string &path) {
  llvm::Expected<std::unique_ptr<MappedFile>> file = MappedFile::open(path);
  if (!file) {
    return problem(path, llvm::toString(file.takeError()));
  }
  if (isNothing((*file)->bytes())) {
    return std::nullopt;
  }
  std::optional<llvm::SmallVector<llvm::StringRef>> tensors = tensorsIn((*file)->bytes());
  if (!tensors) {
    return problem(path, "holds no sequence of tensors, which was expected");
  }
  std::vector<HostTensor> items;
  for (llvm::StringRef bytes : *tensors) {
    llvm::Expected<HostTensor> item = parseTensor(path, bytes);
    if (!item) {
      return item.takeError();
    }
    items.push_back(std::move(*item));
  }
  return items;
}

// These read and write maps.

static llvm::Expected<std::vector<HostTensor>> parseMap(const std::string &path, const pb::MapProto &map) {
  HostTensor keys;
  keys.type = map.key_type();
  bool isOfStrings = keys.type == kString;
  auto count = static_cast<int64_t>(isOfStrings ? map.string_keys_size() : map.keys_size());
  keys.dims = {count};
  keys.strings.assign(map.string_keys().begin(), map.string_keys().end());
  std::optional<int64_t> size = byteCount(keys.type, 1);
  if (!isOfStrings && (!size || *size > 8)) {
    return problem(path, "map has keys of the element type " + llvm::Twine(keys.type) + ", which is unsupported");
  }
  for (int64_t key : map.keys()) { // the low bytes come first (little endian)
    const char *bytes = reinterpret_cast<const char *>(&key);
    keys.bytes.insert(keys.bytes.end(), bytes, bytes + (isOfStrings ? 0 : *size));
  }
  HostTensor values;
  values.dims = {count};
  for (const pb::TensorProto &proto : map.values().tensor_values()) {
    std::string content = proto.SerializeAsString();
    llvm::Expected<HostTensor> value = parseTensor(path, content);
    if (!value) {
      return value.takeError();
    }
    values.type = value->type;
    llvm::append_range(values.bytes, value->bytes);
    llvm::append_range(values.strings, value->strings);
  }
  if (values.type == 0 && count == 0) {
    values.type = kFloat;
  }
  int64_t elements = values.type == kString ? int64_t(values.strings.size())
                                            : int64_t(values.bytes.size()) / byteCount(values.type, 1).value_or(1);
  if (map.values().tensor_values_size() != count || elements != count) {
    return problem(path, "map of " + llvm::Twine(count) + " keys has " + llvm::Twine(elements) +
                             " values, or some that are no numbers or strings");
  }
  return std::vector<HostTensor>{std::move(keys), std::move(values)};
}

template <typename Proto> static llvm::Expected<Proto> readProto(const std::string &path, const char *what) {
  llvm::Expected<std::unique_ptr<MappedFile>> file = MappedFile::open(path);
  if (!file) {
    return problem(path, llvm::toString(file.takeError()));
  }
  google::protobuf::LogSilencer silence;
  Proto proto;
  llvm::StringRef bytes = (*file)->bytes();
  if (bytes.size() > INT_MAX || !proto.ParseFromArray(bytes.data(), int(bytes.size()))) {
    return problem(path, llvm::Twine("holds no ") + what + ", which was expected");
  }
  return proto;
}

llvm::Expected<std::vector<HostTensor>> readMapFile(const std::string &path) {
  llvm::Expected<pb::MapProto> map = readProto<pb::MapProto>(path, "map");
  return map ? parseMap(path, *map) : map.takeError();
}

static std::vector<std::string> keyTexts(const HostTensor &keys) {
  if (keys.type == kString) {
    return keys.strings;
  }
  std::vector<std::string> texts;
  size_t size = keys.dims[0] ? keys.bytes.size() / size_t(keys.dims[0]) : 1;
  for (size_t at = 0; at < keys.bytes.size(); at += size) {
    int64_t key = 0;
    std::memcpy(&key, keys.bytes.data() + at, size);
    bool isSigned = support::elementType(keys.type).kind == support::ElementKind::Signed;
    texts.push_back(std::to_string(isSigned ? llvm::SignExtend64(uint64_t(key), unsigned(8 * size)) : key));
  }
  return texts;
}

llvm::Expected<HostTensor> readMapsFile(const std::string &path) {
  llvm::Expected<pb::SequenceProto> sequence = readProto<pb::SequenceProto>(path, "sequence of maps");
  if (!sequence) {
    return sequence.takeError();
  }
  HostTensor all;
  all.type = kFloat;
  for (const pb::MapProto &map : sequence->map_values()) {
    llvm::Expected<std::vector<HostTensor>> keysAndValues = parseMap(path, map);
    if (!keysAndValues) {
      return keysAndValues.takeError();
    }
    HostTensor row = std::move(keysAndValues->back());
    row.mapKeys = keyTexts(keysAndValues->front());
    row.hasStringKeys = keysAndValues->front().type == kString;
    std::optional<HostTensor> ordered = all.dims.empty() ? std::optional(row) : inOrder(row, all.mapKeys);
    if (!ordered || (!all.dims.empty() && ordered->type != all.type)) {
      return problem(path, "holds maps with keys or types that differ, which is unsupported");
    }
    if (all.dims.empty()) {
      all = *ordered;
      all.dims = {0, int64_t(all.mapKeys.size())};
      all.bytes.clear(), all.strings.clear();
    }
    ++all.dims[0];
    llvm::append_range(all.bytes, ordered->bytes);
    llvm::append_range(all.strings, ordered->strings);
  }
  if (all.dims.empty()) {
    all.dims = {0, 0};
  }
  return all;
}

std::optional<HostTensor> inOrder(HostTensor maps, llvm::ArrayRef<std::string> keys) {
  if (maps.mapKeys == keys.vec()) {
    return maps;
  }
  std::vector<size_t> from;
  for (const std::string &key : keys) {
    from.push_back(size_t(llvm::find(maps.mapKeys, key) - maps.mapKeys.begin()));
  }
  size_t columns = keys.size();
  if (maps.mapKeys.size() != columns || llvm::is_contained(from, columns)) {
    return std::nullopt;
  }
  HostTensor result = maps;
  result.mapKeys = keys.vec();
  size_t elements = maps.strings.size();
  size_t size = 0;
  if (maps.type != kString) {
    size = size_t(byteCount(maps.type, 1).value_or(1));
    elements = maps.bytes.size() / size;
  }
  for (size_t i = 0; i < elements; ++i) {
    size_t source = i / columns * columns + from[i % columns];
    if (maps.type == kString) {
      result.strings[i] = maps.strings[source];
    } else {
      std::memcpy(&result.bytes[i * size], &maps.bytes[source * size], size);
    }
  }
  return result;
}

static pb::TensorProto protoOf(const HostTensor &tensor) {
  pb::TensorProto proto;
  proto.set_name(tensor.name);
  proto.set_data_type(tensor.type);
  proto.mutable_dims()->Add(tensor.dims.begin(), tensor.dims.end());
  if (tensor.type == kString) {
    proto.mutable_string_data()->Add(tensor.strings.begin(), tensor.strings.end());
  } else {
    proto.set_raw_data(tensor.bytes.data(), tensor.bytes.size());
  }
  return proto;
}

static llvm::Error writeProto(support::OutputFiles &files, const std::string &path,
                              const google::protobuf::MessageLite &proto, size_t bytes) {
  std::string content;
  if (bytes > INT_MAX - 4096 || !proto.SerializeToString(&content)) {
    return problem(path, "a tensor of " + llvm::Twine(bytes) + " bytes is too large for a protobuf file");
  }
  return support::located(files.add(path, [&](llvm::raw_ostream &out) { out << content; }));
}

/// Writes a map for each row.
static llvm::Error writeMapsFile(support::OutputFiles &files, const std::string &path, const HostTensor &tensor) {
  pb::SequenceProto sequence;
  sequence.set_elem_type(pb::SequenceProto::MAP);
  size_t columns = tensor.mapKeys.size(), rows = size_t(tensor.dims.front());
  size_t size = columns * rows ? tensor.bytes.size() / (columns * rows) : 0;
  for (size_t row = 0; row < rows; ++row) {
    pb::MapProto &map = *sequence.add_map_values();
    map.set_key_type(tensor.hasStringKeys ? kString : kInt64);
    map.mutable_values()->set_elem_type(pb::SequenceProto::TENSOR);
    for (size_t column = 0; column < columns; ++column) {
      int64_t key = 0;
      if (tensor.hasStringKeys) {
        map.add_string_keys(tensor.mapKeys[column]);
      } else if (llvm::to_integer(tensor.mapKeys[column], key, 10)) {
        map.add_keys(key);
      }
      pb::TensorProto &value = *map.mutable_values()->add_tensor_values();
      value.set_data_type(tensor.type);
      size_t at = row * columns + column;
      if (tensor.type == kString) {
        value.add_string_data(tensor.strings[at]);
      } else {
        value.set_raw_data(tensor.bytes.data() + at * size, size);
      }
    }
  }
  return writeProto(files, path, sequence, tensor.bytes.size() + 64 * rows * columns);
}

llvm::Error writeTensorFile(support::OutputFiles &files, const std::string &path, const HostTensor &tensor) {
  if (!tensor.mapKeys.empty()) {
    return writeMapsFile(files, path, tensor);
  }
  return writeProto(files, path, protoOf(tensor), tensor.bytes.size());
}

llvm::Error writeSequenceFile(support::OutputFiles &files, const std::string &path, llvm::ArrayRef<HostTensor> tensors,
                              bool isOptional) {
  pb::OptionalProto optional;
  optional.set_elem_type(pb::OptionalProto::SEQUENCE);
  pb::SequenceProto &sequence = *optional.mutable_sequence_value();
  sequence.set_elem_type(pb::SequenceProto::TENSOR);
  size_t bytes = 0;
  for (const HostTensor &tensor : tensors) {
    *sequence.add_tensor_values() = protoOf(tensor);
    bytes += tensor.bytes.size() + 4096;
  }
  return isOptional ? writeProto(files, path, optional, bytes) : writeProto(files, path, sequence, bytes);
}

llvm::Error writeAbsentFile(support::OutputFiles &files, const std::string &path) {
  pb::OptionalProto optional;
  optional.set_elem_type(pb::OptionalProto::UNDEFINED);
  return writeProto(files, path, optional, 0);
}

} // namespace ingot::importer
