/* Builds when ingot.h is strict C99. */
#include "ingot.h"

int headersInC(const ingot_model *model, void *workspace);
int headersInC(const ingot_model *model, void *workspace) {
  return ingot_run(model, 0, 0, 0, 0, 0, workspace, 0, 0) == INGOT_STATUS(INGOT_ERROR_NULL, -1);
}
