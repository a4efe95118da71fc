#include "net/service.hpp"

#include "core/host/affinity.hpp"
#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "net/client/run.hpp"

namespace wulf::net {

std::map<std::string, Operation> Service::operations() {
  return {{"serve", {[this](const Json& request) { return serve(request); }}},
          {"stop", {[this](const Json& request) { return stop(request); }}},
          {"run", {run_replicate, /*lengthy=*/true}}};
}

Json Service::describe() {
  return {{"transports", Registry<Transport>::describe()}, {"patterns", Registry<Pattern>::describe()}};
}

Service::Serve Service::read_serve(const Json& request) {
  constexpr std::int64_t kLargestCpu = 8191;
  refuse_unknown_fields(request, {"id", "op", "transport", "address", "key", "cpu"});
  Serve serve{Registry<Transport>::named_in(request, "transport"),
              Address::parse(text_field(request, "address"), 0), parse_key(text_field(request, "key")),
              std::nullopt};
  if (request.contains("cpu") && !request.at("cpu").is_null()) {
    serve.cpu = static_cast<int>(int_field(request, "cpu", 0, kLargestCpu));
    check_cpu(*serve.cpu, "cpu");
  }
  return serve;
}

Json Service::serve(const Json& request) {
  const auto [transport, address, key, cpu] = read_serve(request);
  const std::lock_guard lock(mutex_);
  if (servers_.size() >= kMostServers) {
    throw Error("limit", "already " + std::to_string(kMostServers) + " servers: stop one first");
  }
  auto server = std::make_unique<Server>(transport, address, key, cpu);
  Json answer{
      {"server", ++last_server_}, {"address", server->address().text()}, {"port", server->address().port()}};
  servers_.emplace(last_server_, std::move(server));
  return answer;
}

Json Service::stop(const Json& request) {
  refuse_unknown_fields(request, {"id", "op", "server"});
  const std::int64_t number = int_field(request, "server", 1, INT64_MAX);
  std::unique_ptr<Server> server;
  {
    const std::lock_guard lock(mutex_);
    const auto found = servers_.find(number);
    if (found == servers_.end()) {
      throw bad_parameter("server", "there is no server " + std::to_string(number) + " in this session");
    }
    server = std::move(found->second);
    servers_.erase(found);
  }
  Json counts = server->counts();
  server.reset();
  return counts;
}

}  // namespace wulf::net
