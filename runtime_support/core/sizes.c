/* Computes sizes that are chosen for each run: from the shapes of inputs to the symbols, and from the symbols to
 * everything else. */
#include "sizes.h"

int32_t ingot_sizes_count(const ingot_model *model) {
  int32_t count = 0;
  for (int32_t i = 0; i < model->output_count; ++i) {
    count += model->outputs[i].rank;
  }
  return count;
}

/* Returns a * b of numbers that are not negative; -1 when that is more than `limit`, or when an operand is -1
 * already. It multiplies in halves, because a checked 64-bit multiplication, or a division, would be a library call
 * on 32-bit machines. */
static int64_t multiply(int64_t a, int64_t b, int64_t limit) {
  if (a < 0 || b < 0) {
    return -1;
  }
  uint64_t high_a = (uint64_t)a >> 32, low_a = (uint32_t)a, high_b = (uint64_t)b >> 32, low_b = (uint32_t)b;
  /* One of the high halves is 0 here, so neither sum can wrap. */
  uint64_t middle = high_a && high_b ? UINT64_MAX : high_a * low_b + low_a * high_b;
  if (middle > (uint64_t)limit >> 32) {
    return -1;
  }
  uint64_t product = (middle << 32) + low_a * low_b;
  return product <= (uint64_t)limit ? (int64_t)product : -1;
}

int64_t ingot_sizes_elements(const int64_t *dims, int32_t rank, int32_t type) {
  int64_t elements = 1, limit = (int64_t)(SIZE_MAX >> 1);
  for (int32_t axis = 0; axis < rank; ++axis) {
    if (dims[axis] == 0) {
      return 0; /* the other axes do not matter, even if they are too large */
    }
  }
  for (int32_t axis = 0; axis < rank; ++axis) {
    elements = multiply(elements, dims[axis], limit);
  }
  if (multiply(elements, (int64_t)ingot_type_bytes(type), limit) < 0) {
    return -1;
  }
  int64_t pack = ingot_type_pack(type); /* 1, 2 or 4, so that a shift divides */
  return (elements >> (pack >> 1)) + ((elements & (pack - 1)) != 0);
}

/* Returns the first input that has the symbol. */
static int32_t inputOf(const ingot_model *model, int32_t symbol) {
  for (int32_t i = 0; i < model->input_count; ++i) {
    const ingot_tensor_info *info = &model->inputs[i];
    for (int32_t axis = 0; axis < info->rank; ++axis) {
      if (info->dims[axis] == -1 - symbol) {
        return i;
      }
    }
  }
  return -1; /* INGOT_STATUS of -1 names nothing */
}

static int checkSymbols(const ingot_model *model, const int64_t *sizes) {
  for (int32_t i = 0; i < model->symbol_count; ++i) {
    int64_t least = model->symbols[i].least, most = model->symbols[i].most;
    if (sizes[i] < 0 || sizes[i] < least || (most >= 0 && sizes[i] > most)) {
      return INGOT_STATUS(INGOT_ERROR_SHAPE, inputOf(model, i));
    }
  }
  return 0;
}

/* Gives a size to those symbols of an input that have none yet. Returns 0 or the kind of an error. */
static int bindInput(const ingot_tensor_info *info, const ingot_shape *shape, int64_t *sizes) {
  if (shape->rank == -1 && (info->flags & INGOT_TENSOR_OPTIONAL)) {
    return 0;
  }
  if (shape->rank != info->rank) {
    return INGOT_ERROR_SHAPE;
  }
  if (shape->rank > 0 && !shape->dims) {
    return INGOT_ERROR_NULL;
  }
  for (int32_t axis = 0; axis < info->rank; ++axis) {
    int64_t dim = info->dims[axis], size = shape->dims[axis];
    if (INGOT_DIM_IS_SYMBOL(dim)) {
      int64_t *bound = &sizes[INGOT_DIM_SYMBOL(dim)];
      *bound = *bound < 0 ? size : *bound;
      dim = *bound;
    }
    if (size != dim || size < 0) {
      return INGOT_ERROR_SHAPE;
    }
  }
  return 0;
}

int ingot_bind(const ingot_model *model, const ingot_shape *inputs, int32_t input_count, int64_t *sizes) {
  if (!model) {
    return INGOT_ERROR_NULL;
  }
  if (model->abi != INGOT_ABI) {
    return INGOT_ERROR_ABI;
  }
  if (input_count != model->input_count) {
    return INGOT_ERROR_COUNT;
  }
  if ((input_count > 0 && !inputs) || (model->symbol_count > 0 && !sizes)) {
    return INGOT_ERROR_NULL;
  }
  for (int32_t i = 0; i < model->symbol_count; ++i) {
    sizes[i] = inputOf(model, i) < 0 ? sizes[i] : -1;
  }
  for (int32_t i = 0; i < input_count; ++i) {
    int kind = bindInput(&model->inputs[i], &inputs[i], sizes);
    if (kind) {
      return INGOT_STATUS(kind, i);
    }
  }
  for (int32_t i = 0; i < model->symbol_count; ++i) {
    sizes[i] = sizes[i] < 0 ? model->symbols[i].least : sizes[i]; /* every input that has the symbol is left out */
  }
  return checkSymbols(model, sizes);
}

static int planOpen(const ingot_model *model, const int64_t *sizes, int64_t *dims, int64_t *workspace_bytes) {
  if (!sizes && model->symbol_count > 0) {
    return INGOT_ERROR_NULL;
  }
  int status = checkSymbols(model, sizes);
  if (!status) {
    status = model->plan(sizes, dims, workspace_bytes);
  }
  for (int32_t i = 0; !status && i < model->output_count; ++i) {
    const ingot_tensor_info *info = &model->outputs[i];
    int bounded = !(info->flags & INGOT_TENSOR_ALLOCATED);
    for (int32_t axis = 0; axis < info->rank; ++axis) {
      status = bounded && dims[axis] < 0 ? INGOT_ERROR_SIZE : status;
    }
    if (bounded && ingot_sizes_elements(dims, info->rank, info->type) < 0) {
      status = INGOT_ERROR_SIZE;
    }
    dims += info->rank;
  }
  return status;
}

int ingot_plan(const ingot_model *model, const int64_t *sizes, int64_t *dims, int64_t *workspace_bytes) {
  if (!model) {
    return INGOT_ERROR_NULL;
  }
  if (model->abi != INGOT_ABI) {
    return INGOT_ERROR_ABI;
  }
  int64_t all[ingot_sizes_count(model) + 1], bytes[1 + model->device_count];
  int64_t *next = dims ? dims : all;
  bytes[0] = model->workspace_bytes;
  if (model->plan) {
    int status = planOpen(model, sizes, next, bytes);
    if (status) {
      return status;
    }
  } else {
    for (int32_t i = 0; i < model->output_count; ++i) {
      for (int32_t axis = 0; axis < model->outputs[i].rank; ++axis) {
        *next++ = model->outputs[i].dims[axis];
      }
    }
  }
  if (workspace_bytes) {
    *workspace_bytes = bytes[0];
  }
  return 0;
}

int ingot_device_bytes(const ingot_model *model, const int64_t *sizes, int32_t number, int64_t *bytes) {
  if (!model || !bytes) {
    return INGOT_ERROR_NULL;
  }
  if (model->abi != INGOT_ABI) {
    return INGOT_ERROR_ABI;
  }
  if (number < 0 || number >= model->device_count) {
    return INGOT_ERROR_COUNT;
  }
  *bytes = model->devices[number].workspace_bytes;
  if (!model->plan) {
    return 0;
  }
  int64_t dims[ingot_sizes_count(model) + 1], all[1 + model->device_count];
  int status = planOpen(model, sizes, dims, all);
  *bytes = status ? 0 : all[1 + number];
  return status;
}

void ingot_found_dims(const ingot_model *model, const int64_t *sizes, int64_t *dims) {
  for (int32_t i = 0; i < model->output_count; ++i) {
    const ingot_tensor_info *info = &model->outputs[i];
    for (int32_t axis = 0; axis < info->rank; ++axis) {
      int64_t dim = info->dims[axis];
      if (INGOT_DIM_IS_SYMBOL(dim) && INGOT_DIM_SYMBOL(dim) >= model->symbol_count) {
        dims[axis] = sizes[INGOT_DIM_SYMBOL(dim)];
      }
    }
    dims += info->rank;
  }
}
