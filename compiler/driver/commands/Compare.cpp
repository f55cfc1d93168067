#include "compiler/driver/commands/Compare.h"
#include "compiler/importer/ElementType.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <bit>
#include <cmath>
#include <cstring>

namespace ingot::driver {
namespace {

/// Returns the tensor's elements if they are floats.
std::vector<double> floatValues(const importer::HostTensor &tensor) {
  const support::ElementType &type = support::elementType(tensor.type);
  std::vector<double> values;
  if (type.bits < 8) {
    size_t pack = 8 / type.bits;
    for (size_t i = 0; i < tensor.bytes.size() * pack; ++i) {
      auto byte = static_cast<uint8_t>(tensor.bytes[i / pack]);
      values.push_back(type.format.decode(byte >> (i % pack * type.bits) & ((1u << type.bits) - 1)));
    }
    return values;
  }
  size_t step = type.bits / 8;
  values.reserve(tensor.bytes.size() / step);
  for (size_t at = 0; at + step <= tensor.bytes.size(); at += step) {
    uint64_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + at, step);
    values.push_back(type.bits == 64   ? std::bit_cast<double>(bits)
                     : type.bits == 32 ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                                       : type.format.decode(bits));
  }
  return values;
}

std::string number(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g", value);
  return text;
}

void compareExactly(const importer::HostTensor &got, const importer::HostTensor &expected, TensorComparison &result) {
  size_t differ = 0, count = expected.strings.size();
  for (size_t i = 0; i < count; ++i) {
    differ += got.strings[i] != expected.strings[i];
  }
  if (unsigned bits = importer::elementBits(expected.type); expected.strings.empty() && bits) {
    size_t step = std::max(bits / 8, 1u); // the bytes of packed types are compared
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
                   TensorComparison &result) {
  std::vector<double> a = floatValues(got), b = floatValues(expected);
  if (unsigned bits = importer::elementBits(expected.type); bits <= 16) {
    tolerance = bits == 16 ? std::max(tolerance, 1e-2) : 0; // a step of shorter floats is no rounding error
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

TensorComparison compareTensors(const importer::HostTensor &got, const importer::HostTensor &expected,
                                double tolerance) {
  TensorComparison result;
  if (got.type != expected.type) {
    result.why =
        "type " + importer::elementName(got.type).str() + ", expected " + importer::elementName(expected.type).str();
  } else if (got.dims != expected.dims) {
    result.why = "shape " + importer::dimsText(got.dims) + ", expected " + importer::dimsText(expected.dims);
  } else if (got.mapKeys != expected.mapKeys) {
    result.why = "keys of maps differ";
  } else if (got.bytes.size() != expected.bytes.size() || got.strings.size() != expected.strings.size()) {
    result.why = "number of bytes differs";
  } else if (support::elementType(expected.type).isFloat()) {
    compareFloats(got, expected, tolerance, result);
  } else {
    compareExactly(got, expected, result);
  }
  return result;
}

} // namespace ingot::driver
