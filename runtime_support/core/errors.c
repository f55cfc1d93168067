/* Writes the texts of status values. A sentence is built part by part in the caller's buffer; what does not fit is
 * only counted. */
#include "ingot.h"

const char *ingot_error_kind_text(int status) {
  switch (INGOT_STATUS_KIND(status)) {
  case INGOT_OK:
    return "no error";
  case INGOT_ERROR_NULL:
    return "a pointer is null";
  case INGOT_ERROR_ALIGNMENT:
    return "a pointer is not aligned enough";
  case INGOT_ERROR_WORKSPACE:
    return "the workspace is too small";
  case INGOT_ERROR_COUNT:
    return "a number of tensors or elements is not the model's";
  case INGOT_ERROR_INDEX:
    return "an index or bound computed while running lies outside its tensor";
  case INGOT_ERROR_ABI:
    return "the model was compiled for another version of ingot.h";
  case INGOT_ERROR_THREADS:
    return "the threads of the host failed";
  case INGOT_ERROR_TYPE:
    return "an element type is not the model's";
  case INGOT_ERROR_MEMORY:
    return "no memory left";
  case INGOT_ERROR_FILE:
    return "a file cannot be read";
  case INGOT_ERROR_CONTENT:
    return "the weights have another size than those that the model was compiled with";
  case INGOT_ERROR_HASH:
    return "the weights are not those that the model was compiled with";
  case INGOT_ERROR_SHAPE:
    return "a shape is not the model's";
  case INGOT_ERROR_SIZE:
    return "the model cannot run with these sizes";
  case INGOT_ERROR_ABSENT:
    return "an optional input that is needed was left out";
  case INGOT_ERROR_TARGET:
    return "the machine has none of the levels that the model was compiled for";
  case INGOT_ERROR_DEVICE:
    return "the device failed, or has not as much memory as the model needs";
  case INGOT_ERROR_PIECE:
    return "the code that a target brought for a part of the model gave up";
  case INGOT_ERROR_IMAGE:
    return "an image is damaged, of a form that is not supported, or too large";
  case INGOT_ERROR_STRING:
    return "a string is not UTF-8 or no number, or a label is none that is known";
  case INGOT_ERROR_TILES:
    return "the machine has no AMX, for which the model was compiled, or its operating system does not give it";
  case INGOT_ERROR_READ:
    return "its weights could not be read";
  default:
    return "unknown error";
  }
}

typedef struct Text {
  char *buffer;
  size_t size, length;
} Text;

/* A copy of it in the place of each call would be most of what this file takes. */
static __attribute__((noinline)) void put(Text *text, const char *piece) {
  for (; *piece; ++piece) {
    if (text->length + 1 < text->size) {
      text->buffer[text->length] = *piece;
    }
    ++text->length;
  }
}

/* Writes a number in decimal, by subtraction: a 64-bit division would be a library call on 32-bit machines. */
static __attribute__((noinline)) void putNumber(Text *text, uint64_t value) {
  uint64_t powers[20];
  int started = 0;
  powers[0] = 1;
  for (int i = 1; i < 20; ++i) {
    powers[i] = powers[i - 1] * 10;
  }
  for (int i = 19; i >= 0; --i) {
    char digit[2] = {'0', 0};
    for (; value >= powers[i]; value -= powers[i]) {
      ++digit[0];
    }
    started |= digit[0] != '0' || i == 0;
    if (started) {
      put(text, digit);
    }
  }
}

/* Writes "input 'x'", "output 'y'", "the workspace", "the weights" and so on, or nothing when the number names no
 * argument. */
static void putArgument(Text *text, const ingot_model *model, int32_t number) {
  const ingot_tensor_info *info = 0;
  if (number < model->input_count) {
    info = &model->inputs[number];
    put(text, ": input '");
  } else if (number - model->input_count < model->output_count) {
    info = &model->outputs[number - model->input_count];
    put(text, ": output '");
  } else if (number - model->input_count == model->output_count) {
    put(text, ": the workspace");
    return;
  } else if (number - model->input_count == model->output_count + 1) {
    put(text, ": the weights");
    return;
  } else if (number - model->input_count == model->output_count + 2) {
    put(text, ": ingot_exec.allocate or .release");
    return;
  } else if (number - model->input_count == model->output_count + 3) {
    put(text, ": ingot_exec.devices");
    return;
  } else {
    return;
  }
  put(text, info->name ? info->name : "");
  put(text, "'");
}

/* Writes the bounds of the symbols in a tensor's dims: ", batch at least 1, at most 8". */
static void putBounds(Text *text, const ingot_model *model, const ingot_tensor_info *info) {
  for (int32_t i = 0; i < model->symbol_count; ++i) {
    int used = 0;
    for (int32_t axis = 0; axis < info->rank; ++axis) {
      used |= info->dims[axis] == -1 - i;
    }
    const ingot_symbol_info *symbol = &model->symbols[i];
    if (used && (symbol->least > 0 || symbol->most >= 0)) {
      put(text, ", ");
      put(text, symbol->name);
    }
    if (used && symbol->least > 0) {
      put(text, " at least ");
      putNumber(text, (uint64_t)symbol->least);
    }
    if (used && symbol->most >= 0) {
      put(text, symbol->least > 0 ? ", at most " : " at most ");
      putNumber(text, (uint64_t)symbol->most);
    }
  }
}

/* Writes a shape: "[batch][3][?]". */
static void putShape(Text *text, const ingot_model *model, const ingot_tensor_info *info) {
  for (int32_t axis = 0; axis < info->rank; ++axis) {
    int64_t dim = info->dims[axis];
    put(text, "[");
    if (dim >= 0) {
      putNumber(text, (uint64_t)dim);
    } else {
      put(text, INGOT_DIM_IS_SYMBOL(dim) ? model->symbols[INGOT_DIM_SYMBOL(dim)].name : "?");
    }
    put(text, "]");
  }
  put(text, info->rank == 0 ? "a scalar" : "");
  putBounds(text, model, info);
}

static void putExpectedTensor(Text *text, const ingot_model *model, int kind, const ingot_tensor_info *info) {
  int asShape = kind == INGOT_ERROR_SHAPE || (kind == INGOT_ERROR_COUNT && info->elements < 0);
  if (asShape || kind == INGOT_ERROR_COUNT || kind == INGOT_ERROR_ALIGNMENT || kind == INGOT_ERROR_TYPE) {
    put(text, ", expected ");
  }
  if (asShape) {
    putShape(text, model, info);
  } else if (kind == INGOT_ERROR_COUNT) {
    putNumber(text, (uint64_t)info->elements);
    put(text, " elements");
  } else if (kind == INGOT_ERROR_ALIGNMENT) {
    putNumber(text, ingot_type_bytes(info->type));
    put(text, " bytes");
  } else if (kind == INGOT_ERROR_TYPE) {
    put(text, ingot_type_text(info->type));
  }
}

/* Writes what the model would have accepted. */
static void putExpected(Text *text, const ingot_model *model, int kind, int32_t number) {
  int32_t output = number - model->input_count;
  int apart = (model->flags & (INGOT_MODEL_WEIGHTS_APART | INGOT_MODEL_WEIGHTS_STREAMED)) != 0;
  int64_t bytes = kind == INGOT_ERROR_WORKSPACE                                        ? model->workspace_bytes
                  : kind == INGOT_ERROR_ALIGNMENT && output == model->output_count     ? model->workspace_align
                  : kind == INGOT_ERROR_ALIGNMENT && output == model->output_count + 1 ? INGOT_WEIGHTS_ALIGN
                  : kind == INGOT_ERROR_CONTENT && apart                               ? model->weight_bytes
                                                                                       : -1;
  if (kind == INGOT_ERROR_TARGET) {
    put(text, ", expected ");
    put(text, model->target);
  } else if (bytes >= 0) {
    put(text, ", expected ");
    putNumber(text, (uint64_t)bytes);
    put(text, " bytes");
  } else if (number >= 0 && output < model->output_count) {
    putExpectedTensor(text, model, kind, output < 0 ? &model->inputs[number] : &model->outputs[output]);
  } else if (kind == INGOT_ERROR_COUNT) {
    put(text, ", expected ");
    putNumber(text, (uint64_t)model->input_count);
    put(text, " inputs and ");
    putNumber(text, (uint64_t)model->output_count);
    put(text, " outputs");
  }
}

size_t ingot_error_text(const ingot_model *model, int status, char *buffer, size_t size) {
  Text text = {buffer, buffer ? size : 0, 0};
  int kind = INGOT_STATUS_KIND(status);
  int32_t number = INGOT_STATUS_NUMBER(status);
  /* Nothing of a model with another layout may be read. */
  int known = model && model->abi == INGOT_ABI;
  if (known && model->name) {
    put(&text, "model '");
    put(&text, model->name);
    put(&text, "'");
  } else {
    put(&text, "model");
  }
  if (known && number >= 0 && kind == INGOT_ERROR_DEVICE) {
    put(&text, ": device '");
    put(&text, number < model->device_count ? model->devices[number].target : "");
    put(&text, "'");
  } else if (known && number >= 0) {
    if (kind != INGOT_ERROR_INDEX && kind != INGOT_ERROR_SIZE && kind != INGOT_ERROR_ABSENT &&
        kind != INGOT_ERROR_MEMORY && kind != INGOT_ERROR_PIECE && kind != INGOT_ERROR_IMAGE &&
        kind != INGOT_ERROR_STRING && kind != INGOT_ERROR_READ) {
      putArgument(&text, model, number);
    } else if (number < model->node_count) {
      put(&text, ": node '");
      put(&text, model->nodes[number]);
      put(&text, "'");
    }
  }
  put(&text, ": ");
  put(&text, ingot_error_kind_text(status));
  if (known) {
    putExpected(&text, model, kind, number);
  }
  if (text.size > 0) {
    text.buffer[text.length < text.size ? text.length : text.size - 1] = 0;
  }
  return text.length;
}
