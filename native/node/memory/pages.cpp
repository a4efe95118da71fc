#include "node/memory/pages.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/host/affinity.hpp"
#include "core/host/huge_pages.hpp"
#include "core/host/memory.hpp"
#include "core/host/threads.hpp"
#include "core/json/error.hpp"
#include "node/cpu/placement.hpp"
#include "node/memory/memory_node.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kKibi = 1024;
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// What one CPU touches at a time: one that is kept from running holds the others up by no more.
constexpr std::size_t kPart = 4 * kHugePage;

/// Lays memory on pages, and makes every byte 1.
void fill(std::byte* data, std::size_t bytes, const std::vector<int>& helpers) {
  std::atomic<std::size_t> next{0};
  const auto parts = [&] {
    for (std::size_t at = next.fetch_add(kPart); at < bytes; at = next.fetch_add(kPart)) {
      const std::size_t length = std::min(kPart, bytes - at);
      populate(data + at, length);
      std::memset(data + at, 1, length);
    }
  };
  Threads threads;
  try {
    for (std::size_t i = 0; i < helpers.size() && (i + 1) * kPart < bytes; ++i) {
      threads.start([&parts, cpu = helpers[i]] {
        if (bind_to(cpu)) {
          parts();
        }
      });
    }
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): what it does not give is done without
  }
  parts();
}

std::byte* mapped(std::size_t bytes) {
  check_memory(bytes);
  void* place = map_aligned(bytes);
  if (place == nullptr) {
    throw system_error("limit", "cannot map " + std::to_string(bytes) + " B", errno);
  }
  return static_cast<std::byte*>(place);
}

}  // namespace

std::size_t available_memory(const std::string& root) { return memory_left(root).value_or(kNoLimit); }

void check_memory(std::size_t bytes, const std::string& root) {
  const std::size_t free = available_memory(root);
  if (bytes > free) {
    throw Error("limit",
                "an array of " + std::to_string(bytes) + " B is more than the " + std::to_string(free) +
                    " B of memory that are available here",
                "bytes");
  }
}

Param pages_param() {
  return {"pages",
          ParamType::kStr,
          "",
          "default",
          nullptr,
          nullptr,
          "pages to lie on: the system's choice, small ones, or huge ones (2 MiB, transparent)",
          {"default", "small", "huge"}};
}

std::vector<int> helpers_of(int cpu) {
  constexpr std::size_t kMost = 7;
  std::vector<int> helpers = cpus_beside(cpu, process_cpus());
  helpers.erase(std::remove(helpers.begin(), helpers.end(), cpu), helpers.end());
  helpers.resize(std::min(helpers.size(), kMost));
  return helpers;
}

Pages Pages::room(std::size_t bytes, const std::string& kind) {
  Pages pages;
  pages.data_ = mapped(bytes);
  pages.bytes_ = bytes;
  pages.kind_ = kind;
  if (kind != "default") {
    advise_huge_pages(pages.data_, bytes, kind == "huge");  // info() tells what came of it
  }
  return pages;
}

Pages::Pages(std::size_t bytes, const std::string& kind, const std::vector<int>& helpers)
    : Pages(room(bytes, kind)) {
  touch(bytes, helpers);
}

void Pages::touch(std::size_t bytes, const std::vector<int>& helpers) {
  const std::size_t page = page_bytes();
  if (bytes > touched_) {
    const std::size_t end = (bytes + page - 1) / page * page;  // what is added later begins on a page
    fill(data_ + touched_, end - touched_, helpers);
    touched_ = end;
  }
}

void Pages::rest() noexcept {
  wulf::rest(data_, bytes_);
  touched_ = 0;
}

Pages::Pages(Pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      touched_(std::exchange(other.touched_, 0)),
      kind_(std::move(other.kind_)) {}

Pages& Pages::operator=(Pages&& other) noexcept {
  if (this != &other) {
    unmap_aligned(data_, bytes_);
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    touched_ = std::exchange(other.touched_, 0);
    kind_ = std::move(other.kind_);
  }
  return *this;
}

Pages::~Pages() { unmap_aligned(data_, bytes_); }

Json Pages::info() const {
  std::ifstream file("/proc/self/smaps");
  std::string line;
  bool inside = false;
  std::size_t resident = 0;
  std::size_t huge = 0;
  const auto ours = reinterpret_cast<std::uintptr_t>(data_);
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    char dash = 0;
    if (words >> std::hex >> first >> dash >> last && dash == '-') {
      inside = ours < last && ours + std::max<std::size_t>(bytes_, 1) > first;
      continue;
    }
    std::istringstream field(line);
    std::string name;
    std::size_t kib = 0;
    if (inside && field >> name >> kib) {
      resident += name == "Rss:" ? kib * kKibi : 0;
      huge += name == "AnonHugePages:" ? kib * kKibi : 0;
    }
  }
  return {{"asked", kind_}, {"small", resident - std::min(huge, resident)}, {"huge", huge}};
}

}  // namespace wulf::node
