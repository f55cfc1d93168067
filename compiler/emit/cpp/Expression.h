// Makes expressions of C++ from operations, by a table (Expression.cpp). An expression is text with the operator that
// binds loosest in it, so that parentheses are written only where they are needed:
//
//   arith.muli %s, %c  with %s = {"a + b", Sum}, %c = {"c", Name}   =>   {"(a + b) * c", Product}
#pragma once
#include "compiler/emit/cpp/Helpers.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <string>

namespace ingot::emit::cpp {

/// The operators by how tightly they bind, the tightest first. The rank of an expression is that of its loosest
/// operator outside of parentheses: Name for names, calls and casts, LogicalAnd for &&, LogicalOr for ||, Choice for
/// ?:.
enum class Rank { Name, Unary, Product, Sum, Shift, Compare, Equal, And, Xor, Or, LogicalAnd, LogicalOr, Choice };

/// The sign of an integer expression's type. Integers of the IR have none and are written with the unsigned type of
/// their width. Signed are the counters of loops, and sums and products of counters and literals. A literal takes its
/// sign from where it stands.
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
/// Returns the type of C++ for elements in memory, such as "f32": float, but declared so that it may alias memory of
/// any type.
std::string elementName(mlir::Type type);
/// Returns the integer type of C++ with `bits` bits: "uint32_t".
std::string integerName(unsigned bits, bool isSigned = false);
/// Returns the bits of an integer or an index.
unsigned bitsOf(mlir::Type type);

/// Returns the literal of an arith.constant; nothing where there is none.
std::optional<Expression> literal(mlir::Type type, mlir::Attribute value, Helpers &helpers);

/// Returns the expression of an operation with one result and no region, from the expressions of its operands; nothing
/// for operations that cannot be written so.
std::optional<Expression> express(mlir::Operation *op, llvm::ArrayRef<Expression> operands, Helpers &helpers);

/// Returns the name of a type of vectors, "f32x8"; empty for vectors that compilers do not have. Integers are unsigned;
/// conditions have signed lanes of 32 bits.
std::string vectorName(mlir::VectorType type);
/// Returns the initializer of a vector constant; nothing where its type has no name.
std::optional<Expression> vectorLiteral(mlir::VectorType type, mlir::DenseElementsAttr values, Helpers &helpers);
/// Does what express() does, for an operation on vectors.
std::optional<Expression> expressVector(mlir::Operation *op, llvm::ArrayRef<Expression> operands, Helpers &helpers);
/// Returns the statement of an operation that stores a vector, without its semicolon.
std::optional<std::string> storeVector(mlir::Operation *op, llvm::ArrayRef<Expression> operands, Helpers &helpers);

/// Returns the name of an operation as the tables have it, "arith.cmpi slt".
std::string keyOf(mlir::Operation *op);

/// Returns the text of an integer of `type` as a signed operand: with a cast unless it is signed already.
std::string asSigned(const Expression &expression, mlir::Type type);
/// Returns the text of an operand, in parentheses where its rank is looser than `loosest`.
std::string asOperand(const Expression &expression, Rank loosest);

} // namespace ingot::emit::cpp
