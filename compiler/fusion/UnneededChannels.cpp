// Removes channels between two convolutions that make no difference, as pruning leaves them:
// - those that the second convolution multiplies by zeros alone;
// - constant ones, whose filter in the first convolution is all zeros. What they are, behind the elementwise ops and
//   depthwise convolutions in between, goes into the second one's bias. Where the second one pads its image, or a
//   depthwise one does, such channels must be zeros, as the padding is;
// - those that are made by the same filters as another channel. Their weights in the second convolution are added to
//   that channel's.
//
// Nothing is removed unless fewer blocks of channels are left.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/constants/EvaluateElementwise.h"
#include "compiler/onnx/ops/Conv.h"
#include <cmath>

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Kernels compute channels in blocks as long as a vector, so only a block less saves time. The machine is not known in
/// this room: eight floats, a vector of AVX, stand for the shortest vectors with which that makes a difference.
constexpr int64_t block = 8;

/// Constant float32 weights of a convolution, a row for each output channel.
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
  /// Returns the number of weights that connect one input channel with one output channel.
  int64_t taps() const { return onnx::elements(ArrayRef(shape).drop_front(2)); }
  /// Returns all weights of an output channel.
  ArrayRef<float> of(int64_t out) const { return data.slice(out * shape[1] * taps(), shape[1] * taps()); }
  /// Returns the weights that connect an input channel with an output channel.
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

/// Returns whether an input channel is multiplied by anything but zeros.
bool Filters::reads(int64_t in) const {
  return llvm::any_of(llvm::seq(shape[0]), [&](int64_t out) { return !isZero(of(out, in)); });
}

/// Returns whether the weights of a convolution are constant float32, and its bias is constant or absent.
bool hasFilters(onnx::ConvOp conv) {
  auto w = onnx::ranked(conv.getW());
  return w && w.hasStaticShape() && w.getElementType().isF32() && onnx::constantOf(conv.getW()) &&
         onnx::ranked(conv.getX()) && (!onnx::present(conv.getB()) || onnx::constantOf(conv.getB()));
}

bool isDepthwise(onnx::ConvOp conv) {
  auto w = onnx::ranked(conv.getW());
  return static_cast<int64_t>(conv.getGroup()) == w.getDimSize(0) && w.getDimSize(1) == 1;
}

/// Returns what an elementwise step makes of one number for each channel; nothing where that cannot be computed now.
std::optional<SmallVector<double>> stepped(Operation *step, ArrayRef<double> values) {
  OpBuilder b(step->getContext()); // these ops are in no block: they exist to be evaluated
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

/// The way from one convolution to the next, on which every value has one reader.
struct Path {
  onnx::ConvOp first, last;
  SmallVector<Operation *> between; ///< steps and depthwise convolutions, in their order

  /// Returns the path that ends in `last` and begins at the nearest convolution without groups; nothing if an op on it
  /// may mix channels.
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

/// What becomes of the channels between the two convolutions.
struct Channels {
  SmallVector<std::optional<double>> constants; ///< the value of each channel that has one value everywhere
  SmallVector<int64_t> twins; ///< for each channel the first one that is made by the same filters, perhaps itself
  /// The channels that are still made, in their order.
  SmallVector<int64_t> kept;
};

/// Replaces the two convolutions and what is between them, found by the second one.
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
      channels.kept.push_back(0); // a tensor of no channels would be another special case everywhere
    }
    rebuild(*path, filters, channels, rewriter);
    return success();
  }

private:
  /// Returns the values of those channels, as the last convolution reads them, that are one number everywhere.
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

  /// Computes what a depthwise convolution makes of constant channels. A constant other than 0 stays one only without
  /// padding, whose zeros change the sums at the edges.
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

  /// Returns, for each channel, the first one that all convolutions of the path make by the same filters and bias.
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
    std::map<float, SmallVector<int64_t>>
        seen; // channels so far, by their first weight, so that few pairs are compared
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

  /// Makes a copy of a convolution that makes only the output channels `kept`.
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

  /// Returns the last convolution's weights for the channels that are kept. What the constant channels amount to is
  /// added to `bias`, and the weights of a twin to those of its first channel.
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

  /// Writes all ops of the path for the channels that are kept.
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
