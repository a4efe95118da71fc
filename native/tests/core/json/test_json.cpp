#include <limits>

#include "core/json/error.hpp"
#include "core/json/json.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST_CASE("JSON nested as deep as allowed is read, and deeper is none") {
  CHECK(Json::parse(nested(kDeepestJson)).is_array());
  CHECK_FALSE(parse_json(nested(kDeepestJson + 1)).has_value());
  CHECK_FALSE(parse_json(nested(1'000'000)).has_value());
  CHECK_FALSE(parse_json("{\"a\": " + nested(kDeepestJson) + "}").has_value());
}

TEST_CASE("depth is not length: what has ended, and brackets in strings, do not count") {
  std::string many = "[[]";
  for (int i = 0; i < 1000; ++i) {
    many += ",[]";
  }
  CHECK(Json::parse(many + "]").size() == 1001);
  const std::string brackets(1000, '[');
  CHECK(Json::parse(R"({"a": "\"\\\")" + brackets + R"("})").at("a") == "\"\\\"" + brackets);
}

TEST_CASE("what is no JSON has no value") {
  for (const char* text : {"", "[", "]", "nul", "{\"a\"}", "[1] 2", "\"\xff\"", "1e999"}) {
    INFO(text);
    CHECK_FALSE(parse_json(text).has_value());
  }
}

TEST_CASE("an object keeps its order, and a name stands once") {
  Json json{{"b", 1}, {"a", {{"x", "y"}}}};
  json["c"] = Json::array({1, 2.5, nullptr, true});
  CHECK(json.dump() == R"({"b":1,"a":{"x":"y"},"c":[1,2.5,null,true]})");
  json.update({{"a", 2}, {"d", 3}});
  json.erase("b");
  CHECK(json.dump() == R"({"a":2,"c":[1,2.5,null,true],"d":3})");
  CHECK(Json::parse(R"({"a": 1, "b": 2, "a": 3})").dump() == R"({"a":3,"b":2})");
  CHECK(json.members().front().name == "a");
  CHECK(json.size() == 3);
  CHECK(json.at("c").at(3) == true);
}

TEST_CASE("null becomes what is added to it, and nothing else does") {
  Json object;
  object["a"] = 1;
  CHECK(object.is_object());
  Json array;
  array.push_back(1);
  CHECK(array.is_array());
  CHECK_THROWS_AS(array["a"], Error);
  CHECK_THROWS_AS(object.push_back(1), Error);
  CHECK(Json().empty());
  CHECK(Json::object().dump() == "{}");
  CHECK(Json::array().dump() == "[]");
}

TEST_CASE("integers of 64 bits come and go whole, of either sign") {
  const auto least = std::numeric_limits<std::int64_t>::min();
  const auto most = std::numeric_limits<std::uint64_t>::max();
  const Json json = Json::parse(Json::array({least, most}).dump());
  CHECK(json[0].get<std::int64_t>() == least);
  CHECK(json[1].get<std::uint64_t>() == most);
  CHECK(json[1].is_unsigned());
  CHECK_FALSE(json[0].is_unsigned());
  CHECK(Json(std::size_t{7}) == Json(7));
  CHECK(Json(7) == Json(7.0));
  CHECK(Json(7.5) != Json(7));
}

TEST_CASE("what a value is not, it is not taken for") {
  CHECK(Json(3).get<double>() == 3);
  CHECK(Json(-1).get<int>() == -1);
  CHECK_THROWS_AS(Json(-1).get<std::size_t>(), Error);
  CHECK_THROWS_AS(Json(300).get<std::uint8_t>(), Error);
  CHECK_THROWS_AS(Json(1.5).get<int>(), Error);
  CHECK_THROWS_AS(Json("1").get<double>(), Error);
  CHECK_THROWS_AS(Json(1).get<std::string>(), Error);
  CHECK_THROWS_AS(Json(1).get<bool>(), Error);
  CHECK_THROWS_AS(Json(1).members(), Error);
  CHECK_THROWS_AS(Json{}.at("a"), Error);
  CHECK_THROWS_AS(Json::array({1}).at(1), Error);
  CHECK(Json(1).find("a") == nullptr);
  CHECK(Json::object().value("a", 5) == 5);
  CHECK(Json::parse("[1, 2]").get<std::vector<double>>() == std::vector<double>{1, 2});
}

TEST_CASE("a text that is no UTF-8 and a number that is not finite are written all the same") {
  CHECK(Json("a\xff").dump() == "\"a\xef\xbf\xbd\"");
  CHECK(Json(std::numeric_limits<double>::infinity()).dump() == "null");
  CHECK(Json("\"\n\x01").dump() == R"("\"\n\u0001")");
}

}  // namespace
