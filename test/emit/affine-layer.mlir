// A kernel, weights in their section, scratch in the workspace, a status, all artifacts; two runs give equal bytes.
// RUN: rm -rf %t && emit-model %s %t/a x86-64-v2 lib,obj,shared,asm,llvm | FileCheck %s --check-prefix=FILES
// RUN: emit-model %s %t/b/c x86-64-v2 lib,obj,shared,asm,llvm && rm %t/a/*.d %t/b/c/*.d && diff -r %t/a %t/b/c
// RUN: llvm-nm -g %t/a/layer.o | FileCheck %s --check-prefix=GLOBAL
// RUN: llvm-nm -a %t/a/layer.o | FileCheck %s --check-prefix=LOCAL
// RUN: llvm-nm -D --defined-only %t/a/layer.so | FileCheck %s --check-prefix=GLOBAL
// RUN: llvm-nm -D --undefined-only %t/a/layer.so | count 0
// RUN: clang-22 -std=c99 -Wall -Wextra -pedantic -Werror -I%t/a -I%source/runtime_support/include %S/Inputs/layer.c %t/a/layer.a %build/lib/libingot_rt.a -lm -o %t/c && %t/c
// RUN: clang-22 -std=c99 -I%t/a -I%source/runtime_support/include %S/Inputs/layer.c %t/a/layer.so %build/lib/libingot_rt.a -lm -Wl,-rpath,%t/a -o %t/so && %t/so
// RUN: clang++-22 -std=c++17 -Wall -Wextra -pedantic -Werror -I%t/a -I%source/runtime_support/include %S/Inputs/layer.cpp %t/a/layer.o %build/lib/libingot_rt.a -o %t/cpp && %t/cpp
// RUN: FileCheck %s --check-prefix=HEADER --input-file %t/a/layer.h
// RUN: FileCheck %s --check-prefix=JSON --input-file %t/a/layer.json
// RUN: emit-model %s %t/s x86-64-v2 cpp && g++ -std=c++17 -Wall -Wextra -Werror -O1 -I%t/s -I%source/runtime_support/include -c %t/s/layer.cpp -o %t/s/layer.o
// RUN: clang-22 -std=c11 -I%t/s -I%source/runtime_support/include %S/Inputs/layer.c %t/s/layer.o %build/lib/libingot_rt.a -lm -o %t/source && %t/source
// FILES: code yes
// FILES-NEXT: a/layer.a written
// FILES-NEXT: a/layer.so written
// FILES-NEXT: a/layer.o written
// FILES-NEXT: a/layer.s written
// FILES-NEXT: a/layer.ll written
// FILES-NEXT: a/layer.h written
// FILES-NEXT: a/layer.json written
// FILES-NEXT: a/layer.d written
// GLOBAL-NOT: {{[TDRBU] (layer_weights|scale)}}
// GLOBAL-DAG: T layer_model
// GLOBAL-DAG: T layer_run
// LOCAL: r layer_weights
// LOCAL: t scale_by_weights
// HEADER: input  for_2: float32[2][4], in the model 'for'
// HEADER: input  input_7: bool[1], in the model '7'
// HEADER: output for_out: float32[2][4], in the model
// HEADER: #define LAYER_WORKSPACE_BYTES 128
// HEADER: #define LAYER_FOR_2_ELEMENTS 8
// HEADER: int layer_run(const float *for_2,
// HEADER-NEXT: const uint8_t *input_7,
// HEADER-NEXT: float *for_out,
// HEADER-NEXT: void *workspace, const ingot_exec *exec);
// JSON: "target": "x86-64-v2"
// JSON: "parameter": "for_2"
// JSON: "weight_bytes": 192
module attributes {ingot.model = {
    name = "layer", inputs = [["for", 1, [2, 4]], ["7", 9, [1]]], outputs = [["for /out", 1, [2, 4]]],
    nodes = ["node zero", "node one"], workspace = 128, weights = 192}} {
  memref.global "private" @layer_weights : memref<192xi8>

  // y = x * w for 8 floats; w is the weights' bytes 64.. as unsigned numbers.
  func.func private @scale_by_weights(%x: memref<8xf32>, %w: memref<8xi8>, %y: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c4 {
      %v = vector.load %x[%i] : memref<8xf32>, vector<4xf32>
      %b = vector.load %w[%i] : memref<8xi8>, vector<4xi8>
      %f = arith.uitofp %b : vector<4xi8> to vector<4xf32>
      %p = arith.mulf %v, %f : vector<4xf32>
      vector.store %p, %y[%i] : memref<8xf32>, vector<4xf32>
    }
    return
  }

  func.func @layer_run(%x: memref<8xf32>, %flag: memref<1xi8>, %y: memref<8xf32>, %work: memref<128xi8>,
                       %exec: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %weights = memref.get_global @layer_weights : memref<192xi8>
    %w = memref.view %weights[%c64][] : memref<192xi8> to memref<8xi8>
    %t = memref.view %work[%c64][] : memref<128xi8> to memref<8xf32>
    func.call @scale_by_weights(%x, %w, %t) : (memref<8xf32>, memref<8xi8>, memref<8xf32>) -> ()
    %v = vector.load %t[%c0] : memref<8xf32>, vector<8xf32>
    %e = math.tanh %v : vector<8xf32>
    vector.store %e, %y[%c0] : memref<8xf32>, vector<8xf32>
    %f = memref.load %flag[%c0] : memref<1xi8>
    %zero = arith.constant 0 : i8
    %bad = arith.cmpi ne, %f, %zero : i8
    %ok = arith.constant 0 : i32
    %error = arith.constant 517 : i32 // INGOT_STATUS(INGOT_ERROR_INDEX, 1)
    %status = arith.select %bad, %error, %ok : i32
    return %status : i32
  }
}
