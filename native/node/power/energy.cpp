#include "node/power/energy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/host/small_file.hpp"
#include "core/time/clock.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

constexpr double kMicro = 1e-6;

/// The names in a folder that begin so, sorted.
std::vector<std::string> names_in(const std::string& folder, const std::string& begin) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with(begin)) {
      names.push_back(std::move(name));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string part_of(const std::string& zone) {
  if (zone.starts_with("package")) {
    return "package";
  }
  return zone == "dram" ? "memory" : "";
}

/// Joules of one counter; none where either reading failed.
std::optional<double> joules(const EnergyCounter& counter, const std::optional<std::uint64_t>& before,
                             const std::optional<std::uint64_t>& after) {
  if (!before || !after) {
    return std::nullopt;
  }
  return static_cast<double>(energy_between(*before, *after, counter.wrap)) * kMicro;
}

}  // namespace

std::uint64_t energy_between(std::uint64_t before, std::uint64_t after, std::uint64_t wrap) {
  return after >= before || wrap == 0 ? after - before : after + (wrap - before);
}

EnergyMeter::EnergyMeter(const std::string& root) {
  look_for_rapl(root + "/sys/class/powercap");
  if (counters_.empty()) {  // otherwise the same energy would be counted twice
    look_for_amd(root + "/sys/class/hwmon");
  }
}

void EnergyMeter::add(EnergyCounter counter) {
  errno = 0;
  if (number_in(counter.path)) {
    counters_.push_back(std::move(counter));
  } else if (refused_.empty()) {
    const int why = errno;
    refused_ = counter.path + " cannot be read (" + std::strerror(why) + ")";
    if (why == EACCES || why == EPERM) {
      refused_ += ": let an administrator grant it (chmod a+r), or measure as root";
    }
  }
}

void EnergyMeter::look_for_rapl(const std::filesystem::path& folder) {
  // intel-rapl:0, and intel-rapl:0:2 inside it; intel-rapl-mmio:0 is intel-rapl:0 read another way
  for (const std::string& zone : names_in(folder, "intel-rapl:")) {
    const std::filesystem::path path = folder / zone;
    const std::string own = line_in(path / "name");
    const bool inside = std::count(zone.begin(), zone.end(), ':') > 1;
    const std::string holder = inside ? line_in(folder / zone.substr(0, zone.rfind(':')) / "name") + "/" : "";
    add({holder + own, part_of(own), path / "energy_uj",
         number_in(path / "max_energy_range_uj").value_or(0)});
  }
}

void EnergyMeter::look_for_amd(const std::filesystem::path& folder) {
  for (const std::string& device : names_in(folder, "hwmon")) {
    if (line_in(folder / device / "name") != "amd_energy") {
      continue;
    }
    for (const std::string& file : names_in(folder / device, "energy")) {
      const std::string label = line_in(folder / device / (file.substr(0, file.rfind('_')) + "_label"));
      if (file.ends_with("_input") && label.starts_with("Esocket")) {
        add({label.substr(1), "package", folder / device / file, 0});
      }
    }
  }
}

EnergyMeter::Reading EnergyMeter::read() const {
  Reading reading;
  for (const EnergyCounter& counter : counters_) {
    reading.counts.push_back(number_in(counter.path));
  }
  reading.at = now();
  return reading;
}

Json EnergyMeter::used(const Reading& before, const Reading& after) const {
  double sum = 0;
  bool any = false;
  Json each = Json::object();
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    const auto spent = joules(counters_[i], before.counts.at(i), after.counts.at(i));
    each[counters_[i].name] = spent ? Json(*spent) : Json(nullptr);
    if (spent && !counters_[i].part.empty()) {
      sum += *spent;
      any = true;
    }
  }
  if (!any) {
    return no_value("J", !refused_.empty() ? refused_
                                           : "no counter of energy here: neither "
                                             "/sys/class/powercap/intel-rapl:* nor the driver amd_energy, as "
                                             "in most virtual machines");
  }
  return {{"unit", "J"},
          {"value", sum},
          {"seconds", to_seconds(after.at - before.at)},
          {"counters", std::move(each)}};
}

Json EnergyMeter::power(const std::string& part, const Reading& before, const Reading& after) const {
  double sum = 0;
  std::size_t found = 0;
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    const auto spent = joules(counters_[i], before.counts.at(i), after.counts.at(i));
    if (spent && counters_[i].part == part) {
      sum += *spent;
      ++found;
    }
  }
  const double seconds = to_seconds(after.at - before.at);
  if (found > 0 && seconds > 0) {
    return {{"unit", "W"}, {"value", sum / seconds}, {"n", found}};
  }
  const Json all = used(before, after);
  return no_value("W", all.contains("reason") ? all.at("reason").get<std::string>()
                                              : "this processor has no counter of its " + part + " alone");
}

}  // namespace wulf::node
