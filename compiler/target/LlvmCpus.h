// The CPUs of an architecture as LLVM knows them: by name, with their features. The architecture's back end has to be
// initialised by whoever asks.
#pragma once
#include "compiler/target/MachineModel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class MCSubtargetInfo;
}

namespace ingot::target {

/// The processor that this process runs on, as far as the process may use it.
struct HostCpu {
  std::string name; ///< LLVM's name
  llvm::StringMap<bool> features;

  /// Every feature spelled out and sorted, "+a,-b", since a virtual machine may lack some that its CPU's name implies.
  std::string featureList() const;
};

class LlvmCpus {
public:
  /// `any` is a CPU that LLVM surely knows, for listing the others.
  LlvmCpus(llvm::StringRef triple, llvm::StringRef any);
  ~LlvmCpus();

  /// Asked of the list, because looking up an unknown name prints to stderr.
  bool knows(llvm::StringRef cpu) const;

  /// Whether the CPU, with `features` added to it or taken away, has all that `needs` lists: "+a,+b".
  bool has(llvm::StringRef cpu, llvm::StringRef features, llvm::StringRef needs) const;

  /// Gives the machine its instructions of a target's table: those of its lanes whose features its CPU has.
  void takeInstructions(MachineModel &machine, llvm::ArrayRef<InstructionRow> rows) const;

  /// Whether the CPU executes instructions in another order than the program's, by LLVM's model of it.
  bool reorders(llvm::StringRef cpu) const;

  /// Of the features that code for `machine` may use and that `counts` holds for, those that a host with these does not
  /// have; features that are not listed there do not count.
  std::string lacking(const MachineModel &machine, const llvm::StringMap<bool> &host,
                      llvm::function_ref<bool(llvm::StringRef)> counts) const;

  /// This host, whose architecture must be that of the triple. The environment variable INGOT_HOST, the name of a CPU,
  /// cuts it down: it gets that name and loses the features that the named CPU lacks, so that what runs on a lesser
  /// machine can be tried on this one. An error names a CPU that LLVM does not know.
  llvm::Expected<HostCpu> host() const;

private:
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(llvm::StringRef cpu, llvm::StringRef features) const;

  std::string triple;
  std::unique_ptr<llvm::MCSubtargetInfo> any;
};

} // namespace ingot::target
