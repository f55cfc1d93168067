// A piece: connected ops of a model that a target has claimed and of which it makes machine code by itself, as a
// vendor's compiler or library would. The compiler hands over what is in this file and gets back an object file, which
// becomes a part of the model's library. This header needs nothing but the C++17 standard library.
//
// Where the code runs: the model's run calls
//
//   int32_t SYMBOL(const void *const *inputs, void *const *outputs, void *scratch, const int64_t *sizes);
//
// with the addresses of dense row-major tensors, aligned as their element type is (booleans are bytes, 0 or 1), in the
// order of Piece::inputs, with PieceCode::constants behind them, and of Piece::outputs. No output overlaps anything
// else. `scratch` has the bytes of PieceCode::scratch at a multiple of 64, and its contents are not kept from run to
// run; `sizes` has the values of Piece::openSizes. Neither address says anything where there are none of them. Anything
// but 0 ends the run with INGOT_ERROR_PIECE at the piece's first node.
//
// The code has the manners of all that ingot generates: it allocates no memory, takes no lock, makes no system call,
// has no state of its own, and may run on several threads at a time. It leaves the floating-point environment alone and
// keeps to 16 KiB of stack.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace ingot::target {

/// The element types, with the numbers that ONNX has for them (TensorProto.DataType).
enum class ElementType : int32_t {
  Float32 = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  Bool = 9,
  Float16 = 10,
  Float64 = 11,
  UInt32 = 12,
  UInt64 = 13,
  BFloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  UInt4 = 21, ///< an element below a byte has a byte of its own in a piece; a signed one is extended by its sign
  Int4 = 22,
  Float4E2M1 = 23,
  Float8E8M0 = 24,
  UInt2 = 25,
  Int2 = 26
};

/// The size of an axis: a number, or one of Piece::openSizes, which each run chooses.
struct PieceSize {
  int64_t number = -1; ///< -1: open
  int32_t open = -1;   ///< the index of an open size in Piece::openSizes
  bool isNumber() const { return number >= 0; }
};

/// A tensor.
struct PieceValue {
  ElementType type = ElementType::Float32;
  std::vector<PieceSize> sizes; ///< the sizes of its axes
  /// The bytes of a constant's elements, dense and row-major; null for other values. They live as long as the call that
  /// passes the piece.
  const void *data = nullptr;
  size_t dataBytes = 0;

  bool isConstant() const { return data != nullptr; }
  bool isStatic() const {
    for (const PieceSize &size : sizes) {
      if (!size.isNumber()) {
        return false;
      }
    }
    return true;
  }
  /// Returns the number of elements of a static tensor.
  int64_t elements() const {
    int64_t product = 1;
    for (const PieceSize &size : sizes) {
      product *= size.number;
    }
    return product;
  }
};

using PieceAttribute = std::variant<int64_t, double, bool, std::string, std::vector<int64_t>, std::vector<double>>;

/// An operator. Names, attributes and operands are those that `ingot compile --stop-after fuse` prints: the newest
/// definition of ONNX's operator, and ingot's own ones (docs/operators.md). An attribute that is left out has the
/// standard's default.
struct PieceOp {
  std::string name; ///< "Conv"
  std::string node; ///< the name of the ONNX node, for messages
  std::map<std::string, PieceAttribute> attributes;
  std::vector<int32_t> operands; ///< indices in Piece::values; -1: an input that the node leaves out
  std::vector<int32_t> results;  ///< -1: nobody reads it, and it need not be computed
};

/// The machine that the code is for, in LLVM's words.
struct PieceMachine {
  std::string spec; ///< the element of --target that named the target: "halide", "npu:fast"
  std::string triple, cpu, features;
  int64_t lanes = 1; ///< float32 lanes of a vector register
  int64_t registers = 16;
  int64_t l1Bytes = 0, l2Bytes = 0, l3Bytes = 0;
};

struct Piece {
  std::string symbol; ///< what the object has to define
  PieceMachine machine;
  std::vector<PieceValue> values;
  std::vector<PieceOp> ops;           ///< ops, each behind those whose results it reads
  std::vector<int32_t> inputs;        ///< values that the run passes; none is a constant
  std::vector<int32_t> outputs;       ///< values that are read outside of the piece
  bool isStrict = false;              ///< --accuracy strict: arithmetic as the ops say it, in their order
  std::vector<std::string> openSizes; ///< as a user reads them: "batch", "2*n+1"
};

/// A number of bytes: `bytes` times all of these open sizes.
struct ScratchTerm {
  int64_t bytes = 0;
  std::vector<int32_t> sizes = {}; ///< indices in Piece::openSizes
};

/// The code that a target makes of a piece.
struct PieceCode {
  std::string refusal; ///< why the target makes nothing of it: a few words for the user. Empty: it makes code
  std::string object; ///< the bytes of a relocatable ELF file that refers to no other symbol than the support library's
  std::vector<ScratchTerm> scratch; ///< their sum is planned into the model's arena
  std::vector<int32_t> constants;   ///< constant values whose bytes the code reads, from behind the inputs

  static PieceCode refused(std::string why) { return {std::move(why), {}, {}, {}}; }
};

/// One thing that a user may write after --target, with a sentence for `ingot targets`.
struct PieceLevel {
  std::string spec, sentence;
};

/// A target that brings code for pieces. The same piece must give the same bytes whenever it is asked.
class PieceTarget {
public:
  virtual ~PieceTarget() = default;

  /// Returns the name that appears in reports: "halide".
  virtual std::string name() const = 0;

  /// Returns what `ingot targets` lists.
  virtual std::vector<PieceLevel> levels() const = 0;

  /// Whether `spec` (one element of --target) is this target's.
  virtual bool accepts(const std::string &spec) const { return spec == name(); }

  /// Returns why the target does not claim the op, which is the only one of `piece`, as the report prints it. Empty: it
  /// claims the op.
  virtual std::string refuses(const Piece &piece) const = 0;

  /// Returns the code of claimed ops that are connected. When it is refused, the next target of the user's list gets
  /// the ops.
  virtual PieceCode compile(const Piece &piece) const = 0;
};

} // namespace ingot::target
