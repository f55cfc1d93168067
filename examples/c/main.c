/* Runs a model from plain C: no allocation, no initialisation, one call. Then the same through the checked entry, which
 * takes any model and turns mistakes into messages. */
#include "celsius.h"
#include "ingot.h"
#include <stdio.h>

static _Alignas(CELSIUS_WORKSPACE_ALIGN) unsigned char workspace[CELSIUS_WORKSPACE_BYTES + 1];

/* Prints what is wrong with a call, and returns the program's exit code. */
static int report(int status) {
  char text[256];
  ingot_error_text(celsius_model(), status, text, sizeof text);
  fprintf(stderr, "error: %s\n", text);
  return 1;
}

int main(void) {
  const float celsius[5] = {-40.0f, 0.0f, 21.5f, 37.0f, 100.0f};
  float fahrenheit[5];

  int status = celsius_run(celsius, fahrenheit, workspace, NULL);
  if (status) {
    return report(status);
  }
  for (int i = 0; i < 5; ++i) {
    printf("%5.1f C is %5.1f F\n", celsius[i], fahrenheit[i]);
  }

  ingot_buffer input = {(void *)celsius, 5}, output = {fahrenheit, 4}; /* one element short */
  status = ingot_run(celsius_model(), &input, 1, &output, 1, NULL, workspace, sizeof workspace, NULL);
  if (INGOT_STATUS_KIND(status) != INGOT_ERROR_COUNT) {
    fprintf(stderr, "the wrong size of the output was not noticed\n");
    return 1;
  }
  char text[256];
  ingot_error_text(celsius_model(), status, text, sizeof text);
  printf("with a wrong size: %s\n", text);
  return 0;
}
