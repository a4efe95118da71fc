#pragma once

#include <map>
#include <string>

#include "core/json/json.hpp"
#include "core/session/session.hpp"
#include "link/relay.hpp"

namespace wulf::link {

/// wulf-link's own operations: open, set, close, status, calibrate.
class Service {
 public:
  [[nodiscard]] std::map<std::string, Operation> operations();

  /// {"params": […]}: what `set` takes.
  [[nodiscard]] static Json describe();

 private:
  Json open(const Json& request);
  Json set(const Json& request);
  Json close(const Json& request);
  Json status(const Json& request);

  Relay& relay();

  std::mutex mutex_;
  std::unique_ptr<Relay> relay_;  ///< from the first link on
};

}  // namespace wulf::link
