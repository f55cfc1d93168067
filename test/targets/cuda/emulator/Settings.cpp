#include "Emulator.h"
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <sstream>

namespace ingot::emulator {

Settings settingsOf(const char *text) {
  Settings settings;
  const std::map<std::string, int64_t *> numbers = {
      {"memory", &settings.memory},         {"devices", &settings.devices}, {"driver", &settings.driver},
      {"capability", &settings.capability}, {"fail", &settings.fail},       {"command", &settings.command},
      {"traffic", &settings.traffic},       {"gpu", &settings.gpu},         {"code", &settings.code}};
  std::istringstream all(text ? text : "");
  for (std::string one; std::getline(all, one, ',');) {
    std::string name = one.substr(0, one.find('=')), value = one.substr(std::min(one.size(), name.size() + 1));
    if (name == "log") {
      settings.log = value;
    } else if (name == "seed") {
      settings.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (auto number = numbers.find(name); number != numbers.end()) {
      *number->second = std::atoll(value.c_str());
    } else {
      report("INGOT_EMULATOR has no '" + name + "'");
      std::exit(1);
    }
  }
  return settings;
}

void report(const std::string &text) { (void)fprintf(stderr, "emulator: %s\n", text.c_str()); }

uint64_t Random::next() {
  state += 0x9E3779B97F4A7C15;
  uint64_t z = state;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}

Order::Order(uint64_t count, Random &random) : count(count), step(1), start(0) {
  if (count > 1) {
    start = random.below(count);
    do {
      step = 1 + random.below(count - 1);
    } while (std::gcd(step, count) != 1);
  }
}

} // namespace ingot::emulator
