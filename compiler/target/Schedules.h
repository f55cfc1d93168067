// Schedules that were measured: for a machine and a kernel, which of the schedules that the kernel can have is the
// fastest. `ingot tune` writes such a table and `ingot compile --tuning` reads it. It is a text with a line for each
// kernel:
//
//   ingot tuning 1
//   znver5 conv 1x64x56x56 64x64x3x3 8c1f0a2be77d1c54: winograd=4 strips=3 # 290 us instead of 345 us
//
// that is, the machine, the kernel, its schedule, and a remark for people. Tables are merged by putting one behind the
// other: of two lines for the same kernel the later one counts.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ingot::target {

/// Numbers by name, "winograd=4 strips=3": which ones there are and what they mean is the kernel family's to say. What
/// is not said, the model of the machine decides; of an empty schedule everything.
class Schedule {
public:
  Schedule() = default;
  Schedule(std::initializer_list<std::pair<const std::string, int64_t>> parts) : parts(parts) {}
  /// Parses what text() writes; nothing when it is not the text of a schedule.
  static std::optional<Schedule> parse(llvm::StringRef text);

  bool empty() const { return parts.empty(); }
  std::optional<int64_t> operator[](const std::string &name) const;
  void set(const std::string &name, int64_t value) { parts[name] = value; }
  void erase(const std::string &name) { parts.erase(name); }
  std::string text() const;
  /// Whether it has all numbers of the other one.
  bool includes(const Schedule &other) const;
  /// Returns this schedule, with the other one's numbers for the names that this one lacks.
  Schedule with(const Schedule &other) const;
  friend bool operator==(const Schedule &a, const Schedule &b) { return a.parts == b.parts; }

private:
  std::map<std::string, int64_t> parts;
};

/// The schedules that a kernel can have.
struct ScheduleChoices {
  Schedule chosen;              ///< the choice by the model of the machine; empty: no table can say it
  std::vector<Schedule> others; ///< the others, those first that are most likely to be faster
  Schedule without;             ///< says of all algorithms that are used where a schedule says so that they are not
  std::string why;              ///< what was chosen, and instead of what, for people

  /// Returns the one that a table means, which may leave out what is not used. Null: it means none of them.
  const Schedule *find(const Schedule &requested) const;
};

class ScheduleTable {
public:
  /// Reads a table. An error says "PATH:LINE: error: ...".
  static llvm::Expected<ScheduleTable> read(const std::string &path);
  static llvm::Expected<ScheduleTable> parse(llvm::StringRef text, llvm::StringRef path);

  /// Returns the table's text. Equal entries give the same text, in whatever order they came in.
  std::string text() const;
  /// Returns the schedule of a kernel on a machine; null when there is none.
  const Schedule *find(llvm::StringRef machine, llvm::StringRef kernel) const;
  /// Replaces the entry of a kernel.
  void set(llvm::StringRef machine, llvm::StringRef kernel, Schedule schedule, std::string remark = "");
  void erase(llvm::StringRef machine, llvm::StringRef kernel);
  /// Adds all entries of another table, which count where both have a kernel.
  void add(const ScheduleTable &other);
  size_t size() const { return entries.size(); }

private:
  struct RemarkedSchedule {
    Schedule schedule;
    std::string remark;
  };
  using Key = std::pair<std::string, std::string>; ///< machine and kernel
  std::map<Key, RemarkedSchedule> entries;
};

} // namespace ingot::target
