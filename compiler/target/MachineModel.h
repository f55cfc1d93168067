// Describes what kernel builders know of a machine: data, no code. Every builder is parameterised by this struct and by
// nothing else of a target; only who looks for the builder asks the target itself.
#pragma once
#include "compiler/target/Instructions.h"
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace ingot::target {

class Target;

struct MachineModel {
  const Target *target = nullptr; ///< the target whose machine it is; null: it has none, as in tests
  std::string spec;               ///< what the user wrote, resolved: "x86-64-v3", "sapphirerapids"
  std::string triple;             ///< LLVM triple
  std::string cpu;                ///< LLVM cpu name
  std::string features;           ///< LLVM feature string, "+a,-b"
  bool machineCode = true;        ///< false: C++ source only, and triple, cpu and features are empty
  /// For C++ source: vectors are types that g++ and clang have; false: loops over lanes.
  bool vectorTypes = true;

  /// The level that ingot_machine_level (ingot.h) has to answer where code for this machine is to run; 0: a program
  /// cannot ask for it, so that --levels does not take the machine.
  int32_t level = 0;
  std::string anyCpu; ///< LLVM cpu name for code that runs before the machine is known: every CPU of the triple has it

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
  bool f16Conversions = false;    ///< instructions convert between float16 and float32, also vectors
  bool roundsToInteger = false;   ///< float32 to the nearest int32 is one instruction (llvm.lrint becomes it)
  bool scaleByPowerOfTwo = false; ///< x * 2^n is one instruction (llvm.ldexp becomes it), scalar and vector
  Intrinsics intrinsics = {};     ///< those of Instructions.def that the machine has
  bool has(Instruction which) const { return intrinsic(which) != nullptr; }
  const char *intrinsic(Instruction which) const { return intrinsics[static_cast<size_t>(which)]; }
  /// The bits of the control word that make floats zeros which are too small to be normal and of which a multiplication
  /// takes a hundred times as long. The machine has StoreControl where that is so.
  int32_t denormalBits = 0;
  /// The registers that hold a matrix each (AMX). The machine has the instructions for tiles where there are some.
  struct Tiles {
    int64_t count = 0, rows = 0, rowBytes = 0;
    double startCycles = 0; ///< cycles to say how large they are; a kernel with so little to do takes vectors
  };
  Tiles tiles;
  int64_t l1Bytes = 32 << 10, l2Bytes = 1 << 20, l3Bytes = 8 << 20; ///< data caches of one core
  /// Bytes of a cache line, which one prefetch brings.
  int64_t lineBytes = 64;
  /// Bytes a cycle that a core gets from the second cache, the third one and memory while it multiplies.
  double l2Rate = 32, l3Rate = 10, memoryRate = 8;

  /// The numbers that kernel families decide by, which come from measurements. The defaults were found on x86
  /// (bench/README.md names the machines and the figures) and hold within a few percent on all that were tried; a CPU
  /// that wants others says so.
  struct Tuning {
    /// Sums that do not depend on each other, where a kernel adds up: an addition takes about four cycles, and one that
    /// needs the former's result must wait for it.
    int64_t chains = 4;
    /// Terms of a product's sum in one iteration of the innermost loop, so that the loop's own instructions do not
    /// count.
    int64_t unroll = 4;
    /// Input channels of a convolution in one iteration of the innermost loop. Eight were a third faster on Zen 3 with
    /// 8 lanes, where a block is then without a loop; on Zen 5 they changed nothing and made the code larger by a
    /// third.
    int64_t convUnroll = 4;
    /// Cycles that a load takes from the multiply-adds of a register tile, though there are ports for both: such cores
    /// are better off with tiles that are nearer to squares.
    double loadCycles = 0;
    /// Weights of a convolution with fewer bytes are in the second cache when they are needed; of more, the next panel
    /// is fetched ahead.
    int64_t prefetchFromBytes = 64 << 10;
    /// Tiles of a product that fetch the next panel, where it is not known how many tiles there are.
    int64_t fetchingTiles = 2;
    /// Cycles for which a cache line of a panel is multiplied where the tile that reads it from memory prefetches what
    /// it will read: with fewer the machine looks far enough ahead by itself.
    int64_t streamCycles = 4;
    /// Bytes of the rows that a first convolution copies to convolve them: they should stay in the first caches.
    int64_t stemBytes = 96 << 10;
    /// Bytes of the tables that a kernel computes of its indices for some vectors ahead, all together: they and what is
    /// read through them should stay in the first cache.
    int64_t tableBytes = 4096;
    /// Rows and keys of a block of attention: scores of 16 KiB, which stay in the first cache with the rows' sums.
    int64_t attentionRows = 32, attentionKeys = 128;
    /// Instructions of a launch below which its caller runs it alone: it ends (in a few microseconds) before other
    /// threads have begun.
    int64_t leastWorkToSplit = 15'000;
    /// Elements of a work item of a kernel that does little with each: taking an item costs about a hundred of them.
    int64_t itemElements = 8192;
    /// Work items enough for all threads to end at about the same time: of kernels whose items are heavy, and the most
    /// that are made of light ones.
    int64_t heavyItems = 16, lightItems = 64;
  };
  Tuning tuning;

  /// Whether its kernels read and write a memory of their own, to which what they need is copied; else they work in the
  /// host's.
  bool hasOwnMemory = false;
  int64_t memoryBytes = 0; ///< how large that memory is; 0: large enough for any model

  /// Whether a work item is a thread of which thousands run at once: then kernels that do little with each element have
  /// an item for each.
  bool itemsAreThreads = false;
  /// The threads that work on a row together, where a kernel combines its elements: a whole number of groups of 32 that
  /// exchange values (lower/core/Threads.h). 1: each row is one thread's.
  int64_t team = 1;

  /// The most that a launch there may ask for.
  struct Limits {
    int64_t argumentBytes = std::numeric_limits<int64_t>::max(); ///< of the kernel's arguments (ingot_launch.args)
    int64_t threads = std::numeric_limits<int64_t>::max();       ///< of a block
    int64_t sharedBytes = std::numeric_limits<int64_t>::max();   ///< of the memory that they share
  };
  Limits limits;

  /// The way between the host's memory and that one, for a copy: seconds until its first byte arrives, and how many
  /// follow in a second.
  struct Link {
    double latency = 0, bytes = std::numeric_limits<double>::infinity();
    double seconds(double count) const { return latency + count / bytes; }
  };
  Link upload, download;

  /// The rates that a run attains, in the mean over kernels; the partitioner estimates times with them
  /// (target/OpTime.h). Nothing: those of a core of a CPU.
  struct Rates {
    double multiplyAdds; ///< multiply-adds a second in products and convolutions
    double operations;   ///< operations a second on elements, in all other kernels
    double bytes;        ///< bytes a second that kernels read and write
    double launch;       ///< seconds from one kernel to the next
  };
  std::optional<Rates> rates;

  /// Cycles of instructions on a core that executes them in order, by which those of a run are estimated
  /// (emit/CycleEstimate.h). Nothing: the target does not know them.
  struct InstructionCycles {
    double load, store, multiply, divide, branch, call;
    double floats, floatDivide; ///< additions, products and conversions; divisions and square roots
    double others = 1;          ///< sums, shifts, comparisons
    int64_t flashLine = 16;     ///< bytes that a read of the flash gives, as it is usual where these cores are
    bool cachesCode = false;    ///< whether loops run from a cache
  };
  std::optional<InstructionCycles> instructionCycles;

  /// The register tile of a matrix product: `rows` broadcasts times `vectors` column vectors, accumulators kept in
  /// registers. rows * vectors + vectors + 1 must fit the register file; bench/README.md has what the shapes
  /// attain.
  struct Tile {
    int64_t rows = 4, vectors = 1;
  };
  Tile matmulTile;

  /// The machine for which constants are packed, where another one is to read the same bytes (--levels); null: this
  /// one.
  std::shared_ptr<const MachineModel> packing;

  /// Returns the channels of a block, which lie in vectors of the machine that constants are packed for.
  int64_t blockLanes() const { return packing ? packing->lanes : lanes; }
  /// Returns the vector registers for a tile: accumulators, vectors, and one element.
  int64_t tileRegisters() const { return registers - elementRegisters + 1; }
  /// Returns how many vectors of `length` elements the registers hold: each is several of them where this machine's are
  /// shorter.
  int64_t registersOf(int64_t length) const { return registers * lanes / std::max(length, lanes); }
};

} // namespace ingot::target
