#include "replay/operations/answers.hpp"

namespace wulf::replay {

Json number(Fine numerator, Fine denominator) {
  const Fine whole = numerator / denominator;
  if (whole * denominator == numerator && whole >= INT64_MIN && whole <= INT64_MAX) {
    return static_cast<std::int64_t>(whole);
  }
  return static_cast<double>(static_cast<long double>(numerator) / static_cast<long double>(denominator));
}

}  // namespace wulf::replay
