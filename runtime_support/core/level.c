/* Decides which of a model's variants a machine can run. The file of the architecture (level_*.c) asks what the
 * machine is, once. The answer is kept in one word that any thread may write, always with the same value, so there
 * is no lock, and nothing that has to run before main. */
#include "level.h"
#include "word.h"

#if !defined(__x86_64__) && !defined(_M_X64) && !defined(__aarch64__) && !defined(_M_ARM64)
int ingot_ask_level(void) { return 0; }
#endif

static int machineLevel = -1; /* not asked yet */

int ingot_machine_level(void) {
  int level = ingot_word(&machineLevel);
  if (level < 0) {
    level = ingot_ask_level();
    ingot_set_word(&machineLevel, level);
  }
  return level;
}

int ingot_run_level(const ingot_exec *exec) {
  int level = ingot_machine_level();
  return exec && exec->level && exec->level < level ? exec->level : level;
}

int ingot_model_level(const ingot_model *model, const ingot_exec *exec) {
  int level = model->level_count > 0 ? ingot_run_level(exec) : 0;
  for (int32_t i = 0; i < model->level_count; ++i) {
    if (model->levels[i] <= level) {
      return model->levels[i];
    }
  }
  return model->level_count > 0 ? -INGOT_ERROR_TARGET : 0;
}
