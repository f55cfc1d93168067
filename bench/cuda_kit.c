/* Checks and times compiled models on the GPU of this machine, and prints one table (bench/cuda_kit.py makes the
 * program and the files that it reads; libcuda is all that it needs of CUDA). Each model runs in a process of its own:
 * what a model does to the GPU, or how long it takes, is no matter to the others.
 *
 *   kit FOLDER [SECONDS [NAME]]      FOLDER/NAME.case for each model; no model begins after so many seconds
 *
 * A case is words of 8 bytes: how large an error may be (two doubles: of the largest value of its output, and of each),
 * floating- point operations and bytes that the model's one kernel has to move (0: it is no such model), then each
 * input and each wanted output: rank (-1: left out), sizes, bytes, whether they follow, and then these, up to a
 * multiple of 8. An input that does not follow is drawn; a wanted output of no rank (-1) is computed by the host's code
 * of the same model. */
#define _GNU_SOURCE
#include "cuda_kit.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_TENSORS = 256, MOST_RUNS = 400, CASE_SECONDS = 60, WHY_BYTES = 200, ALIGN = 64 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What a child tells of its model. */
typedef struct Result {
  double error; /* as a part of the largest value of the output that is worst */
  double graphSeconds, singleSeconds, gpuSeconds;
  double operations, bytes;
  int64_t copied, launches; /* bytes, and kernels, of one run */
  int isRight, hasEnded;
  char why[WHY_BYTES];
} Result;

/* The file of a case. */

typedef struct Tensor {
  int64_t rank, bytes;
  const int64_t *dims;
  void *data;
} Tensor;

typedef struct Case {
  double absolute, relative, operations, bytes;
  Tensor inputs[MOST_TENSORS], outputs[MOST_TENSORS];
} Case;

static int64_t takeWord(char **at) {
  int64_t word;
  memcpy(&word, *at, sizeof word);
  *at += sizeof word;
  return word;
}

static double takeReal(char **at) {
  int64_t word = takeWord(at);
  double real;
  memcpy(&real, &word, sizeof real);
  return real;
}

static Tensor takeTensor(char **at) {
  Tensor t = {.rank = takeWord(at)};
  if (t.rank >= 0) {
    t.dims = (const int64_t *)(void *)*at;
    *at += 8 * t.rank;
    t.bytes = takeWord(at);
    int64_t follows = takeWord(at);
    t.data = follows ? *at : NULL;
    *at += follows ? (t.bytes + 7) / 8 * 8 : 0;
  }
  return t;
}

/* Draws numbers that all floats hold: eighths from -2 to 2, or whole ones from 0 to 7. */
static void draw(Tensor *t, int32_t type) {
  static uint64_t state = 1;
  int64_t size = (int64_t)ingot_type_bytes(type);
  t->data = malloc((size_t)t->bytes + 8);
  for (int64_t i = 0; t->data && i < t->bytes / size; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    int64_t number = (int64_t)(state >> 61);
    float real = (float)((int)(state >> 59) - 16) / 8;
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    uint32_t exponent = bits >> 23 & 0xff;
    uint16_t half = (uint16_t)(bits >> 16 & 0x8000), brain = (uint16_t)(bits >> 16);
    half = exponent ? (uint16_t)(half | (exponent - 112) << 10 | (bits >> 13 & 0x3ff)) : half;
    const void *from = type == INGOT_FLOAT32    ? (const void *)&real
                       : type == INGOT_FLOAT16  ? (const void *)&half
                       : type == INGOT_BFLOAT16 ? (const void *)&brain
                                                : (const void *)&number;
    memcpy((char *)t->data + i * size, from, (size_t)size);
  }
}

static const char *readCase(const char *folder, const char *name, const ingot_model *model, Case *c) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.case", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) {
    return "its case cannot be read";
  }
  long bytes = ftell(file);
  char *at = malloc((size_t)bytes + 8);
  rewind(file);
  if (!at || fread(at, 1, (size_t)bytes, file) != (size_t)bytes) {
    return "its case cannot be read";
  }
  fclose(file);
  c->absolute = takeReal(&at), c->relative = takeReal(&at);
  c->operations = takeReal(&at), c->bytes = takeReal(&at);
  for (int32_t i = 0; i < model->input_count; ++i) {
    c->inputs[i] = takeTensor(&at);
    if (c->inputs[i].rank >= 0 && !c->inputs[i].data) {
      draw(&c->inputs[i], model->inputs[i].type);
    }
  }
  for (int32_t i = 0; i < model->output_count; ++i) {
    c->outputs[i] = takeTensor(&at);
  }
  return NULL;
}

/* A device that counts what a run has it do. */

typedef struct Counter {
  const ingot_device *device;
  int64_t copied, launches;
} Counter;

static int countUpload(void *context, void *to, const void *from, int64_t bytes) {
  Counter *counter = context;
  counter->copied += bytes;
  return counter->device->upload(counter->device->context, to, from, bytes);
}
static int countDownload(void *context, void *to, const void *from, int64_t bytes) {
  Counter *counter = context;
  counter->copied += bytes;
  return counter->device->download(counter->device->context, to, from, bytes);
}
static int countLaunch(void *context, const ingot_launch *launch) {
  Counter *counter = context;
  ++counter->launches;
  return counter->device->launch(counter->device->context, launch);
}
static void *passAllocate(void *context, int64_t bytes, int64_t align) {
  const ingot_device *device = ((Counter *)context)->device;
  return device->allocate(device->context, bytes, align);
}
static void passRelease(void *context, void *memory) {
  const ingot_device *device = ((Counter *)context)->device;
  device->release(device->context, memory);
}
static int passLoad(void *context, const ingot_device_info *info, void **code) {
  const ingot_device *device = ((Counter *)context)->device;
  return device->load(device->context, info, code);
}
static void passUnload(void *context, void *code) {
  const ingot_device *device = ((Counter *)context)->device;
  device->unload(device->context, code);
}
static int passWait(void *context) {
  const ingot_device *device = ((Counter *)context)->device;
  return device->wait(device->context);
}
static const char *passMessage(void *context) {
  const ingot_device *device = ((Counter *)context)->device;
  return device->message(device->context);
}

static ingot_device countedBy(Counter *counter) {
  return (ingot_device){counter,  passAllocate, passRelease, countUpload, countDownload,
                        passLoad, passUnload,   countLaunch, passWait,    passMessage};
}

/* The driver, where it is asked for more than the device does: a stream with events, which tell the GPU's own time. */

typedef struct Events {
  int (*create)(void **event, unsigned flags);
  int (*record)(void *event, void *stream);
  int (*synchronize)(void *event);
  int (*elapsed)(float *milliseconds, void *from, void *to);
  void *stream, *begin, *end;
} Events;

static void *symbol(void *library, const char *name) { return library ? dlsym(library, name) : NULL; }

static void *openDriver(void) {
  const char *path = getenv("INGOT_LIBCUDA");
  return dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
}

/* Makes a stream of the GPU's primary context; false where the driver has no events. The context stays current, as the
 * stream stays, until the process ends. */
static int makeEvents(Events *e) {
  void *library = openDriver(), *context = NULL;
  int device = 0;
  int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*push)(void *), (*make)(void **, unsigned);
  *(void **)&init = symbol(library, "cuInit"), *(void **)&get = symbol(library, "cuDeviceGet");
  *(void **)&retain = symbol(library, "cuDevicePrimaryCtxRetain");
  *(void **)&push = symbol(library, "cuCtxPushCurrent_v2"), *(void **)&make = symbol(library, "cuStreamCreate");
  *(void **)&e->create = symbol(library, "cuEventCreate"), *(void **)&e->record = symbol(library, "cuEventRecord");
  *(void **)&e->synchronize = symbol(library, "cuEventSynchronize");
  *(void **)&e->elapsed = symbol(library, "cuEventElapsedTime");
  return init && get && retain && push && make && e->create && e->record && e->synchronize && e->elapsed && !init(0) &&
         !get(&device, 0) && !retain(&context, device) && !push(context) && !make(&e->stream, 1) &&
         !e->create(&e->begin, 0) && !e->create(&e->end, 0);
}

/* One model on one open GPU. */

typedef struct Run {
  const ingot_model *model;
  Counter counter;
  ingot_device device;
  ingot_device_use use;
  ingot_exec exec;
  ingot_buffer inputs[MOST_TENSORS], outputs[MOST_TENSORS];
  void *given[MOST_TENSORS]; /* the memory of outputs to which the run gives it */
  int64_t *sizes, *planned, *dims;
  void *workspace;
  int64_t workspaceBytes;
} Run;

static int64_t elementsOf(const ingot_tensor_info *info, const int64_t *dims) {
  int64_t elements = 1;
  for (int32_t i = 0; i < info->rank; ++i) {
    elements *= dims[i];
  }
  int64_t pack = ingot_type_pack(info->type);
  return (elements + pack - 1) / pack;
}

static int64_t axesOf(const ingot_model *model) {
  int64_t axes = 0;
  for (int32_t i = 0; i < model->output_count; ++i) {
    axes += model->outputs[i].rank;
  }
  return axes;
}

/* Makes room for a tensor in the host's memory or, where the model has it there, in the device's. */
static void *place(Run *run, const ingot_tensor_info *info, int64_t bytes) {
  if (info->device) {
    return run->device.allocate(&run->counter, bytes + ALIGN, ALIGN);
  }
  return aligned_alloc(ALIGN, (size_t)(bytes / ALIGN + 1) * ALIGN);
}

static int prepare(Run *run, const Case *c) {
  const ingot_model *m = run->model;
  ingot_shape shapes[MOST_TENSORS];
  for (int32_t i = 0; i < m->input_count; ++i) {
    shapes[i] = (ingot_shape){c->inputs[i].dims, (int32_t)c->inputs[i].rank};
  }
  run->sizes = calloc((size_t)(m->symbol_count + m->found_count) + 1, sizeof *run->sizes);
  run->planned = calloc((size_t)axesOf(m) + 1, sizeof *run->planned);
  run->dims = calloc((size_t)axesOf(m) + 1, sizeof *run->dims);
  int status = ingot_bind(m, shapes, m->input_count, run->sizes);
  status = status ? status : ingot_plan(m, run->sizes, run->planned, &run->workspaceBytes);
  if (!status && m->device_count) {
    int64_t bytes = 0;
    status = ingot_device_bytes(m, run->sizes, 0, &bytes);
    status = status ? status : ingot_device_open(m, 0, bytes, NULL, &run->device, &run->use);
    run->exec.devices = &run->use;
  }
  run->exec.allocate = ingot_heap_allocate, run->exec.release = ingot_heap_release;
  for (int32_t i = 0; !status && i < m->input_count; ++i) {
    const Tensor *t = &c->inputs[i];
    int64_t size = (int64_t)ingot_type_bytes(m->inputs[i].type);
    void *data = t->rank < 0 ? NULL : place(run, &m->inputs[i], t->bytes);
    if (data && m->inputs[i].device) {
      status = run->device.upload(&run->counter, data, t->data, t->bytes);
    } else if (data) {
      memcpy(data, t->data, (size_t)t->bytes);
    }
    run->inputs[i] = (ingot_buffer){data, t->rank < 0 ? 0 : t->bytes / size};
  }
  const int64_t *dims = run->planned;
  for (int32_t i = 0; !status && i < m->output_count; dims += m->outputs[i++].rank) {
    const ingot_tensor_info *info = &m->outputs[i];
    int64_t elements = elementsOf(info, dims), size = (int64_t)ingot_type_bytes(info->type);
    run->outputs[i] = info->flags & INGOT_TENSOR_ALLOCATED
                          ? (ingot_buffer){&run->given[i], 0}
                          : (ingot_buffer){place(run, info, elements * size), elements};
  }
  run->workspace = aligned_alloc(4096, (size_t)(run->workspaceBytes / 4096 + 1) * 4096);
  return status;
}

static int runOnce(Run *run) {
  const ingot_model *m = run->model;
  for (int32_t i = 0; i < m->output_count; ++i) {
    free(run->given[i]);
    run->given[i] = NULL;
  }
  return ingot_run(m, run->inputs, m->input_count, run->outputs, m->output_count, run->sizes, run->workspace,
                   (size_t)run->workspaceBytes, &run->exec);
}

/* Returns an output in the host's memory, with its sizes in `dims`. */
static void *fetch(Run *run, int32_t number, const int64_t **dims) {
  const ingot_tensor_info *info = &run->model->outputs[number];
  memcpy(run->dims, run->planned, (size_t)axesOf(run->model) * sizeof *run->dims);
  ingot_found_dims(run->model, run->sizes, run->dims);
  *dims = run->dims;
  for (int32_t i = 0; i < number; ++i) {
    *dims += run->model->outputs[i].rank;
  }
  if (!info->device) {
    return run->given[number] ? run->given[number] : run->outputs[number].data;
  }
  int64_t bytes = elementsOf(info, *dims) * (int64_t)ingot_type_bytes(info->type);
  void *here = malloc((size_t)bytes + 1);
  int status = run->device.download(&run->counter, here, run->outputs[number].data, bytes);
  return status || run->device.wait(&run->counter) ? NULL : here;
}

/* Comparison. */

static double halfAt(const uint16_t *from, int64_t i, int exponentBits) {
  uint16_t bits = from[i];
  int fraction = 15 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
  int exponent = (bits & 0x7fff) >> fraction, rest = bits & ((1 << fraction) - 1);
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponentBits) - 1) {
    return rest ? NAN : sign * INFINITY;
  }
  double whole = exponent ? 1 + ldexp(rest, -fraction) : ldexp(rest, -fraction);
  return sign * ldexp(whole, (exponent ? exponent : 1) - bias);
}

static double floatAt(const void *from, int64_t i, int32_t type) {
  return type == INGOT_FLOAT32   ? ((const float *)from)[i]
         : type == INGOT_FLOAT64 ? ((const double *)from)[i]
                                 : halfAt(from, i, type == INGOT_FLOAT16 ? 5 : 8);
}

static int isFloat(int32_t type) {
  return type == INGOT_FLOAT32 || type == INGOT_FLOAT64 || type == INGOT_FLOAT16 || type == INGOT_BFLOAT16;
}

/* Compares floats, which have to be within a part of the largest value and of each; what is not finite has to be the
 * same. */
static int areClose(const void *got, const void *want, int64_t n, int32_t type, const Case *c, double *error) {
  double largest = 0, worst = 0;
  int isClose = 1;
  for (int64_t i = 0; i < n; ++i) {
    double w = floatAt(want, i, type);
    largest = isfinite(w) ? fmax(largest, fabs(w)) : largest;
  }
  for (int64_t i = 0; i < n; ++i) {
    double g = floatAt(got, i, type), w = floatAt(want, i, type);
    if (isfinite(g) && isfinite(w)) {
      worst = fmax(worst, fabs(g - w));
      isClose &= fabs(g - w) <= c->absolute * largest + c->relative * fabs(w);
    } else {
      isClose &= (isnan(g) && isnan(w)) || g == w;
    }
  }
  *error = largest > 0 ? worst / largest : worst;
  return isClose;
}

static int isWanted(Run *run, Run *host, const Case *c, int32_t number, double *error) {
  const ingot_tensor_info *info = &run->model->outputs[number];
  const Tensor *wanted = &c->outputs[number];
  const int64_t *dims, *wantedDims = wanted->dims;
  const void *got = fetch(run, number, &dims),
             *want = wanted->rank < 0 ? fetch(host, number, &wantedDims) : wanted->data;
  if (!got || !want || memcmp(dims, wantedDims, (size_t)info->rank * sizeof *dims) != 0) {
    return 0;
  }
  int64_t n = elementsOf(info, dims);
  if (isFloat(info->type)) {
    return areClose(got, want, n, info->type, c, error);
  }
  int same = memcmp(got, want, (size_t)n * ingot_type_bytes(info->type)) == 0;
  *error = same ? 0 : 1;
  return same;
}

/* Times. */

static int compareReals(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Returns the median of runs for some tenths of a second, five at least; negative where one fails. With events it is
 * the GPU's own time. */
static double measure(Run *run, double seconds, const Events *events) {
  double times[MOST_RUNS], end = now() + seconds;
  int count = 0;
  while (count < MOST_RUNS && (count < 5 || now() < end)) {
    double begin = now();
    float milliseconds = 0;
    int status = events ? events->record(events->begin, events->stream) : 0;
    status = status ? status : runOnce(run);
    status = status || !events ? status : events->record(events->end, events->stream);
    status = status || !events ? status : events->synchronize(events->end);
    status = status || !events ? status : events->elapsed(&milliseconds, events->begin, events->end);
    if (status) {
      return -1;
    }
    times[count++] = events ? 1e-3 * (double)milliseconds : now() - begin;
  }
  qsort(times, (size_t)count, sizeof *times, compareReals);
  return times[count / 2];
}

static void say(Result *result, const Run *run, int status) {
  ingot_error_text(run->model, status, result->why, sizeof result->why);
  const char *more = INGOT_STATUS_KIND(status) == INGOT_ERROR_DEVICE && run->device.message
                         ? run->device.message((void *)&run->counter)
                         : NULL;
  if (more) {
    snprintf(result->why, sizeof result->why, "%.190s", more);
  }
}

/* Opens the GPU and prepares a run there; 0, or the reason is in the result. */
static int begin(Run *run, const KitModel *kit, const Case *c, const ingot_cuda_settings *settings, Result *result) {
  ingot_cuda *gpu;
  char why[INGOT_CUDA_WHY_BYTES];
  run->model = kit->model();
  if (ingot_cuda_open(settings, &gpu, why, sizeof why)) {
    snprintf(result->why, sizeof result->why, "%.190s", why);
    return 1;
  }
  run->counter.device = ingot_cuda_device(gpu);
  run->device = countedBy(&run->counter);
  int status = prepare(run, c);
  if (status) {
    say(result, run, status);
  }
  return status;
}

/* Runs the host's code, where there is some; 0, or the reason is in the result. */
static int runOnHost(Run *host, const KitModel *kit, const Case *c, Result *result) {
  if (!kit->host) {
    return 0;
  }
  host->model = kit->host();
  int status = prepare(host, c);
  status = status ? status : runOnce(host);
  if (status) {
    say(result, host, status);
  }
  return status;
}

static void check(Run *run, Run *host, const Case *c, Result *result) {
  result->isRight = 1;
  for (int32_t i = 0; i < run->model->output_count; ++i) {
    double error = 0;
    result->isRight &= isWanted(run, host, c, i, &error);
    result->error = fmax(result->error, error);
  }
  snprintf(result->why, sizeof result->why, "%s", result->isRight ? "" : "other results than wanted");
}

static void tryModel(const char *folder, const KitModel *kit, double seconds, Result *result) {
  static Case c;
  static Run run, single, host;
  Events events;
  ingot_cuda_settings settings = {0}, alone = {.flags = INGOT_CUDA_NO_GRAPHS};
  const char *problem = readCase(folder, kit->name, kit->model(), &c);
  if (problem) {
    snprintf(result->why, sizeof result->why, "%s", problem);
    return;
  }
  int hasEvents = makeEvents(&events);
  settings.stream = hasEvents ? events.stream : NULL;
  if (begin(&run, kit, &c, &settings, result) || runOnHost(&host, kit, &c, result)) {
    return;
  }
  /* The first run launches kernel by kernel, the second makes graphs: all three have to be right. */
  for (int i = 0; i < 3; ++i) {
    run.counter.copied = run.counter.launches = 0;
    int status = runOnce(&run);
    if (status) {
      say(result, &run, status);
      return;
    }
    result->copied = run.counter.copied, result->launches = run.counter.launches;
    check(&run, &host, &c, result);
    if (!result->isRight) {
      return;
    }
  }
  result->operations = c.operations, result->bytes = c.bytes;
  result->graphSeconds = measure(&run, seconds, NULL);
  result->gpuSeconds = hasEvents ? measure(&run, seconds, &events) : -1;
  if (!begin(&single, kit, &c, &alone, result)) {
    result->singleSeconds = measure(&single, seconds, NULL);
  }
}

/* Tries a model in a process of its own, which gets a minute. */
static Result resultOf(const char *folder, const KitModel *kit, double seconds) {
  Result result = {.why = "it ended without a word"};
  int pipeEnds[2], status = 0;
  if (pipe(pipeEnds)) {
    return result;
  }
  pid_t child = fork();
  if (child == 0) {
    alarm(CASE_SECONDS);
    tryModel(folder, kit, seconds, &result);
    result.hasEnded = 1;
    _exit(write(pipeEnds[1], &result, sizeof result) != (ssize_t)sizeof result);
  }
  close(pipeEnds[1]);
  Result told;
  if (child > 0 && read(pipeEnds[0], &told, sizeof told) == (ssize_t)sizeof told) {
    result = told;
  }
  close(pipeEnds[0]);
  waitpid(child, &status, 0);
  if (!result.hasEnded && WIFSIGNALED(status)) {
    int isLate = WTERMSIG(status) == SIGALRM;
    snprintf(result.why, sizeof result.why, isLate ? "more than %d s" : "signal %d",
             isLate ? CASE_SECONDS : WTERMSIG(status));
  }
  return result;
}

static void printTime(double seconds) {
  if (seconds > 0) {
    printf(" %10.4f", 1e3 * seconds);
  } else {
    printf(" %10s", "-");
  }
}

static void printRate(double amount, double seconds) {
  if (amount > 0 && seconds > 0) {
    printf(" %9.3g", amount / seconds);
  } else {
    printf(" %9s", "-");
  }
}

static void printRow(const char *name, const Result *r) {
  printf("%-28s %-5s %9.2g", name, r->isRight ? "right" : "WRONG", r->error);
  printTime(r->graphSeconds), printTime(r->singleSeconds), printTime(r->gpuSeconds);
  printf(" %12lld %8lld", (long long)r->copied, (long long)r->launches);
  double seconds = r->gpuSeconds > 0 ? r->gpuSeconds : r->graphSeconds;
  printRate(1e-9 * r->bytes, seconds), printRate(1e-12 * r->operations, seconds);
  printf("%s%s\n", *r->why ? "  " : "", r->why);
  fflush(stdout);
}

static void printHeader(void) {
  ingot_cuda *gpu;
  char why[INGOT_CUDA_WHY_BYTES], architecture[16] = "none", name[128] = "";
  pid_t child = fork(); /* the process that forks for each model must not have opened the GPU itself */
  if (child == 0) {
    if (ingot_cuda_open(NULL, &gpu, why, sizeof why)) {
      printf("no GPU: %s\n", why);
    } else {
      int (*getName)(char *, int, int);
      *(void **)&getName = symbol(openDriver(), "cuDeviceGetName");
      ingot_cuda_architecture(gpu, architecture);
      printf("GPU: %s %s\n", architecture, getName && !getName(name, sizeof name, 0) ? name : "");
    }
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  printf("%-28s %-5s %9s %10s %10s %10s %12s %8s %9s %9s\n", "model", "is", "error", "ms graph", "ms single",
         "ms on GPU", "bytes copied", "kernels", "GB/s", "TFLOP/s");
  fflush(stdout);
}

int main(int count, char **words) {
  double begin = now(), limit = count > 2 ? atof(words[2]) : 420;
  int wrong = 0, left = 0, tried = 0;
  if (count < 2) {
    fprintf(stderr, "kit FOLDER [SECONDS [NAME]]\n");
    return 2;
  }
  printHeader();
  for (const KitModel *kit = kit_models; kit->name; ++kit) {
    if (count > 3 && strcmp(words[3], kit->name) != 0) {
      continue;
    }
    if (now() - begin > limit - CASE_SECONDS && tried) {
      ++left;
      continue;
    }
    Result result = resultOf(words[1], kit, limit / 2000);
    printRow(kit->name, &result);
    wrong += !result.isRight;
    ++tried;
  }
  printf("%d models, %d wrong, %d left out for lack of time, %.0f s\n", tried, wrong, left, now() - begin);
  return wrong || left || !tried;
}
