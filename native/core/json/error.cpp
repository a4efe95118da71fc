#include "core/json/error.hpp"

#include <system_error>

namespace wulf {

Error bad_parameter(std::string field, const std::string& message) {
  return {"bad-parameter", message, std::move(field)};
}

Error system_error(std::string code, const std::string& what, int error_number) {
  return {std::move(code), what + ": " + std::generic_category().message(error_number)};
}

}  // namespace wulf
