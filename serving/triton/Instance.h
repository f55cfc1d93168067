// Runs requests on a compiled model. Triton calls each instance from one thread at a time.
#pragma once
#include "Model.h"
#include "runtime_support/include/ingot.hpp"
#include <vector>

namespace ingot::triton {

class Instance {
public:
  Instance(const Model &model, TRITONBACKEND_ModelInstance *handle);
  ~Instance();

  /// Answers all of these requests, each with its outputs or an error.
  void execute(TRITONBACKEND_Request *const *requests, uint32_t count);

private:
  using Requests = std::vector<TRITONBACKEND_Request *>;
  struct Times;

  void answerAll(const Requests &requests);
  void run(const Requests &requests);
  void readInput(const Requests &requests, int32_t number);
  void findSizes();
  void placeOutputs();
  void send(const Requests &requests, const Times &times);
  void writeOutputs(TRITONBACKEND_Request *request, TRITONBACKEND_Response *response, int64_t row, int64_t rows,
                    int64_t all);
  void writeOutput(TRITONBACKEND_Response *response, int32_t number, const int64_t *dims, int64_t row, int64_t rows,
                   int64_t all);
  void refuse(TRITONBACKEND_Request *request, TRITONSERVER_Error_Code code, const char *text);
  void releaseOutputs();

  const Model &model;
  const ingot_model &facts;
  TRITONBACKEND_ModelInstance *handle;
  // Of the run that is under way, kept for the next one.
  std::vector<std::vector<std::byte>> inputs, outputs;
  std::vector<std::vector<int64_t>> inputDims;
  std::vector<int64_t> rowsOf; ///< of each request, where several share the run
  std::vector<ingot_shape> shapes;
  std::vector<ingot_buffer> inputBuffers, outputBuffers;
  std::vector<void *> allocated; ///< outputs for which the run finds the memory
  std::vector<int64_t> sizes, dims;
  Workspace workspace;
  ingot_heap heap = {nullptr, 0};
};

} // namespace ingot::triton
