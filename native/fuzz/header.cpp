#include "net/wire/header.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>

#include "core/json/error.hpp"
#include "fuzz/targets.hpp"
#include "net/run/pattern.hpp"
#include "net/server/server.hpp"

namespace wulf::fuzz {
namespace {

using net::Header;
using net::Pattern;
using net::Transport;

constexpr net::Key kKey{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/// A server that admits, but listens nowhere: its transport has none.
net::Server& server() {
  static net::Server instance(*Registry<Transport>::find("null"), net::Address::parse("127.0.0.1", 0), kKey,
                              std::nullopt);
  return instance;
}

/// What was decoded says the same when it is encoded again.
void check_round_trip(const Header& header) {
  const auto bytes = header.encode(kKey);
  const auto again = Header::decode(bytes);
  if (!again || again->encode(kKey) != bytes || again->pattern != header.pattern) {
    std::abort();
  }
}

/// As a server does before it makes a run.
void settle(const std::string& text) {
  const Json params = parse_json(text).value_or(nullptr);
  for (const Pattern* pattern : Registry<Pattern>::all()) {
    for (const Transport* transport : Registry<Transport>::all()) {
      try {
        const Json settled = pattern->settle(params, *transport);
        (void)pattern->lanes(settled);
        (void)net::ChannelOptions::from(settled);
        if (pattern->settle(settled, *transport) != settled) {
          std::abort();  // what was settled once stays as it is
        }
      } catch (const Error&) {
        continue;  // refused: the client is told
      }
    }
  }
}

}  // namespace

void header(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto opening = bytes.first(std::min(size, Header::kSize));
  if (server().admit(opening)) {
    std::abort();  // no input is sealed: that would be a guess of 128 bits
  }
  if (const auto decoded = Header::decode(opening)) {
    check_round_trip(*decoded);
    const auto rest = bytes.subspan(opening.size());
    const auto params = rest.first(std::min<std::size_t>(rest.size(), decoded->params_length));
    settle({reinterpret_cast<const char*>(params.data()), params.size()});
  }
}

}  // namespace wulf::fuzz
