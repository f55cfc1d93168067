/* Writes everything that an ingot_model says of itself, for a driver that cannot load it. */
#include "runner.h"

static void putTensor(Stream *out, const ingot_tensor_info *info) {
  putText(out, info->name);
  putWord(out, info->type);
  putWord(out, info->rank);
  for (int32_t axis = 0; axis < info->rank; ++axis) {
    putWord(out, info->dims[axis]);
  }
  putWord(out, info->elements);
  putWord(out, info->bytes);
  putWord(out, info->flags);
  putWord(out, info->in_place_of);
}

void describe(const ingot_model *model, Stream *out) {
  const int64_t words[] = {model->flags,        model->input_count,         model->output_count,
                           model->node_count,   model->symbol_count,        model->found_count,
                           model->level_count,  model->workspace_bytes,     model->workspace_align,
                           model->weight_bytes, (int64_t)model->weight_hash};
  putText(out, model->name);
  putText(out, model->target);
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
    putWord(out, words[i]);
  }
  for (int32_t i = 0; i < model->input_count; ++i) {
    putTensor(out, &model->inputs[i]);
  }
  for (int32_t i = 0; i < model->output_count; ++i) {
    putTensor(out, &model->outputs[i]);
  }
  for (int32_t i = 0; i < model->node_count; ++i) {
    putText(out, model->nodes[i]);
  }
  for (int32_t i = 0; i < model->symbol_count + model->found_count; ++i) {
    putText(out, model->symbols[i].name);
    putWord(out, model->symbols[i].least);
    putWord(out, model->symbols[i].most);
  }
  for (int32_t i = 0; i < model->level_count; ++i) {
    putWord(out, model->levels[i]);
  }
}
