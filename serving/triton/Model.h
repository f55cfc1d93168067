// A compiled model as a model of Triton: a version's folder has NAME.so, which `ingot compile --emit shared` writes.
#pragma once
#include "Triton.h"
#include "python/src/Library.h"
#include <optional>
#include <stdexcept>
#include <string>

namespace ingot::triton {

/// An error that a client or the server's log gets.
struct Failure : std::runtime_error {
  Failure(TRITONSERVER_Error_Code code, const std::string &text) : std::runtime_error(text), code(code) {}
  TRITONSERVER_Error_Code code;
};

/// Throws what a function of Triton reports.
void check(TRITONSERVER_Error *error);

/// Returns Triton's number of an element type; nothing for one that this backend does not serve.
std::optional<TRITONSERVER_DataType> tritonType(int32_t type);

class Model {
public:
  /// Opens the library. Throws Failure, or std::runtime_error of the library.
  explicit Model(TRITONBACKEND_Model *model);

  const ingot_model &facts() const { return library->model(); }
  const void *weights() const { return library->weights(); }
  /// Whether requests may share a run: max_batch_size is set, and the first axis of all tensors is one open size.
  bool batches() const { return rows > 0; }
  int threads() const { return runThreads; }

private:
  void completeConfiguration(TRITONBACKEND_Model *model, std::string text) const;

  std::optional<python::Library> library;
  int64_t rows = 0; ///< max_batch_size
  int runThreads = 1;
};

} // namespace ingot::triton
