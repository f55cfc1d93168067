// Reductions, softmax and normalisations of the compiler's, whose threads share rows (compiler/lower/core/AxisSplit.h).
// Where rows are whole vectors that lie as instructions of 16 bytes take them, the threads walk along the rows in
// vectors: the body is written twice, with lanes and without.
#include "targets/cuda/Rows.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "targets/cuda/Wide.h"

using namespace mlir;

namespace ingot::targets::cuda {

std::optional<Value> Rows::isWide(lower::Build &build, int64_t lanes) {
  RankedTensorType type = lower::Group::typeOf(build.group.root->getOperand(0));
  lower::Space space = build.group.space(type);
  Wide wide(build.w, lanes);
  wide.require(type.getRank() > 0 ? lower::Ix(onnx::sizesOf(type).back()) : lower::Ix(1)); // whole vectors
  wide.require(space, accessesOf(space));
  return wide.condition();
}

LogicalResult Rows::build(lower::Build &build, const lower::KernelShape &shape) const {
  bool isTeams = shape.grid && shape.grid->sharedBytes > 0; // AxisSplit::share
  int64_t lanes = wideLanes(build.group.kernel);
  std::optional<Value> isWide = isTeams ? Rows::isWide(build, lanes) : std::nullopt;
  LogicalResult isBuilt = success();
  auto inVectors = [&] {
    target::MachineModel machine = build.w.machine;
    Type element = lower::valueType(onnx::elementOf(build.group.root->getOperand(0)));
    constexpr unsigned word = 32;
    machine.lanes = lanes * std::max(word, element.getIntOrFloatBitWidth()) / word; // which AxisSplit divides
    lower::Writer w(build.w.b, build.w.loc, machine);
    w.symbols = build.w.symbols;
    auto operands = llvm::map_to_vector(build.group.kernel.getBody().getArguments(),
                                        [&](Value argument) { return build.group.buffer(argument); });
    SmallVector<lower::Buffer> results;
    for (unsigned i = 0; i < build.group.kernel->getNumResults(); ++i) {
      results.push_back(build.group.result(i));
    }
    lower::Group group(w, build.group.kernel, operands, results);
    lower::Build own{w, group, build.begin, build.end, build.scratch, build.status, build.exec};
    isBuilt = ByThreads::build(own, shape);
  };
  auto byElements = [&] { isBuilt = failed(isBuilt) ? isBuilt : ByThreads::build(build, shape); };
  writeWhereWide(build.w, isWide, inVectors, byElements);
  return isBuilt;
}

} // namespace ingot::targets::cuda
