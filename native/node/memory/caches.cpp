#include "node/memory/caches.hpp"

#include <algorithm>
#include <fstream>
#include <map>

namespace wulf::node {
namespace {

std::string word_in(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// "32K", "1M" → bytes.
std::size_t size_of(const std::string& text) {
  std::size_t value = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      value = (value * 10) + static_cast<std::size_t>(c - '0');
    }
  }
  const char unit = text.empty() ? ' ' : text.back();
  return value << (unit == 'K' ? 10U : unit == 'M' ? 20U : unit == 'G' ? 30U : 0U);
}

}  // namespace

std::vector<Cache> caches_of(int cpu, const std::string& root) {
  std::vector<Cache> caches;
  const std::string folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index";
  for (int index = 0;; ++index) {
    const std::string place = folder + std::to_string(index) + "/";
    const std::string type = word_in(place + "type");
    if (type.empty()) {
      break;
    }
    if (type != "Instruction") {
      caches.push_back({static_cast<int>(size_of(word_in(place + "level"))), size_of(word_in(place + "size")),
                        word_in(place + "shared_cpu_list")});
    }
  }
  std::sort(caches.begin(), caches.end(), [](const Cache& a, const Cache& b) { return a.level < b.level; });
  return caches;
}

std::size_t last_caches(const std::vector<int>& cpus, const std::string& root) {
  std::map<std::string, std::size_t> distinct;
  for (const int cpu : cpus) {
    const std::vector<Cache> caches = caches_of(cpu, root);
    if (!caches.empty()) {
      const Cache& last = caches.back();
      distinct[last.shared.empty() ? std::to_string(cpu) : last.shared] = last.bytes;
    }
  }
  std::size_t bytes = 0;
  for (const auto& [shared, size] : distinct) {
    bytes += size;
  }
  return bytes;
}

}  // namespace wulf::node
