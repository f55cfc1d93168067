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

func.func @bundleOfOne(%x: tensor<8xf32>) -> tensor<64xi8> {
  // expected-error@+1 {{needs two parts or more, of known sizes}}
  %y = plan.bundle %x : (tensor<8xf32>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}

// -----

func.func @bundleOfView(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<128xi8> {
  %v = plan.view %x at <16> : tensor<8xf32> -> tensor<4xf32>
  // expected-error@+1 {{has a part that has to lie elsewhere}}
  %z = plan.bundle %v, %y : (tensor<4xf32>, tensor<8xf32>) -> tensor<128xi8>
  return %z : tensor<128xi8>
}

// -----

func.func @bundles(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<128xi8>, tensor<128xi8>) {
  // expected-error@+1 {{has a part that has to lie elsewhere}}
  %z = plan.bundle %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<128xi8>
  %v = plan.bundle %y, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<128xi8>
  return %z, %v : tensor<128xi8>, tensor<128xi8>
}

// -----

func.func @bundleTooSmall(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<64xi8> {
  // expected-error@+1 {{needs a result of as many bytes as its parts take}}
  %z = plan.bundle %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<64xi8>
  return %z : tensor<64xi8>
}

// -----

func.func @stageOnDevice(%x: tensor<8xf32>) -> tensor<8xf32> attributes {plan.devices = ["d"]} {
  %y = plan.transfer %x on 1 : tensor<8xf32> -> tensor<8xf32>
  // expected-error@+1 {{needs a value in the host's memory}}
  %z = plan.stage %y : tensor<8xf32>
  return %z : tensor<8xf32>
}

// -----

func.func @copyOfAnother(%x: !plan.buffer<tensor<8xf32>>, %y: !plan.buffer<tensor<8xi32>, 1>) {
  // expected-error@+1 {{makes another tensor of what crosses}}
  plan.copy %x to %y : <tensor<8xf32>> to <tensor<8xi32>, 1>
  plan.return
}

// -----

func.func @reorder(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x5xf32> {
  // expected-error@+1 {{needs a result of the operand's shape and element type}}
  %y = plan.reorder %x : tensor<1x8x4x4xf32> -> tensor<1x8x4x5xf32>
  return %y : tensor<1x8x4x5xf32>
}

// -----

func.func @reorder_lanes(%x: tensor<1x8x4x4xf32, #plan.blocked<4>>) -> tensor<1x8x4x4xf32, #plan.blocked<8>> {
  // expected-error@+1 {{is not between blocks of different lanes}}
  %y = plan.reorder %x : tensor<1x8x4x4xf32, #plan.blocked<4>> -> tensor<1x8x4x4xf32, #plan.blocked<8>>
  return %y : tensor<1x8x4x4xf32, #plan.blocked<8>>
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

func.func @inPlace(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{attribute 'plan.in_place' must be numbers of a launch's operands}}
  %y = plan.launch @f(%x) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>, plan.in_place = array<i64: 1>} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// expected-error@+1 {{needs one lane or more, and no negative number of blocks}}
func.func @lanes(%x: tensor<1x8x4x4xf32, #plan.blocked<0>>)

// -----

func.func @unranked(%x: tensor<*xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{needs tensors of known rank}}
  %y = plan.view %x at <0> : tensor<*xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @findsNothing(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{finds a size that is no data-dependent symbol, or has no result to leave it in}}
  %y = plan.launch @f(%x) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>, dataDependentSize = #onnx.symbol<"n">} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @twoForms(%x: tensor<8xf32>, %y: !plan.buffer<tensor<8xf32>>) {
  // expected-error@+1 {{mixes tensors and buffers}}
  plan.launch @f(%x) into(%y) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>} : (tensor<8xf32>) -> () into !plan.buffer<tensor<8xf32>>
  plan.return
}

// -----

func.func @noScratch(%x: !plan.buffer<tensor<8xf32>>) {
  // expected-error@+1 {{needs a buffer for its scratch bytes, and none if there are none}}
  plan.launch @f(%x) into(%x) {items = #onnx.size<1>, scratchBytes = #onnx.size<64>} : (!plan.buffer<tensor<8xf32>>) -> () into !plan.buffer<tensor<8xf32>>
  plan.return
}

// -----

func.func @slot() {
  // expected-error@+1 {{needs bytes that are a known size; one with a place has a number of them, and lies above nothing}}
  %0 = plan.slot "a" of <"64*n"> at 0
  plan.return
}

// -----

func.func @above(%x: !plan.memory) {
  // expected-error@+1 {{lies above what is no slot}}
  %0 = plan.slot "a" of <"64*n"> above(%x : !plan.memory)
  plan.return
}

// -----

func.func @beforeTheStart() {
  %0 = plan.slot "a" of <64> at 0
  // expected-error@+1 {{needs an offset that is a known size and not negative}}
  %1 = plan.buffer %0 at <-64> : !plan.memory -> <tensor<8xf32>>
  plan.return
}

// -----

func.func @notAsked() {
  %0 = plan.slot "a" of <64> at 0
  // expected-error@+1 {{needs a memory that the run asks for}}
  plan.need <64> in %0 keeping <0>
  plan.return
}

// -----

func.func @releasesSlot() {
  %0 = plan.slot "a" of <64> at 0
  // expected-error@+1 {{needs a memory that the run asks for}}
  plan.release %0
  plan.return
}

// -----

func.func @outputOnDevice() {
  // expected-error@+1 {{is an output, which is in the host's memory}}
  %0 = plan.host_allocation 0 output 0 on 1
  plan.return
}

// -----

func.func @keepsOnDevice() {
  %0 = plan.host_allocation 0 on 1
  plan.need <64> in %0 keeping <0> : !plan.memory<1>
  // expected-error@+1 {{keeps bytes in the memory of a device}}
  plan.need <128> in %0 keeping <64> : !plan.memory<1>
  plan.return
}

// -----

func.func @manyBytes(%x: !plan.buffer<tensor<?xf32>>, %y: !plan.buffer<tensor<?xf32>>) {
  // expected-error@+1 {{needs a buffer of known size}}
  plan.copy %x to %y : <tensor<?xf32>> to <tensor<?xf32>>
  plan.return
}

// -----

func.func @threeSizes() {
  // expected-error@+1 {{needs one or two known sizes}}
  plan.check <"n", "m", 3> of "node"
  plan.return
}

// -----

func.func @whichIteration() {
  // expected-error@+1 {{needs a symbol of an iteration}}
  plan.loop <"n"> {
    plan.next
  }
  plan.return
}

// -----

func.func @nextOfBranch(%c: i1) {
  plan.if %c {
    // expected-error@+1 {{expects parent op 'plan.loop'}}
    plan.next
  } else {
    plan.end
  }
  plan.return
}

// -----

func.func @both(%x: !plan.buffer<tensor<8xf32>>) {
  // expected-error@+1 {{has results and writes into buffers, which are two forms of it}}
  %y = plan.launch @f(%x) into(%x) {items = #onnx.size<1>, scratchBytes = #onnx.size<0>} : (!plan.buffer<tensor<8xf32>>) -> tensor<8xf32> into !plan.buffer<tensor<8xf32>>
  plan.return
}

// -----

func.func @launchElsewhere(%x: !plan.buffer<tensor<8xf32>>, %y: !plan.buffer<tensor<8xf32>, 1>) {
  // expected-error@+1 {{has an operand in the memory of another device}}
  plan.launch @f(%x) into(%y) on 1 {items = #onnx.size<1>, scratchBytes = #onnx.size<0>} : (!plan.buffer<tensor<8xf32>>) -> () into !plan.buffer<tensor<8xf32>, 1>
  plan.return
}

// -----

func.func @findsElsewhere(%x: tensor<8xf32>) -> tensor<i64> {
  // expected-error@+1 {{finds a size on a device, where the run cannot read it}}
  %y = plan.launch @f(%x) on 1 {items = #onnx.size<1>, scratchBytes = #onnx.size<0>, dataDependentSize = #onnx.symbol<"$0">} : (tensor<8xf32>) -> tensor<i64>
  return %y : tensor<i64>
}

// -----

func.func @bufferElsewhere() {
  %0 = plan.slot "a" of <64> on 1 at 0
  // expected-error@+1 {{lies in the memory of another device}}
  %1 = plan.buffer %0 at <0> : !plan.memory<1> -> <tensor<8xf32>>
  plan.return
}

// -----

func.func @aboveElsewhere() {
  %0 = plan.slot "a" of <"64*n"> on 1
  // expected-error@+1 {{lies above what is no slot of its memory}}
  %1 = plan.slot "b" of <"64*n"> above(%0 : !plan.memory<1>)
  plan.return
}

// -----

func.func @copyAcross(%x: !plan.buffer<tensor<8xf32>, 1>, %y: !plan.buffer<tensor<8xf32>, 2>) {
  // expected-error@+1 {{copies from one device to another, for which there is no way but over the host}}
  plan.copy %x to %y : <tensor<8xf32>, 1> to <tensor<8xf32>, 2>
  plan.return
}

// -----

func.func @readElsewhere(%x: !plan.buffer<tensor<i64>, 1>) {
  // expected-error@+1 {{needs a buffer in the host's memory}}
  %0 = plan.read %x : <tensor<i64>, 1> -> i64
  plan.return
}

// -----

func.func @waitForHost() {
  // expected-error@+1 {{waits for the host}}
  plan.wait on 0
  plan.return
}

// -----

func.func @transferChanges(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  // expected-error@+1 {{needs a result of the operand's type}}
  %0 = plan.transfer %x on 1 : tensor<8xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// expected-error@+1 {{attribute 'plan.devices' must be names of targets}}
func.func private @devices() attributes {plan.devices = [1]}

// -----

// expected-error@+1 {{attribute 'plan.object' must be a tensor of bytes}}
func.func private @piece() attributes {plan.object = dense<1> : tensor<4xi32>}

// -----

// expected-error@+1 {{attribute 'plan.error' must be an integer attribute of a launch}}
func.func private @piece() attributes {plan.error}

// -----

func.func @noSuchField(%exec: i64) {
  // expected-error@+1 {{'x' is no field of ingot_exec}}
  %0 = run.field "x" of %exec : i64 -> i64
  return
}

// -----

func.func private @kernel(memref<4xf32>, index, index)

func.func @wrongArguments(%y: memref<8xf32>, %items: index, %exec: i64) -> i32 {
  %yes = arith.constant true
  // expected-error@+1 {{'kernel' is no kernel of these arguments and a range}}
  %status = run.over_items @kernel(%y) over %items by %exec if %yes : (memref<8xf32>) -> i32, index, i64
  return %status : i32
}

// -----

func.func @fetchTwice(%x: !plan.buffer<tensor<64xi8>>) {
  // expected-error@+1 {{has a result or reads into a buffer, which are two forms of it}}
  %0 = plan.fetch "k" at 0 into %x : !plan.buffer<tensor<64xi8>> -> tensor<64xi8>
  plan.return
}

// -----

func.func @fetchFloats(%x: !plan.buffer<tensor<64xf32>>) {
  // expected-error@+1 {{reads a known number of bytes from a place that is not negative}}
  plan.fetch "k" at 0 into %x : !plan.buffer<tensor<64xf32>>
  plan.return
}
