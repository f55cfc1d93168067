// Packs the weights of convolutions in channel blocks as the schedule reads them: one panel of output channels behind
// another.
#include "compiler/lower/conv/BlockedConv.h"

using namespace mlir;

namespace ingot::lower {

/// Returns the step of a weight in its panel.
static int64_t stepOf(const BlockedSchedule &s, int64_t taps, int64_t inputs, int64_t input, int64_t tap) {
  switch (s.channels) {
  case BlockedSchedule::Planes:
    return input * taps + tap;
  case BlockedSchedule::Range:
    return tap * s.stepsOfPanel() + input / s.stepChannels;
  case BlockedSchedule::Blocks:
    break;
  }
  int64_t before = input / s.lanes * s.lanes;
  return s.stepsOf(before) * taps + tap * s.stepsOf(std::min(s.lanes, inputs - before)) +
         input % s.lanes / s.stepChannels;
}

/// Returns the steps of all weights that an output has, those of an input's taps side by side. Divisions are in them,
/// and a model has millions of weights.
static std::vector<int64_t> stepsOf(const BlockedSchedule &s, int64_t taps, int64_t inputs) {
  std::vector<int64_t> steps(inputs * taps);
  for (int64_t c = 0; c < inputs; ++c) {
    for (int64_t t = 0; t < taps; ++t) {
      steps[c * taps + t] = stepOf(s, taps, inputs, c, t);
    }
  }
  return steps;
}

template <typename Word>
static void packPanel(const ConvGeometry &g, const BlockedSchedule &s, ArrayRef<int64_t> taps, int64_t out,
                      int64_t width, const Word *from, Word *to) {
  auto [first, last] = BlockedSchedule::inputRange(g, out, width);
  int64_t count = taps.size();
  std::vector<int64_t> steps = stepsOf(s, count, last - first);
  for (int64_t o = out; o < std::min(out + width, g.outChannels); ++o) {
    int64_t group = o / g.outGroup();
    for (int64_t c = group * g.inGroup(); c < (group + 1) * g.inGroup(); ++c) {
      const int64_t *step = steps.data() + (c - first) * count;
      const Word *weights = from + g.weightAt(o, c, 0);
      for (int64_t t = 0; t < count; ++t) {
        to[step[t] * width + o - out] = weights[taps[t]];
      }
    }
  }
}

/// Packs bytes, in the words of ByteProducts.
static void packBytes(const ConvGeometry &g, const BlockedSchedule &s, const ByteProducts &bytes,
                      ArrayRef<int64_t> taps, int64_t out, int64_t width, const int8_t *from, uint32_t *to) {
  auto [begin, last] = BlockedSchedule::inputRange(g, out, width);
  int64_t first = begin / s.stepChannels * s.stepChannels, count = taps.size();
  std::vector<int64_t> steps = stepsOf(s, count, last - first);
  for (int64_t o = out; o < std::min(out + width, g.outChannels); ++o) {
    int64_t group = o / g.outGroup(), from0 = group * g.inGroup(), to0 = from0 + g.inGroup();
    for (int64_t c = from0 / s.stepChannels * s.stepChannels; c < to0; c += s.stepChannels) {
      for (int64_t t = 0; t < count; ++t) {
        std::array<int8_t, ByteProducts::mostBytes> weights{};
        for (int64_t i = std::max(c, from0); i < std::min(c + s.stepChannels, to0); ++i) {
          weights[i - c] = from[g.weightAt(o, i, taps[t])];
        }
        int64_t step = steps[(c - first) * count + t];
        for (int64_t row = 0; row < s.stepRows; ++row) {
          to[(step * s.stepRows + row) * width + o - out] = bytes.word(weights, row);
        }
      }
    }
  }
}

plan::WeightTable::Recipe packedWeights(const ConvGeometry &g, const BlockedSchedule &s, const ByteProducts &bytes) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << "conv " << g.outChannels << '/' << g.inChannels << '/' << g.groups << " transposed " << g.transposed
     << " lanes " << s.lanes << " vectors " << s.vectors << " channels " << s.channels;
  if (s.isOfBytes()) {
    os << ' ' << bytes.key();
  }
  for (const SubConv &p : g.subConvs) {
    os << " taps";
    for (int64_t t : p.taps) {
      os << ' ' << t;
    }
  }
  auto pack = [g, s, bytes](ArrayRef<char> from, MutableArrayRef<char> to) {
    int64_t base = 0;
    auto eachPanel = [&](llvm::function_ref<void(const SubConv &p, int64_t block, int64_t width, int64_t at)> body) {
      for (const SubConv &p : g.subConvs) {
        int64_t block = 0, rows = s.stepsOfPanel() * s.stepRows * static_cast<int64_t>(p.taps.size());
        for (auto [vectors, count] : s.panels) {
          for (int64_t i = 0; i < count; ++i, block += vectors) {
            body(p, block * s.lanes, vectors * s.lanes, base + block * s.lanes * rows);
          }
        }
        base += s.blocks * s.lanes * rows;
      }
    };
    if (s.isOfBytes()) {
      auto *source = reinterpret_cast<const int8_t *>(from.data());
      auto *words = reinterpret_cast<uint32_t *>(to.data());
      return eachPanel([&](const SubConv &p, int64_t out, int64_t width, int64_t at) {
        packBytes(g, s, bytes, p.taps, out, width, source, words + at);
      });
    }
    asWords(g.weightBytes, from, to, [&](const auto *source, auto *packed) {
      eachPanel([&](const SubConv &p, int64_t out, int64_t width, int64_t at) {
        packPanel(g, s, p.taps, out, width, source, packed + at);
      });
    });
  };
  return {key, (s.isOfBytes() ? ByteProducts::dotBytes : g.weightBytes) * s.weightElements(g), pack};
}

} // namespace ingot::lower
