// Loop IR becomes LLVM IR once, which is optimized once. Then each architecture's back end gets a copy of it. Where
// kernels choose by the architecture, each copy is optimized by itself.
#include "targets/cuda/Images.h"
#include "compiler/emit/DeviceObject.h"
#include "compiler/plan/KernelAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "targets/cuda/Architectures.h"
#include "targets/cuda/Emulated.h"
#include "targets/cuda/Packing.h"
#include "targets/cuda/Ptxas.h"
#include "targets/cuda/Turing.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;

namespace ingot::targets::cuda {
namespace {

/// A block whose size is the device's choice has so many threads at most (Images.h).
constexpr int64_t mostThreads = 256;

/// Writes the i64 in a special register, such as "tid.x".
Value specialRegister(OpBuilder &b, Location loc, const Twine &name) {
  auto intrinsic = b.getStringAttr("llvm.nvvm.read.ptx.sreg." + name);
  auto number = LLVM::CallIntrinsicOp::create(b, loc, b.getI32Type(), intrinsic, ValueRange());
  return LLVM::ZExtOp::create(b, loc, b.getI64Type(), number->getResult(0));
}

Value itemNumber(OpBuilder &b, Location loc, bool ofBlocks) {
  Value block = specialRegister(b, loc, "ctaid.x");
  if (ofBlocks) {
    return block;
  }
  Value before = LLVM::MulOp::create(b, loc, block, specialRegister(b, loc, "ntid.x"));
  return LLVM::AddOp::create(b, loc, before, specialRegister(b, loc, "tid.x"));
}

/// Writes the number of a thread along an axis. Calls are inlined, so that nothing is left of the choice.
Value threadNumber(OpBuilder &b, Location loc, ValueRange axis) {
  Value number = specialRegister(b, loc, "tid.x");
  const std::pair<int32_t, const char *> others[] = {{1, "tid.y"}, {2, "tid.z"}};
  for (auto [other, name] : others) {
    Value which = LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(other));
    Value isIt = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, axis[0], which);
    number = LLVM::SelectOp::create(b, loc, isIt, specialRegister(b, loc, name), number);
  }
  return number;
}

Value barrier(OpBuilder &b, Location loc, ValueRange) {
  Value all = LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(0));
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.all"), all);
  return {};
}

/// All threads of a warp take part.
Value exchange(OpBuilder &b, Location loc, ValueRange operands) {
  auto number = [&](int32_t n) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(n));
  };
  auto name = b.getStringAttr("llvm.nvvm.shfl.sync.bfly.i32");
  Value all[] = {number(-1), operands[0], operands[1], number(31)};
  return LLVM::CallIntrinsicOp::create(b, loc, b.getI32Type(), name, all)->getResult(0);
}

/// The number of the architecture, which each image has another of: a constant of its copy of the IR.
constexpr StringLiteral architectureName = "ingot_architecture_number";

Value architectureNumber(OpBuilder &b, Location loc, ValueRange) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, loc, b.getI32Type(), /*isConstant=*/true, LLVM::Linkage::External, architectureName,
                           Attribute());
  }
  Value there = LLVM::AddressOfOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), architectureName);
  return LLVM::LoadOp::create(b, loc, b.getI32Type(), there);
}

/// Writes the address of the block's memory, of whose size the launch knows.
Value sharedMemory(OpBuilder &b, Location loc, ValueRange) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  constexpr unsigned space = 3;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/false, LLVM::Linkage::External, sharedName, Attribute(),
                           /*alignment=*/1024, space);
  }
  Value there = LLVM::AddressOfOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), space), sharedName);
  return LLVM::AddrSpaceCastOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), there);
}

/// Says how large each kernel's blocks are, and what else is known of the kernels' needs.
struct Blocks {
  std::vector<int64_t> threads;
  std::vector<bool> mayBeAlone; ///< on a multiprocessor
  std::vector<target::KernelNeeds> needs;
  std::vector<uint64_t> uses; ///< of memory (Packing.h)

  Blocks(ModuleOp module, ArrayRef<std::string> kernels) {
    for (const std::string &kernel : kernels) {
      auto function = module.lookupSymbol<func::FuncOp>(kernel);
      auto grid = function->getAttrOfType<DenseI64ArrayAttr>(plan::gridName);
      threads.push_back(grid ? grid[0] * grid[1] * grid[2] : mostThreads);
      mayBeAlone.push_back(function->hasAttr(oneBlockName));
      needs.emplace_back().sharedBytes = grid ? grid[3] : 0;
      addUses(function);
    }
  }

private:
  void addUses(func::FuncOp function) {
    auto reads = function->getAttrOfType<IntegerAttr>(plan::readsName);
    size_t count = uses.size();
    uses.push_back(0);
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      if (auto memory = dyn_cast<MemRefType>(type)) {
        bool isWritten = !reads || int64_t(i) >= reads.getInt();
        uint64_t bytes = memory.getNumElements() * llvm::divideCeil(memory.getElementTypeBitWidth(), 8);
        uses.push_back(2 * bytes + isWritten);
        ++uses[count];
      }
    }
  }
};

/// Inline assembly is for all threads of a warp: it may not move to where some of them are.
void keepTogether(llvm::Function &function) {
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call && call->isInlineAsm()) {
      call->addFnAttr(llvm::Attribute::Convergent);
    }
  }
}

/// Tells the back end what it has to know of the entries.
void markEntries(llvm::Module &ir, ArrayRef<std::string> kernels, const Blocks &blocks) {
  for (llvm::Function &function : ir) {
    function.removeFnAttr("target-cpu"); // which is each copy's
    function.removeFnAttr("target-features");
    keepTogether(function);
    if (!function.isDeclaration() && function.hasLocalLinkage()) {
      function.removeFnAttr(llvm::Attribute::NoInline);
      function.addFnAttr(llvm::Attribute::AlwaysInline);
    }
  }
  for (auto [kernel, most, mayBeAlone] : llvm::zip_equal(kernels, blocks.threads, blocks.mayBeAlone)) {
    llvm::Function *entry = ir.getFunction(kernel);
    entry->setCallingConv(llvm::CallingConv::PTX_Kernel);
    entry->addFnAttr("nvvm.maxntid", std::to_string(most));
    if (mayBeAlone) {
      entry->addFnAttr("nvvm.minctasm", "1");
    }
  }
}

/// Returns a copy of the IR for one architecture, optimized.
std::unique_ptr<llvm::Module> irFor(const llvm::Module &ir, const Architecture &architecture,
                                    llvm::TargetMachine &target) {
  std::unique_ptr<llvm::Module> own = llvm::CloneModule(ir);
  if (llvm::GlobalVariable *number = own->getNamedGlobal(architectureName)) {
    number->setInitializer(llvm::ConstantInt::get(number->getValueType(), architecture.number()));
    number->setLinkage(llvm::GlobalValue::InternalLinkage);
    emit::optimize(*own, target); // which is done for all of them at once where none asks
  }
  if (&architecture == &architectures().front()) {
    useOlderInstructions(*own);
  }
  return own;
}

/// Returns the text of PTX, with its NUL.
llvm::Expected<std::string> ptxOf(llvm::Module &ir, const Architecture &architecture, target::MachineModel machine,
                                  ModuleOp module) {
  machine.cpu = architecture.name;
  machine.features = architecture.features;
  std::unique_ptr<llvm::TargetMachine> target = emit::createTargetMachine(module, machine);
  if (!target) {
    return llvm::createStringError("LLVM does not know " + machine.cpu);
  }
  auto text = emit::writeDeviceCode(ir, *target, machine, emit::CodeFile::Assembly);
  if (!text) {
    return text.takeError();
  }
  return std::string(text->data(), text->size()) + '\0';
}

} // namespace

llvm::Expected<std::vector<target::Image>> Images::images(ModuleOp module, ArrayRef<std::string> kernels,
                                                          const target::MachineModel &machine) const {
  llvm::Expected<Request> request = readRequest(machine.spec);
  if (!request) {
    return request.takeError();
  }
  Blocks blocks(module, kernels);
  std::unique_ptr<llvm::TargetMachine> oldest = emit::createTargetMachine(module, machine);
  if (!oldest || failed(emit::lowerDeviceModule(module, machine))) {
    return llvm::createStringError("its kernels cannot be lowered");
  }
  emit::addItemEntries(module, kernels, itemNumber);
  emit::defineForKernels(module, "ingot_thread", threadNumber);
  emit::defineForKernels(module, "ingot_barrier", barrier);
  emit::defineForKernels(module, "ingot_shared", sharedMemory);
  emit::defineForKernels(module, "ingot_exchange", exchange);
  emit::defineForKernels(module, "ingot_architecture", architectureNumber);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = emit::translateDeviceModule(module, context, *oldest);
  if (!ir) {
    return llvm::createStringError("its kernels cannot be translated");
  }
  emit::nameEntries(*ir, kernels);
  markEntries(*ir, kernels, blocks);
  if (!ir->getNamedGlobal(architectureName)) {
    emit::optimize(*ir, *oldest);
  }
  std::vector<target::Image> images;
  for (const Architecture *architecture : request->architectures) {
    llvm::Expected<std::string> ptx = ptxOf(*irFor(*ir, *architecture, *oldest), *architecture, machine, module);
    if (!ptx) {
      return ptx.takeError();
    }
    if (request->cubin) {
      llvm::Expected<target::Image> code = machineCode(*ptx, architecture->name, kernels, blocks.needs);
      if (!code) {
        return code.takeError();
      }
      images.push_back(std::move(*code));
    }
    images.push_back({architecture->name, std::move(*ptx), blocks.needs});
  }
  if (request->emulated) {
    std::unique_ptr<llvm::Module> own = irFor(*ir, *request->architectures.front(), *oldest);
    llvm::Expected<std::string> image = emulatedImage(std::move(own), kernels, request->watched, module);
    if (!image) {
      return image.takeError();
    }
    images.push_back({"emulated", std::move(*image), blocks.needs});
  }
  if (!request->unpacked) {
    pack(images, blocks.uses);
  }
  return images;
}

} // namespace ingot::targets::cuda
