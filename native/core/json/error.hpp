#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace wulf {

/// What a session answers when a request fails: a code for programs, a message for people.
///
/// The codes stand in ARCHITECTURE.md. `field` names the request's field or parameter, where one is to blame.
class Error : public std::runtime_error {
 public:
  Error(std::string code, const std::string& message, std::string field = "")
      : std::runtime_error(message), code_(std::move(code)), field_(std::move(field)) {}

  [[nodiscard]] const std::string& code() const { return code_; }
  [[nodiscard]] const std::string& field() const { return field_; }

 private:
  std::string code_;
  std::string field_;
};

/// A parameter that is missing, of the wrong type or out of its limits.
[[nodiscard]] Error bad_parameter(std::string field, const std::string& message);

/// "what: the system's words for errno"; the code as given.
[[nodiscard]] Error system_error(std::string code, const std::string& what, int error_number);

}  // namespace wulf
