#include "celsius.h"
#include <stdio.h>

int main(void) {
  float celsius[5] = {37, 37, 37, 37, 37}, fahrenheit[5] = {0};
  static _Alignas(CELSIUS_WORKSPACE_ALIGN) char workspace[CELSIUS_WORKSPACE_BYTES + 1];
  int status = celsius_run(celsius, fahrenheit, workspace, 0);
  printf("%d %.1f\n", status, fahrenheit[4]);
  return 0;
}
