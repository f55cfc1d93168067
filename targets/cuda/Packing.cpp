// Each place of the text may be copied from one of a few candidates: the places before it whose next bytes hash like
// its own (of 4 bytes, the nearest ones; of 32, which find the same kernel in the base), and the distance of the step
// before. The longest copy is taken, less what its distance costs, unless the next place has a better one.
#include "targets/cuda/Packing.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace ingot::targets::cuda {
namespace {

/// The least copy, which takes as many bytes as it saves.
constexpr size_t leastCopy = 4;

/// With a copy of so many bytes no better one is looked for.
constexpr size_t enough = 512;

/// Places of a text by the hash of their next bytes, the last one first.
class Places {
public:
  Places(StringRef text, size_t length, unsigned tries)
      : text(text), length(length), tries(tries), last(size_t(1) << bits, none), before(text.size(), none) {}

  void add(size_t place) {
    if (place + length <= text.size()) {
      uint32_t &newest = last[hash(place)];
      before[place] = newest;
      newest = place;
    }
  }
  /// Calls f for places whose next bytes may be those of `place`.
  void each(size_t place, function_ref<void(size_t)> f) const {
    if (place + length > text.size()) {
      return;
    }
    unsigned left = tries;
    for (uint32_t other = last[hash(place)]; other != none && left > 0; other = before[other], --left) {
      f(other);
    }
  }

private:
  static constexpr unsigned bits = 16;
  static constexpr uint32_t none = ~uint32_t(0);
  StringRef text;
  size_t length;
  unsigned tries;
  std::vector<uint32_t> last, before;

  size_t hash(size_t place) const {
    uint64_t hash = length == leastCopy ? support::endian::read32le(text.data() + place) * 0x9E3779B97F4A7C15
                                        : xxh3_64bits(text.substr(place, length));
    return hash >> (64 - bits);
  }
};

struct Copy {
  size_t bytes = 0, distance = 0;
  int64_t gain = 0; ///< the bytes that it saves
};

class Packer {
public:
  /// Packs the bytes of `text` from `from` on; those before are the base's.
  Packer(StringRef text, size_t from) : text(text), from(from), near(text, leastCopy, 32), far(text, 32, 8) {}

  std::string pack(StringRef magic, uint32_t base, uint32_t front) {
    packed.assign(magic);
    for (uint32_t number : {uint32_t(text.size() - from), base, front}) {
      char bytes[4];
      support::endian::write32le(bytes, number);
      packed.append(bytes, sizeof bytes);
    }
    for (size_t place = 0; place < from; ++place) {
      add(place);
    }
    size_t literals = from, place = from;
    for (Copy copy = best(place); place < text.size();) {
      add(place);
      Copy next = copy.bytes < enough ? best(place + 1) : Copy();
      if (copy.gain <= 0 || next.gain > copy.gain) {
        ++place;
        copy = next;
        continue;
      }
      step(text.substr(literals, place - literals), copy);
      for (size_t end = place + copy.bytes; ++place < end;) {
        add(place);
      }
      literals = place;
      copy = best(place);
    }
    if (literals < text.size()) {
      step(text.substr(literals), {});
    }
    return std::move(packed);
  }

private:
  StringRef text;
  size_t from;
  Places near, far;
  std::string packed;
  size_t lastDistance = 0;

  void add(size_t place) {
    near.add(place);
    far.add(place);
  }

  /// Returns the copy that saves most at a place.
  Copy best(size_t place) const {
    Copy best;
    auto consider = [&](size_t other) {
      if (best.bytes >= enough || place + best.bytes >= text.size() ||
          text[place + best.bytes] != text[other + best.bytes]) {
        return; // it is no longer, and further away
      }
      size_t bytes = 0;
      while (place + bytes < text.size() && text[place + bytes] == text[other + bytes]) {
        ++bytes;
      }
      size_t distance = place - other;
      int64_t cost = 1;
      for (size_t rest = distance == lastDistance ? 0 : distance; rest >> 7; rest >>= 7) {
        ++cost;
      }
      if (int64_t gain = int64_t(bytes) - cost - 1; bytes >= leastCopy && gain > best.gain) {
        best = {bytes, distance, gain};
      }
    };
    if (lastDistance > 0 && place < text.size()) {
      consider(place - lastDistance);
    }
    near.each(place, consider);
    far.each(place, consider);
    return best;
  }

  void number(size_t rest) {
    for (; rest >= 255; rest -= 255) {
      packed.push_back(char(255));
    }
    packed.push_back(char(rest));
  }

  void step(StringRef literals, const Copy &copy) {
    constexpr size_t most = 15;
    size_t copied = copy.bytes ? copy.bytes - leastCopy : 0;
    packed.push_back(char(std::min(literals.size(), most) << 4 | std::min(copied, most)));
    if (literals.size() >= most) {
      number(literals.size() - most);
    }
    packed += literals;
    if (!copy.bytes) {
      return;
    }
    size_t distance = copy.distance == lastDistance ? 0 : copy.distance;
    for (; distance >> 7; distance >>= 7) {
      packed.push_back(char(distance | 0x80));
    }
    packed.push_back(char(distance));
    if (copied >= most) {
      number(copied - most);
    }
    lastDistance = copy.distance;
  }
};

} // namespace

void pack(MutableArrayRef<target::Image> images, ArrayRef<uint64_t> uses) {
  std::string front;
  for (uint64_t word : uses) {
    char bytes[8];
    support::endian::write64le(bytes, word);
    front.append(bytes, sizeof bytes);
  }
  struct Base {
    uint32_t number = 0; ///< counted from 1
    std::string bytes;
  };
  Base ofText, ofElf; // the last ones
  for (auto [i, image] : llvm::enumerate(images)) {
    bool isElf = StringRef(image.bytes)
                     .starts_with("\x7F"
                                  "ELF");
    Base &base = isElf ? ofElf : ofText;
    Base own = {uint32_t(i + 1), front + image.bytes};
    std::string text = base.bytes + own.bytes;
    image.bytes = Packer(text, base.bytes.size()).pack(isElf ? "\x1BP1E" : "\x1BP1T", base.number, front.size());
    base = std::move(own);
  }
}

} // namespace ingot::targets::cuda
