// Operators that have sizes in data.
#ifndef INGOT_GRAPH_READS_SIZES
#define INGOT_GRAPH_READS_SIZES
include "mlir/IR/OpBase.td"

def Graph_ReadsSizes : OpInterface<"ReadsSizes"> {
  let cppNamespace = "::ingot::graph";
  let description = "An op with operands that say how large its result is: a shape, pads, the ends of a slice, a count. It is attached in compiler/graph/readers.";
  let methods = [InterfaceMethod<[{
      Makes sizes of the numbers of which nothing but data tells something, and puts them in their places or replaces the op by others in terms of
      them. False: nothing was to do.}],
    "bool", "readSizes", (ins "::ingot::graph::SizeReader &":$reader)>];
}
#endif
