// Presence of an optional input: its pointer is not null.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @haselement_(
// CHECK: [[ADDRESS:%.*]] = memref.extract_aligned_pointer_as_index %arg0
// CHECK: [[THERE:%.*]] = arith.cmpi ne, [[ADDRESS]], %c0
// CHECK: [[BYTE:%.*]] = arith.extui [[THERE]] : i1 to i8
// CHECK: memref.store [[BYTE]], %arg1
func.func @typical(%x: tensor<4xf32>) -> tensor<i1> {
  %0 = "onnx.OptionalHasElement"(%x) : (tensor<4xf32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// -----

// What is done with the answer is a kernel of its own: this one reads no element.
// CHECK-LABEL: func.func @awkward
// CHECK: [[GIVEN:%.*]] = plan.launch @haselement_(%arg0)
// CHECK: plan.launch @elementwise_([[GIVEN]], %arg1)
// CHECK-LABEL: func.func private @haselement_(
// CHECK-NOT: memref.load
// CHECK: return
func.func @awkward(%x: tensor<4xf32>, %y: tensor<i1>) -> tensor<i1> {
  %0 = "onnx.OptionalHasElement"(%x) : (tensor<4xf32>) -> tensor<i1>
  %1 = "onnx.And"(%0, %y) : (tensor<i1>, tensor<i1>) -> tensor<i1>
  return %1 : tensor<i1>
}
