// The functions by which Triton's server calls the backend `ingot`, libtriton_ingot.so. No exception leaves them.
#include "Instance.h"
#include <memory>

using namespace ingot::triton;

namespace {

/// Calls the body, and returns what it throws as an error of Triton's.
template <typename Body> TRITONSERVER_Error *guarded(Body body) {
  try {
    body();
    return nullptr;
  } catch (const Failure &failure) {
    return TRITONSERVER_ErrorNew(failure.code, failure.what());
  } catch (const std::exception &error) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, error.what());
  }
}

Model *stateOf(TRITONBACKEND_Model *model) {
  void *state = nullptr;
  check(TRITONBACKEND_ModelState(model, &state));
  return static_cast<Model *>(state);
}
Instance *stateOf(TRITONBACKEND_ModelInstance *instance) {
  void *state = nullptr;
  check(TRITONBACKEND_ModelInstanceState(instance, &state));
  return static_cast<Instance *>(state);
}

} // namespace

extern "C" { // NOLINTBEGIN(readability-identifier-naming): Triton's names
#define INGOT_EXPORTED __attribute__((visibility("default")))

INGOT_EXPORTED TRITONSERVER_Error *TRITONBACKEND_Initialize(TRITONBACKEND_Backend *) {
  return guarded([] {
    uint32_t major = 0, minor = 0;
    check(TRITONBACKEND_ApiVersion(&major, &minor));
    if (major != 1) {
      throw Failure(TRITONSERVER_ERROR_UNSUPPORTED, "the backend ingot is for version 1 of Triton's interface");
    }
  });
}

INGOT_EXPORTED TRITONSERVER_Error *TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model *model) {
  return guarded([&] {
    auto state = std::make_unique<Model>(model);
    check(TRITONBACKEND_ModelSetState(model, state.get()));
    state.release();
  });
}

INGOT_EXPORTED TRITONSERVER_Error *TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model *model) {
  return guarded([&] { delete stateOf(model); });
}

INGOT_EXPORTED TRITONSERVER_Error *TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance *instance) {
  return guarded([&] {
    TRITONBACKEND_Model *model = nullptr;
    check(TRITONBACKEND_ModelInstanceModel(instance, &model));
    auto state = std::make_unique<Instance>(*stateOf(model), instance);
    check(TRITONBACKEND_ModelInstanceSetState(instance, state.get()));
    state.release();
  });
}

INGOT_EXPORTED TRITONSERVER_Error *TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance *instance) {
  return guarded([&] { delete stateOf(instance); });
}

INGOT_EXPORTED TRITONSERVER_Error *TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance *instance,
                                                                      TRITONBACKEND_Request **requests,
                                                                      uint32_t count) {
  return guarded([&] { stateOf(instance)->execute(requests, count); });
}
} // NOLINTEND(readability-identifier-naming)
