#include "node/timing.hpp"

#include <cmath>
#include <numeric>

namespace wulf::node {
namespace {

/// Of sorted values, between the two nearest (type 7 of Hyndman and Fan, 1996).
double quantile(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + ((place - static_cast<double>(below)) * (sorted[above] - sorted[below]));
}

std::vector<double> sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

Json described(const std::string& unit, std::vector<double> values, std::uint64_t operations) {
  values = sorted(std::move(values));
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  return {
      {"unit", unit},
      {"value", quantile(values, 0.5)},
      {"n", operations},
      {"batches", values.size()},
      {"mean", mean},
      {"min", values.front()},
      {"max", values.back()},
      {"deviation", count > 1 ? std::sqrt(squares / (count - 1)) : 0.0},
      {"quantiles",
       {{"0.5", quantile(values, 0.5)}, {"0.9", quantile(values, 0.9)}, {"0.99", quantile(values, 0.99)}}}};
}

}  // namespace

Json no_value(const std::string& unit, const std::string& reason) {
  return {{"unit", unit}, {"value", nullptr}, {"reason", reason}};
}

double Samples::median() const { return quantile(sorted(each_), 0.5); }

double Samples::mean() const {
  return std::accumulate(each_.begin(), each_.end(), 0.0) / static_cast<double>(each_.size());
}

double Samples::deviation() const { return metric().at("deviation").get<double>(); }

Samples Samples::split(std::uint64_t parts) const {
  Samples smaller = *this;
  smaller.operations_ *= parts;
  for (double& each : smaller.each_) {
    each /= static_cast<double>(parts);
  }
  return smaller;
}

Json Samples::metric() const { return described("s", each_, operations_); }

Json Samples::rate(const std::string& unit, double per_operation) const {
  std::vector<double> rates;
  rates.reserve(each_.size());
  for (const double each : each_) {
    rates.push_back(per_operation / each);
  }
  return described(unit, std::move(rates), operations_);
}

}  // namespace wulf::node
