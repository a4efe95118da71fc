#pragma once

#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "core/json/params.hpp"

namespace wulf {

/// What one replicate gave. `counters` and `during` have a member for each end, "client" and "server", that
/// there is.
struct Outcome {
  Json metrics = Json::object();   ///< name → {"unit", "value", …}, or a reason in the value's place
  double seconds = 0;              ///< the measured time, warm-up excluded
  Json counters = Json::object();  ///< what the end's host counted in the measured time
  Json during = nullptr;           ///< what was seen of the end meanwhile; null = nobody looked
  Json info = Json::object();      ///< what was really used: pages, threads, algorithm …

  /// The fields of the answer to `run`.
  [[nodiscard]] Json answer() const;
};

/// One thing that a program can measure. A request names it (Registry::named_in), gives its parameters
/// (settle), and gets what a replicate gave (Outcome::answer). How a replicate is made is its kind's:
/// net::Pattern, node::HostProbe, mpi::RankProbe. An addition is one file that registers itself.
class Probe {
 public:
  /// `group`: what it is listed among; empty where its kind has no groups.
  Probe(std::string name, std::string group, std::string help)
      : name_(std::move(name)), group_(std::move(group)), help_(std::move(help)) {}
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  Probe(Probe&&) = delete;
  Probe& operator=(Probe&&) = delete;
  virtual ~Probe() = default;

  [[nodiscard]] const std::string& name() const { return name_; }

  /// {"name", "group", "help", what needs() says, "params", "metrics"}.
  [[nodiscard]] Json describe() const;

  /// The parameters of this probe alone; all_params() adds those of every probe of its kind.
  [[nodiscard]] virtual std::vector<Param> params() const = 0;
  [[nodiscard]] std::vector<Param> all_params() const;

  /// The first one decides when it has been measured long enough.
  [[nodiscard]] virtual std::vector<Metric> metrics() const = 0;

  /// Every parameter with its given or default value. Throws bad-parameter.
  [[nodiscard]] Json settle(const Json& given) const { return resolve(all_params(), given); }

 private:
  [[nodiscard]] virtual std::vector<Param> common_params() const = 0;
  /// What there must be for it, as describe() says it: transports, ranks.
  [[nodiscard]] virtual Json needs() const { return Json::object(); }

  std::string name_;
  std::string group_;
  std::string help_;
};

}  // namespace wulf
