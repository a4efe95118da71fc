#include "node/pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include "core/error.hpp"
#include "core/memory.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kHuge = 2U << 20U;
constexpr std::size_t kKibi = 1024;
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

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

Pages::Pages(std::size_t bytes, const std::string& kind) : bytes_(bytes), kind_(kind) {
  check_memory(bytes);
  mapped_ = ((std::max<std::size_t>(bytes, 1) + kHuge - 1) / kHuge * kHuge) + kHuge;
  mapping_ =
      mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) {
    mapping_ = nullptr;
    throw system_error("limit", "cannot map " + std::to_string(bytes) + " B", errno);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
  data_ = static_cast<std::byte*>(mapping_) + ((kHuge - (address % kHuge)) % kHuge);
  if (kind != "default") {
    // refused where the kernel has no huge pages: info() tells what came of it
    (void)madvise(mapping_, mapped_, kind == "huge" ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  std::memset(data_, 1, bytes);
}

Pages::Pages(Pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      kind_(std::move(other.kind_)) {}

Pages& Pages::operator=(Pages&& other) noexcept {
  if (this != &other) {
    release();
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    mapping_ = std::exchange(other.mapping_, nullptr);
    mapped_ = std::exchange(other.mapped_, 0);
    kind_ = std::move(other.kind_);
  }
  return *this;
}

Pages::~Pages() { release(); }

void Pages::release() noexcept {
  if (mapping_ != nullptr) {
    munmap(mapping_, mapped_);
  }
}

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
