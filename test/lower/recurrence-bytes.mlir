// A recurrence with an R of bytes: elements of the state become digits by the largest of their row, and four or two of them at a time are multiplied.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=cascadelake --layout-assign=target=cascadelake --lower-kernels=target=cascadelake %s | FileCheck %s
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 %s | FileCheck --check-prefix=PAIRS %s
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=armv8-a --layout-assign=target=armv8-a --lower-kernels=target=armv8-a %s | FileCheck --check-prefix=FLOATS %s

// 40 units are three vectors of 16, of which the last one has eight; 10 words and a row of corrections for each vector. Three digits of 8 bits, the first
// one with 128 added; three vectors, two steps at a time, are 18 products.
// CHECK-LABEL: func.func private @recurrence_
// CHECK-SAME: memref<2112xi8>
// CHECK: scf.for
// CHECK: vector.reduction <maxsi>
// CHECK: arith.divf
// CHECK: math.roundeven
// CHECK-COUNT-3: arith.trunci {{.*}} : vector<16xi32> to vector<16xi8>
// CHECK: scf.for
// CHECK-COUNT-18: vpdpbusd.512
// CHECK-NOT: vpdpbusd.512
// CHECK-COUNT-3: arith.sitofp
// CHECK: math.tanh
// Two digits of 12 bits; five vectors of 8, one step at a time, are ten products of bytes that are int16.
// PAIRS-LABEL: func.func private @recurrence_
// PAIRS-SAME: memref<1600xi8>
// PAIRS: math.roundeven
// PAIRS-COUNT-2: arith.trunci {{.*}} : vector<8xi32> to vector<8xi16>
// PAIRS: arith.extsi {{.*}} : vector<16xi8> to vector<16xi16>
// PAIRS: pmadd.wd
// PAIRS: math.tanh
// Where the machine multiplies neither, bytes become floats.
// FLOATS-LABEL: func.func private @recurrence_
// FLOATS-NOT: roundeven
// FLOATS: arith.extsi {{.*}} : vector<4xi8> to vector<4xi32>
// FLOATS: arith.sitofp
// FLOATS: vector.fma
func.func @tanh(%p: tensor<6x1x40xf32>) -> tensor<6x1x40xf32> {
  %r = onnx.Constant dense<5> : tensor<40x40xi8>
  %s = onnx.Constant dense<0.25> : tensor<40xf32>
  %n = onnx.None : none
  %y, %h, %c = onnx.Recurrence %p, %r, %n, %n, %n, %n, %n, %s, %n {activations = ["tanh"], alphas = array<f32: 0.0>, betas = array<f32: 0.0>, kind = "RNN"} : (tensor<6x1x40xf32>, tensor<40x40xi8>, none, none, none, none, none, tensor<40xf32>, none) -> (tensor<6x1x40xf32>, tensor<1x40xf32>, tensor<1x40xf32>)
  return %y : tensor<6x1x40xf32>
}
