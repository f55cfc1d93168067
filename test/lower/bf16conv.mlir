// Convolutions of bfloat16 (--accuracy fast) where there are no matrix registers: pixels are widened once for a register tile, weights as they are read.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func private @bf16conv_(%arg0: memref<8192xi16>
// CHECK: vector.load %arg0{{.*}} vector<8xi16>
// CHECK: arith.bitcast {{.*}} to vector<8xbf16>
// CHECK: [[X:%.*]] = arith.extf {{.*}} to vector<8xf32>
// CHECK: vector.store [[X]], [[PIXELS:%.*]][
// CHECK: vector.load %arg1{{.*}} vector<8xi16>
// CHECK: [[W:%.*]] = arith.extf {{.*}} to vector<8xf32>
// CHECK: [[E:%.*]] = memref.load [[PIXELS]]
// CHECK: [[S:%.*]] = vector.broadcast [[E]]
// CHECK: vector.fma [[S]], [[W]], {{.*}} : vector<8xf32>
// CHECK: vector.store {{.*}}, %arg2{{.*}} vector<8xf32>
func.func @widened(%x: tensor<1x32x14x14xbf16>) -> tensor<1x32x14x14xf32> {
  %w = onnx.Constant dense<1.0> : tensor<32x32x3x3xbf16>
  %n = onnx.None : none
  %0 = "formats.Bf16Conv"(%x, %w, %n) <{pads = array<i64: 1, 1, 1, 1>}> : (tensor<1x32x14x14xbf16>, tensor<32x32x3x3xbf16>, none) -> tensor<1x32x14x14xf32>
  return %0 : tensor<1x32x14x14xf32>
}
