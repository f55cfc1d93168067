// Has the element types of ONNX (TensorProto.DataType), newer ones than Debian's onnx.proto knows included.
#pragma once
#include "compiler/support/Dims.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace ingot::importer {

using support::dimsText;
using support::elementCount;
using support::kLargestTensor;

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

/// Returns the name of a type, "float32", "int64" ...; empty for a type that is not in the table.
llvm::StringRef elementName(int32_t type);

/// Returns the bits of one element in raw data; 0: it is a string or an unknown type. Types below a byte are packed,
/// lowest bits first.
unsigned elementBits(int32_t type);

/// Returns the bytes of that many elements, rounded up. Nothing: they overflow, or the type has no fixed size.
std::optional<int64_t> byteCount(int32_t type, int64_t elements);

} // namespace ingot::importer
