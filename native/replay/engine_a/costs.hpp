#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replay/engine_a/lanes.hpp"
#include "replay/program/program.hpp"
#include "replay/run/network.hpp"

namespace wulf::replay {

/// Which cost each message of a program has, given who shares a host: an index of a table of costs.
///
/// Where no two ranks of a message share a host, that is the index of its size; else twice that, plus 1
/// within a host.
class CostClasses {
 public:
  CostClasses(const Program& program, const std::vector<std::uint32_t>& hosts);

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::uint64_t bytes(std::size_t each) const {
    return program_->sizes[split_ ? each / 2 : each];
  }
  /// What connecting adds at the sender.
  [[nodiscard]] Picoseconds connect(std::size_t each) const {
    return intra(each) ? 0 : program_->connect_of(split_ ? each / 2 : each);
  }
  [[nodiscard]] bool intra(std::size_t each) const { return split_ && each % 2 == 1; }
  /// By message; null where all messages are of class 0.
  [[nodiscard]] const std::uint32_t* of_messages() const;
  [[nodiscard]] std::uint32_t of(std::uint32_t message) const;
  [[nodiscard]] const LinkClass& link(const Network& network, std::size_t each) const {
    return intra(each) ? network.intra : network.inter;
  }
  /// Throws bad-parameter where a run on the network could take longer than 53 days, half of what 64 bits
  /// hold.
  void check(const Network& network) const;

 private:
  const Program* program_;
  bool split_ = false;
  std::size_t count_ = 0;
  std::vector<std::uint32_t> classes_;   ///< only where split
  std::vector<std::uint64_t> messages_;  ///< how many there are, by class
  long double computing_ = 0;            ///< all ranks' together
};

/// A table of costs for lanes of the type V. Lanes beyond the networks repeat the last one.
template <typename V>
[[nodiscard]] std::vector<Cost<V>> make_costs(const CostClasses& classes,
                                              std::span<const Network* const> networks);

}  // namespace wulf::replay
