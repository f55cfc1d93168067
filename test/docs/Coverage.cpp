// How operators are taken, for docs/generate.py: reads lines "DOMAIN OP OPSET" ("ai.onnx" is the standard's domain) and
// prints for each what coverageOf says: how, the version that its code was written for, why it is refused, and the
// types of each input, with ';' between them.
#include "compiler/pipeline/Coverage.h"
#include <iostream>

int main() {
  std::string domain, op;
  for (int64_t opset; std::cin >> domain >> op >> opset;) {
    ingot::pipeline::Coverage coverage = ingot::pipeline::coverageOf(domain == "ai.onnx" ? "" : domain, op, opset);
    std::cout << coverage.how << '\t' << coverage.since << '\t' << coverage.why << '\t';
    for (const std::string &types : coverage.types) {
      std::cout << types << ';';
    }
    std::cout << '\n';
  }
}
