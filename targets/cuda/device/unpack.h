/* Images that are packed (targets/cuda/Packing.h). */
#ifndef INGOT_CUDA_UNPACK_H
#define INGOT_CUDA_UNPACK_H

#include "ingot.h"

/* An image, and what its kernels do with memory: as many lists as the device has kernels. Both are memory of their own
 * (free). They are null where the bytes are damaged, or the host has no memory. */
typedef struct ingot_cuda_unpacked {
  char *image;
  uint64_t *uses;
} ingot_cuda_unpacked;

int ingot_cuda_is_packed(const ingot_image *image);
/* Whether an image that is packed is an ELF file. */
int ingot_cuda_is_packed_elf(const ingot_image *image);

/* Unpacks one of the images of `info`, which is packed. */
ingot_cuda_unpacked ingot_cuda_unpack(const ingot_device_info *info, const ingot_image *image);

#endif
