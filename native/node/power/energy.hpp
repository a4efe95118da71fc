#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.hpp"

namespace wulf::node {

/// A counter of energy that the kernel lets us read, in microjoules.
struct EnergyCounter {
  std::string name;    ///< "package-0", "package-0/dram", "socket0"
  std::string part;    ///< "package", "memory"; "" for what one of these holds already (cores, graphics)
  std::string path;    ///< the file with the count
  std::uint64_t wrap;  ///< the largest count, after which it begins at 0 again; 0: never
};

/// Microjoules between two readings of a counter that went through its end once at most. Pure.
[[nodiscard]] std::uint64_t energy_between(std::uint64_t before, std::uint64_t after, std::uint64_t wrap);

/// The host's counters of energy: RAPL (/sys/class/powercap/intel-rapl:*, which recent AMD processors have,
/// too) or the driver amd_energy (/sys/class/hwmon). They count what the whole host takes.
class EnergyMeter {
 public:
  struct Reading {
    std::int64_t at = 0;  ///< nanoseconds
    std::vector<std::optional<std::uint64_t>> counts;
  };

  /// Looks below `root` ("" = this machine).
  explicit EnergyMeter(const std::string& root = "");

  [[nodiscard]] const std::vector<EnergyCounter>& counters() const { return counters_; }

  [[nodiscard]] Reading read() const;

  /// {"unit": "J", "value": packages and memory together, "seconds": from reading to reading, "counters":
  /// {name: joules}}, or {"value": null, "reason"}.
  [[nodiscard]] Json used(const Reading& before, const Reading& after) const;

  /// A metric: watts of all counters of a part, "package" or "memory".
  [[nodiscard]] Json power(const std::string& part, const Reading& before, const Reading& after) const;

 private:
  void look_for_rapl(const std::filesystem::path& folder);
  void look_for_amd(const std::filesystem::path& folder);
  void add(EnergyCounter counter);

  std::vector<EnergyCounter> counters_;
  std::string refused_;  ///< why one that is there cannot be read
};

}  // namespace wulf::node
