/* Defines what the linker finds only in a support library of the version that a model was compiled for. */
#include "ingot.h"

const char INGOT_ABI_SYMBOL = 0;
