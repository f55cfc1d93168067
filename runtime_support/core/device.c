/* Makes devices with a memory of their own ready for runs, and does what runs of compiled models want of them. */
#include "ingot.h"

enum { ALIGN = 64 };
static const int32_t noStatus = 0;

/* Adds the device's number to a status: the device itself only says that it failed. */
static int located(int status, int32_t number) {
  return INGOT_STATUS_KIND(status) == INGOT_ERROR_DEVICE ? INGOT_STATUS(INGOT_ERROR_DEVICE, number) : status;
}

/* Allocates memory of the device in `*memory`, unless no bytes are wanted. */
static int reserve(const ingot_device *device, int64_t bytes, void **memory) {
  *memory = bytes > 0 ? device->allocate(device->context, bytes, ALIGN) : 0;
  return bytes > 0 && !*memory ? INGOT_ERROR_DEVICE : 0;
}

/* Copies the weights to the device, and the status that says that nothing is wrong. */
static int fill(const ingot_device_use *use, const void *weights) {
  const ingot_device *device = use->device;
  int status = use->weights ? device->upload(device->context, use->weights, weights, use->info->weight_bytes) : 0;
  if (!status && use->status) {
    status = device->upload(device->context, use->status, &noStatus, sizeof noStatus);
  }
  int waited = use->weights || use->status ? device->wait(device->context) : 0;
  return status ? status : waited;
}

/* Clears a structure field by field: for the assignment of a whole structure some compilers call memset, which the
 * core may not need. */
static void forget(ingot_device_use *use) {
  use->device = 0;
  use->info = 0;
  use->workspace = 0;
  use->weights = 0;
  use->status = 0;
  use->code = 0;
}

int ingot_device_open(const ingot_model *model, int32_t number, int64_t workspace_bytes, const void *weights,
                      const ingot_device *device, ingot_device_use *use) {
  forget(use);
  if (!model || !device) {
    return INGOT_ERROR_NULL;
  }
  if (model->abi != INGOT_ABI) {
    return INGOT_ERROR_ABI;
  }
  if (number < 0 || number >= model->device_count) {
    return INGOT_ERROR_COUNT;
  }
  const ingot_device_info *info = &model->devices[number];
  const char *from = (const char *)info->weights;
  if (!from && info->weight_bytes > 0) {
    if (!weights) {
      return INGOT_STATUS(INGOT_ERROR_NULL, model->input_count + model->output_count + 1);
    }
    from = (const char *)weights + info->weights_at;
  }
  use->device = device;
  use->info = info;
  int status = info->kernel_count > 0 ? device->load(device->context, info, &use->code) : 0;
  if (!status) {
    status = reserve(device, workspace_bytes, &use->workspace);
  }
  if (!status) {
    status = reserve(device, info->weight_bytes, &use->weights);
  }
  if (!status) {
    status = reserve(device, info->flags & INGOT_DEVICE_CHECKS ? (int64_t)sizeof(int32_t) : 0, &use->status);
  }
  if (!status) {
    status = fill(use, from);
  }
  if (status) {
    ingot_device_close(use);
  }
  return located(status, number);
}

void ingot_device_close(ingot_device_use *use) {
  void *const memories[] = {use->workspace, use->weights, use->status};
  for (int i = 0; i < 3; ++i) {
    if (memories[i]) {
      use->device->release(use->device->context, memories[i]);
    }
  }
  if (use->code) {
    use->device->unload(use->device->context, use->code);
  }
  forget(use);
}

int ingot_devices_given(const ingot_exec *exec, int32_t count) {
  if (!exec || !exec->devices) {
    return 0;
  }
  for (int32_t i = 0; i < count; ++i) {
    if (!exec->devices[i].device) {
      return 0;
    }
  }
  return 1;
}

int ingot_devices_begin(const ingot_exec *exec, int32_t count) {
  return ingot_devices_given(exec, count) ? 0 : INGOT_ERROR_NULL;
}

void *ingot_device_workspace(const ingot_exec *exec, int32_t number) { return exec->devices[number].workspace; }

void *ingot_device_weights(const ingot_exec *exec, int32_t number) { return exec->devices[number].weights; }

int ingot_device_upload(const ingot_exec *exec, int32_t number, void *to, const void *from, int64_t bytes) {
  const ingot_device *device = exec->devices[number].device;
  return bytes > 0 ? located(device->upload(device->context, to, from, bytes), number) : 0;
}

int ingot_device_download(const ingot_exec *exec, int32_t number, void *to, const void *from, int64_t bytes) {
  const ingot_device *device = exec->devices[number].device;
  return bytes > 0 ? located(device->download(device->context, to, from, bytes), number) : 0;
}

void *ingot_device_status(const ingot_exec *exec, int32_t number) { return exec->devices[number].status; }

int ingot_device_launch(const ingot_exec *exec, int32_t number, int32_t kernel, const void *args, int64_t bytes,
                        int64_t x, int64_t y, int64_t z) {
  const ingot_device_use *use = &exec->devices[number];
  if (x <= 0 || y <= 0 || z <= 0) {
    return 0;
  }
  const ingot_launch launch = {use->code, kernel, &use->info->kernels[kernel], {x, y, z}, args, bytes};
  return located(use->device->launch(use->device->context, &launch), number);
}

int ingot_device_wait(const ingot_exec *exec, int32_t number) {
  const ingot_device_use *use = &exec->devices[number];
  const ingot_device *device = use->device;
  int32_t found = 0;
  int status = use->status ? device->download(device->context, &found, use->status, sizeof found) : 0;
  int waited = device->wait(device->context);
  status = status ? status : waited;
  if (!status && found) { /* where this fails, the next wait finds the status again */
    status = device->upload(device->context, use->status, &noStatus, sizeof noStatus);
    status = status ? status : (int)found;
  }
  return located(status, number);
}

int ingot_devices_end(const ingot_exec *exec, int32_t count, int status) {
  /* A run that succeeds has waited itself, before it wrote its outputs: nothing can fail any more. */
  for (int32_t i = 0; status && i < count; ++i) {
    (void)ingot_device_wait(exec, i);
  }
  return status;
}
