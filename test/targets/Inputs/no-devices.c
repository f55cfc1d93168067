/* A run of a model that needs a device, by a caller who has none. */
#include "row.h"
#include <stdio.h>

int main(void) {
  static float x[ROW_X_ELEMENTS], y[ROW_Y_ELEMENTS];
  static int64_t i[ROW_I_ELEMENTS];
  char text[200];
  ingot_error_text(row_model(), row_run(x, i, y, 0, 0), text, sizeof text);
  puts(text);
  return 0;
}
