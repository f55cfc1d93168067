// Channels between two convolutions that make no difference, as pruning leaves them, are not made:
// - those that the second one multiplies by zeros alone;
// - constant ones, whose filter in the first one is all zeros. What they are, behind elementwise ops and depthwise
//   convolutions in between, goes into the second one's bias. Where that pads its image, or a depthwise one does, they
//   must be zeros, as the padding is;
// - those that are made by the same filters as another channel, whose weights in the second one are added to its own.
//
// It is worth it where fewer blocks of channels are left.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/constants/EvaluateElementwise.h"
#include "compiler/onnx/ops/Conv.h"
#include <cmath>

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Of the shortest vectors that make a difference.
constexpr int64_t block = 8;

/// Constant float32 weights: a row for each output channel.
struct Filters {
  SmallVector<int64_t> shape;
  std::vector<char> storage;
  ArrayRef<float> data;

  explicit Filters(Value v) : shape(onnx::ranked(v).getShape()) {
    ArrayRef<char> bytes = onnx::bytesOf(onnx::constantOf(v), storage);
    data = {reinterpret_cast<const float *>(bytes.data()), bytes.size() / sizeof(float)};
  }
  Filters(const Filters &) = delete;
  Filters(Filters &&) = default;
  int64_t taps() const { return onnx::elements(ArrayRef(shape).drop_front(2)); }
  ArrayRef<float> of(int64_t out) const { return data.slice(out * shape[1] * taps(), shape[1] * taps()); }
  ArrayRef<float> of(int64_t out, int64_t in) const { return of(out).slice(in * taps(), taps()); }
  bool reads(int64_t in) const;
};

Value makeFilters(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, ArrayRef<float> data) {
  std::vector<char> bytes(data.size() * sizeof(float));
  std::copy_n(reinterpret_cast<const char *>(data.data()), bytes.size(), bytes.data());
  return onnx::makeConstant(b, loc,
                            onnx::constantFromBytes(RankedTensorType::get(shape, b.getF32Type()), std::move(bytes)));
}

bool isZero(ArrayRef<float> values) {
  return llvm::all_of(values, [](float v) { return v == 0; });
}

/// Whether an input channel is multiplied by anything but zeros.
bool Filters::reads(int64_t in) const {
  return llvm::any_of(llvm::seq(shape[0]), [&](int64_t out) { return !isZero(of(out, in)); });
}

bool hasFilters(onnx::ConvOp conv) {
  auto w = onnx::ranked(conv.getW());
  return w && w.hasStaticShape() && w.getElementType().isF32() && onnx::constantOf(conv.getW()) &&
         onnx::ranked(conv.getX()) && (!onnx::present(conv.getB()) || onnx::constantOf(conv.getB()));
}

bool isDepthwise(onnx::ConvOp conv) {
  auto w = onnx::ranked(conv.getW());
  return static_cast<int64_t>(conv.getGroup()) == w.getDimSize(0) && w.getDimSize(1) == 1;
}

/// What a step makes of a number for each channel; nothing where that is not known.
std::optional<SmallVector<double>> stepped(Operation *step, ArrayRef<double> values) {
  OpBuilder b(step->getContext()); // ops that are in no block, and only asked
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, b.getF32Type());
  ElementsAttr attribute = onnx::constantFromFloats(type, values);
  Operation *number = onnx::makeConstant(b, step->getLoc(), attribute).getDefiningOp();
  SmallVector<Value> operands(step->getOperands());
  SmallVector<ElementsAttr> constants = llvm::map_to_vector(operands, [](Value v) { return onnx::constantOf(v); });
  operands[0] = number->getResult(0), constants[0] = attribute;
  Operation *op = onnx::createOp(b, step->getLoc(), step->getName().getStringRef(), operands, step->getAttrs());
  ElementsAttr result = onnx::ranked(op->getResult(0)) && onnx::isStatic(op->getResult(0))
                            ? onnx::evaluateElementwise(op, constants)
                            : ElementsAttr();
  op->destroy(), number->destroy();
  return result ? onnx::floatsOf(result) : std::nullopt;
}

/// From one convolution to the next.
struct Path {
  onnx::ConvOp first, last;
  SmallVector<Operation *> between; ///< steps and depthwise convolutions, in their order

  static std::optional<Path> to(onnx::ConvOp last) {
    Path path;
    path.last = last;
    for (Value v = last.getX();;) {
      Operation *op = v.getDefiningOp();
      if (!op || !v.hasOneUse() || op->getBlock() != last->getBlock()) {
        return std::nullopt;
      }
      auto conv = dyn_cast<onnx::ConvOp>(op);
      if (conv ? !hasFilters(conv) : !isStep(op)) {
        return std::nullopt;
      }
      if (conv && conv.getGroup() == 1) {
        path.first = conv;
        std::reverse(path.between.begin(), path.between.end());
        return path;
      }
      if (conv && !isDepthwise(conv)) {
        return std::nullopt;
      }
      path.between.push_back(op);
      v = op->getOperand(0);
    }
  }
};

/// What becomes of the channels.
struct Channels {
  SmallVector<std::optional<double>> constants; ///< of those that are a number
  SmallVector<int64_t> twins;                   ///< for each the first one that is like it
  SmallVector<int64_t> kept;
};

struct CutChannels : OpRewritePattern<onnx::ConvOp> {
  using OpRewritePattern<onnx::ConvOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(onnx::ConvOp last, PatternRewriter &rewriter) const override {
    auto path = hasFilters(last) && last.getGroup() == 1 ? Path::to(last) : std::nullopt;
    int64_t count = path ? onnx::ranked(last.getW()).getDimSize(1) : 0;
    if (count <= block) {
      return failure();
    }
    Filters filters(last.getW());
    Channels channels = {constantsOf(*path), twinsOf(*path), {}};
    std::vector<bool> reads(count);
    for (int64_t c = 0; c < count; ++c) {
      reads[channels.twins[c]] = reads[channels.twins[c]] || filters.reads(c);
    }
    for (int64_t c = 0; c < count; ++c) {
      if (reads[c] && !channels.constants[c]) {
        channels.kept.push_back(c);
      }
    }
    if (llvm::divideCeil(channels.kept.size(), block) >= llvm::divideCeil(count, block)) {
      return failure();
    }
    if (channels.kept.empty()) {
      channels.kept.push_back(0); // a tensor has some
    }
    rebuild(*path, filters, channels, rewriter);
    return success();
  }

private:
  /// What channels are in front of the last convolution, for those that are the same number everywhere.
  static SmallVector<std::optional<double>> constantsOf(Path &path) {
    Filters first(path.first.getW());
    SmallVector<double> values = biasOf(path.first, first.shape[0]);
    SmallVector<bool> known;
    for (int64_t c = 0; c < first.shape[0]; ++c) {
      known.push_back(isZero(first.of(c)));
    }
    for (Operation *op : path.between) {
      auto conv = dyn_cast<onnx::ConvOp>(op);
      if (conv) {
        throughDepthwise(conv, values, known);
      } else if (auto next = stepped(op, values)) {
        values = *next;
      } else {
        llvm::fill(known, false);
      }
    }
    SmallVector<std::optional<double>> constants;
    for (auto [value, is] : llvm::zip_equal(values, known)) {
      bool counts = is && std::isfinite(value) && (value == 0 || isUnpadded(path.last));
      constants.push_back(counts ? std::optional(value) : std::nullopt);
    }
    return constants;
  }

  static void throughDepthwise(onnx::ConvOp conv, MutableArrayRef<double> values, MutableArrayRef<bool> known) {
    Filters filters(conv.getW());
    SmallVector<double> bias = biasOf(conv, filters.shape[0]);
    for (auto [c, value] : llvm::enumerate(values)) {
      ArrayRef<float> taps = filters.of(c);
      bool isNothing = isZero(taps) || (known[c] && value == 0);
      known[c] = isNothing || (known[c] && isUnpadded(conv));
      value = bias[c] + (isNothing ? 0.0 : value * std::accumulate(taps.begin(), taps.end(), 0.0));
    }
  }

  /// For each channel the first one that is made by the same filters.
  static SmallVector<int64_t> twinsOf(Path &path) {
    std::vector<std::pair<Filters, SmallVector<double>>> all;
    int64_t count = onnx::ranked(path.first.getW()).getDimSize(0);
    all.emplace_back(path.first.getW(), biasOf(path.first, count));
    for (Operation *op : path.between) {
      if (auto conv = dyn_cast<onnx::ConvOp>(op)) {
        all.emplace_back(conv.getW(), biasOf(conv, count));
      }
    }
    auto same = [&](int64_t a, int64_t b) {
      return llvm::all_of(
          all, [&](auto &made) { return made.second[a] == made.second[b] && made.first.of(a) == made.first.of(b); });
    };
    SmallVector<int64_t> twins;
    std::map<float, SmallVector<int64_t>> seen; // by the first weight
    for (int64_t c = 0; c < count; ++c) {
      SmallVector<int64_t> &alike = seen[all.front().first.of(c).front()];
      const auto *twin = llvm::find_if(alike, [&](int64_t other) { return same(other, c); });
      twins.push_back(twin == alike.end() ? c : *twin);
      if (twins.back() == c) {
        alike.push_back(c);
      }
    }
    return twins;
  }

  /// A convolution that makes some of its outputs.
  static Value reduced(onnx::ConvOp conv, Value x, int64_t group, ArrayRef<int64_t> kept, PatternRewriter &rewriter) {
    Location loc = conv.getLoc();
    Filters filters(conv.getW());
    SmallVector<double> bias = biasOf(conv, filters.shape[0]), some;
    std::vector<float> data;
    for (int64_t c : kept) {
      llvm::append_range(data, filters.of(c));
      some.push_back(bias[c]);
    }
    filters.shape[0] = static_cast<int64_t>(kept.size());
    Value w = makeFilters(rewriter, loc, filters.shape, data);
    NamedAttrList attributes(conv->getAttrs());
    attributes.set("group", rewriter.getI64IntegerAttr(group));
    Value b = onnx::present(conv.getB()) ? makeBias(rewriter, loc, some) : conv.getB();
    return onnx::make<onnx::ConvOp>(rewriter, loc, {x, w, b}, attributes.getAttrs());
  }

  static Value makeBias(OpBuilder &b, Location loc, ArrayRef<double> values) {
    auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, b.getF32Type());
    return onnx::makeConstant(b, loc, onnx::constantFromFloats(type, values));
  }

  /// The last one's weights for what is left; into them and `bias` goes what the other channels were.
  static std::vector<float> merged(const Filters &filters, const Channels &channels, MutableArrayRef<double> bias) {
    std::vector<float> data;
    for (int64_t out = 0; out < filters.shape[0]; ++out) {
      std::vector<float> row(filters.of(out));
      int64_t taps = filters.taps();
      for (auto [c, constant] : llvm::enumerate(channels.constants)) {
        MutableArrayRef<float> mine = MutableArrayRef(row).slice(c * taps, taps);
        if (constant) {
          bias[out] += *constant * std::accumulate(mine.begin(), mine.end(), 0.0);
          llvm::fill(mine, 0.0F);
        } else if (int64_t twin = channels.twins[c]; twin != static_cast<int64_t>(c)) {
          for (int64_t t = 0; t < taps; ++t) {
            row[twin * taps + t] += mine[t];
          }
        }
      }
      for (int64_t c : channels.kept) {
        llvm::append_range(data, ArrayRef(row).slice(c * taps, taps));
      }
    }
    return data;
  }

  static void rebuild(Path &path, const Filters &filters, const Channels &channels, PatternRewriter &rewriter) {
    auto count = static_cast<int64_t>(channels.kept.size());
    Value v = reduced(path.first, path.first.getX(), 1, channels.kept, rewriter);
    for (Operation *op : path.between) {
      if (auto conv = dyn_cast<onnx::ConvOp>(op)) {
        v = reduced(conv, v, count, channels.kept, rewriter);
        continue;
      }
      SmallVector<Value> operands(op->getOperands());
      operands[0] = v;
      v = onnx::createOp(rewriter, op->getLoc(), op->getName().getStringRef(), operands, op->getAttrs())->getResult(0);
    }
    onnx::ConvOp last = path.last;
    SmallVector<double> bias = biasOf(last, filters.shape[0]);
    std::vector<float> data = merged(filters, channels, bias);
    SmallVector<int64_t> shape = filters.shape;
    shape[1] = count;
    bool hasBias = onnx::present(last.getB()) || llvm::any_of(bias, [](double b) { return b != 0; });
    Value w = makeFilters(rewriter, last.getLoc(), shape, data);
    Value b = hasBias ? makeBias(rewriter, last.getLoc(), bias) : last.getB();
    rewriter.replaceOp(last, onnx::make<onnx::ConvOp>(rewriter, last.getLoc(), {v, w, b}, last->getAttrs()));
  }
};

} // namespace

void populateUnneededChannels(RewritePatternSet &patterns) {
  patterns.addWithLabel<CutChannels>({roundsOtherwise}, patterns.getContext());
}

} // namespace ingot::fusion
