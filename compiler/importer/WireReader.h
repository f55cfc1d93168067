// Protobuf's wire format, read field by field with bounds checks and without a copy: what the loader needs to walk a
// file that it does not trust. A message is a row of fields; a field is a tag (number * 8 + wire type) and a value: a
// varint, four or eight bytes, or a length and that many bytes. Groups, the deprecated bracketed form, are refused:
// ONNX never had any.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace ingot::importer {

enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::Varint;
  uint64_t value = 0;      ///< the value of Varint, Fixed32 and Fixed64
  llvm::StringRef payload; ///< the payload of Bytes
  llvm::StringRef whole;   ///< tag and value as they stand in the file
};

class WireReader {
public:
  explicit WireReader(llvm::StringRef bytes) : cursor(bytes.begin()), end(bytes.end()) {}

  bool atEnd() const { return cursor == end; }
  const char *position() const { return cursor; }

  /// Reads the next field. False: the bytes are malformed, and error() says how.
  bool next(WireField &field);

  /// Reads one varint, as packed fields hold them.
  bool varint(uint64_t &value);

  const std::string &error() const { return text; }

private:
  bool fail(std::string message);
  bool take(uint64_t size, llvm::StringRef &bytes);

  const char *cursor, *end;
  std::string text;
};

} // namespace ingot::importer
