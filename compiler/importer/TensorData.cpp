// Reads a tensor's values from the seven places that ONNX has for them. raw_data and external files hold the bytes we
// want; the typed fields hold one value an element, small types widened to int32, and are narrowed here. The host is
// little-endian, as the format is.
#include "compiler/importer/TensorData.h"
#include "compiler/importer/ModelFile.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

static_assert(llvm::endianness::native == llvm::endianness::little, "tensors are read in place");

namespace ingot::importer {

llvm::Expected<TensorHeader> readHeader(const pb::TensorProto &tensor) {
  TensorHeader header;
  header.type = tensor.data_type();
  header.dims.assign(tensor.dims().begin(), tensor.dims().end());
  if (elementName(header.type).empty()) {
    return llvm::createStringError("has the unknown element type " + llvm::Twine(header.type));
  }
  if (tensor.has_segment()) {
    return llvm::createStringError("is a segment of a larger tensor, which is unsupported");
  }
  std::optional<int64_t> elements = elementCount(header.dims);
  std::optional<int64_t> bytes = elements && header.type != kString ? byteCount(header.type, *elements) : elements;
  if (!bytes) {
    return llvm::createStringError("has impossible dims " + dimsText(header.dims));
  }
  header.elements = *elements;
  header.bytes = header.type == kString ? 0 : *bytes;
  return header;
}

static std::string describe(const TensorHeader &header) {
  return elementName(header.type).str() + dimsText(header.dims);
}

template <typename Stored, typename Values>
static llvm::Expected<std::vector<char>> convert(const Values &values, const TensorHeader &header, int64_t count,
                                                 llvm::StringRef field) {
  if (values.size() != count) {
    return llvm::createStringError(describe(header) + " needs " + llvm::Twine(count) + " values, but " + field +
                                   " holds " + llvm::Twine(values.size()));
  }
  std::vector<char> bytes(size_t(count) * sizeof(Stored));
  char *out = bytes.data();
  for (auto value : values) {
    auto narrow = static_cast<Stored>(value);
    std::memcpy(out, &narrow, sizeof(Stored));
    out += sizeof(Stored);
  }
  return bytes;
}

llvm::Expected<std::vector<char>> typedBytes(const pb::TensorProto &tensor, const TensorHeader &header) {
  switch (header.type) {
  case kFloat:
    return convert<float>(tensor.float_data(), header, header.elements, "float_data");
  case kComplex64:
    return convert<float>(tensor.float_data(), header, 2 * header.elements, "float_data");
  case kDouble:
    return convert<double>(tensor.double_data(), header, header.elements, "double_data");
  case kComplex128:
    return convert<double>(tensor.double_data(), header, 2 * header.elements, "double_data");
  case kInt64:
    return convert<int64_t>(tensor.int64_data(), header, header.elements, "int64_data");
  case kUInt64:
    return convert<uint64_t>(tensor.uint64_data(), header, header.elements, "uint64_data");
  case kUInt32:
    return convert<uint32_t>(tensor.uint64_data(), header, header.elements, "uint64_data");
  case kInt32:
    return convert<int32_t>(tensor.int32_data(), header, header.elements, "int32_data");
  case kInt16:
  case kUInt16:
  case kFloat16:
  case kBFloat16:
    return convert<uint16_t>(tensor.int32_data(), header, header.elements, "int32_data");
  default: // the type has one byte an element, or is below a byte, so that its packed bytes are the values
    return convert<uint8_t>(tensor.int32_data(), header, header.bytes, "int32_data");
  }
}

static llvm::Error wrongSize(const TensorHeader &header, llvm::StringRef where, uint64_t size) {
  return llvm::createStringError(describe(header) + " needs " + llvm::Twine(header.bytes) + " bytes, but " + where +
                                 " holds " + llvm::Twine(size));
}

/// Reads offset and length from the key-value pairs of external data and cuts the tensor's part out of its file.
static llvm::Expected<llvm::StringRef> externalBytes(const pb::TensorProto &tensor, const TensorHeader &header,
                                                     ModelFile &file) {
  std::string location;
  uint64_t offset = 0, length = 0;
  for (const pb::StringStringEntryProto &entry : tensor.external_data()) {
    if (entry.key() == "location") {
      location = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      if (!llvm::to_integer(entry.value(), entry.key() == "offset" ? offset : length, 10)) {
        return llvm::createStringError("has external data whose " + entry.key() + " is " + quoted(entry.value()) +
                                       ", not a number");
      }
    }
  }
  if (length == 0) { // 0 counts like a length that is left out, as in ONNX's own library
    length = uint64_t(header.bytes);
  }
  if (length != uint64_t(header.bytes)) {
    return wrongSize(header, "its external data", length);
  }
  llvm::Expected<llvm::StringRef> bytes = file.external(location);
  if (!bytes) {
    return llvm::createStringError("has " + llvm::toString(bytes.takeError()));
  }
  if (offset > bytes->size() || length > bytes->size() - offset) {
    return llvm::createStringError("has external data " + quoted(location) + " that is too short: bytes " +
                                   llvm::Twine(offset) + " to " + llvm::Twine(offset) + " + " + llvm::Twine(length) +
                                   " of " + llvm::Twine(bytes->size()));
  }
  return bytes->substr(offset, length);
}

llvm::Expected<TensorData> readTensor(const pb::TensorProto &tensor, ModelFile &file) {
  llvm::Expected<TensorHeader> header = readHeader(tensor);
  if (!header) {
    return header.takeError();
  }
  TensorData result{std::move(*header), {}, {}};
  if (result.type == kString) {
    if (tensor.string_data_size() != result.elements) {
      return llvm::createStringError(describe(result) + " needs " + llvm::Twine(result.elements) +
                                     " strings, but string_data holds " + llvm::Twine(tensor.string_data_size()));
    }
    result.strings.assign(tensor.string_data().begin(), tensor.string_data().end());
    return result;
  }
  if (tensor.data_location() == pb::TensorProto::EXTERNAL) {
    llvm::Expected<llvm::StringRef> bytes = externalBytes(tensor, result, file);
    if (!bytes) {
      return bytes.takeError();
    }
    result.data = *bytes;
    return result;
  }
  result.data = file.rawData(tensor);
  if (result.data.empty() && result.bytes != 0) {
    llvm::Expected<std::vector<char>> bytes = typedBytes(tensor, result);
    if (!bytes) {
      return bytes.takeError();
    }
    result.data = file.keep(std::move(*bytes));
  }
  if (result.data.size() != uint64_t(result.bytes)) {
    return wrongSize(result, "raw_data", result.data.size());
  }
  return result;
}

/// Returns the header of the dense form, paid for from the model's budget.
static llvm::Expected<TensorData> denseHeader(const pb::SparseTensorProto &sparse, int32_t type, ModelFile &file) {
  TensorData dense;
  dense.type = type;
  dense.dims.assign(sparse.dims().begin(), sparse.dims().end());
  std::optional<int64_t> elements = elementCount(dense.dims);
  std::optional<int64_t> bytes = elements ? byteCount(type, *elements) : std::nullopt;
  if (!bytes || elementBits(type) % 8 != 0) {
    return llvm::createStringError("is a sparse tensor of impossible dims " + dimsText(dense.dims) + " or type");
  }
  dense.elements = *elements;
  dense.bytes = *bytes;
  if (!file.spend(*bytes)) {
    return llvm::createStringError("is a sparse tensor that is too large to be made dense: " + describe(dense));
  }
  return dense;
}

llvm::Expected<TensorData> readSparse(const pb::SparseTensorProto &sparse, ModelFile &file) {
  llvm::Expected<TensorData> values = readTensor(sparse.values(), file);
  if (!values) {
    return values.takeError();
  }
  if (values->type == kString) {
    return llvm::createStringError("is a sparse tensor of strings, which is unsupported");
  }
  llvm::Expected<TensorData> indices = readTensor(sparse.indices(), file);
  if (!indices) {
    return indices.takeError();
  }
  llvm::Expected<TensorData> dense = denseHeader(sparse, values->type, file);
  if (!dense) {
    return dense.takeError();
  }
  // Indices are either positions in the flattened tensor, or one row of coordinates a value.
  int64_t count = values->elements;
  llvm::SmallVector<int64_t, 6> extents = dense->dims;
  if (indices->dims.size() == 1) {
    extents = {dense->elements};
  }
  if (values->dims.size() != 1 || indices->type != kInt64 || indices->elements != count * int64_t(extents.size())) {
    return llvm::createStringError("is a sparse tensor whose indices do not match its values");
  }
  std::vector<char> out(static_cast<size_t>(dense->bytes));
  size_t width = elementBits(dense->type) / 8;
  const char *next = indices->data.data();
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (int64_t extent : extents) {
      int64_t index = 0;
      std::memcpy(&index, next, sizeof(index));
      next += sizeof(index);
      if (index < 0 || index >= extent) {
        return llvm::createStringError("is a sparse tensor with the index " + llvm::Twine(index) + ", outside " +
                                       dimsText(dense->dims));
      }
      at = at * extent + index;
    }
    std::memcpy(out.data() + at * width, values->data.data() + i * width, width);
  }
  dense->data = file.keep(std::move(out));
  return dense;
}

} // namespace ingot::importer
