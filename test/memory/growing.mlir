// Values that loops make longer: only what is new is written, behind what is there, whoever gives the memory.
// RUN: %ingot-opt --graph-simplify --graph-find-sizes=allocate=false --graph-find-sizes --graph-require-sizes --partition-form-kernels=target=x86-64-v2 --layout-assign=target=x86-64-v2 --lower-kernels=target=x86-64-v2 --memory-plan --split-input-file %s > %t
// RUN: FileCheck %s < %t
// RUN: %ingot-opt --split-input-file %t | diff %t -

// One launch, in the loop's own place, which has room for the longest.
// CHECK-LABEL: func.func @bounded
// CHECK-SAME: %[[W:[^:(]*]]: !plan.buffer<tensor<2x4xf32>>, %[[Y:[^:(]*]]: !plan.buffer<tensor<11x4xf32>> {plan.output}
// CHECK: plan.copy {{.*}} to %[[Y]]
// CHECK-NEXT: plan.loop {{.*}} attributes {onnx.grows = {{\[}}[#onnx.symbol<"[[N:[^"]*]]">, {{.*}}, #onnx.sizes<1, "2+[[N]]">]]} {
// CHECK-NEXT: %[[PRESENT:.*]] = plan.buffer %[[Y]] at <0>
// CHECK-NEXT: %[[NEXT:.*]] = plan.buffer %[[Y]] at <0>
// CHECK-NEXT: plan.launch {{.*}}(%[[PRESENT]], %[[W]]) into(%[[NEXT]])
// CHECK-NEXT: plan.grow
// CHECK-NEXT: plan.next
func.func @bounded(%x: tensor<1x4xf32>, %w: tensor<2x4xf32>) -> tensor<?x4xf32> {
  %n = onnx.Constant dense<5> : tensor<i64>
  %true = onnx.Constant dense<true> : tensor<i1>
  %none = onnx.None : none
  %y = "onnx.Loop"(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<?x4xf32>):
    %0 = onnx.Concat %a, %w {axis = 0 : i64} : (tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x4xf32>
    onnx.Yield %true, %0 : tensor<i1>, tensor<?x4xf32>
  }) : (tensor<i64>, none, tensor<1x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// How often it turns is data: before each iteration there must be room for its result.
// CHECK-LABEL: func.func @unbounded
// CHECK: %[[MEMORY:.*]] = plan.host_allocation 0 output 0
// CHECK: plan.need <16> in %[[MEMORY]] keeping <0>
// CHECK: plan.loop
// CHECK-NEXT: plan.need <"32+16*[[K:[^"]*]]"> in %[[MEMORY]] keeping <"16*[[K]]">
// CHECK-NEXT: %[[PRESENT:.*]] = plan.buffer %[[MEMORY]] at <0>
// CHECK-NEXT: %[[NEXT:.*]] = plan.buffer %[[MEMORY]] at <0>
// CHECK-NEXT: plan.launch {{.*}}(%[[PRESENT]], {{.*}}) into(%[[NEXT]])
func.func @unbounded(%n: tensor<i64>, %x: tensor<1x4xf32>, %w: tensor<2x4xf32>) -> tensor<?x4xf32> {
  %true = onnx.Constant dense<true> : tensor<i1>
  %none = onnx.None : none
  %y = "onnx.Loop"(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<?x4xf32>):
    %0 = onnx.Concat %a, %w {axis = 0 : i64} : (tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x4xf32>
    onnx.Yield %true, %0 : tensor<i1>, tensor<?x4xf32>
  }) : (tensor<i64>, none, tensor<1x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// What is new is found by the iteration: there is room for the most that it can be.
// CHECK-LABEL: func.func @found
// CHECK-SAME: %[[Y:[^:(]*]]: !plan.buffer<tensor<1x?xi64, {{[^%]*}} {plan.output}
// CHECK: plan.loop
// CHECK: plan.launch @nonzero
// CHECK: %[[NEXT:.*]] = plan.buffer %[[Y]] at <0>
// CHECK-NEXT: plan.launch {{.*}} into(%[[NEXT]])
func.func @found(%x: tensor<1x1xi64>, %w: tensor<4xf32>) -> tensor<1x?xi64> {
  %n = onnx.Constant dense<5> : tensor<i64>
  %true = onnx.Constant dense<true> : tensor<i1>
  %none = onnx.None : none
  %y = "onnx.Loop"(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<1x?xi64>):
    %0:2 = onnx.NonZero %w : (tensor<4xf32>) -> (tensor<1x?xi64>, tensor<i64>)
    %1 = onnx.Concat %a, %0#0 {axis = 1 : i64} : (tensor<1x?xi64>, tensor<1x?xi64>) -> tensor<1x?xi64>
    onnx.Yield %true, %1 : tensor<i1>, tensor<1x?xi64>
  }) : (tensor<i64>, none, tensor<1x1xi64>) -> tensor<1x?xi64>
  return %y : tensor<1x?xi64>
}

// -----

// What comes first is not what was there: a buffer of its own, copied at the end.
// CHECK-LABEL: func.func @before
// CHECK: %[[MEMORY:.*]] = plan.host_allocation 0 output 0
// CHECK: %[[OWN:.*]] = plan.host_allocation 1
// CHECK: plan.need <16> in %[[MEMORY]] keeping <0>
// CHECK: plan.loop
// CHECK: plan.need <"32+16*[[K:[^"]*]]"> in %[[OWN]] keeping <0>
// CHECK: %[[NEXT:.*]] = plan.buffer %[[OWN]] at <0> : !plan.memory -> <tensor<?x4xf32
// CHECK-NEXT: plan.grow
// CHECK-NEXT: plan.need <"32+16*[[K]]"> in %[[MEMORY]] keeping <0>
// CHECK-NEXT: plan.copy %[[NEXT]] to
// CHECK: plan.release %[[OWN]]
func.func @before(%n: tensor<i64>, %x: tensor<1x4xf32>, %w: tensor<2x4xf32>) -> tensor<?x4xf32> {
  %true = onnx.Constant dense<true> : tensor<i1>
  %none = onnx.None : none
  %y = "onnx.Loop"(%n, %none, %x) ({
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: tensor<?x4xf32>):
    %0 = onnx.Concat %w, %a {axis = 0 : i64} : (tensor<2x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    onnx.Yield %true, %0 : tensor<i1>, tensor<?x4xf32>
  }) : (tensor<i64>, none, tensor<1x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
