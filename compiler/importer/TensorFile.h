// Reads and writes tensors in files, as ONNX's test data has them: `input_K.pb` and `output_K.pb`, one TensorProto
// each, an OptionalProto or a SequenceProto.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ingot::support {
class OutputFiles;
} // namespace ingot::support

namespace ingot::importer {

struct HostTensor {
  std::string name; ///< the name of the value, which is often empty in old test data
  int32_t type = 0; ///< the number that ONNX has for the type: 1 is float32
  std::vector<int64_t> dims;
  std::vector<char> bytes;               ///< elements, dense, row-major and little-endian; a bool takes a byte
  std::vector<std::string> strings;      ///< instead of bytes for type 8
  bool isOptional = false;               ///< whether the file holds an OptionalProto
  bool isAbsent = false;                 ///< whether that holds nothing: there is no type, shape or content
  std::vector<std::string> mapKeys = {}; ///< for a matrix whose rows are the values of maps: the columns' keys
  bool hasStringKeys = false;            ///< whether keys are strings; else they are integers, as text
};

/// Reads a TensorProto, or an OptionalProto of a tensor or of nothing. The error names the file and says what is wrong.
llvm::Expected<HostTensor> readTensorFile(const std::string &path);

/// Reads a SequenceProto of tensors, or an OptionalProto of one or of nothing.
llvm::Expected<std::optional<std::vector<HostTensor>>> readSequenceFile(const std::string &path);

/// Reads a MapProto: its keys and its values.
llvm::Expected<std::vector<HostTensor>> readMapFile(const std::string &path);
/// Reads a SequenceProto of maps that have the same keys.
llvm::Expected<HostTensor> readMapsFile(const std::string &path);

/// Returns the maps with columns in the order of these keys; nothing where they have others.
std::optional<HostTensor> inOrder(HostTensor maps, llvm::ArrayRef<std::string> keys);

/// Adds a TensorProto with raw data to what is written, or of values of maps a SequenceProto of these.
llvm::Error writeTensorFile(support::OutputFiles &files, const std::string &path, const HostTensor &tensor);
/// Adds a SequenceProto of such tensors, or an OptionalProto that holds one, to what is written.
llvm::Error writeSequenceFile(support::OutputFiles &files, const std::string &path, llvm::ArrayRef<HostTensor> tensors,
                              bool isOptional = false);
/// Adds an OptionalProto that holds nothing to what is written.
llvm::Error writeAbsentFile(support::OutputFiles &files, const std::string &path);

} // namespace ingot::importer
