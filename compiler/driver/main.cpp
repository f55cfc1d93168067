// Runs the program `ingot`.
#include "compiler/driver/Driver.h"

int main(int argc, char **argv) { return ingot::driver::run(argc, argv); }
