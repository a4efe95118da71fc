#include "node/memory/memory_node.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <iterator>
#include <sstream>

#include "core/host/memory.hpp"
#include "core/host/small_file.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kBits = sizeof(unsigned long) * CHAR_BIT;
constexpr std::size_t kMostNodes = 1024;  // the kernel's MAX_NUMNODES is no larger

}  // namespace

std::vector<int> numbers_of(const std::string& list) {
  std::vector<int> numbers;
  std::istringstream parts(list);
  std::string part;
  while (std::getline(parts, part, ',')) {
    std::istringstream ends(part);
    int first = 0;
    int last = 0;
    char dash = 0;
    if (!(ends >> first)) {
      continue;
    }
    last = ends >> dash >> last ? last : first;
    for (int number = first; number <= last; ++number) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

std::vector<int> memory_nodes(const std::string& root) {
  const std::vector<int> nodes = numbers_of(line_in(root + "/sys/devices/system/node/has_memory"));
  return nodes.empty() ? std::vector<int>{0} : nodes;
}

std::vector<int> cpus_beside(int cpu, const std::vector<int>& cpus, const std::string& root) {
  const auto holds = [](const std::vector<int>& list, int number) {
    return std::find(list.begin(), list.end(), number) != list.end();
  };
  for (const int node : memory_nodes(root)) {
    const std::string folder = root + "/sys/devices/system/node/node" + std::to_string(node);
    const std::vector<int> own = numbers_of(line_in(folder + "/cpulist"));
    if (holds(own, cpu)) {
      std::vector<int> beside;
      std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(beside),
                   [&](int other) { return holds(own, other); });
      return beside;
    }
  }
  return cpus;
}

// By the system calls, since libnuma would be one more library for four of them.
MemoryPolicy::MemoryPolicy(int node) {
  std::array<unsigned long, kMostNodes / kBits> mask{};
  const auto place = static_cast<std::size_t>(node);
  mask.at(place / kBits) |= 1UL << (place % kBits);
  // the kernel takes one bit less than it is told
  if (syscall(SYS_set_mempolicy, MPOL_BIND, mask.data(), kMostNodes + 1) != 0) {
    refused_ = std::string("set_mempolicy(2): ") + std::strerror(errno);
  }
}

MemoryPolicy::~MemoryPolicy() { (void)syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0); }

Placement placement(const void* memory, std::size_t bytes, int node) {
  constexpr std::size_t kMostPages = 1024;
  const std::size_t page = page_bytes();
  const std::size_t pages = std::max<std::size_t>(bytes / page, 1);
  const std::size_t count = std::min(pages, kMostPages);
  std::vector<const void*> places;
  places.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    places.push_back(static_cast<const std::byte*>(memory) + (pages * i / count * page));
  }
  std::vector<int> found(count, -1);
  // without nodes to move to, it tells where pages are
  if (syscall(SYS_move_pages, 0, count, places.data(), nullptr, found.data(), 0) != 0) {
    return {0, 0, std::string("move_pages(2): ") + std::strerror(errno)};
  }
  return {count, static_cast<std::size_t>(std::count(found.begin(), found.end(), node)), ""};
}

}  // namespace wulf::node
