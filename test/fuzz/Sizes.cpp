// Sizes against 128-bit arithmetic. The input is the text of sizes, one a line, or else a program of a stack machine
// that makes them; what arithmetic says of them has to be true of their values for every choice of the symbols.
#include "compiler/support/Size.h"
#include "test/fuzz/Fuzz.h"
#include "llvm/Support/xxhash.h"

using namespace ingot::fuzz;
using ingot::support::Size;

namespace {

constexpr const char *kSymbols[] = {"a", "b", "seq", "past"};
constexpr int64_t kLargest =
    int64_t(1) << 40; // of values that are compared: products of them need no more than 128 bits

/// Values of the symbols: small and large ones, equal ones.
struct Choice {
  uint64_t seed;
  int64_t operator()(llvm::StringRef name) const {
    uint64_t hash = llvm::xxh3_64bits(name) ^ (seed * 0x9E3779B97F4A7C15ULL);
    hash = llvm::xxh3_64bits({reinterpret_cast<const uint8_t *>(&hash), sizeof hash});
    constexpr int64_t few[] = {0, 1, 2, 3, 7, 8, 16, 17, 100, 512};
    return hash % 4 ? few[hash / 4 % 10] : int64_t(hash / 4 % 100000);
  }
  std::optional<int64_t> of(const Size &size) const {
    return size.isUnknown()
               ? std::nullopt
               : size.evaluate([&](auto symbol) { return std::optional<int64_t>((*this)(llvm::StringRef(symbol))); });
  }
};

std::string said(const char *what, const Size &a, const Size &b, const Size &result) {
  return std::string(what) + " of " + a.text() + " and " + b.text() + " is " + result.text();
}

__int128 floored(__int128 a, __int128 b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

void checkText(const Size &size) {
  if (size.isUnknown()) {
    return;
  }
  std::optional<Size> back = Size::parse(size.text());
  if (!back || !(*back == size) || back->text() != size.text()) {
    finding(size.text() + " is read back as " + (back ? back->text() : "nothing"));
  }
}

/// What holds of one size alone.
void checkClaims(const Size &size, uint64_t seed) {
  for (uint64_t k = 0; k < 8; ++k) {
    std::optional<int64_t> value = Choice{seed + k}.of(size);
    if (!value) {
      continue;
    }
    for (int64_t least : {int64_t(-1), int64_t(0), int64_t(1), int64_t(8), *value < INT64_MAX ? *value + 1 : *value}) {
      if (least > *value && size.atLeast(least)) {
        finding(size.text() + " can be " + llvm::Twine(*value) + " and is said to be at least " + llvm::Twine(least));
      }
    }
    if (size.repeats() && *value > 1) {
      finding(size.text() + " can be " + llvm::Twine(*value) + " and is said to be at most 1");
    }
  }
}

void checkPair(const Size &a, const Size &b, uint64_t seed) {
  struct Operation {
    const char *name;
    Size result;
    std::optional<__int128> (*exact)(__int128, __int128);
  };
  using Exact = std::optional<__int128>;
  const Operation operations[] = {
      {"the sum", a + b, [](__int128 x, __int128 y) { return Exact(x + y); }},
      {"the difference", a - b, [](__int128 x, __int128 y) { return Exact(x - y); }},
      {"the product", a * b, [](__int128 x, __int128 y) { return Exact(x * y); }},
      {"the quotient", floorDiv(a, b), [](__int128 x, __int128 y) { return y ? Exact(floored(x, y)) : std::nullopt; }},
      {"the upper quotient", ceilDiv(a, b),
       [](__int128 x, __int128 y) { return y > 0 ? Exact(-floored(-x, y)) : std::nullopt; }},
      {"the minimum", min(a, b), [](__int128 x, __int128 y) { return Exact(std::min(x, y)); }},
      {"the maximum", max(a, b), [](__int128 x, __int128 y) { return Exact(std::max(x, y)); }},
  };
  std::optional<Size> quotient = divideExactly(a, b);
  for (const Operation &operation : operations) {
    checkText(operation.result);
    checkClaims(operation.result, seed);
  }
  for (uint64_t k = 0; k < 8; ++k) {
    Choice choice{seed + k};
    std::optional<int64_t> x = choice.of(a), y = choice.of(b);
    if (!x || !y || *x > kLargest || *x < -kLargest || *y > kLargest || *y < -kLargest) {
      continue;
    }
    for (const Operation &operation : operations) {
      std::optional<__int128> exact = operation.exact(*x, *y);
      std::optional<int64_t> value = choice.of(operation.result);
      if (exact && value && *exact != *value) {
        finding(said(operation.name, a, b, operation.result) + ", which gives " + llvm::Twine(*value) + " for " +
                llvm::Twine(*x) + " and " + llvm::Twine(*y));
      }
    }
    if (a == b && *x != *y) {
      finding(said("equality", a, b, a));
    }
    if (quotient) {
      std::optional<int64_t> value = choice.of(*quotient);
      if (value && *y && __int128(*value) * *y != *x) {
        finding(said("the exact quotient", a, b, *quotient));
      }
    }
  }
}

/// A stack machine: a byte below 128 is a small number or a symbol, one above it an operation on the two topmost sizes.
std::vector<Size> execute(llvm::ArrayRef<uint8_t> program) {
  std::vector<Size> stack;
  for (uint8_t byte : program.take_front(24)) {
    if (byte < 64) {
      stack.push_back(Size(int64_t(byte) - 16));
    } else if (byte < 128) {
      stack.push_back(Size::symbol(kSymbols[byte % std::size(kSymbols)]));
    } else if (stack.size() >= 2) {
      Size b = stack.back(), a = stack[stack.size() - 2];
      stack.resize(stack.size() - 2);
      stack.push_back(byte % 7 == 0   ? a + b
                      : byte % 7 == 1 ? a - b
                      : byte % 7 == 2 ? a * b
                      : byte % 7 == 3 ? floorDiv(a, b)
                      : byte % 7 == 4 ? min(a, b)
                      : byte % 7 == 5 ? max(a, b)
                                      : ceilDiv(a, b));
      if (stack.back().isUnknown() || stack.back().text().size() > 400) {
        stack.pop_back();
      }
    }
  }
  return stack;
}

std::vector<Size> read(llvm::StringRef text) {
  std::vector<Size> sizes;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    if (std::optional<Size> size = Size::parse(line)) {
      sizes.push_back(*size);
    }
  }
  return sizes;
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  if (size > 600) {
    return -1;
  }
  std::vector<Size> sizes = read(text);
  if (sizes.empty()) {
    sizes = execute({data, size});
  }
  uint64_t seed = llvm::xxh3_64bits(text);
  for (const Size &a : sizes) {
    checkText(a);
    checkClaims(a, seed);
  }
  for (size_t i = 0; i + 1 < sizes.size() && i < 4; ++i) {
    checkPair(sizes[i], sizes[i + 1], seed);
  }
  return 0;
}
