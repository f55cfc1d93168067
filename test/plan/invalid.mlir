// Malformed plans are errors, whatever pass would read them.
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{a halo has two numbers for each spatial axis, none of them negative}}
func.func @halo(%x: tensor<1x8x4x4xf32, #plan.blocked<8, halo = [1, -1]>>)

// -----

// expected-error@+1 {{2 numbers of a halo for 2 spatial axes}}
func.func @halos(%x: tensor<1x8x4x4xf32, #plan.blocked<8, halo = [1, 1]>>)

// -----

// expected-error@+1 {{1 blocks of 8 have no room for 16 channels}}
func.func @blocks(%x: tensor<1x16x4x4xf32, #plan.blocked<8, blocks = 1>>)

// -----

// expected-error@+1 {{only a tensor of two axes or more, the second of which is a number, has channel blocks}}
func.func @channels(%x: tensor<1x?x4xf32, #plan.blocked<8, sizes = <1, "c", 4>>>)

// -----

func.func @view(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{needs an offset that is a known size and not negative}}
  %y = plan.view %x at <-4> : tensor<8xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @weight() -> tensor<4xf32> {
  // expected-error@+1 {{needs an offset that is not negative}}
  %y = plan.weight at -64 : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @join(%x: tensor<8xf32>, %y: tensor<8xi64>) -> tensor<16xf32> {
  // expected-error@+1 {{needs one part or more, of the result's rank and element type}}
  %z = plan.join %x, %y : (tensor<8xf32>, tensor<8xi64>) -> tensor<16xf32>
  return %z : tensor<16xf32>
}

// -----

func.func @reorder(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x5xf32> {
  // expected-error@+1 {{needs a result of the operand's shape and element type}}
  %y = plan.reorder %x : tensor<1x8x4x4xf32> -> tensor<1x8x4x5xf32>
  return %y : tensor<1x8x4x5xf32>
}

// -----

func.func @kernel(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{has 1 operands and 1 results, but its body 2 and 1}}
  %y = "plan.kernel"(%x) <{target = "x86-64-v3"}> ({
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    plan.yield %a : tensor<8xf32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @symbols(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{has an argument among its symbols that is none}}
  %y = plan.launch @f(%x) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>, symbols = #onnx.sizes<"1+n">} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @items(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{needs items and scratch bytes that are known sizes and not negative}}
  %y = plan.launch @f(%x) {items = #onnx.size<?>, scratchBytes = #onnx.size<0>} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @places(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{attribute 'plan.places' must be an array with a #plan.place for each result}}
  %y = plan.launch @f(%x) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>, plan.places = []} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @inPlace(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{attribute 'plan.in_place' must be numbers of a launch's operands}}
  %y = plan.launch @f(%x) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>, plan.in_place = array<i64: 1>} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// expected-error@+1 {{attribute 'plan.buffers' must be an array of [bytes, numbers of buffers before it]}}
func.func @buffers() attributes {plan.buffers = [[#onnx.size<64>, array<i64: 0>]]} {
  return
}

// -----

// expected-error@+1 {{needs one lane or more, and no negative number of blocks}}
func.func @lanes(%x: tensor<1x8x4x4xf32, #plan.blocked<0>>)

// -----

func.func @noOutput(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{the number of an output, a buffer or a memory that is asked for is -1 where there is none}}
  %y = plan.launch @f(%x) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>, plan.places = [#plan.place<-2, -1, <0>>]} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @beforeTheStart(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{the offset must be a known size that is not negative}}
  %y = plan.launch @f(%x) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>, plan.places = [#plan.place<-1, -1, <-64>>]} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// expected-error@+1 {{needs the number of a memory, and 'before', 'turn' or 'end'}}
func.func @never() attributes {plan.asks = [#plan.ask<0, "never", <0>, <64>>]} {
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{needs tensors of known rank}}
  %y = plan.view %x at <0> : tensor<*xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @findsNothing(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{finds a size that is no found symbol, or has no result to leave it in}}
  %y = plan.launch @f(%x) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>, found = #onnx.symbol<"n">} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
