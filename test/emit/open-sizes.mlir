// A model whose sizes are chosen for each run: y = x and bias added, each sum twice; one object serves all sizes.
// RUN: rm -rf %t && emit-model %s %t/a x86-64-v2 lib,shared
// RUN: llvm-nm -D --defined-only %t/a/open.so | FileCheck %s --check-prefix=GLOBAL
// RUN: clang-22 -std=c99 -Wall -Wextra -pedantic -Werror -I%source/runtime_support/include -fsyntax-only -include %t/a/open.h -x c /dev/null
// RUN: clang-22 -std=c11 -Wall -Wextra -pedantic -Werror -fsanitize=address,undefined -I%t/a -I%source/runtime_support/include %S/Inputs/open.c %t/a/open.a %build/lib/libingot_rt.a -o %t/c && %t/c
// RUN: clang++-22 -std=c++17 -Wall -Wextra -pedantic -Werror -I%t/a -I%source/runtime_support/include %S/Inputs/open.cpp %t/a/open.a %build/lib/libingot_rt.a -o %t/cpp && %t/cpp
// RUN: FileCheck %s --check-prefix=HEADER --input-file %t/a/open.h
// RUN: FileCheck %s --check-prefix=JSON --input-file %t/a/open.json
// RUN: sed 's/@open_plan/@other_plan/' %s > %t/other.mlir && not emit-model %t/other.mlir %t/b x86-64-v2 lib 2>&1 | FileCheck %s --check-prefix=NOPLAN
// RUN: sed 's/symbols = .*\]\],/symbols = [["batch", 4]],/' %s > %t/less.mlir && not emit-model %t/less.mlir %t/b x86-64-v2 lib 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: emit-model %s %t/s portable cpp && g++ -std=c++17 -Wall -Wextra -Werror -O1 -I%t/s -I%source/runtime_support/include -c %t/s/open.cpp -o %t/s/open.o
// RUN: clang-22 -std=c11 -I%t/s -I%source/runtime_support/include %S/Inputs/open.c %t/s/open.o %build/lib/libingot_rt.a -lm -o %t/source && %t/source
// GLOBAL-NOT: open_plan
// GLOBAL: T open_model
// GLOBAL: T open_run
// GLOBAL: T open_workspace_bytes
// HEADER: * size   batch: at most 4
// HEADER-NEXT: * size   seq_2, in the model 'seq'
// HEADER-NEXT: * input  x: float32[batch][seq_2]
// HEADER-NEXT: * input  seq: float32[seq_2]
// HEADER-NEXT: * output y: float32[batch][2*seq_2]
// HEADER-NEXT: * output mean: float32[div(1+seq_2,2)]
// HEADER-NEXT: * output one: float32[1]
// HEADER-NOT: OPEN_WORKSPACE_BYTES
// HEADER: #define OPEN_WORKSPACE_ALIGN 64
// HEADER-NEXT: #define OPEN_ONE_ELEMENTS 1
// HEADER: static inline int64_t open_x_elements(int64_t batch, int64_t seq_2) { return batch*seq_2; }
// HEADER-NEXT: static inline int64_t open_seq_elements(int64_t seq_2) { return seq_2; }
// HEADER-NEXT: static inline int64_t open_y_elements(int64_t batch, int64_t seq_2) { return 2*batch*seq_2; }
// HEADER-NOT: open_mean_elements
// HEADER: workspace has open_workspace_bytes(batch, seq_2) bytes, aligned
// HEADER: int open_run(const float *x,
// HEADER-NEXT: const float *seq,
// HEADER-NEXT: float *y,
// HEADER-NEXT: float *mean,
// HEADER-NEXT: float *one,
// HEADER-NEXT: int64_t batch,
// HEADER-NEXT: int64_t seq_2,
// HEADER-NEXT: void *workspace, const ingot_exec *exec);
// HEADER: int64_t open_workspace_bytes(int64_t batch, int64_t seq_2);
// JSON: "abi": {{[0-9]+}}
// JSON: "symbols": [
// JSON: "name": "batch",
// JSON-NEXT: "parameter": "batch",
// JSON-NEXT: "least": 0,
// JSON-NEXT: "most": 4
// JSON: "name": "seq",
// JSON-NEXT: "parameter": "seq_2",
// JSON-NEXT: "least": 0,
// JSON-NEXT: "most": null
// JSON: "2*seq"
// JSON-NEXT: ],
// JSON-NEXT: "bytes": "8*batch*seq"
// JSON: "workspace_bytes": null
// JSON: "function": "open_workspace_bytes",
// JSON-NEXT: "depends_on": [
// JSON-NEXT: "batch",
// JSON-NEXT: "seq"
// NOPLAN: error: loop IR has no function @open_plan of 3 pointers that returns i32
// LESS: error: loop IR has no function @open_run of 7 pointers and 1 sizes that returns i32
module attributes {ingot.model = {
    name = "open", inputs = [["x", 1, ["batch", "seq"]], ["seq", 1, ["seq"]]],
    outputs = [["y", 1, ["batch", "2*seq"]], ["mean", 1, ["div(seq+1,2)"]], ["one", 1, [1]]],
    symbols = [["batch", 4], ["seq", -1]],
    nodes = ["double"], workspace = -1, weights = 0}} {
  func.func @open_run(%x: memref<4096xf32>, %bias: memref<4096xf32>, %y: memref<4096xf32>, %mean: memref<4096xf32>,
                      %one: memref<1xf32>, %batch: index, %seq: index, %work: memref<4096xf32>, %exec: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %f0 = arith.constant 0.0 : f32
    %f1 = arith.constant 1.0 : f32
    memref.store %f1, %one[%c0] : memref<1xf32>
    scf.for %b = %c0 to %batch step %c1 {
      scf.for %s = %c0 to %seq step %c1 {
        %row = arith.muli %b, %seq : index
        %i = arith.addi %row, %s : index
        %v = memref.load %x[%i] : memref<4096xf32>
        %w = memref.load %bias[%s] : memref<4096xf32>
        %sum = arith.addf %v, %w : f32
        memref.store %sum, %work[%s] : memref<4096xf32>
        %j = arith.muli %i, %c2 : index
        %k = arith.addi %j, %c1 : index
        %again = memref.load %work[%s] : memref<4096xf32>
        memref.store %sum, %y[%j] : memref<4096xf32>
        memref.store %again, %y[%k] : memref<4096xf32>
      }
    }
    scf.for %s = %c0 to %seq step %c2 {
      %i = arith.divsi %s, %c2 : index
      memref.store %f0, %mean[%i] : memref<4096xf32>
    }
    %ok = arith.constant 0 : i32
    return %ok : i32
  }

  // Refuses 7 as the sequence: node 0.
  func.func @open_plan(%sizes: memref<2xi64>, %dims: memref<4xi64>, %bytes: memref<1xi64>) -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %four = arith.constant 4 : i64
    %seven = arith.constant 7 : i64
    %batch = memref.load %sizes[%c0] : memref<2xi64>
    %seq = memref.load %sizes[%c1] : memref<2xi64>
    %double = arith.muli %seq, %two : i64
    %more = arith.addi %seq, %one : i64
    %half = arith.divsi %more, %two : i64
    %work = arith.muli %seq, %four : i64
    memref.store %batch, %dims[%c0] : memref<4xi64>
    memref.store %double, %dims[%c1] : memref<4xi64>
    memref.store %half, %dims[%c2] : memref<4xi64>
    memref.store %one, %dims[%c3] : memref<4xi64>
    memref.store %work, %bytes[%c0] : memref<1xi64>
    %bad = arith.cmpi eq, %seq, %seven : i64
    %ok = arith.constant 0 : i32
    %error = arith.constant 268 : i32 // INGOT_STATUS(INGOT_ERROR_SIZE, 0)
    %status = arith.select %bad, %error, %ok : i32
    return %status : i32
  }
}
