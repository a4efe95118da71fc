#include "net/client_run.hpp"

#include <random>

#include "core/affinity.hpp"
#include "core/error.hpp"
#include "net/parts.hpp"

namespace wulf::net {
namespace {

struct Request {
  const Pattern& pattern;
  const Transport& transport;
  Json params;
  Address address;
  Key key{};
};

Request read_request(const Json& json) {
  refuse_unknown_fields(json, {"id", "op", "pattern", "transport", "address", "port", "key", "params"});
  Request request{find_part<Pattern>(json, "pattern"), find_part<Transport>(json, "transport"), {}, {}, {}};
  request.params = request.pattern.settle(json.value("params", Json::object()), request.transport);
  if (const auto cpu = optional_value<int>(request.params, "cpu")) {
    check_cpu(*cpu, "cpu");
  }
  if (request.transport.spec().has_server) {
    constexpr int kLargestPort = 65535;
    request.address = Address::parse(text_field(json, "address"),
                                     static_cast<std::uint16_t>(int_field(json, "port", 1, kLargestPort)));
    request.key = parse_key(text_field(json, "key"));
  }
  return request;
}

std::uint64_t random_number() {
  std::random_device device;
  constexpr unsigned kHalf = 32;
  return (static_cast<std::uint64_t>(device()) << kHalf) | device();
}

/// Opens the control connection; the server checks key and parameters.
std::unique_ptr<Peer> open_peer(const Request& request, Header header) {
  if (!request.transport.spec().has_server) {
    return std::make_unique<NullPeer>();
  }
  const auto timeout = request.params.at("timeout").get<double>();
  Socket socket = Socket::create(request.address.family(), SOCK_STREAM);
  socket.connect(request.address, timeout);
  const std::string params = request.params.dump();
  header.params_length = static_cast<std::uint32_t>(params.size());
  const auto bytes = header.encode();
  std::string opening(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  opening += params;
  try {
    send(socket.fd(), opening.data(), opening.size(), MSG_NOSIGNAL);
    auto peer = std::make_unique<ServerPeer>(Control(std::move(socket)), timeout);
    (void)peer->await();
    return peer;
  } catch (const Error& error) {
    if (error.code() == "peer-lost") {
      throw Error("refused",
                  "the server at " + request.address.text() + " port " +
                      std::to_string(request.address.port()) +
                      " closed the connection without an answer: the key is wrong, or it serves its limit");
    }
    throw;
  }
}

Json answer(Outcome outcome) {
  Json counters = Json::object();
  if (!outcome.client_counters.is_null()) {
    counters["client"] = std::move(outcome.client_counters);
  }
  if (!outcome.server_counters.is_null()) {
    counters["server"] = std::move(outcome.server_counters);
  }
  return {{"metrics", std::move(outcome.metrics)},
          {"seconds", outcome.seconds},
          {"counters", std::move(counters)},
          {"during", std::move(outcome.during)},
          {"info", std::move(outcome.info)}};
}

}  // namespace

Json run_replicate(const Json& json) {
  const Request request = read_request(json);
  Header header{.key = request.key, .run = random_number(), .pattern = request.pattern.name()};
  ClientRun run(request.transport, request.params, open_peer(request, header));
  header.kind = Kind::kData;
  const SocketOptions options = SocketOptions::from(request.params);
  for (std::size_t i = 0; i < request.pattern.lanes(request.params); ++i) {
    header.channel = static_cast<std::uint32_t>(i);
    run.lanes().emplace_back().channel =
        request.transport.connect(request.address, header, options, run.timeout());
  }
  return answer(request.pattern.measure(run));
}

}  // namespace wulf::net
