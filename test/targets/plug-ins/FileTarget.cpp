// A target of pieces for tests: it claims every Relu and brings the bytes of a file as their code, whatever they are.
// After a '!' its spec says what else it does wrong: `file:PATH`, `file:PATH!constants`.
#include "compiler/target/PlugIn.h"
#include <fstream>
#include <iterator>
#include <stdexcept>

using namespace ingot::target;

namespace {

class FileTarget final : public PieceTarget {
public:
  std::string name() const override { return "file"; }
  std::vector<PieceLevel> levels() const override { return {{"file", "the bytes of a file"}}; }
  bool accepts(const std::string &spec) const override { return spec == "file" || spec.rfind("file:", 0) == 0; }

  std::string refuses(const Piece &piece) const override { return piece.ops[0].name == "Relu" ? "" : "only Relu here"; }

  PieceCode compile(const Piece &piece) const override {
    std::string spec = piece.machine.spec;
    size_t mark = spec.find('!');
    std::string fault = mark == std::string::npos ? "" : spec.substr(mark + 1);
    if (fault == "refuses") {
      return PieceCode::refused("not today");
    }
    if (fault == "strict") {
      return PieceCode::refused(piece.isStrict ? "told to be strict" : "not told to be strict");
    }
    if (fault == "throws") {
      throw std::runtime_error("out of luck");
    }
    std::ifstream file(spec.substr(5, mark == std::string::npos ? mark : mark - 5), std::ios::binary);
    PieceCode code;
    code.object.assign(std::istreambuf_iterator<char>(file), {});
    if (fault == "constants") {
      code.constants = {0};
    } else if (fault == "scratch") {
      code.scratch = {{8, {0}}};
    }
    return code;
  }
};

} // namespace

INGOT_PIECE_TARGET(FileTarget)
