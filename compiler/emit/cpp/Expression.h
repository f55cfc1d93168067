// Expressions of C++, and the table from operations to them.
#pragma once
#include "compiler/emit/cpp/Helpers.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <string>

namespace ingot::emit::cpp {

/// How tightly an expression holds together, tightest first.
enum class Rank { Name, Unary, Product, Sum, Shift, Compare, Equal, And, Xor, Or, Both, Either, Choice };

/// An integer has the unsigned type of its width but for counters of loops and what is computed from them and numbers,
/// which are signed, and literals, which are what their context makes of them.
enum class Sign { Unsigned, Signed, Literal };

struct Expression {
  std::string text;
  Rank rank = Rank::Name;
  Sign sign = Sign::Unsigned;
  bool reads = false; ///< memory: it may not be moved behind a store
};

/// "uint64_t", "float", "f32 *": what values of the type are in C++; empty for a type that has no form there.
std::string typeName(mlir::Type type);
/// Whether values of the type are the ingot_exec of a run.
bool isExec(mlir::Type type);
/// What elements of the type are in memory: "f32", which may lie in memory of any type.
std::string elementName(mlir::Type type);
/// The integer type of so many bits: "uint32_t".
std::string integerName(unsigned bits, bool isSigned = false);
/// Bits of an integer or an index.
unsigned bitsOf(mlir::Type type);

/// The literal of an arith.constant; nothing for what has none.
std::optional<Expression> literal(mlir::Type type, mlir::Attribute value, Helpers &helpers);

/// The expression of an operation with one result and no region, from those of its operands; nothing for operations
/// that the table does not have.
std::optional<Expression> express(mlir::Operation *op, llvm::ArrayRef<Expression> operands, Helpers &helpers);

/// "f32x8"; empty for vectors that compilers do not have. Integers are unsigned; conditions have signed lanes of 32
/// bits.
std::string vectorName(mlir::VectorType type);
std::optional<Expression> vectorLiteral(mlir::VectorType type, mlir::DenseElementsAttr values, Helpers &helpers);
/// As express(), of an operation on vectors.
std::optional<Expression> expressVector(mlir::Operation *op, llvm::ArrayRef<Expression> operands, Helpers &helpers);
/// The statement of an operation that stores a vector, without its semicolon.
std::optional<std::string> storeVector(mlir::Operation *op, llvm::ArrayRef<Expression> operands, Helpers &helpers);

/// An operand where any expression may stand (an argument, an index), and one that is compared or counted as signed.
std::string asSigned(const Expression &expression, mlir::Type type);
std::string asOperand(const Expression &expression, Rank loosest);

} // namespace ingot::emit::cpp
