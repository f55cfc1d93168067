// Defines the attributes that say sizes: how they are printed and parsed, which is the one place where sizes are read,
// and what must hold for the attributes of functions and ops that hold them.
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#define GET_ATTRDEF_CLASSES
#include "compiler/onnx/Attributes.cpp.inc"

namespace ingot::onnx {

void OnnxDialect::addSizeAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/onnx/Attributes.cpp.inc"
      >();
}

/// Parses a number, a quoted expression, or `?`.
static FailureOr<Size> parseSize(AsmParser &parser) {
  int64_t number;
  OptionalParseResult isNumber = parser.parseOptionalInteger(number);
  if (isNumber.has_value()) {
    if (failed(*isNumber)) {
      return failure();
    }
    return Size(number);
  }
  if (succeeded(parser.parseOptionalQuestion())) {
    return Size::unknown();
  }
  SMLoc loc = parser.getCurrentLocation();
  std::string text;
  if (failed(parser.parseString(&text))) {
    return failure();
  }
  std::optional<Size> size = Size::parse(text);
  if (!size) {
    return parser.emitError(loc, "'") << text << "' is not a size";
  }
  return *size;
}
static void print(AsmPrinter &printer, const Size &size) {
  if (size.isUnknown()) {
    printer << '?';
  } else if (size.isNumber()) {
    printer << size.number();
  } else {
    printer << '"';
    llvm::printEscapedString(size.text(), printer.getStream());
    printer << '"';
  }
}

Attribute SizeAttr::parse(AsmParser &parser, Type) {
  FailureOr<Size> size = failure();
  bool ok = succeeded(parser.parseLess()) && succeeded(size = parseSize(parser)) && succeeded(parser.parseGreater());
  return ok ? get(parser.getContext(), *size) : SizeAttr();
}
/// Texts look like this: #onnx.size<4>, #onnx.size<"n + 1">, #onnx.size<?>.
void SizeAttr::print(AsmPrinter &printer) const {
  printer << '<';
  onnx::print(printer, getValue());
  printer << '>';
}

Attribute SizesAttr::parse(AsmParser &parser, Type) {
  Sizes sizes;
  auto one = [&]() -> LogicalResult {
    FailureOr<Size> size = parseSize(parser);
    if (succeeded(size)) {
      sizes.push_back(*size);
    }
    return size;
  };
  bool ok = succeeded(parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, one));
  return ok ? get(parser.getContext(), sizes) : SizesAttr();
}
void SizesAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getValues(), printer, [&](const Size &size) { onnx::print(printer, size); });
  printer << '>';
}

Attribute SymbolAttr::parse(AsmParser &parser, Type) {
  std::string text;
  bool ok = succeeded(parser.parseLess()) && succeeded(parser.parseString(&text)) && succeeded(parser.parseGreater());
  std::optional<Size> size = ok ? Size::parse(text) : std::nullopt;
  std::optional<Symbol> symbol = size ? size->asSymbol() : std::nullopt;
  if (ok && !symbol) {
    parser.emitError(parser.getNameLoc(), "'") << text << "' is not a symbol";
  }
  return symbol ? get(parser.getContext(), *symbol) : SymbolAttr();
}
void SymbolAttr::print(AsmPrinter &printer) const {
  printer << "<\"";
  llvm::printEscapedString(getValue().text(), printer.getStream());
  printer << "\">";
}

ArrayRef<Size> SizesAttr::axisSizes() const { return getValues(); }

/// The encoding repeats numbers of the shape, and gives the `?` in it an expression: tensor<?x4xf32, #onnx.sizes<"n",
/// 4>>.
LogicalResult SizesAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                        llvm::function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != getValues().size()) {
    return emitError() << getValues().size() << " sizes for " << shape.size() << " axes";
  }
  for (auto [axis, dim, size] : llvm::enumerate(shape, getValues())) {
    bool isDim = size.isNumber() && size.number() >= 0;
    if (ShapedType::isDynamic(dim) ? isDim : !size.is(dim)) {
      return emitError() << "the size of axis " << axis << " is not the one of the shape";
    }
  }
  return success();
}

// These check discardable attributes, so that whoever reads them need not ask.

static bool allOf(Attribute list, llvm::function_ref<bool(Attribute)> each) {
  auto array = dyn_cast<ArrayAttr>(list);
  return array && llvm::all_of(array, each);
}

/// Whether an attribute is an array of attributes of these classes, one behind the other.
template <typename... Parts> static bool isTuple(Attribute attribute) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  size_t i = 0;
  return array && array.size() == sizeof...(Parts) && (isa<Parts>(array[i++]) && ...);
}
static bool areSizes(Attribute attribute, size_t least, size_t most) {
  auto sizes = dyn_cast<SizesAttr>(attribute);
  return sizes && sizes.getValues().size() >= least && sizes.getValues().size() <= most;
}
static bool areKnown(Attribute attribute) {
  return llvm::none_of(cast<SizesAttr>(attribute).getValues(), [](const Size &s) { return s.isUnknown(); });
}
static bool isDataDependent(Attribute attribute) {
  auto symbol = dyn_cast<SymbolAttr>(attribute);
  return symbol && symbol.getValue().isDataDependent();
}

static bool isRequirement(Attribute a) { return areSizes(a, 2, 2) && areKnown(a); }
static bool isCheck(Attribute a) {
  return isTuple<SizesAttr, StringAttr>(a) && areSizes(cast<ArrayAttr>(a)[0], 1, 2) && areKnown(cast<ArrayAttr>(a)[0]);
}
static bool isSymbol(Attribute a) { return isa<SymbolAttr>(a); }
static bool isChoice(Attribute a) {
  return isTuple<SymbolAttr, SizesAttr>(a) && isDataDependent(cast<ArrayAttr>(a)[0]) &&
         areSizes(cast<ArrayAttr>(a)[1], 2, 2);
}
/// The parts of a Growth: the size in an iteration (unit: an axis of a scan output has none), the size behind the loop,
/// and what it is at the start and after an iteration.
static bool isGrowth(Attribute a) {
  auto parts = dyn_cast<ArrayAttr>(a);
  return parts && parts.size() == 3 && (isa<UnitAttr>(parts[0]) || isDataDependent(parts[0])) &&
         isDataDependent(parts[1]) && areSizes(parts[2], 2, 2) && !cast<SizesAttr>(parts[2]).getValues()[0].isUnknown();
}

LogicalResult OnnxDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  const char *expected = nullptr;
  auto expect = [&](bool good, const char *what) { expected = good ? nullptr : what; };
  if (name == requiresName) {
    expect(allOf(value, isRequirement), "an array of two known sizes each");
  } else if (name == factsName) {
    expect(isa<SizesAttr>(value) && areKnown(value), "known sizes");
  } else if (name == checksName || name == inheritedName) {
    expect(allOf(value, isCheck), "an array of [one or two known sizes, the name of a node]");
  } else if (name == symbolsName) {
    expect(allOf(value, isSymbol), "an array of symbols");
  } else if (name == dataDependentSizeName) {
    expect(isDataDependent(value), "a data-dependent symbol");
  } else if (name == choicesName) {
    expect(op->getNumRegions() == 2 && allOf(value, isChoice),
           "an array of [data-dependent symbol, two sizes], of an op with two branches");
  } else if (name == growsName) {
    expect(op->getNumRegions() == 1 && allOf(value, isGrowth),
           "an array of [data-dependent symbol or unit, data-dependent symbol, two sizes], of a loop");
  }
  return expected ? op->emitOpError("attribute '") << name << "' must be " << expected : success();
}

} // namespace ingot::onnx
