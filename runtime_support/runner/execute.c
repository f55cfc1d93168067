/* One run of a model, or many that are timed, on inputs from a file.
 *
 * in:  threads, level, seconds (0: one run), whether to take the time of each kernel, path of the weights, sizes of the
 * symbols, inputs (present, bytes) out: status, what was damaged, level that ran, threads, bytes of the workspace,
 * sizes, dims of all outputs, outputs (bytes), runs in a batch and the time of each batch; launches, runs, the calls of
 * each launch, the time of each run and of each launch in it
 *
 * A model that damages memory is found as in the driver: by guards behind all that it may write. */
#include "measure.h"
#include "profile.h"
#include "runner.h"
#include <stdlib.h>
#include <string.h>

/* Memory that a run asked for and holds. */
typedef struct Block {
  struct Block *next;
  void *memory;
  int64_t bytes;
} Block;

typedef struct Execution {
  const ingot_model *model;
  ingot_exec exec;
  ingot_pool *pool;
  ingot_weights weights;
  ingot_reader reader; /* of a model that streams them */
  /* Values of the symbols; dims of all outputs as planned, and as the last run left them. */
  int64_t *sizes, *planned, *dims;
  int32_t axes;
  ingot_buffer *inputs, *outputs;
  void **given; /* the memory that the last run gave to outputs that it allocates */
  void *workspace;
  int64_t workspaceBytes;
  Block *held;
  int overrun; /* whether the run wrote behind a block that was released */
} Execution;

static void *hostAllocate(void *self, int64_t bytes, int64_t align, int32_t output) {
  Execution *e = self;
  Block *b = malloc(sizeof *b);
  void *memory = b ? guardedNew(bytes, align) : NULL;
  (void)output;
  if (!memory) {
    free(b);
    return NULL;
  }
  *b = (Block){e->held, memory, bytes};
  e->held = b;
  return memory;
}

static void hostRelease(void *self, void *memory) {
  Execution *e = self;
  for (Block **link = &e->held; *link; link = &(*link)->next) {
    Block *b = *link;
    if (b->memory == memory) {
      e->overrun |= !guardIsIntact(memory, b->bytes);
      *link = b->next;
      free(memory);
      free(b);
      return;
    }
  }
}

/* Returns the bytes of a tensor of `rank` sizes; -1 where they are more than any machine has. */
static int64_t bytesOf(const int64_t *dims, int32_t rank, int32_t type) {
  int64_t bytes = (int64_t)ingot_type_bytes(type), limit = (int64_t)1 << 46;
  for (int32_t axis = 0; axis < rank; ++axis) {
    if (dims[axis] == 0) {
      return 0;
    }
  }
  for (int32_t axis = 0; axis < rank; ++axis) {
    bytes = bytes < 0 || dims[axis] < 0 || bytes > limit / dims[axis] ? -1 : bytes * dims[axis];
  }
  int64_t pack = ingot_type_pack(type);
  return bytes < 0 ? -1 : (bytes + pack - 1) / pack;
}

static int runOnce(void *self) {
  Execution *e = self;
  const ingot_model *m = e->model;
  for (int32_t i = 0; i < m->output_count; ++i) {
    if (e->given[i]) {
      hostRelease(e, e->given[i]);
      e->given[i] = NULL;
    }
  }
  int status = ingot_run(m, e->inputs, m->input_count, e->outputs, m->output_count, e->sizes, e->workspace,
                         (size_t)e->workspaceBytes, &e->exec);
  memcpy(e->dims, e->planned, (size_t)e->axes * sizeof *e->dims);
  if (!status) {
    ingot_found_dims(m, e->sizes, e->dims);
  }
  return status;
}

static const char *readInputs(Execution *e, Stream *in) {
  const ingot_model *m = e->model;
  for (int32_t i = 0; i < m->input_count; ++i) {
    int64_t present = getWord(in), bytes = getWord(in), size = (int64_t)ingot_type_bytes(m->inputs[i].type);
    if (in->failed || size == 0) {
      return "the request is cut short";
    }
    void *data = present ? guardedNew(bytes, 64) : NULL;
    if (present && !data) {
      return "there is no memory for the inputs";
    }
    getBytes(in, data, bytes);
    e->inputs[i] = (ingot_buffer){data, bytes / size};
  }
  return in->failed ? "the request is cut short" : NULL;
}

/* Makes outputs and workspace for the sizes of the run, as ingot_plan has computed them. */
static const char *makeOutputs(Execution *e) {
  const ingot_model *m = e->model;
  const int64_t *dims = e->planned;
  for (int32_t i = 0; i < m->output_count; ++i) {
    const ingot_tensor_info *info = &m->outputs[i];
    if (info->flags & INGOT_TENSOR_ALLOCATED) {
      e->outputs[i] = (ingot_buffer){&e->given[i], 0};
    } else {
      int64_t bytes = bytesOf(dims, info->rank, info->type);
      e->outputs[i] = (ingot_buffer){guardedNew(bytes, 64), bytes / (int64_t)ingot_type_bytes(info->type)};
    }
    if (!e->outputs[i].data) {
      return "there is no memory for the outputs";
    }
    dims += info->rank;
  }
  int64_t align = m->workspace_align > 64 ? m->workspace_align : 64;
  e->workspace = guardedNew(e->workspaceBytes, align);
  return e->workspace ? NULL : "there is no memory for the workspace";
}

/* Writes a text about what was written where it may not be, or nothing. */
static void putDamage(const Execution *e, Stream *out) {
  const ingot_model *m = e->model;
  int64_t held = 0, given = 0;
  int overrun = e->overrun;
  char text[600] = "";
  for (const Block *b = e->held; b; b = b->next) {
    overrun |= !guardIsIntact(b->memory, b->bytes);
    ++held;
  }
  for (int32_t i = 0; i < m->output_count; ++i) {
    given += e->given[i] != NULL;
  }
  if (overrun || held != given) {
    snprintf(text, sizeof text, "%s memory that it asked for", overrun ? "wrote behind" : "kept");
  }
  for (int32_t i = 0; i < m->output_count && !*text; ++i) {
    const ingot_buffer *buffer = &e->outputs[i];
    int64_t size = (int64_t)ingot_type_bytes(m->outputs[i].type);
    if (!(m->outputs[i].flags & INGOT_TENSOR_ALLOCATED) && !guardIsIntact(buffer->data, buffer->elements * size)) {
      snprintf(text, sizeof text, "wrote behind its output '%s'", m->outputs[i].name);
    }
  }
  if (!*text && !guardIsIntact(e->workspace, e->workspaceBytes)) {
    snprintf(text, sizeof text, "wrote behind its workspace");
  }
  putText(out, text);
}

static void putProfile(const ingot_profile *profile, Stream *out) {
  putWord(out, profile->launches);
  putWord(out, profile->runs);
  for (int32_t i = 0; i < profile->launches; ++i) {
    putWord(out, profile->calls[i]);
  }
  for (int64_t run = 0; run < profile->runs; ++run) {
    putReal(out, profile->run_seconds[run]);
    for (int32_t i = 0; i < profile->launches; ++i) {
      putReal(out, profile->launch_seconds[run * profile->launches + i]);
    }
  }
}

static void putResult(const Execution *e, int status, const ingot_samples *samples, Stream *out) {
  const ingot_model *m = e->model;
  putWord(out, status);
  e->workspace ? putDamage(e, out) : putText(out, "");
  putWord(out, ingot_model_level(m, &e->exec));
  putWord(out, e->exec.threads ? e->exec.threads(e->exec.context) : 1);
  putWord(out, e->workspaceBytes);
  for (int32_t i = 0; i < m->symbol_count + m->found_count; ++i) {
    putWord(out, e->sizes[i]);
  }
  const int64_t *dims = e->dims;
  for (int32_t i = 0; i < m->output_count && !status; ++i) {
    const ingot_tensor_info *info = &m->outputs[i];
    for (int32_t axis = 0; axis < info->rank; ++axis) {
      putWord(out, dims[axis]);
    }
    putBytes(out, e->given[i] ? e->given[i] : e->outputs[i].data, bytesOf(dims, info->rank, info->type));
    dims += info->rank;
  }
  putWord(out, samples->batch);
  putWord(out, (int64_t)samples->count);
  for (size_t i = 0; i < samples->count; ++i) {
    putReal(out, samples->seconds[i]);
  }
}

/* Returns zeroed room for `count` things, and for one at least, since null is a failure. */
static void *zeros(int64_t count, size_t bytes) { return calloc((size_t)count + 1, bytes); }

static const char *prepare(Execution *e, Stream *in) {
  const ingot_model *m = e->model;
  for (int32_t i = 0; i < m->output_count; ++i) {
    e->axes += m->outputs[i].rank;
  }
  e->sizes = zeros((int64_t)m->symbol_count + m->found_count, sizeof *e->sizes);
  e->planned = zeros(e->axes, sizeof *e->planned), e->dims = zeros(e->axes, sizeof *e->dims);
  e->inputs = zeros(m->input_count, sizeof *e->inputs), e->outputs = zeros(m->output_count, sizeof *e->outputs);
  e->given = zeros(m->output_count, sizeof *e->given);
  if (!e->sizes || !e->planned || !e->dims || !e->inputs || !e->outputs || !e->given) {
    return "there is no memory";
  }
  for (int32_t i = 0; i < m->symbol_count; ++i) {
    e->sizes[i] = getWord(in);
  }
  return readInputs(e, in);
}

const char *execute(const ingot_model *model, Stream *in, Stream *out) {
  Execution e = {.model = model};
  ingot_samples samples = {NULL, 0, 1};
  int64_t threads = getWord(in), level = getWord(in);
  double seconds = getReal(in);
  int profiles = getWord(in) != 0;
  ingot_profile profile = {0};
  char *weights = getText(in);
  const char *problem = in->failed ? "the request is cut short" : prepare(&e, in);
  int status = 0;
  if (!problem && threads != 1 && (e.pool = ingot_pool_create((int)threads))) {
    e.exec = *ingot_pool_exec(e.pool);
  }
  e.exec.level = (int32_t)level;
  e.exec.allocator = &e, e.exec.allocate = hostAllocate, e.exec.release = hostRelease;
  if (!problem && ingot_weights_load(model, weights, &e.weights)) {
    problem = "the weights beside the library are missing or are not the model's";
  }
  e.exec.weights = ingot_weights_for(model, &e.weights, &e.reader);
  if (!problem) {
    status = ingot_plan(model, e.sizes, e.planned, &e.workspaceBytes);
    problem = status ? NULL : makeOutputs(&e);
  }
  ingot_exec plain = e.exec;
  if (profiles) {
    ingot_profile_begin(&profile, &plain);
    e.exec = profile.exec;
  }
  if (!problem) {
    status = status        ? status
             : profiles    ? ingot_profile_measure(&profile, runOnce, &e, seconds)
             : seconds > 0 ? ingot_measure(runOnce, &e, seconds, &samples)
                           : runOnce(&e);
    problem = status == -1 ? "there is no memory to measure" : NULL;
  }
  if (!problem) {
    putResult(&e, status, &samples, out);
    putProfile(&profile, out);
  }
  ingot_profile_end(&profile);
  free(samples.seconds), free(weights);
  ingot_weights_unmap(&e.weights);
  ingot_pool_destroy(e.pool);
  return problem; /* the process ends next, and its memory with it */
}
