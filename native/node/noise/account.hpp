#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "core/json/json.hpp"
#include "node/noise/attribution.hpp"

namespace wulf::node {

/// What culprits took, over all absences of a measurement.
class NoiseAccount {
 public:
  explicit NoiseAccount(std::size_t worst) : most_(worst) {}

  /// An absence, its pieces, and what of it an ordinary step of the loop takes anyway, which is nobody's.
  void add(const Absence& absence, std::vector<Piece> pieces);

  [[nodiscard]] std::uint64_t absences() const noexcept { return absences_; }
  [[nodiscard]] Nanoseconds total() const noexcept { return total_; }
  [[nodiscard]] Nanoseconds longest() const noexcept {
    return worst_.empty() ? 0 : worst_.front().absence.length;
  }

  /// What each source took, in nanoseconds.
  [[nodiscard]] std::array<Nanoseconds, kSources> by_source(const Culprits& culprits) const;

  /// [{"class", "name", "pid", "count", "total", "longest"}, …], who took most first, in seconds. Culprits
  /// that agree in class, name and pid are one: functions get their names after they were told apart.
  [[nodiscard]] Json table(const Culprits& culprits) const;

  /// The longest absences, longest first: [{"at", "length", "pieces": [{"class", "name", "pid", "at",
  /// "length"}]}], in seconds since `start`. Of one with many pieces the longest are told, and `more` says
  /// how many are not.
  [[nodiscard]] Json worst(const Culprits& culprits, Nanoseconds start) const;

 private:
  struct Share {
    std::uint64_t count = 0;
    Nanoseconds total = 0;
    Nanoseconds longest = 0;
  };
  struct Detour {
    Absence absence;
    std::vector<Piece> pieces;
  };

  std::size_t most_;
  std::uint64_t absences_ = 0;
  Nanoseconds total_ = 0;
  std::map<std::size_t, Share> shares_;
  std::vector<Detour> worst_;  ///< longest first
};

/// {"class", "name", "pid"}; the last only of a task.
[[nodiscard]] Json to_json(const Culprit& culprit);

}  // namespace wulf::node
