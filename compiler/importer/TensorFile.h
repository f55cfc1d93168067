// Tensors in files, as ONNX's test data has them: `input_K.pb` and `output_K.pb`, one TensorProto each,
// an OptionalProto or a SequenceProto.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ingot::importer {

struct HostTensor {
  std::string name; ///< of the value; often empty in old test data
  int32_t type = 0; ///< ONNX's number: 1 is float32
  std::vector<int64_t> dims;
  std::vector<char> bytes;          ///< dense, row-major, little-endian; bool is a byte each
  std::vector<std::string> strings; ///< instead of bytes for type 8
  bool isOptional = false;          ///< the file holds an OptionalProto
  bool isAbsent = false;            ///< and that nothing: there is no type, shape or content
};

/// Reads a TensorProto, or an OptionalProto of a tensor or of nothing. The error names the file and says what is wrong.
llvm::Expected<HostTensor> readTensorFile(const std::string &path);

/// Reads a SequenceProto of tensors, or an OptionalProto of one or of nothing.
llvm::Expected<std::optional<std::vector<HostTensor>>> readSequenceFile(const std::string &path);

/// Writes a TensorProto with raw data.
llvm::Error writeTensorFile(const std::string &path, const HostTensor &tensor);
/// Writes a SequenceProto of such, or an OptionalProto of one.
llvm::Error writeSequenceFile(const std::string &path, llvm::ArrayRef<HostTensor> tensors, bool isOptional = false);
/// Writes an OptionalProto of nothing.
llvm::Error writeAbsentFile(const std::string &path);

} // namespace ingot::importer
