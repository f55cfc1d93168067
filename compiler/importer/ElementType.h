// ONNX's element types (TensorProto.DataType), newer ones than Debian's onnx.proto knows included.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace ingot::importer {

enum ElementType : int32_t {
  kUndefined = 0,
  kFloat,
  kUInt8,
  kInt8,
  kUInt16,
  kInt16,
  kInt32,
  kInt64,
  kString,
  kBool,
  kFloat16,
  kDouble,
  kUInt32,
  kUInt64,
  kComplex64,
  kComplex128,
  kBFloat16,
  kFloat8E4M3FN,
  kFloat8E4M3FNUZ,
  kFloat8E5M2,
  kFloat8E5M2FNUZ,
  kUInt4,
  kInt4,
  kFloat4E2M1,
  kFloat8E8M0,
  kUInt2,
  kInt2
};

/// "float32", "int64" ...; "type 99" is not in the table: empty.
llvm::StringRef elementName(int32_t type);

/// Bits of one element in raw data; 0: a string or an unknown type. Types below a byte are packed, lowest bits first.
unsigned elementBits(int32_t type);

/// Elements of a tensor of these dims. None: a negative dim, or a product that leaves 64 bits (zeros do not hide that).
std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> dims);

/// Bytes of that many elements, rounded up. None: an overflow, or no fixed size.
std::optional<int64_t> byteCount(int32_t type, int64_t elements);

/// More bytes than any machine's memory: a tensor of this size is a mistake or an attack.
constexpr int64_t kLargestTensor = int64_t(1) << 40;

/// "[2, 3, 224, 224]", cut after a few dims.
std::string dimsText(llvm::ArrayRef<int64_t> dims);

} // namespace ingot::importer
