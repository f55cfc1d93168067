// Keeps data-dependent sizes in attributes, so that they survive as text. Symbols are numbered by a counter on the
// function: $0, $1, ... A bound of symbol s is the fact bound - s >= 0 among the function's facts, from which Size
// proves what it can. An op that is asked for its size a second time has the same symbol; the bound may be another one
// then, and both facts hold.
//
//   %y, %n = onnx.NonZero %x {onnx.data_dependent_size = #onnx.symbol<"$0">}       facts: 6 - $0 >= 0
//   onnx.If %c {onnx.choices = [[#onnx.symbol<"$2">, #onnx.sizes<"$0", 4>]]}       $2 is $0 in `then`, 4 in `else`
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Constant.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace ingot::onnx {

static constexpr StringRef countName = "onnx.data_dependent_sizes", readsName = "onnx.reads_sizes";

std::optional<Symbol> dataDependentSizeOf(Operation *op) {
  auto found = op->getAttrOfType<SymbolAttr>(dataDependentSizeName);
  return found ? std::optional(found.getValue()) : std::nullopt;
}

/// Facts are simplified by those that are known, so that equal ones are found equal.
static void addFact(Operation *function, const Size &fact) {
  support::Facts known = factsOf(function);
  Sizes facts(known.sizes());
  if (Size simple = fact.simplified(known); !llvm::is_contained(facts, simple)) {
    facts.push_back(simple);
    setFacts(function, facts);
  }
}

static Symbol newSymbol(Operation *function) {
  auto known = function->getAttrOfType<IntegerAttr>(countName);
  int64_t number = known ? known.getInt() : 0;
  function->setAttr(countName, Builder(function->getContext()).getI64IntegerAttr(number + 1));
  return Symbol::dataDependent(number);
}

/// Removes facts that bound the symbol, but for one that already says this bound.
void setBound(Operation *op, Symbol symbol, const Size &bound) {
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

/// Returns the symbol of an op, which gets one when it is first asked.
static Symbol symbolOf(Operation *op) {
  if (!dataDependentSizeOf(op)) {
    op->setAttr(dataDependentSizeName, SymbolAttr::get(op->getContext(), newSymbol(functionOf(op))));
  }
  return *dataDependentSizeOf(op);
}

/// A result whose size nothing bounds has no symbol here: memory for it could not be planned (unboundedSize() is for
/// those who allocate in the run).
Size dataDependentSize(Operation *op, const Size &bound) {
  Operation *function = functionOf(op);
  if (!function || bound.isUnknown()) {
    return Size::unknown();
  }
  Symbol symbol = symbolOf(op);
  addFact(function, bound - symbol);
  return symbol;
}

SizeReading sizeReadingIn(Operation *op) {
  Operation *function = functionOf(op);
  auto any = function ? function->getAttrOfType<BoolAttr>(readsName) : BoolAttr();
  return !any ? SizeReading::No : any.getValue() ? SizeReading::Any : SizeReading::Bounded;
}
void setSizeReading(Operation *function, bool unbounded) {
  function->setAttr(readsName, BoolAttr::get(function->getContext(), unbounded));
}

Size unboundedSize(Operation *op) {
  return sizeReadingIn(op) == SizeReading::Any ? Size(symbolOf(op)) : Size::unknown();
}

SmallVector<BranchSizes> choicesOf(Operation *branch) {
  SmallVector<BranchSizes> choices;
  if (auto all = branch->getAttrOfType<ArrayAttr>(choicesName)) {
    for (auto choice : all.getAsRange<ArrayAttr>()) {
      ArrayRef<Size> sizes = cast<SizesAttr>(choice[1]).getValues();
      choices.push_back({cast<SymbolAttr>(choice[0]).getValue(), {sizes[0], sizes[1]}});
    }
  }
  return choices;
}

void setChoices(Operation *branch, ArrayRef<BranchSizes> choices) {
  if (choices.empty()) {
    branch->removeAttr(choicesName);
    return;
  }
  Builder b(branch->getContext());
  branch->setAttr(choicesName, b.getArrayAttr(llvm::map_to_vector(choices, [&](const BranchSizes &c) -> Attribute {
    return b.getArrayAttr({b.getAttr<SymbolAttr>(c.symbol), b.getAttr<SizesAttr>(c.sizes)});
  })));
}

/// An If has one symbol for each pair of sizes. Sizes are compared after they are simplified by today's facts, so that
/// a pair that was noted in another spelling is found.
Size chosenSize(Operation *branch, const Size &thenSize, const Size &elseSize) {
  Operation *function = functionOf(branch);
  if (!function || (thenSize.isUnknown() && elseSize.isUnknown())) {
    return Size::unknown();
  }
  SmallVector<BranchSizes> choices = choicesOf(branch);
  support::Facts facts = factsOf(function);
  Size a = thenSize.bounded(facts.bounds()), b = elseSize.bounded(facts.bounds());
  Size bound = thenSize.isUnknown() ? b : elseSize.isUnknown() ? a : max(a, b);
  for (BranchSizes &c : choices) {
    for (Size &size : c.sizes) {
      size = size.simplified(facts); // more may be known now
    }
    if (same(c.sizes[0], thenSize) && same(c.sizes[1], elseSize)) {
      if (!bound.isUnknown() && !facts.bounds().count(c.symbol)) { // a loop around the branch has forgotten the bound
        addFact(function, bound - c.symbol);
      }
      return c.symbol;
    }
  }
  if (bound.isUnknown() && sizeReadingIn(branch) != SizeReading::Any) {
    return bound;
  }
  choices.push_back({newSymbol(function), {thenSize, elseSize}});
  setChoices(branch, choices);
  Symbol symbol = choices.back().symbol;
  if (!bound.isUnknown()) {
    addFact(function, bound - symbol);
  }
  return symbol;
}

SmallVector<Growth> growthsOf(Operation *loop) {
  SmallVector<Growth> growths;
  if (auto all = loop->getAttrOfType<ArrayAttr>(growsName)) {
    for (auto growth : all.getAsRange<ArrayAttr>()) {
      auto inside = dyn_cast<SymbolAttr>(growth[0]);
      ArrayRef<Size> sizes = cast<SizesAttr>(growth[2]).getValues();
      growths.push_back({inside ? std::optional(inside.getValue()) : std::nullopt,
                         cast<SymbolAttr>(growth[1]).getValue(), sizes[0], sizes[1]});
    }
  }
  return growths;
}

void setGrowths(Operation *loop, ArrayRef<Growth> growths) {
  Builder b(loop->getContext());
  SmallVector<Attribute> all;
  for (const Growth &g : growths) {
    Attribute inside = g.inside ? Attribute(b.getAttr<SymbolAttr>(*g.inside)) : b.getUnitAttr();
    Size sizes[] = {g.start, g.next};
    all.push_back(b.getArrayAttr({inside, b.getAttr<SymbolAttr>(g.after), b.getAttr<SizesAttr>(sizes)}));
  }
  if (all.empty()) {
    loop->removeAttr(growsName);
  } else {
    loop->setAttr(growsName, b.getArrayAttr(all));
  }
}

Growth newGrowth(Operation *loop, const Size &start, bool carried) {
  Operation *function = functionOf(loop);
  std::optional<Symbol> inside = carried ? std::optional(newSymbol(function)) : std::nullopt;
  return {inside, newSymbol(function), start, Size::unknown()};
}

SymbolSet symbolsDefinedBy(Operation *op) {
  SymbolSet symbols;
  if (std::optional<Symbol> symbol = dataDependentSizeOf(op)) {
    symbols.insert(*symbol);
  }
  for (const BranchSizes &c : choicesOf(op)) {
    symbols.insert(c.symbol);
  }
  for (const Growth &g : growthsOf(op)) {
    symbols.insert(g.after);
  }
  return symbols;
}

/// The symbols of axes that a loop changes (Growth::inside) have a value in each iteration, so they count as defined
/// inside.
SymbolSet symbolsDefinedInside(Operation *op) {
  SymbolSet symbols;
  auto addChanging = [&](Operation *loop) {
    for (const Growth &g : growthsOf(loop)) {
      if (g.inside) {
        symbols.insert(*g.inside);
      }
    }
  };
  addChanging(op);
  for (Region &region : op->getRegions()) {
    region.walk([&](Operation *inner) {
      symbols.merge(symbolsDefinedBy(inner));
      addChanging(inner);
    });
  }
  return symbols;
}

bool mentionsAny(const Size &size, const SymbolSet &symbols) {
  bool any = false;
  if (!symbols.empty() && size.isDataDependent()) {
    size.eachSymbol([&](Symbol symbol) { any |= symbols.count(symbol) > 0; });
  }
  return any;
}

bool mentionsAny(Operation *op, const SymbolSet &symbols) {
  bool any = false;
  if (!symbols.empty()) {
    op->walk([&](Operation *inner) { walkSizes(inner, [&](const Size &s) { any |= mentionsAny(s, symbols); }); });
  }
  return any;
}

/// Writes `size` for `symbol` in the types of a region's values.
static void replaceInTypes(Region &region, Symbol symbol, const Size &size) {
  auto replace = [&](Value v) {
    auto type = ranked(v);
    Sizes sizes = type ? sizesOf(type) : Sizes();
    if (llvm::any_of(sizes, [&](const Size &s) { return s.mentions(symbol); })) {
      for (Size &s : sizes) {
        s = s.replaced(symbol, size);
      }
      v.setType(sizedType(sizes, type.getElementType()));
    }
  };
  llvm::for_each(region.getArguments(), replace);
  region.walk([&](Operation *op) { llvm::for_each(op->getResults(), replace); });
}

/// It is replaced wherever the function says it: in attributes, facts and checks. Two facts that become equal are one.
void replaceSymbol(Operation *op, Symbol symbol, const Size &size) {
  Operation *function = functionOf(op);
  function->walk([&](Operation *inner) {
    replaceSizes(inner, [&](const Size &s) { return s.replaced(symbol, size); });
    // Types follow from those of operands, except in a region that reads nothing around it (that of onnx.Attend).
    if (inner != function && inner->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
      for (Region &region : inner->getRegions()) {
        replaceInTypes(region, symbol, size);
      }
    }
    if (auto facts = inner->getAttrOfType<SizesAttr>(factsName)) { // some facts may be equal now
      Sizes different;
      for (const Size &fact : facts.getValues()) {
        if (!llvm::is_contained(different, fact)) {
          different.push_back(fact);
        }
      }
      setFacts(inner, different);
    }
    for (StringRef attribute : {checksName, inheritedName}) {
      std::vector<SizeCheck> checks = checksOf(inner, attribute);
      inner->removeAttr(attribute);
      for (const SizeCheck &check : checks) {
        addCheck(inner, check, attribute);
      }
    }
  });
}

} // namespace ingot::onnx
