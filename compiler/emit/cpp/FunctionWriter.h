// Writes one function of loop IR as one function of C++.
//
// Operations are visited in their order. The expression of an operation that is used once, in its own block, waits for
// its user; the others become constants. An expression that reads memory waits no longer than to the next statement
// that may write. Carried values of a loop are variables, as are those that basic blocks hand to each other. Blocks
// that follow each other on one way only are written one behind the other; the others have labels, and values that more
// than one of them knows are declared at the start of the function.
#pragma once
#include "compiler/emit/cpp/Expression.h"
#include "compiler/plan/Model.h"
#include "compiler/plan/Run.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace ingot::emit::cpp {

constexpr size_t mostColumns = 120;

/// Continues lines that do not fit with more indentation.
std::string wrapped(llvm::StringRef line, unsigned indent);

/// Whether `name` occurs in the text of an expression.
bool mentions(llvm::StringRef text, llvm::StringRef name);

/// Returns the name that a function of loop IR has in the source: functions of the model lose its name.
std::string functionName(mlir::func::FuncOp function, const plan::ModelInfo &model);

class FunctionWriter {
public:
  FunctionWriter(mlir::func::FuncOp function, const plan::ModelInfo &model, Helpers &helpers)
      : function(function), model(model), helpers(helpers) {}

  mlir::FailureOr<std::string> write();

private:
  using Value = mlir::Value;
  using Operation = mlir::Operation;
  using Block = mlir::Block;

  // These deal with names and expressions.

  std::string newName(mlir::Type type);
  /// Returns the expression of a value, which is not pending any more.
  Expression take(Value value);
  /// Returns a name or a literal for the value, and declares a constant where it has none.
  Expression named(Value value);
  std::string argument(Value value) { return take(value).text; }
  llvm::SmallVector<std::string> texts(mlir::ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return argument(value); });
  }
  /// Makes `expression` the value: now, or where it is used.
  void define(Value value, Expression expression);
  void declareConstant(Value value, const Expression &expression);
  /// Declares a variable for the value; a value that other blocks know has one already.
  std::string declareVariable(Value value, llvm::StringRef start);
  bool waits(Value value) const;
  /// Returns expressions of operands that are short enough in sum.
  llvm::SmallVector<Expression> takeAll(mlir::ValueRange values, size_t most);
  size_t room() const;
  /// Writes down what was read, because memory is about to change.
  void flushReads();

  // These write statements.

  void line(const llvm::Twine &text);
  void open(const llvm::Twine &text);
  void close(const llvm::Twine &text = "}");
  void visitAll(Block &block);
  void visit(Operation &op);
  void visit(mlir::arith::ConstantOp constant);
  void visit(mlir::memref::LoadOp load);
  void visit(mlir::memref::StoreOp store);
  void visit(mlir::memref::ViewOp view);
  void visit(mlir::memref::AllocaOp array);
  void visit(mlir::func::CallOp call);
  void visit(mlir::func::CallIndirectOp call);
  void visit(run::FieldOp field);
  void visit(run::OverItemsOp op);
  void visit(mlir::scf::ForOp loop);
  void visit(mlir::scf::IfOp branch);
  void visit(mlir::scf::WhileOp loop);
  void visitOther(Operation &op);
  bool visitVectorStore(Operation &op);
  void multiplied(Operation &op);
  std::string callOf(mlir::func::FuncOp callee, llvm::ArrayRef<std::string> arguments);
  void callLibrary(mlir::func::CallOp call, llvm::ArrayRef<std::string> arguments);
  /// Assigns to all variables at once, since the value of one may be computed from another.
  void assign(llvm::ArrayRef<std::string> variables, mlir::ValueRange values);
  void refuse(Operation &op);

  // These write basic blocks.

  struct BlockChain {
    Block *head;
    llvm::SmallVector<Block *> blocks;
    std::string text;
  };
  void formChains();
  Block *following(Block *block) const;
  bool endsAtOnce(Block *block) const;
  void shareValues();
  void writeChain(BlockChain &chain, Block *next);
  void end(Block &block, Block *inside, Block *next);
  void jump(Block *from, Block *to, mlir::ValueRange operands, Block *inside, Block *next);
  void endAtOnce(Block *block);

  void nameParameters();
  std::string signature(llvm::StringRef body);
  bool isOnlyRead(mlir::BlockArgument pointer) const;

  mlir::func::FuncOp function;
  const plan::ModelInfo &model;
  Helpers &helpers;
  bool failed = false;
  std::string out;
  unsigned indent = 2;
  std::map<char, unsigned> numbers;
  llvm::DenseMap<Value, Expression> known;
  llvm::MapVector<Value, Expression> pending;
  llvm::DenseMap<Value, std::string> shared; ///< variables that several chains know
  std::vector<BlockChain> chains;
  llvm::DenseMap<Block *, unsigned> chainOf;
  llvm::SmallDenseSet<Block *> targets; ///< the targets of a goto
};

} // namespace ingot::emit::cpp
