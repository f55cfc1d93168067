/* Compares the results of vector-ops.mlir with the answers in C. */
#include "ingot.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

int ops_run(const float *x, const int32_t *i, float *y, void *workspace, const ingot_exec *exec);

static float x[256], y[1024];
static int failures;

static void expect(const char *what, int at, int index, float wanted) {
  if (y[at + index] != wanted) {
    printf("%s[%d] is %g, should be %g\n", what, index, y[at + index], wanted);
    ++failures;
  }
}

static void expectTranspose(int at, int size) {
  for (int i = 0; i < size * size; ++i) {
    expect("transpose", at, i, x[(i % size) * size + i / size]);
  }
}

static float bfloat(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
  memcpy(&value, &bits, 4);
  return value;
}

int main(void) {
  int32_t index[16];
  float sum = 0, half[2] = {0, 0};
  for (int i = 0; i < 256; ++i) {
    x[i] = (float)(i * 31 % 64 - 29) * 0.75f;
  }
  for (int i = 0; i < 1024; ++i) {
    y[i] = -1000;
  }
  for (int i = 0; i < 16; ++i) {
    index[i] = (i * 7 + 5) % 32;
    sum += x[i];
    half[i / 8] += x[i];
  }
  if (ops_run(x, index, y, 0, 0) != 0) {
    return 1;
  }
  expectTranspose(0, 4);
  expectTranspose(16, 8);
  expectTranspose(80, 16);
  float largest = x[0];
  for (int i = 0; i < 16; ++i) {
    expect("masks", 336, i, i < 13 ? x[3 + i] : -1000);
    expect("gathers", 352, index[i], x[index[i]]);
    largest = x[i] > largest ? x[i] : largest;
  }
  expect("sum", 400, 0, sum);
  expect("max", 400, 1, largest);
  expect("rows", 400, 2, half[0]);
  expect("rows", 400, 3, half[1]);
  for (int i = 0; i < 8; ++i) {
    expect("bfloat", 416, i, bfloat(x[i]));
    expect("rounding", 424, i, rintf(x[i]) + floorf(x[i]) + roundf(x[i]));
    expect("division", 432, i, (float)floor(trunc(x[i]) / 3));
    expect("interleave", 440, i, -x[i]);
    expect("step", 448, i, (float)i);
  }
  return failures != 0;
}
