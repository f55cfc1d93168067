// Chooses the layers that stay in float for --max-drop: a model with a switch for each layer tells what quantizing it
// alone does to the outputs. In the order of that, the number of layers to keep is doubled until the outputs are near
// enough, and then bisected; each step compiles the model that it asks about.
#include "compiler/driver/Progress.h"
#include "compiler/driver/quantizing/Quantizer.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Switched.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/ADT/STLExtras.h"

namespace ingot::driver {
namespace {

/// The drop of the outputs: 1 - the least cosine of those that are floats.
class Drop {
public:
  void add(llvm::ArrayRef<HostTensor> expected, llvm::ArrayRef<HostTensor> got) {
    similarities.resize(expected.size());
    for (auto [similarity, a, b] : llvm::zip(similarities, expected, got)) {
      if (support::elementType(a.type).isFloat()) {
        similarity.add(Floats(a), Floats(b));
      }
    }
  }
  bool isEmpty() const {
    return llvm::all_of(similarities, [](const Similarity &similarity) { return similarity.isEmpty(); });
  }
  double value() const {
    double most = 0;
    for (const Similarity &similarity : similarities) {
      most = std::max(most, 1 - similarity.cosine());
    }
    return most;
  }

private:
  std::vector<Similarity> similarities;
};

HostTensor boolean(bool value) {
  HostTensor tensor;
  tensor.type = importer::kBool;
  tensor.bytes.assign(1, char(value));
  return tensor;
}

} // namespace

llvm::Expected<std::vector<double>> Quantizer::dropsAlone(
    llvm::ArrayRef<quantizer::Layer> which,
    llvm::function_ref<quantizer::Rounded(const quantizer::Index &, const quantizer::Layer &)> round) {
  quantizer::Model switched = model;
  quantizer::addSwitches(switched, which, round);
  llvm::Expected<std::string> file = fileWith(switched, {});
  if (!file) {
    return file.takeError();
  }
  ModelRuns runs = runsOf(switched, *file);
  std::vector<Drop> drops(which.size());
  size_t used = std::min<size_t>(samples.size(), 4); // an order is asked for, not a measure
  ProgressBar bar(true, /*inLogs=*/true);
  for (size_t i = 0; i < used; ++i) {
    llvm::Expected<DataSet> data = samples.read(i);
    if (!data) {
      return data.takeError();
    }
    size_t first = data->inputs.size();
    for (size_t k = 0; k < which.size(); ++k) {
      data->inputs.push_back(boolean(false)), data->sequences.push_back(Recorded::kTensor);
    }
    llvm::Expected<std::vector<HostTensor>> expected = runs.outputs(*data);
    if (!expected) {
      return expected.takeError();
    }
    for (size_t k = 0; k < which.size(); ++k) {
      data->inputs[first + k] = boolean(true);
      llvm::Expected<std::vector<HostTensor>> got = runs.outputs(*data);
      data->inputs[first + k] = boolean(false);
      if (!got) {
        return got.takeError();
      }
      drops[k].add(*expected, *got);
      bar.show(int(i * which.size() + k + 1), int(used * which.size()), "layers quantized alone");
    }
  }
  std::vector<double> values;
  llvm::transform(drops, std::back_inserter(values), [](const Drop &drop) { return drop.value(); });
  return values;
}

llvm::Expected<double> Quantizer::dropOf(Observation &changed, llvm::ArrayRef<size_t> which) {
  Drop drop;
  for (size_t i : which) {
    llvm::Expected<DataSet> data = samples.read(i);
    if (!data) {
      return data.takeError();
    }
    llvm::Expected<std::vector<HostTensor>> expected = expectedOutputs(i);
    if (!expected) {
      return expected.takeError();
    }
    llvm::Expected<std::vector<HostTensor>> got = changed.runs->outputs(*data);
    if (!got) {
      return got.takeError();
    }
    drop.add(*expected, *got);
  }
  bool isMixed = options.scheme == quantizer::Scheme::Mixed;
  if (drop.isEmpty() && (options.maxDrop >= 0 || isMixed)) {
    return llvm::createStringError((isMixed ? "--scheme mixed" : "--max-drop") +
                                   std::string(" compares outputs that are floats, and '") +
                                   invocation.model.modelPath + "' has none that are finite");
  }
  return drop.value();
}

llvm::Error Quantizer::limitDrop(const std::map<std::string, quantizer::FloatRange> &ranges) {
  auto encodings = encodingsOf(layers, ranges);
  llvm::Expected<std::vector<double>> drops =
      dropsAlone(layers, [&](const quantizer::Index &index, const quantizer::Layer &layer) {
        quantizer::Rounded rounded{encodings.at(layer.x), {}};
        for (const auto &[operand, own] : quantizer::weightsOf(layer)) {
          rounded.weights.push_back(quantizer::valuesOf(
              quantizer::quantizeWeights(quantizer::floatsOf(*index.weight(own.weight)), own, options.weights), own));
        }
        return rounded;
      });
  if (!drops) {
    return drops.takeError();
  }
  for (auto [layer, drop] : llvm::zip(layers, *drops)) {
    factsOf(layer).alone = drop;
  }
  std::vector<quantizer::Layer> all = layers;
  std::vector<size_t> order(all.size()); // the most sensitive layers come first
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(-factsOf(all[a]).alone, a) < std::pair(-factsOf(all[b]).alone, b);
  });
  auto without = [&](size_t kept) {
    std::vector<quantizer::Layer> rest;
    for (size_t i = 0; i < all.size(); ++i) {
      if (llvm::find(order, i) - order.begin() >= ptrdiff_t(kept)) {
        rest.push_back(all[i]);
      }
    }
    return rest;
  };
  auto isNear = [&](size_t kept) -> llvm::Expected<bool> {
    layers = without(kept);
    if (layers.empty()) {
      return true;
    }
    writeStatic(ranges);
    llvm::Expected<Observation> observing = observation(quantized, {});
    if (!observing) {
      return observing.takeError();
    }
    llvm::Expected<double> drop = dropOf(*observing, allSamples());
    if (!drop) {
      return drop.takeError();
    }
    return *drop <= options.maxDrop;
  };
  // Numbers of kept layers with which the outputs are not near enough, and with which they are.
  size_t far = 0, near = 0;
  for (size_t kept = 0;; kept = std::min(std::max<size_t>(1, 2 * kept), all.size())) {
    llvm::Expected<bool> enough = isNear(kept);
    if (!enough) {
      return enough.takeError();
    }
    near = kept;
    if (*enough) {
      break;
    }
    far = kept;
  }
  while (near > far + 1) {
    size_t middle = (near + far) / 2;
    llvm::Expected<bool> enough = isNear(middle);
    if (!enough) {
      return enough.takeError();
    }
    (*enough ? near : far) = middle;
  }
  layers = all;
  for (size_t i = 0; i < near; ++i) {
    keep(all[order[i]].name, "it is among the most sensitive, by --max-drop");
  }
  return llvm::Error::success();
}

} // namespace ingot::driver
