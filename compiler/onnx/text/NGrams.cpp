// Forbids n-grams that a row has already. Each token of a row is the last of n. Where the n - 1 tokens before it are
// equal to the row's last n - 1 tokens, it is blocked; the scores of all other tokens are compared with infinity, so
// that no loop over what has been found is needed. In front of a row stand n - 1 tokens that are none (-1), so that
// there are as many windows as tokens, whatever the row's length; a window that begins there is never equal to the last
// tokens, since these have fewer such tokens.
#include "compiler/onnx/text/NGrams.h"
#include <limits>

using namespace mlir;

namespace ingot::onnx {

Value withoutRepeats(Formula &f, Value scores, Value tokens, int64_t n, double blocked) {
  constexpr int64_t end = std::numeric_limits<int64_t>::max();
  Value none = makeConstant(f.b, f.loc, constantFromIntegers(tensorOf({}, elementOf(tokens)), {-1}));
  Value all = f.op("Pad", {tokens, makeIntegers(f.b, f.loc, {0, n - 1, 0, 0}), none, Value()});
  auto columns = [&](int64_t from, int64_t to) {
    auto list = [&](int64_t v) { return makeIntegers(f.b, f.loc, {v}); };
    return f.op("Slice", {all, list(from), list(to), list(1), Value()});
  };
  Value same = f.op("Equal", {tokens, tokens});
  for (int64_t k = 1; k < n; ++k) { // counted from the end
    Value last = columns(-k, k == 1 ? end : 1 - k);
    same = f.op("And", {same, f.op("Equal", {columns(n - 1 - k, -k), last})});
  }
  Value most =
      f.op("Where", {same, f.number(blocked, scores), f.number(std::numeric_limits<double>::infinity(), scores)});
  return f.op("ScatterElements", {scores, tokens, most},
              {f.integer("axis", 1), f.b.getNamedAttr("reduction", f.b.getStringAttr("min"))});
}

} // namespace ingot::onnx
