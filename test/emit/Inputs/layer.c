/* Runs the model of affine-layer.mlir by its typed and its generic entry and checks every number that it describes. */
#include "layer.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                                                               \
  if (!(condition)) {                                                                                                  \
    printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                             \
    return 1;                                                                                                          \
  }

static char memory[LAYER_WORKSPACE_BYTES + LAYER_WORKSPACE_ALIGN];

int main(void) {
  float x[8], y[LAYER_FOR_OUT_ELEMENTS], again[8];
  uint8_t flag = 0;
  void *workspace = memory + (LAYER_WORKSPACE_ALIGN - (uintptr_t)memory % LAYER_WORKSPACE_ALIGN);
  for (int i = 0; i < 8; ++i) {
    x[i] = (float)(i - 4) / 512;
  }
  CHECK(layer_run(x, &flag, y, workspace, NULL) == 0);
  for (int i = 0; i < 8; ++i) {
    unsigned char weight = (unsigned char)((64 + i) * 37 + 11);
    CHECK(fabs(y[i] - tanh((double)(x[i] * (float)weight))) < 1e-6);
  }
  const ingot_model *model = layer_model();
  CHECK(model->abi == INGOT_ABI && model->flags == 0 && model->found_count == 0 && model->symbol_count == 0 &&
        !model->plan);
  CHECK(strcmp(model->name, "layer") == 0 && strcmp(model->target, "x86-64-v2") == 0);
  CHECK(model->input_count == 2 && model->output_count == 1 && model->node_count == 2);
  CHECK(strcmp(model->inputs[0].name, "for") == 0 && model->inputs[0].type == INGOT_FLOAT32);
  CHECK(model->inputs[0].rank == 2 && model->inputs[0].dims[1] == 4 && model->inputs[0].bytes == 32);
  CHECK(model->inputs[1].type == INGOT_BOOL && model->inputs[1].elements == 1);
  CHECK(strcmp(model->outputs[0].name, "for /out") == 0 && model->outputs[0].elements == 8);
  CHECK(model->workspace_bytes == 128 && model->workspace_align == 64 && model->weight_bytes == 192);
  CHECK(strcmp(model->nodes[1], "node one") == 0);

  ingot_buffer inputs[] = {{x, 8}, {&flag, 1}}, output = {again, 8};
  CHECK(ingot_run(model, inputs, 2, &output, 1, NULL, workspace, LAYER_WORKSPACE_BYTES, NULL) == 0);
  CHECK(memcmp(y, again, sizeof(y)) == 0);
  flag = 1;
  CHECK(layer_run(x, &flag, y, workspace, NULL) == INGOT_STATUS(INGOT_ERROR_INDEX, 1));
  return 0;
}
