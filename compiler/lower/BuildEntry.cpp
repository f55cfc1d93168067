// A call that may be split over threads carries `ingot.items`; the emit room makes it a parallel_for. A checked call's
// status ends the run; INGOT_ERROR_INDEX gets the number of the node.
#include "compiler/lower/BuildEntry.h"
#include "compiler/lower/LlvmAttributes.h"
#include "compiler/plan/Layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class Entry {
public:
  Entry(func::FuncOp function, int64_t workspaceBytes, int64_t weightBytes, plan::ModelInfo &info)
      : function(function), b(function.getContext()), info(info), workspaceBytes(workspaceBytes),
        weightBytes(weightBytes) {}

  void build() {
    declare();
    for (plan::LaunchOp launch : function.getBody().front().getOps<plan::LaunchOp>()) {
      call(launch);
    }
    ret(arith::ConstantIntOp::create(b, function.getLoc(), 0, 32));
    function.erase();
  }

private:
  func::FuncOp function, entry;
  OpBuilder b;
  plan::ModelInfo &info;
  int64_t workspaceBytes, weightBytes;
  Value workspace, weights;
  SmallVector<Value> outputs;
  llvm::DenseMap<Value, Value> inputs;

  MemRefType bytesType(int64_t n) { return MemRefType::get({n}, b.getI8Type()); }
  static int64_t bytesOf(Type t) { return plan::physicalBytes(cast<RankedTensorType>(t)); }

  void declare() {
    b.setInsertionPoint(function);
    Location loc = function.getLoc();
    std::string weightsName = info.name + "_weights";
    if (weightBytes) {
      memref::GlobalOp::create(b, loc, weightsName, b.getStringAttr("private"), bytesType(weightBytes), Attribute(),
                               /*constant=*/true, b.getI64IntegerAttr(64));
    }
    SmallVector<Type> types;
    for (Type t : function.getArgumentTypes()) {
      types.push_back(bytesType(bytesOf(t)));
    }
    Operation *end = function.getBody().front().getTerminator();
    for (Type t : end->getOperandTypes()) {
      types.push_back(bytesType(bytesOf(t)));
    }
    types.push_back(bytesType(workspaceBytes));
    types.push_back(pointerType(b.getContext()));
    entry = func::FuncOp::create(b, loc, info.name + "_run", b.getFunctionType(types, {b.getI32Type()}));
    Block *body = entry.addEntryBlock();
    b.setInsertionPointToStart(body);
    unsigned n = function.getNumArguments();
    for (unsigned i = 0; i < n; ++i) {
      inputs[function.getArgument(i)] = body->getArgument(i);
    }
    for (unsigned i = 0; i < end->getNumOperands(); ++i) {
      outputs.push_back(body->getArgument(n + i));
    }
    workspace = body->getArgument(n + outputs.size());
    if (weightBytes) {
      weights = memref::GetGlobalOp::create(b, loc, bytesType(weightBytes), weightsName);
    }
  }

  Value at(Value bytes, int64_t offset, Type type) {
    Location loc = entry.getLoc();
    Value start = arith::ConstantIndexOp::create(b, loc, offset);
    return memref::ViewOp::create(b, loc, cast<MemRefType>(type), bytes, start, ValueRange{});
  }

  /// Where result `i` of a launch lies (i == number of results: its scratch).
  Value place(plan::LaunchOp launch, unsigned i, int64_t extra, Type type) {
    ArrayRef<int64_t> places = launch->getAttrOfType<DenseI64ArrayAttr>("plan.places").asArrayRef();
    int64_t where = places[2 * i], offset = places[2 * i + 1] + extra;
    return at(where < 0 ? workspace : outputs[where], offset, type);
  }

  /// The address of any tensor value, as the kernel's parameter type.
  Value address(Value v, Type type) {
    plan::Place p{v, 0};
    while (auto view = p.base.getDefiningOp<plan::ViewOp>()) {
      p.base = view.getX(), p.offset += view.getOffset();
    }
    if (auto weight = p.base.getDefiningOp<plan::WeightOp>()) {
      return at(weights ? weights : workspace, weight.getOffset() + p.offset, type); // none: tensors without elements
    }
    while (auto join = p.base.getDefiningOp<plan::JoinOp>()) {
      p.base = join.getXs().front(); // lies where its first piece does
    }
    if (isa<BlockArgument>(p.base)) {
      return at(inputs.lookup(p.base), p.offset, type);
    }
    return place(p.base.getDefiningOp<plan::LaunchOp>(), cast<OpResult>(p.base).getResultNumber(), p.offset, type);
  }

  void call(plan::LaunchOp launch) {
    Location loc = launch.getLoc();
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getCalleeAttr());
    SmallVector<Value> args;
    for (Value v : launch.getIns()) {
      args.push_back(address(v, callee.getArgumentTypes()[args.size()]));
    }
    for (unsigned i = 0; i < launch.getNumResults(); ++i) {
      args.push_back(place(launch, i, 0, callee.getArgumentTypes()[args.size()]));
    }
    if (launch.getScratchBytes()) {
      args.push_back(place(launch, launch.getNumResults(), 0, callee.getArgumentTypes()[args.size()]));
    }
    args.push_back(arith::ConstantIndexOp::create(b, loc, 0));
    args.push_back(arith::ConstantIndexOp::create(b, loc, launch.getItems()));
    auto c = func::CallOp::create(b, loc, callee, args);
    if (launch.getItems() > 1) {
      c->setAttr("ingot.items", b.getI64IntegerAttr(launch.getItems()));
    }
    if (launch.getChecked()) {
      checkStatus(launch, c.getResult(0));
    }
  }

  void checkStatus(plan::LaunchOp launch, Value status) {
    Location loc = launch.getLoc();
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
    Value bad = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, status, zero);
    Block *next = entry.addBlock(), *fail = entry.addBlock();
    cf::CondBranchOp::create(b, loc, bad, fail, ValueRange{}, next, ValueRange{});
    b.setInsertionPointToStart(fail);
    // Any other status comes from parallel_for.
    Value index = arith::ConstantIntOp::create(b, loc, indexErrorKind, 32);
    Value isIndex = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, status, index);
    Value located = arith::ConstantIntOp::create(b, loc, indexErrorKind | (nodeNumber(launch) + 1) << 8, 32);
    ret(arith::SelectOp::create(b, loc, isIndex, located, status));
    b.setInsertionPointToStart(next);
  }

  int64_t nodeNumber(plan::LaunchOp launch) {
    std::string name;
    launch.getLoc()->walk([&](Location l) {
      if (auto named = dyn_cast<NameLoc>(l); named && name.empty()) {
        name = named.getName().str();
      }
      return WalkResult::advance();
    });
    auto it = llvm::find(info.nodes, name);
    int64_t n = it - info.nodes.begin();
    if (it == info.nodes.end()) {
      info.nodes.push_back(name);
    }
    return n;
  }

  void ret(Value status) { func::ReturnOp::create(b, entry.getLoc(), status); }
};

} // namespace

void buildEntry(func::FuncOp function, int64_t workspaceBytes, int64_t weightBytes, plan::ModelInfo &info) {
  Entry(function, workspaceBytes, weightBytes, info).build();
}

} // namespace ingot::lower
