/* The checked entry: everything that the caller can get wrong is an error value before the model is entered.
 * Freestanding like all of core/: no libc function is called, not even by the compiler on our behalf. */
#include "ingot.h"

static int misaligned(const void *pointer, uint64_t alignment) {
  return alignment > 1 && ((uintptr_t)pointer & (uintptr_t)(alignment - 1)) != 0;
}

/* One caller's tensor against what the model declares. The memory of an empty tensor is never touched, so that null
 * will do. The pointer to a string is as wide as a pointer, which is what ingot_type_bytes says of it. */
static int checkBuffer(const ingot_buffer *buffer, const ingot_tensor_info *info, int32_t argument) {
  if (buffer->elements != info->elements) {
    return INGOT_STATUS(INGOT_ERROR_COUNT, argument);
  }
  if (info->elements == 0) {
    return 0;
  }
  if (!buffer->data) {
    return INGOT_STATUS(INGOT_ERROR_NULL, argument);
  }
  if (misaligned(buffer->data, ingot_type_bytes(info->type))) {
    return INGOT_STATUS(INGOT_ERROR_ALIGNMENT, argument);
  }
  return 0;
}

static int checkWorkspace(const ingot_model *model, const void *workspace, size_t bytes) {
  int32_t argument = model->input_count + model->output_count;
  if (model->workspace_bytes <= 0) {
    return 0;
  }
  if (!workspace) {
    return INGOT_STATUS(INGOT_ERROR_NULL, argument);
  }
  if (misaligned(workspace, (uint64_t)model->workspace_align)) {
    return INGOT_STATUS(INGOT_ERROR_ALIGNMENT, argument);
  }
  if ((uint64_t)bytes < (uint64_t)model->workspace_bytes) {
    return INGOT_STATUS(INGOT_ERROR_WORKSPACE, argument);
  }
  return 0;
}

static int checkCall(const ingot_model *model, const ingot_buffer *inputs, int32_t input_count,
                     const ingot_buffer *outputs, int32_t output_count) {
  if (!model) {
    return INGOT_ERROR_NULL;
  }
  if (model->abi != INGOT_ABI) {
    return INGOT_ERROR_ABI;
  }
  if (input_count != model->input_count || output_count != model->output_count) {
    return INGOT_ERROR_COUNT;
  }
  if ((input_count > 0 && !inputs) || (output_count > 0 && !outputs)) {
    return INGOT_ERROR_NULL;
  }
  return 0;
}

int ingot_run(const ingot_model *model, const ingot_buffer *inputs, int32_t input_count, const ingot_buffer *outputs,
              int32_t output_count, void *workspace, size_t workspace_bytes, const ingot_exec *exec) {
  int status = checkCall(model, inputs, input_count, outputs, output_count);
  if (status) {
    return status;
  }
  /* As long as the model's own lists, which a model of a few hundred tensors makes a few kilobytes of stack. */
  const void *in[input_count + 1];
  void *out[output_count + 1];
  for (int32_t i = 0; i < input_count; ++i) {
    status = checkBuffer(&inputs[i], &model->inputs[i], i);
    if (status) {
      return status;
    }
    in[i] = inputs[i].data;
  }
  for (int32_t i = 0; i < output_count; ++i) {
    status = checkBuffer(&outputs[i], &model->outputs[i], input_count + i);
    if (status) {
      return status;
    }
    out[i] = outputs[i].data;
  }
  status = checkWorkspace(model, workspace, workspace_bytes);
  return status ? status : model->run(in, out, workspace, exec);
}
