// Shapes are sizes: numbers, or expressions of the model's symbols, which shape arithmetic computes with.
// RUN: %ingot-opt --graph-simplify --split-input-file %s | FileCheck %s

// CHECK-LABEL: @shapeOfNumbers
// CHECK: onnx.Constant dense<[2, 3, 1]>
// CHECK: onnx.Constant dense<3> : tensor<1xi64>
// CHECK: onnx.Constant dense<6> : tensor<i64>
// CHECK-NOT: onnx.Shape
func.func @shapeOfNumbers(%x: tensor<2x3x1xf32>) -> (tensor<3xi64>, tensor<1xi64>, tensor<i64>) {
  %0 = onnx.Shape %x : (tensor<2x3x1xf32>) -> tensor<3xi64>
  %1 = onnx.Shape %x {start = 1 : i64, end = -1 : i64} : (tensor<2x3x1xf32>) -> tensor<1xi64>
  %2 = onnx.Size %x : (tensor<2x3x1xf32>) -> tensor<i64>
  return %0, %1, %2 : tensor<3xi64>, tensor<1xi64>, tensor<i64>
}

// -----

// What exporters write to split heads: Shape, Gather, Concat, Reshape.
// CHECK-LABEL: @splitHeads
// CHECK: %[[S:.*]] = onnx.Sizes <"batch", "seq", 12, -1> : tensor<4xi64>
// CHECK: onnx.Reshape %arg0, %[[S]] : {{.*}} -> tensor<?x?x12x64xf32, #onnx.sizes<"batch", "seq", 12, 64>>
func.func @splitHeads(%x: tensor<?x?x768xf32, #onnx.sizes<"batch", "seq", 768>>) -> tensor<*xf32> {
  %none = onnx.None : none
  %zero = onnx.Constant dense<0> : tensor<i64>
  %one = onnx.Constant dense<1> : tensor<i64>
  %axes = onnx.Constant dense<0> : tensor<1xi64>
  %rest = onnx.Constant dense<[12, -1]> : tensor<2xi64>
  %shape = onnx.Shape %x : (tensor<?x?x768xf32, #onnx.sizes<"batch", "seq", 768>>) -> tensor<?xi64>
  %b = onnx.Gather %shape, %zero : (tensor<?xi64>, tensor<i64>) -> tensor<*xi64>
  %s = onnx.Gather %shape, %one : (tensor<?xi64>, tensor<i64>) -> tensor<*xi64>
  %b1 = onnx.Unsqueeze %b, %axes : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %s1 = onnx.Unsqueeze %s, %axes : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %to = onnx.Concat %b1, %s1, %rest {axis = 0 : i64} : (tensor<*xi64>, tensor<*xi64>, tensor<2xi64>) -> tensor<*xi64>
  %y = onnx.Reshape %x, %to : (tensor<?x?x768xf32, #onnx.sizes<"batch", "seq", 768>>, tensor<*xi64>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// A cache grows; sizes in floats; a comparison that the symbols do not change.
// CHECK-LABEL: @arithmetic
// CHECK: onnx.Concat {{.*}} -> tensor<?x4xf32, #onnx.sizes<"past+seq", 4>>
// CHECK-DAG: onnx.Sizes <"div(1+seq,2)">
// CHECK-DAG: onnx.Constant dense<false>
func.func @arithmetic(%p: tensor<?x4xf32, #onnx.sizes<"past", 4>>, %x: tensor<?x4xf32, #onnx.sizes<"seq", 4>>) -> (tensor<*xf32>, tensor<*xi64>, tensor<*xi1>) {
  %none = onnx.None : none
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %two = onnx.Constant dense<2> : tensor<1xi64>
  %less = onnx.Constant dense<-1> : tensor<1xi64>
  %fone = onnx.Constant dense<1.0> : tensor<1xf32>
  %all = onnx.Concat %p, %x {axis = 0 : i64} : (tensor<?x4xf32, #onnx.sizes<"past", 4>>, tensor<?x4xf32, #onnx.sizes<"seq", 4>>) -> tensor<*xf32>
  %s = onnx.Shape %x {end = 1 : i64} : (tensor<?x4xf32, #onnx.sizes<"seq", 4>>) -> tensor<1xi64>
  %f = onnx.Cast %s {to = 1 : i64} : (tensor<1xi64>) -> tensor<1xf32>
  %g = onnx.Add %f, %fone : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %i = onnx.Cast %g {to = 7 : i64} : (tensor<1xf32>) -> tensor<1xi64>
  %half = onnx.Div %i, %two : (tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %never = onnx.Equal %s, %less : (tensor<1xi64>, tensor<1xi64>) -> tensor<*xi1>
  return %all, %half, %never : tensor<*xf32>, tensor<*xi64>, tensor<*xi1>
}

// -----

// What another element type makes of a size: nothing where it holds it whatever the run is.
// CHECK-LABEL: @casts
// CHECK: %[[N:.*]] = onnx.Sizes <"n"> : tensor<1xi64>
// CHECK-DAG: %[[BOOL:.*]] = onnx.Cast %[[N]] {to = 9 : i64}
// CHECK-DAG: %[[TRUE:.*]] = onnx.Constant dense<true>
// CHECK-DAG: %[[BYTE:.*]] = onnx.Cast %[[N]] {to = 3 : i64}
// CHECK-DAG: %[[BACK:.*]] = onnx.Cast %[[BYTE]] {to = 7 : i64}
// CHECK-DAG: %[[INT:.*]] = onnx.Sizes <"n"> : tensor<1xi32>
// CHECK-DAG: %[[FLAG:.*]] = onnx.Constant dense<1.000000e+00> : tensor<1xf32>
// CHECK: return %[[BOOL]], %[[TRUE]], %[[BACK]], %[[INT]], %[[FLAG]]
func.func @casts(%x: tensor<?xf32, #onnx.sizes<"n">>) -> (tensor<1xi1>, tensor<1xi1>, tensor<1xi64>, tensor<1xi32>, tensor<1xf32>) {
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %n = onnx.Shape %x : (tensor<?xf32, #onnx.sizes<"n">>) -> tensor<1xi64>
  %next = onnx.Add %n, %one : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %0 = onnx.Cast %n {to = 9 : i64} : (tensor<1xi64>) -> tensor<1xi1>
  %1 = onnx.Cast %next {to = 9 : i64} : (tensor<1xi64>) -> tensor<1xi1>
  %2 = onnx.Cast %n {to = 3 : i64} : (tensor<1xi64>) -> tensor<1xi8>
  %3 = onnx.Cast %2 {to = 7 : i64} : (tensor<1xi8>) -> tensor<1xi64>
  %4 = onnx.Cast %n {to = 6 : i64} : (tensor<1xi64>) -> tensor<1xi32>
  %5 = onnx.Cast %1 {to = 1 : i64} : (tensor<1xi1>) -> tensor<1xf32>
  return %0, %1, %3, %4, %5 : tensor<1xi1>, tensor<1xi1>, tensor<1xi64>, tensor<1xi32>, tensor<1xf32>
}

// -----

// Rows of a table up to the sequence, added to it: a bound on the sequence follows, and with it the rows are as many.
// CHECK-LABEL: @bound
// CHECK-SAME: onnx.facts = #onnx.sizes<"8-seq">
// CHECK: onnx.Slice {{.*}} -> tensor<?x4xf32, #onnx.sizes<"seq", 4>>
// CHECK: onnx.Add %arg0, {{.*}} -> tensor<?x4xf32, #onnx.sizes<"seq", 4>>
func.func @bound(%x: tensor<?x4xf32, #onnx.sizes<"seq", 4>>, %table: tensor<8x4xf32>) -> tensor<*xf32> {
  %none = onnx.None : none
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %s = onnx.Shape %x {end = 1 : i64} : (tensor<?x4xf32, #onnx.sizes<"seq", 4>>) -> tensor<1xi64>
  %rows = onnx.Slice %table, %zero, %s, %zero, %none : (tensor<8x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<*xf32>
  %y = onnx.Add %x, %rows : (tensor<?x4xf32, #onnx.sizes<"seq", 4>>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// What only a run can tell is required of it.
// CHECK-LABEL: @required
// CHECK: onnx.Concat {{.*}}onnx.requires = [#onnx.sizes<"a", "b">]
func.func @required(%x: tensor<?x1xf32, #onnx.sizes<"a", 1>>, %y: tensor<?x1xf32, #onnx.sizes<"b", 1>>) -> tensor<*xf32> {
  %z = onnx.Concat %x, %y {axis = 1 : i64} : (tensor<?x1xf32, #onnx.sizes<"a", 1>>, tensor<?x1xf32, #onnx.sizes<"b", 1>>) -> tensor<*xf32>
  return %z : tensor<*xf32>
}

// -----

// Axes that are broadcast are equal, or one of them is 1.
// CHECK-LABEL: @broadcast
// CHECK: onnx.Add {{.*}} {onnx.requires = [#onnx.sizes<"mismatch(a,b)", 0>]} :{{.*}} -> tensor<?xf32, #onnx.sizes<"broadcast(a,b)">>
// CHECK: onnx.Add %arg0, %{{[0-9]+}} : {{.*}} -> tensor<?xf32, #onnx.sizes<"broadcast(a,b)">>
// CHECK: onnx.Add {{.*}} {onnx.requires = [#onnx.sizes<"mismatch(7,a)", 0>]} :{{.*}} -> tensor<7xf32>
func.func @broadcast(%x: tensor<?xf32, #onnx.sizes<"a">>, %y: tensor<?xf32, #onnx.sizes<"b">>, %w: tensor<7xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %z = onnx.Add %x, %y : (tensor<?xf32, #onnx.sizes<"a">>, tensor<?xf32, #onnx.sizes<"b">>) -> tensor<*xf32>
  %u = onnx.Add %x, %z : (tensor<?xf32, #onnx.sizes<"a">>, tensor<*xf32>) -> tensor<*xf32>
  %v = onnx.Add %x, %w : (tensor<?xf32, #onnx.sizes<"a">>, tensor<7xf32>) -> tensor<*xf32>
  return %u, %v : tensor<*xf32>, tensor<*xf32>
}

// -----

// Where another op says that nothing is repeated, the sizes are simple, and the run is checked.
// CHECK-LABEL: @masked
// CHECK-SAME: onnx.checks = {{.*}}"broadcast(keys,mask)-keys"
// CHECK: onnx.Add {{.*}} -> tensor<4x?xf32, #onnx.sizes<4, "keys">>
// CHECK: onnx.MatMul
func.func @masked(%x: tensor<4x?xf32, #onnx.sizes<4, "keys">>, %mask: tensor<?xf32, #onnx.sizes<"mask">>, %v: tensor<?x8xf32, #onnx.sizes<"keys", 8>>) -> tensor<*xf32> {
  %s = onnx.Add %x, %mask : (tensor<4x?xf32, #onnx.sizes<4, "keys">>, tensor<?xf32, #onnx.sizes<"mask">>) -> tensor<*xf32>
  %y = onnx.MatMul %s, %v : (tensor<*xf32>, tensor<?x8xf32, #onnx.sizes<"keys", 8>>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// What is right for one size only has that size: the argument keeps its symbol, and the run is checked.
// CHECK-LABEL: @solved
// CHECK-SAME: %[[X:.*]]: tensor<?x6xf32, #onnx.sizes<"batch", 6>>
// CHECK-SAME: -> tensor<1x6xf32>
// CHECK-SAME: [#onnx.sizes<"batch", 1>, ""]
// CHECK: %[[ONE:.*]] = onnx.Reshape %[[X]], %{{.*}} -> tensor<1x6xf32>
// CHECK: onnx.Mul %{{.*}} : (tensor<1x6xf32>, tensor<6xf32>) -> tensor<1x6xf32>
func.func @solved(%x: tensor<?x6xf32, #onnx.sizes<"batch", 6>>) -> tensor<*xf32> {
  %all = onnx.Constant dense<-1> : tensor<1xi64>
  %flat = onnx.Reshape %x, %all : (tensor<?x6xf32, #onnx.sizes<"batch", 6>>, tensor<1xi64>) -> tensor<*xf32>
  %y = onnx.Mul %x, %flat : (tensor<?x6xf32, #onnx.sizes<"batch", 6>>, tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

// No number of rows makes 4 of them 6 columns, and several symbols have many solutions.
// CHECK-LABEL: @unsolved
// CHECK-SAME: [#onnx.sizes<"4*rows", 6>, ""]
// CHECK-NOT: onnx.Reshape %arg1
func.func @unsolved(%x: tensor<?x4xf32, #onnx.sizes<"rows", 4>>, %w: tensor<6xf32>, %p: tensor<?xf32, #onnx.sizes<"p">>, %q: tensor<?xf32, #onnx.sizes<"q">>) -> (tensor<*xf32>, tensor<*xf32>) {
  %all = onnx.Constant dense<-1> : tensor<1xi64>
  %flat = onnx.Reshape %x, %all : (tensor<?x4xf32, #onnx.sizes<"rows", 4>>, tensor<1xi64>) -> tensor<*xf32>
  %y = onnx.Mul %flat, %w : (tensor<*xf32>, tensor<6xf32>) -> tensor<*xf32>
  %z = onnx.Mul %p, %q : (tensor<?xf32, #onnx.sizes<"p">>, tensor<?xf32, #onnx.sizes<"q">>) -> tensor<*xf32>
  return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// -----

// What an op requires holds for all: sizes written down before are simpler with it, and one check says it.
// CHECK-LABEL: @learnedLater
// CHECK-SAME: onnx.checks = {{\[\[}}#onnx.sizes<"8-n">, "{{[^"]*}}"]]
// CHECK: onnx.Sizes <"n", 2, 2>
// CHECK-NOT: min(
func.func @learnedLater(%x: tensor<?x4xf32, #onnx.sizes<"n", 4>>, %table: tensor<8x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = onnx.None : none
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %halves = onnx.Constant dense<2> : tensor<2xi64>
  %n = onnx.Shape %x {end = 1 : i64} : (tensor<?x4xf32, #onnx.sizes<"n", 4>>) -> tensor<1xi64>
  %rows = onnx.Slice %table, %zero, %n, %zero, %none : (tensor<8x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<*xf32>
  %count = onnx.Shape %rows {end = 1 : i64} : (tensor<*xf32>) -> tensor<1xi64>
  %to = onnx.Concat %count, %halves {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
  %apart = onnx.Reshape %rows, %to : (tensor<*xf32>, tensor<3xi64>) -> tensor<*xf32>
  %sum = onnx.Add %x, %rows : (tensor<?x4xf32, #onnx.sizes<"n", 4>>, tensor<*xf32>) -> tensor<*xf32>
  return %apart, %sum : tensor<*xf32>, tensor<*xf32>
}
