#include "compiler/lower/Family.h"
#include "compiler/lower/core/ByThreads.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace ingot::lower {

#define FAMILY(Name) std::unique_ptr<KernelFamily> create##Name##Family();
#include "compiler/lower/Families.inc"
#undef FAMILY

namespace {
class Families {
public:
  Families() {
#define FAMILY(Name) add(#Name, create##Name##Family());
#include "compiler/lower/Families.inc"
#undef FAMILY
  }

  const KernelFamily *of(Operation *root) const {
    std::optional<RegisteredOperationName> op = root->getRegisteredInfo();
    auto known = op ? byRoot.find(op->getTypeID()) : byRoot.end();
    if (known == byRoot.end()) {
      return nullptr;
    }
    const auto *family = llvm::find_if(known->second, [&](const KernelFamily *f) { return f->isFor(root); });
    return family == known->second.end() ? nullptr : *family;
  }
  std::string nameOf(TypeID root) const {
    auto known = byRoot.find(root);
    return known == byRoot.end() ? "" : known->second.front()->stem;
  }
  const KernelFamily &named(StringRef stem) const { return *byStem.at(stem); }

private:
  llvm::StringMap<std::unique_ptr<KernelFamily>> byStem;
  llvm::DenseMap<TypeID, SmallVector<const KernelFamily *, 1>> byRoot;

  void add(StringRef stem, std::unique_ptr<KernelFamily> family) {
    family->stem = stem.str();
    for (TypeID root : family->roots()) {
      byRoot[root].push_back(family.get());
    }
    byStem[stem] = std::move(family);
  }
};
} // namespace

static const Families &families() {
  static const auto *all = new Families;
  return *all;
}

/// Returns the target's own family; null: it has none for the root.
static const KernelFamily *ownFamily(Operation *root, const target::MachineModel &machine) {
  return machine.target ? machine.target->family(root, machine) : nullptr;
}

static bool takesCompilersFamilies(const target::MachineModel &machine) {
  return !machine.target || machine.target->takesCompilersFamilies(machine);
}

const KernelFamily *familyFor(Operation *root, const target::MachineModel &machine) {
  const KernelFamily *own = ownFamily(root, machine);
  return own || !takesCompilersFamilies(machine) ? own : compilersFamily(root);
}

const KernelFamily *compilersFamily(Operation *root) {
  return root ? families().of(root) : &families().named("Elementwise");
}

bool hasElementwiseFamily(const target::MachineModel &machine) {
  return takesCompilersFamilies(machine) || ownFamily(nullptr, machine);
}

std::string familyNameOf(TypeID root) { return families().nameOf(root); }

const KernelFamily &familyOf(plan::KernelOp kernel, const target::MachineModel &machine) {
  Operation *root = kernel.root();
  if (kernel.getPiece()) {
    return families().named("Piece");
  }
  const KernelFamily *own = ownFamily(root, machine);
  return own ? *own : *compilersFamily(root);
}

int operandNumber(Value regionValue) {
  auto argument = dyn_cast_or_null<BlockArgument>(regionValue);
  return argument ? static_cast<int>(argument.getArgNumber()) : -1;
}

ElementsAttr constantOperand(plan::KernelOp kernel, Value regionValue) {
  int n = operandNumber(regionValue);
  return n < 0 ? ElementsAttr() : onnx::constantOf(kernel.getIns()[n]);
}

LogicalResult KernelFamily::build(Build &build, const KernelShape &shape) const {
  shape.build(build);
  return success();
}

LogicalResult KernelFamily::buildAhead(Build &build, const KernelShape &shape) const { return failure(); }

void KernelShape::replaces(Value first) {
  if (first.hasOneUse()) {
    inPlace = {cast<BlockArgument>(first).getArgNumber()};
  }
}

void Build::failIf(Value bad) { failIf(bad, INGOT_ERROR_INDEX); }
void Build::failIf(Value bad, int64_t kind) {
  w.ifThen(bad, [&] { w.store(w.constant(kind, w.b.getI32Type()), status, 0); });
}

bool isImageOfRows(RankedTensorType type) {
  return plan::blockedOf(type) && type.getRank() == 4 && !type.isDynamicDim(2) && !type.isDynamicDim(3);
}

std::string whyUnsized(Operation *root) {
  bool operands = llvm::all_of(root->getOperands(), [](Value v) { return !onnx::present(v) || onnx::isSized(v); });
  return operands && llvm::all_of(root->getResults(), onnx::isSized) ? "" : "its shapes are not known at compile time";
}

bool isSpatial(ArrayRef<int64_t> axes, int64_t rank) {
  return rank > 2 && axes == ArrayRef<int64_t>(llvm::to_vector(llvm::seq<int64_t>(2, rank)));
}

std::string whyNotIndexed(Operation *root) {
  bool known = llvm::all_of(root->getOperands(), onnx::isSized) && onnx::isSized(root->getResult(0));
  if (known && isa<onnx::GatherNDOp, onnx::ScatterNDOp>(root) &&
      onnx::ranked(root->getOperand(1)).getShape().back() == ShapedType::kDynamic) {
    return "the length of its index tuples is not known at compile time";
  }
  return known ? "" : "its shapes are not known at compile time";
}

} // namespace ingot::lower
