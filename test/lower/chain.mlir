// A chain goes over the image in strips: each link makes the rows that are not in its ring yet, of padding too.
// RUN: %ingot-opt --partition-form-kernels=target=znver5 --layout-assign=target=znver5 --layout-form-chains=target=znver5 --lower-kernels=target=znver5 %s | FileCheck %s

// CHECK: plan.launch @chain
// CHECK-SAME: items = #onnx.size<8>, plan.choice = "chain of 3 kernels by rows: {{[0-9.]+ [kM]}} cycles; apart {{[0-9.]+ [kM]}}: {{.*}}", plan.macs = #onnx.size<25740288>

// One function for the three; its scratch memory is the rings of all work items.
// CHECK-LABEL: func.func private @chain
// CHECK-SAME: memref<[[BYTES:[0-9]+]]xi8> {llvm.noalias}, %{{arg[0-9]+}}: index, %{{arg[0-9]+}}: index)

// The rings: four rows of 58 pixels for the depthwise convolution, two of 56 for the one behind it.
// CHECK: memref.view %{{.*}} : memref<[[BYTES]]xi8> to memref<[[EXPANDED:33552]]xf32>
// CHECK: memref.view %{{.*}} : memref<[[BYTES]]xi8> to memref<[[WEIGHED:16272]]xf32>

// The first strip of a run begins with all rows that it reads; each other one goes on behind what has been made.
// CHECK: %[[UNIT:.*]] = arith.divui
// CHECK: scf.for %[[STRIP:.*]] = %[[UNIT]] to
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[STRIP]], %[[UNIT]]
// CHECK: %[[STARTS:.*]]:3 = scf.if %{{.*}} -> (index, index, index)

// A row of padding, then rows of the image, whose places in the ring are remainders.
// CHECK: arith.minsi
// CHECK: vector.store %{{.*}} : memref<[[EXPANDED]]xf32>
// CHECK: vector.fma
// CHECK: arith.remui
// CHECK: vector.store %{{.*}} : memref<[[EXPANDED]]xf32>
// The depthwise convolution reads them so.
// CHECK: arith.remui
// CHECK: vector.load %{{.*}} : memref<[[EXPANDED]]xf32>
// CHECK: vector.store %{{.*}} : memref<[[WEIGHED]]xf32>
// The last link writes the result where it is.
// CHECK: memref.load %{{.*}} : memref<[[WEIGHED]]xf32>
// CHECK: vector.store %{{.*}} : memref<100352xf32>
// CHECK: return

func.func @inverted(%x: tensor<1x24x56x56xf32>) -> tensor<1x24x56x56xf32> {
  %none = onnx.None : none
  %u = onnx.Constant dense<0.5> : tensor<144x24x1x1xf32>
  %v = onnx.Constant dense<0.5> : tensor<144x1x3x3xf32>
  %w = onnx.Constant dense<0.5> : tensor<24x144x1x1xf32>
  %0 = onnx.Conv %x, %u, %none : (tensor<1x24x56x56xf32>, tensor<144x24x1x1xf32>, none) -> tensor<1x144x56x56xf32>
  %1 = onnx.Relu %0 : (tensor<1x144x56x56xf32>) -> tensor<1x144x56x56xf32>
  %2 = onnx.Conv %1, %v, %none {group = 144 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x144x56x56xf32>, tensor<144x1x3x3xf32>, none) -> tensor<1x144x56x56xf32>
  %3 = onnx.Conv %2, %w, %none : (tensor<1x144x56x56xf32>, tensor<24x144x1x1xf32>, none) -> tensor<1x24x56x56xf32>
  return %3 : tensor<1x24x56x56xf32>
}
