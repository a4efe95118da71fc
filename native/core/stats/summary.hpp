#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json/json.hpp"

namespace wulf {

/// A metric that has no value here, and why.
[[nodiscard]] Json no_value(const std::string& unit, const std::string& reason);

/// The quantile of sorted values, between the two nearest (type 7 of Hyndman and Fan, 1996). At least one
/// value.
[[nodiscard]] double quantile_of_sorted(const std::vector<double>& sorted, double q);

/// The quantile .5 of values in any order; 0 of none.
[[nodiscard]] double median_of(std::vector<double> values);

/// A metric from one figure a batch: {"unit", "value": their median, "n": `operations` in all, "batches",
/// "mean", "min", "max", "deviation", "quantiles"}. At least one figure.
[[nodiscard]] Json summary(const std::string& unit, std::vector<double> figures, std::uint64_t operations);

}  // namespace wulf
