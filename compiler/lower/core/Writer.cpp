#include "compiler/lower/core/Writer.h"
#include "compiler/lower/core/LlvmAttributes.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/plan/IndexWidth.h"
#include "compiler/plan/KernelAttributes.h"
#include "compiler/target/Platform.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace ingot::lower {

Type valueType(Type element) { return onnx::valueType(element); }
Type memoryType(Type element) {
  if (onnx::isNarrowFloat(element)) {
    return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth() <= 8 ? 8 : 16);
  }
  Type type = valueType(element);
  return onnx::isBool(type) ? Type(IntegerType::get(element.getContext(), 8)) : type;
}
Buffer bufferOf(Value memref, Type element) {
  return {memref, valueType(element), onnx::isNarrowFloat(element) ? element : Type()};
}

int64_t memoryExtent(const support::Size &elements) {
  return elements.isNumber() ? elements.number() : int64_t(1) << 40;
}

Value Writer::constant(const support::Number &v, Type type) {
  return arith::ConstantOp::create(b, loc, onnx::constantOfType(type, v));
}

Type Writer::vectorOf(Type element, int64_t lanes) {
  return lanes == 1 ? element : Type(VectorType::get({lanes}, element));
}
Value Writer::splat(Value scalar, int64_t lanes) {
  if (lanes == 1) {
    return scalar;
  }
  // A float16 is widened in all lanes: from memory to lanes, and there, is two instructions instead of four.
  auto widened = machine.f16Conversions ? scalar.getDefiningOp<arith::ExtFOp>() : arith::ExtFOp();
  if (widened && widened.getIn().getType().isF16()) {
    return arith::ExtFOp::create(b, loc, vectorOf(scalar.getType(), lanes), splat(widened.getIn(), lanes));
  }
  return vector::BroadcastOp::create(b, loc, vectorOf(scalar.getType(), lanes), scalar);
}

// These write control flow.

void Writer::loop(Ix from, Ix to, Ix step, llvm::function_ref<void(Ix)> body) {
  loop(from, to, step, {}, [&](Ix i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

SmallVector<Value> Writer::loop(Ix from, Ix to, Ix step, ValueRange carried,
                                llvm::function_ref<SmallVector<Value>(Ix, ValueRange)> body, bool unroll) {
  if (from.known() && to.known() && step.known()) {
    if (from.number() >= to.number()) {
      return SmallVector<Value>(carried);
    }
    if (from.number() + step.number() >= to.number()) {
      return body(from, carried);
    }
  }
  auto f = scf::ForOp::create(b, loc, value(from), value(to), value(step), carried);
  if (!unroll) {
    f->setAttr("llvm.loop_annotation", noUnrolling(b.getContext()));
  }
  OpBuilder::InsertionGuard guard(b);
  Block *block = f.getBody();
  if (carried.empty()) {
    b.setInsertionPoint(block->getTerminator());
    body(ix(f.getInductionVar()), {});
  } else {
    b.setInsertionPointToEnd(block);
    SmallVector<Value> next = body(ix(f.getInductionVar()), f.getRegionIterArgs());
    scf::YieldOp::create(b, loc, next);
  }
  return SmallVector<Value>(f.getResults());
}

void Writer::ifThen(Value condition, llvm::function_ref<void()> body) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op.thenBlock()->getTerminator());
  body();
}

void Writer::ifElse(Value condition, llvm::function_ref<void()> yes, llvm::function_ref<void()> no) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op.thenBlock()->getTerminator());
  yes();
  b.setInsertionPoint(op.elseBlock()->getTerminator());
  no();
}

/// The types of the values are known only when both bodies are written. Until then these stand in an op without
/// results: what writes calls and memory looks for the function and the module around it.
SmallVector<Value> Writer::chooseValues(Value condition, llvm::function_ref<SmallVector<Value>()> yes,
                                        llvm::function_ref<SmallVector<Value>()> no) {
  auto draft = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/true);
  SmallVector<Type> types;
  for (auto [block, body] : {std::pair(draft.thenBlock(), yes), std::pair(draft.elseBlock(), no)}) {
    OpBuilder::InsertionGuard guard(b);
    block->getTerminator()->erase();
    b.setInsertionPointToEnd(block);
    SmallVector<Value> values = body();
    scf::YieldOp::create(b, loc, values);
    types = llvm::to_vector(ValueRange(values).getTypes());
  }
  auto op = scf::IfOp::create(b, loc, types, condition, /*addThenBlock=*/false, /*addElseBlock=*/false);
  op.getThenRegion().takeBody(draft.getThenRegion());
  op.getElseRegion().takeBody(draft.getElseRegion());
  draft.erase();
  return op.getResults();
}

Ixs Writer::choose(Value condition, llvm::function_ref<Ixs()> yes, llvm::function_ref<Ixs()> no) {
  auto valuesOf = [&](llvm::function_ref<Ixs()> branch) {
    return llvm::map_to_vector(branch(), [&](Ix i) { return value(i); });
  };
  SmallVector<Value> values = chooseValues(condition, [&] { return valuesOf(yes); }, [&] { return valuesOf(no); });
  return llvm::map_to_vector<4>(values, [&](Value v) { return ix(v); });
}

SmallVector<std::pair<int64_t, int64_t>, 2> balancedTiles(int64_t extent, int64_t most) {
  if (extent <= 0) {
    return {};
  }
  int64_t n = (extent + most - 1) / most, small = extent / n, larger = extent % n;
  SmallVector<std::pair<int64_t, int64_t>, 2> tiles;
  if (larger) {
    tiles.push_back({small + 1, larger});
  }
  tiles.push_back({small, n - larger});
  return tiles;
}

void Writer::balanced(Ix from, Ix to, int64_t most, llvm::function_ref<void(Ix, int64_t)> body, bool exact) {
  Ix extent = to - from;
  if (extent.known()) {
    for (auto [size, count] : balancedTiles(extent.number(), most)) {
      loop(from, from + size * count, size, [&, size = size](Ix i) { body(i, size); });
      from += size * count;
    }
    return;
  }
  auto tiles = [&](int64_t size) {
    Ix end = to - remainder(to - from, size);
    loop(from, end, size, [&](Ix i) { body(i, size); });
    from = end;
  };
  tiles(most);
  for (int64_t size = most / 2; size > 0; size = exact ? size - 1 : size / 2) {
    if (exact && size < most / 2) {
      ifThen(compare(arith::CmpIPredicate::eq, to - from, size), [&] { body(from, size); });
    } else {
      tiles(size);
    }
  }
}

void Writer::lanes(Ix extent, llvm::function_ref<void(Ix, int64_t, Value)> body) {
  int64_t l = machine.lanes;
  Ix rest = remainder(extent, l), whole = extent - rest;
  loop(0, whole, l, [&](Ix i) { body(i, l, {}); });
  if (l == 1 || rest.is(0)) {
    return;
  }
  if (!machine.maskedAccess) {
    loop(whole, extent, 1, [&](Ix i) { body(i, 1, {}); });
  } else if (rest.known()) {
    body(whole, l, maskFor(rest, l));
  } else {
    Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value(rest), value(0));
    ifThen(any, [&] { body(whole, l, maskFor(rest, l)); });
  }
}

Value Writer::maskFor(Ix count, int64_t lanes) {
  auto type = VectorType::get({lanes}, b.getI1Type());
  if (!count.known()) {
    return vector::CreateMaskOp::create(b, loc, type, ValueRange{value(count)});
  }
  SmallVector<bool> live(lanes, false);
  std::fill_n(live.begin(), std::min(lanes, count.number()), true);
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, live));
}

// These load and store.

/// Returns the type of `v` with another element.
static Type withElement(Writer &w, Value v, Type element) {
  auto vector = dyn_cast<VectorType>(v.getType());
  return w.vectorOf(element, vector ? vector.getNumElements() : 1);
}

/// Returns what was loaded in the form of values: booleans are i1, narrow floats f32.
static Value fromMemory(Writer &w, Value v, Buffer from) {
  if (from.narrow) {
    unsigned bits = from.narrow.getIntOrFloatBitWidth();
    Value code = bits < 8 ? arith::TruncIOp::create(w.b, w.loc, withElement(w, v, w.b.getIntegerType(bits)), v) : v;
    code = arith::BitcastOp::create(w.b, w.loc, withElement(w, v, from.narrow), code);
    return arith::ExtFOp::create(w.b, w.loc, withElement(w, v, from.element), code);
  }
  if (!onnx::isBool(from.element)) {
    return v;
  }
  Value zero = w.constant(0, v.getType());
  return w.compare(arith::CmpIPredicate::ne, v, zero);
}
static Value toMemory(Writer &w, Value v, Buffer to) {
  if (to.narrow) {
    auto widened = v.getDefiningOp<arith::ExtFOp>();
    bool known = widened && getElementTypeOrSelf(widened.getIn().getType()) == to.narrow;
    Value code =
        known ? widened.getIn() : arith::TruncFOp::create(w.b, w.loc, withElement(w, v, to.narrow), v).getResult();
    unsigned bits = to.narrow.getIntOrFloatBitWidth();
    code = w.b.createOrFold<arith::BitcastOp>(w.loc, withElement(w, v, w.b.getIntegerType(bits)), code);
    return bits < 8 ? arith::ExtUIOp::create(w.b, w.loc, withElement(w, v, w.b.getI8Type()), code).getResult() : code;
  }
  if (!onnx::isBool(getElementTypeOrSelf(v.getType()))) {
    return v;
  }
  return arith::ExtUIOp::create(w.b, w.loc, withElement(w, v, w.b.getI8Type()), v);
}
static VectorType memoryVector(Buffer buffer, int64_t lanes) {
  return VectorType::get({lanes}, cast<MemRefType>(buffer.memref.getType()).getElementType());
}

Value Writer::load(Buffer from, Ix at, int64_t lanes, Value mask) {
  if (lanes == 1) {
    return fromMemory(*this, memref::LoadOp::create(b, loc, from.memref, value(at)), from);
  }
  VectorType type = memoryVector(from, lanes);
  Value v;
  if (mask) {
    v = vector::MaskedLoadOp::create(b, loc, type, from.memref, value(at), mask, constant(0, type));
  } else {
    v = vector::LoadOp::create(b, loc, type, from.memref, value(at));
  }
  return fromMemory(*this, v, from);
}

/// Returns how many of the first lanes are live, which maskFor() was given. Nothing for other masks.
static std::optional<Ix> liveLanes(Writer &w, Value mask) {
  if (auto counted = mask.getDefiningOp<vector::CreateMaskOp>()) {
    return Ix(w, counted.getOperand(0));
  }
  DenseElementsAttr lanes;
  if (!matchPattern(mask, m_Constant(&lanes))) {
    return std::nullopt;
  }
  auto live = lanes.getValues<bool>();
  int64_t first = std::distance(live.begin(), llvm::find(live, false));
  return first == llvm::count(live, true) ? std::optional<Ix>(first) : std::nullopt;
}

void Writer::store(Value v, Buffer to, Ix at, Value mask) {
  v = toMemory(*this, v, to);
  std::optional<Ix> live = mask ? liveLanes(*this, mask) : std::nullopt;
  if (live && live->is(1)) { // LLVM 22 would do this too, and store as many bytes as a lane had before it was narrowed
    v = vector::ExtractOp::create(b, loc, v, 0);
  }
  if (!isa<VectorType>(v.getType())) {
    memref::StoreOp::create(b, loc, v, to.memref, value(at));
  } else if (mask) {
    vector::MaskedStoreOp::create(b, loc, to.memref, value(at), mask, v);
  } else {
    vector::StoreOp::create(b, loc, v, to.memref, value(at));
  }
}

void Writer::storePastCaches(Value v, Buffer to, Ix at) {
  v = toMemory(*this, v, to);
  auto type = cast<VectorType>(v.getType());
  llvm::Align alignment(type.getNumElements() * type.getElementTypeBitWidth() / 8);
  vector::StoreOp::create(b, loc, v, to.memref, value(at), /*nontemporal=*/true, alignment);
}

// x86 orders such stores by a fence and by nothing else.
void Writer::finishStores() { LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst, StringRef()); }

static Value laneOffsets(Writer &w, Ix stride, int64_t lanes) {
  Value step = vector::StepOp::create(w.b, w.loc, VectorType::get({lanes}, w.b.getIndexType()));
  return arith::MulIOp::create(w.b, w.loc, step, w.splat(w.value(stride), lanes));
}

/// Loads what `from` has at at + i * stride as lane i. All elements between the lanes are loaded too, and left out in
/// registers, which takes a fraction of a gather's time. Nothing is read behind the last lane.
static Value loadBetween(Writer &w, Buffer from, Ix at, int64_t stride, int64_t lanes, std::optional<Ix> live) {
  Value found;
  for (int64_t j = 0; j < stride; ++j) {
    bool last = j + 1 == stride;
    int64_t begin = last && !live ? stride * (lanes - 1) + 1 - lanes : j * lanes;
    Value mask = live ? w.maskFor(*live * stride - (stride - 1 + begin), lanes) : Value();
    Value part = w.load(from, at + begin, lanes, mask);
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t in = lane * stride / lanes; // the number of the vector
      order.push_back(in < j ? lane : in == j ? lanes + lane * stride - begin : -1);
    }
    found = vector::ShuffleOp::create(w.b, w.loc, found ? found : part, part, order);
  }
  return found;
}

Value Writer::loadStrided(Buffer from, Ix at, Ix stride, int64_t lanes, Value mask) {
  if (lanes == 1 || stride.is(1)) {
    return load(from, at, lanes, mask);
  }
  if (stride.is(0)) {
    return splat(load(from, at), lanes);
  }
  if (stride.expression && (support::Size(1) - *stride.expression).atLeast(0)) { // the axis may repeat
    auto read = [&](Ix known) { return SmallVector<Value>{loadStrided(from, at, known, lanes, mask)}; };
    Value moves = compare(arith::CmpIPredicate::eq, stride, 1);
    return chooseValues(moves, [&] { return read(1); }, [&] { return read(0); })[0];
  }
  constexpr int64_t mostBetween = 4;
  std::optional<Ix> live = mask ? liveLanes(*this, mask) : std::nullopt;
  if (stride.known() && stride.number() > 1 && stride.number() <= mostBetween && (!mask || live)) {
    return loadBetween(*this, from, at, stride.number(), lanes, live);
  }
  return gather(from, at, laneOffsets(*this, stride, lanes), mask ? mask : maskFor(lanes, lanes));
}

Value Writer::gather(Buffer from, Ix at, Value offsets, Value mask) {
  VectorType type = memoryVector(from, cast<VectorType>(offsets.getType()).getNumElements());
  Value v =
      vector::GatherOp::create(b, loc, type, from.memref, ValueRange{value(at)}, offsets, mask, constant(0, type));
  return fromMemory(*this, v, from);
}

void Writer::storeStrided(Value v, Buffer to, Ix at, Ix stride, Value mask) {
  auto type = dyn_cast<VectorType>(v.getType());
  if (!type || stride.is(1)) {
    return store(v, to, at, mask);
  }
  int64_t lanes = type.getNumElements();
  if (!mask) {
    mask = maskFor(lanes, lanes);
  }
  vector::ScatterOp::create(b, loc, /*result=*/Type(), to.memref, ValueRange{value(at)},
                            laneOffsets(*this, stride, lanes), mask, toMemory(*this, v, to));
}

void Writer::prefetch(Buffer from, Ix at, int locality) {
  memref::PrefetchOp::create(b, loc, from.memref, ValueRange{value(at)}, /*isWrite=*/false, locality,
                             /*isDataCache=*/true);
}

Buffer Writer::scratch(Buffer bytes, Ix byteOffset, Type element, int64_t elements) {
  auto type = MemRefType::get({elements}, memoryType(element));
  return bufferOf(memref::ViewOp::create(b, loc, type, bytes.memref, value(byteOffset), ValueRange{}), element);
}

Buffer Writer::local(Type element, int64_t elements) {
  auto type = MemRefType::get({elements}, memoryType(element));
  IntegerAttr alignment = b.getI64IntegerAttr(target::platformOf(machine).alignment);
  return bufferOf(memref::AllocaOp::create(b, loc, type, alignment), element);
}

Value Writer::callLibrary(StringRef name, ValueRange arguments, TypeRange results) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<func::FuncOp>(name);
  if (!callee) {
    OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
    callee = func::FuncOp::create(atEnd, loc, name, b.getFunctionType(arguments.getTypes(), results));
    callee.setPrivate();
  }
  auto call = func::CallOp::create(b, loc, callee, arguments);
  return results.empty() ? Value() : call.getResult(0);
}

Value Writer::address(Buffer buffer) { return memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer.memref); }

Value Writer::elsewhere(Buffer x, Buffer y) { return compare(arith::CmpIPredicate::ne, address(x), address(y)); }

Value Writer::countUp(Buffer counter) {
  Value n = load(counter, 0);
  store(arith::AddIOp::create(b, loc, n, constant(1, n.getType())), counter, 0);
  return n;
}

Value Writer::compare(arith::CmpIPredicate how, Value x, Value y) { return arith::CmpIOp::create(b, loc, how, x, y); }

Value Writer::expOfNegative(Value x) {
  auto exp = math::ExpOp::create(b, loc, x);
  exp->setDiscardableAttr(plan::negativeName, b.getUnitAttr());
  return exp;
}

Value Writer::fma(Value x, Value y, Value z) {
  if (!machine.fusedMultiplyAdd) {
    return arith::AddFOp::create(b, loc, arith::MulFOp::create(b, loc, x, y), z);
  }
  if (isa<VectorType>(x.getType())) {
    return vector::FMAOp::create(b, loc, x, y, z);
  }
  return math::FmaOp::create(b, loc, x, y, z);
}

} // namespace ingot::lower
