#pragma once

#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "core/json/params.hpp"
#include "core/session/registry.hpp"
#include "net/channel/lane.hpp"
#include "net/channel/transport.hpp"

namespace wulf::net {

class ClientRun;
class ServerRun;

/// What one replicate gave.
struct Outcome {
  Json metrics = Json::object();
  double seconds = 0;              ///< the measured time, warm-up excluded
  Json client_counters = nullptr;  ///< host counters of the measured time; null = there is no such side
  Json server_counters = nullptr;
  Json info = Json::object();
  Json during = Json::object();  ///< {"client", "server"}: what During saw at either end
};

/// What is done over a transport. An addition is one file in patterns/ that registers itself.
class Pattern {
 public:
  Pattern(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help)) {}
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  Pattern(Pattern&&) = delete;
  Pattern& operator=(Pattern&&) = delete;
  virtual ~Pattern() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Json describe() const;

  /// The parameters of this pattern alone; those of every pattern are added by all_params().
  [[nodiscard]] virtual std::vector<Param> params() const = 0;
  [[nodiscard]] std::vector<Param> all_params() const;
  [[nodiscard]] virtual std::vector<Metric> metrics() const = 0;
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
  std::string name_;
  std::string help_;
};

}  // namespace wulf::net
