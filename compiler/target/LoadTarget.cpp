// Opens a shared object for --load-target, which stays open. Its stamp is looked at before anything else of it is used;
// a target of pieces gets a Target around it.
#include "compiler/target/PlugIn.h"
#include "compiler/target/Registry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include <dlfcn.h>

using namespace ingot::target;

namespace {

class TargetOfPieces final : public Target {
public:
  explicit TargetOfPieces(std::unique_ptr<PieceTarget> inner) : inner(std::move(inner)), ownName(this->inner->name()) {}

  llvm::StringRef name() const override { return ownName; }
  std::vector<Level> levels() const override {
    std::vector<Level> all;
    for (const PieceLevel &level : inner->levels()) {
      all.push_back({level.spec, level.sentence});
    }
    return all;
  }
  bool accepts(llvm::StringRef spec) const override { return inner->accepts(spec.str()); }
  llvm::Expected<MachineModel> machine(llvm::StringRef spec) const override {
    MachineModel machine;
    machine.spec = spec.str();
    return machine;
  }
  std::string refuses(mlir::Operation *, const MachineModel &) const override { return "takes whole pieces only"; }
  const PieceTarget *pieces() const override { return inner.get(); }

private:
  std::unique_ptr<PieceTarget> inner;
  std::string ownName;
};

llvm::Error fault(const std::string &path, const llvm::Twine &text) {
  return llvm::createStringError(path + ": error: " + text);
}

/// Returns why a plug-in with this stamp cannot be used; empty: it can.
std::string misfit(const PlugIn &plugIn) {
  if (plugIn.version != plugInVersion) {
    return "was built for version " + std::to_string(plugIn.version) +
           " of the interface of targets, this compiler has " + std::to_string(plugInVersion);
  }
  if (plugIn.pieceBytes != sizeof(Piece)) {
    return "was built with another C++ library than this compiler";
  }
  if (!plugIn.makePieceTarget == !plugIn.makeTarget) {
    return "makes no target, or two kinds of one";
  }
  if (plugIn.makeTarget && llvm::StringRef(plugIn.llvm) != LLVM_VERSION_STRING) {
    return "was built with LLVM " + std::string(plugIn.llvm) + ", this compiler with " LLVM_VERSION_STRING;
  }
  return "";
}

} // namespace

llvm::Error ingot::target::loadTarget(const std::string &path) {
  llvm::SmallString<256> absolute(path); // a name without a slash would be searched for in the system's folders
  llvm::sys::fs::make_absolute(absolute);
  if (!llvm::sys::fs::exists(absolute)) {
    return fault(path, "cannot be loaded as a target: no such file");
  }
  void *library = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return fault(path, llvm::Twine("cannot be loaded as a target: ") + dlerror());
  }
  const auto *plugIn = static_cast<const PlugIn *>(dlsym(library, "ingot_plug_in"));
  std::string wrong = plugIn ? misfit(*plugIn) : "has no target: the constant ingot_plug_in is missing (PlugIn.h)";
  if (!wrong.empty()) {
    dlclose(library);
    return fault(path, wrong);
  }
  std::unique_ptr<Target> target(plugIn->makeTarget ? plugIn->makeTarget() : nullptr);
  if (!target) {
    target = std::make_unique<TargetOfPieces>(std::unique_ptr<PieceTarget>(plugIn->makePieceTarget()));
  }
  std::string name = target->name().str();
  if (llvm::any_of(allTargets(), [&](const auto &known) { return known->name() == name; })) {
    return fault(path, "there is a target '" + name + "' already");
  }
  for (const Level &level : target->levels()) {
    if (const Target *other = findTarget(level.spec)) {
      return fault(path, "'" + level.spec + "' is one of the target '" + other->name() + "' already");
    }
  }
  addTarget(std::move(target));
  return llvm::Error::success();
}
