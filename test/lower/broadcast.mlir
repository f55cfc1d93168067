// Where only the run knows whether an operand's axis repeats there are loops for equal sizes, in which it strides like
// the result, and loops for any, in which its stride is multiplied by what is 0 for a size of 1.
// RUN: %ingot-opt --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 %s | FileCheck %s

// CHECK-LABEL: func.func private @elementwise
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<3xf32>{{.*}}, %[[Y:[a-z0-9]+]]: memref<1099511627776xf32>
// CHECK: scf.if
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK-NOT: arith.muli
// CHECK: memref.load %[[Y]][%[[I]]]
// CHECK: } else {
// CHECK: scf.for %[[J:[a-z0-9]+]] =
// CHECK: %[[AT:[a-z0-9]+]] = arith.muli %[[J]],
// CHECK: memref.load %[[Y]][%[[AT]]]
func.func @main(%x: tensor<3xf32>, %y: tensor<?xf32, #onnx.sizes<"n">>) -> tensor<3xf32> {
  %0 = onnx.Min %x, %y : (tensor<3xf32>, tensor<?xf32, #onnx.sizes<"n">>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
