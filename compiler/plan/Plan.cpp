#include "compiler/plan/Plan.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/plan/InPlace.h"
#include "compiler/plan/Layout.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

#include "compiler/plan/Dialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/plan/Attributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/plan/Types.cpp.inc"
namespace ingot::plan {

/// The type of a memory that the run asks for, which is left out where it is the host's.
static mlir::ParseResult parseDeviceOfMemory(mlir::OpAsmParser &parser, mlir::Type &type) {
  type = MemoryType::get(parser.getContext(), 0);
  return failed(parser.parseOptionalColon()) ? mlir::success() : parser.parseType(type);
}
static void printDeviceOfMemory(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Type type) {
  if (llvm::cast<MemoryType>(type).getDevice()) {
    printer << ": " << type;
  }
}

} // namespace ingot::plan

#define GET_OP_CLASSES
#include "compiler/plan/Ops.cpp.inc"

using namespace mlir;
using ingot::support::Size;

namespace ingot::plan {

void PlanDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/plan/Attributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/plan/Types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/plan/Ops.cpp.inc"
      >();
}

/// Returns whether a size can be an amount or a place of bytes, or a number of work items.
static bool isAmount(const Size &size) { return !size.isUnknown() && !(size.isNumber() && size.number() < 0); }
static bool isAmount(onnx::SizeAttr size) { return isAmount(size.getValue()); }

// Attributes

Attribute BlockedAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t lanes = 0, blocks = 0, fill = 0;
  SmallVector<int64_t> halo;
  onnx::SizesAttr sizes;
  auto number = [&] { return parser.parseInteger(halo.emplace_back()); };
  if (parser.parseLess() || parser.parseInteger(lanes)) {
    return {};
  }
  while (succeeded(parser.parseOptionalComma())) {
    bool bad = false;
    if (succeeded(parser.parseOptionalKeyword("halo"))) {
      bad = parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, number);
    } else if (succeeded(parser.parseOptionalKeyword("sizes"))) {
      bad = parser.parseEqual() || parser.parseCustomAttributeWithFallback(sizes);
    } else if (succeeded(parser.parseOptionalKeyword("fill"))) {
      bad = parser.parseEqual() || parser.parseInteger(fill);
    } else {
      bad = parser.parseKeyword("blocks") || parser.parseEqual() || parser.parseInteger(blocks);
    }
    if (bad) {
      return {};
    }
  }
  if (parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<BlockedAttr>(loc, parser.getContext(), lanes, halo, sizes, blocks, fill);
}

void BlockedAttr::print(AsmPrinter &printer) const {
  printer << '<' << getLanes();
  if (!getHalo().empty()) {
    printer << ", halo = [";
    llvm::interleaveComma(getHalo(), printer);
    printer << ']';
  }
  if (getSizes()) {
    printer << ", sizes = ";
    printer.printStrippedAttrOrType(getSizes());
  }
  if (getBlocks()) {
    printer << ", blocks = " << getBlocks();
  }
  if (getFill()) {
    printer << ", fill = " << getFill();
  }
  printer << '>';
}

LogicalResult BlockedAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t lanes,
                                  ArrayRef<int64_t> halo, onnx::SizesAttr sizes, int64_t blocks, int64_t fill) {
  if (lanes < 1 || blocks < 0) {
    return emitError() << "needs one lane or more, and no negative number of blocks";
  }
  if (halo.size() % 2 || llvm::any_of(halo, [](int64_t h) { return h < 0; })) {
    return emitError() << "a halo has two numbers for each spatial axis, none of them negative";
  }
  return success();
}

LogicalResult BlockedAttr::verifyEncoding(ArrayRef<int64_t> shape, Type element,
                                          llvm::function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() < 2 || ShapedType::isDynamic(shape[1])) {
    return emitError() << "only a tensor of two axes or more, the second of which is a number, has channel blocks";
  }
  if (!getHalo().empty() && getHalo().size() != 2 * (shape.size() - 2)) {
    return emitError() << getHalo().size() << " numbers of a halo for " << shape.size() - 2 << " spatial axes";
  }
  if (getBlocks() && getBlocks() * getLanes() < shape[1]) {
    return emitError() << getBlocks() << " blocks of " << getLanes() << " have no room for " << shape[1] << " channels";
  }
  return getSizes() ? getSizes().verifyEncoding(shape, element, emitError) : success();
}

// Ops

Operation *KernelOp::root() {
  if (getPiece()) {
    return nullptr;
  }
  for (Operation &op : llvm::reverse(getBody().front())) { // ops that make a root's parameters come before it
    if (!isa<YieldOp, onnx::Elementwise, onnx::ConstantOp, onnx::NoneOp>(op)) {
      return &op;
    }
  }
  return nullptr;
}

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield) {
    return emitOpError("has a body that does not end with a yield");
  }
  if (block.getNumArguments() != getIns().size() || yield.getValues().size() != getNumResults()) {
    return emitOpError("has ") << getIns().size() << " operands and " << getNumResults() << " results, but its body "
                               << block.getNumArguments() << " and " << yield.getValues().size();
  }
  return success();
}

LogicalResult ReorderOp::verify() {
  auto x = dyn_cast<RankedTensorType>(getX().getType()), y = dyn_cast<RankedTensorType>(getY().getType());
  bool same = x && y && x.getShape() == y.getShape() && x.getElementType() == y.getElementType();
  if (!same) {
    return emitOpError("needs a result of the operand's shape and element type");
  }
  auto from = blockedOf(x), to = blockedOf(y);
  return !from || !to || from.getLanes() == to.getLanes() ? success()
                                                          : emitOpError("is not between blocks of different lanes");
}

LogicalResult ViewOp::verify() {
  if (!isa<RankedTensorType>(getX().getType()) || !isa<RankedTensorType>(getY().getType())) {
    return emitOpError("needs tensors of known rank");
  }
  return isAmount(getOffset()) ? success() : emitOpError("needs an offset that is a known size and not negative");
}

LogicalResult JoinOp::verify() {
  auto y = dyn_cast<RankedTensorType>(getY().getType());
  auto fits = [&](Value x) {
    auto t = dyn_cast<RankedTensorType>(x.getType());
    return t && t.getRank() == y.getRank() && t.getElementType() == y.getElementType();
  };
  return y && !getXs().empty() && llvm::all_of(getXs(), fits)
             ? success()
             : emitOpError("needs one part or more, of the result's rank and element type");
}

LogicalResult WeightOp::verify() {
  return static_cast<int64_t>(getOffset()) >= 0 ? success() : emitOpError("needs an offset that is not negative");
}

LogicalResult TransferOp::verify() {
  return getX().getType() == getY().getType() ? success() : emitOpError("needs a result of the operand's type");
}

LogicalResult BundleOp::verify() {
  auto hasSize = [](Value x) {
    auto type = dyn_cast<RankedTensorType>(x.getType());
    return type && isAmount(physicalBytes(type));
  };
  if (getParts().size() < 2 || !llvm::all_of(getParts(), hasSize)) {
    return emitOpError("needs two parts or more, of known sizes");
  }
  auto liesElsewhere = [&](Value x) {
    return x.getDefiningOp<ViewOp>() || deviceOf(x) != deviceOf(getParts().front()) ||
           llvm::count_if(x.getUsers(), llvm::IsaPred<JoinOp, BundleOp>) != 1;
  };
  if (llvm::any_of(getParts(), liesElsewhere)) {
    return emitOpError("has a part that has to lie elsewhere");
  }
  auto bytes = dyn_cast<RankedTensorType>(getY().getType());
  bool fits = bytes && bytes.getRank() == 1 && onnx::isInt(bytes.getElementType(), 8) &&
              onnx::sizesOf(bytes)[0] == offsetIn(getParts(), getParts().size());
  return fits ? success() : emitOpError("needs a result of as many bytes as its parts take");
}

LogicalResult StageOp::verify() {
  return deviceOf(getX()) == 0 ? success() : emitOpError("needs a value in the host's memory");
}

LogicalResult LaunchOp::verify() {
  if (!isAmount(getItems()) || !isAmount(getScratchBytes())) {
    return emitOpError("needs items and scratch bytes that are known sizes and not negative");
  }
  if (getSymbols() &&
      !llvm::all_of(getSymbols()->getValues(), [](const Size &s) { return s.asSymbol().has_value(); })) {
    return emitOpError("has an argument among its symbols that is none");
  }
  bool onBuffers = !getInto().empty();
  if (onBuffers ? getNumResults() > 0 : getScratch() != nullptr) {
    return emitOpError("has results and writes into buffers, which are two forms of it");
  }
  if (!llvm::all_of(getIns(), [&](Value v) { return isa<BufferType>(v.getType()) == onBuffers; })) {
    return emitOpError("mixes tensors and buffers");
  }
  if (onBuffers && (getScratch() != nullptr) == getScratchBytes().getValue().is(0)) {
    return emitOpError("needs a buffer for its scratch bytes, and none if there are none");
  }
  if (getDataDependentSize() &&
      (!getDataDependentSize()->getValue().isDataDependent() || getNumResults() + getInto().size() == 0)) {
    return emitOpError("finds a size that is no data-dependent symbol, or has no result to leave it in");
  }
  if (getDataDependentSize() && getDevice()) {
    return emitOpError("finds a size on a device, where the run cannot read it");
  }
  auto isElsewhere = [&](Value v) {
    auto buffer = dyn_cast<BufferType>(v.getType());
    return buffer && buffer.getDevice() != static_cast<int64_t>(getDevice());
  };
  return llvm::none_of(getOperands(), isElsewhere) ? success()
                                                   : emitOpError("has an operand in the memory of another device");
}

void LaunchOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    bool isRead = operand.getOperandNumber() < getIns().size();
    if (isa<BufferType>(operand.get().getType())) {
      isRead ? effects.emplace_back(MemoryEffects::Read::get(), &operand)
             : effects.emplace_back(MemoryEffects::Write::get(), &operand);
    }
  }
  // Such a launch may end the run or find a size that others mention, so it stays although nobody reads its results.
  if (getChecked() || getDataDependentSize()) {
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

// The memory form

LogicalResult SlotOp::verify() {
  bool placed = getAt().has_value();
  bool good =
      isAmount(getBytes()) &&
      !(placed && (static_cast<int64_t>(*getAt()) < 0 || !getAbove().empty() || !getBytes().getValue().isNumber()));
  if (!good) {
    return emitOpError(
        "needs bytes that are a known size; one with a place has a number of them, and lies above nothing");
  }
  auto isBelow = [&](Value v) {
    auto slot = v.getDefiningOp<SlotOp>();
    return slot && slot.getDevice() == getDevice();
  };
  return llvm::all_of(getAbove(), isBelow) ? success() : emitOpError("lies above what is no slot of its memory");
}

LogicalResult SlotOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(MemoryType::get(context, static_cast<int64_t>(adaptor.getDevice())));
  return success();
}

LogicalResult WeightsOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(MemoryType::get(context, static_cast<int64_t>(adaptor.getDevice())));
  return success();
}

LogicalResult HostAllocationOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  types.push_back(MemoryType::get(context, static_cast<int64_t>(adaptor.getDevice())));
  return success();
}

LogicalResult HostAllocationOp::verify() {
  return getOutput() && getDevice() ? emitOpError("is an output, which is in the host's memory") : success();
}

/// Returns the device in whose memory a value of such a type lies.
static int64_t deviceOfType(Type type) {
  auto memory = dyn_cast<MemoryType>(type);
  return memory ? memory.getDevice() : cast<BufferType>(type).getDevice();
}

LogicalResult BufferOp::verify() {
  if (deviceOfType(getMemory().getType()) != getType().getDevice()) {
    return emitOpError("lies in the memory of another device");
  }
  return isAmount(getOffset()) ? success() : emitOpError("needs an offset that is a known size and not negative");
}

LogicalResult NeedOp::verify() {
  if (deviceOfType(getMemory().getType()) && !getKept().getValue().is(0)) {
    return emitOpError("keeps bytes in the memory of a device");
  }
  if (!getMemory().getDefiningOp<HostAllocationOp>()) {
    return emitOpError("needs a memory that the run asks for");
  }
  return isAmount(getKept()) && isAmount(getBytes()) ? success() : emitOpError("needs bytes that are known sizes");
}

LogicalResult ReleaseOp::verify() {
  return getMemory().getDefiningOp<HostAllocationOp>() ? success()
                                                       : emitOpError("needs a memory that the run asks for");
}

LogicalResult CopyOp::verify() {
  int64_t from = getFrom().getType().getDevice(), to = getTo().getType().getDevice();
  if (from != to && from != 0 && to != 0) {
    return emitOpError("copies from one device to another, for which there is no way but over the host");
  }
  if (from != to && getFrom().getType().getTensor() != getTo().getType().getTensor()) {
    return emitOpError("makes another tensor of what crosses");
  }
  return isAmount(physicalBytes(getFrom().getType().getTensor())) ? success()
                                                                  : emitOpError("needs a buffer of known size");
}

LogicalResult FetchOp::verify() {
  if ((getY() != nullptr) == (getInto() != nullptr)) {
    return emitOpError("has a result or reads into a buffer, which are two forms of it");
  }
  auto type = getInto() ? getInto().getType().getTensor() : dyn_cast<RankedTensorType>(getY().getType());
  bool isBytes = type && type.hasStaticShape() && onnx::isInt(type.getElementType(), 8) && !type.getEncoding();
  if (!isBytes || static_cast<int64_t>(getAt()) < 0) {
    return emitOpError("reads a known number of bytes from a place that is not negative");
  }
  return success();
}

LogicalResult WaitOp::verify() {
  return static_cast<int64_t>(getDevice()) > 0 ? success() : emitOpError("waits for the host");
}

static LogicalResult verifyOnHost(Operation *op, BufferType buffer) {
  return buffer.getDevice() == 0 ? success() : op->emitOpError("needs a buffer in the host's memory");
}
LogicalResult ReadOp::verify() { return verifyOnHost(*this, getBuffer().getType()); }
LogicalResult WriteOp::verify() { return verifyOnHost(*this, getBuffer().getType()); }

LogicalResult CheckOp::verify() {
  ArrayRef<Size> sizes = getSizes().getValues();
  bool known = llvm::none_of(sizes, [](const Size &size) { return size.isUnknown(); });
  return known && (sizes.size() == 1 || sizes.size() == 2) ? success() : emitOpError("needs one or two known sizes");
}

LogicalResult LoopOp::verify() {
  if (getNumber().getValue().kind() != support::SymbolKind::Iteration) {
    return emitOpError("needs a symbol of an iteration");
  }
  return isa<NextOp>(getBody().front().getTerminator()) ? success()
                                                        : emitOpError("has a body that does not end with a next");
}

// Devices

SmallVector<StringRef> devicesOf(Operation *function) {
  auto names = function->getAttrOfType<ArrayAttr>(devicesName);
  SmallVector<StringRef> specs;
  for (Attribute name : names ? names.getValue() : ArrayRef<Attribute>()) {
    specs.push_back(cast<StringAttr>(name).getValue());
  }
  return specs;
}

int64_t deviceOf(KernelOp kernel) {
  SmallVector<StringRef> all = devicesOf(kernel->getParentOfType<FunctionOpInterface>());
  auto it = llvm::find(all, kernel.getTarget());
  return it == all.end() ? 0 : it - all.begin() + 1;
}

int64_t deviceOf(DictionaryAttr attributes) {
  auto number = attributes ? attributes.getAs<IntegerAttr>(deviceName) : IntegerAttr();
  return number ? number.getInt() : 0;
}

int64_t deviceOf(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function ? deviceOf(function.getArgAttrDict(argument.getArgNumber())) : 0;
  }
  return llvm::TypeSwitch<Operation *, int64_t>(tensor.getDefiningOp())
      .Case([](KernelOp kernel) { return deviceOf(kernel); })
      .Case<LaunchOp, WeightOp, TransferOp>([](auto op) { return static_cast<int64_t>(op.getDevice()); })
      .Case([](ViewOp view) { return deviceOf(view.getX()); })
      .Case<JoinOp, BundleOp>([](auto whole) { return deviceOf(whole.getOperand(0)); })
      .Default(int64_t(0));
}

// Discardable attributes are checked here, so that whoever reads them need not check.

/// Returns whether an attribute is a list of numbers from 0 on and below `count`.
static bool areBelow(Attribute numbers, int64_t count) {
  auto array = dyn_cast<DenseI64ArrayAttr>(numbers);
  return array && llvm::all_of(array.asArrayRef(), [&](int64_t n) { return n >= 0 && n < count; });
}

LogicalResult PlanDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  const char *expected = nullptr;
  auto expect = [&](bool good, const char *what) { expected = good ? nullptr : what; };
  auto launch = dyn_cast<LaunchOp>(op);
  int64_t operands = launch ? launch.getIns().size() : 0;
  if (name == inPlaceName) {
    expect(areBelow(value, operands), "numbers of a launch's operands");
  } else if (name == extendsName) {
    auto number = dyn_cast<IntegerAttr>(value);
    expect(number && number.getInt() >= 0 && number.getInt() < operands, "the number of a launch's operand");
  } else if (name == devicesName) {
    auto names = dyn_cast<ArrayAttr>(value);
    expect(names && llvm::all_of(names, llvm::IsaPred<StringAttr>), "names of targets");
  } else if (name == objectName) {
    auto bytes = dyn_cast<DenseIntElementsAttr>(value);
    expect(bytes && onnx::isInt(bytes.getElementType(), 8) && bytes.getType().getRank() == 1, "a tensor of bytes");
  } else if (name == errorName) {
    expect(launch && isa<IntegerAttr>(value), "an integer attribute of a launch");
  } else if (name == textName) {
    expect(launch && isa<BoolAttr>(value), "a boolean attribute of a launch");
  }
  return expected ? op->emitOpError("attribute '") << name << "' must be " << expected : success();
}

} // namespace ingot::plan
