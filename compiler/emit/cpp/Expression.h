// Makes expressions of C++ from operations, by a table.
#pragma once
#include "compiler/emit/cpp/Helpers.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <string>

namespace ingot::emit::cpp {

/// The operator that holds an expression together, the tightest first.
enum class Rank { Name, Unary, Product, Sum, Shift, Compare, Equal, And, Xor, Or, Both, Either, Choice };

/// The sign of an integer. It has the unsigned type of its width, apart from two kinds: counters of loops, and what is
/// computed from them and numbers, are signed; literals are what their context makes of them.
enum class Sign { Unsigned, Signed, Literal };

struct Expression {
  std::string text;
  Rank rank = Rank::Name;
  Sign sign = Sign::Unsigned;
  bool reads = false; ///< whether it reads memory, so that it may not be moved behind a store
};

/// Returns the type of C++ for values of a type: "uint64_t", "float", "f32 *"; empty for a type that has no form there.
std::string typeName(mlir::Type type);
/// Whether values of the type are the ingot_exec of a run.
bool isExec(mlir::Type type);
/// Returns the type of C++ for elements in memory, "f32", which may lie in memory of any type.
std::string elementName(mlir::Type type);
/// Returns the integer type of C++ with `bits` bits: "uint32_t".
std::string integerName(unsigned bits, bool isSigned = false);
/// Returns the bits of an integer or an index.
unsigned bitsOf(mlir::Type type);

/// Returns the literal of an arith.constant; nothing where there is none.
std::optional<Expression> literal(mlir::Type type, mlir::Attribute value, Helpers &helpers);

/// Returns the expression of an operation with one result and no region, from those of its operands; nothing for
/// operations that the table does not have.
std::optional<Expression> express(mlir::Operation *op, llvm::ArrayRef<Expression> operands, Helpers &helpers);

/// Returns the name of a type of vectors, "f32x8"; empty for vectors that compilers do not have. Integers are unsigned;
/// conditions have signed lanes of 32 bits.
std::string vectorName(mlir::VectorType type);
std::optional<Expression> vectorLiteral(mlir::VectorType type, mlir::DenseElementsAttr values, Helpers &helpers);
/// Does what express() does, for an operation on vectors.
std::optional<Expression> expressVector(mlir::Operation *op, llvm::ArrayRef<Expression> operands, Helpers &helpers);
/// Returns the statement of an operation that stores a vector, without its semicolon.
std::optional<std::string> storeVector(mlir::Operation *op, llvm::ArrayRef<Expression> operands, Helpers &helpers);

/// Returns the name of an operation as the tables have it, "arith.cmpi slt".
std::string keyOf(mlir::Operation *op);

/// Return an operand that is compared or counted as signed, and one where an expression up to a rank may stand.
std::string asSigned(const Expression &expression, mlir::Type type);
std::string asOperand(const Expression &expression, Rank loosest);

} // namespace ingot::emit::cpp
