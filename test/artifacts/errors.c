/* The checked entry on a compiled model: each mistake of a caller is a status that names it, and nothing was written.
 */
#include "ingot.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN(a, b) a##b
#define CALL(name) JOIN(name, _model)()
#define MODEL_OF(name) const ingot_model *JOIN(name, _model)(void)
MODEL_OF(MODEL);

enum { MOST = 64 };

static const ingot_model *model;
static ingot_buffer inputs[MOST], outputs[MOST];
static char *workspace;
static int failures;

static int call(void) {
  return ingot_run(model, inputs, model->input_count, outputs, model->output_count, NULL, workspace,
                   (size_t)model->workspace_bytes, NULL);
}

static void expect(const char *what, int status, ingot_error_kind kind, int number) {
  char text[256];
  ingot_error_text(model, status, text, sizeof text);
  if (INGOT_STATUS_KIND(status) != (int)kind || INGOT_STATUS_NUMBER(status) != number || strlen(text) < 10) {
    printf("%s: status %d of %d: %s\n", what, INGOT_STATUS_KIND(status), INGOT_STATUS_NUMBER(status), text);
    ++failures;
  }
  for (int64_t k = 0; k < model->outputs[0].bytes; ++k) {
    if (((unsigned char *)outputs[0].data)[k] != 0xA5) {
      printf("%s: the output was written\n", what);
      ++failures;
      return;
    }
  }
}

int main(void) {
  model = CALL(MODEL);
  workspace = aligned_alloc(64, ((size_t)model->workspace_bytes + 191) / 64 * 64);
  for (int k = 0; k < model->input_count; ++k) {
    inputs[k].data = calloc(1, (size_t)model->inputs[k].bytes + 64);
    inputs[k].elements = model->inputs[k].elements;
  }
  for (int k = 0; k < model->output_count; ++k) {
    outputs[k].data = malloc((size_t)model->outputs[k].bytes + 64);
    outputs[k].elements = model->outputs[k].elements;
  }
  memset(outputs[0].data, 0xA5, (size_t)model->outputs[0].bytes);
  int32_t ins = model->input_count, outs = model->output_count;
  void *kept = inputs[0].data;
  inputs[0].data = NULL;
  expect("null input", call(), INGOT_ERROR_NULL, 0);
  inputs[0].data = (char *)kept + 1;
  expect("misaligned input", call(), INGOT_ERROR_ALIGNMENT, 0);
  inputs[0].data = kept;
  ++inputs[0].elements;
  expect("too many elements", call(), INGOT_ERROR_COUNT, 0);
  --inputs[0].elements;
  --outputs[outs - 1].elements;
  expect("too few elements", call(), INGOT_ERROR_COUNT, ins + outs - 1);
  ++outputs[outs - 1].elements;
  int status = ingot_run(model, inputs, ins + 1, outputs, outs, NULL, workspace, (size_t)model->workspace_bytes, NULL);
  expect("too many inputs", status, INGOT_ERROR_COUNT, -1);
  if (model->workspace_bytes > 0) {
    status = ingot_run(model, inputs, ins, outputs, outs, NULL, workspace, (size_t)model->workspace_bytes - 1, NULL);
    expect("small workspace", status, INGOT_ERROR_WORKSPACE, ins + outs);
    status = ingot_run(model, inputs, ins, outputs, outs, NULL, workspace + 4, (size_t)model->workspace_bytes, NULL);
    expect("misaligned workspace", status, INGOT_ERROR_ALIGNMENT, ins + outs);
    status = ingot_run(model, inputs, ins, outputs, outs, NULL, NULL, (size_t)model->workspace_bytes, NULL);
    expect("null workspace", status, INGOT_ERROR_NULL, ins + outs);
  }
  ingot_model other = *model;
  other.abi = INGOT_ABI + 1;
  status = ingot_run(&other, inputs, ins, outputs, outs, NULL, workspace, (size_t)model->workspace_bytes, NULL);
  expect("other ABI", status, INGOT_ERROR_ABI, -1);
  if ((status = call()) != 0) {
    printf("nothing wrong: status %d\n", status);
    ++failures;
  }
  printf("%s\n", failures ? "wrong" : "errors are values");
  return failures != 0;
}
