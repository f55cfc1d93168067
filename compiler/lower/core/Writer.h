// Writes loops and vectors. Index arithmetic on numbers known now costs nothing: a builder written once serves static
// and dynamic sizes.
#pragma once
#include "compiler/support/Number.h"
#include "compiler/support/Size.h"
#include "compiler/target/MachineModel.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include <map>

namespace mlir::arith {
enum class CmpIPredicate : uint64_t;
}

namespace ingot::lower {

class Writer;

/// An index expression: a number known now, a size that is an expression of the model's symbols, or a value of the
/// loops. Arithmetic on what is known is done at once, and on the rest when value() asks for it. The name is short
/// since builders consist of it; Ixs is a list of them.
class Ix {
public:
  Ix(int64_t constant = 0) : constant(constant) {}
  Ix(int constant) : constant(constant) {}
  Ix(const support::Size &size);
  Ix(Writer &w, mlir::Value v);

  bool known() const { return !v && !expression; }
  int64_t number() const { return constant; } ///< this is asked when known()
  bool is(int64_t n) const { return known() && constant == n; }
  /// Whether indices are the same whatever the loops and the symbols are.
  friend bool same(const Ix &a, const Ix &b);

  friend Ix operator+(Ix a, Ix b);
  friend Ix operator-(Ix a, Ix b);
  friend Ix operator*(Ix a, Ix b);
  friend Ix floorDiv(Ix a, Ix b); ///< for non-negative numbers
  friend Ix remainder(Ix a, Ix b);
  friend Ix min(Ix a, Ix b);
  friend Ix max(Ix a, Ix b); ///< signed

private:
  friend class Writer;
  Writer *w = nullptr;
  mlir::Value v;
  int64_t constant = 0;
  std::optional<support::Size> expression; ///< the size; nothing for numbers and values
  bool isSize() const { return !v; }
  /// This is asked when isSize().
  support::Size size() const { return expression ? *expression : support::Size(constant); }
};
inline Ix &operator+=(Ix &a, Ix b) { return a = a + b; }
inline Ix &operator*=(Ix &a, Ix b) { return a = a * b; }
using Ixs = llvm::SmallVector<Ix, 4>;

/// The rows of a blocked image that never is in memory as a whole (Chain.h): there are `rows` rows at a time, row r at
/// r modulo `rows`, and a channel block begins `plane` elements behind the one before it. No rows: the image is in
/// memory.
struct Ring {
  int64_t rows = 0, plane = 0;
};

/// A flat buffer: a one-dimensional memref behind a bare pointer, and the element type of the tensor it holds (booleans
/// are i8 in memory, i1 in values; unsigned integers are signless in both; narrow floats are integers in memory and f32
/// in values, widened by loads and rounded by stores).
struct Buffer {
  mlir::Value memref;
  mlir::Type element;     ///< signless element type of values: f32, i64, i1 ...
  mlir::Type narrow = {}; ///< the float type that memory has; null: memory has the values themselves
  Ring ring = {};
  explicit operator bool() const { return static_cast<bool>(memref); }
};

/// Returns the extent of a memref over `elements` elements. Where that depends on the run, it is one that no tensor
/// reaches: sizes are in the loops, memrefs are but typed pointers.
int64_t memoryExtent(const support::Size &elements);

/// Return the signless type that values of a tensor's element type have, and the one that it has in memory.
mlir::Type valueType(mlir::Type element);
mlir::Type memoryType(mlir::Type element);
/// Returns the buffer of a memref that holds a tensor of that element type.
Buffer bufferOf(mlir::Value memref, mlir::Type element);

class Writer {
public:
  Writer(mlir::OpBuilder b, mlir::Location loc, const target::MachineModel &machine)
      : b(b), loc(loc), machine(machine) {}

  mlir::OpBuilder b;
  mlir::Location loc;
  const target::MachineModel &machine;
  std::map<support::Symbol, mlir::Value> symbols; ///< values of type index from which sizes are computed

  // These make indices and constants.
  mlir::Value value(Ix i); ///< a value of type index
  /// Returns an equal index behind an optimizationBarrier, so that it is cheap to use in loops.
  Ix hidden(Ix i);
  /// Returns an equal index that LLVM takes for another one in each iteration of a loop.
  Ix hidden(Ix i, Ix iteration);
  /// From a value of type index, or from an integer (sign-extended).
  Ix ix(mlir::Value v) { return Ix(*this, v); }
  mlir::Value integer(Ix i, mlir::Type type);                      ///< a value of an integer type
  mlir::Value constant(const support::Number &v, mlir::Type type); ///< scalar or splat; see onnx::constantOfType
  mlir::Value splat(mlir::Value scalar, int64_t lanes);            ///< lanes == 1: the scalar itself
  mlir::Type vectorOf(mlir::Type element, int64_t lanes);          ///< lanes == 1: the element itself

  // These write control flow. A loop with a known trip count of one is written without a loop, and one with none not at
  // all.
  void loop(Ix from, Ix to, Ix step, llvm::function_ref<void(Ix)> body);
  /// Writes a loop with carried values; `unroll` false keeps LLVM from unrolling it (it would repeat the broadcasts of
  /// stems).
  llvm::SmallVector<mlir::Value> loop(Ix from, Ix to, Ix step, mlir::ValueRange carried,
                                      llvm::function_ref<llvm::SmallVector<mlir::Value>(Ix, mlir::ValueRange)> body,
                                      bool unroll = true);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);
  void ifElse(mlir::Value condition, llvm::function_ref<void()> yes, llvm::function_ref<void()> no);
  /// Return what one of two bodies computes: values of equal types, or indices.
  llvm::SmallVector<mlir::Value> chooseValues(mlir::Value condition,
                                              llvm::function_ref<llvm::SmallVector<mlir::Value>()> yes,
                                              llvm::function_ref<llvm::SmallVector<mlir::Value>()> no);
  Ixs choose(mlir::Value condition, llvm::function_ref<Ixs()> yes, llvm::function_ref<Ixs()> no);
  /// Writes tiles of at most `most` that cover [from, to), with a body for each size. Where the extent is known, all
  /// have one size or two that differ by one, never a small remainder: 49 by 13 gives 13 + 12 + 12 + 12. Else there are
  /// tiles of `most`, then what is left by halves of that: 49 by 13 gives 13 + 13 + 13 + 6 + 3 + 1; or, where a tile
  /// costs much whatever its size, by one half and a tile of the rest (`exact`: a body for each size up to the half):
  /// 13 + 13 + 13 + 6 + 4.
  void balanced(Ix from, Ix to, int64_t most, llvm::function_ref<void(Ix start, int64_t size)> body,
                bool exact = false);
  void balanced(Ix extent, int64_t most, llvm::function_ref<void(Ix start, int64_t size)> body) {
    balanced(0, extent, most, body);
  }
  /// Writes vectors along [0, extent): whole ones, then the rest with a mask (machine.maskedAccess) or as scalars
  /// (lanes 1).
  void lanes(Ix extent, llvm::function_ref<void(Ix start, int64_t lanes, mlir::Value mask)> body);
  mlir::Value maskFor(Ix count, int64_t lanes); ///< the first `count` lanes are live

  // These load and store. Vectors are contiguous; a mask's other lanes read zero.
  mlir::Value load(Buffer from, Ix at, int64_t lanes = 1, mlir::Value mask = {});
  void store(mlir::Value v, Buffer to, Ix at, mlir::Value mask = {});
  /// Stores a vector so that the machine neither reads the cache line first nor keeps it. The address is a multiple of
  /// the vector's length. Other threads may read it after a finishStores() alone.
  void storePastCaches(mlir::Value v, Buffer to, Ix at);
  void finishStores();
  mlir::Value loadStrided(Buffer from, Ix at, Ix stride, int64_t lanes,
                          mlir::Value mask = {}); ///< lane i reads at + i * stride
  /// Loads lane i from at + offsets[i], where offsets are indices; masked lanes read zero.
  mlir::Value gather(Buffer from, Ix at, mlir::Value offsets, mlir::Value mask);
  void storeStrided(mlir::Value v, Buffer to, Ix at, Ix stride, mlir::Value mask = {});
  void prefetch(Buffer from, Ix at, int locality = 2);                               ///< into the next-level cache
  Buffer scratch(Buffer bytes, Ix byteOffset, mlir::Type element, int64_t elements); ///< a piece of an i8 buffer
  /// Calls a function that is linked to the model, and declares it where no call has. Returns null where it gives
  /// nothing.
  mlir::Value callLibrary(llvm::StringRef name, mlir::ValueRange arguments, mlir::TypeRange results);
  mlir::Value address(Buffer buffer);        ///< the address of its first byte, of type index
  mlir::Value elsewhere(Buffer a, Buffer b); ///< whether they begin at different addresses
  mlir::Value countUp(Buffer counter);       ///< adds one to its first number (an integer), and returns what that was
  /// Makes a small array on the stack of the kernel (at most a few KiB in all).
  Buffer local(mlir::Type element, int64_t elements);

  // These do arithmetic.
  mlir::Value compare(mlir::arith::CmpIPredicate how, mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate how, Ix a, Ix b) { return compare(how, value(a), value(b)); }
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c); ///< a * b + c, fused where the machine fuses
  /// Returns e^x where no x is positive, as for a difference from the largest element; 0 where it is below the normal
  /// numbers.
  mlir::Value expOfNegative(mlir::Value x);

private:
  llvm::DenseMap<std::pair<mlir::Block *, support::Size>, mlir::Value>
      known;                                       ///< sizes computed at the start of a function
  mlir::Value computed(const support::Size &size); ///< computes a size from the symbols, at this place
};

/// Returns sizes of balanced tiles: {size, count} of the larger and the smaller kind.
llvm::SmallVector<std::pair<int64_t, int64_t>, 2> balancedTiles(int64_t extent, int64_t most);

} // namespace ingot::lower
