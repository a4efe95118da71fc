#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

namespace wulf::node {

/// What this host cannot do, or does not let us do: `run` answers with metrics without a value, and with
/// these words as their reason. Error is for requests that are wrong.
class Unavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// "what: the system's words for errno".
  Unavailable(const std::string& what, int error_number)
      : std::runtime_error(what + ": " + std::generic_category().message(error_number)) {}
};

}  // namespace wulf::node
