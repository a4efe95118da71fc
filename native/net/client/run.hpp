#pragma once

#include <memory>

#include "core/json/json.hpp"
#include "net/client/crew.hpp"
#include "net/run/pattern.hpp"

namespace wulf::net {

/// A run as its client sees it: settled parameters, open lanes, and the peer.
class ClientRun {
 public:
  ClientRun(const Transport& transport, const Address& address, Json params, std::unique_ptr<Peer> peer)
      : transport_(transport), address_(address), params_(std::move(params)), peer_(std::move(peer)) {}

  [[nodiscard]] const Transport& transport() const { return transport_; }
  /// The server's.
  [[nodiscard]] const Address& address() const { return address_; }
  [[nodiscard]] const Json& params() const { return params_; }
  [[nodiscard]] Peer& peer() { return *peer_; }
  [[nodiscard]] Lanes& lanes() { return lanes_; }

  template <typename T>
  [[nodiscard]] T param(const std::string& name) const {
    return params_.at(name).get<T>();
  }
  [[nodiscard]] std::optional<int> cpu() const { return optional_value<int>(params_, "cpu"); }
  [[nodiscard]] double timeout() const { return param<double>("timeout"); }

 private:
  const Transport& transport_;
  Address address_;
  Json params_;
  std::unique_ptr<Peer> peer_;
  Lanes lanes_;
};

/// Throws what run_replicate would before it touches the network: an unknown part, a bad parameter, address
/// or key.
void check_run(const Json& json);

/// The operation `run`, whose request is `json`: one replicate with fresh sockets and buffers. Returns the
/// answer's fields.
[[nodiscard]] Json run_replicate(const Json& json);

}  // namespace wulf::net
