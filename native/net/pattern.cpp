#include "net/pattern.hpp"

#include "core/error.hpp"

namespace wulf::net {
namespace {

/// What every run can be told, whatever its pattern.
std::vector<Param> common_params() {
  constexpr int kMostCpus = 8191;
  constexpr double kShortest = 0.01;
  constexpr double kLongest = 600;
  return {
      {"cpu", ParamType::kInt, "", nullptr, 0, kMostCpus,
       "CPU of the client's measuring threads; null = any"},
      {"server_cpu", ParamType::kInt, "", nullptr, 0, kMostCpus,
       "CPU of the server's measuring threads; null = as `serve` was told, or any"},
      {"timeout", ParamType::kFloat, "s", 2.0, kShortest, kLongest,
       "how long nothing may move before the run is given up"},
      {"start_at", ParamType::kFloat, "s", nullptr, 0, nullptr,
       "when the warm-up begins, by the client's monotonic clock, at most `timeout` from now; connections "
       "are open by then; null = at once"}};
}

}  // namespace

Json Pattern::describe() const {
  Json json{{"name", name_},
            {"help", help_},
            {"transports", Json::array()},
            {"params", Json::array()},
            {"metrics", Json::array()}};
  for (const Transport* transport : Registry<Transport>::all()) {
    if (supports(*transport)) {
      json["transports"].push_back(transport->name());
    }
  }
  for (const Param& param : all_params()) {
    json["params"].push_back(param.describe());
  }
  for (const Metric& metric : metrics()) {
    json["metrics"].push_back(metric.describe());
  }
  return json;
}

std::vector<Param> Pattern::all_params() const {
  std::vector<Param> list = params();
  for (Param& param : common_params()) {
    list.push_back(std::move(param));
  }
  return list;
}

Json Pattern::settle(const Json& given, const Transport& transport) const {
  if (!supports(transport)) {
    throw bad_parameter("transport", "the pattern " + name_ + " does not run over " + transport.name());
  }
  Json settled = resolve(all_params(), given);
  Json& bytes = settled["bytes"];
  if (bytes.is_null()) {
    bytes = transport.spec().default_write;
  }
  if (bytes.get<std::int64_t>() > transport.spec().max_bytes) {
    throw bad_parameter("bytes", "bytes is " + bytes.dump() + ", but must be at most " +
                                     std::to_string(transport.spec().max_bytes) +
                                     " B: the longest message of " + transport.name());
  }
  return settled;
}

}  // namespace wulf::net
