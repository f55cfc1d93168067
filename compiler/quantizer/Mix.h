// Chooses a form for each layer of a model, such that what the forms cost together stays within budgets.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <optional>
#include <vector>

namespace ingot::quantizer {

/// What there are budgets of. Sums over layers are what a model costs: what layers lose alone adds up, as long as it is
/// little.
enum class Measure { Drop, Size, Latency };
inline constexpr size_t kMeasures = 3;

/// A number of each measure: the drop of the outputs, bytes, and seconds.
class FormCosts {
public:
  double &operator[](Measure measure) { return values[size_t(measure)]; }
  double operator[](Measure measure) const { return values[size_t(measure)]; }

private:
  std::array<double, kMeasures> values = {};
};

/// Returns for each layer the number of one of its forms: of the choices that cost at most as much as is allowed, one
/// with about the least of `goal`. Nothing: no choice was found that costs so little. Measures that are infinite in
/// `most` count only as the goal.
std::optional<std::vector<size_t>> chooseForms(llvm::ArrayRef<std::vector<FormCosts>> layers, const FormCosts &most,
                                               Measure goal);

} // namespace ingot::quantizer
