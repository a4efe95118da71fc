#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "core/json/params.hpp"

namespace wulf::node {

/// How much memory may still be taken here: what the system has left, or what is left below the control
/// group's limit, whichever is less. `root` ("" = this machine) is where /proc and /sys are.
[[nodiscard]] std::size_t available_memory(const std::string& root = "");

/// Throws Error "limit" with both figures where `bytes` is more than available_memory(root).
void check_memory(std::size_t bytes, const std::string& root = "");

/// The parameter `pages` of every probe that allocates: "default", "small" (4 KiB or the system's), "huge".
[[nodiscard]] Param pages_param();

/// CPUs that may help the calling thread, bound to `cpu`, to touch its pages: others of this process on the
/// same NUMA node, since a page lies where it was first touched. A few, which a node's memory keeps up with.
[[nodiscard]] std::vector<int> helpers_of(int cpu);

/// Fresh anonymous memory, every page of it touched (an untouched one is the shared zero page). Every byte is
/// 1, which as doubles makes 7.7e-304: a normal number, with which arithmetic is as fast as with any.
class Pages {
 public:
  /// Throws Error "limit" with both figures where `bytes` is more than is available, and bad-parameter for a
  /// kind that is none. `helpers` are CPUs besides the calling thread's that touch a part of the pages each,
  /// which a kernel otherwise takes 50 ms for 128 MiB for: helpers_of.
  Pages(std::size_t bytes, const std::string& kind, const std::vector<int>& helpers = {});

  /// Room for so many bytes, of which none is touched: touch() lays them on pages as they are needed.
  [[nodiscard]] static Pages room(std::size_t bytes, const std::string& kind);
  /// Touches what has not been of the first `bytes`, and leaves the rest as it is.
  void touch(std::size_t bytes, const std::vector<int>& helpers);
  /// Leaves the memory to the kernel, should it run short of it, until this is destroyed.
  void rest() noexcept;

  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;
  ~Pages();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] const std::string& kind() const noexcept { return kind_; }

  template <typename T>
  [[nodiscard]] std::span<T> as() const noexcept {
    return {reinterpret_cast<T*>(data_), bytes_ / sizeof(T)};
  }

  /// {"asked", "small": bytes, "huge": bytes}: what it really lies on, by /proc/self/smaps.
  [[nodiscard]] Json info() const;

 private:
  Pages() = default;

  std::byte* data_ = nullptr;  ///< aligned to 2 MiB
  std::size_t bytes_ = 0;
  std::size_t touched_ = 0;
  std::string kind_;
};

}  // namespace wulf::node
