// Has what the user allows kernels, as attributes of the module.
#pragma once
#include "compiler/support/Words.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace ingot::lower {

/// The module's attribute for `--accuracy close` and `fast`: factors of float32 that are split have two parts.
inline constexpr llvm::StringLiteral twoPartsName = "ingot.two_parts";

/// The module's attribute for `--accuracy fast`: factors of float32 may be rounded to 11 bits or less.
inline constexpr llvm::StringLiteral fastName = "ingot.fast";

/// Whether convolutions are computed by Winograd's algorithm. By default they are where that is expected to be faster,
/// but not those of floats if results are to be strict, since sums are not the model's. The numbers are the outputs of
/// a tile along an axis.
enum class Winograd : int64_t { Faster = -1, Off = 0, Two = 2, Four = 4 };
inline constexpr support::Word<Winograd> winogradWords[] = {
    {Winograd::Off, "off"},
    {Winograd::Two, "2", "by F(2x2) wherever that is possible"},
    {Winograd::Four, "4", "by F(4x4) wherever that is possible"}};
inline llvm::ArrayRef<support::Word<Winograd>> wordsOf(Winograd) { return winogradWords; }
inline constexpr llvm::StringLiteral winogradName = "ingot.winograd";

/// Whether an algorithm is used that rounds otherwise than the model. By default it is where that is expected to be
/// faster, but not if results are to be strict.
enum class Use { Faster, Off, On };
inline constexpr support::Word<Use> useWords[] = {{Use::Off, "off"}, {Use::On, "on", "wherever that is possible"}};
inline llvm::ArrayRef<support::Word<Use>> wordsOf(Use) { return useWords; }
/// The attributes for products by Strassen's algorithm, and for factors of float32 that are split (product/Tiles.h).
inline constexpr llvm::StringLiteral strassenName = "ingot.strassen", splitFloatsName = "ingot.split_floats";

} // namespace ingot::lower
