#include "compiler/driver/quantizing/ValuePart.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Weights.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace ingot::driver {
namespace {

using importer::HostTensor;

/// Returns the longest axis that is not kept whole; -1: there is none of two places and more.
int longestAxis(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int> keptAxes) {
  int longest = -1;
  for (int axis = 0; axis < int(dims.size()); ++axis) {
    bool isKept = llvm::is_contained(keptAxes, axis) || llvm::is_contained(keptAxes, axis - int(dims.size()));
    if (!isKept && dims[size_t(axis)] > 1 && (longest < 0 || dims[size_t(axis)] > dims[size_t(longest)])) {
      longest = axis;
    }
  }
  return longest;
}

/// Returns the largest magnitude at each place of an axis. A value that is not finite is larger than all others.
std::vector<float> magnitudesOf(const HostTensor &value, int axis) {
  auto *values = reinterpret_cast<const float *>(value.bytes.data());
  quantizer::AxisPlaces places(value.dims, axis);
  std::vector<float> magnitudes(size_t(places.count));
  auto inner = size_t(places.inner);
  for (size_t i = 0, place = 0; i < value.bytes.size() / sizeof(float); i += inner) {
    float largest = magnitudes[place];
    for (size_t k = i; k < i + inner; ++k) {
      float magnitude = std::fabs(values[k]);
      largest = std::max(largest, std::isnan(magnitude) ? HUGE_VALF : magnitude);
    }
    magnitudes[place] = largest;
    place = place + 1 == magnitudes.size() ? 0 : place + 1;
  }
  return magnitudes;
}

} // namespace

HostTensor ValuePart::of(const HostTensor &value) const {
  if (axis < 0 || value.dims.size() != tensor.dims.size() || value.type != tensor.type || value.dims.empty() ||
      value.dims[size_t(axis)] <= places.back()) {
    return value;
  }
  HostTensor part;
  part.name = value.name, part.type = value.type, part.dims = value.dims;
  part.dims[size_t(axis)] = int64_t(places.size());
  quantizer::AxisPlaces along(value.dims, axis);
  size_t run = size_t(along.inner) * sizeof(float), all = run * size_t(along.count);
  part.bytes.reserve(value.bytes.size() / size_t(along.count) * places.size());
  for (size_t outer = 0; outer < value.bytes.size(); outer += all) {
    for (int64_t place : places) {
      auto from = value.bytes.begin() + ptrdiff_t(outer + size_t(place) * run);
      part.bytes.insert(part.bytes.end(), from, from + ptrdiff_t(run));
    }
  }
  return part;
}

ValuePart partOf(const HostTensor &value, size_t most, llvm::ArrayRef<int> keptAxes) {
  size_t elements = value.bytes.size() / sizeof(float);
  int axis = value.type == importer::kFloat ? longestAxis(value.dims, keptAxes) : -1;
  if (axis < 0 || elements <= most) {
    return {value, -1, {}};
  }
  auto count = size_t(value.dims[size_t(axis)]);
  size_t taken = std::max<size_t>(most * count / elements, 2);
  if (taken >= count) {
    return {value, -1, {}};
  }
  std::set<int64_t> places;
  for (size_t i = 0; i < taken / 2; ++i) {
    places.insert(int64_t((2 * i + 1) * count / (taken / 2 * 2)));
  }
  std::vector<float> magnitudes = magnitudesOf(value, axis);
  std::vector<int64_t> loudest(count);
  std::iota(loudest.begin(), loudest.end(), 0);
  llvm::sort(loudest, [&](int64_t a, int64_t b) {
    return std::pair(-magnitudes[size_t(a)], a) < std::pair(-magnitudes[size_t(b)], b);
  });
  for (size_t i = 0; places.size() < taken; ++i) {
    places.insert(loudest[i]);
  }
  ValuePart part{{}, axis, std::vector<int64_t>(places.begin(), places.end())};
  part.tensor.type = value.type, part.tensor.dims = value.dims; // what `of` compares
  part.tensor = part.of(value);
  return part;
}

} // namespace ingot::driver
