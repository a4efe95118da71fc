#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "core/json/json.hpp"
#include "core/session/session.hpp"
#include "net/server/server.hpp"

namespace wulf::net {

/// wulf-net's own operations: serve, stop, run.
class Service {
 public:
  [[nodiscard]] std::map<std::string, Operation> operations();

  /// {"transports": […], "patterns": […]}: what was linked in.
  [[nodiscard]] static Json describe();

  /// What `serve` is asked for.
  struct Serve {
    const Transport& transport;
    Address address;
    Key key{};
    std::optional<int> cpu;
  };
  /// Throws bad-parameter or `address`.
  [[nodiscard]] static Serve read_serve(const Json& request);

 private:
  Json serve(const Json& request);
  Json stop(const Json& request);

  static constexpr std::size_t kMostServers = 64;

  std::mutex mutex_;
  std::int64_t last_server_ = 0;
  std::map<std::int64_t, std::unique_ptr<Server>> servers_;
};

}  // namespace wulf::net
