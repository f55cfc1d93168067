// A number that stands in a model or in a formula. Integers and floats become each other only where nothing is lost: an
// int64 that passes through a double comes out as another one from 2^53 on, and as anything from 2^63 on.
#pragma once
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

namespace ingot::support {

/// An integer of either sign or a float, with the value that it was written with.
class Number {
public:
  template <std::signed_integral T> constexpr Number(T n) : value(static_cast<int64_t>(n)) {}
  template <std::unsigned_integral T> constexpr Number(T n) : value(static_cast<uint64_t>(n)) {}
  template <std::floating_point T> constexpr Number(T x) : value(static_cast<double>(x)) {}

  bool isFloat() const { return std::holds_alternative<double>(value); }

  /// Returns the number as an int64; nothing where it is a fraction, or not within int64.
  std::optional<int64_t> integer() const { return within<int64_t>(-0x1p63, 0x1p63); }
  /// Returns the number as a uint64; nothing where it is a fraction, negative, or not within uint64.
  std::optional<uint64_t> natural() const { return within<uint64_t>(0, 0x1p64); }
  /// Returns the number as a double; nothing where it is an integer that no double represents.
  std::optional<double> real() const {
    return std::visit([](auto n) { return exactly(n); }, value);
  }
  /// Returns the 64 bits of a whole number of either sign; nothing where it is a fraction, or too large.
  std::optional<uint64_t> bits() const {
    std::optional<int64_t> n = integer();
    return n ? std::optional(static_cast<uint64_t>(*n)) : natural();
  }

  /// Compares by value, whatever the kinds; NaN equals nothing.
  friend bool operator==(const Number &a, const Number &b) {
    if (a.isFloat() && b.isFloat()) {
      return std::get<double>(a.value) == std::get<double>(b.value);
    }
    std::optional<uint64_t> x = a.bits(), y = b.bits();
    return x && x == y && a.isNegative() == b.isNegative();
  }

private:
  std::variant<int64_t, uint64_t, double> value;

  bool isNegative() const {
    return std::visit([](auto n) { return n < 0; }, value);
  }

  template <std::integral T> static std::optional<double> exactly(T n) {
    auto x = static_cast<double>(n); // from INT64_MAX on it may be 2^63 or 2^64, which is no T
    return x < (std::signed_integral<T> ? 0x1p63 : 0x1p64) && static_cast<T>(x) == n ? std::optional(x) : std::nullopt;
  }
  static std::optional<double> exactly(double x) { return x; }

  /// Returns the number as a T, whose range is [from, to), if it is one.
  template <typename T> std::optional<T> within(double from, double to) const {
    if (const double *x = std::get_if<double>(&value)) {
      return *x >= from && *x < to && *x == std::trunc(*x) ? std::optional(static_cast<T>(*x)) : std::nullopt;
    }
    return std::visit(
        [](auto n) -> std::optional<T> {
          if constexpr (std::integral<decltype(n)>) {
            return std::in_range<T>(n) ? std::optional(static_cast<T>(n)) : std::nullopt;
          }
          return std::nullopt;
        },
        value);
  }
};

} // namespace ingot::support
