// Reads and writes sizes wherever they stand: as encodings of types, in attributes of ops, as facts of the function,
// and as requirements that the run checks. Sizes are compared as expressions (support/Size.h), so two open sizes are
// equal only where they are the same expression; where an operator needs them to be equal, require() leaves the
// comparison to the run, and what follows takes them for equal.
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Onnx.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include <algorithm>

using namespace mlir;

#include "compiler/onnx/Encoding.cpp.inc"

namespace ingot::onnx {

// These reach the sizes wherever they stand.

/// Sizes stand in attributes (#onnx.size, #onnx.sizes, at any depth in arrays) and, as encodings, in the types of
/// results and of block arguments. The function's facts are left out: they bound sizes and mention none that a run
/// needs.
void walkSizes(Operation *op, llvm::function_ref<void(const Size &)> f, StringRef but, bool used) {
  AttrTypeWalker walker;
  walker.addWalk([&](SizeAttr size) { f(size.getValue()); });
  walker.addWalk([&](SizesAttr sizes) { llvm::for_each(sizes.getValues(), f); });
  for (NamedAttribute attribute : op->getAttrs()) {
    if (attribute.getName() != factsName && attribute.getName() != but) {
      walker.walk(attribute.getValue());
    }
  }
  auto walk = [&](Value v) {
    if (!used || !v.use_empty()) {
      walker.walk(v.getType());
    }
  };
  llvm::for_each(op->getResults(), walk);
  for (Region &region : op->getRegions()) {
    for (Block &block : region) {
      llvm::for_each(block.getArguments(), walk);
    }
  }
}

/// Types are left as they are: they follow from operands when they are inferred again.
void replaceSizes(Operation *op, llvm::function_ref<Size(const Size &)> f) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](SizeAttr size) -> Attribute { return SizeAttr::get(size.getContext(), f(size.getValue())); });
  replacer.addReplacement([&](SizesAttr sizes) -> Attribute {
    return SizesAttr::get(sizes.getContext(), llvm::map_to_vector<4>(sizes.getValues(), f));
  });
  replacer.addReplacement([](Type type) { return std::make_pair(type, WalkResult::skip()); });
  replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/false);
}

// These make and read types.

RankedTensorType tensorOf(ArrayRef<int64_t> shape, Type element) { return RankedTensorType::get(shape, element); }
UnrankedTensorType unrankedOf(Type element) { return UnrankedTensorType::get(element); }

Sizes sizesOf(RankedTensorType type) {
  auto encoding = dyn_cast_or_null<SizedEncoding>(type.getEncoding());
  if (ArrayRef<Size> sizes = encoding ? encoding.axisSizes() : ArrayRef<Size>(); !sizes.empty()) {
    return Sizes(sizes);
  }
  return llvm::map_to_vector<4>(type.getShape(),
                                [](int64_t n) { return ShapedType::isDynamic(n) ? Size::unknown() : Size(n); });
}

/// A type has an encoding only where an axis is an expression. Static types and types of which nothing is known are
/// thus the plain ones of MLIR, and equal types are equal pointers.
RankedTensorType sizedType(ArrayRef<Size> sizes, Type element) {
  SmallVector<int64_t> shape;
  bool symbolic = false;
  for (const Size &s : sizes) {
    bool isNumber = s.isNumber() && s.number() >= 0;
    shape.push_back(isNumber ? s.number() : ShapedType::kDynamic);
    symbolic |= !isNumber && !s.isUnknown();
  }
  return RankedTensorType::get(shape, element, symbolic ? SizesAttr::get(element.getContext(), sizes) : Attribute());
}

bool isSized(Value v) {
  auto type = ranked(v);
  return type && llvm::none_of(sizesOf(type), [](const Size &s) { return s.isUnknown(); });
}

std::string textOf(ArrayRef<Size> sizes) {
  std::string text = "[";
  for (const Size &s : sizes) {
    text += (text.size() > 1 ? ", " : "") + (s.isUnknown() ? std::string("?") : s.text());
  }
  return text + "]";
}

// These read and write facts.

Operation *functionOf(Operation *op) {
  while (op && !isa_and_nonnull<ModuleOp>(op->getParentOp())) {
    op = op->getParentOp();
  }
  return op;
}

support::Facts factsOf(Operation *op) {
  Operation *function = functionOf(op);
  auto facts = function ? function->getAttrOfType<SizesAttr>(factsName) : SizesAttr();
  return facts ? support::Facts(facts.getValues()) : support::Facts();
}

void setFacts(Operation *function, ArrayRef<Size> facts) {
  if (facts.empty()) {
    function->removeAttr(factsName);
  } else {
    function->setAttr(factsName, SizesAttr::get(function->getContext(), facts));
  }
}

Type simplified(Type type, const support::Facts &facts) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked || ranked.hasStaticShape() || facts.sizes().empty()) {
    return type;
  }
  Sizes sizes = sizesOf(ranked);
  for (Size &size : sizes) {
    size = size.simplified(facts);
  }
  return sizedType(sizes, ranked.getElementType());
}

// These note what a run must keep to.

/// What holds already needs no check, and two different numbers are a mistake in the model. Only what depends on the
/// run is noted, once, in the op's `onnx.requires`.
LogicalResult require(Operation *op, const Size &x, const Size &y) {
  support::Facts facts = factsOf(op);
  Size a = x.simplified(facts), b = y.simplified(facts);
  if (a == b || a.isUnknown() || b.isUnknown()) {
    return success();
  }
  if (a.isNumber() && b.isNumber()) {
    return failure();
  }
  auto known = op->getAttrOfType<ArrayAttr>(requiresName);
  SmallVector<Attribute> all(known ? known.getValue() : ArrayRef<Attribute>());
  Attribute both = SizesAttr::get(op->getContext(), {a, b});
  if (!llvm::is_contained(all, both)) {
    all.push_back(both);
    op->setAttr(requiresName, ArrayAttr::get(op->getContext(), all));
  }
  return success();
}

LogicalResult requireLength(Operation *op, Value list, int64_t n) {
  auto type = ranked(list);
  return success(!type || (type.getRank() == 1 && succeeded(require(op, sizeOf(type, 0), n))));
}

std::string SizeCheck::text() const { return sizes[0].text() + (sizes.size() == 2 ? "=" + sizes[1].text() : ""); }
bool SizeCheck::isDataDependent() const {
  return llvm::any_of(sizes, [](const Size &size) { return size.isDataDependent(); });
}
bool SizeCheck::isPresence() const {
  std::optional<Symbol> symbol = sizes[0].asSymbol();
  return symbol && symbol->kind() == support::SymbolKind::Presence;
}

std::vector<SizeCheck> checksOf(Operation *op, StringRef attribute) {
  std::vector<SizeCheck> checks;
  if (auto all = op->getAttrOfType<ArrayAttr>(attribute)) {
    for (auto check : all.getAsRange<ArrayAttr>()) {
      checks.push_back({Sizes(cast<SizesAttr>(check[0]).getValues()), cast<StringAttr>(check[1]).str()});
    }
  }
  return checks;
}

void addCheck(Operation *op, const SizeCheck &check, StringRef attribute) {
  auto known = op->getAttrOfType<ArrayAttr>(attribute);
  SmallVector<Attribute> all(known ? known.getValue() : ArrayRef<Attribute>());
  Builder b(op->getContext());
  Attribute sizes = SizesAttr::get(op->getContext(), check.sizes);
  if (llvm::none_of(all, [&](Attribute other) { return cast<ArrayAttr>(other)[0] == sizes; })) {
    all.push_back(b.getArrayAttr({sizes, b.getStringAttr(check.node)}));
    op->setAttr(attribute, b.getArrayAttr(all));
  }
}

/// An op has requirements of its own, and inherited ones of ops that were removed or of a branch that was taken.
std::vector<SizeCheck> requirementsOf(Operation *op) {
  std::vector<SizeCheck> all = checksOf(op, inheritedName);
  if (auto own = op->getAttrOfType<ArrayAttr>(requiresName)) {
    for (auto both : own.getAsRange<SizesAttr>()) {
      all.push_back({Sizes(both.getValues()), nodeOf(op->getLoc())});
    }
  }
  if (!all.empty()) {
    support::Facts facts = factsOf(op); // there may be more facts than when the requirements were noted
    for (SizeCheck &requirement : all) {
      for (Size &size : requirement.sizes) {
        size = size.simplified(facts);
      }
    }
  }
  return all;
}

static constexpr StringRef solvedName = "onnx.solved";
bool isSolved(Operation *op) {
  Operation *function = functionOf(op);
  return function && function->hasAttr(solvedName);
}
void setSolved(Operation *function) { function->setAttr(solvedName, UnitAttr::get(function->getContext())); }

std::optional<int64_t> declaredRank(Value v) {
  for (OpOperand &use : v.getUses()) {
    if (isa<func::ReturnOp>(use.getOwner())) {
      auto function = cast<func::FuncOp>(use.getOwner()->getParentOp());
      auto rank = function.getResultAttrOfType<IntegerAttr>(use.getOperandNumber(), declaredRankName);
      return rank ? std::optional(rank.getInt()) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::vector<std::string> symbolsOf(TypeRange types) {
  std::vector<std::string> symbols;
  for (Type type : types) {
    if (auto ranked = dyn_cast<RankedTensorType>(type)) {
      for (const Size &size : sizesOf(ranked)) {
        size.eachSymbol([&](StringRef name) {
          if (!llvm::is_contained(symbols, name)) {
            symbols.push_back(name.str());
          }
        });
      }
    }
  }
  return symbols;
}
std::vector<std::string> symbolsOf(Operation *function, TypeRange inputs) {
  std::vector<std::string> symbols = symbolsOf(inputs);
  if (auto further = function->getAttrOfType<ArrayAttr>(symbolsName)) {
    for (auto symbol : further.getAsRange<SymbolAttr>()) {
      symbols.push_back(symbol.getValue().str());
    }
  }
  return symbols;
}

/// Whether a limit cuts off what both sizes are made of, as in rows of a table up to a sequence's length. Such sizes
/// are taken to be equal, though one might be 1 and be broadcast: what follows from equality is worth more than a
/// sequence beyond the end of a table of which one row is left. A size that is 1 for any long sequence is no such
/// table.
static bool isCutOff(const Size &x, const Size &y) {
  auto isRow = [](const Size &size) {
    return size.evaluate([](auto) { return std::optional<int64_t>(1 << 20); }) == 1;
  };
  auto cuts = [](const Size &size) {
    bool any = false; // a limit of 1 does not cut a table
    size.eachCall([&](support::Call call, const Size &a, const Size &b) {
      any |= call == support::Call::Min && !a.is(1) && !b.is(1);
    });
    return any;
  };
  bool together = false;
  x.eachSymbol([&](support::Symbol symbol) { together |= y.mentions(symbol); });
  return together && !isRow(x) && !isRow(y) && (cuts(x) || cuts(y));
}

/// Returns one axis of broadcast().
static std::optional<Size> broadcastAxis(Operation *op, const Size &x, const Size &y, const support::Facts &facts) {
  if (x.isUnknown() || y.isUnknown()) { // the known one decides
    bool first = y.isUnknown() ? !x.is(1) : y.is(1);
    return first ? x : y;
  }
  bool equal = (!x.mayBeOne(facts) && !y.mayBeOne(facts)) || (!x.is(1) && !y.is(1) && isCutOff(x, y));
  if (failed(equal ? require(op, x, y) : require(op, mismatch(x, y), 0))) {
    return std::nullopt;
  }
  return equal && !y.isNumber() ? x : Size::call(support::Call::Broadcast, x, y, facts);
}

/// Shapes are aligned at their last axes; an axis that the shorter one lacks counts as 1.
std::optional<Sizes> broadcast(Operation *op, ArrayRef<Size> a, ArrayRef<Size> b) {
  support::Facts facts = factsOf(op);
  Sizes result(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < result.size(); ++i) {
    Size x = i < a.size() ? a[a.size() - 1 - i].simplified(facts) : Size(1),
         y = i < b.size() ? b[b.size() - 1 - i].simplified(facts) : Size(1);
    std::optional<Size> axis = broadcastAxis(op, x, y, facts);
    if (!axis) {
      return std::nullopt;
    }
    result[result.size() - 1 - i] = *axis;
  }
  return result;
}

/// Requires axis = (axis / count) * count, that is, that the division is exact.
std::optional<Size> equalPart(Operation *op, const Size &axis, const Size &count) {
  if (count.isNumber() && count.number() < 1) {
    return std::nullopt;
  }
  Size part = floorDiv(axis, max(count, 1));
  return succeeded(require(op, axis, part * count)) ? std::optional(part) : std::nullopt;
}

/// The factor is 1 where the axis has the result's size, 0 where it is 1 and repeated, and where only the run knows
/// which of these, min(1, axis - 1), which is the one or the other.
Size strideFactor(const Size &axis, const Size &to) {
  // This includes axes of one element at most: a builder may make one axis of this and others.
  bool isSame = axis == to && !axis.isNumber();
  if (axis.repeats() && !isSame) {
    return 0;
  }
  return axis == to || !axis.mayBeOne() ? Size(1) : min(Size(1), axis - 1);
}

std::optional<int64_t> normalAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    return std::nullopt;
  }
  return axis < 0 ? axis + rank : axis;
}

int64_t elements(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape) {
    n *= d;
  }
  return n;
}

int64_t elementBytes(Type element) { return (element.getIntOrFloatBitWidth() + 7) / 8; }

} // namespace ingot::onnx
