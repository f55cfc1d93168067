// Where every value of a run lies, and how long: what PlanMemory.cpp writes the memory form from.
#pragma once
#include "compiler/memory/PlanMemory.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/sizes/Found.h"
#include "compiler/plan/Layout.h"
#include "compiler/support/SizeRange.h"

namespace ingot::memory {

/// Memory that must be there at some point of an op: `bytes` in the asked memory of this number, the first `kept` of
/// which stay as they are.
struct Need {
  enum When { Before, Turn, End }; ///< before the op runs; in a loop, before each iteration or at the end of each
  int64_t number;
  When when;
  support::Size kept, bytes;
};

class Places {
public:
  using Place = ingot::plan::Place;
  using Value = mlir::Value;
  using Operation = mlir::Operation;

  Places(mlir::func::FuncOp function, llvm::ArrayRef<ingot::plan::SymbolInfo> symbols, bool mayAsk, int64_t alignment)
      : function(function), symbols(symbols), block(function.getBody().front()), found(onnx::boundsOf(function)),
        mayAsk(mayAsk), alignment(alignment) {}

  /// Everything below may be asked afterwards. Failure with a message.
  mlir::LogicalResult find();
  MemoryPlan plan;
  std::vector<int64_t> asked; ///< memory that the run asks for: the output that it is, or -1

  /// The value that has the buffer in which `v` lies, and where there: no part of a join, nothing that a control op
  /// gives a place.
  Place homeOf(Value v);
  /// Of the value that has a buffer: the output of the model that it is, the asked memory that it is (perhaps an
  /// output's), the slot of the workspace.
  std::optional<int64_t> outputOf(Value base) const { return numberIn(outputs, base); }
  std::optional<int64_t> askedOf(Value base) const;
  /// Outputs that are made in the workspace, so that a device that fails leaves what the caller had in them.
  llvm::ArrayRef<unsigned> heldBack() const { return held; }
  /// The value that is copied to such an output; what another op would only have copied stays where it is until then.
  Value heldIn(unsigned output) const;
  /// Whether nothing but that copy would read what the op makes.
  bool isLeftToHandOver(ingot::plan::StageOp stage) const;
  /// Whether the op may write an output where the caller has it, once all devices are done.
  bool comesBehindDevices(Operation *op) const { return behindDevices.contains(op); }
  size_t slotOf(Value base) const { return slotNumbers.at(bufferOf.at(base)); }
  /// The asked memory or else the slot of a launch's scratch.
  std::optional<int64_t> askedForScratch(Operation *launch) const;
  size_t slotForScratch(Operation *launch) const { return slotNumbers.at(scratchOf.at(launch)); }

  /// A stretch of the workspace: at a place, or above others.
  struct Slot {
    std::string name;
    support::Size bytes;
    std::optional<int64_t> at;
    std::vector<size_t> above;
    int64_t device;
  };
  /// Device by device, in the order of their places. Of two that live at one time in the memory of one device one lies
  /// above the other, directly or not.
  llvm::ArrayRef<Slot> slots() const { return ordered; }

  /// The symbol that stands for the number of the present iteration.
  support::Symbol iterationOf(Operation *loop) const { return iterations.at(loop); }
  std::vector<Need> needsOf(Operation *op);
  /// The asked memories that nobody needs behind an op of the function's own block.
  std::vector<int64_t> releasedBehind(Operation *op) const;

private:
  mlir::func::FuncOp function;
  llvm::ArrayRef<ingot::plan::SymbolInfo> symbols;
  mlir::Block &block;
  support::Bounds found; ///< sizes that the run finds
  bool mayAsk, unbounded = false;
  int64_t alignment; ///< of a buffer
  int64_t step = 0;
  llvm::DenseMap<Value, Place> adopted; ///< bases that lie in a control op's result, and where there
  /// Loops around the current op: where they begin, and the buffers from before that they use.
  llvm::SmallVector<std::pair<int64_t, llvm::SmallSetVector<size_t, 8>>> around;
  std::vector<support::Size> sizes;       ///< bytes of each buffer
  llvm::DenseMap<Value, int64_t> outputs; ///< base -> function result
  llvm::SmallVector<unsigned> held;       ///< function results that a device may still fail behind
  llvm::SmallPtrSet<Operation *, 4> behindDevices;
  llvm::DenseMap<Value, size_t> bufferOf; ///< base -> buffer
  llvm::DenseMap<Operation *, size_t> scratchOf;
  llvm::DenseMap<Operation *, int64_t> stepOf;
  llvm::DenseMap<Operation *, int64_t> endOf;        ///< the last step of an op of the function's own block
  std::map<Operation *, support::Symbol> iterations; ///< loop -> the number of the present iteration
  std::vector<bool> mustAsk;                         ///< by buffer: nothing bounds it
  std::map<size_t, int64_t> askedBuffer;             ///< buffer -> its number in `asked`
  llvm::DenseMap<int64_t, int64_t> askedOutput;      ///< the same of a function result
  std::map<size_t, size_t> slotNumbers;              ///< buffer -> its number in `ordered`
  std::vector<Slot> ordered;

  template <typename Map, typename Key> static std::optional<int64_t> numberIn(const Map &map, const Key &key) {
    auto it = map.find(key);
    return it == map.end() ? std::nullopt : std::optional<int64_t>(it->second);
  }
  support::Range boundsOf(llvm::StringRef name) const;
  std::optional<int64_t> largest(const support::Size &bytes) const;
  size_t addBuffer(const support::Size &exact, int64_t step, std::string name, int64_t device);
  void refuseToAsk(const support::Size &bytes, const llvm::Twine &what);

  void adopt(Operation *op);
  bool isUnbounded(Value v) const;
  int64_t inputReplacedBy(Value result);
  bool isToBeKept(Value result);
  Operation *writerBehindDevices(Value result);

  // Steps.
  std::optional<size_t> touch(Value v, llvm::StringRef name = "");
  void touch(size_t buffer);
  void visit(mlir::Block &block);
  void visit(ingot::plan::LaunchOp launch);
  void visitCopy(Operation &op);
  void visitIf(Operation &op);
  void visitLoop(onnx::LoopOp loop);

  void shareInPlace();
  bool planArenas();
  void orderSlots();

  // Memory that the run asks for.
  void numberAsked();
  bool loopAsks(Value v);
  support::Size knownBefore(Operation *op, const support::Size &size);
  void needOfChanging(onnx::LoopOp loop, mlir::OpResult v, std::vector<Need> &needs);
  void describeAsked();
};

} // namespace ingot::memory
