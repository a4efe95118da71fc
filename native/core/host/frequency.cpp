#include "core/host/frequency.hpp"

#include <unistd.h>

#include <fstream>

namespace wulf {
namespace {

/// scaling_cur_freq of every CPU that has one, which is in kHz.
Json from_cpufreq(const std::string& root) {
  constexpr double kKilo = 1e3;
  Json cpus = Json::object();
  const long most = sysconf(_SC_NPROCESSORS_CONF);
  for (long cpu = 0; cpu < most; ++cpu) {
    const std::string name = std::to_string(cpu);
    std::string path = root;
    path.append("/sys/devices/system/cpu/cpu").append(name).append("/cpufreq/scaling_cur_freq");
    std::ifstream file(path);
    if (double value = 0; file >> value) {
      cpus[name] = value * kKilo;
    }
  }
  return cpus;
}

/// Lines "processor : 0" and "cpu MHz : 2596.138"; other architectures than x86 have no such line.
Json from_cpuinfo(const std::string& root) {
  constexpr double kMega = 1e6;
  Json cpus = Json::object();
  std::ifstream file(root + "/proc/cpuinfo");
  std::string cpu;
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) {
      continue;
    }
    if (line.starts_with("processor")) {
      cpu = line.substr(colon + 2);
    } else if (line.starts_with("cpu MHz")) {
      cpus[cpu] = std::stod(line.substr(colon + 2)) * kMega;
    }
  }
  return cpus;
}

}  // namespace

Json cpu_frequency(const std::string& root) {
  Json cpus = from_cpufreq(root);
  const char* source = "cpufreq";
  if (cpus.empty()) {
    cpus = from_cpuinfo(root);
    source = "cpuinfo";
  }
  if (cpus.empty()) {
    return {{"unit", "Hz"},
            {"value", nullptr},
            {"reason",
             "neither cpufreq in /sys nor 'cpu MHz' in /proc/cpuinfo: a virtual machine, or a kernel "
             "without a frequency driver"}};
  }
  return {{"unit", "Hz"}, {"source", source}, {"value", std::move(cpus)}};
}

}  // namespace wulf
