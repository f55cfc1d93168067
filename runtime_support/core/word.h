/* Reads and writes a word that any thread may write, always with the same value. Processors without instructions for
 * that (Cortex-M0+, RISC-V without A) have loads and stores that are whole all the same, while their compilers would
 * call a library for __atomic. */
#ifndef INGOT_CORE_WORD_H
#define INGOT_CORE_WORD_H

static inline int ingot_word(const int *word) {
#if __GCC_ATOMIC_INT_LOCK_FREE == 2
  return __atomic_load_n(word, __ATOMIC_RELAXED);
#else
  return *(const volatile int *)word;
#endif
}

static inline void ingot_set_word(int *word, int value) {
#if __GCC_ATOMIC_INT_LOCK_FREE == 2
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
#else
  *(volatile int *)word = value;
#endif
}

#endif
