// A plugin for qemu (user mode and boards) that counts the instructions which a program executes, by function: where it
// ends, it writes a line "NAME COUNT" for each. bench/firmware.py compiles it and checks it with a loop of known
// length.
//
//   cc -shared -fPIC -O2 bench/count_instructions.c -o count.so
//   qemu-arm -cpu max -plugin ./count.so,out=counts PROGRAM
//
// An instruction that a condition skips counts as well, as it takes its cycle. Debian has no header of the interface;
// these are its declarations, as qemu's documentation has them.
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// NOLINTBEGIN(readability-identifier-naming): qemu's names
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t qemu_plugin_id_t;
enum { QEMU_PLUGIN_INLINE_ADD_U64 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t at);
const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int how, void *number, uint64_t add);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*)(qemu_plugin_id_t, void *), void *data);

int qemu_plugin_version = 1;
// NOLINTEND(readability-identifier-naming)

typedef struct {
  char name[120];
  uint64_t count;
} row;

enum { MOST = 4096 };
static row rows[MOST];
static size_t used;
static const char *path;

static row *rowOf(const char *name) {
  size_t i = 0;
  while (i < used && strncmp(rows[i].name, name, sizeof rows[i].name - 1) != 0) {
    ++i;
  }
  if (i == MOST) {
    abort();
  }
  if (i == used) {
    strncpy(rows[used++].name, name, sizeof rows[0].name - 1);
  }
  return &rows[i];
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  (void)id;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
    const char *name = qemu_plugin_insn_symbol(insn);
    uint64_t *count = &rowOf(name && *name ? name : "?")->count;
    qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, count, 1);
  }
}

static void finished(qemu_plugin_id_t id, void *data) {
  (void)id, (void)data;
  FILE *out = fopen(path, "w");
  for (size_t i = 0; out && i < used; ++i) {
    fprintf(out, "%s %" PRIu64 "\n", rows[i].name, rows[i].count);
  }
  if (!out || fclose(out)) {
    fprintf(stderr, "cannot write %s\n", path);
  }
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
  (void)info;
  if (argc != 1 || strncmp(argv[0], "out=", 4) != 0) {
    fprintf(stderr, "the plugin takes out=FILE\n");
    return -1;
  }
  path = strdup(argv[0] + 4);
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, finished, 0);
  return 0;
}
