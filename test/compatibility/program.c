/* A program around some of the models of models.py, in C: it runs them by the typed functions and by the checked ones,
 * on a pool, with open and found sizes, weights from a file, memory and strings that runs ask for, and errors.
 *
 *   program WEIGHTS      prints what each call gave; WEIGHTS is open_sizes.weights */
#include "conv.h"
#include "found.h"
#include "lookup.h"
#include "open_sizes.h"
#include "strings.h"
#include <stdio.h>
#include <stdlib.h>

static _Alignas(64) unsigned char workspace[1 << 16];

static void fill(float *values, int count) {
  for (int i = 0; i < count; ++i) {
    values[i] = (float)(i * 7 % 11) / 16 - 0.25F;
  }
}

/* Prints the status of a call, what the library says of it, and some values. */
static void print(const char *what, const ingot_model *model, int status, const float *values, int count) {
  char text[200] = "ok";
  if (status) {
    ingot_error_text(model, status, text, sizeof text);
  }
  printf("%s: %s", what, text);
  for (int i = 0; !status && i < count; ++i) {
    printf(" %.3f", values[i]);
  }
  printf("\n");
}

static void runConv(void) {
  static float x[CONV_X_ELEMENTS], y[CONV_Y_ELEMENTS];
  fill(x, CONV_X_ELEMENTS);
  print("conv", conv_model(), conv_run(x, y, workspace, NULL), y, CONV_Y_ELEMENTS);
  ingot_pool *pool = ingot_pool_create(3);
  ingot_buffer input = {x, CONV_X_ELEMENTS}, output = {y, CONV_Y_ELEMENTS};
  int status = ingot_run(conv_model(), &input, 1, &output, 1, NULL, workspace, sizeof workspace, ingot_pool_exec(pool));
  print("conv on a pool", conv_model(), status, y, CONV_Y_ELEMENTS);
  output.elements = 4;
  status = ingot_run(conv_model(), &input, 1, &output, 1, NULL, workspace, sizeof workspace, NULL);
  print("conv with a short output", conv_model(), status, y, 0);
  ingot_pool_destroy(pool);
}

static void runOpen(const char *path) {
  static float x[2 * 3 * 12], y[2 * 3 * 12];
  const ingot_model *model = open_sizes_model();
  ingot_weights weights;
  print("weights", model, ingot_weights_load(model, path, &weights), NULL, 0);
  ingot_exec exec = {0};
  exec.weights = weights.data;
  fill(x, 2 * 3 * 12);
  print("open sizes", model, open_sizes_run(x, y, 2, 3, workspace, &exec), y, 12);
  int64_t shape[] = {2, 3, 12}, sizes[2], dims[3], bytes = 0;
  ingot_shape shapes = {shape, 3};
  print("bind", model, ingot_bind(model, &shapes, 1, sizes), NULL, 0);
  print("plan", model, ingot_plan(model, sizes, dims, &bytes), NULL, 0);
  printf("%d %d, %d %d %d, %d\n", (int)sizes[0], (int)sizes[1], (int)dims[0], (int)dims[1], (int)dims[2],
         bytes == open_sizes_workspace_bytes(2, 3));
  ingot_weights_unmap(&weights);
}

static void runFound(void) {
  static float x[FOUND_X_ELEMENTS];
  static int64_t where[FOUND_WHERE_ELEMENTS], limit = 5, sizes[2], *squares;
  ingot_heap heap = {0};
  ingot_exec exec = {0};
  exec.allocator = &heap, exec.allocate = ingot_heap_allocate, exec.release = ingot_heap_release;
  fill(x, FOUND_X_ELEMENTS);
  ingot_buffer inputs[] = {{x, FOUND_X_ELEMENTS}, {&limit, 1}},
               outputs[] = {{where, FOUND_WHERE_ELEMENTS}, {&squares, 0}};
  int status = ingot_run(found_model(), inputs, 2, outputs, 2, sizes, workspace, sizeof workspace, &exec);
  print("found", found_model(), status, NULL, 0);
  int64_t dims[3];
  ingot_plan(found_model(), sizes, dims, NULL);
  ingot_found_dims(found_model(), sizes, dims);
  printf("%d %d, %d, %d\n", (int)dims[0], (int)dims[1], (int)dims[2], status ? -1 : (int)squares[4]);
  ingot_heap_release(&heap, squares);
  ingot_heap_clear(&heap);
}

static void runStrings(void) {
  const ingot_string x[] = {{"the", 3}, {"quick", 5}, {"brown", 5}, {"fox", 3}}, end = {"!", 1};
  ingot_string y[STRINGS_Y_ELEMENTS];
  ingot_strings made = {0};
  ingot_exec exec = {0};
  exec.allocate = ingot_heap_allocate, exec.release = ingot_heap_release, exec.strings = &made;
  int64_t count = 0;
  print("strings", strings_model(), strings_run(x, &end, y, &count, workspace, &exec), NULL, 0);
  for (int64_t i = 0; i < count; ++i) {
    printf("%.*s\n", (int)y[i].size, y[i].data);
  }
  ingot_strings_release(&exec);
}

static void runLookup(void) {
  int64_t rows[] = {3, 0, 99, 3};
  float y[4];
  print("a row that is not there", lookup_model(), lookup_run(rows, y, workspace, NULL), y, 0);
}

int main(int count, char **arguments) {
  if (count != 2) {
    return 2;
  }
  runConv();
  runOpen(arguments[1]);
  runFound();
  runStrings();
  runLookup();
  return 0;
}
