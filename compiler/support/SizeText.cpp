// Writes sizes as texts, and parses them.
#include "compiler/support/SizeNodes.h"

namespace ingot::support {

using detail::Term;
using llvm::StringRef;

StringRef detail::nameOf(Call call) {
  static constexpr StringRef names[] = {"div", "min", "max", "broadcast", "mismatch"};
  return names[static_cast<size_t>(call)];
}

std::string Size::text() const {
  if (!sum) {
    return std::to_string(value);
  }
  std::string text;
  for (const Term &term : sum->terms) {
    text += !text.empty() && term.coefficient > 0 ? "+" : "";
    bool minus = term.coefficient == -1 && !term.factors.empty();
    text += minus ? "-" : "";
    if (term.factors.empty() || (term.coefficient != 1 && !minus)) {
      text += std::to_string(term.coefficient) + (term.factors.empty() ? "" : "*");
    }
    for (size_t i = 0; i < term.factors.size(); ++i) {
      text += (i ? "*" : "") + term.factors[i]->text;
    }
  }
  return text;
}

namespace {
/// Parses the grammar
///   sum: ["-"] term {("+" | "-") term}; term: factor {"*" factor};
///   factor: number | name | "'" any name "'" | name "(" sum "," sum ")"
class SizeParser {
public:
  explicit SizeParser(StringRef text) : text(text) {}
  std::optional<Size> all() {
    Size s = sum();
    return ok && text.empty() ? std::optional<Size>(s) : std::nullopt;
  }

private:
  StringRef text;
  bool ok = true;
  unsigned depth = 0;

  Size sum() {
    if (++depth > 64) {
      ok = false;
      return 0;
    }
    Size s = text.consume_front("-") ? Size(-1) * term() : term();
    while (ok && !text.empty() && (text.front() == '+' || text.front() == '-')) {
      s = text.consume_front("+") ? s + term() : (text = text.drop_front(), s - term());
    }
    --depth;
    return s;
  }

  Size term() {
    Size s = factor();
    while (ok && text.consume_front("*")) {
      s = s * factor();
    }
    return s;
  }

  Size factor() {
    if (text.starts_with("'")) { // symbolText() writes such names
      size_t end = text.find('\'', 1);
      ok &= end != StringRef::npos;
      StringRef name = text.take_front(ok ? end + 1 : 0);
      text = text.drop_front(name.size());
      return ok ? Size::symbol(name) : Size(0);
    }
    StringRef word = text.take_until([](char c) { return StringRef("+-*(),").contains(c); });
    text = text.drop_front(word.size());
    int64_t n;
    if (!word.empty() && !word.getAsInteger(10, n)) {
      return n;
    }
    if (!text.consume_front("(")) {
      ok &= !word.empty();
      return Size::symbol(word);
    }
    Size a = sum();
    ok &= text.consume_front(",");
    Size b = sum();
    ok &= text.consume_front(")");
    if (!ok) {
      return 0;
    }
    for (Call call : {Call::Div, Call::Min, Call::Max, Call::Broadcast, Call::Mismatch}) {
      if (word == detail::nameOf(call)) {
        return Size::call(call, a, b);
      }
    }
    ok = false;
    return 0;
  }
};
} // namespace

std::optional<Size> Size::parse(StringRef text) { return SizeParser(text).all(); }

} // namespace ingot::support
