#include "core/host/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "core/host/small_file.hpp"

namespace wulf {
namespace {

/// The number behind `key` in a file of lines "key number".
std::optional<std::uint64_t> field_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) {
      return std::stoull(line.substr(key.size()));
    }
  }
  return std::nullopt;
}

/// The folder of this process in the hierarchy of control groups, version 2: "/system.slice/…".
std::string group_of_process(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) {
      return line.substr(3);
    }
  }
  return "/";
}

/// What is left below one group's limit; files that it has read can be dropped.
std::optional<std::uint64_t> left_in_group(const std::string& folder) {
  const auto most = number_in(folder + "/memory.max");
  const auto used = number_in(folder + "/memory.current");
  if (!most || !used) {
    return std::nullopt;
  }
  const std::uint64_t needed =
      *used - std::min(*used, field_in(folder + "/memory.stat", "inactive_file ").value_or(0));
  return *most - std::min(*most, needed);
}

}  // namespace

std::optional<std::uint64_t> memory_left(const std::string& root) {
  constexpr std::uint64_t kKibi = 1024;
  std::optional<std::uint64_t> least = field_in(root + "/proc/meminfo", "MemAvailable:");
  if (least) {
    *least *= kKibi;
  }
  const std::string folders = root + "/sys/fs/cgroup";
  std::string group = group_of_process(root);
  while (true) {
    const auto left = left_in_group(folders + group);
    if (left) {
      least = std::min(least.value_or(*left), *left);
    }
    if (group.empty() || group == "/") {
      return least;
    }
    group.erase(group.rfind('/'));
  }
}

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::uint64_t largest_cache(const std::string& root) {
  constexpr std::uint64_t kKibi = 1024;  // the kernel writes "32768K"
  std::uint64_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = root + "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    largest = std::max(largest, number_in(folder + "/size").value_or(0) * kKibi);
  }
  return largest;
}

}  // namespace wulf
