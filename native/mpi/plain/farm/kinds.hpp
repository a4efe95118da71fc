#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mpi/plain/farm/work.hpp"

namespace wulf::mpi {

/// Units of several lengths. Which unit is of which kind hangs on a seed alone, so that every rank draws the
/// same.
class Kinds {
 public:
  /// `text`: "1:0.5,10:0.5", the relative length and the share of each. Throws bad-parameter.
  Kinds(const std::string& text, std::uint32_t seed);

  /// The kind of a unit, from 0 on.
  [[nodiscard]] std::size_t of(std::uint32_t unit) const noexcept;
  /// Of each kind; their mean, by shares, is 1.
  [[nodiscard]] const std::vector<double>& lengths() const { return lengths_; }
  /// Of each kind; together 1.
  [[nodiscard]] const std::vector<double>& shares() const { return shares_; }
  /// The mean length of the units 0 … units - 1, as drawn.
  [[nodiscard]] double mean(std::uint32_t units) const noexcept;

 private:
  std::uint32_t seed_;
  std::vector<double> lengths_;
  std::vector<double> shares_;
};

/// Units of several kinds: `make` makes the work of one, of its relative length.
[[nodiscard]] std::unique_ptr<Work> work_of_kinds(const Kinds& kinds,
                                                  const std::function<std::unique_ptr<Work>(double)>& make);

}  // namespace wulf::mpi
