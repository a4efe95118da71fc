#include "core/json.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST_CASE("JSON nested as deep as allowed is read, and deeper is none") {
  CHECK(parse_json(nested(kDeepestJson)).is_array());
  CHECK(parse_json(nested(kDeepestJson + 1)).is_discarded());
  CHECK(parse_json(nested(1'000'000)).is_discarded());
  CHECK(parse_json("{\"a\": " + nested(kDeepestJson) + "}").is_discarded());
}

TEST_CASE("depth is not length: what has ended, and brackets in strings, do not count") {
  std::string many = "[[]";
  for (int i = 0; i < 1000; ++i) {
    many += ",[]";
  }
  CHECK(parse_json(many + "]").size() == 1001);
  const std::string brackets(1000, '[');
  CHECK(parse_json(R"({"a": "\"\\\")" + brackets + R"("})").at("a") == "\"\\\"" + brackets);
}

TEST_CASE("what is no JSON is discarded") {
  for (const char* text : {"", "[", "]", "nul", "{\"a\"}", "[1] 2", "\"\xff\"", "1e999"}) {
    INFO(text);
    CHECK(parse_json(text).is_discarded());
  }
}

}  // namespace
