/* Computes sines by the net of sine.onnx and prints their bits, with what the program takes of its board. */
#include "board.h"
#include "sine.h"

static _Alignas(SINE_WORKSPACE_ALIGN) unsigned char workspace[SINE_WORKSPACE_BYTES + 1];

static uint32_t bits_of(float x) {
  union {
    float number;
    uint32_t bits;
  } both = {x};
  return both.bits;
}

static void print_size(const char *what, uint32_t bytes) {
  print(what);
  print_number(bytes);
  print(" bytes\n");
}

int main(void) {
  uint32_t most = 0;
  for (int i = 0; i < 8; ++i) {
    float x = 0.75f * (float)i, y = 0;
    volatile char *top = paint_stack();
    int status = sine_run(&x, &y, workspace, 0);
    uint32_t used = painted_stack_used(top);
    most = used > most ? used : most;
    if (status) {
      return status;
    }
    print("sine ");
    print_bits(bits_of(x));
    print(" ");
    print_bits(bits_of(y));
    print("\n");
  }
  print_size("flash ", (uint32_t)(uintptr_t)flash_bytes);
  print_size("ram ", (uint32_t)(uintptr_t)ram_bytes);
  print_size("stack ", most);
  print_size("stack at most ", SINE_STACK_BYTES);
  return 0;
}
