#pragma once

#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "core/session/probe.hpp"
#include "core/session/registry.hpp"
#include "net/channel/lane.hpp"
#include "net/channel/transport.hpp"

namespace wulf::net {

class ClientRun;
class ServerRun;

/// What is done over a transport. An addition is one file in patterns/.
class Pattern : public Probe {
 public:
  Pattern(std::string name, std::string help) : Probe(std::move(name), "", std::move(help)) {}

  [[nodiscard]] virtual bool supports(const Transport& transport) const = 0;

  /// Every parameter with its value, checked against the transport too. Throws bad-parameter.
  [[nodiscard]] Json settle(const Json& given, const Transport& transport) const;

  /// How many data channels a run with these parameters has.
  [[nodiscard]] virtual std::size_t lanes(const Json& params) const = 0;

  /// The client: one replicate over the lanes that are open.
  [[nodiscard]] virtual Outcome measure(ClientRun& run) const = 0;

  /// The server's end of the run's conversation. The lanes serve meanwhile.
  virtual void attend(ServerRun& run) const = 0;

  /// The server's end of one lane, in a thread of its own, until the channel closes.
  virtual void serve(Lane& lane, const Json& params, bool datagrams) const = 0;

 private:
  [[nodiscard]] std::vector<Param> common_params() const override;
  /// The transports that it runs over.
  [[nodiscard]] Json needs() const override;
};

}  // namespace wulf::net
