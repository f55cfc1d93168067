// The choice is a knapsack with several budgets. Layer by layer, all sums that a choice for the layers so far may have
// are kept, but for those that another one is not worse than in any measure. Where they become too many, one of each
// cell of a grid over what they cost is kept, with its exact sums, so that what is found keeps to the budgets.
#include "compiler/quantizer/Mix.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace ingot::quantizer {
namespace {

using Vector = std::array<double, kMeasures>; ///< the goal first, then the budgets

/// Sums of a choice for the first layers.
struct State {
  Vector sums = {};
  size_t before = 0, form = 0; ///< the state of the layers in front, and the form of the last one
};

/// Drops states that another one is not worse than. Of those in front in the order of the goal only the ones matter
/// that have the least of the last measure for some value of the other, which `front` has.
std::vector<State> bestOf(std::vector<State> states) {
  llvm::sort(states, [](const State &a, const State &b) {
    return std::tie(a.sums, a.before, a.form) < std::tie(b.sums, b.before, b.form);
  });
  std::vector<State> best;
  std::map<double, double> front; // the least last measure by the middle one: it falls along the map
  for (const State &state : states) {
    double middle = state.sums[1], last = state.sums[2];
    auto after = front.upper_bound(middle);
    if (after != front.begin() && std::prev(after)->second <= last) {
      continue;
    }
    while (after != front.end() && after->second >= last) {
      after = front.erase(after);
    }
    front[middle] = last;
    best.push_back(state);
  }
  return best;
}

/// Keeps in each cell of a grid over the budgets' sums the first state, which has the least of the goal.
std::vector<State> thinned(std::vector<State> states, size_t most) {
  if (states.size() <= most) {
    return states;
  }
  Vector low, high;
  low.fill(HUGE_VAL), high.fill(-HUGE_VAL);
  for (const State &state : states) {
    for (size_t k = 1; k < kMeasures; ++k) {
      low[k] = std::min(low[k], state.sums[k]), high[k] = std::max(high[k], state.sums[k]);
    }
  }
  int64_t budgets = 0;
  for (size_t k = 1; k < kMeasures; ++k) {
    budgets += high[k] > low[k];
  }
  double cells = std::pow(double(most), 1 / double(std::max<int64_t>(budgets, 1)));
  std::map<std::pair<int64_t, int64_t>, State> kept;
  for (const State &state : states) {
    auto cell = [&](size_t k) {
      return high[k] > low[k] ? int64_t((state.sums[k] - low[k]) / (high[k] - low[k]) * cells) : 0;
    };
    kept.try_emplace({cell(1), cell(2)}, state);
  }
  std::vector<State> result;
  llvm::append_range(result, llvm::make_second_range(kept));
  return result;
}

} // namespace

std::optional<std::vector<size_t>> chooseForms(llvm::ArrayRef<std::vector<FormCosts>> layers, const FormCosts &most,
                                               Measure goal) {
  constexpr size_t kMostStates = 2048;
  std::vector<Measure> order{goal};
  for (Measure measure : {Measure::Drop, Measure::Size, Measure::Latency}) {
    if (measure != goal) {
      order.push_back(measure);
    }
  }
  auto vectorOf = [&](const FormCosts &costs) {
    Vector vector = {};
    for (auto [value, measure] : llvm::zip(vector, order)) {
      value = measure == goal || std::isfinite(most[measure]) ? costs[measure] : 0;
    }
    return vector;
  };
  // What the layers behind each one cost at least.
  std::vector<Vector> rest(layers.size() + 1, Vector{});
  for (size_t i = layers.size(); i-- > 0;) {
    for (size_t k = 0; k < kMeasures; ++k) {
      double least = HUGE_VAL;
      for (const FormCosts &form : layers[i]) {
        least = std::min(least, vectorOf(form)[k]);
      }
      rest[i][k] = rest[i + 1][k] + least;
    }
  }
  std::vector<std::vector<State>> states{{State()}};
  for (auto [i, forms] : llvm::enumerate(layers)) {
    std::vector<State> next;
    for (auto [before, state] : llvm::enumerate(states.back())) {
      for (auto [form, costs] : llvm::enumerate(forms)) {
        State own{state.sums, before, form};
        Vector whole = rest[i + 1], added = vectorOf(costs);
        bool keeps = true;
        for (size_t k = 0; k < kMeasures; ++k) {
          own.sums[k] += added[k], whole[k] += own.sums[k];
          keeps &= whole[k] <= most[order[k]];
        }
        if (keeps) {
          next.push_back(own);
        }
      }
    }
    states.push_back(thinned(bestOf(std::move(next)), kMostStates));
  }
  auto best = llvm::min_element(states.back(), [](const State &a, const State &b) { return a.sums < b.sums; });
  if (best == states.back().end()) {
    return std::nullopt;
  }
  std::vector<size_t> chosen(layers.size());
  State state = *best;
  for (size_t i = layers.size(); i-- > 0; state = states[i][state.before]) {
    chosen[i] = state.form;
  }
  return chosen;
}

} // namespace ingot::quantizer
