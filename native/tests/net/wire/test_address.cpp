#include <string>

#include "core/json/error.hpp"
#include "net/wire/address.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

TEST_CASE("addresses are numeric, IPv4 or IPv6") {
  CHECK(Address::parse("10.0.0.1", 80).text() == "10.0.0.1");
  CHECK(Address::parse("10.0.0.1", 80).port() == 80);
  CHECK(Address::parse("::1", 81).text() == "::1");
  CHECK(Address::parse("fe80::1%lo", 81).text() == "fe80::1%lo");
  CHECK(Address::parse("0.0.0.0", 0).is_wildcard());
  CHECK(Address::parse("::", 0).is_wildcard());
  CHECK_FALSE(Address::parse("::1", 0).is_wildcard());
  CHECK(Address::parse("::1", 5).same_host(Address::parse("::1", 6)));
  CHECK_FALSE(Address::parse("::1", 5).same_host(Address::parse("::2", 5)));
  CHECK_FALSE(Address::parse("127.0.0.1", 5).same_host(Address::parse("::1", 5)));
  for (const std::string bad : {"", "localhost", "10.0.0", "10.0.0.256", "fe80::1%no-such-nic", "1.2.3.4 "}) {
    INFO(bad);
    CHECK_THROWS_AS(Address::parse(bad, 1), Error);
  }
}

}  // namespace
