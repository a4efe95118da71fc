#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace wulf::node {

/// The NUMA nodes that have memory, ascending; {0} where the system tells of none. `root` ("" = this machine)
/// is where /sys is.
[[nodiscard]] std::vector<int> memory_nodes(const std::string& root = "");

/// Those of `cpus` that lie on the NUMA node of `cpu`; all of them where the system does not tell. `root` as
/// above.
[[nodiscard]] std::vector<int> cpus_beside(int cpu, const std::vector<int>& cpus,
                                           const std::string& root = "");

/// "0-1,4" → {0, 1, 4}; what is no number is left out.
[[nodiscard]] std::vector<int> numbers_of(const std::string& list);

/// While it lives, what the calling thread touches first lies on one NUMA node.
class MemoryPolicy {
 public:
  explicit MemoryPolicy(int node);
  MemoryPolicy(const MemoryPolicy&) = delete;
  MemoryPolicy& operator=(const MemoryPolicy&) = delete;
  MemoryPolicy(MemoryPolicy&&) = delete;
  MemoryPolicy& operator=(MemoryPolicy&&) = delete;
  ~MemoryPolicy();

  /// Why it could not be set; empty = it was.
  [[nodiscard]] const std::string& refused() const { return refused_; }

 private:
  std::string refused_;
};

/// Which of some pages of this memory lie on `node`.
struct Placement {
  std::size_t asked = 0;  ///< pages looked at
  std::size_t there = 0;
  std::string reason;  ///< why none could be looked at
};
[[nodiscard]] Placement placement(const void* memory, std::size_t bytes, int node);

}  // namespace wulf::node
