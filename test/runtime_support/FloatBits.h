// Floats and their bits, and what two results have in common if both are right: all NaNs are one.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

inline uint64_t bitsOf(double x) {
  uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline double doubleOf(uint64_t bits) {
  double x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
inline uint32_t bitsOf(float x) {
  uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float floatOf(uint32_t bits) {
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

inline uint64_t canonical(uint64_t bits) { return std::isnan(doubleOf(bits)) ? bitsOf(std::nan("")) : bits; }
inline uint32_t canonical(uint32_t bits) { return std::isnan(floatOf(bits)) ? bitsOf(std::nanf("")) : bits; }
