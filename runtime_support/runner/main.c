/* ingot-runner runs a compiled model on the machine that it was compiled for, where the compiler is not: `ingot run`,
 * `verify` and `bench` start it with --runner, under an emulator or over a wire.
 *
 *   ingot-runner describe LIBRARY NAME REPLY            what the model NAME in LIBRARY says of itself
 *   ingot-runner run LIBRARY NAME REQUEST REPLY         a run, or many that are timed
 *
 * The reply begins with a text that is empty, or says why there is no more. Exit code 0: there is a reply. */
#include "runner.h"
#include <dlfcn.h>
#include <string.h>

static char problem[600];

/* Returns the model, or null and a sentence in `problem`. */
static const ingot_model *load(const char *library, const char *name) {
  char symbol[300];
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    snprintf(problem, sizeof problem, "cannot be loaded: %s", dlerror());
    return NULL;
  }
  snprintf(symbol, sizeof symbol, "%s_model", name);
  const ingot_model *(*get)(void);
  *(void **)&get = dlsym(handle, symbol);
  if (!get) {
    snprintf(problem, sizeof problem, "has no function %s", symbol);
    return NULL;
  }
  const ingot_model *model = get();
  if (model->abi != INGOT_ABI) {
    snprintf(problem, sizeof problem, "was compiled by another version of ingot (ABI %u, the runner has %d)",
             model->abi, INGOT_ABI);
    return NULL;
  }
  return model;
}

/* Begins a reply. */
static int begin(Stream *out, const char *path, const char *text) {
  out->file = fopen(path, "wb");
  if (!out->file) {
    return 0;
  }
  putWord(out, (int64_t)INGOT_RUNNER_MAGIC);
  putText(out, text);
  return 1;
}

static int end(Stream *out) {
  out->failed |= fclose(out->file) != 0;
  return out->failed;
}

static int describeTo(const ingot_model *model, const char *path) {
  Stream out = {NULL, 0};
  if (!begin(&out, path, problem)) {
    return 1;
  }
  if (model) {
    describe(model, &out);
  }
  return end(&out);
}

static int runTo(const ingot_model *model, const char *request, const char *path) {
  Stream in = {NULL, 0}, out = {NULL, 0};
  in.file = model ? fopen(request, "rb") : NULL;
  if (model && (!in.file || getWord(&in) != (int64_t)INGOT_RUNNER_MAGIC)) {
    snprintf(problem, sizeof problem, "was asked for something that this runner does not know");
  }
  if (!begin(&out, path, problem)) {
    return 1;
  }
  const char *failure = *problem ? NULL : execute(model, &in, &out);
  if (in.file) {
    fclose(in.file);
  }
  if (failure) {
    end(&out);
    return begin(&out, path, failure) ? end(&out) : 1;
  }
  return end(&out);
}

int main(int argc, char **argv) {
  int describes = argc == 5 && strcmp(argv[1], "describe") == 0, runs = argc == 6 && strcmp(argv[1], "run") == 0;
  if (!describes && !runs) {
    fprintf(stderr, "usage: ingot-runner describe LIBRARY NAME REPLY | run LIBRARY NAME REQUEST REPLY\n");
    return 1;
  }
  const ingot_model *model = load(argv[2], argv[3]);
  int failed = describes ? describeTo(model, argv[4]) : runTo(model, argv[4], argv[5]);
  if (failed) {
    fprintf(stderr, "ingot-runner: error: cannot write %s\n", argv[argc - 1]);
  }
  return failed;
}
