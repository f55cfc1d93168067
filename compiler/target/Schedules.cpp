#include "compiler/target/Schedules.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace ingot::target {

static constexpr StringLiteral title = "ingot tuning ", version = "1";

std::optional<Schedule> Schedule::parse(StringRef text) {
  SmallVector<StringRef> words;
  text.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  Schedule schedule;
  for (StringRef word : words) {
    auto [name, number] = word.split('=');
    int64_t value = 0;
    if (name.empty() || number.getAsInteger(10, value) || schedule[name.str()]) {
      return std::nullopt;
    }
    schedule.set(name.str(), value);
  }
  return schedule.empty() ? std::nullopt : std::optional(schedule);
}

std::optional<int64_t> Schedule::operator[](const std::string &name) const {
  auto part = parts.find(name);
  return part == parts.end() ? std::nullopt : std::optional(part->second);
}

std::string Schedule::text() const {
  std::string text;
  for (const auto &[name, value] : parts) {
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  }
  return text;
}

bool Schedule::includes(const Schedule &other) const {
  return all_of(other.parts, [&](const auto &part) { return (*this)[part.first] == part.second; });
}

Schedule Schedule::with(const Schedule &other) const {
  Schedule both = *this;
  both.parts.insert(other.parts.begin(), other.parts.end());
  return both;
}

const Schedule *ScheduleChoices::find(const Schedule &requested) const {
  SmallVector<const Schedule *> all = {&chosen};
  append_range(all, make_pointer_range(others));
  auto first = [&](function_ref<bool(const Schedule &)> isMeant) -> const Schedule * {
    auto it = find_if(all, [&](const Schedule *schedule) { return isMeant(*schedule); });
    return it == all.end() ? nullptr : *it;
  };
  const Schedule *exact = first([&](const Schedule &s) { return s == requested || s == requested.with(without); });
  return exact ? exact : first([&](const Schedule &s) { return s.includes(requested); });
}

Expected<ScheduleTable> ScheduleTable::read(const std::string &path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file) {
    return createStringError(path + ": error: cannot be read: " + file.getError().message());
  }
  return parse((*file)->getBuffer(), path);
}

Expected<ScheduleTable> ScheduleTable::parse(StringRef text, StringRef path) {
  ScheduleTable table;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  bool hasTitle = false;
  for (auto [number, whole] : enumerate(lines)) {
    auto wrong = [&, number = number](const Twine &what) {
      return createStringError(path + ":" + Twine(number + 1) + ": error: " + what);
    };
    auto [requested, remark] = whole.split('#');
    StringRef line = requested.trim();
    if (line.empty()) {
      continue;
    }
    if (StringRef rest = line; rest.consume_front(title)) {
      if (rest != version) {
        return wrong("schedules of version " + rest + "; this ingot reads version " + version +
                     ": write them again with `ingot tune`");
      }
      hasTitle = true;
      continue;
    }
    if (!hasTitle) {
      return wrong("expected '" + title + version + "' before the first schedule");
    }
    auto [place, choice] = line.rsplit(':');
    auto [machine, kernel] = place.trim().split(' ');
    std::optional<Schedule> schedule = Schedule::parse(choice);
    if (kernel.trim().empty() || !schedule) {
      return wrong("expected a machine, a kernel, ':' and a schedule such as 'vectors=2 order=1'");
    }
    table.set(machine, kernel.trim(), std::move(*schedule), remark.trim().str());
  }
  if (!hasTitle) {
    return createStringError(path + ": error: is no file of schedules: it has no line '" + title + version + "'");
  }
  return table;
}

std::string ScheduleTable::text() const {
  std::string text = (title + version + "\n").str();
  for (const auto &[key, entry] : entries) {
    text += key.first + " " + key.second + ": " + entry.schedule.text();
    text += (entry.remark.empty() ? "" : " # " + entry.remark) + "\n";
  }
  return text;
}

const Schedule *ScheduleTable::find(StringRef machine, StringRef kernel) const {
  auto entry = entries.find({machine.str(), kernel.str()});
  return entry == entries.end() ? nullptr : &entry->second.schedule;
}

void ScheduleTable::set(StringRef machine, StringRef kernel, Schedule schedule, std::string remark) {
  entries[{machine.str(), kernel.str()}] = {std::move(schedule), std::move(remark)};
}

void ScheduleTable::erase(StringRef machine, StringRef kernel) { entries.erase({machine.str(), kernel.str()}); }

void ScheduleTable::add(const ScheduleTable &other) {
  for (const auto &[key, entry] : other.entries) {
    entries.insert_or_assign(key, entry);
  }
}

} // namespace ingot::target
