/* Runs models with checks: everything that the caller can get wrong is an error value before the model is entered.
 * This is freestanding like all of core/: no libc function is called, not even by the compiler on our behalf. */
#include "sizes.h"

static int misaligned(const void *pointer, uint64_t alignment) {
  return alignment > 1 && ((uintptr_t)pointer & (uintptr_t)(alignment - 1)) != 0;
}

/* Checks a caller's tensor against what the model declares. The memory of an empty tensor is never touched, so null
 * will do. */
static int checkBuffer(const ingot_buffer *buffer, int64_t elements, int32_t type, uint32_t flags, int32_t argument) {
  if (!buffer->data && (flags & INGOT_TENSOR_OPTIONAL)) {
    return 0;
  }
  if (elements < 0) { /* they are more than a program can address */
    return INGOT_STATUS(INGOT_ERROR_SHAPE, argument);
  }
  if (buffer->elements != elements) {
    return INGOT_STATUS(INGOT_ERROR_COUNT, argument);
  }
  if (elements == 0) {
    return 0;
  }
  if (!buffer->data) {
    return INGOT_STATUS(INGOT_ERROR_NULL, argument);
  }
  if (misaligned(buffer->data, ingot_type_bytes(type))) {
    return INGOT_STATUS(INGOT_ERROR_ALIGNMENT, argument);
  }
  return 0;
}

/* Checks the place to which the address of an output goes. */
static int checkPointer(const ingot_buffer *buffer, int32_t argument) {
  if (!buffer->data) {
    return INGOT_STATUS(INGOT_ERROR_NULL, argument);
  }
  if (buffer->elements != 0) {
    return INGOT_STATUS(INGOT_ERROR_COUNT, argument);
  }
  return misaligned(buffer->data, sizeof(void *)) ? INGOT_STATUS(INGOT_ERROR_ALIGNMENT, argument) : 0;
}

static int checkWorkspace(const ingot_model *model, const void *workspace, size_t bytes, int64_t needed) {
  int32_t argument = model->input_count + model->output_count;
  if (needed <= 0) {
    return 0;
  }
  if (!workspace) {
    return INGOT_STATUS(INGOT_ERROR_NULL, argument);
  }
  if (misaligned(workspace, (uint64_t)model->workspace_align)) {
    return INGOT_STATUS(INGOT_ERROR_ALIGNMENT, argument);
  }
  if ((uint64_t)bytes < (uint64_t)needed) {
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

/* Returns the elements of an input for given sizes. */
static int64_t inputElements(const ingot_tensor_info *info, const int64_t *sizes) {
  if (info->elements >= 0) {
    return info->elements;
  }
  int64_t dims[info->rank + 1];
  for (int32_t axis = 0; axis < info->rank; ++axis) {
    int64_t dim = info->dims[axis];
    dims[axis] = INGOT_DIM_IS_SYMBOL(dim) ? sizes[INGOT_DIM_SYMBOL(dim)] : dim;
  }
  return ingot_sizes_elements(dims, info->rank, info->type);
}

/* Checks all tensors. `dims` are those of all outputs; they are not read for a model whose sizes are all numbers. */
static int checkBuffers(const ingot_model *model, const ingot_buffer *inputs, const ingot_buffer *outputs,
                        const int64_t *sizes, const int64_t *dims) {
  for (int32_t i = 0; i < model->input_count; ++i) {
    const ingot_tensor_info *info = &model->inputs[i];
    int status = checkBuffer(&inputs[i], inputElements(info, sizes), info->type, info->flags, i);
    if (status) {
      return status;
    }
  }
  for (int32_t i = 0; i < model->output_count; ++i) {
    const ingot_tensor_info *info = &model->outputs[i];
    if (info->flags & INGOT_TENSOR_ALLOCATED) {
      int status = checkPointer(&outputs[i], model->input_count + i);
      if (status) {
        return status;
      }
      dims += info->rank;
      continue;
    }
    int64_t elements = info->elements < 0 ? ingot_sizes_elements(dims, info->rank, info->type) : info->elements;
    int status = checkBuffer(&outputs[i], elements, info->type, 0, model->input_count + i);
    if (status) {
      return status;
    }
    dims += model->plan ? info->rank : 0;
  }
  return 0;
}

int ingot_run(const ingot_model *model, const ingot_buffer *inputs, int32_t input_count, const ingot_buffer *outputs,
              int32_t output_count, int64_t *sizes, void *workspace, size_t workspace_bytes, const ingot_exec *exec) {
  int status = checkCall(model, inputs, input_count, outputs, output_count);
  if (status) {
    return status;
  }
  /* These arrays are as long as the model's own lists; a model of a few hundred tensors takes a few kilobytes of
   * stack. */
  const void *in[input_count + 1];
  void *out[output_count + 1];
  int open = model->plan != 0;
  int64_t dims[open ? ingot_sizes_count(model) + 1 : 1], needed = model->workspace_bytes;
  if (model->found_count > 0 && !sizes) {
    return INGOT_ERROR_NULL;
  }
  if (open) {
    status = ingot_plan(model, sizes, dims, &needed);
  }
  if (!status) {
    status = checkBuffers(model, inputs, outputs, sizes, dims);
  }
  if (!status) {
    status = checkWorkspace(model, workspace, workspace_bytes, needed);
  }
  if (status) {
    return status;
  }
  for (int32_t i = 0; i < input_count; ++i) {
    in[i] = inputs[i].data;
  }
  for (int32_t i = 0; i < output_count; ++i) {
    out[i] = outputs[i].data;
  }
  return model->run(in, out, sizes, workspace, exec);
}
