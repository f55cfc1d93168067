// Has the table of ops. Each row says what it cannot do, which is asked before any of it is done, and makes an
// expression. Windows, resizing and stencils are unrolled: all their numbers are known.
#include "Ops.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace Halide;
using ingot::target::ElementType;

namespace halide_target {

std::vector<int> sizesOf(const PieceValue &value) {
  std::vector<int> sizes(value.sizes.size());
  std::transform(value.sizes.begin(), value.sizes.end(), sizes.begin(),
                 [](const ingot::target::PieceSize &size) { return int(size.number); });
  return sizes;
}

namespace {

// These read attributes and constants.

template <typename T> T attribute(const PieceOp &op, const char *name, T otherwise) {
  auto it = op.attributes.find(name);
  return it == op.attributes.end() ? otherwise : std::get<T>(it->second);
}

using Integers = std::vector<int64_t>;

/// Returns an operand that is a constant of int32 or int64; `otherwise` where it is left out.
Integers integers(const Piece &piece, const PieceOp &op, size_t operand, Integers otherwise = {}) {
  if (operand >= op.operands.size() || op.operands[operand] < 0) {
    return otherwise;
  }
  const PieceValue &value = piece.values[op.operands[operand]];
  Integers numbers;
  for (int64_t i = 0; i < value.elements(); ++i) {
    int64_t number = 0;
    if (value.type == ElementType::Int64) {
      std::memcpy(&number, static_cast<const char *>(value.data) + 8 * i, 8);
    } else {
      int32_t narrow = 0;
      std::memcpy(&narrow, static_cast<const char *>(value.data) + 4 * i, 4);
      number = narrow;
    }
    numbers.push_back(number);
  }
  return numbers;
}

const PieceValue &operand(const Piece &piece, const PieceOp &op, size_t i) { return piece.values[op.operands[i]]; }
const PieceValue &result(const Piece &piece, const PieceOp &op) { return piece.values[op.results[0]]; }
bool isFloat(const PieceValue &value) { return value.type == ElementType::Float32; }

// These are elementwise.

/// Reads an operand where the result's indices are given, by numpy's rules.
Expr readBroadcast(const Tensor &x, const Ixs &at) {
  Ixs own;
  for (int axis = 0; axis < x.rank(); ++axis) {
    own.push_back(x.sizes[axis] == 1 ? Expr(0) : at[at.size() - x.rank() + axis]);
  }
  return x.at(own);
}

std::string onlyFloats(const Piece &piece, const PieceOp &op) {
  for (int32_t x : op.operands) {
    if (x >= 0 && !isFloat(piece.values[x])) {
      return "only float32 here";
    }
  }
  return "";
}

std::string sameType(const Piece &piece, const PieceOp &op) {
  ElementType type = operand(piece, op, 0).type;
  bool known = type == ElementType::Float32 || type == ElementType::UInt8;
  return known ? "" : "only float32 and uint8 here";
}

template <typename F> Made elementwise(const OpToMake &op, F formula) {
  Made made;
  made.result.sizes = sizesOf(result(op.piece, op.op));
  made.result.loads = 0;
  for (const Tensor &x : op.operands) {
    made.result.loads += x.at ? x.loads : 0;
  }
  made.result.at = [operands = op.operands, formula](const Ixs &at) {
    std::vector<Expr> x(operands.size());
    std::transform(operands.begin(), operands.end(), x.begin(),
                   [&](const Tensor &operand) { return operand.at ? readBroadcast(operand, at) : Expr(); });
    return formula(x);
  };
  return made;
}

using Elements = const std::vector<Expr> &;
template <Expr (*formula)(Elements)> Made plain(const OpToMake &op) { return elementwise(op, formula); }

/// Makes the formula of any number of operands from that of two.
template <Expr (*two)(Expr, Expr)> Expr fold(Elements x) {
  Expr all = x[0];
  for (size_t i = 1; i < x.size(); ++i) {
    all = two(all, x[i]);
  }
  return all;
}
Expr add(Expr a, Expr b) { return a + b; }
Expr larger(Expr a, Expr b) { return max(a, b); }
Expr smaller(Expr a, Expr b) { return min(a, b); }
Expr subtract(Elements x) { return x[0] - x[1]; }
Expr multiply(Elements x) { return x[0] * x[1]; }
Expr divide(Elements x) { return x[0] / x[1]; }
Expr negate(Elements x) { return -x[0]; }
Expr absolute(Elements x) { return abs(x[0]); }
Expr root(Elements x) { return sqrt(x[0]); }
Expr down(Elements x) { return floor(x[0]); }
Expr up(Elements x) { return ceil(x[0]); }
Expr inverse(Elements x) { return 1.0f / x[0]; }
Expr positive(Elements x) { return max(x[0], 0.0f); }
Expr hardSwish(Elements x) { return x[0] * clamp(x[0] / 6.0f + 0.5f, 0.0f, 1.0f); }
Expr clip(Elements x) {
  Expr low = x.size() > 1 && x[1].defined() ? max(x[0], x[1]) : x[0];
  return x.size() > 2 && x[2].defined() ? min(low, x[2]) : low;
}
Made leakyRelu(const OpToMake &op) {
  auto alpha = float(attribute(op.op, "alpha", 0.01));
  return elementwise(op, [alpha](Elements x) { return select(x[0] < 0.0f, x[0] * alpha, x[0]); });
}
Made hardSigmoid(const OpToMake &op) {
  auto alpha = float(attribute(op.op, "alpha", 0.2)), beta = float(attribute(op.op, "beta", 0.5));
  return elementwise(op, [=](Elements x) { return clamp(x[0] * alpha + beta, 0.0f, 1.0f); });
}

std::string unsupportedCast(const Piece &piece, const PieceOp &op) {
  bool known = operand(piece, op, 0).type == ElementType::UInt8 || isFloat(operand(piece, op, 0));
  return known && isFloat(result(piece, op)) ? "" : "only casts of uint8 to float32 here";
}
Expr toFloat(Elements x) { return cast<float>(x[0]); }

// These are movements.

Made transpose(const OpToMake &op) {
  const Tensor &x = op.operands[0];
  Integers perm = attribute(op.op, "perm", Integers());
  for (int axis = x.rank(); perm.size() < x.sizes.size();) {
    perm.push_back(--axis);
  }
  Made made{{sizesOf(result(op.piece, op.op)), nullptr, x.loads}};
  made.keepsRows = false;
  made.result.at = [x, perm](const Ixs &at) {
    Ixs own(at.size());
    for (size_t i = 0; i < at.size(); ++i) {
      own[perm[i]] = at[i];
    }
    return x.at(own);
  };
  return made;
}

std::string unsupportedSlice(const Piece &piece, const PieceOp &op) {
  for (size_t i = 1; i < op.operands.size(); ++i) {
    if (op.operands[i] >= 0 && !piece.values[op.operands[i]].isConstant()) {
      return "only slices at constant places here";
    }
  }
  return sameType(piece, op);
}
Made slice(const OpToMake &op) {
  const Tensor &x = op.operands[0];
  Integers starts = integers(op.piece, op.op, 1), every(starts.size(), 1), axes;
  for (size_t i = 0; i < starts.size(); ++i) {
    axes.push_back(int64_t(i));
  }
  axes = integers(op.piece, op.op, 3, axes);
  Integers steps = integers(op.piece, op.op, 4, every), from(x.sizes.size(), 0), by(x.sizes.size(), 1);
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t axis = axes[i] < 0 ? axes[i] + x.rank() : axes[i], size = x.sizes[axis];
    int64_t start = starts[i] < 0 ? starts[i] + size : starts[i];
    from[axis] = std::clamp<int64_t>(start, 0, steps[i] < 0 ? size - 1 : size);
    by[axis] = steps[i];
  }
  Made made{{sizesOf(result(op.piece, op.op)), nullptr, x.loads}};
  made.keepsRows = std::all_of(by.begin(), by.end(), [](int64_t step) { return step > 0; });
  made.result.at = [x, from, by](const Ixs &at) {
    Ixs own;
    for (size_t i = 0; i < at.size(); ++i) {
      own.push_back(at[i] * int(by[i]) + int(from[i]));
    }
    return x.at(own);
  };
  return made;
}

// These have windows.

struct Window {
  Integers kernel, strides, dilations, pads; ///< `pads`: all before, then all behind
  size_t rank() const { return kernel.size(); }
  bool isPadded() const {
    return std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad != 0; });
  }
  int64_t taps() const {
    int64_t all = 1;
    for (int64_t k : kernel) {
      all *= k;
    }
    return all;
  }
  double redundancy() const {
    double all = double(taps());
    for (int64_t stride : strides) {
      all /= double(stride);
    }
    return std::max(all, 1.0);
  }
};

Window windowOf(const PieceOp &op, Integers kernel) {
  Integers ones(kernel.size(), 1), zeros(2 * kernel.size(), 0);
  return {kernel, attribute(op, "strides", ones), attribute(op, "dilations", ones), attribute(op, "pads", zeros)};
}

/// The most taps that an element may read, all of which are written one behind the other.
constexpr int64_t mostTaps = 64;

std::string unsupportedWindow(const PieceOp &op, int64_t taps) {
  if (attribute(op, "auto_pad", std::string("NOTSET")) != "NOTSET" || attribute(op, "ceil_mode", int64_t(0)) != 0) {
    return "only explicit padding here, and no ceil_mode";
  }
  return taps > mostTaps ? "only windows of up to " + std::to_string(mostTaps) + " elements here" : "";
}

/// Calls f(tap, at) for each place of the window, at the indices of `x` (in images and channels as in `at`).
template <typename F> void eachTap(const Window &window, const Ixs &at, F f) {
  for (int64_t tap = 0; tap < window.taps(); ++tap) {
    Ixs own(at.begin(), at.begin() + 2);
    int64_t rest = tap;
    Ixs spatial(window.rank());
    for (size_t i = window.rank(); i-- > 0;) {
      int64_t k = rest % window.kernel[i];
      rest /= window.kernel[i];
      spatial[i] = at[i + 2] * int(window.strides[i]) + int(k * window.dilations[i] - window.pads[i]);
    }
    own.insert(own.end(), spatial.begin(), spatial.end());
    f(tap, own);
  }
}

std::string unsupportedPool(const Piece &piece, const PieceOp &op) {
  if (op.results.size() > 1 && op.results[1] >= 0) {
    return "no indices of the largest elements here";
  }
  std::string why = onlyFloats(piece, op);
  return why.empty() ? unsupportedWindow(op, windowOf(op, attribute(op, "kernel_shape", Integers())).taps()) : why;
}

Made maxPool(const OpToMake &op) {
  const Tensor &x = op.operands[0];
  Window window = windowOf(op.op, attribute(op.op, "kernel_shape", Integers()));
  Made made{{sizesOf(result(op.piece, op.op)), nullptr, x.loads * double(window.taps())},
            window.redundancy(),
            window.isPadded() ? Float(32).min() : Expr()};
  made.result.at = [x, window](const Ixs &at) {
    Expr most;
    eachTap(window, at, [&](int64_t, const Ixs &own) { most = most.defined() ? max(most, x.at(own)) : x.at(own); });
    return most;
  };
  return made;
}

/// Returns how many elements of the window at `at` lie in the tensor.
Expr countInside(const Window &window, const Tensor &x, const Ixs &at) {
  Expr count = 1;
  for (size_t i = 0; i < window.rank(); ++i) {
    Expr own = 0;
    for (int64_t k = 0; k < window.kernel[i]; ++k) {
      Expr place = at[i + 2] * int(window.strides[i]) + int(k * window.dilations[i] - window.pads[i]);
      own = own + select(likely(place >= 0) && likely(place < x.sizes[i + 2]), 1, 0);
    }
    count = count * own;
  }
  return count;
}

Made averagePool(const OpToMake &op) {
  const Tensor &x = op.operands[0];
  Window window = windowOf(op.op, attribute(op.op, "kernel_shape", Integers()));
  bool countsAll = attribute(op.op, "count_include_pad", int64_t(0)) != 0 || !window.isPadded();
  Made made{{sizesOf(result(op.piece, op.op)), nullptr, x.loads * double(window.taps())},
            window.redundancy(),
            window.isPadded() ? Expr(0.0f) : Expr()};
  made.result.at = [x, window, countsAll](const Ixs &at) {
    Expr sum = 0.0f;
    eachTap(window, at, [&](int64_t, const Ixs &own) { sum = sum + x.at(own); });
    return sum *
           (countsAll ? Expr(float(1.0 / double(window.taps()))) : 1.0f / cast<float>(countInside(window, x, at)));
  };
  return made;
}

/// Returns why a convolution is not supported; its channels of a group, and taps of one of them, are unrolled.
std::string unsupportedConv(const Piece &piece, const PieceOp &op) {
  const PieceValue &w = operand(piece, op, 1);
  if (!isFloat(operand(piece, op, 0)) || !w.isConstant()) {
    return "only float32 images and constant weights here";
  }
  int64_t group = attribute(op, "group", int64_t(1)), channels = w.sizes[0].number, taps = w.elements() / channels;
  bool isStencil = group == channels && w.sizes[1].number == 1, isColour = group == 1 && channels <= 4;
  return isStencil || isColour ? unsupportedWindow(op, taps) : "only depthwise stencils and up to 4 channels here";
}

Made conv(const OpToMake &op) {
  const Tensor &x = op.operands[0], &w = op.operands[1];
  bool isStencil = attribute(op.op, "group", int64_t(1)) == w.sizes[0] && w.sizes[1] == 1;
  Window window = windowOf(op.op, Integers(w.sizes.begin() + 2, w.sizes.end()));
  int channels = isStencil ? 1 : w.sizes[1];
  Made made{{sizesOf(result(op.piece, op.op)), nullptr, x.loads * double(window.taps()) * channels},
            window.redundancy() * (isStencil ? 1 : w.sizes[0]),
            window.isPadded() ? Expr(0.0f) : Expr()};
  Tensor bias = op.operands.size() > 2 ? op.operands[2] : Tensor();
  made.result.at = [=](const Ixs &at) {
    Expr sum = bias.at ? bias.at({at[1]}) : Expr(0.0f);
    for (int c = 0; c < channels; ++c) {
      Ixs from = at;
      from[1] = isStencil ? at[1] : Expr(c);
      eachTap(window, from, [&](int64_t tap, const Ixs &own) {
        Ixs coefficient = {at[1], c};
        for (size_t i = 0; i < window.rank(); ++i) {
          int64_t below = 1;
          for (size_t j = i + 1; j < window.rank(); ++j) {
            below *= window.kernel[j];
          }
          coefficient.push_back(int(tap / below % window.kernel[i]));
        }
        sum = sum + w.at(coefficient) * x.at(own);
      });
    }
    return sum;
  };
  return made;
}

// These resize, by weighted sums of elements at the places in tables.

std::string unsupportedInterpolate(const Piece &piece, const PieceOp &op) {
  int64_t taps = 1;
  for (size_t i = 1; i < op.operands.size(); i += 2) {
    if (!operand(piece, op, i).isConstant()) {
      return "only resizing by constant tables here";
    }
    taps *= operand(piece, op, i).sizes[0].number;
  }
  bool nearest = attribute(op, "nearest", false);
  if (!isFloat(operand(piece, op, 0)) && !(nearest && operand(piece, op, 0).type == ElementType::UInt8)) {
    return "only float32 here";
  }
  return taps > mostTaps ? "only up to " + std::to_string(mostTaps) + " elements for one here" : "";
}

Made interpolate(const OpToMake &op) {
  const Tensor &x = op.operands[0];
  Integers axes = attribute(op.op, "axes", Integers());
  bool nearest = attribute(op.op, "nearest", false);
  std::vector<int> sizes = sizesOf(result(op.piece, op.op));
  double taps = 1, redundancy = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    int own = op.operands[2 * i + 1].sizes[0];
    taps *= own, redundancy *= double(own) * sizes[axes[i]] / x.sizes[axes[i]];
  }
  Made made{{sizes, nullptr, taps * (x.loads + double(axes.size()))}, std::max(redundancy, 1.0)};
  made.keepsRows = false; // the places are data
  made.result.at = [operands = op.operands, axes, nearest](const Ixs &at) {
    // The last axis comes first: its weights are then applied to what the others give.
    std::function<Expr(Ixs, size_t)> sum = [&](Ixs own, size_t i) -> Expr {
      if (i == axes.size()) {
        return operands[0].at(own);
      }
      const Tensor &places = operands[2 * i + 1], &weights = operands[2 * i + 2];
      int axis = int(axes[i]);
      Expr all;
      for (int tap = 0; tap < places.sizes[0]; ++tap) {
        own[axis] = unsafe_promise_clamped(places.at({tap, at[axis]}), 0, operands[0].sizes[axis] - 1);
        Expr element = sum(own, i + 1);
        element = nearest ? element : element * weights.at({tap, at[axis]});
        all = all.defined() ? all + element : element;
      }
      return all;
    };
    return sum(at, 0);
  };
  return made;
}

const OpRow rows[] = {
    {"Abs", onlyFloats, plain<absolute>},
    {"Add", onlyFloats, plain<fold<add>>},
    {"AveragePool", unsupportedPool, averagePool},
    {"Cast", unsupportedCast, plain<toFloat>},
    {"Ceil", onlyFloats, plain<up>},
    {"Clip", onlyFloats, plain<clip>},
    {"Conv", unsupportedConv, conv},
    {"Div", onlyFloats, plain<divide>},
    {"Floor", onlyFloats, plain<down>},
    {"HardSigmoid", onlyFloats, hardSigmoid},
    {"HardSwish", onlyFloats, plain<hardSwish>},
    {"Interpolate", unsupportedInterpolate, interpolate},
    {"LeakyRelu", onlyFloats, leakyRelu},
    {"Max", onlyFloats, plain<fold<larger>>},
    {"MaxPool", unsupportedPool, maxPool},
    {"Min", onlyFloats, plain<fold<smaller>>},
    {"Mul", onlyFloats, plain<multiply>},
    {"Neg", onlyFloats, plain<negate>},
    {"Reciprocal", onlyFloats, plain<inverse>},
    {"Relu", onlyFloats, plain<positive>},
    {"Slice", unsupportedSlice, slice},
    {"Sqrt", onlyFloats, plain<root>},
    {"Sub", onlyFloats, plain<subtract>},
    {"Sum", onlyFloats, plain<fold<add>>},
    {"Transpose", sameType, transpose},
};

} // namespace

const OpRow *findOp(const std::string &name) {
  for (const OpRow &row : rows) {
    if (row.name == name) {
      return &row;
    }
  }
  return nullptr;
}

} // namespace halide_target
