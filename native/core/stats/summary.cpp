#include "core/stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace wulf {

Json no_value(const std::string& unit, const std::string& reason) {
  return {{"unit", unit}, {"value", nullptr}, {"reason", reason}};
}

double quantile_of_sorted(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + ((place - static_cast<double>(below)) * (sorted[above] - sorted[below]));
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0.0 : quantile_of_sorted(values, 0.5);
}

Json summary(const std::string& unit, std::vector<double> figures, std::uint64_t operations) {
  std::sort(figures.begin(), figures.end());
  const auto count = static_cast<double>(figures.size());
  const double mean = std::accumulate(figures.begin(), figures.end(), 0.0) / count;
  double squares = 0;
  for (const double figure : figures) {
    squares += (figure - mean) * (figure - mean);
  }
  return {{"unit", unit},
          {"value", quantile_of_sorted(figures, 0.5)},
          {"n", operations},
          {"batches", figures.size()},
          {"mean", mean},
          {"min", figures.front()},
          {"max", figures.back()},
          {"deviation", count > 1 ? std::sqrt(squares / (count - 1)) : 0.0},
          {"quantiles",
           {{"0.5", quantile_of_sorted(figures, 0.5)},
            {"0.9", quantile_of_sorted(figures, 0.9)},
            {"0.99", quantile_of_sorted(figures, 0.99)}}}};
}

}  // namespace wulf
