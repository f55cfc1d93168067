#include "compiler/driver/Compare.h"
#include "compiler/importer/ElementType.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <bit>
#include <cmath>
#include <cstring>

namespace ingot::driver {
namespace {

template <typename T> T load(const char *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

double halfValue(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                     : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                    : std::ldexp(fraction, -24);
  return bits >> 15 ? -magnitude : magnitude;
}

/// The tensor's elements if they are floats.
std::vector<double> floatValues(const importer::HostTensor &tensor) {
  std::vector<double> values;
  size_t step = importer::elementBits(tensor.type) / 8;
  values.reserve(step ? tensor.bytes.size() / step : 0);
  for (size_t at = 0; step && at + step <= tensor.bytes.size(); at += step) {
    const char *data = tensor.bytes.data() + at;
    switch (tensor.type) {
    case importer::kFloat:
      values.push_back(load<float>(data));
      break;
    case importer::kDouble:
      values.push_back(load<double>(data));
      break;
    case importer::kFloat16:
      values.push_back(halfValue(load<uint16_t>(data)));
      break;
    default: // bfloat16
      values.push_back(std::bit_cast<float>(uint32_t(load<uint16_t>(data)) << 16));
    }
  }
  return values;
}

bool isFloat(int32_t type) {
  return type == importer::kFloat || type == importer::kDouble || type == importer::kFloat16 ||
         type == importer::kBFloat16;
}

std::string number(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g", value);
  return text;
}

void compareExactly(const importer::HostTensor &got, const importer::HostTensor &expected, Comparison &result) {
  size_t differ = 0, count = expected.strings.size();
  for (size_t i = 0; i < count; ++i) {
    differ += got.strings[i] != expected.strings[i];
  }
  if (size_t step = importer::elementBits(expected.type) / 8) {
    count = expected.bytes.size() / step;
    for (size_t i = 0; i < count; ++i) {
      differ += std::memcmp(&got.bytes[i * step], &expected.bytes[i * step], step) != 0;
    }
  }
  result.maxError = double(differ);
  result.equal = differ == 0;
  if (differ) {
    result.why = std::to_string(differ) + " of " + std::to_string(count) + " differ";
  }
}

void compareFloats(const importer::HostTensor &got, const importer::HostTensor &expected, double tolerance,
                   Comparison &result) {
  std::vector<double> a = floatValues(got), b = floatValues(expected);
  if (importer::elementBits(expected.type) == 16) {
    tolerance = std::max(tolerance, 1e-2);
  }
  for (double value : b) {
    result.maxExpected = std::isfinite(value) ? std::max(result.maxExpected, std::fabs(value)) : result.maxExpected;
  }
  double scale = std::max(1.0, result.maxExpected);
  size_t beyond = 0, elsewhere = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    if (!std::isfinite(b[i]) || !std::isfinite(a[i])) {
      elsewhere += !(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])));
      continue;
    }
    double error = std::fabs(a[i] - b[i]);
    result.maxError = std::max(result.maxError, error);
    beyond += error > tolerance * scale + 10 * tolerance * std::fabs(b[i]);
  }
  result.equal = !beyond && !elsewhere;
  if (elsewhere) {
    result.why =
        "NaN or infinity in other places (" + std::to_string(elsewhere) + " of " + std::to_string(b.size()) + ")";
  } else if (beyond) {
    result.why = "max error " + number(result.maxError) + " at max " + number(result.maxExpected) + ", " +
                 std::to_string(beyond) + " of " + std::to_string(b.size()) + " beyond tolerance";
  }
}

} // namespace

Comparison compareTensors(const importer::HostTensor &got, const importer::HostTensor &expected, double tolerance) {
  Comparison result;
  if (got.type != expected.type) {
    result.why =
        "type " + importer::elementName(got.type).str() + ", expected " + importer::elementName(expected.type).str();
  } else if (got.dims != expected.dims) {
    result.why = "shape " + importer::dimsText(got.dims) + ", expected " + importer::dimsText(expected.dims);
  } else if (got.bytes.size() != expected.bytes.size() || got.strings.size() != expected.strings.size()) {
    result.why = "number of bytes differs";
  } else if (isFloat(expected.type)) {
    compareFloats(got, expected, tolerance, result);
  } else {
    compareExactly(got, expected, result);
  }
  return result;
}

} // namespace ingot::driver
