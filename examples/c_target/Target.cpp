// A target that writes C and lets the compiler that built it make an object of that: elementwise arithmetic on float32.
// It is a whole one, as small as such can be: what it cannot do it refuses, the rest it does for open sizes, too.
//
// Each op becomes a loop. Values that nobody reads outside of the piece lie in the scratch memory, one behind the
// other.
#include "compiler/target/PlugIn.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

using namespace ingot::target;

namespace {

/// The operators, each with the C expression that makes an element of the result from those of the operands.
const std::map<std::string, const char *> &formulas() {
  static const std::map<std::string, const char *> all = {
      {"Add", "a + b"}, {"Sub", "a - b"},          {"Mul", "a * b"},         {"Div", "a / b"},
      {"Neg", "-a"},    {"Abs", "a < 0 ? -a : a"}, {"Relu", "a < 0 ? 0 : a"}};
  return all;
}

bool sameSizes(const PieceValue &a, const PieceValue &b) {
  auto same = [](const PieceSize &x, const PieceSize &y) { return x.number == y.number && x.open == y.open; };
  return std::equal(a.sizes.begin(), a.sizes.end(), b.sizes.begin(), b.sizes.end(), same);
}

bool isOne(const PieceValue &v) { return v.isStatic() && v.elements() == 1; }

/// Returns the bytes of a value as a term; text() writes such a term as C.
ScratchTerm bytesOf(const PieceValue &v) {
  ScratchTerm term{sizeof(float)};
  for (const PieceSize &size : v.sizes) {
    if (size.isNumber()) {
      term.bytes *= size.number;
    } else {
      term.sizes.push_back(size.open);
    }
  }
  return term;
}

std::string text(const ScratchTerm &term) {
  std::string all = std::to_string(term.bytes);
  for (int32_t size : term.sizes) {
    all += " * sizes[" + std::to_string(size) + "]";
  }
  return all;
}

class Source {
public:
  Source(const Piece &piece, PieceCode &code) : piece(piece), code(code) {}

  std::string write() {
    body = "#include <stdint.h>\nint32_t " + piece.symbol +
           "(const void *const *inputs, void *const *outputs, void *scratch, const int64_t *sizes) {\n";
    for (size_t i = 0; i < piece.inputs.size(); ++i) {
      declare(piece.inputs[i], "const float", "inputs[" + std::to_string(i) + "]");
    }
    for (size_t v = 0; v < piece.values.size(); ++v) {
      if (piece.values[v].isConstant()) {
        declare(int32_t(v), "const float",
                "inputs[" + std::to_string(piece.inputs.size() + code.constants.size()) + "]");
        code.constants.push_back(int32_t(v));
      }
    }
    for (size_t i = 0; i < piece.outputs.size(); ++i) {
      declare(piece.outputs[i], "float", "outputs[" + std::to_string(i) + "]");
    }
    for (const PieceOp &op : piece.ops) {
      compute(op);
    }
    return body + "  return 0;\n}\n";
  }

private:
  const Piece &piece;
  PieceCode &code;
  std::string body, offset = "0";
  std::map<int32_t, bool> declared;

  void declare(int32_t v, const std::string &type, const std::string &address) {
    body += "  " + type + " *v" + std::to_string(v) + " = " + address + ";\n";
    declared[v] = true;
  }

  void compute(const PieceOp &op) {
    int32_t y = op.results[0];
    const PieceValue &result = piece.values[y];
    if (!declared[y]) {
      declare(y, "float", "(void *)((char *)scratch + " + offset + ")");
      code.scratch.push_back(bytesOf(result));
      offset += " + " + text(code.scratch.back());
    }
    body += "  for (int64_t i = 0; i < (" + text(bytesOf(result)) + ") / 4; ++i) { float ";
    for (size_t i = 0; i < op.operands.size(); ++i) {
      int32_t x = op.operands[i];
      body += std::string(i ? ", " : "") + char('a' + i) + " = v" + std::to_string(x) +
              (isOne(piece.values[x]) ? "[0]" : "[i]");
    }
    body += "; v" + std::to_string(y) + "[i] = " + formulas().at(op.name) + "; }\n";
  }
};

/// The object that the compiler makes of a source.
std::string compiled(const std::string &source) {
  std::string pattern = (std::filesystem::temp_directory_path() / "c_target-XXXXXX").string();
  if (!mkdtemp(pattern.data())) {
    throw std::runtime_error("no temporary folder can be made");
  }
  std::filesystem::path folder(pattern);
  std::ofstream(folder / "piece.c") << source;
  std::string command = std::string(C_COMPILER) +
                        " -x c -std=c11 -O2 -fPIC -ffp-contract=off -ffreestanding -fno-builtin -fno-stack-protector"
                        " -c " +
                        (folder / "piece.c").string() + " -o " + (folder / "piece.o").string();
  int status = std::system(command.c_str());
  std::ifstream file(folder / "piece.o", std::ios::binary);
  std::string object((std::istreambuf_iterator<char>(file)), {});
  std::filesystem::remove_all(folder);
  if (status != 0 || object.empty()) {
    throw std::runtime_error("'" + command + "' failed");
  }
  return object;
}

class CTarget final : public PieceTarget {
public:
  std::string name() const override { return "c"; }
  std::vector<PieceLevel> levels() const override { return {{"c", "elementwise arithmetic as C, for this host"}}; }

  std::string refuses(const Piece &piece) const override {
    const PieceOp &op = piece.ops[0];
    if (!formulas().count(op.name)) {
      return "no formula for " + op.name;
    }
    for (const PieceValue &value : piece.values) {
      if (value.type != ElementType::Float32) {
        return "only float32 here";
      }
      if (!sameSizes(value, piece.values[op.results[0]]) && !isOne(value)) {
        return "no broadcasting here";
      }
    }
    return "";
  }

  PieceCode compile(const Piece &piece) const override {
#if defined(__x86_64__)
    const char *here = "x86_64";
#else
    const char *here = "aarch64";
#endif
    if (piece.machine.triple.rfind(here, 0) != 0) {
      return PieceCode::refused("its compiler makes code for this host only");
    }
    PieceCode code;
    code.object = compiled(Source(piece, code).write());
    return code;
  }
};

} // namespace

INGOT_PIECE_TARGET(CTarget)
