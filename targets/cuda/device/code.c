/* Chooses the image that is for the GPU and makes its kernels ready. An image is PTX, which the driver compiles for
 * this GPU or one that is newer than what it was made for; or machine code (an ELF file), which runs on the GPUs of one
 * generation only. Both may be packed. */
#include "device.h"
#include "unpack.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads "sm_90" as 90; `exact` becomes whether it is for that GPU alone ("sm_90a"). It is 0 for other texts. */
static int architectureOf(const char *target, int *exact) {
  if (strncmp(target, "sm_", 3) != 0) {
    return 0;
  }
  char *end;
  long number = strtol(target + 3, &end, 10);
  *exact = *end != 0;
  return number > 0 && number < 10000 ? (int)number : 0;
}

static int isMachineCode(const ingot_image *image) {
  return ingot_cuda_is_packed(image) ? ingot_cuda_is_packed_elf(image)
                                     : image->size > 4 && !memcmp(image->bytes, "\177ELF", 4);
}

/* Returns how good an image is for the GPU: the newer the better, machine code before PTX; 0: it does not run there. */
static int fitness(const ingot_cuda *gpu, const ingot_image *image) {
  int exact = 0, own = gpu->major * 10 + gpu->minor, other = architectureOf(image->target, &exact);
  if (!image->bytes) {
    return 0;
  }
  if (gpu->driver.emulates) {
    return strcmp(image->target, "emulated") == 0;
  }
  if (other == 0 || other > own || (exact && other != own) || (isMachineCode(image) && other / 10 != gpu->major)) {
    return 0;
  }
  return 4 * other + 2 * exact + isMachineCode(image);
}

/* Writes that no image is for the GPU, and which ones there are. */
static int failWithoutImage(ingot_cuda *gpu, const ingot_device_info *info) {
  char architecture[16], all[512] = "";
  size_t length = 0;
  int runOnNewer = 0, exact = 0;
  ingot_cuda_architecture(gpu, architecture);
  for (int32_t i = 0; i < info->image_count && length < sizeof all; ++i) {
    length += (size_t)snprintf(all + length, sizeof all - length, "%s%s", i ? ", " : "", info->images[i].target);
    runOnNewer |= architectureOf(info->images[i].target, &exact) && !exact;
  }
  return ingot_cuda_fail(
      gpu, "the model has no code for this GPU, which is %s: its code is for %s%s; compile it with --target cuda:%s",
      architecture, info->image_count ? all : "none", runOnNewer ? " and newer GPUs" : " alone", architecture);
}

/* Loads an image; `made` gets the module, and what its kernels do with memory. */
static int loadModule(ingot_cuda *gpu, const ingot_device_info *info, const ingot_image *image, ingot_cuda_code *made) {
  char log[512] = "";
  int options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES};
  void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
  ingot_cuda_unpacked unpacked = {NULL, NULL};
  if (ingot_cuda_is_packed(image)) {
    unpacked = ingot_cuda_unpack(info, image);
    if (!unpacked.image) {
      return ingot_cuda_fail(
          gpu, "the model's code for %s cannot be unpacked: it is damaged, or the host has no memory left",
          image->target);
    }
  }
  const void *code = unpacked.image ? unpacked.image : image->bytes;
  cuda_result result = gpu->driver.moduleLoadData(&made->module, code, 2, options, values);
  free(unpacked.image);
  made->uses = unpacked.uses;
  char what[768];
  snprintf(what, sizeof what, "the driver does not take the model's code for %s%s%s", image->target,
           log[0] ? ", because of " : "", log);
  return ingot_cuda_check(gpu, what, result);
}

/* Finds the functions, and asks for what they need beyond what every kernel may have. */
static int findKernels(ingot_cuda *gpu, const ingot_device_info *info, ingot_cuda_code *code) {
  int status = 0;
  const uint64_t *uses = code->uses;
  for (int32_t i = 0; !status && i < info->kernel_count; ++i) {
    const ingot_kernel *kernel = &info->kernels[i];
    char what[256];
    snprintf(what, sizeof what, "the model's code has no kernel %.180s", kernel->name);
    ingot_cuda_function *made = &code->functions[i];
    status = ingot_cuda_check(gpu, what, gpu->driver.moduleGetFunction(&made->function, code->module, kernel->name));
    made->uses = uses;
    uses = uses ? uses + 1 + *uses : NULL;
    if (!status && kernel->shared_bytes > CUDA_SHARED_BYTES_BY_DEFAULT) {
      snprintf(what, sizeof what, "kernel %.128s wants %d bytes of a block's memory", kernel->name,
               (int)kernel->shared_bytes);
      status = ingot_cuda_check(
          gpu, what,
          gpu->driver.functionSetAttribute(made->function, CUDA_MAX_DYNAMIC_SHARED_BYTES, kernel->shared_bytes));
    }
  }
  return status;
}

static int load(ingot_cuda *gpu, const ingot_device_info *info, ingot_cuda_code **code) {
  const ingot_image *best = NULL;
  for (int32_t i = 0; i < info->image_count; ++i) {
    const ingot_image *image = &info->images[i];
    best = fitness(gpu, image) > (best ? fitness(gpu, best) : 0) ? image : best;
  }
  if (!best) {
    return failWithoutImage(gpu, info);
  }
  ingot_cuda_code *made = calloc(1, sizeof *made + (size_t)info->kernel_count * sizeof *made->functions);
  if (!made) {
    return ingot_cuda_fail(gpu, "the host has no memory left for the model's kernels");
  }
  int status = loadModule(gpu, info, best, made);
  int isLoaded = !status;
  status = status ? status : findKernels(gpu, info, made);
  if (status) {
    if (isLoaded) {
      (void)gpu->driver.moduleUnload(made->module);
    }
    free(made->uses);
    free(made);
    return status;
  }
  *code = made;
  return 0;
}

int ingot_cuda_load(void *context, const ingot_device_info *info, void **code) {
  ingot_cuda *gpu = context;
  ingot_cuda_code *made = NULL;
  int status = ingot_cuda_enter(gpu);
  status = status ? status : ingot_cuda_leave(gpu, load(gpu, info, &made));
  *code = made;
  return status;
}

void ingot_cuda_unload(void *context, void *code) {
  ingot_cuda *gpu = context;
  ingot_cuda_code *made = code;
  if (!ingot_cuda_enter(gpu)) {
    ingot_cuda_release_pieces(gpu); /* graphs of its kernels, and at most some others that are made again */
    (void)ingot_cuda_leave(
        gpu, ingot_cuda_check(gpu, "the model's code cannot be unloaded", gpu->driver.moduleUnload(made->module)));
  }
  free(made->uses);
  free(made);
}
