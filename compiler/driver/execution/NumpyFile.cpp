// Reads numpy's format, which has a header in Python's syntax, a dict with three entries, before the elements.
#include "compiler/driver/execution/NumpyFile.h"
#include "compiler/importer/ElementType.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <cstring>

namespace ingot::driver {
namespace {

using importer::HostTensor;

llvm::Error problem(const std::string &path, const llvm::Twine &text) {
  return llvm::createStringError(path + ": error: " + text);
}

/// Returns the value of an entry: the text of a string, a tuple or list with its brackets, or a word; nothing: there is
/// no such entry.
std::optional<llvm::StringRef> entryOf(llvm::StringRef header, llvm::StringRef key) {
  for (char quote : {'\'', '"'}) {
    size_t at = header.find((llvm::Twine(quote) + key + llvm::Twine(quote)).str());
    llvm::StringRef rest = at == llvm::StringRef::npos ? "" : header.substr(at + key.size() + 2).ltrim();
    if (!rest.consume_front(":")) {
      continue;
    }
    rest = rest.ltrim();
    if (rest.starts_with("'") || rest.starts_with("\"")) {
      return rest.substr(1, rest.find(rest.front(), 1) - 1);
    }
    if (rest.starts_with("(") || rest.starts_with("[")) {
      return rest.substr(0, rest.find(rest.front() == '(' ? ')' : ']') + 1);
    }
    return rest.take_until([](char c) { return c == ',' || c == '}'; }).trim();
  }
  return std::nullopt;
}

/// Returns "<f4" as ONNX's element type; 0: ONNX has none.
int32_t elementOf(llvm::StringRef descr) {
  static const std::pair<llvm::StringLiteral, int32_t> kinds[] = {
      {"f2", importer::kFloat16}, {"f4", importer::kFloat},  {"f8", importer::kDouble}, {"i1", importer::kInt8},
      {"i2", importer::kInt16},   {"i4", importer::kInt32},  {"i8", importer::kInt64},  {"u1", importer::kUInt8},
      {"u2", importer::kUInt16},  {"u4", importer::kUInt32}, {"u8", importer::kUInt64}, {"b1", importer::kBool}};
  llvm::StringRef kind = descr.size() == 3 && llvm::is_contained("<>=|", descr.front()) ? descr.drop_front() : descr;
  const auto *found = llvm::find_if(kinds, [&](const auto &entry) { return entry.first == kind; });
  return found == std::end(kinds) ? 0 : found->second;
}

/// Returns "(2, 3)", "(4,)" or "()" as a shape; nothing: it is damaged. Old files write "3L".
std::optional<std::vector<int64_t>> shapeOf(llvm::StringRef text) {
  if (!text.consume_front("(") || !text.consume_back(")")) {
    return std::nullopt;
  }
  std::vector<int64_t> dims;
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ',');
  for (auto [i, word] : llvm::enumerate(words)) {
    int64_t size = 0;
    llvm::StringRef digits = word.trim();
    digits.consume_back("L");
    if (digits.empty() && i + 1 == words.size()) { // nothing follows the last comma
      continue;
    }
    if (digits.getAsInteger(10, size) || size < 0) {
      return std::nullopt;
    }
    dims.push_back(size);
  }
  return dims;
}

/// Returns elements whose first axis is the innermost one in row-major order.
std::vector<char> rowMajor(const HostTensor &tensor, size_t size) {
  std::vector<char> result(tensor.bytes.size());
  std::vector<size_t> strides, at(tensor.dims.size());
  size_t stride = size;
  for (int64_t dim : tensor.dims) {
    strides.push_back(stride), stride *= size_t(dim);
  }
  const char *from = tensor.bytes.data();
  for (size_t to = 0; to < result.size(); to += size) {
    std::memcpy(&result[to], from, size);
    for (size_t axis = at.size(); axis-- > 0;) {
      from += strides[axis];
      if (++at[axis] < size_t(tensor.dims[axis])) {
        break;
      }
      from -= strides[axis] * at[axis], at[axis] = 0;
    }
  }
  return result;
}

/// Splits a file into its header and the elements' bytes; the error names the file.
llvm::Expected<std::pair<llvm::StringRef, llvm::StringRef>> split(const std::string &path, llvm::StringRef bytes) {
  if (!bytes.starts_with("\x93NUMPY") || bytes.size() < 12) {
    return problem(path, "is no array of numpy");
  }
  int version = bytes[6];
  if (version < 1 || version > 3) {
    return problem(path, "is an array of numpy of version " + llvm::Twine(version) + ", which is unsupported");
  }
  size_t start = version > 1 ? 12 : 10;
  size_t length = version > 1 ? llvm::support::endian::read32le(bytes.data() + 8)
                              : llvm::support::endian::read16le(bytes.data() + 8);
  if (start + length > bytes.size()) {
    return problem(path, "is an array of numpy that ends in its header");
  }
  return std::pair(bytes.substr(start, length), bytes.drop_front(start + length));
}

} // namespace

llvm::Expected<HostTensor> readNumpyArray(const std::string &path, llvm::StringRef bytes) {
  auto parts = split(path, bytes);
  if (!parts) {
    return parts.takeError();
  }
  auto [header, values] = *parts;
  std::optional<llvm::StringRef> descr = entryOf(header, "descr"), order = entryOf(header, "fortran_order"),
                                 shape = entryOf(header, "shape");
  if (!descr || !shape || (order != "True" && order != "False")) {
    return problem(path, "is an array of numpy with a damaged header");
  }
  HostTensor tensor;
  tensor.type = elementOf(*descr);
  if (tensor.type == 0) {
    return problem(path, "has elements of numpy's type '" + *descr +
                             "', which is unsupported: floats, integers and booleans of up to 64 bits are read");
  }
  std::optional<std::vector<int64_t>> dims = shapeOf(*shape);
  if (!dims) {
    return problem(path, "is an array of numpy with a damaged shape");
  }
  tensor.dims = std::move(*dims);
  std::optional<int64_t> elements = importer::elementCount(tensor.dims);
  std::optional<int64_t> needed = elements ? importer::byteCount(tensor.type, *elements) : std::nullopt;
  if (!needed || int64_t(values.size()) != *needed) {
    return problem(path, "is an array of numpy whose size is not that of its shape");
  }
  tensor.bytes.assign(values.begin(), values.end());
  size_t size = importer::elementBits(tensor.type) / 8;
  for (size_t at = 0; descr->starts_with(">") && at < tensor.bytes.size(); at += size) {
    std::reverse(&tensor.bytes[at], &tensor.bytes[at] + size);
  }
  if (order == "True") {
    tensor.bytes = rowMajor(tensor, size);
  }
  return tensor;
}

} // namespace ingot::driver
