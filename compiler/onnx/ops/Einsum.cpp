// Takes an equation term by term: axes that a term repeats are masked to their diagonal, and axes that nothing later
// names are summed away. A pair of terms becomes one batched matrix product: axes of both terms and of what follows are
// the batch, and axes of both alone are contracted.
#include "compiler/onnx/ops/Einsum.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Reduce.h"
#include "compiler/onnx/ops/Select.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/Ranks.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Einsum.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

namespace {
/// The names of axes; those that an ellipsis stands for are digits, the last one '9'.
struct Equation {
  SmallVector<std::string> terms;
  std::string result;
};
} // namespace

static constexpr int64_t mostHidden = 10; // the most axes that an ellipsis may stand for

/// Returns whether an ellipsis stands for an axis.
static bool isHidden(char axis) { return llvm::isDigit(axis); }

/// Returns a term with its ellipsis replaced by `hidden` digits.
static std::string spelled(StringRef term, int64_t hidden) {
  std::string digits;
  for (int64_t i = mostHidden - hidden; i < mostHidden; ++i) {
    digits += static_cast<char>('0' + i);
  }
  size_t dots = term.find("...");
  return dots == StringRef::npos ? term.str() : (term.take_front(dots) + digits + term.drop_front(dots + 3)).str();
}

/// Without an arrow the result has the axes of the ellipsis, and then those that occur once, in alphabetical order.
static FailureOr<Equation> parseEquation(EinsumOp op) {
  std::string text = op.getEquation().str();
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != op.getXs().size()) {
    return op.emitOpError("equation '") << op.getEquation() << "' has " << terms.size() << " terms for "
                                        << op.getXs().size() << " operands",
           failure();
  }
  Equation e;
  int64_t most = 0;
  for (auto [term, x] : llvm::zip_equal(terms, op.getXs())) {
    int64_t letters = llvm::count_if(term, [](char c) { return std::isalpha(static_cast<unsigned char>(c)); });
    bool hides = term.contains("...");
    int64_t hidden = ranked(x).getRank() - letters;
    if (hidden < 0 || (hidden > 0 && !hides) || hidden > mostHidden ||
        letters + (hides ? 3 : 0) != static_cast<int64_t>(term.size())) {
      return op.emitOpError("term '") << term << "' does not fit " << x.getType(), failure();
    }
    most = std::max(most, hides ? hidden : 0);
    e.terms.push_back(spelled(term, hidden));
  }
  if (text.find("->") != std::string::npos) {
    e.result = spelled(right, most);
    return e;
  }
  std::string all = llvm::join(e.terms, "");
  e.result = spelled("...", most);
  std::string once;
  for (char c : all) {
    if (std::isalpha(static_cast<unsigned char>(c)) && llvm::count(all, c) == 1) {
      once += c;
    }
  }
  llvm::sort(once);
  e.result += once;
  return e;
}

/// Returns sizes by the names of axes; nothing when they contradict. Open ones must be equal when the model runs,
/// except those that an ellipsis stands for, of which one may be 1.
static std::optional<std::map<char, Size>> sizesOf(EinsumOp op, const Equation &e) {
  std::map<char, Size> sizes;
  for (auto [term, x] : llvm::zip_equal(e.terms, op.getXs())) {
    for (auto [c, d] : llvm::zip_equal(term, sizesOf(ranked(x)))) {
      Size &size = sizes.try_emplace(c, 1).first->second;
      if (isHidden(c)) {
        auto both = broadcast(op, {size}, {d});
        if (!both) {
          return std::nullopt;
        }
        size = both->front();
      } else if (size.repeats()) {
        size = d;
      } else if (!d.repeats() && failed(require(op, size, d))) {
        return std::nullopt;
      } else if (d.isNumber() && !d.repeats()) {
        size = d;
      }
    }
  }
  return sizes;
}

/// Where an operand's rank is not known, a result without an ellipsis still tells its own.
LogicalResult EinsumOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = elementOf(getXs().front());
  if (!llvm::all_of(getXs(), [](Value x) { return ranked(x) != nullptr; })) {
    auto [left, result] = getEquation().split("->");
    bool isSpelled = getEquation().contains("->") && !result.contains('.');
    int64_t letters = llvm::count_if(result, [](char c) { return c != ' '; });
    return push(types, typeOfRank(*this, isSpelled ? std::optional(letters) : std::nullopt, element));
  }
  auto e = parseEquation(*this);
  if (failed(e)) {
    return failure();
  }
  auto sizes = sizesOf(*this, *e);
  if (!sizes) {
    return emitOpError("an axis of equation '") << getEquation() << "' has sizes that differ";
  }
  Sizes shape;
  for (char c : e->result) {
    auto it = sizes->find(c);
    if (it == sizes->end()) {
      return emitOpError("the result of equation '") << getEquation() << "' has an axis that no term has";
    }
    shape.push_back(it->second);
  }
  types.push_back(sizedType(shape, element));
  return success();
}

namespace {
/// A value whose axes have names, each of which occurs once.
struct Named {
  Value v;
  std::string axes;
};

class Rewrite {
public:
  Rewrite(ValueRange xs, PatternRewriter &b, Location loc, Equation e) : b(b), loc(loc), e(std::move(e)), xs(xs) {}

  Value run() {
    Named total;
    for (size_t i = 0; i < xs.size(); ++i) {
      std::string later = e.result;
      for (size_t j = i + 1; j < xs.size(); ++j) {
        later += e.terms[j];
      }
      Named x = diagonal({xs[i], e.terms[i]});
      if (i == 0) {
        total = keep(x, later);
        continue;
      }
      x = keep(x, later + total.axes);
      total = keep(multiply(total, x, later), later);
    }
    return ordered(total, e.result).v;
  }

private:
  PatternRewriter &b;
  Location loc;
  Equation e;
  ValueRange xs;

  static bool has(StringRef axes, char c) { return axes.contains(c); }
  static Size sizeOf(const Named &x, char c) { return ingot::onnx::sizeOf(ranked(x.v), x.axes.find(c)); }
  Value list(ArrayRef<int64_t> v) { return makeIntegers(b, loc, v); }

  Value sum(Value v, ArrayRef<int64_t> axes) {
    auto drop = b.getNamedAttr("keepdims", b.getI64IntegerAttr(0));
    return make<ReduceSumOp>(b, loc, {v, list(axes)}, {drop});
  }

  /// Takes the diagonal of an axis that a term names twice: elements off the diagonal become zero, then one of the two
  /// axes is summed.
  Named diagonal(Named x) {
    for (size_t j = 1; j < x.axes.size(); ++j) {
      size_t i = x.axes.find(x.axes[j]);
      if (i == j) {
        continue;
      }
      auto type = ranked(x.v);
      auto scalar = tensorOf({}, type.getElementType());
      Value zero =
          makeConstant(b, loc, constantFromBytes(scalar, std::vector<char>(elementBytes(type.getElementType()), 0)));
      Value mask = equalPlaces(ingot::onnx::sizeOf(type, j), type.getRank(), i, j);
      x.v = sum(make<WhereOp>(b, loc, {mask, x.v, zero}), {static_cast<int64_t>(j)});
      x.axes.erase(j--, 1);
    }
    return x;
  }

  /// Returns which of `n` places along two of `rank` axes are equal.
  Value equalPlaces(const Size &n, int64_t rank, int64_t first, int64_t second) {
    Sizes rows(rank, 1), columns(rank, 1);
    rows[first] = columns[second] = n;
    if (!n.isNumber()) {
      Formula f(b, loc);
      Value places = f.countTo(f.scalar(n));
      return f.op("Equal", {f.reshapeTo(places, rows), f.reshapeTo(places, columns)});
    }
    int64_t length = n.number();
    std::vector<char> eye(length * length, 0);
    for (int64_t k = 0; k < length; ++k) {
      eye[k * length + k] = 1;
    }
    rows[second] = n;
    return makeConstant(b, loc, constantFromBytes(sizedType(rows, b.getI1Type()), std::move(eye)));
  }

  /// Sums away axes that are not among `wanted`.
  Named keep(Named x, StringRef wanted) {
    SmallVector<int64_t> gone;
    std::string left;
    for (auto [i, c] : llvm::enumerate(x.axes)) {
      if (has(wanted, c)) {
        left += c;
      } else {
        gone.push_back(i);
      }
    }
    return gone.empty() ? x : Named{sum(x.v, gone), left};
  }

  Named ordered(Named x, StringRef order) {
    SmallVector<int64_t> perm =
        llvm::map_to_vector(order, [&](char c) { return static_cast<int64_t>(x.axes.find(c)); });
    if (x.axes != order) {
      x.v = make<TransposeOp>(b, loc, {x.v}, {b.getNamedAttr("perm", b.getDenseI64ArrayAttr(perm))});
    }
    return {x.v, order.str()};
  }

  Value reshape(Value v, ArrayRef<Size> shape) { return Formula(b, loc).reshapeTo(v, shape); }

  /// Multiplies two terms. For "bij,bjk->bik" the batch is b, j is contracted, and i and k are left and right:
  ///
  ///   x as [b, i, j] times y as [b, j, k] is [b, i, k]
  ///
  /// Several axes of a kind are joined to one before the product and split again behind it.
  Named multiply(Named x, Named y, StringRef later) {
    std::string batch, contracted, left, right;
    for (char c : x.axes) {
      (!has(y.axes, c) ? left : has(later, c) ? batch : contracted) += c;
    }
    llvm::copy_if(y.axes, std::back_inserter(right), [&](char c) { return !has(x.axes, c); });
    // Products element by element broadcast an axis that is summed; batches of matrices broadcast by themselves.
    auto differs = [&](char c) { return broadcasts(c, sizeOf(x, c), sizeOf(y, c)); };
    if (contracted.empty() || llvm::any_of(contracted, differs)) {
      return elementwise(x, y, batch + left + contracted, right);
    }
    x = ordered(x, batch + left + contracted), y = ordered(y, batch + contracted + right);
    Sizes batchX, batchY;
    if (llvm::any_of(batch, differs)) {
      for (char c : batch) {
        batchX.push_back(sizeOf(x, c));
        batchY.push_back(differs(c) ? sizeOf(y, c) : sizeOf(x, c));
      }
    } else {
      batchX = batchY = {total(x, batch)};
    }
    Size k = total(x, contracted);
    batchX.append({total(x, left), k}), batchY.append({k, total(y, right)});
    Value product = make<MatMulOp>(b, loc, {reshape(x.v, batchX), reshape(y.v, batchY)});
    Sizes shape;
    for (auto [i, c] : llvm::enumerate(batch)) {
      shape.push_back(differs(c) ? ingot::onnx::sizeOf(ranked(product), i) : sizeOf(x, c));
    }
    llvm::append_range(shape, llvm::map_range(left, [&](char c) { return sizeOf(x, c); }));
    llvm::append_range(shape, llvm::map_range(right, [&](char c) { return sizeOf(y, c); }));
    return {reshape(product, shape), batch + left + right};
  }

  /// Returns how many elements some axes have together.
  static Size total(const Named &x, StringRef axes) {
    Size size = 1;
    for (char c : axes) {
      size = size * sizeOf(x, c);
    }
    return size;
  }

  /// Returns whether one of two sizes of an axis may be 1 where the other is more.
  static bool broadcasts(char axis, const Size &a, const Size &b) {
    return !(a == b) && (isHidden(axis) || a.repeats() || b.repeats());
  }

  /// Multiplies element by element where nothing is contracted, or where an axis that is may be broadcast; keep() sums
  /// then.
  Named elementwise(Named x, Named y, const std::string &first, const std::string &right) {
    std::string shared;
    llvm::copy_if(first, std::back_inserter(shared), [&](char c) { return has(y.axes, c); });
    x = ordered(x, first), y = ordered(y, shared + right);
    // Sizes that must be equal are written as one size, which broadcasts nothing.
    auto sharedSize = [&](char c) {
      Size a = sizeOf(x, c), b = sizeOf(y, c);
      return broadcasts(c, a, b) ? b : a;
    };
    Sizes wideX, wideY;
    for (char c : first) {
      wideX.push_back(sizeOf(x, c));
      wideY.push_back(has(shared, c) ? sharedSize(c) : Size(1));
    }
    for (char c : right) {
      wideX.push_back(1);
      wideY.push_back(sizeOf(y, c));
    }
    return {make<MulOp>(b, loc, {reshape(x.v, wideX), reshape(y.v, wideY)}), first + right};
  }
};
} // namespace

LogicalResult EinsumOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getY()) || !llvm::all_of(getXs(), isSized)) {
    return failure();
  }
  auto e = parseEquation(*this);
  if (failed(e)) {
    return failure();
  }
  // Products have 32 bits and more. Narrower types keep the low bits of these sums.
  Formula f(rewriter, getLoc());
  Type element = elementOf(getY());
  bool isNarrow = element.isInteger() && element.getIntOrFloatBitWidth() < 32;
  Type wide = isNarrow ? Type(rewriter.getI32Type()) : element;
  auto xs = llvm::map_to_vector(getXs(), [&](Value x) { return f.cast(x, wide, numberOfElement(wide)); });
  Value y = Rewrite(xs, rewriter, getLoc(), std::move(*e)).run();
  rewriter.replaceOp(*this, f.cast(y, element, numberOfElement(element)));
  return success();
}

void registerEinsum(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Einsum.cpp.inc"
      >();
}

} // namespace ingot::onnx
