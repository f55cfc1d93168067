// The same checks as for a model's own tensors. ONNX does not mark what a .pb file holds, but SequenceProto and
// OptionalProto start with a name where a TensorProto has dims, and hold messages where it has numbers, which tells
// them apart.
#include "compiler/importer/TensorFile.h"
#include "compiler/importer/ModelFile.h"
#include "compiler/importer/TensorData.h"
#include "compiler/importer/WireReader.h"
#include "llvm/Support/raw_ostream.h"
#include <climits>
#include <google/protobuf/stubs/logging.h>

namespace ingot::importer {

static llvm::Error problem(const std::string &path, const llvm::Twine &text) {
  return llvm::createStringError(path + ": error: " + text);
}

/// Empty for a TensorProto, else what the bytes are instead.
static std::string notATensor(llvm::StringRef bytes) {
  WireReader reader(bytes);
  WireField field;
  bool typed = false;
  while (!reader.atEnd()) {
    if (!reader.next(field)) {
      return "is no tensor, or a damaged one: it " + reader.error();
    }
    if (field.type == WireType::Bytes && (field.number == 1 || field.number == 3)) {
      return "holds a sequence or an optional value, which is unsupported; a tensor was expected";
    }
    typed |= field.number == 2 && field.type == WireType::Varint;
  }
  return typed ? "" : "is no tensor: it has no element type";
}

llvm::Expected<HostTensor> readTensorFile(const std::string &path) {
  llvm::Expected<std::unique_ptr<MappedFile>> file = MappedFile::open(path);
  if (!file) {
    return problem(path, llvm::toString(file.takeError()));
  }
  llvm::StringRef content = (*file)->bytes();
  if (std::string reason = notATensor(content); !reason.empty()) {
    return problem(path, reason);
  }
  google::protobuf::LogSilencer silence;
  pb::TensorProto proto;
  if (content.size() > INT_MAX || !proto.ParseFromArray(content.data(), int(content.size()))) {
    return problem(path, "is no tensor: protobuf cannot parse it");
  }
  llvm::Expected<TensorHeader> header = readHeader(proto);
  if (!header) {
    return problem(path, "tensor " + llvm::toString(header.takeError()));
  }
  HostTensor tensor;
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

llvm::Error writeTensorFile(const std::string &path, const HostTensor &tensor) {
  pb::TensorProto proto;
  proto.set_name(tensor.name);
  proto.set_data_type(tensor.type);
  proto.mutable_dims()->Add(tensor.dims.begin(), tensor.dims.end());
  if (tensor.type == kString) {
    proto.mutable_string_data()->Add(tensor.strings.begin(), tensor.strings.end());
  } else {
    proto.set_raw_data(tensor.bytes.data(), tensor.bytes.size());
  }
  std::string content;
  if (tensor.bytes.size() > INT_MAX - 4096 || !proto.SerializeToString(&content)) {
    return problem(path, "a tensor of " + llvm::Twine(tensor.bytes.size()) + " bytes is too large for a protobuf file");
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

} // namespace ingot::importer
