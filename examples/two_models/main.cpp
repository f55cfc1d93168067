// Two models in one program, run from four threads at once. The models share nothing but their constants; each thread
// has a workspace for each model (an ingot::Runner). Every result is compared, bit by bit, with that of a run while
// nothing else ran.
#include "classify.h"
#include "edges.h"
#include "ingot.hpp"
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int pictures = 8, rounds = 250, side = 32;

struct Sample {
  std::array<float, side * side> image;
  std::array<float, 16> features;
};
struct Answer {
  std::array<float, 2 * side * side> edges;
  std::array<float, 10> probabilities;
};

/// A disc whose place and size depend on `seed`, and some features of it.
Sample makeSample(int seed) {
  Sample sample;
  float x = 8 + 2 * seed, y = 20 - seed, radius = 4 + seed;
  for (int i = 0; i < side * side; ++i) {
    int column = i % side, row = i / side;
    sample.image[i] = std::hypot(column - x, row - y) < radius ? 1.0f : 0.0f;
  }
  for (int i = 0; i < 16; ++i) {
    sample.features[i] = std::sin(x * i + y) + radius / 10;
  }
  return sample;
}

bool answer(const ingot::Runner &edges, const ingot::Runner &classify, const Sample &sample, Answer &result) {
  ingot::Status status = edges.run({sample.image}, {result.edges});
  if (status.ok()) {
    status = classify.run({sample.features}, {result.probabilities});
  }
  if (!status.ok()) {
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
  }
  return status.ok();
}

/// The first channel of edges.onnx in plain loops: Sobel's horizontal slope, negative values cut.
float horizontalSlope(const Sample &sample, int row, int column) {
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      int y = row + dy, x = column + dx;
      if (y >= 0 && y < side && x >= 0 && x < side) {
        sum += float(dx * (2 - std::abs(dy))) * sample.image[y * side + x];
      }
    }
  }
  return std::max(sum, 0.0f);
}

bool plausible(const Sample &sample, const Answer &result) {
  for (int i = 0; i < side * side; ++i) {
    if (std::abs(result.edges[i] - horizontalSlope(sample, i / side, i % side)) > 1e-5f) {
      std::fprintf(stderr, "edges: pixel %d is %g, expected %g\n", i, result.edges[i],
                   horizontalSlope(sample, i / side, i % side));
      return false;
    }
  }
  float sum = 0;
  for (float probability : result.probabilities) {
    sum += probability;
  }
  if (!(std::abs(sum - 1) < 1e-5f)) {
    std::fprintf(stderr, "classify: probabilities sum up to %g\n", sum);
    return false;
  }
  return true;
}

void drawRow(const Answer &result, int row) {
  for (int column = 0; column < side; ++column) {
    std::putchar(" .+#"[std::min(3, int(result.edges[row * side + column]))]);
  }
  std::putchar('\n');
}

} // namespace

int main() {
  std::vector<Sample> samples;
  std::vector<Answer> expected(pictures);
  {
    ingot::Runner edges(edges_model()), classify(classify_model());
    for (int i = 0; i < pictures; ++i) {
      samples.push_back(makeSample(i));
      if (!answer(edges, classify, samples[i], expected[i]) || !plausible(samples[i], expected[i])) {
        return 1;
      }
    }
  }

  std::atomic<int> runs{0}, different{0};
  auto work = [&](int thread) {
    ingot::Runner edges(edges_model()), classify(classify_model());
    for (int round = 0; round < rounds; ++round) {
      int i = (round + 3 * thread) % pictures;
      Answer result;
      bool same = answer(edges, classify, samples[i], result) && std::memcmp(&result, &expected[i], sizeof result) == 0;
      different += !same;
      ++runs;
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back(work, thread);
  }
  for (std::thread &thread : threads) {
    thread.join();
  }

  for (int row = 4; row < 28; row += 2) {
    drawRow(expected[4], row);
  }
  std::printf("4 threads, %d runs of each model, %d different from the run alone\n", int(runs), int(different));
  return different != 0;
}
