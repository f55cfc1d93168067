// Products of x and a gate that have a name get it, whatever their order.
// RUN: %ingot-opt --fusion-fuse --split-input-file %s | FileCheck %s

// CHECK-LABEL: @gelu
// CHECK: %[[Y:.*]] = onnx.Gelu %arg0 :
// CHECK-NEXT: return %[[Y]]
func.func @gelu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %root2 = onnx.Constant dense<1.41421354> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %0 = onnx.Div %x, %root2 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = onnx.Erf %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = onnx.Add %1, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = onnx.Mul %half, %2 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = onnx.Mul %x, %3 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// -----

// The half of a GELU may have gone into the weights behind it: what is left is twice a GELU.
// CHECK-LABEL: @twiceGelu
// CHECK-DAG: %[[TWO:.*]] = onnx.Constant dense<2.000000e+00> : tensor<f32>
// CHECK-DAG: %[[Y:.*]] = onnx.Gelu %arg0 :
// CHECK: %[[Z:.*]] = onnx.Mul %[[Y]], %[[TWO]]
// CHECK-NEXT: return %[[Z]]
func.func @twiceGelu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %root2 = onnx.Constant dense<1.41421354> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %0 = onnx.Div %x, %root2 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = onnx.Erf %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = onnx.Add %1, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = onnx.Mul %x, %2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// -----

// CHECK-LABEL: @geluTanh
// CHECK: %[[Y:.*]] = onnx.Gelu %arg0 {approximate = "tanh"} :
// CHECK-NEXT: return %[[Y]]
func.func @geluTanh(%x: tensor<8xf32>) -> tensor<8xf32> {
  %three = onnx.Constant dense<3.0> : tensor<f32>
  %c = onnx.Constant dense<0.044715> : tensor<f32>
  %k = onnx.Constant dense<0.797884583> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %0 = onnx.Pow %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = onnx.Mul %c, %0 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = onnx.Add %x, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = onnx.Mul %k, %2 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = onnx.Tanh %3 : (tensor<8xf32>) -> tensor<8xf32>
  %5 = onnx.Add %one, %4 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %6 = onnx.Mul %half, %x : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %7 = onnx.Mul %6, %5 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %7 : tensor<8xf32>
}

// -----

// CHECK-LABEL: @hardSwish
// CHECK: %[[Y:.*]] = onnx.HardSwish %arg0 :
// CHECK-NEXT: return %[[Y]]
func.func @hardSwish(%x: tensor<8xf32>) -> tensor<8xf32> {
  %three = onnx.Constant dense<3.0> : tensor<f32>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %six = onnx.Constant dense<6.0> : tensor<f32>
  %0 = onnx.Add %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = onnx.Clip %0, %zero, %six : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  %2 = onnx.Mul %x, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = onnx.Div %2, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// -----

// The gate is of another value, the constant another one, or the gate is read by others.
// CHECK-LABEL: @negative
// CHECK-NOT: onnx.HardSwish
// CHECK: return
func.func @negative(%x: tensor<8xf32>, %z: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %three = onnx.Constant dense<3.0> : tensor<f32>
  %five = onnx.Constant dense<5.0> : tensor<f32>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %six = onnx.Constant dense<6.0> : tensor<f32>
  %0 = onnx.Add %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = onnx.Clip %0, %zero, %six : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  %2 = onnx.Mul %z, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = onnx.Div %2, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = onnx.Add %z, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %5 = onnx.Clip %4, %zero, %six : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  %6 = onnx.Mul %z, %5 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %7 = onnx.Div %6, %five : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %8 = onnx.Sigmoid %z : (tensor<8xf32>) -> tensor<8xf32>
  %9 = onnx.Add %8, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %10 = onnx.Clip %9, %zero, %six : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  %11 = onnx.Mul %8, %10 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %12 = onnx.Div %11, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %3, %7, %12, %10 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
