// An instruction adds the products of bytes 2 i and 2 i + 1; of a step over eight bytes lane i of int16 also has those
// of bytes 2 i + 4 and 2 i + 5; of a depthwise convolution of all columns of two neighbouring rows. A sum is largest
// when all bytes by positive weights are 255 and the others 0, and least the other way round.
#include "compiler/integer/Int16Sums.h"
#include "compiler/integer/Int16Factors.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/formats/Products.h"
#include "compiler/onnx/quantization/Quantization.h"

using namespace mlir;

namespace ingot::integer {

namespace {

/// What the sums of positive and of negative weights may be that one lane of int16 adds up.
constexpr int32_t most = std::numeric_limits<int16_t>::max() / std::numeric_limits<uint8_t>::max();
constexpr int64_t dotBytes = 4, mostDots = 2; ///< bytes of a dot product, and the most of those in a step

/// The sums of a run of weights, one behind the other, as a step over `dots` dot products of four has them.
class Lanes {
public:
  explicit Lanes(int64_t dots) : bytes(dots * dotBytes) {}

  /// The weight that byte `at` of all channels is multiplied with; they come in order.
  void add(int64_t at, int8_t weight) {
    if (at / bytes != step) {
      step = at / bytes, sums = {};
    }
    int32_t &sum = sums[at % dotBytes / 2][weight < 0];
    sum += std::abs(weight);
    fit &= sum <= most;
  }
  /// Begins with another output.
  void restart() { step = -1; }
  bool doFit() const { return fit; }

private:
  int64_t bytes, step = -1;
  std::array<std::array<int32_t, 2>, 2> sums{}; ///< of each lane, positive and negative
  bool fit = true;
};

bool doFit(formats::Int8ConvOp op, ArrayRef<int8_t> weights, int64_t dots) {
  auto type = onnx::ranked(op.getW());
  int64_t inGroup = type.getDimSize(1), taps = 1;
  for (int64_t size : type.getShape().drop_front(2)) {
    taps *= size;
  }
  int64_t outputs = type.getDimSize(0), outGroup = outputs / static_cast<int64_t>(op.getGroup());
  Lanes lanes(dots);
  for (int64_t o = 0; o < outputs && lanes.doFit(); ++o) {
    int64_t first = o / outGroup * inGroup; // of all channels
    for (int64_t tap = 0; tap < taps; ++tap) {
      lanes.restart();
      for (int64_t i = 0; i < inGroup; ++i) {
        lanes.add(first + i, weights[(o * inGroup + i) * taps + tap]);
      }
    }
  }
  return lanes.doFit();
}

bool doFit(formats::Int8MatMulOp op, ArrayRef<int8_t> weights, int64_t dots) {
  auto type = onnx::ranked(op.getB());
  int64_t n = type.getShape().back(), k = type.getDimSize(type.getRank() - 2);
  Lanes lanes(dots);
  for (int64_t first = 0, end = weights.size(); first < end && lanes.doFit(); first += k * n) {
    for (int64_t column = 0; column < n && lanes.doFit(); ++column) {
      lanes.restart();
      for (int64_t i = 0; i < k; ++i) {
        lanes.add(i, weights[first + i * n + column]);
      }
    }
  }
  return lanes.doFit();
}

/// Kernels of depthwise convolutions that add up all their columns in int16: then rows are stacked, three of them in
/// one stack.
constexpr int64_t mostTaps = 3;

/// Whether the weights of two neighbouring rows of a plane fit one sum, and those of two neighbouring columns: a kernel
/// may take one for the other.
bool doesPlaneFit(ArrayRef<int8_t> plane, int64_t rows, int64_t columns) {
  for (bool transposed : {false, true}) {
    int64_t lines = transposed ? columns : rows, across = transposed ? rows : columns;
    for (int64_t line = 0; line < std::max<int64_t>(1, lines - 1); ++line) {
      std::array<int32_t, 2> sums{};
      for (int64_t i = 0; i < std::min<int64_t>(2, lines) * across; ++i) {
        int64_t l = line + i / across, a = i % across;
        int8_t weight = plane[transposed ? a * columns + l : l * columns + a];
        sums[weight < 0] += std::abs(weight);
      }
      if (std::max(sums[0], sums[1]) > most) {
        return false;
      }
    }
  }
  return true;
}

int64_t fitsDepthwise(formats::Int8ConvOp op) {
  ElementsAttr constant = onnx::constantOf(op.getW());
  ArrayRef<int64_t> shape = onnx::ranked(op.getW()).getShape();
  if (!constant || shape.size() != 4 || shape[2] > mostTaps || shape[3] > mostTaps) {
    return 0;
  }
  std::vector<char> storage;
  ArrayRef<char> bytes = onnx::bytesOf(constant, storage);
  ArrayRef<int8_t> values(reinterpret_cast<const int8_t *>(bytes.data()), bytes.size());
  for (; !values.empty(); values = values.drop_front(shape[2] * shape[3])) {
    if (!doesPlaneFit(values.take_front(shape[2] * shape[3]), shape[2], shape[3])) {
      return 0;
    }
  }
  return 1;
}

/// Returns two dot products for a step where there are channels for both, and their sums fit; 0: no sums of pairs do.
template <typename Op> int64_t dotsOf(Op op, Value weights, int64_t channels) {
  ElementsAttr constant = onnx::constantOf(weights);
  if (!constant || onnx::ranked(weights).getRank() < 2 || !constant.getNumElements()) {
    return 0;
  }
  std::vector<char> storage;
  ArrayRef<char> bytes = onnx::bytesOf(constant, storage);
  ArrayRef<int8_t> values(reinterpret_cast<const int8_t *>(bytes.data()), bytes.size());
  for (int64_t dots = channels > dotBytes ? mostDots : 1; dots >= 1; --dots) {
    if (doFit(op, values, dots)) {
      return dots;
    }
  }
  return 0;
}

int64_t dotsOf(Operation *op) {
  if (auto conv = dyn_cast<formats::Int8ConvOp>(op)) {
    return dotsOf(conv, conv.getW(), onnx::ranked(conv.getW()).getDimSize(1));
  }
  auto matmul = dyn_cast<formats::Int8MatMulOp>(op);
  return matmul ? dotsOf(matmul, matmul.getB(), onnx::ranked(matmul.getB()).getShape().front()) : 0;
}

} // namespace

void markInt16Sums(func::FuncOp function, FormsOf formsOf) {
  llvm::MapVector<Value, SmallVector<std::pair<Operation *, int64_t>>> products;
  function.walk([&](Operation *op) {
    if (multipliesBytes(op) && formsOf(op).int16Sums) {
      products[op->getOperand(0)].push_back({op, dotsOf(op)});
    }
  });
  auto mark = [](Operation *op, int64_t dots) {
    op->setAttr(onnx::int16DotsName, Builder(op->getContext()).getI64IntegerAttr(dots));
  };
  function.walk([&](formats::Int8ConvOp op) {
    if (isDepthwise(op) && formsOf(op).int16Sums && fitsDepthwise(op)) {
      mark(op, 1);
    }
  });
  for (const auto &[factor, readers] : products) {
    if (llvm::any_of(readers, [](const auto &reader) { return reader.second == 0; })) {
      continue;
    }
    for (auto [op, dots] : readers) {
      mark(op, dots);
    }
  }
}

} // namespace ingot::integer
