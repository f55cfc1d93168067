// Reads a TensorProto's values as dense little-endian bytes, whichever of its many forms they were written in.
#pragma once
#include "compiler/importer/ElementType.h"
#include "compiler/importer/Protobuf.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace ingot::importer {

class ModelFile;

struct TensorHeader {
  int32_t type = 0;
  llvm::SmallVector<int64_t, 6> dims;
  int64_t elements = 0;
  int64_t bytes = 0; ///< 0 for strings
};

struct TensorData : TensorHeader {
  llvm::StringRef data;                 ///< bytes in the mapping, or kept by the ModelFile; no alignment is promised
  std::vector<llvm::StringRef> strings; ///< the strings of a string tensor
};

/// Returns type and dims, which are checked: the type is known, no dim is negative, and sizes do not overflow.
llvm::Expected<TensorHeader> readHeader(const pb::TensorProto &tensor);

/// Returns the values from float_data, int32_data ... (not raw_data), checked against the header's element count.
llvm::Expected<std::vector<char>> typedBytes(const pb::TensorProto &tensor, const TensorHeader &header);

/// Returns any tensor of a model. Nothing is copied when the data is raw or external.
llvm::Expected<TensorData> readTensor(const pb::TensorProto &tensor, ModelFile &file);

/// Returns a sparse tensor made dense (within the model's budget).
llvm::Expected<TensorData> readSparse(const pb::SparseTensorProto &tensor, ModelFile &file);

} // namespace ingot::importer
