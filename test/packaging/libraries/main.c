/* Runs what `ingot package` has written, on an emulated board (as C, and as C++ where it is a sketch for Arduino) or
 * under an emulator of Linux for RISC-V: first the example of the package, then both models on other numbers, whose
 * results it prints as bits. */
#ifdef __cplusplus
extern "C" {
#endif
#include "board.h"
int main(void);
#ifdef __cplusplus
}

static struct {
  void begin(long) {}
  void println(int status) { print_number((uint32_t)status), print(" is what the sketch says\n"); }
} Serial;
#endif

#define main example_main /* some examples are whole programs */
#include EXAMPLE
#undef main

#ifdef __riscv
static long system_call(long number, long a, const void *b, long c) {
  register long a0 __asm__("a0") = a, a1 __asm__("a1") = (long)b, a2 __asm__("a2") = c, a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return a0;
}
void print(const char *text) {
  long length = 0;
  while (text[length]) {
    ++length;
  }
  system_call(64, 1, text, length);
}
void print_bits(uint32_t bits) {
  char text[9] = {0};
  for (int i = 0; i < 8; ++i) {
    text[i] = "0123456789abcdef"[bits >> (28 - 4 * i) & 15];
  }
  print(text);
}
__asm__(".text\n.global _start\n_start:\n call start\n");
void start(void) {
  int status = main();
  system_call(93, status, 0, 0);
}
#endif

static void fill(float *values, int count) {
  for (int k = 0; k < count; ++k) {
    values[k] = (float)(k * 37 % 101 - 50) / 16;
  }
}

static void show(const char *name, const float *values, int count) {
  print(name);
  for (int k = 0; k < count; ++k) {
    union {
      float number;
      uint32_t bits;
    } both = {values[k]};
    print(" ");
    print_bits(both.bits);
  }
  print("\n");
}

int main(void) {
#ifdef __cplusplus
  setup();
#endif
  if (run_models()) {
    return 1;
  }
  fill(tensors_of_sine.x, SINE_X_ELEMENTS), fill(tensors_of_quantized.x, QUANTIZED_X_ELEMENTS);
  /* The checked entry of the support library, and the model's own. */
  static ingot_buffer in, out;
  in.data = tensors_of_sine.x, in.elements = SINE_X_ELEMENTS;
  out.data = tensors_of_sine.y, out.elements = SINE_Y_ELEMENTS;
  int status = ingot_run(sine_model(), &in, 1, &out, 1, 0, workspace_of_sine, SINE_WORKSPACE_BYTES, 0);
  status = status ? status : quantized_run(tensors_of_quantized.x, tensors_of_quantized.y, workspace_of_quantized, 0);
  show("sine", tensors_of_sine.y, SINE_Y_ELEMENTS), show("quantized", tensors_of_quantized.y, QUANTIZED_Y_ELEMENTS);
  return status;
}
