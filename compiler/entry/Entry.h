// The writer of NAME_run and what it calls: see BuildEntry.cpp. Sizes and who is let in are in Sizes.cpp, where
// values lie and memory that the run asks for in Memory.cpp, devices in Devices.cpp, branches and loops in
// Control.cpp.
#pragma once
#include "compiler/entry/BuildEntry.h"
#include "compiler/lower/core/Writer.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/sizes/Found.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/plan/IndexWidth.h"
#include "compiler/plan/Layout.h"
#include "compiler/plan/Model.h"
#include "compiler/plan/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime_support/include/ingot.h"

namespace ingot::entry {

using namespace lower; // the writer of loops, with its addresses and element types

class Entry {
public:
  Entry(mlir::func::FuncOp function, int64_t workspaceBytes, int64_t slackBytes, int64_t weightBytes,
        int64_t firstLaunch, plan::ModelInfo &info, llvm::StringRef suffix);

  void build();

private:
  using Value = mlir::Value;
  using Type = mlir::Type;
  using Operation = mlir::Operation;
  using FuncOp = mlir::func::FuncOp;
  using Size = support::Size;

  /// The type of a size that a caller of NAME_run gives: int64_t for C, whatever the width of an index is.
  Type sizeType() { return isNarrow() ? Type(w.b.getI64Type()) : w.b.getIndexType(); }
  /// Whether sums of sizes that fit an index need not fit one.
  bool isNarrow() { return plan::indexBits(function) < 64; }

  FuncOp function, entry;
  Writer w;
  plan::ModelInfo &info;
  std::string suffix;
  int64_t workspaceBytes, slackBytes, weightBytes, firstLaunch;
  llvm::SmallVector<Type> inputTypes, outputTypes; ///< tensors
  std::vector<std::string> open, symbols;          ///< those that are no number here; those that are arguments
  support::Bounds bounds;                          ///< of found sizes
  std::vector<plan::SlotOp> openSlots;             ///< those whose places depend on sizes
  std::vector<int64_t> asked;                      ///< outputs, or -1: memory that the run asks for
  Value held;                                      ///< the list of it
  int64_t deviceCount = 0;                         ///< with a memory of their own
  FuncOp admits;                                   ///< (open: index...) -> i32; null where there are none
  Value workspace, weights;
  llvm::StringMap<Value> deviceMemories;
  llvm::DenseMap<Value, Value> starts; ///< where each open slot begins
  llvm::DenseMap<Value, Value> values; ///< what reads and constants of the run are

  Value number(int64_t n, unsigned bits) { return mlir::arith::ConstantIntOp::create(w.b, w.loc, n, bits); }
  Value status(int64_t kind, int64_t node) { return number(kind | (node + 1) << 8, 32); }
  int64_t nodeNumber(const std::string &name);
  void ret(Value value) { mlir::func::ReturnOp::create(w.b, w.loc, value); }
  void returnIf(FuncOp f, Value condition, llvm::function_ref<Value()> result);
  /// Where a status is not 0; null: with that status.
  void returnIfBad(FuncOp f, Value status, llvm::function_ref<Value()> result = nullptr);

  /// A function whose body is written next; the builder stands in it.
  FuncOp begin(llvm::StringRef what, llvm::ArrayRef<Type> types);

  // The run.

  void buildRun();
  void declare();
  /// Ends the run where kernels need tiles and the system does not give them.
  void askForTiles();
  /// Which optional inputs the caller gave.
  void presence();
  void all(llvm::iterator_range<mlir::Block::iterator> ops);
  void build(plan::LaunchOp launch);
  void build(plan::CopyOp copy);
  void build(plan::WaitOp wait);
  void build(plan::NeedOp need);
  void build(plan::ReleaseOp release);
  void build(plan::ReadOp read);
  void build(plan::WriteOp write);
  void build(plan::CheckOp check);
  void build(plan::IfOp op);
  void build(plan::LoopOp loop);
  Value isWorthSplitting(plan::LaunchOp launch, const Size &work);
  void checkStatus(plan::LaunchOp launch, Value result);
  /// Symbols, and where found sizes go.
  mlir::ValueRange sizeArguments();
  mlir::ValueRange symbolArguments() { return sizeArguments().take_front(symbols.size()); }
  Value exec() { return entry.getArguments().back(); }

  // What depends on sizes.

  void setSymbols(llvm::ArrayRef<std::string> names, mlir::ValueRange values);
  void buildAdmits();
  void buildPlan();
  /// Bytes of the tensors that depend on the symbols, or the most that they can be.
  std::vector<Size> boundedBytes();
  void returnIfRefused(FuncOp f);
  /// Nearly all runs need few of the checks (SizeChecks.h: UsualRun); the others ask for all.
  void returnIfRefusedOrUnusual();
  /// Whether what the open slots need together has addresses.
  Value arenasTooLarge();
  /// Where each buffer begins; the ends of the highest of the host's and of each device's are returned.
  llvm::SmallVector<Value> arenas();
  void find(support::Symbol symbol, Value value) { w.symbols[symbol] = w.value(w.ix(value)); }

  // Memory.

  mlir::MemRefType bytesType(const Size &n) { return mlir::MemRefType::get({memoryExtent(n)}, w.b.getI8Type()); }
  static Size bytesOf(Type t) { return plan::physicalBytes(mlir::cast<mlir::RankedTensorType>(t)); }
  Value at(Value bytes, Ix offset, Type type);
  /// The address of a buffer, as the kernel's parameter type.
  Value address(Value buffer, Type type);
  static constexpr int64_t heldWords = 4;
  mlir::MemRefType heldType();
  /// Whether there is a NAME_inner_run.
  bool isHeld() const { return !asked.empty() || deviceCount; }
  /// NAME_run around it.
  void buildHolder();
  /// The list of what the run asks for, in the holder.
  Value beginMemory(FuncOp holder);
  Value numberOf(Value asked);

  // Devices. Outside of the plan dialect they count from 0, without the host.

  Value deviceNumber(uint64_t device) { return number(static_cast<int64_t>(device) - 1, 32); }
  /// What the library function `name` gives for the device; asked for once, where the run begins.
  Value deviceMemory(llvm::StringRef name, uint64_t device);
  /// Makes the call of a launch one that is enqueued.
  void enqueue(plan::LaunchOp launch, mlir::func::CallOp call);
  void copyAcross(plan::CopyOp copy);
  void beginDevices(FuncOp holder);

  // Control flow.

  /// A null condition is no condition.
  void branch(Value condition, mlir::Block *to, mlir::ValueRange operands, mlir::Block *otherwise,
              mlir::ValueRange others);
  /// The trip count; null: there is none. A loop without a condition of its own ends with it: one that no run can reach
  /// is an error.
  Value tripsOf(plan::LoopOp loop, bool conditional);
  /// One iteration. `sizes` become those of the next.
  void turn(plan::LoopOp loop, Value number, llvm::ArrayRef<onnx::Growth> growths, llvm::SmallVectorImpl<Value> &sizes);
  /// The sizes of the next iteration; the slices of a scan output have the size of the first one.
  void grow(plan::LoopOp loop, Value number, llvm::ArrayRef<onnx::Growth> growths, llvm::SmallVectorImpl<Value> &sizes);
};

} // namespace ingot::entry
