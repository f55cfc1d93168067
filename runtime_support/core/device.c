/* Devices with a memory of their own: what callers prepare them with, and what the runs of compiled models call. */
#include "ingot.h"

enum { ALIGN = 64 };

/* A device says that it failed; which one it is the run knows. */
static int located(int status, int32_t number) {
  return INGOT_STATUS_KIND(status) == INGOT_ERROR_DEVICE ? INGOT_STATUS(INGOT_ERROR_DEVICE, number) : status;
}

/* Memory of the device in `*memory`, unless none is wanted. */
static int reserve(const ingot_device *device, int64_t bytes, void **memory) {
  *memory = bytes > 0 ? device->allocate(device->context, bytes, ALIGN) : 0;
  return bytes > 0 && !*memory ? INGOT_ERROR_DEVICE : 0;
}

int ingot_device_open(const ingot_model *model, int32_t number, int64_t workspace_bytes, const void *weights,
                      const ingot_device *device, ingot_device_use *use) {
  const ingot_device_use none = {0, 0, 0};
  *use = none;
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
  int status = reserve(device, workspace_bytes, &use->workspace);
  if (!status) {
    status = reserve(device, info->weight_bytes, &use->weights);
  }
  if (!status && use->weights) {
    status = device->upload(device->context, use->weights, from, info->weight_bytes);
    int waited = device->wait(device->context);
    status = status ? status : waited;
  }
  if (status) {
    ingot_device_close(use);
  }
  return located(status, number);
}

void ingot_device_close(ingot_device_use *use) {
  const ingot_device_use none = {0, 0, 0};
  if (use->workspace) {
    use->device->release(use->device->context, use->workspace);
  }
  if (use->weights) {
    use->device->release(use->device->context, use->weights);
  }
  *use = none;
}

int ingot_devices_begin(const ingot_exec *exec, int32_t count) {
  if (!exec || !exec->devices) {
    return INGOT_ERROR_NULL;
  }
  for (int32_t i = 0; i < count; ++i) {
    if (!exec->devices[i].device) {
      return INGOT_ERROR_NULL;
    }
  }
  return 0;
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

int ingot_device_launch(const ingot_exec *exec, int32_t number, int (*body)(void *args, int64_t begin, int64_t end),
                        const void *args, int64_t bytes, int64_t count) {
  const ingot_device *device = exec->devices[number].device;
  return count > 0 ? located(device->launch(device->context, body, args, bytes, count), number) : 0;
}

int ingot_device_wait(const ingot_exec *exec, int32_t number) {
  const ingot_device *device = exec->devices[number].device;
  return located(device->wait(device->context), number);
}

int ingot_devices_end(const ingot_exec *exec, int32_t count, int status) {
  /* A run that succeeds has waited itself, before it wrote its outputs: nothing can fail any more. */
  for (int32_t i = 0; status && i < count; ++i) {
    (void)ingot_device_wait(exec, i);
  }
  return status;
}
