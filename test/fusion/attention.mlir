// Products around a softmax become Attend: what is computed between them is its region, and it reads through the
// movements that make its operands.
// RUN: %ingot-opt --fusion-fuse --split-input-file %s | FileCheck %s

// BERT: heads split off by transposes, K for the product directly, a scale, an additive mask, heads joined again.
// CHECK-LABEL: @bert
// CHECK: %[[Y:.*]] = onnx.Attend %arg0, %arg1, %arg2, %arg3
// CHECK-SAME: perm = array<i64: 0, 2, 1, 3>
// CHECK-SAME: valueWidth = 4 : i64
// CHECK-SAME: walkK = #onnx.strided<<0>, <"8*s", 4, 8, 1>>
// CHECK-SAME: walkQ = #onnx.strided<<0>, <"8*s", 4, 8, 1>>
// CHECK-SAME: walkV = #onnx.strided<<0>, <"8*s", 4, 8, 1>>
// CHECK-SAME: width = 4 : i64
// CHECK: ^bb0(%[[P:.*]]: tensor<?x2x?x?xf32, #onnx.sizes<"b", 2, "s", "s">>, %[[MASK:.*]]: tensor<?x1x1x?xf32, #onnx.sizes<"b", 1, 1, "s">>):
// CHECK: %[[S:.*]] = onnx.Div %[[P]]
// CHECK: %[[M:.*]] = onnx.Add %[[S]], %[[MASK]]
// CHECK: onnx.Score %[[M]]
// CHECK: onnx.Reshape %[[Y]]
// CHECK-NOT: onnx.{{MatMul|Transpose|Softmax}}
func.func @bert(%q: tensor<?x?x8xf32, #onnx.sizes<"b", "s", 8>>, %k: tensor<?x?x8xf32, #onnx.sizes<"b", "s", 8>>, %v: tensor<?x?x8xf32, #onnx.sizes<"b", "s", 8>>,
                %mask: tensor<?x1x1x?xf32, #onnx.sizes<"b", 1, 1, "s">>) -> tensor<?x?x8xf32, #onnx.sizes<"b", "s", 8>> {
  %heads = onnx.Sizes <"b", "s", 2, 4> : tensor<4xi64>
  %joined = onnx.Sizes <"b", "s", 8> : tensor<3xi64>
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %0 = onnx.Reshape %q, %heads : (tensor<?x?x8xf32, #onnx.sizes<"b", "s", 8>>, tensor<4xi64>) -> tensor<?x?x2x4xf32, #onnx.sizes<"b", "s", 2, 4>>
  %1 = onnx.Reshape %k, %heads : (tensor<?x?x8xf32, #onnx.sizes<"b", "s", 8>>, tensor<4xi64>) -> tensor<?x?x2x4xf32, #onnx.sizes<"b", "s", 2, 4>>
  %2 = onnx.Reshape %v, %heads : (tensor<?x?x8xf32, #onnx.sizes<"b", "s", 8>>, tensor<4xi64>) -> tensor<?x?x2x4xf32, #onnx.sizes<"b", "s", 2, 4>>
  %3 = onnx.Transpose %0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x4xf32, #onnx.sizes<"b", "s", 2, 4>>) -> tensor<?x2x?x4xf32, #onnx.sizes<"b", 2, "s", 4>>
  %4 = onnx.Transpose %1 {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x?x2x4xf32, #onnx.sizes<"b", "s", 2, 4>>) -> tensor<?x2x4x?xf32, #onnx.sizes<"b", 2, 4, "s">>
  %5 = onnx.Transpose %2 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x2x4xf32, #onnx.sizes<"b", "s", 2, 4>>) -> tensor<?x2x?x4xf32, #onnx.sizes<"b", 2, "s", 4>>
  %6 = onnx.MatMul %3, %4 : (tensor<?x2x?x4xf32, #onnx.sizes<"b", 2, "s", 4>>, tensor<?x2x4x?xf32, #onnx.sizes<"b", 2, 4, "s">>) -> tensor<?x2x?x?xf32, #onnx.sizes<"b", 2, "s", "s">>
  %7 = onnx.Div %6, %two : (tensor<?x2x?x?xf32, #onnx.sizes<"b", 2, "s", "s">>, tensor<f32>) -> tensor<?x2x?x?xf32, #onnx.sizes<"b", 2, "s", "s">>
  %8 = onnx.Add %7, %mask : (tensor<?x2x?x?xf32, #onnx.sizes<"b", 2, "s", "s">>, tensor<?x1x1x?xf32, #onnx.sizes<"b", 1, 1, "s">>) -> tensor<?x2x?x?xf32, #onnx.sizes<"b", 2, "s", "s">>
  %9 = onnx.Softmax %8 : (tensor<?x2x?x?xf32, #onnx.sizes<"b", 2, "s", "s">>) -> tensor<?x2x?x?xf32, #onnx.sizes<"b", 2, "s", "s">>
  %10 = onnx.MatMul %9, %5 : (tensor<?x2x?x?xf32, #onnx.sizes<"b", 2, "s", "s">>, tensor<?x2x?x4xf32, #onnx.sizes<"b", 2, "s", 4>>) -> tensor<?x2x?x4xf32, #onnx.sizes<"b", 2, "s", 4>>
  %11 = onnx.Transpose %10 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x4xf32, #onnx.sizes<"b", 2, "s", 4>>) -> tensor<?x?x2x4xf32, #onnx.sizes<"b", "s", 2, 4>>
  %12 = onnx.Reshape %11, %joined : (tensor<?x?x2x4xf32, #onnx.sizes<"b", "s", 2, 4>>, tensor<3xi64>) -> tensor<?x?x8xf32, #onnx.sizes<"b", "s", 8>>
  return %12 : tensor<?x?x8xf32, #onnx.sizes<"b", "s", 8>>
}

// -----

// One projection for all three, cut by slices of a transposed tensor (as timm's ViT); roots of the scale on both sides,
// behind and before the movements.
// CHECK-LABEL: @slices
// CHECK: onnx.Attend %arg0, %arg0, %arg0
// CHECK-SAME: walkK = #onnx.strided<<8>, <0, 4, 24, 1>>, walkQ = #onnx.strided<<0>, <0, 4, 24, 1>>, walkV = #onnx.strided<<16>, <0, 4, 24, 1>>
// CHECK: onnx.Constant dense<2.500000e-01>
// CHECK-NEXT: onnx.Mul
// CHECK-NEXT: onnx.Score
func.func @slices(%x: tensor<1x5x24xf32>) -> tensor<1x2x5x4xf32> {
  %shape = onnx.Constant dense<[1, 5, 3, 2, 4]> : tensor<5xi64>
  %one = onnx.Constant dense<[1, 2, 5, 4]> : tensor<4xi64>
  %0 = onnx.Constant dense<0> : tensor<1xi64>
  %1 = onnx.Constant dense<1> : tensor<1xi64>
  %2 = onnx.Constant dense<2> : tensor<1xi64>
  %3 = onnx.Constant dense<3> : tensor<1xi64>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %none = onnx.None : none
  %4 = onnx.Reshape %x, %shape : (tensor<1x5x24xf32>, tensor<5xi64>) -> tensor<1x5x3x2x4xf32>
  %5 = onnx.Transpose %4 {perm = array<i64: 2, 0, 3, 1, 4>} : (tensor<1x5x3x2x4xf32>) -> tensor<3x1x2x5x4xf32>
  %6 = onnx.Slice %5, %0, %1, %0, %none : (tensor<3x1x2x5x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<1x1x2x5x4xf32>
  %7 = onnx.Slice %5, %1, %2, %0, %none : (tensor<3x1x2x5x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<1x1x2x5x4xf32>
  %8 = onnx.Slice %5, %2, %3, %0, %none : (tensor<3x1x2x5x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<1x1x2x5x4xf32>
  %9 = onnx.Mul %6, %half : (tensor<1x1x2x5x4xf32>, tensor<f32>) -> tensor<1x1x2x5x4xf32>
  %q = onnx.Reshape %9, %one : (tensor<1x1x2x5x4xf32>, tensor<4xi64>) -> tensor<1x2x5x4xf32>
  %k = onnx.Reshape %7, %one : (tensor<1x1x2x5x4xf32>, tensor<4xi64>) -> tensor<1x2x5x4xf32>
  %v = onnx.Reshape %8, %one : (tensor<1x1x2x5x4xf32>, tensor<4xi64>) -> tensor<1x2x5x4xf32>
  %10 = onnx.Transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x5xf32>
  %11 = onnx.Mul %10, %half : (tensor<1x2x4x5xf32>, tensor<f32>) -> tensor<1x2x4x5xf32>
  %12 = onnx.MatMul %q, %11 : (tensor<1x2x5x4xf32>, tensor<1x2x4x5xf32>) -> tensor<1x2x5x5xf32>
  %13 = onnx.Softmax %12 : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %14 = onnx.MatMul %13, %v : (tensor<1x2x5x5xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  return %14 : tensor<1x2x5x4xf32>
}

// -----

// Heads that share keys (repeat_kv), products of three axes (bmm) with the mask added to four, rows without a key set
// to 0, as PyTorch's newer exporter writes it.
// CHECK-LABEL: @grouped
// CHECK: %[[MASK:.*]] = onnx.Reshape %arg3{{.*}} -> tensor<2x1x1x5x7xi1>
// CHECK: onnx.Attend %arg0, %arg1, %arg2, %[[MASK]]
// CHECK-SAME: empty = "never-nan"
// CHECK-SAME: walkK = #onnx.strided<<0>, <84, 28, 0, 4, 1>>
// CHECK-SAME: walkQ = #onnx.strided<<0>, <120, 40, 20, 4, 1>>
// CHECK: ^bb0(%{{.*}}: tensor<2x3x2x5x7xf32>, %{{.*}}: tensor<2x1x1x5x7xi1>):
// CHECK: onnx.Where
// CHECK-NOT: onnx.{{MatMul|Expand|Softmax|IsNaN}}
func.func @grouped(%q: tensor<2x6x5x4xf32>, %k: tensor<2x3x7x4xf32>, %v: tensor<2x3x7x4xf32>, %mask: tensor<2x1x5x7xi1>) -> tensor<2x6x5x4xf32> {
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %least = onnx.Constant dense<-3.40282347E+38> : tensor<f32>
  %alone = onnx.Constant dense<[2, 3, 1, 7, 4]> : tensor<5xi64>
  %wide = onnx.Constant dense<[2, 3, 2, 7, 4]> : tensor<5xi64>
  %flat = onnx.Constant dense<[12, 7, 4]> : tensor<3xi64>
  %rows = onnx.Constant dense<[12, 5, 4]> : tensor<3xi64>
  %four = onnx.Constant dense<[2, 6, 5, 7]> : tensor<4xi64>
  %three = onnx.Constant dense<[12, 5, 7]> : tensor<3xi64>
  %out = onnx.Constant dense<[2, 6, 5, 4]> : tensor<4xi64>
  %0 = onnx.Reshape %k, %alone : (tensor<2x3x7x4xf32>, tensor<5xi64>) -> tensor<2x3x1x7x4xf32>
  %1 = onnx.Expand %0, %wide : (tensor<2x3x1x7x4xf32>, tensor<5xi64>) -> tensor<2x3x2x7x4xf32>
  %2 = onnx.Reshape %1, %flat : (tensor<2x3x2x7x4xf32>, tensor<3xi64>) -> tensor<12x7x4xf32>
  %3 = onnx.Reshape %v, %alone : (tensor<2x3x7x4xf32>, tensor<5xi64>) -> tensor<2x3x1x7x4xf32>
  %4 = onnx.Expand %3, %wide : (tensor<2x3x1x7x4xf32>, tensor<5xi64>) -> tensor<2x3x2x7x4xf32>
  %5 = onnx.Reshape %4, %flat : (tensor<2x3x2x7x4xf32>, tensor<3xi64>) -> tensor<12x7x4xf32>
  %6 = onnx.Reshape %q, %rows : (tensor<2x6x5x4xf32>, tensor<3xi64>) -> tensor<12x5x4xf32>
  %7 = onnx.MatMul %6, %2 {transB} : (tensor<12x5x4xf32>, tensor<12x7x4xf32>) -> tensor<12x5x7xf32>
  %8 = onnx.Reshape %7, %four : (tensor<12x5x7xf32>, tensor<4xi64>) -> tensor<2x6x5x7xf32>
  %9 = onnx.Where %mask, %8, %least : (tensor<2x1x5x7xi1>, tensor<2x6x5x7xf32>, tensor<f32>) -> tensor<2x6x5x7xf32>
  %10 = onnx.Softmax %9 : (tensor<2x6x5x7xf32>) -> tensor<2x6x5x7xf32>
  %11 = onnx.IsNaN %10 : (tensor<2x6x5x7xf32>) -> tensor<2x6x5x7xi1>
  %12 = onnx.Where %11, %zero, %10 : (tensor<2x6x5x7xi1>, tensor<f32>, tensor<2x6x5x7xf32>) -> tensor<2x6x5x7xf32>
  %13 = onnx.Reshape %12, %three : (tensor<2x6x5x7xf32>, tensor<3xi64>) -> tensor<12x5x7xf32>
  %14 = onnx.MatMul %13, %5 : (tensor<12x5x7xf32>, tensor<12x7x4xf32>) -> tensor<12x5x4xf32>
  %15 = onnx.Reshape %14, %out : (tensor<12x5x4xf32>, tensor<4xi64>) -> tensor<2x6x5x4xf32>
  return %15 : tensor<2x6x5x4xf32>
}

// -----

// K kept as [width, keys] in a cache: read as it is. A softcap, and what ONNX's Attention does with rows without a key.
// CHECK-LABEL: @keysSideBySide
// CHECK: onnx.Attend %arg0, %arg1, %arg2
// CHECK-SAME: empty = "zero"
// CHECK-SAME: walkK = #onnx.strided<<0>, <28, 1, 7>>
// CHECK: onnx.Tanh
// CHECK: onnx.Score
func.func @keysSideBySide(%q: tensor<2x5x4xf32>, %k: tensor<2x4x7xf32>, %v: tensor<2x7x4xf32>) -> tensor<2x5x4xf32> {
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %none = onnx.Constant dense<0xFF800000> : tensor<f32>
  %0 = onnx.MatMul %q, %k : (tensor<2x5x4xf32>, tensor<2x4x7xf32>) -> tensor<2x5x7xf32>
  %1 = onnx.Tanh %0 : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %2 = onnx.Softmax %1 {axis = 2 : i64} : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %3 = onnx.Reduce %1 {axes = array<i64: 2>, keepdims, kind = "Max"} : (tensor<2x5x7xf32>) -> tensor<2x5x1xf32>
  %4 = onnx.Equal %3, %none : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5x1xi1>
  %5 = onnx.Where %4, %zero, %2 : (tensor<2x5x1xi1>, tensor<f32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %6 = onnx.MatMul %5, %v : (tensor<2x5x7xf32>, tensor<2x7x4xf32>) -> tensor<2x5x4xf32>
  return %6 : tensor<2x5x4xf32>
}

// -----

// The weights are a result.
// CHECK-LABEL: @weightsUsed
// CHECK-NOT: onnx.Attend
func.func @weightsUsed(%q: tensor<5x4xf32>, %k: tensor<7x4xf32>, %v: tensor<7x4xf32>) -> (tensor<5x4xf32>, tensor<5x7xf32>) {
  %0 = onnx.MatMul %q, %k {transB} : (tensor<5x4xf32>, tensor<7x4xf32>) -> tensor<5x7xf32>
  %1 = onnx.Softmax %0 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = onnx.MatMul %1, %v : (tensor<5x7xf32>, tensor<7x4xf32>) -> tensor<5x4xf32>
  return %2, %1 : tensor<5x4xf32>, tensor<5x7xf32>
}

// -----

// So are the scores before the mask.
// CHECK-LABEL: @scoresUsed
// CHECK-NOT: onnx.Attend
func.func @scoresUsed(%q: tensor<5x4xf32>, %k: tensor<7x4xf32>, %v: tensor<7x4xf32>, %mask: tensor<5x7xf32>) -> (tensor<5x4xf32>, tensor<5x7xf32>) {
  %0 = onnx.MatMul %q, %k {transB} : (tensor<5x4xf32>, tensor<7x4xf32>) -> tensor<5x7xf32>
  %1 = onnx.Add %0, %mask : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = onnx.Softmax %1 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %3 = onnx.MatMul %2, %v : (tensor<5x7xf32>, tensor<7x4xf32>) -> tensor<5x4xf32>
  return %3, %0 : tensor<5x4xf32>, tensor<5x7xf32>
}

// -----

// A softmax along the queries.
// CHECK-LABEL: @otherAxis
// CHECK-NOT: onnx.Attend
func.func @otherAxis(%q: tensor<5x4xf32>, %k: tensor<7x4xf32>, %v: tensor<7x4xf32>) -> tensor<5x4xf32> {
  %0 = onnx.MatMul %q, %k {transB} : (tensor<5x4xf32>, tensor<7x4xf32>) -> tensor<5x7xf32>
  %1 = onnx.Softmax %0 {axis = 0 : i64} : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = onnx.MatMul %1, %v : (tensor<5x7xf32>, tensor<7x4xf32>) -> tensor<5x4xf32>
  return %2 : tensor<5x4xf32>
}

// -----

// Weights that are the right operand.
// CHECK-LABEL: @weightsRight
// CHECK-NOT: onnx.Attend
func.func @weightsRight(%q: tensor<5x4xf32>, %k: tensor<7x4xf32>, %v: tensor<4x5xf32>) -> tensor<4x7xf32> {
  %0 = onnx.MatMul %q, %k {transB} : (tensor<5x4xf32>, tensor<7x4xf32>) -> tensor<5x7xf32>
  %1 = onnx.Softmax %0 : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = onnx.MatMul %v, %1 : (tensor<4x5xf32>, tensor<5x7xf32>) -> tensor<4x7xf32>
  return %2 : tensor<4x7xf32>
}

// -----

// What stands between product and softmax moves elements.
// CHECK-LABEL: @shifted
// CHECK-NOT: onnx.Attend
func.func @shifted(%q: tensor<2x5x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x4xf32>) -> tensor<2x5x4xf32> {
  %0 = onnx.MatMul %q, %k {transB} : (tensor<2x5x4xf32>, tensor<2x5x4xf32>) -> tensor<2x5x5xf32>
  %1 = onnx.Transpose %0 {perm = array<i64: 1, 0, 2>} : (tensor<2x5x5xf32>) -> tensor<5x2x5xf32>
  %2 = onnx.Softmax %1 : (tensor<5x2x5xf32>) -> tensor<5x2x5xf32>
  %3 = onnx.Transpose %2 {perm = array<i64: 1, 0, 2>} : (tensor<5x2x5xf32>) -> tensor<2x5x5xf32>
  %4 = onnx.MatMul %3, %v : (tensor<2x5x5xf32>, tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %4 : tensor<2x5x4xf32>
}

// -----

// Double precision.
// CHECK-LABEL: @doubles
// CHECK-NOT: onnx.Attend
func.func @doubles(%q: tensor<5x4xf64>, %k: tensor<7x4xf64>, %v: tensor<7x4xf64>) -> tensor<5x4xf64> {
  %0 = onnx.MatMul %q, %k {transB} : (tensor<5x4xf64>, tensor<7x4xf64>) -> tensor<5x7xf64>
  %1 = onnx.Softmax %0 : (tensor<5x7xf64>) -> tensor<5x7xf64>
  %2 = onnx.MatMul %1, %v : (tensor<5x7xf64>, tensor<7x4xf64>) -> tensor<5x4xf64>
  return %2 : tensor<5x4xf64>
}

// -----

// A product of float32 between casts in a model of float16: the result is of the values' type.
// CHECK-LABEL: @mixed
// CHECK: onnx.Attend {{.*}} : (tensor<5x4xf32>, tensor<7x4xf32>, tensor<7x4xf16>) -> tensor<5x4xf16>
func.func @mixed(%q: tensor<5x4xf32>, %k: tensor<7x4xf32>, %v: tensor<7x4xf16>) -> tensor<5x4xf16> {
  %0 = onnx.MatMul %q, %k {transB} : (tensor<5x4xf32>, tensor<7x4xf32>) -> tensor<5x7xf32>
  %1 = onnx.Cast %0 {to = 10 : i64} : (tensor<5x7xf32>) -> tensor<5x7xf16>
  %2 = onnx.Softmax %1 : (tensor<5x7xf16>) -> tensor<5x7xf16>
  %3 = onnx.MatMul %2, %v : (tensor<5x7xf16>, tensor<7x4xf16>) -> tensor<5x4xf16>
  return %3 : tensor<5x4xf16>
}

// -----

// A cache with room: keys behind the last one of a sentence are out, which the mask says by their numbers, and Attend too. Both conditions of @window have to hold,
// so that the last key is that of either.
// CHECK-LABEL: @cache
// CHECK: onnx.Attend %arg0, %arg1, %arg2, %{{.*}}, %arg3
// CHECK: ^bb0(%{{.*}}, %{{.*}}: tensor<2x1x1x9xf32>, %[[LAST:.*]]: tensor<2x1x1x1xi64>):
// CHECK: onnx.Score %{{.*}} to %[[LAST]] : tensor<2x1x1x1xi64> : tensor<2x3x1x9xf32>
func.func @cache(%q: tensor<2x3x1x4xf32>, %k: tensor<2x3x9x4xf32>, %v: tensor<2x3x9x4xf32>, %place: tensor<2x1x1x1xi64>) -> tensor<2x3x1x4xf32> {
  %keys = onnx.Constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8]> : tensor<9xi64>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %none = onnx.Constant dense<0xFF800000> : tensor<f32>
  %0 = onnx.LessOrEqual %keys, %place : (tensor<9xi64>, tensor<2x1x1x1xi64>) -> tensor<2x1x1x9xi1>
  %1 = onnx.Where %0, %zero, %none : (tensor<2x1x1x9xi1>, tensor<f32>, tensor<f32>) -> tensor<2x1x1x9xf32>
  %2 = onnx.MatMul %q, %k {transB} : (tensor<2x3x1x4xf32>, tensor<2x3x9x4xf32>) -> tensor<2x3x1x9xf32>
  %3 = onnx.Add %2, %1 : (tensor<2x3x1x9xf32>, tensor<2x1x1x9xf32>) -> tensor<2x3x1x9xf32>
  %4 = onnx.Softmax %3 : (tensor<2x3x1x9xf32>) -> tensor<2x3x1x9xf32>
  %5 = onnx.MatMul %4, %v : (tensor<2x3x1x9xf32>, tensor<2x3x9x4xf32>) -> tensor<2x3x1x4xf32>
  return %5 : tensor<2x3x1x4xf32>
}

// -----

// CHECK-LABEL: @window
// CHECK: %[[LESS:.*]] = onnx.Constant dense<-1> : tensor<i64>
// CHECK: %[[LAST:.*]] = onnx.Add %arg3, %[[LESS]]
// CHECK: onnx.Attend %arg0, %arg1, %arg2, %{{.*}}, %[[LAST]]
// CHECK: onnx.Where
// CHECK: onnx.Score %{{.*}} to %{{.*}} : tensor<1x1xi64>
func.func @window(%q: tensor<5x4xf32>, %k: tensor<9x4xf32>, %v: tensor<9x4xf32>, %length: tensor<1x1xi64>, %first: tensor<5x1xi64>) -> tensor<5x4xf32> {
  %keys = onnx.Constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8]> : tensor<9xi64>
  %none = onnx.Constant dense<0xFF800000> : tensor<f32>
  %0 = onnx.LessOrEqual %keys, %first : (tensor<9xi64>, tensor<5x1xi64>) -> tensor<5x9xi1>
  %1 = onnx.Greater %length, %keys : (tensor<1x1xi64>, tensor<9xi64>) -> tensor<1x9xi1>
  %2 = onnx.Not %1 : (tensor<1x9xi1>) -> tensor<1x9xi1>
  %3 = onnx.Or %0, %2 : (tensor<5x9xi1>, tensor<1x9xi1>) -> tensor<5x9xi1>
  %4 = onnx.MatMul %q, %k {transB} : (tensor<5x4xf32>, tensor<9x4xf32>) -> tensor<5x9xf32>
  %5 = onnx.Where %3, %none, %4 : (tensor<5x9xi1>, tensor<f32>, tensor<5x9xf32>) -> tensor<5x9xf32>
  %6 = onnx.Softmax %5 : (tensor<5x9xf32>) -> tensor<5x9xf32>
  %7 = onnx.MatMul %6, %v : (tensor<5x9xf32>, tensor<9x4xf32>) -> tensor<5x4xf32>
  return %7 : tensor<5x4xf32>
}

// -----

// No last key: the least finite number lets a query without any key look at all of them; numbers that do not count the keys; one key that stands for all; keys in
// front that are out.
// CHECK-LABEL: @looksAtAll
// CHECK-COUNT-4: onnx.Score %{{[0-9a-z_]*}} : tensor
func.func @looksAtAll(%q: tensor<1x4xf32>, %k: tensor<9x4xf32>, %v: tensor<9x4xf32>, %place: tensor<1x1xi64>) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %keys = onnx.Constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8]> : tensor<9xi64>
  %others = onnx.Constant dense<[0, 1, 2, 3, 4, 5, 6, 8, 7]> : tensor<9xi64>
  %one = onnx.Constant dense<[[0]]> : tensor<1x1xi64>
  %least = onnx.Constant dense<-3.40282347E+38> : tensor<f32>
  %none = onnx.Constant dense<0xFF800000> : tensor<f32>
  %0 = onnx.LessOrEqual %keys, %place : (tensor<9xi64>, tensor<1x1xi64>) -> tensor<1x9xi1>
  %1 = onnx.LessOrEqual %others, %place : (tensor<9xi64>, tensor<1x1xi64>) -> tensor<1x9xi1>
  %2 = onnx.LessOrEqual %one, %place : (tensor<1x1xi64>, tensor<1x1xi64>) -> tensor<1x1xi1>
  %3 = onnx.GreaterOrEqual %keys, %place : (tensor<9xi64>, tensor<1x1xi64>) -> tensor<1x9xi1>
  %a = onnx.MatMul %q, %k {transB} : (tensor<1x4xf32>, tensor<9x4xf32>) -> tensor<1x9xf32>
  %4 = onnx.Where %0, %a, %least : (tensor<1x9xi1>, tensor<1x9xf32>, tensor<f32>) -> tensor<1x9xf32>
  %5 = onnx.Softmax %4 : (tensor<1x9xf32>) -> tensor<1x9xf32>
  %6 = onnx.MatMul %5, %v : (tensor<1x9xf32>, tensor<9x4xf32>) -> tensor<1x4xf32>
  %b = onnx.MatMul %q, %k {transB} : (tensor<1x4xf32>, tensor<9x4xf32>) -> tensor<1x9xf32>
  %7 = onnx.Where %1, %b, %none : (tensor<1x9xi1>, tensor<1x9xf32>, tensor<f32>) -> tensor<1x9xf32>
  %8 = onnx.Softmax %7 : (tensor<1x9xf32>) -> tensor<1x9xf32>
  %9 = onnx.MatMul %8, %v : (tensor<1x9xf32>, tensor<9x4xf32>) -> tensor<1x4xf32>
  %c = onnx.MatMul %q, %k {transB} : (tensor<1x4xf32>, tensor<9x4xf32>) -> tensor<1x9xf32>
  %10 = onnx.Where %2, %c, %none : (tensor<1x1xi1>, tensor<1x9xf32>, tensor<f32>) -> tensor<1x9xf32>
  %11 = onnx.Softmax %10 : (tensor<1x9xf32>) -> tensor<1x9xf32>
  %12 = onnx.MatMul %11, %v : (tensor<1x9xf32>, tensor<9x4xf32>) -> tensor<1x4xf32>
  %d = onnx.MatMul %q, %k {transB} : (tensor<1x4xf32>, tensor<9x4xf32>) -> tensor<1x9xf32>
  %13 = onnx.Where %3, %d, %none : (tensor<1x9xi1>, tensor<1x9xf32>, tensor<f32>) -> tensor<1x9xf32>
  %14 = onnx.Softmax %13 : (tensor<1x9xf32>) -> tensor<1x9xf32>
  %15 = onnx.MatMul %14, %v : (tensor<1x9xf32>, tensor<9x4xf32>) -> tensor<1x4xf32>
  return %6, %9, %12, %15 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}
