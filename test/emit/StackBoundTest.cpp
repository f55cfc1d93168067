// The bound of the stack (compiler/emit/StackBound.h) of objects whose calls are known: sums along the deepest way, and
// what has no bound.
#include "compiler/emit/StackBound.h"
#include "compiler/emit/CodeGen.h"
#include "compiler/emit/QuickCode.h"
#include "compiler/target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "gtest/gtest.h"

using namespace ingot;

namespace {

/// Returns a function with an array of `words` on the stack, which does `calls` between writing and reading it.
std::string function(const std::string &name, int words, const std::string &calls) {
  std::string array = "[" + std::to_string(words) + " x i32]";
  return "define i32 @" + name + "(i32 %n) noinline nounwind {\n  %a = alloca " + array + "\n  %p = getelementptr " +
         array + ", ptr %a, i32 0, i32 %n\n  store volatile i32 %n, ptr %p\n" + calls +
         "  %v = load volatile i32, ptr %a\n  ret i32 %v\n}\n";
}

std::string call(const std::string &name) { return "  call i32 @" + name + "(i32 %n)\n"; }

/// Returns the bound for a module as text, compiled for a Cortex-M4.
emit::StackBound boundOf(const std::string &text) {
  mlir::MLIRContext mlirContext(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> place = mlir::ModuleOp::create(mlir::UnknownLoc::get(&mlirContext));
  llvm::Expected<target::MachineModel> machine = target::resolveMachine("cortex-m4");
  EXPECT_TRUE(bool(machine));
  llvm::LLVMContext context;
  llvm::SMDiagnostic wrong;
  std::unique_ptr<llvm::Module> ir = llvm::parseAssemblyString(text, wrong, context);
  EXPECT_TRUE(ir) << wrong.getMessage().str();
  auto code = emit::createTargetMachine(*place, *machine);
  ir->setTargetTriple(code->getTargetTriple());
  ir->setDataLayout(code->createDataLayout());
  std::vector<emit::FunctionSize> overAligned = emit::overAlignedFrames(*ir);
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  EXPECT_TRUE(emit::generateCode(*ir, *code, emit::CodeFile::Object, stream));
  constexpr llvm::StringLiteral compilers[] = {"__aeabi_fadd"};
  llvm::Expected<emit::StackBound> bound = emit::boundStack(object, "m", compilers, overAligned);
  EXPECT_TRUE(bool(bound)) << llvm::toString(bound.takeError());
  return bound ? *bound : emit::StackBound();
}

TEST(CodeGen, AMarkedModuleIsCompiledQuickly) {
  mlir::MLIRContext mlirContext(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> place = mlir::ModuleOp::create(mlir::UnknownLoc::get(&mlirContext));
  llvm::Expected<target::MachineModel> machine = target::resolveMachine("cortex-m4");
  ASSERT_TRUE(bool(machine));
  EXPECT_EQ(emit::createTargetMachine(*place, *machine)->getOptLevel(), llvm::CodeGenOptLevel::Aggressive);
  (*place)->setAttr(emit::quickCodeName, mlir::UnitAttr::get(&mlirContext));
  EXPECT_EQ(emit::createTargetMachine(*place, *machine)->getOptLevel(), llvm::CodeGenOptLevel::None);
}

std::string pathOf(const emit::StackBound &bound) {
  std::string path;
  for (const emit::FunctionSize &frame : bound.path) {
    path += frame.name + " ";
  }
  return path;
}

constexpr const char *declarations = "declare i32 @ingot_parallel_for(ptr, ptr, ptr, i64)\n"
                                     "declare i64 @ingot_wide_sdiv(i64, i64)\n"
                                     "declare i32 @ingot_memory_begin(i32)\n"
                                     "declare i32 @__aeabi_fadd(i32)\n";

TEST(StackBound, IsTheDeepestWay) {
  std::string leaves = function("small", 2, "") + function("large", 100, "");
  emit::StackBound bound = boundOf(leaves + function("m_run", 4, call("small") + call("large") + call("small")));
  EXPECT_EQ(pathOf(bound), "m_run large ");
  EXPECT_GE(bound.bytes, 104 * 4);
  EXPECT_LE(bound.bytes, 104 * 4 + 64);
  EXPECT_EQ(bound.bytes, bound.path[0].bytes + bound.path[1].bytes);
}

TEST(StackBound, LeavesOutWhatDescribesTheModel) {
  std::string describes = "@model = constant ptr @m_run\ndefine ptr @m_model() nounwind {\n  %a = alloca [99 x i32]\n"
                          "  store volatile i32 0, ptr %a\n  ret ptr @model\n}\n";
  EXPECT_EQ(pathOf(boundOf(describes + function("m_run", 4, ""))), "m_run ");
}

TEST(StackBound, CountsFunctionsThatOthersCall) {
  std::string split = "  call i32 @ingot_parallel_for(ptr null, ptr @body, ptr null, i64 4)\n";
  emit::StackBound bound = boundOf(declarations + function("body", 50, "") + function("m_run", 4, split));
  EXPECT_EQ(pathOf(bound), "m_run ingot_parallel_for body ");
  EXPECT_GE(bound.bytes, 54 * 4 + bound.path[1].bytes);

  std::string divide = "  call i64 @ingot_wide_sdiv(i64 5, i64 3)\n";
  bound = boundOf(declarations + function("small", 1, "") + function("m_run", 4, call("small") + divide));
  EXPECT_EQ(pathOf(bound), "m_run ingot_wide_sdiv ");
  bound = boundOf(declarations + function("m_run", 4, call("__aeabi_fadd")));
  EXPECT_EQ(pathOf(bound), "m_run __aeabi_fadd ");
}

// A frame that begins at a multiple of 32 may lose what the stack's own alignment, 8, leaves open.
TEST(StackBound, CountsWhatAlignmentTakes) {
  std::string aligned = function("m_run", 8, "");
  emit::StackBound before = boundOf(aligned);
  aligned.replace(aligned.find("alloca [8 x i32]"), 16, "alloca [8 x i32], align 32");
  emit::StackBound after = boundOf(aligned);
  EXPECT_GE(after.bytes, before.bytes + 24);
}

TEST(StackBound, SaysWhyThereIsNone) {
  emit::StackBound bound = boundOf(function("m_run", 4, call("m_run")));
  EXPECT_EQ(bound.bytes, -1);
  EXPECT_EQ(bound.why, "m_run calls itself");
  bound = boundOf(function("first", 4, call("second")) + function("second", 4, call("first")));
  EXPECT_EQ(bound.bytes, -1);
  EXPECT_NE(bound.why.find("calls itself"), std::string::npos) << bound.why;

  std::string open = "  %o = alloca i32, i32 %n\n  store volatile i32 0, ptr %o\n  %q = ptrtoint ptr %o to i32\n"
                     "  call i32 @m_leaf(i32 %q)\n";
  bound = boundOf(function("m_leaf", 1, "") + function("m_run", 4, open));
  EXPECT_EQ(bound.bytes, -1);
  EXPECT_EQ(bound.why, "the frame of m_run has no fixed size");

  bound = boundOf(declarations + function("m_run", 4, call("ingot_memory_begin")));
  EXPECT_EQ(bound.bytes, -1);
  EXPECT_EQ(bound.why, "m_run calls ingot_memory_begin, which takes what its caller's program decides");
}

} // namespace
