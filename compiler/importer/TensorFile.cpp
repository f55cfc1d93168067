// The same checks as for a model's own tensors. ONNX does not mark what a .pb file holds, but SequenceProto and
// OptionalProto have a name where a TensorProto has dims, and hold messages where it has numbers, which tells them
// apart.
#include "compiler/importer/TensorFile.h"
#include "compiler/importer/ModelFile.h"
#include "compiler/importer/TensorData.h"
#include "compiler/importer/WireReader.h"
#include "llvm/Support/raw_ostream.h"
#include <climits>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx-data_pb.h>

namespace ingot::importer {

static llvm::Error problem(const std::string &path, const llvm::Twine &text) {
  return llvm::createStringError(path + ": error: " + text);
}

namespace {
/// What a file holds: a tensor, plain or in an OptionalProto (which a SequenceProto of one tensor looks like, too), or
/// an OptionalProto of nothing.
struct Content {
  llvm::StringRef tensor;
  bool isOptional = false, isAbsent = false;
  std::string error; ///< empty: none
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

/// The tensors of a SequenceProto, alone or in an OptionalProto; none: it is something else.
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

static llvm::Error writeProto(const std::string &path, const google::protobuf::MessageLite &proto, size_t bytes) {
  std::string content;
  if (bytes > INT_MAX - 4096 || !proto.SerializeToString(&content)) {
    return problem(path, "a tensor of " + llvm::Twine(bytes) + " bytes is too large for a protobuf file");
  }
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (!error) {
    out << content;
    out.close();
    error = out.error();
    out.clear_error();
  }
  return error ? problem(path, "cannot be written: " + error.message()) : llvm::Error::success();
}

llvm::Error writeTensorFile(const std::string &path, const HostTensor &tensor) {
  return writeProto(path, protoOf(tensor), tensor.bytes.size());
}

llvm::Error writeSequenceFile(const std::string &path, llvm::ArrayRef<HostTensor> tensors, bool isOptional) {
  pb::OptionalProto optional;
  optional.set_elem_type(pb::OptionalProto::SEQUENCE);
  pb::SequenceProto &sequence = *optional.mutable_sequence_value();
  sequence.set_elem_type(pb::SequenceProto::TENSOR);
  size_t bytes = 0;
  for (const HostTensor &tensor : tensors) {
    *sequence.add_tensor_values() = protoOf(tensor);
    bytes += tensor.bytes.size() + 4096;
  }
  return isOptional ? writeProto(path, optional, bytes) : writeProto(path, sequence, bytes);
}

llvm::Error writeAbsentFile(const std::string &path) {
  pb::OptionalProto optional;
  optional.set_elem_type(pb::OptionalProto::UNDEFINED);
  return writeProto(path, optional, 0);
}

} // namespace ingot::importer
