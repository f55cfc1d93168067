/* Runs the model MODEL under several hosts on the same inputs: on the calling thread (a null ingot_exec); item by item
 * from the last to the first; on pools of 2 and 3 threads. Prints for each the status, a hash of the outputs, and how
 * many loops were split. With an argument, that number is every integer of the inputs (an index that is out of range).
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

static int loops;

static int oneThread(void *context) {
  (void)context;
  return 1;
}

/* The lowest failure wins, as the header asks for. */
static int backwards(void *context, int (*body)(void *, int64_t, int64_t), void *args, int64_t count) {
  (void)context;
  ++loops;
  int status = 0;
  while (count-- > 0) {
    int mine = body(args, count, count + 1);
    status = mine ? mine : status;
  }
  return status;
}

static int counted(void *context, int (*body)(void *, int64_t, int64_t), void *args, int64_t count) {
  const ingot_exec *exec = context;
  ++loops;
  return exec->parallel_for(exec->context, body, args, count);
}

static int countedThreads(void *context) {
  const ingot_exec *exec = context;
  return exec->threads(exec->context);
}

static void fill(const ingot_tensor_info *info, void *data, const char *index) {
  unsigned state = 12345;
  size_t bytes = ingot_type_bytes(info->type);
  for (int64_t k = 0; k < info->elements; ++k) {
    state = state * 1664525U + 1013904223U;
    if (info->type == INGOT_FLOAT32) {
      ((float *)data)[k] = (float)(state >> 8) / (float)(1 << 23) - 1.0F;
    } else if (info->type == INGOT_INT64) {
      ((int64_t *)data)[k] = index ? atoll(index) : (int64_t)(state >> 30);
    } else {
      memset((char *)data + (size_t)k * bytes, 0, bytes);
    }
  }
}

int main(int argc, char **argv) {
  const ingot_model *model = CALL(MODEL);
  const void *inputs[MOST];
  void *outputs[MOST];
  void *workspace = aligned_alloc(64, (size_t)(model->workspace_bytes + 127) / 64 * 64);
  for (int k = 0; k < model->input_count; ++k) {
    void *data = aligned_alloc(64, ((size_t)model->inputs[k].bytes + 127) / 64 * 64);
    fill(&model->inputs[k], data, argc > 1 ? argv[1] : NULL);
    inputs[k] = data;
  }
  for (int k = 0; k < model->output_count; ++k) {
    outputs[k] = aligned_alloc(64, ((size_t)model->outputs[k].bytes + 127) / 64 * 64);
  }
  ingot_pool *two = ingot_pool_create(2), *three = ingot_pool_create(3);
  ingot_exec split = {NULL, oneThread, backwards};
  ingot_exec pools[2] = {{(void *)ingot_pool_exec(two), countedThreads, counted},
                         {(void *)ingot_pool_exec(three), countedThreads, counted}};
  const ingot_exec *hosts[] = {NULL, &split, &pools[0], &pools[1]};
  const char *names[] = {"caller", "backwards", "two", "three"};
  for (int h = 0; h < 4; ++h) {
    memset(workspace, 0xFF, (size_t)model->workspace_bytes);
    loops = 0;
    int status = model->run(inputs, outputs, NULL, workspace, hosts[h]);
    uint64_t hash = 14695981039346656037U;
    for (int k = 0; k < model->output_count && status == 0; ++k) {
      for (int64_t i = 0; i < model->outputs[k].bytes; ++i) {
        hash = (hash ^ ((unsigned char *)outputs[k])[i]) * 1099511628211U;
      }
    }
    char text[256] = "ok";
    if (status != 0) {
      ingot_error_text(model, status, text, sizeof text);
    }
    printf("%s\t%d\t%016llx\t%s\n", names[h], loops, (unsigned long long)hash, text);
  }
  ingot_pool_destroy(two);
  ingot_pool_destroy(three);
  return 0;
}
