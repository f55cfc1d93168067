// Plug-ins that make no target, or one that does not fit: see plug-ins.test.
#include "compiler/target/PlugIn.h"

using namespace ingot::target;

#ifdef SPEC
class Taken final : public PieceTarget {
public:
  std::string name() const override { return "taken"; }
  std::vector<PieceLevel> levels() const override { return {{SPEC, ""}}; }
  std::string refuses(const Piece &) const override { return "everything"; }
  PieceCode compile(const Piece &) const override { return PieceCode::refused("everything"); }
};
INGOT_PIECE_TARGET(Taken)
#else
extern "C" const PlugIn ingot_plug_in;
#ifdef OTHER_LLVM
extern "C" const PlugIn ingot_plug_in = {plugInVersion, sizeof(Piece), "3.1", nullptr,
                                         []() -> Target * { return nullptr; }};
#else
extern "C" const PlugIn ingot_plug_in = {plugInVersion, sizeof(Piece), nullptr, nullptr, nullptr};
#endif
#endif
