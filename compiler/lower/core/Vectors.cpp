#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/ElementTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;

namespace ingot::lower {

/// Exchanges the off-diagonal d x d blocks of two rows.
static std::pair<Value, Value> swapped(Writer &w, Value a, Value b, int64_t d, int64_t lanes) {
  SmallVector<int64_t> low(lanes), high(lanes);
  for (int64_t l = 0; l < lanes; ++l) {
    low[l] = l & d ? lanes + l - d : l;
    high[l] = l & d ? lanes + l : l + d;
  }
  return {vector::ShuffleOp::create(w.b, w.loc, a, b, low), vector::ShuffleOp::create(w.b, w.loc, a, b, high)};
}

SmallVector<Value> transpose(Writer &w, SmallVector<Value> rows) {
  int64_t lanes = rows.size();
  for (int64_t d = lanes / 2; d >= 1; d /= 2) {
    for (int64_t i = 0; i < lanes; ++i) {
      if (!(i & d)) {
        std::tie(rows[i], rows[i + d]) = swapped(w, rows[i], rows[i + d], d, lanes);
      }
    }
  }
  return rows;
}

/// Returns every second of some vectors, from number `first` on.
static SmallVector<Value> everySecond(ArrayRef<Value> vectors, size_t first) {
  SmallVector<Value> result;
  for (size_t i = first; i < vectors.size(); i += 2) {
    result.push_back(vectors[i]);
  }
  return result;
}

SmallVector<Value> interleave(Writer &w, ArrayRef<Value> rows) {
  int64_t count = rows.size(), lanes = cast<VectorType>(rows.front().getType()).getNumElements();
  SmallVector<Value> result;
  if (count == 1) {
    return {rows.front()};
  }
  if (count % 2 == 0) { // the even rows and the odd ones by themselves, and then both lane by lane
    SmallVector<Value> even = interleave(w, everySecond(rows, 0)), odd = interleave(w, everySecond(rows, 1));
    for (auto [a, b] : llvm::zip_equal(even, odd)) {
      for (int64_t first : {int64_t(0), lanes / 2}) {
        SmallVector<int64_t> mask(lanes);
        for (int64_t l = 0; l < lanes; ++l) {
          mask[l] = first + l / 2 + l % 2 * lanes;
        }
        result.push_back(vector::ShuffleOp::create(w.b, w.loc, a, b, mask));
      }
    }
    return result;
  }
  for (int64_t first = 0; first < count * lanes; first += lanes) {
    // One row after the other takes its places; the first two are placed at once.
    Value v = rows.front();
    for (int64_t row = 1; row < count; ++row) {
      SmallVector<int64_t> mask(lanes);
      for (int64_t l = 0; l < lanes; ++l) {
        int64_t from = (first + l) % count, lane = (first + l) / count;
        mask[l] = from == row ? lanes + lane : row == 1 && from == 0 ? lane : l;
      }
      v = vector::ShuffleOp::create(w.b, w.loc, v, rows[row], mask);
    }
    result.push_back(v);
  }
  return result;
}

SmallVector<Value> deinterleave(Writer &w, ArrayRef<Value> vectors) {
  int64_t count = vectors.size(), lanes = cast<VectorType>(vectors.front().getType()).getNumElements();
  SmallVector<Value> result(count, vectors.front());
  if (count % 2 == 0) { // the even lanes of all and the odd ones are apart first
    for (int64_t odd : {0, 1}) {
      SmallVector<Value> half;
      for (int64_t i = 0; i < count; i += 2) {
        SmallVector<int64_t> mask;
        for (int64_t l = 0; l < lanes; ++l) {
          mask.push_back(2 * l + odd);
        }
        half.push_back(vector::ShuffleOp::create(w.b, w.loc, vectors[i], vectors[i + 1], mask));
      }
      for (auto [i, v] : llvm::enumerate(deinterleave(w, half))) {
        result[2 * i + odd] = v;
      }
    }
    return result;
  }
  for (int64_t column = 0; count > 1 && column < count; ++column) {
    // Lanes are taken from one vector after the other, from the first two at once.
    for (int64_t k = 1; k < count; ++k) {
      SmallVector<int64_t> mask(lanes);
      for (int64_t l = 0; l < lanes; ++l) {
        int64_t from = (l * count + column) / lanes, lane = (l * count + column) % lanes;
        mask[l] = from == k ? lanes + lane : k == 1 && from == 0 ? lane : l;
      }
      result[column] = vector::ShuffleOp::create(w.b, w.loc, result[column], vectors[k], mask);
    }
  }
  return result;
}

Value counting(Writer &w, int64_t lanes, int64_t step) {
  auto numbers = llvm::map_to_vector(llvm::seq(lanes), [&](int64_t i) { return static_cast<int32_t>(i * step); });
  auto type = VectorType::get({lanes}, w.b.getI32Type());
  return arith::ConstantOp::create(w.b, w.loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
}

Value acrossEach(Writer &w, Combine how, SmallVector<Value> vectors) {
  int64_t lanes = vectors.size();
  for (int64_t d = lanes / 2; d >= 1; d /= 2) {
    for (int64_t i = 0; i < d; ++i) {
      auto [low, high] = swapped(w, vectors[i], vectors[i + d], d, lanes);
      vectors[i] = combine(w, how, low, high);
    }
  }
  return vectors[0];
}

static bool isFloat(Value v) { return isa<FloatType>(getElementTypeOrSelf(v.getType())); }

Value neutral(Writer &w, Combine how, Type type) {
  Type element = getElementTypeOrSelf(type);
  if (how == Combine::Add || how == Combine::Mul) {
    return w.constant(how == Combine::Mul, type);
  }
  bool max = how == Combine::Max || how == Combine::UnsignedMax || how == Combine::Larger;
  if (isa<FloatType>(element)) {
    double infinity = std::numeric_limits<double>::infinity();
    return w.constant(max ? -infinity : infinity, type);
  }
  unsigned bits = element.getIntOrFloatBitWidth();
  bool isSigned = bits > 1 && (how == Combine::Max || how == Combine::Min);
  APInt value = isSigned ? (max ? APInt::getSignedMinValue(bits) : APInt::getSignedMaxValue(bits))
                         : (max ? APInt::getZero(bits) : APInt::getAllOnes(bits));
  TypedAttr attr = w.b.getIntegerAttr(element, value);
  if (auto vector = dyn_cast<VectorType>(type)) {
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  }
  return arith::ConstantOp::create(w.b, w.loc, attr);
}

Value combine(Writer &w, Combine how, Value a, Value b) {
  auto make = [&]<typename Float, typename Integer>() -> Value {
    return isFloat(a) ? Float::create(w.b, w.loc, a, b).getResult() : Integer::create(w.b, w.loc, a, b).getResult();
  };
  bool bit = onnx::isBool(getElementTypeOrSelf(a.getType())); // a bit that is set is -1 as a signed number
  switch (how) {
  case Combine::Add:
    return make.operator()<arith::AddFOp, arith::AddIOp>();
  case Combine::Mul:
    return make.operator()<arith::MulFOp, arith::MulIOp>();
  case Combine::Max:
    return bit ? combine(w, Combine::UnsignedMax, a, b) : make.operator()<arith::MaximumFOp, arith::MaxSIOp>();
  case Combine::Min:
    return bit ? combine(w, Combine::UnsignedMin, a, b) : make.operator()<arith::MinimumFOp, arith::MinSIOp>();
  case Combine::UnsignedMax:
    return arith::MaxUIOp::create(w.b, w.loc, a, b);
  case Combine::UnsignedMin:
    return arith::MinUIOp::create(w.b, w.loc, a, b);
  case Combine::Larger:
    return arith::SelectOp::create(w.b, w.loc, arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, a, b), a,
                                   b);
  }
  llvm_unreachable("all ways are listed");
}

Value across(Writer &w, Combine how, Value v) {
  auto type = dyn_cast<VectorType>(v.getType());
  if (!type) {
    return v;
  }
  int64_t lanes = type.getNumElements();
  // Halves are combined until one lane is left. So the order is the same on every machine, and there are shuffles
  // instead of a chain of additions.
  for (; lanes > 1; lanes /= 2) {
    SmallVector<int64_t> low(lanes / 2), high(lanes / 2);
    for (int64_t i = 0; i < lanes / 2; ++i) {
      low[i] = i;
      high[i] = i + lanes / 2;
    }
    Value a = vector::ShuffleOp::create(w.b, w.loc, v, v, low), b = vector::ShuffleOp::create(w.b, w.loc, v, v, high);
    v = combine(w, how, a, b);
  }
  return vector::ExtractOp::create(w.b, w.loc, v, 0);
}

Value acrossColumns(Writer &w, Combine how, SmallVector<Value> columns) {
  for (size_t half = llvm::PowerOf2Ceil(columns.size()) / 2; half; half /= 2) {
    for (size_t i = half; i < columns.size(); ++i) { // the lanes that lack have what changes nothing
      columns[i - half] = combine(w, how, columns[i - half], columns[i]);
    }
    columns.resize(std::min(columns.size(), half));
  }
  return columns.front();
}

Value any(Writer &w, Value lanes) {
  return isa<VectorType>(lanes.getType())
             ? vector::ReductionOp::create(w.b, w.loc, vector::CombiningKind::OR, lanes).getResult()
             : lanes;
}

Value tree(Writer &w, Combine how, SmallVector<Value> values) {
  while (values.size() > 1) {
    for (size_t i = 0; i + 1 < values.size(); i += 2) {
      values[i / 2] = combine(w, how, values[i], values[i + 1]);
    }
    if (values.size() % 2) {
      values[values.size() / 2] = values.back();
    }
    values.truncate((values.size() + 1) / 2);
  }
  return values[0];
}

Value counted(Writer &w, Ix count, Type type) {
  if (count.known()) {
    return w.constant(count.number(), type);
  }
  Type element = getElementTypeOrSelf(type);
  Value scalar = w.integer(count, isa<FloatType>(element) ? w.b.getI64Type() : element);
  if (isa<FloatType>(element)) {
    scalar = arith::SIToFPOp::create(w.b, w.loc, element, scalar);
  }
  auto vector = dyn_cast<VectorType>(type);
  return w.splat(scalar, vector ? vector.getNumElements() : 1);
}

} // namespace ingot::lower
