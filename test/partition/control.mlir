// Kernels form in each block. A value of a region that is read outside of it leaves by the yield alone.
// RUN: %ingot-opt --partition-place=target=x86-64-v2 --partition-form-kernels=target=x86-64-v2 %s 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARN < %t.err

// CHECK: %[[K:.*]] = "plan.kernel"(%arg1)
// CHECK: onnx.Relu
// CHECK: "onnx.If"(%arg0) ({
// CHECK-NEXT: %[[T:.*]] = "plan.kernel"(%[[K]])
// CHECK: onnx.Neg
// CHECK: onnx.Exp
// CHECK: onnx.Yield %[[T]]
// CHECK: onnx.Fail "other sizes"
// WARN: warning: a run that takes this branch ends with an error: other sizes
func.func @branch(%c: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = onnx.Relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "onnx.If"(%c) ({
    %2 = onnx.Neg %0 : (tensor<8xf32>) -> tensor<8xf32>
    %3 = onnx.Exp %2 : (tensor<8xf32>) -> tensor<8xf32>
    onnx.Yield %3 : tensor<8xf32>
  }, {
    %2 = onnx.Fail "other sizes" : tensor<8xf32>
    onnx.Yield %2 : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
