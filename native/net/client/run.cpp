#include "net/client/run.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "core/host/affinity.hpp"
#include "core/json/error.hpp"

namespace wulf::net {
namespace {

struct Asked {
  const Pattern& pattern;
  const Transport& transport;
  Json params;
  Address address;
  Key key{};
};

/// Throws bad-parameter where the start lies farther off than the server would wait.
void check_start(const Json& params) {
  const auto start_at = optional_value<double>(params, "start_at");
  const auto timeout = params.at("timeout").get<double>();
  if (start_at && *start_at - to_seconds(now()) > timeout) {
    throw bad_parameter("start_at", "start_at is " + Json(*start_at).dump() +
                                        ", but must be at most the timeout, " + Json(timeout).dump() +
                                        " s, after now, " + Json(to_seconds(now())).dump());
  }
}

Asked read_request(const Json& json) {
  refuse_unknown_fields(json, {"id", "op", "pattern", "transport", "address", "port", "key", "params"});
  const auto& pattern = Registry<Pattern>::named_in(json, "pattern");
  const auto& transport = Registry<Transport>::named_in(json, "transport");
  Asked request{pattern, transport, pattern.settle(json.value("params", Json::object()), transport), {}, {}};
  if (const auto cpu = optional_value<int>(request.params, "cpu")) {
    check_cpu(*cpu, "cpu");
  }
  check_start(request.params);
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
std::unique_ptr<Peer> open_peer(const Asked& request, Header header) {
  if (!request.transport.spec().has_server) {
    return std::make_unique<NullPeer>();
  }
  const auto timeout = request.params.at("timeout").get<double>();
  Socket socket = Socket::create(request.address.family(), SOCK_STREAM);
  socket.connect(request.address, timeout);
  const std::string params = request.params.dump();
  header.params_length = static_cast<std::uint32_t>(params.size());
  const auto bytes = header.encode(request.key, std::as_bytes(std::span(params)));
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

/// Waits for the agreed start, if there is one. Returns what the answer says of it. Throws what the server
/// says meanwhile, or `peer-lost`.
Json await_start(ClientRun& run) {
  constexpr Nanoseconds kExact = 2 * kMillisecond;  // poll(2) counts whole milliseconds: the rest is slept
  const auto start_at = optional_value<double>(run.params(), "start_at");
  if (!start_at) {
    return Json::object();
  }
  const Nanoseconds start = from_seconds(*start_at);
  while (start - now() > kExact) {
    if (wait_for(run.peer().fd(), POLLIN, start - kExact)) {
      (void)run.peer().poll();
    }
  }
  const timespec until{start / kSecond, start % kSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
  const Nanoseconds started = now();
  return {{"started_at", to_seconds(started)},
          {"late_seconds", to_seconds(std::max<Nanoseconds>(started - start, 0))}};
}

}  // namespace

void check_run(const Json& json) { (void)read_request(json); }

Json run_replicate(const Json& json) {
  const Asked request = read_request(json);
  Header header{.run = random_number(), .pattern = request.pattern.name()};
  ClientRun run(request.transport, request.address, request.params, open_peer(request, header));
  header.kind = Kind::kData;
  const ChannelOptions options = ChannelOptions::from(request.params);
  for (std::size_t i = 0; i < request.pattern.lanes(request.params); ++i) {
    header.channel = static_cast<std::uint32_t>(i);
    Lane& lane = run.lanes().emplace_back();
    lane.index = header.channel;
    const Opening opening{header, header.encode(request.key)};
    lane.channel = request.transport.connect(request.address, opening, options, run.timeout());
  }
  const Json start = await_start(run);
  Outcome outcome = request.pattern.measure(run);
  outcome.info.update(start);
  return outcome.answer();
}

}  // namespace wulf::net
