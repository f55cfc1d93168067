// Runs requests: together, where the model has rows and their shapes are alike but for these, else one by one. If a
// shared run fails, each request runs alone, since the data of one must not be the error of another.
#include "Instance.h"
#include <algorithm>
#include <chrono>
#include <cstring>

namespace ingot::triton {

/// When a run began and ended, in nanoseconds, for the server's statistics.
struct Instance::Times {
  static uint64_t now() {
    auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
  }
  uint64_t began = now(), runBegan = 0, runEnded = 0;
};

namespace {

/// An input of a request as the server has it.
struct Given {
  TRITONBACKEND_Input *input = nullptr;
  TRITONSERVER_DataType type = 0;
  const int64_t *shape = nullptr;
  uint32_t rank = 0, pieces = 0;
  uint64_t bytes = 0;
};

/// Finds an input; nothing where an optional one is left out.
std::optional<Given> givenFor(TRITONBACKEND_Request *request, const ingot_tensor_info &info) {
  Given given;
  TRITONSERVER_Error *error = TRITONBACKEND_RequestInput(request, info.name, &given.input);
  if (error && info.flags & INGOT_TENSOR_OPTIONAL) {
    TRITONSERVER_ErrorDelete(error);
    return std::nullopt;
  }
  check(error);
  const char *name = nullptr;
  check(TRITONBACKEND_InputProperties(given.input, &name, &given.type, &given.shape, &given.rank, &given.bytes,
                                      &given.pieces));
  if (given.type != tritonType(info.type)) {
    throw Failure(TRITONSERVER_ERROR_INVALID_ARG,
                  std::string("input '") + info.name + "' is of " + ingot_type_text(info.type));
  }
  if (info.rank == 0 && given.rank == 1 && given.shape[0] == 1) {
    given.rank = 0;
  }
  return given;
}

/// Returns whether two requests may share a run: their inputs have the same shapes behind the first axis.
bool alike(const ingot_model &model, TRITONBACKEND_Request *a, TRITONBACKEND_Request *b) {
  for (int32_t i = 0; i < model.input_count; ++i) {
    auto one = givenFor(a, model.inputs[i]), other = givenFor(b, model.inputs[i]);
    if (one.has_value() != other.has_value()) {
      return false;
    }
    if (one && (one->rank != other->rank || one->rank == 0 ||
                !std::equal(one->shape + 1, one->shape + one->rank, other->shape + 1))) {
      return false;
    }
  }
  return true;
}

/// Returns the bytes of a tensor.
uint64_t bytesOf(const ingot_tensor_info &info, const int64_t *dims) {
  uint64_t bytes = ingot_type_bytes(info.type);
  for (int32_t axis = 0; axis < info.rank; ++axis) {
    if (dims[axis] < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dims[axis]), &bytes)) {
      throw Failure(TRITONSERVER_ERROR_INVALID_ARG, std::string("'") + info.name + "' is too large");
    }
  }
  return bytes;
}

/// Throws the error of a run, or of its sizes. What is in the request's data is the client's fault.
void checkStatus(const ingot_model &model, int status) {
  if (!status) {
    return;
  }
  switch (INGOT_STATUS_KIND(status)) {
  case INGOT_ERROR_MEMORY:
    throw Failure(TRITONSERVER_ERROR_UNAVAILABLE, Status(status, &model).message());
  case INGOT_ERROR_INDEX:
  case INGOT_ERROR_SIZE:
  case INGOT_ERROR_SHAPE:
  case INGOT_ERROR_COUNT:
  case INGOT_ERROR_ABSENT:
    throw Failure(TRITONSERVER_ERROR_INVALID_ARG, Status(status, &model).message());
  default:
    throw Failure(TRITONSERVER_ERROR_INTERNAL, Status(status, &model).message());
  }
}

/// Writes an error to the server's log where nobody is left to get it.
void log(TRITONSERVER_Error *error) {
  if (error) {
    TRITONSERVER_LogMessage(TRITONSERVER_LOG_ERROR, __FILE__, __LINE__, TRITONSERVER_ErrorMessage(error));
    TRITONSERVER_ErrorDelete(error);
  }
}

} // namespace

Instance::Instance(const Model &model, TRITONBACKEND_ModelInstance *handle)
    : model(model), facts(model.facts()), handle(handle) {
  auto inputCount = static_cast<size_t>(facts.input_count), outputCount = static_cast<size_t>(facts.output_count);
  size_t axes = 0;
  for (size_t i = 0; i < outputCount; ++i) {
    axes += static_cast<size_t>(facts.outputs[i].rank);
  }
  inputs.resize(inputCount), inputDims.resize(inputCount), shapes.resize(inputCount), inputBuffers.resize(inputCount);
  outputs.resize(outputCount), outputBuffers.resize(outputCount), allocated.resize(outputCount), dims.resize(axes);
  sizes.resize(static_cast<size_t>(facts.symbol_count + facts.found_count));
}

Instance::~Instance() {
  releaseOutputs();
  ingot_heap_clear(&heap);
}

void Instance::execute(TRITONBACKEND_Request *const *requests, uint32_t count) {
  Requests together;
  for (uint32_t i = 0; i < count; ++i) {
    try {
      if (!together.empty() && !(model.batches() && alike(facts, together.front(), requests[i]))) {
        answerAll(std::exchange(together, {}));
      }
      together.push_back(requests[i]);
    } catch (const Failure &failure) {
      refuse(requests[i], failure.code, failure.what());
    }
  }
  if (!together.empty()) {
    answerAll(together);
  }
}

void Instance::answerAll(const Requests &requests) {
  try {
    run(requests);
    return;
  } catch (const Failure &failure) {
    if (requests.size() == 1) {
      return refuse(requests.front(), failure.code, failure.what());
    }
  } catch (const std::bad_alloc &) {
    if (requests.size() == 1) {
      return refuse(requests.front(), TRITONSERVER_ERROR_UNAVAILABLE, "not enough memory");
    }
  }
  for (TRITONBACKEND_Request *request : requests) {
    answerAll({request});
  }
}

void Instance::run(const Requests &requests) {
  Times times;
  rowsOf.assign(requests.size(), 1);
  for (int32_t i = 0; i < facts.input_count; ++i) {
    readInput(requests, i);
  }
  findSizes();
  placeOutputs();
  const ingot_exec *shared = python::sharedThreads(model.threads());
  ingot_exec exec = shared ? *shared : ingot_exec{};
  exec.weights = model.weights();
  exec.allocator = &heap, exec.allocate = ingot_heap_allocate, exec.release = ingot_heap_release;
  times.runBegan = Times::now();
  checkStatus(facts, ingot_run(&facts, inputBuffers.data(), facts.input_count, outputBuffers.data(), facts.output_count,
                               sizes.data(), workspace.data(), workspace.size(), &exec));
  times.runEnded = Times::now();
  ingot_found_dims(&facts, sizes.data(), dims.data());
  send(requests, times);
  releaseOutputs();
}

/// Joins what requests give for an input. The server has its bytes in any number of pieces, at any address.
void Instance::readInput(const Requests &requests, int32_t number) {
  const ingot_tensor_info &info = facts.inputs[number];
  auto at = static_cast<size_t>(number);
  std::vector<std::byte> &to = inputs[at];
  std::vector<int64_t> rows;
  to.clear();
  shapes[at] = {nullptr, -1}, inputBuffers[at] = {nullptr, 0};
  for (TRITONBACKEND_Request *request : requests) {
    std::optional<Given> given = givenFor(request, info);
    if (!given) {
      return;
    }
    std::vector<int64_t> &own = inputDims[at];
    if (rows.empty()) {
      own.assign(given->shape, given->shape + given->rank);
    } else {
      own[0] += given->shape[0];
    }
    rows.push_back(given->rank ? given->shape[0] : 1);
    size_t begin = to.size();
    for (uint32_t piece = 0; piece < given->pieces; ++piece) {
      const void *data = nullptr;
      uint64_t bytes = 0;
      TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
      int64_t device = 0;
      check(TRITONBACKEND_InputBuffer(given->input, piece, &data, &bytes, &memory, &device));
      if (memory != TRITONSERVER_MEMORY_CPU && memory != TRITONSERVER_MEMORY_CPU_PINNED) {
        throw Failure(TRITONSERVER_ERROR_UNSUPPORTED, std::string("input '") + info.name + "' is in a device's memory");
      }
      to.insert(to.end(), static_cast<const std::byte *>(data), static_cast<const std::byte *>(data) + bytes);
    }
    if (info.type == INGOT_BOOL) {
      std::transform(to.begin() + static_cast<std::ptrdiff_t>(begin), to.end(),
                     to.begin() + static_cast<std::ptrdiff_t>(begin),
                     [](std::byte x) { return std::byte(x != std::byte{}); });
    }
  }
  shapes[at] = {inputDims[at].data(), static_cast<int32_t>(inputDims[at].size())};
  if (int32_t rank = shapes[at].rank; rank == info.rank && bytesOf(info, shapes[at].dims) != to.size()) {
    throw Failure(TRITONSERVER_ERROR_INVALID_ARG, std::string("input '") + info.name + "' has " +
                                                      std::to_string(to.size()) +
                                                      " bytes, which is not what its shape says");
  }
  rowsOf = rows;
  static std::byte none;
  inputBuffers[at] = {to.empty() ? &none : to.data(), static_cast<int64_t>(to.size() / ingot_type_bytes(info.type))};
}

void Instance::findSizes() {
  checkStatus(facts, ingot_bind(&facts, shapes.data(), facts.input_count, sizes.data()));
  int64_t bytes = 0;
  checkStatus(facts, ingot_plan(&facts, sizes.data(), dims.data(), &bytes));
  if (!workspace || static_cast<size_t>(bytes) > workspace.size()) {
    workspace = Workspace(static_cast<size_t>(bytes), static_cast<size_t>(facts.workspace_align));
    if (!workspace) {
      throw std::bad_alloc();
    }
  }
}

void Instance::placeOutputs() {
  const int64_t *own = dims.data();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ingot_tensor_info &info = facts.outputs[i];
    if (info.flags & INGOT_TENSOR_ALLOCATED) {
      outputBuffers[i] = {&allocated[i], 0};
    } else {
      uint64_t bytes = bytesOf(info, own);
      outputs[i].resize(std::max<uint64_t>(1, bytes));
      outputBuffers[i] = {outputs[i].data(), static_cast<int64_t>(bytes / ingot_type_bytes(info.type))};
    }
    own += info.rank;
  }
}

void Instance::releaseOutputs() {
  for (void *&memory : allocated) {
    if (memory) {
      ingot_heap_release(&heap, memory);
      memory = nullptr;
    }
  }
}

/// Sends its rows to each request. From here on no request may run again, so errors go into responses and the log.
void Instance::send(const Requests &requests, const Times &times) {
  int64_t all = 0, row = 0;
  for (int64_t rows : rowsOf) {
    all += rows;
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    int64_t rows = rowsOf[i];
    TRITONBACKEND_Response *response = nullptr;
    TRITONSERVER_Error *error = TRITONBACKEND_ResponseNew(&response, requests[i]);
    if (!error) {
      try {
        writeOutputs(requests[i], response, row, rows, all);
      } catch (const Failure &failure) {
        error = TRITONSERVER_ErrorNew(failure.code, failure.what());
      } catch (const std::exception &failure) {
        error = TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, failure.what());
      }
      bool good = !error;
      log(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error));
      log(TRITONBACKEND_ModelInstanceReportStatistics(handle, requests[i], good, times.began, times.runBegan,
                                                      times.runEnded, Times::now()));
    }
    if (response && error) {
      TRITONSERVER_ErrorDelete(error); // the client has it
    } else {
      log(error);
    }
    log(TRITONBACKEND_RequestRelease(requests[i], TRITONSERVER_REQUEST_RELEASE_ALL));
    row += rows;
  }
  uint64_t counted = model.batches() ? static_cast<uint64_t>(std::max<int64_t>(1, all)) : 1;
  log(TRITONBACKEND_ModelInstanceReportBatchStatistics(handle, counted, times.began, times.runBegan, times.runEnded,
                                                       Times::now()));
}

/// Writes the outputs that a request asks for: rows [row, row + rows) of `all`.
void Instance::writeOutputs(TRITONBACKEND_Request *request, TRITONBACKEND_Response *response, int64_t row, int64_t rows,
                            int64_t all) {
  uint32_t count = 0;
  check(TRITONBACKEND_RequestOutputCount(request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char *name = nullptr;
    check(TRITONBACKEND_RequestOutputName(request, i, &name));
    const int64_t *own = dims.data();
    for (int32_t number = 0; number < facts.output_count; own += facts.outputs[number++].rank) {
      if (std::strcmp(name, facts.outputs[number].name) == 0) {
        writeOutput(response, number, own, row, rows, all);
      }
    }
  }
}

void Instance::writeOutput(TRITONBACKEND_Response *response, int32_t number, const int64_t *own, int64_t row,
                           int64_t rows, int64_t all) {
  const ingot_tensor_info &info = facts.outputs[number];
  auto at = static_cast<size_t>(number);
  std::vector<int64_t> shape(own, own + info.rank);
  uint64_t bytes = bytesOf(info, own), offset = 0;
  if (model.batches() && all > 0) {
    uint64_t each = bytes / static_cast<uint64_t>(all);
    shape[0] = rows, bytes = each * static_cast<uint64_t>(rows), offset = each * static_cast<uint64_t>(row);
  }
  if (shape.empty()) {
    shape = {1};
  }
  TRITONBACKEND_Output *output = nullptr;
  void *to = nullptr;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
  int64_t device = 0;
  check(TRITONBACKEND_ResponseOutput(response, &output, info.name, *tritonType(info.type), shape.data(),
                                     static_cast<uint32_t>(shape.size())));
  check(TRITONBACKEND_OutputBuffer(output, &to, bytes, &memory, &device));
  if (memory != TRITONSERVER_MEMORY_CPU && memory != TRITONSERVER_MEMORY_CPU_PINNED) {
    throw Failure(TRITONSERVER_ERROR_UNSUPPORTED, std::string("output '") + info.name + "' is in a device's memory");
  }
  const auto *from = static_cast<const std::byte *>(allocated[at] ? allocated[at] : outputs[at].data());
  if (bytes) {
    std::memcpy(to, from + offset, bytes);
  }
}

void Instance::refuse(TRITONBACKEND_Request *request, TRITONSERVER_Error_Code code, const char *text) {
  releaseOutputs();
  TRITONBACKEND_Response *response = nullptr;
  TRITONSERVER_Error *error = TRITONSERVER_ErrorNew(code, text);
  if (TRITONSERVER_Error *failed = TRITONBACKEND_ResponseNew(&response, request)) {
    log(failed);
  } else {
    log(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error));
  }
  TRITONSERVER_ErrorDelete(error);
  uint64_t now = Times::now();
  log(TRITONBACKEND_ModelInstanceReportStatistics(handle, request, false, now, now, now, now));
  log(TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL));
}

} // namespace ingot::triton
