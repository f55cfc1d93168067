/* Declares the models of a kit (cuda_kit.c), which cuda_kit.py lists. */
#include "ingot_cuda.h"

typedef struct KitModel {
  const char *name;
  const ingot_model *(*model)(void);
  const ingot_model *(*host)(
      void); /* the same for the host alone; null where the results that are wanted are recorded */
} KitModel;

/* All models; the last one has no name. */
extern const KitModel kit_models[];
