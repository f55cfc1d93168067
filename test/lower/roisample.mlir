// RoiSample: tables of a region (which pixels, how much of each) are made in scratch, axis by axis; channels, the last axis, are the lanes.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @roisample_(
// CHECK: scf.for [[R:%.*]] = {{.*}} to %c5
// CHECK: [[IMAGE:%.*]] = memref.load %arg2[[[R]]]
// CHECK: [[BAD:%.*]] = arith.cmpi uge, [[IMAGE]]
// CHECK: scf.if [[BAD]]
// CHECK: %c5_i32
// CHECK: scf.for {{.*}} to %c7{{.*}} iter_args
// CHECK: scf.for {{.*}} to %c2{{.*}} iter_args
// CHECK: math.floor
// CHECK: scf.for {{.*}} to %c7{{.*}} iter_args
// CHECK: scf.for {{.*}} to %c2{{.*}} iter_args
// CHECK: scf.for {{.*}} to %c7
// V3: vector.load %arg0{{.*}} vector<8xf32>
// V4: vector.load %arg0{{.*}} vector<16xf32>
func.func @typical(%x: tensor<1x16x16x16xf32>, %r: tensor<5x4xf32>, %b: tensor<5xi64>) -> tensor<5x16x7x7xf32> {
  %0 = "onnx.RoiAlign"(%x, %r, %b) <{output_height = 7 : i64, output_width = 7 : i64, sampling_ratio = 2 : i64}> : (tensor<1x16x16x16xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x16x7x7xf32>
  return %0 : tensor<5x16x7x7xf32>
}

// -----

// The number of samples follows from the region (ratio 0); the largest of them; three channels fill no vector; an open number of regions.
// CHECK-LABEL: func.func private @roisample_(
// CHECK: memref.load %arg2
// CHECK: arith.cmpi uge
// CHECK: math.ceil
// V3: scf.for {{.*}} to %c3
// V3: memref.load %arg0
// V3: memref.store {{.*}}, %arg3
// V4: vector.maskedload %arg0
// V4: arith.maximumf
// V4: vector.scatter %arg3
func.func @awkward(%x: tensor<1x3x9x9xf32>, %r: tensor<?x4xf32, #onnx.sizes<"r", 4>>, %b: tensor<?xi64, #onnx.sizes<"r">>) -> tensor<?x3x1x2xf32, #onnx.sizes<"r", 3, 1, 2>> {
  %0 = "onnx.RoiAlign"(%x, %r, %b) <{mode = "max", output_height = 1 : i64, output_width = 2 : i64, sampling_ratio = 0 : i64}> : (tensor<1x3x9x9xf32>, tensor<?x4xf32, #onnx.sizes<"r", 4>>, tensor<?xi64, #onnx.sizes<"r">>) -> tensor<?x3x1x2xf32, #onnx.sizes<"r", 3, 1, 2>>
  return %0 : tensor<?x3x1x2xf32, #onnx.sizes<"r", 3, 1, 2>>
}
