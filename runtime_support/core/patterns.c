/* Matches regular expressions, which are automata that the compiler has made (text.h), and takes strings apart by
 * them. */
#include "views.h"

typedef struct Automaton {
  const uint32_t *starts, *states;
  const unsigned char *classOf;
  uint32_t flags; /* where the flags of a state are, behind its transitions */
} Automaton;

static Automaton automaton(const void *table) {
  const uint32_t *head = (const uint32_t *)table;
  const unsigned char *classOf = (const unsigned char *)(head + 1 + INGOT_TEXT_BESIDES);
  Automaton a = {head + 1, (const uint32_t *)(const void *)(classOf + 256), classOf, head[0] - 1};
  return a;
}

static uint32_t follow(const Automaton *a, uint32_t state, unsigned char byte) {
  return a->states[state + a->classOf[byte]];
}

static ingot_text_beside beside(char byte) {
  int letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
  return letter || (byte >= '0' && byte <= '9') || byte == '_' ? INGOT_TEXT_WORD
         : byte == '\n'                                        ? INGOT_TEXT_LINE
                                                               : INGOT_TEXT_OTHER;
}

int ingot_text_match(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X);
  Automaton a = automaton(ingot_text_table(arguments));
  uint8_t *to = (uint8_t *)ingot_text_result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += arguments[INGOT_TEXT_X_STEP]) {
    uint32_t state = a.starts[INGOT_TEXT_EDGE];
    const char *at = x->data, *end = at + x->size;
    for (; at < end && state; ++at) {
      state = follow(&a, state, (unsigned char)*at);
    }
    to[i] = a.states[state + a.flags] >> INGOT_TEXT_EDGE & 1;
  }
  (void)exec;
  return 0;
}

/* Searching */

typedef struct Piece {
  const char *begin, *end;
} Piece;

static ingot_text_beside before(Piece text, const char *at) {
  return at > text.begin ? beside(at[-1]) : INGOT_TEXT_EDGE;
}
static ingot_text_beside behind(Piece text, const char *at) { return at < text.end ? beside(*at) : INGOT_TEXT_EDGE; }

/* Returns the first match from `from` on, and the longest of those that begin there; without a beginning where there
 * is none. */
static Piece search(const uint64_t *automata, const char *table, Piece text, const char *from) {
  Automaton forwards = automaton(table + automata[0]), backwards = automaton(table + automata[1]);
  Piece match = {0, 0};
  uint32_t state = forwards.starts[before(text, from)], flags;
  for (const char *at = from;; ++at) {
    flags = forwards.states[state + forwards.flags];
    if (flags && flags >> behind(text, at) & 1) {
      match.end = at;
    }
    if (at == text.end || !state) {
      break;
    }
    state = follow(&forwards, state, (unsigned char)*at);
  }
  if (!match.end) {
    return match;
  }
  state = backwards.starts[behind(text, match.end)];
  for (const char *at = match.end;; --at) {
    flags = backwards.states[state + backwards.flags];
    if (flags && flags >> before(text, at) & 1) {
      match.begin = at;
    }
    if (at == from || !state) {
      return match;
    }
    state = follow(&backwards, state, (unsigned char)at[-1]);
  }
}

/* Tokens */

typedef struct Tokens {
  const ingot_text_tokenizer *how;
  ingot_string *to; /* where tokens are written; null: they are only counted */
  int64_t count;
} Tokens;

static const char *tableOf(const Tokens *tokens) { return (const char *)tokens->how; }
static const uint64_t *automata(const Tokens *tokens, uint64_t number) {
  return (const uint64_t *)(tokens->how + 1) + 2 * number;
}

static void add(Tokens *tokens, const char *begin, const char *end) {
  if (tokens->to) {
    ingot_string token = {begin, end - begin};
    tokens->to[tokens->count] = token;
  }
  ++tokens->count;
}

static int isToken(const Tokens *tokens, const char *begin, const char *end) {
  uint64_t characters = 0, least = tokens->how->least;
  if ((uint64_t)(end - begin) < least || least == 1) {
    return (uint64_t)(end - begin) >= least;
  }
  for (; begin < end && characters < least; ++begin) {
    characters += (*begin & 0xc0) != 0x80;
  }
  return characters >= least;
}

/* Returns the place behind the character at `at`, at least one byte further, even if that is behind the end. */
static const char *behindCharacter(Piece text, const char *at) {
  do {
    ++at;
  } while (at < text.end && (*at & 0xc0) == 0x80);
  return at;
}

/* Adds the pieces between the matches of search `number`, each taken apart by the searches behind it. A match
 * without characters takes the next character away, as in ONNX Runtime. */
static void separate(Tokens *tokens, uint64_t number, Piece text) {
  if (number == tokens->how->searches) {
    add(tokens, text.begin, text.end);
    return;
  }
  for (const char *from = text.begin; from <= text.end;) {
    Piece match = search(automata(tokens, number), tableOf(tokens), text, from);
    Piece piece = {from, match.begin ? match.begin : text.end};
    if (isToken(tokens, piece.begin, piece.end)) {
      separate(tokens, number + 1, piece);
    }
    if (!match.begin) {
      return;
    }
    from = match.end > match.begin ? match.end : behindCharacter(text, match.end);
  }
}

static void findAll(Tokens *tokens, Piece text) {
  for (const char *from = text.begin; from <= text.end;) {
    Piece match = search(automata(tokens, 0), tableOf(tokens), text, from);
    if (!match.begin) {
      return;
    }
    if (isToken(tokens, match.begin, match.end)) {
      add(tokens, match.begin, match.end);
      from = match.end;
    } else {
      from = behindCharacter(text, match.begin);
    }
  }
}

/* Adds the tokens of a string; returns whether the string is UTF-8. */
static int tokenize(Tokens *tokens, ingot_string s) {
  const unsigned char *at = (const unsigned char *)s.data, *end = at + s.size;
  Piece text = {s.data, s.data + s.size};
  int eachCharacter = tokens->how->kind == INGOT_TEXT_CHARACTERS;
  while (at < end) {
    const char *begin = (const char *)at;
    if (ingot_text_character(&at, end) < 0) {
      return 0;
    }
    if (eachCharacter) {
      add(tokens, begin, (const char *)at);
    }
  }
  if (tokens->how->kind == INGOT_TEXT_SEPARATED && s.size > 0) {
    separate(tokens, 0, text);
  } else if (tokens->how->kind == INGOT_TEXT_FOUND && s.size > 0) {
    findAll(tokens, text);
  }
  return 1;
}

/* Writes how many tokens each string has, without marks. */
int ingot_text_count_tokens(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X);
  int64_t *to = (int64_t *)ingot_text_result(arguments);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += arguments[INGOT_TEXT_X_STEP]) {
    Tokens tokens = {(const ingot_text_tokenizer *)ingot_text_table(arguments), 0, 0};
    if (!tokenize(&tokens, *x)) {
      return INGOT_ERROR_STRING;
    }
    to[i] = tokens.count;
  }
  (void)exec;
  return 0;
}

/* Writes the tokens of each string, between marks where these are wanted, and the padding behind them: `tail`
 * strings for each. */
int ingot_text_tokens(const ingot_exec *exec, const int64_t *arguments) {
  const ingot_string *x = ingot_text_strings(arguments, INGOT_TEXT_X);
  const ingot_text_tokenizer *how = (const ingot_text_tokenizer *)ingot_text_table(arguments);
  const uint64_t *pool = (const uint64_t *)(const void *)((const char *)how + how->pool);
  ingot_string *to = (ingot_string *)ingot_text_result(arguments);
  ingot_string pad = ingot_text_in_pool(pool, 0), first = ingot_text_in_pool(pool, 1),
               last = ingot_text_in_pool(pool, 2);
  for (int64_t i = 0; i < arguments[INGOT_TEXT_COUNT]; ++i, x += arguments[INGOT_TEXT_X_STEP]) {
    ingot_string *end = to + arguments[INGOT_TEXT_TAIL];
    if (how->marks && to < end) {
      *to++ = first;
    }
    Tokens tokens = {how, to, 0};
    (void)tokenize(&tokens, *x); /* the same as when they were counted */
    to += tokens.count;
    if (how->marks && to < end) {
      *to++ = last;
    }
    while (to < end) {
      *to++ = pad;
    }
  }
  (void)exec;
  return 0;
}
