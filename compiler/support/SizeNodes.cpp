// Makes the nodes of symbols and expressions, and answers what can be seen in them.
#include "compiler/support/SizeNodes.h"
#include "llvm/ADT/Twine.h"

namespace ingot::support {

using detail::Factor;
using detail::Factors;
using detail::FactsNode;
using detail::Nodes;
using detail::Sum;
using detail::SymbolNode;
using detail::Term;
using detail::unique;
using llvm::StringRef;

const Sum Size::unknownSum;

void Factor::profile(llvm::FoldingSetNodeID &id, std::optional<Symbol> symbol, Call call, const Size &a,
                     const Size &b) {
  id.AddPointer(symbol ? symbol->text().data() : nullptr);
  id.AddInteger(static_cast<int>(call));
  a.addTo(id), b.addTo(id);
}

void Sum::profile(llvm::FoldingSetNodeID &id, llvm::ArrayRef<Term> terms) {
  for (const Term &term : terms) {
    id.AddInteger(term.coefficient);
    id.AddInteger(term.factors.size());
    for (const Factor *factor : term.factors) {
      id.AddPointer(factor);
    }
  }
}

void FactsNode::profile(llvm::FoldingSetNodeID &id, llvm::ArrayRef<Size> sizes) {
  for (const Size &size : sizes) {
    size.addTo(id);
  }
}

// Symbols

Symbol Symbol::of(SymbolKind kind, StringRef text) {
  Nodes &nodes = Nodes::all();
  std::lock_guard lock(nodes.mutex);
  auto [it, isNew] = nodes.symbols.try_emplace(text, SymbolNode{kind, ""});
  if (isNew) {
    it->second.text = it->first();
  }
  return Symbol(&it->second);
}

static constexpr StringRef dataDependentPrefix = "$", iterationPrefix = "#", presencePrefix = "#present",
                           outerPrefix = "@";

Symbol Symbol::chosen(StringRef name) { return of(SymbolKind::Chosen, name); }
Symbol Symbol::dataDependent(int64_t number) {
  return of(SymbolKind::DataDependent, (dataDependentPrefix + llvm::Twine(number)).str());
}
Symbol Symbol::iteration(int64_t number) {
  return of(SymbolKind::Iteration, (iterationPrefix + llvm::Twine(number)).str());
}
Symbol Symbol::presence(int64_t input) { return of(SymbolKind::Presence, (presencePrefix + llvm::Twine(input)).str()); }
Symbol Symbol::read(StringRef text) {
  return of(text.starts_with(dataDependentPrefix) ? SymbolKind::DataDependent
            : text.starts_with(presencePrefix)    ? SymbolKind::Presence
            : text.starts_with(iterationPrefix)   ? SymbolKind::Iteration
            : text.starts_with(outerPrefix)       ? SymbolKind::Outer
                                                  : SymbolKind::Chosen,
            text);
}
Symbol Symbol::outer() const {
  assert(isDataDependent());
  return of(SymbolKind::Outer, (outerPrefix + text().drop_front(dataDependentPrefix.size())).str());
}
Symbol Symbol::inner() const {
  assert(kind() == SymbolKind::Outer);
  return of(SymbolKind::DataDependent, (dataDependentPrefix + text().drop_front(outerPrefix.size())).str());
}
SymbolKind Symbol::kind() const { return node->kind; }
StringRef Symbol::text() const { return node->text; }

// Expressions

Polynomial::Polynomial(const Size &size) {
  if (size.sum) {
    terms.assign(size.sum->terms.begin(), size.sum->terms.end());
  } else if (size.value) {
    terms.push_back({{}, size.value});
  }
}

bool Polynomial::add(const Factors &factors, int64_t coefficient) {
  auto it = llvm::lower_bound(terms, factors, [](const Term &t, const Factors &f) { return before(t.factors, f); });
  if (it == terms.end() || it->factors != factors) {
    if (coefficient) {
      terms.insert(it, {factors, coefficient});
    }
    return true;
  }
  if (__builtin_add_overflow(it->coefficient, coefficient, &it->coefficient)) {
    return false;
  }
  if (it->coefficient == 0) {
    terms.erase(it);
  }
  return true;
}

Size Polynomial::size() const {
  if (terms.empty()) {
    return 0;
  }
  if (terms.size() == 1 && terms.front().factors.empty()) {
    return terms.front().coefficient;
  }
  auto fill = [&](Sum &sum) {
    sum.terms.assign(terms.begin(), terms.end());
    for (const Term &term : terms) {
      for (const Factor *f : term.factors) {
        sum.isDataDependent |= f->isDataDependent, sum.divides |= f->divides, sum.chooses |= f->chooses;
      }
    }
  };
  return Size(unique<Sum>(Nodes::all().sums, fill, llvm::ArrayRef<Term>(terms)));
}

Size Polynomial::of(const Term &term) {
  Polynomial one;
  one.terms.push_back(term);
  return one.size();
}

Size Polynomial::of(Symbol symbol) {
  auto fill = [&](Factor &f) {
    f.symbol = symbol;
    f.text = symbol.str();
    f.isDataDependent = symbol.isDataDependent();
  };
  return of(unique<Factor>(Nodes::all().factors, fill, std::optional(symbol), Call::Div, Size(), Size()));
}

Size Polynomial::of(Call call, const Size &a, const Size &b) {
  std::string text = (detail::nameOf(call) + "(" + a.text() + "," + b.text() + ")").str();
  bool x = a.provably(0), y = b.provably(0);
  auto fill = [&](Factor &f) {
    f.call = call, f.a = a, f.b = b;
    f.text = std::move(text);
    f.isDataDependent = a.isDataDependent() || b.isDataDependent();
    f.divides = call == Call::Div || a.divides() || b.divides();
    f.chooses = call != Call::Div || (a.sum && a.sum->chooses) || (b.sum && b.sum->chooses);
    f.natural = call == Call::Max ? x || y : x && y;
  };
  return of(unique<Factor>(Nodes::all().factors, fill, std::optional<Symbol>(), call, a, b));
}

Size::Size(Symbol symbol) : Size(Polynomial::of(symbol)) {}

void Size::addTo(llvm::FoldingSetNodeID &id) const {
  id.AddPointer(sum);
  id.AddInteger(value);
}

/// Returns the factor that this size is; null where it is anything else.
const Factor *Size::single() const {
  bool one =
      sum && sum->terms.size() == 1 && sum->terms.front().coefficient == 1 && sum->terms.front().factors.size() == 1;
  return one ? sum->terms.front().factors.front() : nullptr;
}

std::optional<Symbol> Size::asSymbol() const {
  const Factor *factor = single();
  return factor ? factor->symbol : std::nullopt;
}

std::optional<std::pair<Size, Size>> Size::asCall(Call call) const {
  const Factor *f = single();
  return f && !f->symbol && f->call == call ? std::optional(std::pair(f->a, f->b)) : std::nullopt;
}

bool Size::isDataDependent() const { return sum && sum->isDataDependent; }
bool Size::divides() const { return sum && sum->divides; }

// What a size is made of

void Size::eachFactor(llvm::function_ref<void(const Factor &)> f) const {
  if (!sum) {
    return;
  }
  for (const Term &term : sum->terms) {
    for (const Factor *factor : term.factors) {
      f(*factor);
      factor->a.eachFactor(f); // a symbol's operands are 0
      factor->b.eachFactor(f);
    }
  }
}

void Size::eachSymbol(llvm::function_ref<void(Symbol)> f) const {
  eachFactor([&](const Factor &factor) {
    if (factor.symbol) {
      f(*factor.symbol);
    }
  });
}

void Size::eachCall(llvm::function_ref<void(Call, const Size &, const Size &)> f) const {
  eachFactor([&](const Factor &factor) {
    if (!factor.symbol) {
      f(factor.call, factor.a, factor.b);
    }
  });
}

bool Size::mentions(Symbol symbol) const {
  bool any = false;
  eachSymbol([&](Symbol other) { any |= other == symbol; });
  return any;
}

} // namespace ingot::support
