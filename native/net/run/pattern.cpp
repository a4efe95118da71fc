#include "net/run/pattern.hpp"

#include <algorithm>

#include "core/json/error.hpp"

namespace wulf::net {
namespace {

/// Throws bad-parameter where a parameter asks for what the transport's channels do not have.
void check_options(const Transport& transport, const Json& settled, const std::vector<Param>& params) {
  const auto& has = transport.spec().options;
  for (const Param& option : channel_params(/*nodelay=*/true)) {
    const auto own =
        std::find_if(params.begin(), params.end(), [&](const Param& p) { return p.name == option.name; });
    if (own != params.end() && settled.at(option.name) != own->preset &&
        std::find(has.begin(), has.end(), option.name) == has.end()) {
      throw bad_parameter(option.name, transport.name() + " has no " + option.name);
    }
  }
}

}  // namespace

Json Pattern::needs() const {
  Json names = Json::array();
  for (const Transport* transport : Registry<Transport>::all()) {
    if (supports(*transport)) {
      names.push_back(transport->name());
    }
  }
  return {{"transports", std::move(names)}};
}

std::vector<Param> Pattern::common_params() const {
  constexpr int kMostCpus = 8191;
  constexpr int kMostCall = 16 << 20;
  constexpr double kShortest = 0.01;
  constexpr double kLongest = 600;
  return {
      {"cpu", ParamType::kInt, "", nullptr, 0, kMostCpus,
       "CPU of the client's measuring threads; null = any"},
      {"server_cpu", ParamType::kInt, "", nullptr, 0, kMostCpus,
       "CPU of the server's measuring threads; null = as `serve` was told, or any"},
      {"call_bytes", ParamType::kInt, "B", nullptr, 1, kMostCall,
       "byte streams: most bytes a call; a longer message takes several; null = the whole message"},
      {"cold", ParamType::kBool, "", false, nullptr, nullptr,
       "every message lies in memory that was not used lately (64 MiB are walked through); false = in "
       "the same"},
      {"timeout", ParamType::kFloat, "s", 2.0, kShortest, kLongest,
       "how long nothing may move before the run is given up"},
      {"start_at", ParamType::kFloat, "s", nullptr, 0, nullptr,
       "when the warm-up begins, by the client's monotonic clock, at most `timeout` from now; connections "
       "are open by then; null = at once"}};
}

Json Pattern::settle(const Json& given, const Transport& transport) const {
  if (!supports(transport)) {
    throw bad_parameter("transport", "the pattern " + name() + " does not run over " + transport.name());
  }
  Json settled = Probe::settle(given);
  check_options(transport, settled, all_params());
  Json& bytes = settled["bytes"];
  if (bytes.is_null()) {
    bytes = transport.spec().default_write;
  }
  if (bytes.get<std::int64_t>() > transport.spec().max_bytes) {
    throw bad_parameter("bytes", "bytes is " + bytes.dump() + ", but must be at most " +
                                     std::to_string(transport.spec().max_bytes) +
                                     " B: the longest message of " + transport.name());
  }
  if (transport.spec().datagrams && !settled["call_bytes"].is_null()) {
    throw bad_parameter("call_bytes", transport.name() + " sends a message with one call: it has datagrams");
  }
  return settled;
}

}  // namespace wulf::net
