#include "compiler/lower/core/Group.h"
#include "compiler/lower/Family.h"
#include "compiler/lower/LowerKernels.h"
#include "compiler/lower/bytes/Narrowing.h"
#include "compiler/lower/core/IndexDistance.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/interfaces/Curve.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/plan/KernelAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace ingot::lower {

Ix Access::at(ArrayRef<Ix> point) const {
  constexpr size_t rows = 2; // axes behind images and channel blocks
  if (!buffer.ring.rows) {
    return Strided::at(point);
  }
  SmallVector<Ix> placed(point);
  placed[rows] = row(point[rows]);
  return Strided::at(placed);
}

support::Strided<Ix> Group::placeIn(const Buffer &buffer, RankedTensorType type) {
  plan::Strides s = plan::stridesOf(type);
  support::Strided<Ix> place = s;
  if (buffer.ring.rows) {
    ArrayRef<int64_t> halo = plan::blockedOf(type).getHalo();
    place.strides[0] = 0, place.strides[1] = buffer.ring.plane;
    place.offset = halo.empty() ? Ix(0) : halo[2] * place.strides[3];
  }
  return place;
}

template <typename F> static void eachAccess(Space &space, F f) {
  for (auto &[value, access] : space.accesses) {
    f(access);
  }
  llvm::for_each(space.results, f);
}

bool Space::mergeable(size_t i) const {
  // Where a last dimension of one element goes, the lanes run along the dimension before it: its elements must be
  // neighbours.
  bool lanesMove = !sizes[i - 1].is(1) && sizes[i].is(1) && block == 1 && i + 1 == sizes.size();
  bool merges = true;
  eachAccess(const_cast<Space &>(*this), [&](const Access &a) {
    merges &= sizes[i - 1].is(1) || sizes[i].is(1) || same(a.strides[i - 1], a.strides[i] * sizes[i]);
    merges &= !lanesMove || a.strides[i - 1].is(0) || a.strides[i - 1].is(1);
  });
  return merges;
}

void Space::merge(size_t i) {
  bool outer = !sizes[i - 1].is(1) && sizes[i].is(1), last = block == 1 && i + 1 == sizes.size();
  eachAccess(*this, [&](Access &a) {
    a.strides[i - 1] = a.strides[outer ? i - 1 : i];
    a.strides.erase(a.strides.begin() + i);
    if (outer && last) { // the lanes now run along what was the dimension before
      a.laneStride = a.strides[i - 1].is(0) ? 0 : 1;
    }
  });
  sizes[i - 1] *= sizes[i];
  sizes.erase(sizes.begin() + i);
}

void Space::collapse() {
  for (size_t i = sizes.size(); i-- > 1;) {
    if (mergeable(i)) {
      merge(i);
    }
  }
}

Group::Group(Writer &w, plan::KernelOp kernel, ArrayRef<Buffer> operands, ArrayRef<Buffer> results)
    : w(w), kernel(kernel), root(kernel.root()),
      isStrict(kernel->getParentOfType<ModuleOp>()->hasAttr(plan::strictName)), operands(operands), results(results) {}

Buffer Group::buffer(Value v) const {
  auto argument = dyn_cast_or_null<BlockArgument>(v);
  return argument ? operands[argument.getArgNumber()] : Buffer();
}
Value Group::outside(Value v) const {
  auto argument = dyn_cast_or_null<BlockArgument>(v);
  return argument ? kernel.getIns()[argument.getArgNumber()] : Value();
}

bool Group::hasEpilogue() const {
  auto yield = cast<plan::YieldOp>(kernel.getBody().front().getTerminator());
  return root && (yield.getValues().size() != root->getNumResults() || yield.getValues()[0] != root->getResult(0));
}

/// Returns how a tensor that broadcasts to `space` is accessed from there; Access and Space list the cases.
static Access accessOf(const Space &space, RankedTensorType type, Buffer buffer) {
  plan::Strides from = plan::stridesOf(type);
  bool blockedSpace = space.block > 1, blocked = from.lanes > 1;
  size_t rank = space.sizes.size(), shift = rank - type.getRank();
  onnx::Sizes sizes = onnx::sizesOf(type);
  onnx::Sizes wanted = onnx::sizesOf(space.type);
  support::Strided<Ix> place = Group::placeIn(buffer, type);
  Access a{{place.offset, Ixs(rank, 0)}, buffer, 1};
  for (size_t i = shift; i < rank; ++i) {
    a.strides[i] = place.strides[i - shift] * Ix(onnx::strideFactor(sizes[i - shift], wanted[i]));
  }
  if (!blockedSpace) {
    bool oneLane = space.sizes.empty() || space.sizes.back().is(1);
    a.laneStride = oneLane ? Ix(1) : sizes.empty() ? Ix(0) : Ix(onnx::strideFactor(sizes.back(), wanted.back()));
    return a;
  }
  bool perChannel = type.getRank() + 1 >= static_cast<int64_t>(rank) && type.getDimSize(1 - shift) != 1;
  a.laneStride = perChannel ? 1 : 0;
  if (perChannel && !blocked) {
    // Blocks of [C] or [N, C] of a row-major tensor are contiguous pieces. Layout assignment sees to it that no pixel
    // axis follows.
    assert(place.strides[1 - shift].is(1) && "row-major operand with pixels in a blocked kernel");
    a.strides[1] = space.block;
  }
  return a;
}

/// Returns `type` with the sizes of `wanted` where only the run knows whether its axes repeat.
static RankedTensorType takenEqual(RankedTensorType type, ArrayRef<onnx::Size> wanted) {
  onnx::Sizes sizes = onnx::sizesOf(type);
  for (auto [size, to] : llvm::zip_equal(sizes, wanted.take_back(sizes.size()))) {
    size = onnx::strideFactor(size, to).isNumber() ? size : to;
  }
  return onnx::sizedType(sizes, type.getElementType());
}

Value Group::isEqual(RankedTensorType type) const {
  onnx::Sizes sizes = onnx::sizesOf(type);
  llvm::DenseSet<std::pair<onnx::Size, onnx::Size>> known;
  Value all;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto t = dyn_cast<RankedTensorType>(argument.getType());
    if (!t || t.getRank() > type.getRank() || plan::blockedOf(t)) {
      continue;
    }
    for (auto [size, to] : llvm::zip_equal(onnx::sizesOf(t), ArrayRef(sizes).take_back(t.getRank()))) {
      if (!onnx::strideFactor(size, to).isNumber() && known.insert({size, to}).second) {
        Value same = w.compare(arith::CmpIPredicate::eq, size, to);
        all = all ? arith::AndIOp::create(w.b, w.loc, all, same).getResult() : same;
      }
    }
  }
  return all;
}

Space Group::space(RankedTensorType type, bool equal) const {
  plan::Strides s = plan::stridesOf(type);
  onnx::Sizes sizes = onnx::sizesOf(type);
  Space space{type, Ixs(s.sizes.begin(), s.sizes.end()), s.lanes, {}, {}};
  Block &body = kernel.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    auto t = dyn_cast<RankedTensorType>(argument.getType());
    if (!t || t.getRank() > type.getRank()) {
      continue;
    }
    bool broadcasts = true;
    for (auto [i, d] : llvm::enumerate(onnx::sizesOf(t))) {
      // Open sizes with different texts may have been required to be equal, so that different texts are no reason not
      // to read.
      const onnx::Size &wanted = sizes[i + sizes.size() - t.getRank()];
      broadcasts &= d == wanted || d.repeats() || !d.isNumber() || !wanted.isNumber();
    }
    // A row-major operand with pixels cannot be read block by block; such roots read it their own way.
    bool pixels =
        s.lanes > 1 && !plan::blockedOf(t) && t.getRank() + 1 >= type.getRank() &&
        t.getDimSize(1 - (type.getRank() - t.getRank())) != 1 &&
        llvm::any_of(t.getShape().drop_front(2 - (type.getRank() - t.getRank())), [](int64_t d) { return d != 1; });
    bool otherBlocks = s.lanes == 1 && plan::blockedOf(t) && !plan::sameMemoryAsPlain(t);
    if (broadcasts && !pixels && !otherBlocks) {
      bool takes = equal && isa_and_nonnull<onnx::SizesAttr>(t.getEncoding());
      space.accesses[argument] = accessOf(space, takes ? takenEqual(t, sizes) : t, operands[argument.getArgNumber()]);
    }
  }
  for (unsigned i = 0; i < results.size(); ++i) {
    RankedTensorType t = resultType(i);
    if (onnx::sizesOf(t) == sizes) {
      space.results.push_back(accessOf(space, t, results[i]));
    }
  }
  return space;
}

Value Group::compute(Value v, const Space &space, const Point &at, llvm::DenseMap<Value, Value> &known) const {
  if (Value have = known.lookup(v)) {
    return have;
  }
  Value result;
  if (isa<BlockArgument>(v)) {
    auto it = space.accesses.find(v);
    assert(it != space.accesses.end() && "region argument does not broadcast to the space it is read in");
    const Access &a = it->second;
    result = w.loadStrided(a.buffer, a.at(at.at), a.laneStride, at.lanes, at.mask);
  } else if (auto constant = v.getDefiningOp(); constant && onnx::constantOf(v)) {
    result = w.constant(*onnx::splatNumber(v), w.vectorOf(valueType(getElementTypeOrSelf(v.getType())), at.lanes));
  } else {
    auto op = cast<onnx::Elementwise>(v.getDefiningOp());
    SmallVector<Value> x;
    for (Value operand : op->getOperands()) {
      x.push_back(onnx::present(operand) ? compute(operand, space, at, known) : Value());
    }
    result = op.emit(w.b, x);
    Type element = op.resultElement();
    if (isStrict && onnx::isNarrowFloat(element)) {
      result = onnx::Num(w.b, w.loc, result, element).to(element);
    }
  }
  known[v] = result;
  return result;
}

Value Group::read(Value v, const Space &space, const Point &at) const {
  llvm::DenseMap<Value, Value> known;
  return compute(v, space, at, known);
}

bool Group::beginSums(const Space &space) {
  Value sums = root->getResult(0);
  auto add = sums.hasOneUse() ? dyn_cast<onnx::AddOp>(*sums.user_begin()) : onnx::AddOp();
  if (!add || !onnx::isInt(getElementTypeOrSelf(sums.getType()), 32) || add.getY().getType() != sums.getType()) {
    return false;
  }
  auto it = space.accesses.find(add.getA() == sums ? add.getB() : add.getA());
  if (it == space.accesses.end() || !isa<BlockArgument>(it->first)) {
    return false;
  }
  for (auto [i, stride] : llvm::enumerate(it->second.strides)) {
    if (i != 1 && !stride.is(0)) {
      return false;
    }
  }
  begun = add.getY();
  return true;
}

Value Group::firstSums(const Space &space, const Point &at) const {
  auto add = begun.getDefiningOp<onnx::AddOp>();
  return read(add.getA() == root->getResult(0) ? add.getB() : add.getA(), space, at);
}

SmallVector<Value> Group::epilogue(Value rootVector, const Space &space, const Point &at) const {
  llvm::DenseMap<Value, Value> known;
  if (root) {
    Type element = getElementTypeOrSelf(root->getResult(0).getType());
    bool rounds = isStrict && onnx::isNarrowFloat(element);
    known[begun ? begun : Value(root->getResult(0))] =
        rounds ? Value(onnx::Num(w.b, w.loc, rootVector, element).to(element)) : rootVector;
  }
  SmallVector<Value> out;
  auto yield = cast<plan::YieldOp>(kernel.getBody().front().getTerminator());
  for (Value v : yield.getValues()) {
    out.push_back(compute(v, space, at, known));
  }
  return out;
}

void Group::finish(Value rootVector, const Space &space, const Point &at) const {
  for (auto [v, access] : llvm::zip_equal(epilogue(rootVector, space, at), space.results)) {
    if (at.pastCaches) {
      w.storePastCaches(v, access.buffer, access.at(at.at));
    } else {
      w.store(v, access.buffer, access.at(at.at), at.mask);
    }
  }
}

bool Group::hasLongEpilogue() const {
  return llvm::any_of(kernel.getBody().front(), [](Operation &op) { return op.hasTrait<onnx::LongFormula>(); });
}

bool Group::isByteCurve() const {
  return w.machine.has(target::Instruction::MultiplyInt16) &&
         llvm::any_of(kernel.getBody().front(), [](Operation &op) { return op.hasAttr(onnx::onlyBytesName); });
}

int64_t Group::keepTile(ArrayRef<Value> rootVectors) const {
  auto vector = dyn_cast<VectorType>(rootVectors.front().getType());
  int64_t lanes = vector ? vector.getNumElements() : 1;
  if (size_t elements = rootVectors.size() * lanes; tileElements < elements) {
    OpBuilder::InsertionGuard guard(w.b);
    auto function = w.b.getInsertionBlock()->getParentOp();
    while (!isa<FunctionOpInterface>(function)) {
      function = function->getParentOp();
    }
    w.b.setInsertionPointToStart(&function->getRegion(0).front());
    tileElements = elements;
    Buffer larger = w.local(getElementTypeOrSelf(rootVectors.front().getType()), static_cast<int64_t>(elements));
    if (tile) { // there is one array for tiles of all sizes
      tile.memref.replaceAllUsesWith(larger.memref);
      tile.memref.getDefiningOp()->erase();
    }
    tile = larger;
  }
  for (auto [i, v] : llvm::enumerate(rootVectors)) {
    w.store(v, tile, static_cast<int64_t>(i) * lanes);
  }
  return lanes;
}

/// Returns as many vectors as fill a register once they are narrowed to bytes, or to int16 that hold unsigned bytes.
int64_t Group::vectorsPerStore(int64_t lanes) const {
  if (results.size() != 1 || results[0].narrow || lanes == 1 || !w.machine.machineCode) {
    return 1;
  }
  auto yield = cast<plan::YieldOp>(kernel.getBody().front().getTerminator());
  auto cast = yield.getValues()[0].getDefiningOp<onnx::CastOp>();
  bool inWords = cast && onnx::isInt(results[0].element, 16) && onnx::isUint(onnx::elementOf(cast.getX()), 8);
  bool inBytes = onnx::isInt(results[0].element, 8) || onnx::isUint(results[0].element, 8);
  int64_t inRegister = inBytes ? 4 : inWords ? 2 : 0;
  return std::max<int64_t>(1, inRegister * w.machine.lanes / lanes);
}

void Group::finishSome(ArrayRef<Value> rootVectors, const Space &space, ArrayRef<Point> points) const {
  int64_t most = vectorsPerStore(points.front().lanes);
  if (most == 1) {
    for (auto [vector, at] : llvm::zip_equal(rootVectors, points)) {
      finish(vector, space, at);
    }
    return;
  }
  const Access &result = space.results.front();
  auto places = llvm::map_to_vector(points, [&](const Point &at) { return result.at(at.at); });
  SmallVector<size_t> left = llvm::to_vector(llvm::seq(points.size()));
  while (!left.empty()) {
    size_t first = left.front();
    SmallVector<size_t> run{first};
    for (size_t i : ArrayRef(left).drop_front()) {
      int64_t next = static_cast<int64_t>(run.size()) * points[first].lanes;
      if (next < most * points[first].lanes && !points[first].mask && !points[i].mask &&
          distance(w, places[first], places[i]) == next) {
        run.push_back(i);
      }
    }
    run.resize(llvm::bit_floor(run.size()));
    llvm::erase_if(left, [&](size_t i) { return llvm::is_contained(run, i); });
    auto vectors = llvm::map_to_vector(run, [&](size_t i) { return epilogue(rootVectors[i], space, points[i])[0]; });
    w.store(concatenatedBytes(w, knownSegments, vectors), result.buffer, places[first], points[first].mask);
  }
}

void Group::finishTile(ArrayRef<Value> rootVectors, int64_t inner, const Space &space,
                       llvm::function_ref<Point(Ix i, int64_t j)> pointAt) const {
  if (rootVectors.empty()) { // it is a part of a tile that has no pixels
    return;
  }
  int64_t count = static_cast<int64_t>(rootVectors.size()) / inner;
  auto rows = [&](Ix first, int64_t many, llvm::function_ref<Value(int64_t index)> vectorAt) {
    SmallVector<Value> vectors;
    SmallVector<Point> points;
    for (int64_t k = 0; k < many * inner; ++k) {
      vectors.push_back(vectorAt(k)), points.push_back(pointAt(first + Ix(k / inner), k % inner));
    }
    finishSome(vectors, space, points);
  };
  constexpr size_t mostOfCurves = 16; // vectors of a function that is short, but not as short as a bound
  bool isCurve = isByteCurve() && rootVectors.size() <= mostOfCurves;
  if (count < 2 || isCurve || !hasLongEpilogue()) {
    return rows(0, count, [&](int64_t k) { return rootVectors[k]; });
  }
  int64_t lanes = keepTile(rootVectors), step = std::min(vectorsPerStore(lanes), count), whole = count / step * step;
  auto load = [&](Ix i) {
    return [this, i, inner, lanes](int64_t k) { return w.load(tile, (i * inner + k) * lanes, lanes); };
  };
  w.loop(0, whole, step, [&](Ix i) { rows(i, step, load(i)); });
  if (whole < count) {
    rows(whole, count - whole, load(whole));
  }
}

void Group::finishPart(ArrayRef<Value> rootVectors, int64_t inner, std::pair<Ix, Ix> rows, std::pair<Ix, Ix> columns,
                       const Space &space, llvm::function_ref<Point(Ix, Ix)> pointAt) const {
  int64_t lanes = keepTile(rootVectors);
  w.loop(rows.first, rows.second, 1, [&](Ix i) {
    w.loop(columns.first, columns.second, 1,
           [&](Ix j) { finishSome(w.load(tile, (i * inner + j) * lanes, lanes), space, pointAt(i, j)); });
  });
}

} // namespace ingot::lower
