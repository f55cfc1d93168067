// Transposes images [N, H, W, C] for the standard's operators; layouts are chosen later, by what kernels want.
#include "compiler/onnx/ops/Diffusion.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Diffusion.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

LogicalResult BiasAddOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  return failed(node.needs(3)) ? failure() : give(node, sum(f, node.operands));
}

/// Multiplies the left half of the columns by GELU of the right half.
LogicalResult BiasSplitGeluOp::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  SmallVector<Value> halves = split(f, f.add(node.operand(0), node.operand(1)), -1, 2);
  return give(node, f.mul(halves[0], f.op("Gelu", {halves[1]})));
}

/// Writes the normalization in f32, which scale and bias have.
static Value groupNorm(Node &node, Formula &f, Value x, Value scale, Value bias) {
  bool last = node.integer("channels_last", 1) != 0;
  Value y = withChannelsSecond(f, real(f, x), ranked(x).getRank(), last, [&](Value image) {
    return f.op(
        "GroupNormalization", {image, real(f, scale), real(f, bias)},
        {f.number("epsilon", node.number("epsilon", 1e-5)), f.integer("num_groups", node.integer("groups", 0))});
  });
  return like(f, node.integer("activation", 0) ? f.op("Swish", {y}) : y, x);
}

static LogicalResult checkImageNorm(Node &node, unsigned inputs) {
  auto x = ranked(node.operand(0));
  if (failed(node.needs(inputs))) {
    return failure();
  }
  int64_t activation = node.integer("activation", 0);
  return x && x.getRank() >= 3 && node.integer("groups", 0) >= 1 && (activation == 0 || activation == 1)
             ? success()
             : node.error("needs an image, positive 'groups' and an 'activation' of 0 or 1");
}

LogicalResult GroupNormOp::upgrade(Node &node) {
  if (failed(checkImageNorm(node, 3))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  return give(node, groupNorm(node, f, node.operand(0), node.operand(1), node.operand(2)));
}

/// Adds the skip first, which may be one row of channels for each image.
LogicalResult SkipGroupNormOp::upgrade(Node &node) {
  if (failed(checkImageNorm(node, 4))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  int64_t rank = ranked(node.operand(0)).getRank();
  bool last = node.integer("channels_last", 1) != 0;
  SmallVector<int64_t> pixels = llvm::to_vector(llvm::seq<int64_t>(last ? 1 : 2, last ? rank - 1 : rank));
  Value skip = node.operand(3), bias = node.operand(4);
  if (!ranked(skip) || (ranked(skip).getRank() != 2 && ranked(skip).getRank() != rank)) {
    return node.error("needs a skip of two dimensions, or of as many as the image");
  }
  skip = ranked(skip).getRank() == rank ? skip : unsqueeze(f, skip, pixels);
  if (bias && !last) {
    bias = unsqueeze(f, bias, llvm::to_vector(llvm::seq<int64_t>(1, rank - 1)));
  }
  Value x = sum(f, {node.operand(0), skip, bias});
  node.results = {groupNorm(node, f, x, node.operand(1), node.operand(2)), x};
  return success();
}

static constexpr StringRef convAttributes[] = {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"};

/// Transposes weights, too, which have their channels last.
LogicalResult NhwcConvOp::upgrade(Node &node) {
  FailureOr<int64_t> rank = convolutionRank(node);
  if (failed(rank)) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  SmallVector<int64_t> second = {0, *rank - 1};
  llvm::append_range(second, llvm::seq<int64_t>(1, *rank - 1));
  Value kernel = f.transpose(node.operand(1), second);
  return give(node, withChannelsSecond(f, node.operand(0), *rank, true, [&](Value x) {
                return f.op("Conv", {x, kernel, node.operand(2)}, attributesOf(node, convAttributes));
              }));
}

/// Keeps the weights, which are those of Conv.
LogicalResult NhwcFusedConvOp::upgrade(Node &node) {
  FailureOr<int64_t> rank = convolutionRank(node);
  if (failed(rank)) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value y = withChannelsSecond(f, node.operand(0), *rank, true, [&](Value x) {
    return f.op("Conv", {x, node.operand(1), node.operand(2)}, attributesOf(node, convAttributes));
  });
  auto numbers = dyn_cast_or_null<DenseF32ArrayAttr>(node.attributes.get("activation_params"));
  return give(node, activated(node, sum(f, {y, node.operand(3)}), numbers ? numbers.asArrayRef() : ArrayRef<float>()));
}

void registerDiffusion(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Diffusion.cpp.inc"
      >();
}

} // namespace ingot::onnx
