// Vector ops that builders may use, on every level: masks, gathers, transposes, reductions, interleaving, transfers,
// narrow floats, rounding, division. Inputs/vector-ops.c knows the answers. What needs more than any host has is in
// vector-ops-3.test and vector-ops-4.test.
// RUN: rm -rf %t && mkdir %t && clang-22 -std=c99 -c -I%source/runtime_support/include %S/Inputs/vector-ops.c -o %t/main.o
// RUN: emit-model %s %t/v2 x86-64-v2 lib && clang-22 %t/main.o %t/v2/ops.a -lm -o %t/run2 && %t/run2

// C++ source has the same answers in each of its forms, by each compiler; of vectors with two dimensions it has moves only.
// RUN: sed 's/transpose %%sum/transpose %%m/' %s > %t/ops.mlir
// RUN: emit-model %t/ops.mlir %t/l portable cpp && emit-model %t/ops.mlir %t/s portable-128 cpp
// RUN: g++ -std=c++17 -O1 -Wall -Wextra -Werror -I%t/l -I%source/runtime_support/include -c %t/l/ops.cpp -o %t/lg.o && clang-22 %t/main.o %t/lg.o -lm -o %t/lg && %t/lg
// RUN: clang++-14 -std=c++17 -O1 -Wall -Wextra -Werror -I%t/l -I%source/runtime_support/include -c %t/l/ops.cpp -o %t/lc.o && clang-22 %t/main.o %t/lc.o -lm -o %t/lc && %t/lc
// RUN: clang++-22 -std=c++17 -O1 -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all -I%t/l -I%source/runtime_support/include -c %t/l/ops.cpp -o %t/ls.o
// RUN: clang++-22 -fsanitize=address,undefined %t/main.o %t/ls.o -lm -o %t/ls && %t/ls
// RUN: g++ -std=c++17 -O2 -Wall -Wextra -Werror -I%t/s -I%source/runtime_support/include -c %t/s/ops.cpp -o %t/sg.o && clang-22 %t/main.o %t/sg.o -lm -o %t/sg && %t/sg
// RUN: clang++-14 -std=c++17 -O1 -Wall -Wextra -Werror -I%t/s -I%source/runtime_support/include -c %t/s/ops.cpp -o %t/sc.o && clang-22 %t/main.o %t/sc.o -lm -o %t/sc && %t/sc
module attributes {ingot.model = {
    name = "ops", inputs = [["x", 1, [256]], ["i", 6, [16]]], outputs = [["y", 1, [1024]]], nodes = [],
    workspace = 64, weights = 0}} {
  func.func private @transpose4(%x: memref<256xf32>, %y: memref<1024xf32>, %to: index) {
    %c0 = arith.constant 0 : index
    %flat = vector.load %x[%c0] : memref<256xf32>, vector<16xf32>
    %v = vector.shape_cast %flat : vector<16xf32> to vector<4x4xf32>
    %t = vector.transpose %v, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
    %r = vector.shape_cast %t : vector<4x4xf32> to vector<16xf32>
    vector.store %r, %y[%to] : memref<1024xf32>, vector<16xf32>
    return
  }
  func.func private @transpose16(%x: memref<256xf32>, %y: memref<1024xf32>, %to: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %v = scf.for %i = %c0 to %c16 step %c1 iter_args(%all = %zero) -> (vector<16x16xf32>) {
      scf.yield %all : vector<16x16xf32>
    }
    %rows = vector.load %x[%c0] : memref<256xf32>, vector<256xf32>
    %m = vector.shape_cast %rows : vector<256xf32> to vector<16x16xf32>
    %sum = arith.addf %v, %m : vector<16x16xf32>
    %t = vector.transpose %sum, [1, 0] : vector<16x16xf32> to vector<16x16xf32>
    %r = vector.shape_cast %t : vector<16x16xf32> to vector<256xf32>
    vector.store %r, %y[%to] : memref<1024xf32>, vector<256xf32>
    return
  }
  func.func private @transpose8(%x: memref<256xf32>, %y: memref<1024xf32>, %to: index) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %x[%c0], %zero {in_bounds = [true]} : memref<256xf32>, vector<64xf32>
    %m = vector.shape_cast %v : vector<64xf32> to vector<8x8xf32>
    %t = vector.transpose %m, [1, 0] : vector<8x8xf32> to vector<8x8xf32>
    %r = vector.shape_cast %t : vector<8x8xf32> to vector<64xf32>
    vector.transfer_write %r, %y[%to] {in_bounds = [true]} : vector<64xf32>, memref<1024xf32>
    return
  }
  // y[to..] = x[3..15] by masks, 13 of 16 lanes, others keep what they held.
  func.func private @masks(%x: memref<256xf32>, %y: memref<1024xf32>, %to: index, %n: index) {
    %c3 = arith.constant 3 : index
    %mask = vector.create_mask %n : vector<16xi1>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %v = vector.maskedload %x[%c3], %mask, %zero : memref<256xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    vector.maskedstore %y[%to], %mask, %v : memref<1024xf32>, vector<16xi1>, vector<16xf32>
    return
  }
  func.func private @gathers(%x: memref<256xf32>, %i: memref<16xi32>, %y: memref<1024xf32>, %to: index) {
    %c0 = arith.constant 0 : index
    %indices = vector.load %i[%c0] : memref<16xi32>, vector<16xi32>
    %mask = vector.constant_mask [16] : vector<16xi1>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %v = vector.gather %x[%c0] [%indices], %mask, %zero
        : memref<256xf32>, vector<16xi32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    vector.scatter %y[%to] [%indices], %mask, %v : memref<1024xf32>, vector<16xi32>, vector<16xi1>, vector<16xf32>
    return
  }
  func.func private @reductions(%x: memref<256xf32>, %y: memref<1024xf32>, %to: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %v = vector.load %x[%c0] : memref<256xf32>, vector<16xf32>
    %sum = vector.reduction <add>, %v fastmath<reassoc> : vector<16xf32> into f32
    memref.store %sum, %y[%to] : memref<1024xf32>
    %max = vector.reduction <maximumf>, %v : vector<16xf32> into f32
    %t1 = arith.addi %to, %c1 : index
    memref.store %max, %y[%t1] : memref<1024xf32>
    %m = vector.shape_cast %v : vector<16xf32> to vector<2x8xf32>
    %zero = arith.constant dense<0.0> : vector<2xf32>
    %rows = vector.multi_reduction <add>, %m, %zero [1] : vector<2x8xf32> to vector<2xf32>
    %t2 = arith.addi %to, %c2 : index
    vector.store %rows, %y[%t2] : memref<1024xf32>, vector<2xf32>
    return
  }
  func.func private @conversions(%x: memref<256xf32>, %y: memref<1024xf32>, %to: index) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c24 = arith.constant 24 : index
    %c32 = arith.constant 32 : index
    %stack = memref.alloca() : memref<16xf32>
    %v = vector.load %x[%c0] : memref<256xf32>, vector<8xf32>
    %b = arith.truncf %v : vector<8xf32> to vector<8xbf16>
    %w = arith.extf %b : vector<8xbf16> to vector<8xf32>
    vector.store %w, %stack[%c0] : memref<16xf32>, vector<8xf32>
    %again = vector.load %stack[%c0] : memref<16xf32>, vector<8xf32>
    vector.store %again, %y[%to] : memref<1024xf32>, vector<8xf32>
    %r = math.roundeven %v : vector<8xf32>
    %f = math.floor %v : vector<8xf32>
    %h = math.round %v : vector<8xf32>
    %s = arith.addf %r, %f : vector<8xf32>
    %s2 = arith.addf %s, %h : vector<8xf32>
    %t8 = arith.addi %to, %c8 : index
    vector.store %s2, %y[%t8] : memref<1024xf32>, vector<8xf32>
    %i = arith.fptosi %v : vector<8xf32> to vector<8xi64>
    %three = arith.constant dense<3> : vector<8xi64>
    %q = arith.floordivsi %i, %three : vector<8xi64>
    %qf = arith.sitofp %q : vector<8xi64> to vector<8xf32>
    %t16 = arith.addi %to, %c16 : index
    vector.store %qf, %y[%t16] : memref<1024xf32>, vector<8xf32>
    %n = arith.negf %v : vector<8xf32>
    %il = vector.interleave %v, %n : vector<8xf32> -> vector<16xf32>
    %even, %odd = vector.deinterleave %il : vector<16xf32> -> vector<8xf32>
    %t24 = arith.addi %to, %c24 : index
    vector.store %odd, %y[%t24] : memref<1024xf32>, vector<8xf32>
    %step = vector.step : vector<8xindex>
    %si = arith.index_cast %step : vector<8xindex> to vector<8xi32>
    %sf = arith.sitofp %si : vector<8xi32> to vector<8xf32>
    %t32 = arith.addi %to, %c32 : index
    vector.store %sf, %y[%t32] : memref<1024xf32>, vector<8xf32>
    return
  }

  func.func @ops_run(%x: memref<256xf32>, %i: memref<16xi32>, %y: memref<1024xf32>, %work: memref<64xi8>,
                     %exec: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c80 = arith.constant 80 : index
    %c336 = arith.constant 336 : index
    %c352 = arith.constant 352 : index
    %c400 = arith.constant 400 : index
    %c416 = arith.constant 416 : index
    %c13 = arith.constant 13 : index
    func.call @transpose4(%x, %y, %c0) : (memref<256xf32>, memref<1024xf32>, index) -> ()
    func.call @transpose8(%x, %y, %c16) : (memref<256xf32>, memref<1024xf32>, index) -> ()
    func.call @transpose16(%x, %y, %c80) : (memref<256xf32>, memref<1024xf32>, index) -> ()
    func.call @masks(%x, %y, %c336, %c13) : (memref<256xf32>, memref<1024xf32>, index, index) -> ()
    func.call @gathers(%x, %i, %y, %c352) : (memref<256xf32>, memref<16xi32>, memref<1024xf32>, index) -> ()
    func.call @reductions(%x, %y, %c400) : (memref<256xf32>, memref<1024xf32>, index) -> ()
    func.call @conversions(%x, %y, %c416) : (memref<256xf32>, memref<1024xf32>, index) -> ()
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
}
