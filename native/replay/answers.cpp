#include "replay/answers.hpp"

#include "core/json/error.hpp"
#include "core/json/params.hpp"

namespace wulf::replay {

Json number(Fine numerator, Fine denominator) {
  const Fine whole = numerator / denominator;
  if (whole * denominator == numerator && whole >= INT64_MIN && whole <= INT64_MAX) {
    return static_cast<std::int64_t>(whole);
  }
  return static_cast<double>(static_cast<long double>(numerator) / static_cast<long double>(denominator));
}

bool flag_field(const Json& request, const std::string& name, bool preset) {
  const Json* found = request.find(name);
  if (found == nullptr) {
    return preset;
  }
  if (!found->is_boolean()) {
    throw bad_parameter(name, name + " is " + found->dump() + ", but must be true or false");
  }
  return found->get<bool>();
}

Network network_field(const Json& request, std::uint32_t ranks) {
  const Json* found = request.find("network");
  if (found == nullptr) {
    throw bad_parameter("network", "'network' is missing: give an object");
  }
  return parse_network(*found, ranks);
}

std::int64_t int_or(const Json& request, const std::string& name, std::int64_t preset, std::int64_t min,
                    std::int64_t max) {
  return request.contains(name) ? int_field(request, name, min, max) : preset;
}

}  // namespace wulf::replay
