#include "node/time/timing.hpp"

#include <numeric>

namespace wulf::node {
namespace {

std::vector<double> sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

double Samples::median() const { return quantile_of_sorted(sorted(each_), 0.5); }

double Samples::mean() const {
  return std::accumulate(each_.begin(), each_.end(), 0.0) / static_cast<double>(each_.size());
}

double Samples::deviation() const { return metric().at("deviation").get<double>(); }

Samples Samples::less(double seconds_each) const {
  Samples rest = *this;
  for (double& each : rest.each_) {
    each -= seconds_each;
  }
  rest.spent_ -= seconds_each * static_cast<double>(operations_);
  return rest;
}

Samples Samples::split(std::uint64_t parts) const {
  Samples pieces = *this;
  for (double& each : pieces.each_) {
    each /= static_cast<double>(parts);
  }
  pieces.operations_ *= parts;
  return pieces;
}

Json Samples::metric() const { return summary("s", each_, operations_); }

Json Samples::metric_above_zero(const std::string& reason) const {
  return median() > 0 ? metric() : no_value("s", reason);
}

Json Samples::rate(const std::string& unit, double per_operation) const {
  std::vector<double> rates;
  rates.reserve(each_.size());
  for (const double each : each_) {
    rates.push_back(per_operation / each);
  }
  return summary(unit, std::move(rates), operations_);
}

}  // namespace wulf::node
