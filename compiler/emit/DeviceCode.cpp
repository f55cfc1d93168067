// Finds the kernels of devices, and takes those whose target makes images out of the module. A call that a device runs
// gets the number of its kernel, counted from 0 on in the order of the device's first calls:
//
//   call @conv(...) {ingot.device = 0}          =>   call @conv(...) {ingot.device = 0, ingot.kernel = 0}
//   call @softmax(...) {ingot.device = 0}       =>   call @softmax(...) {ingot.device = 0, ingot.kernel = 1}
//   call @conv(...) {ingot.device = 0}          =>   call @conv(...) {ingot.device = 0, ingot.kernel = 0}
//
// For an image the kernel and all functions that it calls are copied to a module of their own. In the model's module
// the kernel becomes a declaration, so that its calls stay valid until splitCalls replaces them; functions that it
// calls stay as they are, since kernels of the host may call them, too.
#include "compiler/emit/DeviceCode.h"
#include "compiler/plan/KernelAttributes.h"
#include "compiler/plan/Run.h"
#include "compiler/target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ingot;

std::string emit::deviceBodyName(StringRef kernel) { return (kernel + "_on_device").str(); }

static std::array<int64_t, 4> gridOf(Operation *kernel) {
  std::array<int64_t, 4> grid = {};
  if (auto given = kernel->getAttrOfType<DenseI64ArrayAttr>(plan::gridName)) {
    llvm::copy(given.asArrayRef(), grid.begin());
  }
  return grid;
}

std::vector<emit::DeviceCode> emit::findDeviceCode(ModuleOp module, size_t count) {
  std::vector<DeviceCode> codes(count);
  module.walk([&](run::KernelNumberOp asked) {
    auto device = static_cast<size_t>(asked.getDevice()) - 1;
    codes.resize(std::max(codes.size(), device + 1));
    DeviceCode &code = codes[device];
    auto known = llvm::find(code.kernels, asked.getKernel());
    auto number = static_cast<int32_t>(known - code.kernels.begin());
    if (known == code.kernels.end()) {
      auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(asked, asked.getKernelAttr());
      code.kernels.push_back(kernel.getName().str());
      code.grids.push_back(gridOf(kernel));
      code.checks |= kernel.getNumResults() == 1;
    }
    OpBuilder b(asked);
    asked.replaceAllUsesWith(arith::ConstantIntOp::create(b, asked.getLoc(), number, 32).getResult());
    asked.erase();
  });
  return codes;
}

/// Moves a kernel with all that it calls into `to`, where the kernel can be seen from outside.
static void move(SymbolTable &symbols, StringRef kernel, ModuleOp to) {
  auto function = symbols.lookup<func::FuncOp>(kernel);
  SmallVector<func::FuncOp> waiting = {function};
  while (!waiting.empty()) {
    func::FuncOp next = waiting.pop_back_val();
    if (to.lookupSymbol(next.getName())) {
      continue;
    }
    to.push_back(next->clone());
    next.walk([&](func::CallOp call) { waiting.push_back(symbols.lookup<func::FuncOp>(call.getCallee())); });
  }
  to.lookupSymbol<func::FuncOp>(kernel).setPublic();
  function.eraseBody(); // which leaves a declaration
  for (NamedAttribute attribute : llvm::to_vector(function->getDiscardableAttrs())) {
    function->removeDiscardableAttr(attribute.getName());
  }
}

/// Returns a module of the device's kernels alone.
static OwningOpRef<ModuleOp> split(ModuleOp module, ArrayRef<std::string> kernels) {
  OwningOpRef<ModuleOp> own(ModuleOp::create(module.getLoc()));
  (*own)->setAttrs(module->getDiscardableAttrDictionary());
  SymbolTable symbols(module);
  for (const std::string &kernel : kernels) {
    move(symbols, kernel, *own);
  }
  return own;
}

LogicalResult emit::makeImages(ModuleOp module, ArrayRef<const target::MachineModel *> machines,
                               std::vector<DeviceCode> &codes) {
  for (auto [machine, code] : llvm::zip(machines, codes)) {
    const target::ImageTarget *maker = machine->target ? machine->target->images(*machine) : nullptr;
    if (!maker && llvm::any_of(code.grids, [](const auto &grid) { return grid[0] != 0; })) {
      return module.emitError("target '" + machine->spec + "' has kernels of blocks of threads, and makes no images");
    }
    if (!maker || code.kernels.empty()) {
      continue;
    }
    // From here on the host's module has no code of these kernels, whatever the target answers.
    OwningOpRef<ModuleOp> own = split(module, code.kernels);
    llvm::Expected<std::vector<target::Image>> images = maker->images(*own, code.kernels, *machine);
    if (!images) {
      return module.emitError("target '" + machine->spec + "': " + llvm::toString(images.takeError()));
    }
    if (images->empty()) {
      return module.emitError("target '" + machine->spec + "' made no image of its kernels");
    }
    code.images = std::move(*images);
  }
  return success();
}
