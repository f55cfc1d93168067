/* Runs the model of open-sizes.mlir with several sizes, in memory of exactly the size that it asks for. */
#include "open.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                               \
  if (!(condition)) {                                                                                                  \
    printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                             \
    return 1;                                                                                                          \
  }

static float *floats(int64_t count) { return malloc(count ? (size_t)count * sizeof(float) : 1); }

static int tryWith(int64_t batch, int64_t seq) {
  int64_t mean = (seq + 1) / 2, bytes = open_workspace_bytes(batch, seq);
  float *x = floats(open_x_elements(batch, seq)), *bias = floats(seq), *y = floats(open_y_elements(batch, seq));
  float *means = floats(mean), one = 0;
  void *workspace = aligned_alloc(OPEN_WORKSPACE_ALIGN, (size_t)((bytes + 63) / 64 * 64 + 64));
  for (int64_t i = 0; i < batch * seq; ++i) {
    x[i] = (float)i;
  }
  for (int64_t i = 0; i < seq; ++i) {
    bias[i] = (float)(1000 * i);
  }
  CHECK(open_run(x, bias, y, means, &one, batch, seq, workspace, NULL) == 0 && one == 1);
  for (int64_t i = 0; i < batch * seq; ++i) {
    CHECK(y[2 * i] == (float)(i + 1000 * (i % seq)) && y[2 * i + 1] == y[2 * i]);
  }
  one = 0;
  ingot_buffer inputs[] = {{x, batch * seq}, {bias, seq}};
  ingot_buffer outputs[] = {{y, 2 * batch * seq}, {means, mean}, {&one, 1}};
  int64_t shape[] = {batch, seq}, sizes[2], dims[4], planned;
  ingot_shape shapes[] = {{shape, 2}, {&seq, 1}};
  CHECK(ingot_bind(open_model(), shapes, 2, sizes) == 0);
  CHECK(ingot_plan(open_model(), sizes, dims, &planned) == 0 && planned == bytes);
  CHECK(dims[0] == batch && dims[1] == 2 * seq && dims[2] == mean && dims[3] == 1);
  CHECK(ingot_run(open_model(), inputs, 2, outputs, 3, sizes, workspace, (size_t)bytes, NULL) == 0 && one == 1);
  outputs[1].elements += 1;
  CHECK(ingot_run(open_model(), inputs, 2, outputs, 3, sizes, workspace, (size_t)bytes, NULL) ==
        INGOT_STATUS(INGOT_ERROR_COUNT, 3));
  free(x), free(bias), free(y), free(means), free(workspace);
  return 0;
}

int main(void) {
  const ingot_model *model = open_model();
  CHECK(model->abi == INGOT_ABI && model->symbol_count == 2 && model->workspace_bytes == -1);
  CHECK(strcmp(model->symbols[0].name, "batch") == 0 && model->symbols[0].least == 0 && model->symbols[0].most == 4);
  CHECK(strcmp(model->symbols[1].name, "seq") == 0 && model->symbols[1].most == -1);
  CHECK(model->inputs[0].dims[0] == -1 && model->inputs[0].dims[1] == -2 && model->inputs[0].elements == -1);
  CHECK(INGOT_DIM_IS_SYMBOL(model->inputs[0].dims[1]) && INGOT_DIM_SYMBOL(model->inputs[0].dims[1]) == 1);
  CHECK(model->outputs[0].dims[0] == -1 && model->outputs[0].dims[1] == INGOT_DIM_COMPUTED);
  CHECK(model->outputs[1].dims[0] == INGOT_DIM_COMPUTED && model->outputs[1].bytes == -1);
  CHECK(model->outputs[2].elements == 1 && model->outputs[2].bytes == 4);
  CHECK(open_workspace_bytes(1, 7) == -INGOT_STATUS(INGOT_ERROR_SIZE, 0));
  CHECK(ingot_plan(model, (const int64_t[]){5, 2}, NULL, NULL) == INGOT_STATUS(INGOT_ERROR_SHAPE, 0));
  return tryWith(2, 3) || tryWith(4, 30) || tryWith(1, 1) || tryWith(0, 5) || tryWith(3, 0);
}
