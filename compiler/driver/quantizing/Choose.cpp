// Chooses what flags leave open: how each value is smoothed, and how its range is found. Samples are parted: from most
// of them candidates are made, and the few that are held out say what each costs the layers that read the value. What a
// range is in the end comes from all samples.
#include "compiler/driver/quantizing/Quantizer.h"
#include "compiler/quantizer/Adjust.h"
#include "compiler/quantizer/Choice.h"
#include "compiler/support/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Parallel.h"
#include <chrono>
#include <cmath>

namespace ingot::driver {
namespace {

using quantizer::ChannelErrors;
using quantizer::Channels;
using quantizer::Effort;
using quantizer::Method;

/// Adds the time that its scope takes.
class Stopwatch {
public:
  explicit Stopwatch(double &seconds) : seconds(seconds) {}
  ~Stopwatch() { seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }
  Stopwatch(const Stopwatch &) = delete;

private:
  double &seconds;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

std::vector<double> strengthsOf(Effort effort, bool isFree) {
  if (effort == Effort::Quick) {
    return {0.5};
  }
  if (effort == Effort::Default) {
    return isFree ? std::vector{0.25, 0.5, 0.75, 1.0} : std::vector{0.5, 0.75};
  }
  return {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
}

/// The range of a value whose channels have been divided by factors.
quantizer::FloatRange rangeOf(const Channels &channels, llvm::ArrayRef<float> by) {
  quantizer::FloatRange range;
  for (size_t c = 0; c < channels.lows().size(); ++c) {
    double factor = by.empty() ? 1 : by[c];
    range.low = std::min(range.low, channels.lows()[c] / factor);
    range.high = std::max(range.high, channels.highs()[c] / factor);
  }
  return range;
}

/// A way to smooth a value, or not to.
struct Smoothing {
  double strength = -1;
  std::vector<float> by;
  ChannelErrors errors;
};

/// What else than the least error decides: a node more has to be worth it.
double handicap(bool isFree) { return isFree ? 0.95 : 0.5; }

/// Calls a function with the entries of a map, on all threads.
template <typename Map, typename Take> void forEach(Map &map, Take take) {
  auto entries = llvm::map_to_vector(map, [](auto &entry) { return &entry; });
  llvm::parallelFor(0, entries.size(), [&](size_t i) { take(entries[i]->first, entries[i]->second); });
}

/// Adds what one sample says of the channels of each value, along its axis.
void addChannels(std::map<std::string, Channels> &channels, const std::map<std::string, int> &axes,
                 const llvm::StringMap<const HostTensor *> &values) {
  for (const auto &entry : axes) {
    channels[entry.first];
  }
  forEach(axes, [&](const std::string &name, int axis) {
    const HostTensor &tensor = *values.lookup(name);
    channels.at(name).add(Floats(tensor), tensor.dims, axis);
  });
}

} // namespace

size_t Quantizer::mostHeld() const {
  return options.effort == Effort::Quick ? 2 : options.effort == Effort::Default ? 8 : samples.size();
}

Quantizer::Parts Quantizer::parts() const {
  constexpr size_t kEvery = 4; // a quarter is held out
  size_t most = mostHeld();
  Parts parts;
  for (size_t i = 0; i < samples.size(); ++i) {
    bool isHeld = i % kEvery == kEvery - 1 || (i + 1 == samples.size() && parts.held.empty());
    (isHeld && parts.held.size() < most ? parts.held : parts.fitted).push_back(i);
  }
  if (parts.fitted.empty()) {
    parts.fitted = parts.held;
  }
  return parts;
}

std::vector<size_t> Quantizer::judging() const {
  Parts part = parts();
  std::vector<size_t> both = part.held;
  for (size_t sample : part.fitted) {
    if (both.size() < 2 * mostHeld() && !llvm::is_contained(both, sample)) {
      both.push_back(sample);
    }
  }
  return both;
}

llvm::Expected<std::map<std::string, Channels>> Quantizer::channelsOf() {
  std::map<std::string, int> axes;
  for (const quantizer::Layer &layer : layers) {
    if (layer.graph == 0 && !quantizer::isTable(layer)) {
      axes.try_emplace(layer.x, quantizer::channelAxis(layer));
    }
  }
  llvm::Expected<Observation *> observing = ofModel();
  if (!observing) {
    return observing.takeError();
  }
  std::map<std::string, Channels> channels;
  llvm::Error error = observe(**observing, allSamples(), [&](const Values &values, size_t) {
    addChannels(channels, axes, values);
    return llvm::Error::success();
  });
  if (error) {
    return error;
  }
  return channels;
}

llvm::Error Quantizer::smoothAlike(double strength) {
  llvm::Expected<std::map<std::string, Channels>> channels = channelsOf();
  if (!channels) {
    return channels.takeError();
  }
  std::map<std::string, std::vector<float>> factors;
  for (const auto &[value, readers] : quantizer::readersOf(layers)) {
    size_t count = quantizer::WeightChannels(*readers.front()).inputCount();
    if (readers.front()->op == "Conv" || (*channels)[value].largest().size() != count) {
      continue;
    }
    quantizer::LargestWeights weights(model, readers, count);
    factors[value] = quantizer::smoothingOf(weights, (*channels)[value], strength, false);
    for (const quantizer::Layer *layer : readers) {
      factsOf(*layer).smoothing = strength;
    }
  }
  smooth(factors);
  return llvm::Error::success();
}

llvm::Error Quantizer::chooseSmoothing() {
  Stopwatch watch(facts.secondsChosen);
  Parts part = parts();
  std::map<std::string, quantizer::Readers> readers = quantizer::readersOf(layers);
  std::map<std::string, int> axes;
  for (const auto &[value, own] : readers) {
    axes.try_emplace(value, quantizer::channelAxis(*own.front()));
    for (const quantizer::Layer *layer : own) {
      axes.try_emplace(layer->y, quantizer::channelAxis(*layer));
    }
  }
  llvm::Expected<Observation *> observing = ofModel();
  if (!observing) {
    return observing.takeError();
  }
  std::map<std::string, Channels> channels;
  llvm::Error error = observe(**observing, part.fitted, [&](const Values &values, size_t) {
    addChannels(channels, axes, values);
    return llvm::Error::success();
  });
  if (error) {
    return error;
  }
  std::map<std::string, std::vector<Smoothing>> candidates;
  auto add = [&](const std::string &value, double strength, std::vector<float> by) {
    quantizer::Encoding to = quantizer::encodingOf(rangeOf(channels[value], by), options.signedActivations);
    candidates[value].push_back({strength, by, ChannelErrors(to, by)});
  };
  for (const auto &[value, own] : readers) {
    if (channels[value].largest().size() != quantizer::WeightChannels(*own.front()).inputCount()) {
      continue; // a matrix is read as another shape; what it has are not the channels of the weights
    }
    bool isFree = quantizer::isFree(model, layers, value, own);
    if (!isFree && own.front()->op == "Conv") {
      continue;
    }
    add(value, -1, {});
    quantizer::LargestWeights weights(model, own, channels[value].largest().size());
    for (double strength : strengthsOf(options.effort, isFree)) {
      add(value, strength, quantizer::smoothingOf(weights, channels[value], strength, !options.weights.perTensor));
    }
  }
  error = observeParts(part.held, [&](const Values &values, size_t) {
    forEach(candidates, [&](const std::string &value, std::vector<Smoothing> &own) {
      const HostTensor &tensor = *values.lookup(value);
      Floats floats(tensor);
      for (Smoothing &smoothing : own) {
        smoothing.errors.add(floats, tensor.dims, axes.at(value));
      }
    });
    return llvm::Error::success();
  });
  if (error) {
    return error;
  }
  facts.heldOut = int64_t(part.held.size());
  quantizer::Index index(model, *model.proto.mutable_graph());
  std::map<std::string, std::vector<float>> factors;
  for (const auto &[value, own] : candidates) {
    const quantizer::Readers &layersOfValue = readers.at(value);
    std::vector<double> power = channels[value].powers();
    std::vector<double> costs = quantizer::costOfChannels(index, layersOfValue, channels, power.size());
    auto costOf = [&](const Smoothing &smoothing) {
      return smoothing.errors.cost(costs) +
             quantizer::costOfWeights(index, layersOfValue, channels, power, smoothing.by, options.weights);
    };
    std::vector<double> cost(own.size());
    llvm::parallelFor(0, own.size(), [&](size_t i) { cost[i] = costOf(own[i]); });
    cost.front() *= handicap(quantizer::isFree(model, layers, value, layersOfValue));
    const Smoothing &best = own[size_t(std::min_element(cost.begin(), cost.end()) - cost.begin())];
    if (best.strength < 0) {
      continue;
    }
    factors[value] = best.by;
    for (const quantizer::Layer *layer : layersOfValue) {
      factsOf(*layer).smoothing = best.strength;
    }
  }
  smooth(factors);
  return llvm::Error::success();
}

llvm::Error Quantizer::adjust() {
  // Only int8 and int8-dynamic round what layers read.
  if (!options.hasIntegerActivations() || options.smooth == 0 || samples.size() == 0) {
    return llvm::Error::success();
  }
  return options.smooth ? smoothAlike(*options.smooth) : chooseSmoothing();
}

Quantizer::Chosen Quantizer::Ranges::by(Method method) const {
  Chosen chosen;
  for (const auto &entry : statistics) {
    chosen.methods[entry.first] = method == Method::Auto ? best.at(entry.first) : method;
    chosen.ranges[entry.first] = {};
  }
  forEach(chosen.ranges, [&](const std::string &name, quantizer::FloatRange &range) {
    range = statistics.at(name).choose(chosen.methods.at(name), options.percentile, options.signedActivations);
  });
  return chosen;
}

llvm::Expected<Quantizer::Ranges> Quantizer::rangesOf(const quantizer::Wanted &wanted,
                                                      std::map<std::string, std::string> &problems) {
  double unused = 0;
  Stopwatch watch(options.rangeMethod() == Method::Auto ? facts.secondsChosen : unused);
  std::vector<std::string> read;
  llvm::transform(wanted, std::back_inserter(read), [](const auto &entry) { return entry.first; });
  std::map<std::string, int> results; // what layers make, for the power of its channels
  for (const quantizer::Layer &layer : layers) {
    if (options.rangeMethod() == Method::Auto && !layer.isRecurrent()) {
      results.try_emplace(layer.y, quantizer::channelAxis(layer));
    }
  }
  llvm::Expected<Observation *> observing = ofModel();
  if (!observing) {
    return observing.takeError();
  }
  Parts part = parts();
  std::map<std::string, quantizer::Statistics> fitted;
  std::map<std::string, Channels> channels;
  std::map<std::string, std::string> firstStrange; // the sample of the first such value
  Ranges ranges{{}, {}, options};
  for (const std::string &name : read) {
    fitted[name], ranges.statistics[name];
  }
  llvm::Error error = observe(**observing, allSamples(), [&](const Values &values, size_t sample) {
    auto &statistics = llvm::is_contained(part.fitted, sample) ? fitted : ranges.statistics;
    forEach(statistics,
            [&](const std::string &name, quantizer::Statistics &own) { own.add(Floats(*values.lookup(name))); });
    for (const auto &[name, own] : statistics) {
      if (own.notFinite() > 0) {
        firstStrange.emplace(name, samples.name(sample));
      }
    }
    addChannels(channels, results, values);
    return llvm::Error::success();
  });
  if (error) {
    return error;
  }
  for (const std::string &name : read) {
    quantizer::Statistics &all = ranges.statistics[name];
    all.add(fitted[name]);
    if (std::string problem = all.problem(); !problem.empty()) {
      auto sample = firstStrange.find(name);
      problems[name] = "what it reads, " + support::quoted(name) + ", " + problem +
                       (sample == firstStrange.end() ? "" : " in " + sample->second);
      ranges.statistics.erase(name);
    }
  }
  if (options.rangeMethod() == Method::Auto) {
    if (llvm::Error failed = chooseMethods(fitted, channels, ranges)) {
      return failed;
    }
  }
  return ranges;
}

llvm::Error Quantizer::chooseMethods(const std::map<std::string, quantizer::Statistics> &fitted,
                                     const std::map<std::string, Channels> &channels, Ranges &ranges) {
  constexpr double kAlike = 0.03; // ranges that differ by less are one candidate
  struct RangeCandidate {
    Method method;
    ChannelErrors errors;
  };
  std::map<std::string, std::vector<RangeCandidate>> candidates;
  for (const auto &entry : ranges.statistics) {
    candidates[entry.first], ranges.best[entry.first] = Method::MinMax;
  }
  forEach(candidates, [&](const std::string &name, std::vector<RangeCandidate> &own) {
    if (!fitted.at(name).problem().empty()) {
      return; // only held-out samples have values
    }
    for (Method method : {Method::MinMax, Method::Mean, Method::Percentile, Method::Mse, Method::Entropy}) {
      quantizer::Encoding to = quantizer::encodingOf(
          fitted.at(name).choose(method, options.percentile, options.signedActivations), options.signedActivations);
      bool isKnown = llvm::any_of(own, [&](const RangeCandidate &other) {
        const quantizer::Encoding &known = other.errors.encoding();
        return std::fabs(known.scale / to.scale - 1) < kAlike && std::abs(known.zero - to.zero) < 4;
      });
      if (!isKnown) {
        own.push_back({method, ChannelErrors(to)});
      }
    }
  });
  std::map<std::string, quantizer::Readers> readers = quantizer::readersOf(layers);
  auto axisOf = [&](const std::string &name) {
    auto found = readers.find(name);
    return found == readers.end() ? -1 : quantizer::channelAxis(*found->second.front());
  };
  llvm::Error error = observeParts(judging(), [&](const Values &values, size_t) {
    forEach(candidates, [&](const std::string &name, std::vector<RangeCandidate> &own) {
      const HostTensor &tensor = *values.lookup(name);
      Floats floats(tensor);
      for (RangeCandidate &candidate : own) {
        if (own.size() > 1) {
          candidate.errors.add(floats, tensor.dims, axisOf(name));
        }
      }
    });
    return llvm::Error::success();
  });
  if (error) {
    return error;
  }
  facts.heldOut = int64_t(parts().held.size());
  quantizer::Index index(model, *model.proto.mutable_graph());
  for (const auto &[name, own] : candidates) {
    auto found = readers.find(name);
    std::vector<double> costs;
    if (found != readers.end()) {
      costs = quantizer::costOfChannels(index, found->second, channels,
                                        quantizer::WeightChannels(*found->second.front()).inputCount());
    }
    // The plain range has to be beaten by something: what is cut off in new data is lost, whatever few samples say.
    constexpr double kWorth = 0.9;
    double least = HUGE_VAL;
    for (const RangeCandidate &candidate : own) {
      double cost = candidate.errors.cost(costs) * (candidate.method == Method::MinMax ? kWorth : 1);
      if (cost < least) {
        least = cost, ranges.best[name] = candidate.method;
      }
    }
  }
  return llvm::Error::success();
}

llvm::Expected<Quantizer::Chosen> Quantizer::compareWhole(const Ranges &ranges) {
  std::vector<Method> methods{options.rangeMethod()};
  if (options.rangeMethod() == Method::Auto && options.effort == Effort::Default) {
    methods.push_back(Method::MinMax);
  } else if (options.rangeMethod() == Method::Auto && options.effort == Effort::Thorough) {
    llvm::append_range(methods, std::vector{Method::MinMax, Method::Mean, Method::Percentile, Method::Mse});
  }
  bool areAlike = llvm::all_of(ranges.best, [](const auto &entry) { return entry.second == Method::MinMax; });
  Chosen best = ranges.by(options.rangeMethod());
  if (methods.size() == 1 || (options.effort == Effort::Default && areAlike)) {
    writeStatic(best.ranges);
    return best;
  }
  Stopwatch watch(facts.secondsChosen);
  std::vector<Chosen> chosen;
  std::vector<quantizer::Model> written;
  for (Method method : methods) {
    chosen.push_back(ranges.by(method));
    writeStatic(chosen.back().ranges);
    written.push_back(std::move(quantized));
  }
  llvm::Expected<std::vector<Compared>> compared = comparable(written);
  if (!compared) {
    return compared.takeError();
  }
  if (llvm::Error error = compare(*compared, judging())) {
    return error;
  }
  auto nearest = llvm::min_element(*compared, [](const auto &a, const auto &b) { return a.drop() < b.drop(); });
  auto number = size_t(nearest - compared->begin());
  quantized = std::move(written[number]), seenOfQuantized = std::move(*nearest); // it is measured on all samples later
  return std::move(chosen[number]);
}

} // namespace ingot::driver
