// Builds when the helpers need neither exceptions nor RTTI, and when they are included beside the C header.
#include "ingot.h"
#include "ingot.hpp"

bool headersInCpp(const ingot_model *model);
bool headersInCpp(const ingot_model *model) {
  float in[3] = {}, out[2] = {};
  ingot::ThreadPool pool;
  return ingot::Runner(model, pool.exec()).run({in}, {out}).ok();
}
