#include "compiler/onnx/Found.h"
#include "compiler/onnx/Constants.h"
#include "compiler/onnx/ops/Constant.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace ingot::onnx {

static constexpr StringRef choicesName = "onnx.choices", countName = "onnx.found_sizes", asksName = "onnx.asks",
                           growsName = "onnx.grows";

StringAttr foundBy(Operation *op) { return op->getAttrOfType<StringAttr>(foundName); }

static void addFact(Operation *function, const Size &fact) {
  support::Facts known = factsOf(function);
  Sizes facts(known.sizes());
  if (Size simple = fact.simplified(known); !llvm::is_contained(facts, simple)) {
    facts.push_back(simple);
    setFacts(function, facts);
  }
}

static std::string newSymbol(Operation *function) {
  auto known = function->getAttrOfType<IntegerAttr>(countName);
  int64_t number = known ? known.getInt() : 0;
  function->setAttr(countName, Builder(function->getContext()).getI64IntegerAttr(number + 1));
  return "$" + std::to_string(number);
}

void setBound(Operation *op, support::Symbol symbol, const Size &bound) {
  Operation *function = functionOf(op);
  support::Facts known = factsOf(function);
  Size simple = bound.simplified(known);
  bool said = false;
  Sizes facts;
  for (const Size &fact : known.sizes()) {
    bool about = support::boundedSymbol(fact) == symbol, same = about && fact + symbol == simple && !said;
    said |= same;
    if (!about || same) {
      facts.push_back(fact);
    }
  }
  if (facts.size() != known.sizes().size()) {
    setFacts(function, facts);
  }
  if (!said && !bound.isUnknown()) {
    addFact(function, simple - symbol);
  }
}

/// The symbol of an op, which gets one when it is first asked.
static Size symbolOf(Operation *op) {
  if (!foundBy(op)) {
    op->setAttr(foundName, StringAttr::get(op->getContext(), newSymbol(functionOf(op))));
  }
  return Size::symbol(foundBy(op).getValue());
}

Size foundSize(Operation *op, const Size &bound) {
  Operation *function = functionOf(op);
  if (!function || bound.isUnknown()) {
    return Size::unknown();
  }
  Size symbol = symbolOf(op);
  addFact(function, bound - symbol);
  return symbol;
}

Asking askingIn(Operation *op) {
  Operation *function = functionOf(op);
  auto any = function ? function->getAttrOfType<BoolAttr>(asksName) : BoolAttr();
  return !any ? Asking::No : any.getValue() ? Asking::Any : Asking::Bounded;
}
void setAsking(Operation *function, bool unbounded) {
  function->setAttr(asksName, BoolAttr::get(function->getContext(), unbounded));
}

Size unboundedSize(Operation *op) { return askingIn(op) == Asking::Any ? symbolOf(op) : Size::unknown(); }

Sizes listedSizes(Operation *op) {
  Sizes sizes;
  if (auto texts = op->getAttrOfType<ArrayAttr>(sizesName)) {
    for (StringRef text : texts.getAsValueRange<StringAttr>()) {
      sizes.push_back(*Size::parse(text));
    }
  }
  return sizes;
}

SmallVector<Choice> choicesOf(Operation *branch) {
  SmallVector<Choice> choices;
  if (auto all = branch->getAttrOfType<ArrayAttr>(choicesName)) {
    for (auto texts : all.getAsRange<ArrayAttr>()) {
      auto size = [&](unsigned i) {
        StringRef text = cast<StringAttr>(texts[i]).getValue();
        return text.empty() ? Size::unknown() : *Size::parse(text);
      };
      choices.push_back({cast<StringAttr>(texts[0]).str(), {size(1), size(2)}});
    }
  }
  return choices;
}

static void setChoices(Operation *branch, ArrayRef<Choice> choices) {
  Builder b(branch->getContext());
  SmallVector<Attribute> all;
  for (const Choice &c : choices) {
    all.push_back(b.getStrArrayAttr({c.symbol, c.sizes[0].text(), c.sizes[1].text()}));
  }
  branch->setAttr(choicesName, b.getArrayAttr(all));
}

Size chosenSize(Operation *branch, const Size &thenSize, const Size &elseSize) {
  Operation *function = functionOf(branch);
  if (!function || (thenSize.isUnknown() && elseSize.isUnknown())) {
    return Size::unknown();
  }
  SmallVector<Choice> choices = choicesOf(branch);
  support::Facts facts = factsOf(function);
  Size a = thenSize.bounded(facts.bounds()), b = elseSize.bounded(facts.bounds());
  Size bound = thenSize.isUnknown() ? b : elseSize.isUnknown() ? a : max(a, b);
  for (Choice &c : choices) {
    for (Size &size : c.sizes) {
      size = size.simplified(facts); // more may be known now
    }
    if (same(c.sizes[0], thenSize) && same(c.sizes[1], elseSize)) {
      if (!bound.isUnknown() &&
          !facts.bounds().count(support::Symbol::read(c.symbol))) { // a loop around it has forgotten
        addFact(function, bound - Size::symbol(c.symbol));
      }
      return Size::symbol(c.symbol);
    }
  }
  if (bound.isUnknown() && askingIn(branch) != Asking::Any) {
    return bound;
  }
  choices.push_back({newSymbol(function), {thenSize, elseSize}});
  setChoices(branch, choices);
  Size symbol = Size::symbol(choices.back().symbol);
  if (!bound.isUnknown()) {
    addFact(function, bound - symbol);
  }
  return symbol;
}

SmallVector<Growth> growthsOf(Operation *loop) {
  SmallVector<Growth> growths;
  if (auto all = loop->getAttrOfType<ArrayAttr>(growsName)) {
    for (auto texts : all.getAsRange<ArrayAttr>()) {
      auto text = [&](unsigned i) { return cast<StringAttr>(texts[i]).str(); };
      Size next = text(3).empty() ? Size::unknown() : *Size::parse(text(3));
      growths.push_back({text(0), text(1), *Size::parse(text(2)), next});
    }
  }
  return growths;
}

void setGrowths(Operation *loop, ArrayRef<Growth> growths) {
  Builder b(loop->getContext());
  SmallVector<Attribute> all;
  for (const Growth &g : growths) {
    all.push_back(b.getStrArrayAttr({g.inside, g.behind, g.start.text(), g.next.text()}));
  }
  if (all.empty()) {
    loop->removeAttr(growsName);
  } else {
    loop->setAttr(growsName, b.getArrayAttr(all));
  }
}

Growth newGrowth(Operation *loop, const Size &start, bool carried) {
  Operation *function = functionOf(loop);
  std::string inside = carried ? newSymbol(function) : "";
  return {inside, newSymbol(function), start, Size::unknown()};
}

std::set<std::string> foundAt(Operation *op) {
  std::set<std::string> symbols;
  if (StringAttr symbol = foundBy(op)) {
    symbols.insert(symbol.str());
  }
  for (const Choice &c : choicesOf(op)) {
    symbols.insert(c.symbol);
  }
  for (const Growth &g : growthsOf(op)) {
    symbols.insert(g.behind);
  }
  return symbols;
}

std::set<std::string> foundInside(Operation *op) {
  std::set<std::string> symbols;
  auto addChanging = [&](Operation *loop) {
    for (const Growth &g : growthsOf(loop)) {
      if (!g.inside.empty()) {
        symbols.insert(g.inside);
      }
    }
  };
  addChanging(op);
  for (Region &region : op->getRegions()) {
    region.walk([&](Operation *inner) {
      symbols.merge(foundAt(inner));
      addChanging(inner);
    });
  }
  return symbols;
}

bool mentionsAny(const Size &size, const std::set<std::string> &symbols) {
  bool any = false;
  if (!symbols.empty() && size.isFound()) {
    size.eachSymbol([&](support::Symbol symbol) { any |= symbols.count(symbol.str()) > 0; });
  }
  return any;
}

bool speaksOf(Operation *op, const std::set<std::string> &symbols) {
  if (symbols.empty()) {
    return false;
  }
  auto speaks = [&](Operation *inner) {
    auto values = inner->getNumResults() == 1 ? sizesIn(inner->getResult(0)) : std::nullopt;
    return llvm::any_of(listedSizes(inner), [&](const Size &s) { return mentionsAny(s, symbols); }) ||
           (values && llvm::any_of(*values, [&](const Size &s) { return mentionsAny(s, symbols); })) ||
           llvm::any_of(inner->getResultTypes(), [&](Type type) {
             auto t = dyn_cast<RankedTensorType>(type);
             return t && llvm::any_of(sizesOf(t), [&](const Size &s) { return mentionsAny(s, symbols); });
           });
  };
  return op->walk([&](Operation *inner) { return speaks(inner) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

namespace {
/// Rewrites texts of sizes in which a symbol occurs.
struct Replacement {
  StringRef symbol;
  const Size &by;

  Size operator()(const Size &size) const { return size.replaced(support::Symbol::read(symbol), by); }
  /// "a" or "a=b".
  std::string check(StringRef text) const {
    auto [a, b] = text.split('=');
    std::string first = (*this)(*Size::parse(a)).text();
    return b.empty() ? first : first + "=" + (*this)(*Size::parse(b)).text();
  }
  Attribute in(StringAttr text) const {
    return text.getValue().contains(symbol) ? StringAttr::get(text.getContext(), check(text.getValue())) : text;
  }
  ArrayAttr in(ArrayAttr texts) const {
    SmallVector<Attribute> all;
    for (Attribute text : texts) {
      all.push_back(in(cast<StringAttr>(text)));
    }
    return ArrayAttr::get(texts.getContext(), all);
  }
};
} // namespace

void replaceFound(Operation *op, StringRef symbol, const Size &size) {
  Replacement replacement{symbol, size};
  functionOf(op)->walk([&](Operation *inner) {
    if (auto sizes = dyn_cast<SizesOp>(inner)) {
      sizes.setValuesAttr(replacement.in(sizes.getValues()));
    }
    if (auto listed = inner->getAttrOfType<ArrayAttr>(sizesName)) {
      inner->setAttr(sizesName, replacement.in(listed));
    }
    SmallVector<Choice> choices = choicesOf(inner);
    for (Choice &c : choices) {
      c.sizes[0] = replacement(c.sizes[0]), c.sizes[1] = replacement(c.sizes[1]);
    }
    if (!choices.empty()) {
      setChoices(inner, choices);
    }
    SmallVector<Growth> growths = growthsOf(inner);
    for (Growth &g : growths) {
      g.start = replacement(g.start), g.next = replacement(g.next);
    }
    if (!growths.empty()) {
      setGrowths(inner, growths);
    }
    if (auto facts = inner->getAttrOfType<SizesAttr>(factsName)) {
      Sizes replaced;
      for (const Size &fact : facts.getValues()) {
        if (Size now = replacement(fact); !llvm::is_contained(replaced, now)) {
          replaced.push_back(now);
        }
      }
      setFacts(inner, replaced);
    }
    std::vector<SizeCheck> checks = checksOf(inner);
    if (!checks.empty()) {
      inner->removeAttr(checksName);
      for (const SizeCheck &check : checks) {
        addCheck(inner, {replacement.check(check.text), check.node});
      }
    }
  });
}

} // namespace ingot::onnx
