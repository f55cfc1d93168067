#include "edges_x86_64_v2.h"
#include "edges_x86_64_v3.h"
#include "external.h"
#include <stdio.h>

int main(void) {
  printf("%s %s %s\n", edges_x86_64_v2_model()->name, edges_x86_64_v3_model()->target, external_model()->name);
  return 0;
}
