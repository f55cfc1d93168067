/* Calls a compiled model as C does. A call from Python takes as long as a small model, and longer with each argument.
 *
 * The arguments of NAME_run are pointers and sizes, all words; what a function does not take is no harm to it. */
typedef long word;
typedef int (*run)(word, word, word, word, word, word, word, word, word, word, word, word, word, word, word, word, word,
                   word, word, word, word, word, word, word, word, word, word, word, word, word, word, word);
typedef int (*small_run)(word, word, word, word, word, word, word, word);

/* The first status that is not 0. `a` has 32 words. */
int ingot_bench_calls(void *function, const word *a, long words, long calls) {
  for (long i = 0; i < calls; ++i) {
    int status = words <= 8 ? ((small_run)function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7])
                            : ((run)function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
                                              a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21],
                                              a[22], a[23], a[24], a[25], a[26], a[27], a[28], a[29], a[30], a[31]);
    if (status) {
      return status;
    }
  }
  return 0;
}
