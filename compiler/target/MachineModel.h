// What kernel builders know of a machine: data, no code. Every builder is parameterised by this struct and by nothing
// else of a target.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace ingot::target {

struct MachineModel {
  std::string spec;        ///< what the user wrote, resolved: "x86-64-v3", "sapphirerapids"
  std::string triple;      ///< LLVM triple
  std::string cpu;         ///< LLVM cpu name
  std::string features;    ///< LLVM feature string, "+a,-b"
  bool machineCode = true; ///< false: C++ source only, and triple, cpu and features are empty
  bool vectorTypes = true; ///< of C++ source: vectors are types that g++ and clang have; false: loops over lanes

  /// What ingot_machine_level (ingot.h) has to answer where code for this machine is to run; 0: a program cannot ask
  /// for it, so the machine is none for --levels.
  int32_t level = 0;
  std::string anyCpu; ///< LLVM cpu name for code that runs before that is known: every CPU of the triple has it

  int64_t lanes = 1;      ///< f32 lanes of one vector register; 1: scalar code
  int64_t registers = 16; ///< architectural vector registers
  /// Registers that elements take on their way to be multiplied with vectors: one where the machine renames registers
  /// or reads elements from memory, more where they have to be loaded ahead of their use.
  int64_t elementRegisters = 1;
  /// LLVM may move loads of neighbouring addresses together, so that one instruction does both. Where each element of a
  /// product is loaded by itself, neighbours belong to different steps, and what waits for its step takes registers
  /// from accumulators.
  bool gatherLoads = true;
  bool memoryOperands = true; ///< a multiply-add can read a vector from memory, which then needs no register
  bool maskedAccess = false;  ///< masked loads and stores are one instruction (else builders write scalar tails)
  bool fusedMultiplyAdd = true;
  bool scaleByPowerOfTwo = false; ///< x * 2^n is one instruction (llvm.ldexp becomes it), scalar and vector
  int64_t l1Bytes = 32 << 10, l2Bytes = 1 << 20, l3Bytes = 8 << 20; ///< data caches of one core

  /// Its kernels read and write a memory of their own, and what they need is copied there; else they work in the
  /// host's.
  bool hasOwnMemory = false;
  int64_t memoryBytes = 0; ///< how large that memory is; 0: large enough for any model

  /// The way between the host's memory and that one, for a copy: seconds until its first byte arrives, and how many
  /// follow in a second.
  struct Link {
    double latency = 0, bytes = std::numeric_limits<double>::infinity();
    double seconds(double count) const { return latency + count / bytes; }
  };
  Link upload, download;

  /// What a run attains, in the mean over kernels; the partitioner estimates times with it (target/Work.h). Nothing:
  /// what a core of a CPU does.
  struct Rates {
    double multiplyAdds; ///< a second, of products and convolutions
    double operations;   ///< a second, on elements, of all other kernels
    double bytes;        ///< a second, that kernels read and write
    double launch;       ///< seconds from one kernel to the next
  };
  std::optional<Rates> rates;

  /// The register tile of a matrix product: `rows` broadcasts times `vectors` column vectors, accumulators kept in
  /// registers. rows * vectors + vectors + 1 must fit the register file (reference: cpu-kernels/MEASURED.md, section
  /// 3).
  struct Tile {
    int64_t rows = 4, vectors = 1;
  };
  Tile matmulTile;

  /// The machine for which constants are packed, where another one is to read the same bytes (--levels); null: this
  /// one.
  std::shared_ptr<const MachineModel> packing;

  /// Channels of a block, which lie in vectors of that machine.
  int64_t blockLanes() const { return packing ? packing->lanes : lanes; }
  /// Vector registers for a tile: accumulators, vectors, and one element.
  int64_t tileRegisters() const { return registers - elementRegisters + 1; }
  /// How many vectors of `length` elements the registers hold: each is several of them where this machine's are
  /// shorter.
  int64_t registersOf(int64_t length) const { return registers * lanes / std::max(length, lanes); }
};

} // namespace ingot::target
