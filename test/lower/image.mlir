// Encoded images: the library that decodes them is called, and its failure is the run's error 19 (INGOT_ERROR_IMAGE).
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @size
// CHECK: plan.launch @image_(%arg0) {checked, {{.*}}plan.error = 19
// CHECK-LABEL: func.func private @image_(
// CHECK: [[STATUS:%.*]] = memref.alloca
// CHECK: [[BYTES:%.*]] = arith.index_cast %c100 : index to i64
// CHECK: [[CODE:%.*]] = call @ingot_image_size(%view, [[BYTES]], %arg1) : (memref<1xi8>, i64, memref<2xi64>) -> i32
// CHECK: [[FAILED:%.*]] = arith.cmpi ne, [[CODE]]
// CHECK: scf.if [[FAILED]] {
// CHECK: memref.store %c19_i32, [[STATUS]]
// CHECK: return
func.func @size(%x: tensor<100xui8>) -> tensor<2xi64> {
  %0 = "onnx.ImageSize"(%x) : (tensor<100xui8>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

// The decoder gets the order of the channels and the size that the result has room for.
// CHECK-LABEL: func.func private @image_(
// CHECK-DAG: [[HEIGHT:%.*]] = arith.index_cast %c8 : index to i64
// CHECK-DAG: [[WIDTH:%.*]] = arith.index_cast %c9 : index to i64
// CHECK-DAG: [[ORDER:%.*]] = arith.constant 1 : i32
// CHECK: call @ingot_image_decode({{%.*}}, {{%.*}}, [[ORDER]], [[HEIGHT]], [[WIDTH]], {{%.*}}) : (memref<1xi8>, i64, i32, i64, i64, memref<1xi8>) -> i32
// CHECK: memref.store %c19_i32
func.func @decode(%x: tensor<100xui8>) -> tensor<8x9x3xui8> {
  %s = onnx.Constant dense<[8, 9]> : tensor<2xi64>
  %0 = "onnx.DecodeImage"(%x, %s) <{order = 1 : i64}> : (tensor<100xui8>, tensor<2xi64>) -> tensor<8x9x3xui8>
  return %0 : tensor<8x9x3xui8>
}
