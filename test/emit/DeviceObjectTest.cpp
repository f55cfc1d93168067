// What a target makes its images from (compiler/emit/DeviceObject.h): entries of a GPU's kernels, as PTX, which needs
// no GPU to be made; and what LLVM says on the way.
#include "compiler/emit/DeviceObject.h"
#include "compiler/target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace ingot;

namespace {

constexpr const char *kernels = R"(
  func.func private @ingot_thread(i32) -> i64
  func.func private @ingot_barrier() attributes {passthrough = ["convergent"]}

  func.func @doubled(%x: memref<8xf32>, %y: memref<8xf32>, %n: index, %begin: index, %end: index) {
    %one = arith.constant 1 : index
    scf.for %i = %begin to %end step %one {
      %v = memref.load %x[%i] : memref<8xf32>
      %s = arith.addf %v, %v : f32
      memref.store %s, %y[%i] : memref<8xf32>
    }
    return
  }

  func.func @checked(%y: memref<8xi64>, %begin: index, %end: index) -> i32
      attributes {ingot.grid = array<i64: 8, 1, 1, 0>, passthrough = ["convergent"]} {
    %axis = arith.constant 0 : i32
    %thread = func.call @ingot_thread(%axis) : (i32) -> i64
    %at = arith.index_cast %thread : i64 to index
    memref.store %thread, %y[%at] : memref<8xi64>
    func.call @ingot_barrier() : () -> ()
    %other = memref.load %y[%end] : memref<8xi64>
    %status = arith.trunci %other : i64 to i32
    return %status : i32
  }
)";

struct DeviceObject : testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  std::string said; ///< diagnostics, each behind the name of its location
  ScopedDiagnosticHandler handler{&context, [&](Diagnostic &diagnostic) {
                                    auto name = dyn_cast<NameLoc>(diagnostic.getLocation());
                                    said += (name ? name.getName().str() : "?") + ": " + diagnostic.str() + "\n";
                                  }};

  DeviceObject() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                        memref::MemRefDialect, scf::SCFDialect>();
    context.allowUnregisteredDialects();
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
  }

  static target::MachineModel machine(const char *triple, const char *cpu, const char *features) {
    target::MachineModel machine;
    machine.spec = "test";
    machine.triple = triple, machine.cpu = cpu, machine.features = features;
    return machine;
  }

  /// Returns the object that is made of the kernels for a RISC-V.
  std::string object(const char *text, const std::vector<std::string> &names) {
    module = parseSourceString<ModuleOp>(text, &context);
    auto object = emit::deviceObject(*module, names, machine("riscv64-unknown-linux-gnu", "generic-rv64", "+m,+a"));
    return object ? std::string(object->data(), object->size()) : "error: " + llvm::toString(object.takeError());
  }
};

/// Exponentials by an instruction, and no division of 64 bits.
struct Small final : target::Target {
  llvm::StringRef name() const override { return "small"; }
  std::vector<target::Level> levels() const override { return {}; }
  bool accepts(llvm::StringRef) const override { return false; }
  llvm::Expected<target::MachineModel> machine(llvm::StringRef) const override {
    return llvm::createStringError("there is none");
  }
  std::string refuses(Operation *, const target::MachineModel &) const override { return ""; }
  target::Platform platform(const target::MachineModel &machine) const override {
    target::Platform platform = target::Platform::of(machine.triple);
    platform.longDivision = false;
    return platform;
  }
  bool replaceMath(Operation *op, const target::MachineModel &) const override {
    auto exp2 = dyn_cast<math::Exp2Op>(op);
    if (exp2) {
      OpBuilder b(op);
      auto name = b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f");
      auto call = LLVM::CallIntrinsicOp::create(b, op->getLoc(), exp2.getType(), name, exp2.getOperand());
      op->replaceAllUsesWith(call->getResults());
      op->erase();
    }
    return exp2 != nullptr;
  }
};

Value specialRegister(OpBuilder &b, Location loc, const char *name) {
  auto intrinsic = b.getStringAttr(std::string("llvm.nvvm.read.ptx.sreg.") + name);
  auto number = LLVM::CallIntrinsicOp::create(b, loc, b.getI32Type(), intrinsic, ValueRange());
  return LLVM::ZExtOp::create(b, loc, b.getI64Type(), number->getResult(0));
}

/// An item for each thread, or one for all threads of a block.
Value itemNumber(OpBuilder &b, Location loc, bool ofBlocks) {
  Value block = specialRegister(b, loc, "ctaid.x");
  if (ofBlocks) {
    return block;
  }
  Value before = LLVM::MulOp::create(b, loc, block, specialRegister(b, loc, "ntid.x"));
  return LLVM::AddOp::create(b, loc, before, specialRegister(b, loc, "tid.x"));
}

TEST_F(DeviceObject, EntriesOfAGpuTakeWordsAsParameters) {
  std::vector<std::string> names = {"doubled", "checked"};
  target::MachineModel gpu = machine("nvptx64-nvidia-cuda", "sm_80", "+ptx80");
  module = parseSourceString<ModuleOp>(kernels, &context);
  ASSERT_TRUE(module);
  auto target = emit::createTargetMachine(*module, gpu);
  ASSERT_TRUE(target);
  ASSERT_TRUE(succeeded(emit::lowerDeviceModule(*module, gpu)));
  emit::addItemEntries(*module, names, itemNumber);
  emit::defineForKernels(*module, "ingot_thread",
                         [](OpBuilder &b, Location loc, ValueRange) { return specialRegister(b, loc, "tid.x"); });
  emit::defineForKernels(*module, "ingot_barrier", [](OpBuilder &b, Location loc, ValueRange) {
    Value all = LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(0));
    LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.all"), all);
    return Value();
  });
  emit::defineForKernels(*module, "ingot_shared", [](OpBuilder &, Location, ValueRange) {
    ADD_FAILURE() << "no kernel shares memory";
    return Value();
  });
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> ir = emit::translateDeviceModule(*module, llvmContext, *target);
  ASSERT_TRUE(ir);
  emit::nameEntries(*ir, names);
  for (const std::string &name : names) {
    ir->getFunction(name)->setCallingConv(llvm::CallingConv::PTX_Kernel);
  }
  auto code = emit::generateDeviceCode(*ir, *target, gpu, emit::CodeForm::Assembly);
  ASSERT_TRUE(static_cast<bool>(code)) << llvm::toString(code.takeError());
  std::string ptx(code->data(), code->size());
  auto has = [&](const char *text) { return ptx.find(text) != std::string::npos; };
  EXPECT_TRUE(has(".entry doubled(") && has("%ntid.x")) << ptx;
  EXPECT_TRUE(has("doubled_param_3") && !has("doubled_param_4")) << "buffers, a size and how many items\n" << ptx;
  EXPECT_TRUE(has(".entry checked(") && has("cas.b32")) << ptx;
  EXPECT_TRUE(has("checked_param_3") && !has("checked_param_4")) << "a buffer, the status, its bits and items\n" << ptx;
  EXPECT_TRUE(has("bar.sync") || has("barrier.sync")) << ptx;
  EXPECT_FALSE(has("ingot_")) << ptx;
}

/// Makes the code of one kernel for a machine of `Small`.
std::string codeOfSmall(ModuleOp module, target::MachineModel machine, emit::CodeForm form) {
  Small small;
  machine.target = &small;
  auto target = emit::createTargetMachine(module, machine);
  if (!target || failed(emit::lowerDeviceModule(module, machine))) {
    return "";
  }
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> ir = emit::translateDeviceModule(module, llvmContext, *target);
  auto code = emit::generateDeviceCode(*ir, *target, machine, form);
  return code ? std::string(code->data(), code->size()) : llvm::toString(code.takeError());
}

TEST_F(DeviceObject, ATargetHasMathsOfItsOwn) {
  module = parseSourceString<ModuleOp>(R"(
    func.func @power(%y: memref<1xf32>, %begin: index, %end: index) {
      %v = memref.load %y[%begin] : memref<1xf32>
      %w = math.exp2 %v : f32
      memref.store %w, %y[%begin] : memref<1xf32>
      return
    }
  )",
                                       &context);
  std::string ptx = codeOfSmall(*module, machine("nvptx64-nvidia-cuda", "sm_80", "+ptx80"), emit::CodeForm::Assembly);
  EXPECT_NE(ptx.find("ex2.approx.ftz.f32"), std::string::npos) << ptx;
  EXPECT_EQ(ptx.find("fma"), std::string::npos) << ptx;
}

TEST_F(DeviceObject, ImagesCallForArithmeticThatTheMachineLacks) {
  module = parseSourceString<ModuleOp>(R"(
    func.func @quotient(%y: memref<1xi64>, %begin: index, %end: index) {
      %v = memref.load %y[%begin] : memref<1xi64>
      %w = memref.load %y[%end] : memref<1xi64>
      %q = arith.divsi %v, %w : i64
      memref.store %q, %y[%begin] : memref<1xi64>
      return
    }
  )",
                                       &context);
  std::string code =
      codeOfSmall(*module, machine("riscv64-unknown-linux-gnu", "generic-rv64", "+m"), emit::CodeForm::Assembly);
  EXPECT_NE(code.find("ingot_wide_sdiv"), std::string::npos) << code;
}

TEST_F(DeviceObject, WarningsNameTheKernel) {
  std::string code = object(R"(
    func.func @deep(%y: memref<1xf32>, %begin: index, %end: index) {
      %many = memref.alloca() : memref<30000xf32>
      %first = arith.constant 0 : index
      %v = memref.load %many[%end] : memref<30000xf32>
      memref.store %v, %many[%begin] : memref<30000xf32>
      %w = memref.load %many[%first] : memref<30000xf32>
      memref.store %w, %y[%first] : memref<1xf32>
      return
    } loc("node")
  )",
                            {"deep"});
  EXPECT_EQ(code.substr(0, 4), "\x7f"
                               "ELF");
  EXPECT_EQ(said.substr(0, 18), "node: stack frame ") << said;
}

TEST_F(DeviceObject, ErrorsOfLlvmAreErrors) {
  std::string code = object(R"(
    func.func @wrong(%y: memref<1xi32>, %begin: index, %end: index) {
      %v = llvm.inline_asm "nop", "=Z" : () -> i32
      %first = arith.constant 0 : index
      memref.store %v, %y[%first] : memref<1xi32>
      return
    }
  )",
                            {"wrong"});
  EXPECT_EQ(code, "error: LLVM makes no code of its kernels");
  EXPECT_NE(said.find("could"), std::string::npos) << said;
}

} // namespace
