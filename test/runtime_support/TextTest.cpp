// Functions on strings: random ones of every length, each in memory of exactly its size, so that the sanitizers see
// whatever is read beyond; results beside those of plain code.
#include "text.h"
#include "ingot.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr int64_t noLimit = INT64_MAX;

/// Strings in memory of their own.
class Strings {
public:
  explicit Strings(const std::vector<std::string> &texts) {
    for (const std::string &text : texts) {
      bytes.push_back(std::make_unique<char[]>(text.size()));
      std::copy(text.begin(), text.end(), bytes.back().get());
      views.push_back({bytes.back().get(), static_cast<int64_t>(text.size())});
    }
  }
  std::vector<ingot_string> views;

private:
  std::vector<std::unique_ptr<char[]>> bytes;
};

std::string text(const ingot_string &s) { return {s.data ? s.data : "", static_cast<size_t>(s.size)}; }

std::vector<std::string> drawn(const std::string &letters, size_t count) {
  static std::mt19937 random(1);
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) {
    std::string text(i % 43, ' ');
    std::generate(text.begin(), text.end(), [&] { return letters[random() % letters.size()]; });
    texts.push_back(text);
  }
  return texts;
}

/// A pool (text.h) of one string.
std::vector<uint64_t> poolOf(const std::string &text) {
  std::vector<uint64_t> pool(3 + text.size() / 8 + 1);
  pool[0] = 1, pool[2] = text.size();
  std::copy(text.begin(), text.end(), reinterpret_cast<char *>(pool.data() + 3));
  return pool;
}

/// A call of as many elements as there are strings.
struct Call {
  int64_t words[INGOT_TEXT_WORDS] = {};
  Call(const Strings &x, void *to, const void *table = nullptr, int64_t number = 0) {
    put(INGOT_TEXT_X, x.views.data());
    words[INGOT_TEXT_X_STEP] = 1;
    put(INGOT_TEXT_TABLE, table);
    put(INGOT_TEXT_TO, to);
    words[INGOT_TEXT_COUNT] = static_cast<int64_t>(x.views.size());
    words[INGOT_TEXT_NUMBER] = number;
  }
  void put(int word, const void *address) { words[word] = static_cast<int64_t>(reinterpret_cast<uintptr_t>(address)); }
};

bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::vector<std::string> plainSplit(const std::string &text, const std::string &separator, int64_t splits) {
  std::vector<std::string> pieces;
  size_t at = 0;
  auto skip = [&] {
    while (separator.empty() && at < text.size() && isSpace(text[at])) {
      ++at;
    }
  };
  skip();
  if (text.empty() || (separator.empty() && at == text.size())) {
    return pieces;
  }
  for (;; --splits) {
    size_t end = at;
    while (end < text.size() &&
           !(separator.empty() ? isSpace(text[end]) : text.compare(end, separator.size(), separator) == 0)) {
      ++end;
    }
    end = splits == 0 ? text.size() : end;
    pieces.push_back(text.substr(at, end - at));
    if (end == text.size()) {
      return pieces;
    }
    at = end + std::max<size_t>(separator.size(), 1);
    skip();
    if (separator.empty() && at == text.size()) {
      return pieces;
    }
  }
}

TEST(Text, Pieces) {
  std::vector<std::string> texts = drawn("ab, \t", 860);
  Strings x(texts);
  for (std::string separator : {"", ",", "ab", "aab", "aa", "a, ab, a b"}) {
    for (int64_t splits : {noLimit, int64_t(0), int64_t(1), int64_t(2), int64_t(7)}) {
      std::vector<uint64_t> pool = poolOf(separator);
      std::vector<int64_t> counts(texts.size());
      Call count(x, counts.data(), pool.data(), splits);
      ASSERT_EQ(ingot_text_pieces(nullptr, count.words), 0);
      constexpr int64_t tail = 45;
      std::vector<ingot_string> pieces(texts.size() * tail);
      Call split(x, pieces.data(), pool.data(), splits);
      split.words[INGOT_TEXT_TAIL] = tail;
      split.put(INGOT_TEXT_Y, counts.data());
      ASSERT_EQ(ingot_text_split(nullptr, split.words), 0);
      for (size_t i = 0; i < texts.size(); ++i) {
        std::vector<std::string> want = plainSplit(texts[i], separator, splits), got;
        ASSERT_EQ(counts[i], static_cast<int64_t>(want.size())) << '"' << texts[i] << "\" at \"" << separator << '"';
        want.resize(tail);
        for (int64_t k = 0; k < tail; ++k) {
          got.push_back(text(pieces[i * tail + k]));
        }
        ASSERT_EQ(got, want) << '"' << texts[i] << "\" at \"" << separator << '"';
      }
    }
  }
}

TEST(Text, Ranks) {
  for (const std::string &letters :
       {std::string("a"), std::string("ab"), std::string("\0\xff", 2), std::string("abcdefgh")}) {
    std::vector<std::string> texts = drawn(letters, 430), occurring;
    std::set<std::string> sorted(texts.begin(), texts.end());
    for (const std::string &each : texts) {
      if (std::find(occurring.begin(), occurring.end(), each) == occurring.end()) {
        occurring.push_back(each);
      }
    }
    Strings x(texts);
    for (bool inOrder : {false, true}) {
      std::vector<int64_t> ranks(texts.size());
      std::vector<uint64_t> scratch(texts.size() * INGOT_TEXT_RANK_BYTES / 8);
      Call call(x, ranks.data(), nullptr, inOrder);
      call.put(INGOT_TEXT_SCRATCH, scratch.data());
      ASSERT_EQ(ingot_text_rank(nullptr, call.words), 0);
      for (size_t i = 0; i < texts.size(); ++i) {
        ptrdiff_t want = inOrder ? std::distance(sorted.begin(), sorted.find(texts[i]))
                                 : std::find(occurring.begin(), occurring.end(), texts[i]) - occurring.begin();
        ASSERT_EQ(ranks[i], want);
      }
    }
  }
}

TEST(Text, Equal) {
  std::vector<std::string> texts = drawn("ab", 430), others = texts;
  for (size_t i = 0; i < others.size(); i += 2) {
    if (!others[i].empty()) {
      others[i][i % others[i].size()] ^= 1; // a or b becomes another letter
    }
  }
  Strings x(texts), y(others);
  std::vector<uint8_t> same(texts.size());
  Call call(x, same.data());
  call.put(INGOT_TEXT_Y, y.views.data());
  call.words[INGOT_TEXT_Y_STEP] = 1;
  ASSERT_EQ(ingot_text_equal(nullptr, call.words), 0);
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(same[i] != 0, texts[i] == others[i]);
  }
}

/// Bytes of characters that may end too early, continue nothing, or be longer than needed.
TEST(Text, CharactersOfBytes) {
  struct {
    ingot_text_tokenizer head = {INGOT_TEXT_CHARACTERS, 1, 0, sizeof(ingot_text_tokenizer), 0};
    uint64_t pool[5] = {3, 0, 0, 0, 0};
  } table;
  size_t refused = 0;
  for (const std::string &each : drawn("a\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80\xed\xff", 4300)) {
    Strings x({each});
    int64_t count = 0;
    Call counting(x, &count, &table);
    int status = ingot_text_count_tokens(nullptr, counting.words);
    if (status) {
      ASSERT_EQ(status, INGOT_ERROR_STRING);
      ++refused;
      continue;
    }
    std::vector<ingot_string> tokens(static_cast<size_t>(count));
    Call call(x, tokens.data(), &table);
    call.words[INGOT_TEXT_TAIL] = count;
    ASSERT_EQ(ingot_text_tokens(nullptr, call.words), 0);
    std::string all;
    for (const ingot_string &token : tokens) {
      all += text(token);
    }
    ASSERT_EQ(all, each);
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_LT(refused, 4300u);
}

} // namespace
