#include <optional>

#include "core/json/error.hpp"
#include "net/server/server.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

TEST_CASE("a server is refused every address of the host") {
  const Key key{};
  CHECK_THROWS_AS(Server(*Registry<Transport>::find("tcp"), Address::parse("0.0.0.0", 0), key, std::nullopt),
                  Error);
  CHECK_THROWS_AS(Server(*Registry<Transport>::find("tcp"), Address::parse("::", 0), key, std::nullopt),
                  Error);
}

}  // namespace
