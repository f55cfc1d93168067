// Checks every read against the end of the message before it happens.
#include "compiler/importer/WireReader.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"

namespace ingot::importer {

bool WireReader::fail(std::string message) {
  text = std::move(message);
  return false;
}

bool WireReader::varint(uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (cursor == end) {
      return fail("ends within a number");
    }
    auto byte = static_cast<uint8_t>(*cursor++);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) {
      return true;
    }
  }
  return fail("has a number of more than 64 bits");
}

bool WireReader::take(uint64_t size, llvm::StringRef &bytes) {
  auto left = static_cast<uint64_t>(end - cursor);
  if (size > left) {
    return fail(("needs " + llvm::Twine(size) + " bytes where " + llvm::Twine(left) + " are left").str());
  }
  bytes = llvm::StringRef(cursor, size);
  cursor += size;
  return true;
}

bool WireReader::next(WireField &field) {
  const char *start = cursor;
  uint64_t tag = 0, size = 0;
  if (!varint(tag)) {
    return false;
  }
  if (tag >> 3 == 0 || tag >> 32 != 0) {
    return fail(("has the impossible field number " + llvm::Twine(tag >> 3)).str());
  }
  field.number = static_cast<uint32_t>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
  llvm::StringRef bytes;
  switch (field.type) {
  case WireType::Varint:
    if (!varint(field.value)) {
      return false;
    }
    break;
  case WireType::Fixed64:
    if (!take(8, bytes)) {
      return false;
    }
    field.value = llvm::support::endian::read64le(bytes.data());
    break;
  case WireType::Fixed32:
    if (!take(4, bytes)) {
      return false;
    }
    field.value = llvm::support::endian::read32le(bytes.data());
    break;
  case WireType::Bytes:
    if (!varint(size) || !take(size, field.payload)) {
      return false;
    }
    break;
  default:
    return fail(("has a field of the unknown wire type " + llvm::Twine(tag & 7)).str());
  }
  field.whole = llvm::StringRef(start, cursor - start);
  return true;
}

} // namespace ingot::importer
