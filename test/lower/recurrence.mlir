// Recurrence behind its input projection: hidden and cell state stay in scratch, and each step is a product with all gates at once.
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v3 --layout-assign=target=x86-64-v3 --lower-kernels=target=x86-64-v3 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V3
// RUN: %ingot-opt --graph-simplify --partition-form-kernels=target=x86-64-v4 --layout-assign=target=x86-64-v4 --lower-kernels=target=x86-64-v4 --split-input-file %s | FileCheck %s --allow-unused-prefixes --check-prefixes=CHECK,V4

// CHECK-LABEL: func.func private @recurrence_(
// CHECK: [[H:%.*]] = memref.view %arg3[%c0{{[_0-9]*}}]
// CHECK: [[C:%.*]] = memref.view %arg3[%c128]
// CHECK: scf.for {{.*}} to %c6
// Four gates of 16 units: along k, 8 sums of 8 lanes, or 4 of 16, each of which is made of two.
// V3: %{{[0-9]+}}:8 = scf.for {{.*}} to %c16
// V4: [[S:%[0-9]+]]:8 = scf.for {{.*}} to %c16
// CHECK: vector.fma
// V4: arith.addf [[S]]#0, [[S]]#4
// V4: arith.addf [[S]]#3, [[S]]#7
// CHECK: math.exp
// CHECK: vector.store {{.*}}, [[C]]
// CHECK: vector.store [[Y:%.*]], [[H]]
// CHECK: vector.store [[Y]], %arg2
func.func @typical(%x: tensor<6x1x8xf32>) -> tensor<6x1x1x16xf32> {
  %w = onnx.Constant dense<0.5> : tensor<1x64x8xf32>
  %r = onnx.Constant dense<0.5> : tensor<1x64x16xf32>
  %n = onnx.None : none
  %y, %h, %c = "onnx.LSTM"(%x, %w, %r, %n, %n, %n, %n, %n) <{hidden_size = 16 : i64}> : (tensor<6x1x8xf32>, tensor<1x64x8xf32>, tensor<1x64x16xf32>, none, none, none, none, none) -> (tensor<6x1x1x16xf32>, tensor<1x1x16xf32>, tensor<1x1x16xf32>)
  return %y : tensor<6x1x1x16xf32>
}

// -----

// Backwards, with a length for each row (a bad one ends the run), five units, and a reset gate behind the product.
// CHECK-LABEL: func.func private @recurrence_(
// CHECK: [[LENGTH:%.*]] = memref.load %arg2
// CHECK: [[BAD:%.*]] = arith.cmpi ugt, [[LENGTH]]
// CHECK: scf.if [[BAD]]
// CHECK: %c5_i32
// The state has a place for each of the two rows.
// CHECK: scf.for {{.*}} to %c2
// CHECK: scf.for [[T:%.*]] = {{.*}} to %arg5
// A row that has ended keeps its state.
// CHECK: memref.load %arg2
// CHECK: arith.cmpi slt, [[T]]
// CHECK: memref.load %arg2
// CHECK: arith.cmpi slt, [[T]]
// V4: vector.maskedload %arg0
// CHECK: math.exp
// CHECK: vector.store
// CHECK: scf.for {{.*}} to %c2
// V3: memref.store {{.*}}, %arg3
// V4: vector.maskedstore %arg3
func.func @awkward(%x: tensor<?x2x3xf32, #onnx.sizes<"s", 2, 3>>, %l: tensor<2xi32>) -> tensor<1x2x5xf32> {
  %w = onnx.Constant dense<0.5> : tensor<1x15x3xf32>
  %r = onnx.Constant dense<0.5> : tensor<1x15x5xf32>
  %n = onnx.None : none
  %y, %h = "onnx.GRU"(%x, %w, %r, %n, %l, %n) <{hidden_size = 5 : i64, direction = "reverse", linear_before_reset = 1 : i64}> : (tensor<?x2x3xf32, #onnx.sizes<"s", 2, 3>>, tensor<1x15x3xf32>, tensor<1x15x5xf32>, none, tensor<2xi32>, none) -> (tensor<?x1x2x5xf32, #onnx.sizes<"s", 1, 2, 5>>, tensor<1x2x5xf32>)
  return %h : tensor<1x2x5xf32>
}

// -----

// An R of 256 KB comes from the second cache: of one row at most four lines at a time, which are the gates of 16 units here.
// V4-LABEL: func.func private @recurrence_(
// V4: scf.for {{.*}} to %c2 step
// V4: scf.for {{.*}} to %c8 step
// V4: [[S:%[0-9]+]]:8 = scf.for {{.*}} to %c128
// V4: vector.load %arg1{{.*}}vector<16xf32>
// V4: arith.addf [[S]]#0, [[S]]#4
func.func @far(%x: tensor<2x1x8xf32>) -> tensor<2x1x1x128xf32> {
  %w = onnx.Constant dense<0.5> : tensor<1x512x8xf32>
  %r = onnx.Constant dense<0.5> : tensor<1x512x128xf32>
  %n = onnx.None : none
  %y, %h, %c = "onnx.LSTM"(%x, %w, %r, %n, %n, %n, %n, %n) <{hidden_size = 128 : i64}> : (tensor<2x1x8xf32>, tensor<1x512x8xf32>, tensor<1x512x128xf32>, none, none, none, none, none) -> (tensor<2x1x1x128xf32>, tensor<1x1x128xf32>, tensor<1x1x128xf32>)
  return %y : tensor<2x1x1x128xf32>
}
