#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;

const std::vector<Param> kParams{
    {"bytes", ParamType::kInt, "B", 1, 1, 100, ""},
    {"seconds", ParamType::kFloat, "s", 0.5, 0, nullptr, ""},
    {"cpu", ParamType::kInt, "", nullptr, 0, 7, ""},
    {"nodelay", ParamType::kBool, "", true, nullptr, nullptr, ""},
    {"name", ParamType::kStr, "", "x", nullptr, nullptr, ""},
    {"way", ParamType::kStr, "", "out", nullptr, nullptr, "", {"out", "back"}},
};

/// The field that the error blames; the message must contain all of `words`.
std::string blamed(const Json& given, const std::vector<std::string>& words = {}) {
  try {
    (void)resolve(kParams, given);
  } catch (const Error& error) {
    CHECK(error.code() == "bad-parameter");
    for (const std::string& word : words) {
      INFO(error.what());
      CHECK(std::string(error.what()).find(word) != std::string::npos);
    }
    return error.field();
  }
  return "";
}

TEST_CASE("defaults fill in what is not given") {
  const Json values = resolve(kParams, Json::object());
  CHECK(values == Json({{"bytes", 1},
                        {"seconds", 0.5},
                        {"cpu", nullptr},
                        {"nodelay", true},
                        {"name", "x"},
                        {"way", "out"}}));
  CHECK_FALSE(optional_value<int>(values, "cpu").has_value());
}

TEST_CASE("a choice is one of those there are") {
  CHECK(resolve(kParams, {{"way", "back"}})["way"] == "back");
  CHECK(blamed({{"way", "up"}}, {"up", "out, back"}) == "way");
  CHECK(kParams.back().describe()["choices"] == Json::array({"out", "back"}));
}

TEST_CASE("given values count, at their limits too") {
  const Json values =
      resolve(kParams, {{"bytes", 100}, {"seconds", 0}, {"cpu", 7}, {"nodelay", false}, {"name", "y"}});
  CHECK(values["bytes"] == 100);
  CHECK(optional_value<int>(values, "cpu") == 7);
}

TEST_CASE("out of limits: the message names limit, value and unit") {
  CHECK(blamed({{"bytes", 0}}, {"bytes is 0", "at least 1 B"}) == "bytes");
  CHECK(blamed({{"bytes", 101}}, {"bytes is 101", "at most 100 B"}) == "bytes");
  CHECK(blamed({{"seconds", -0.1}}, {"-0.1", "at least 0 s"}) == "seconds");
}

TEST_CASE("wrong types are refused: 1.0 is no integer, null only where null is the default") {
  CHECK(blamed({{"bytes", 1.0}}, {"must be of type int"}) == "bytes");
  CHECK(blamed({{"bytes", "1"}}) == "bytes");
  CHECK(blamed({{"bytes", nullptr}}) == "bytes");
  CHECK(blamed({{"bytes", true}}) == "bytes");
  CHECK(blamed({{"nodelay", 1}}) == "nodelay");
  CHECK(blamed({{"name", 5}}) == "name");
  CHECK(blamed({{"cpu", "a"}}, {"int or null"}) == "cpu");
  CHECK(blamed({{"cpu", nullptr}}).empty());
  CHECK(blamed(Json::array()) == "params");
}

TEST_CASE("an unknown parameter is refused, and the known ones are named") {
  CHECK(blamed({{"byte", 5}}, {"'byte'", "bytes, seconds"}) == "byte");
}

TEST_CASE("describe gives type, unit, default and limits") {
  CHECK(kParams[0].describe() == Json({{"name", "bytes"},
                                       {"type", "int"},
                                       {"unit", "B"},
                                       {"default", 1},
                                       {"min", 1},
                                       {"max", 100},
                                       {"help", ""}}));
  CHECK_FALSE(kParams[3].describe().contains("min"));
}

TEST_CASE("request fields") {
  const Json request{{"port", 80}, {"key", "k"}};
  CHECK(text_field(request, "key") == "k");
  CHECK(int_field(request, "port", 1, 65535) == 80);
  CHECK_THROWS_AS(text_field(request, "port"), Error);
  CHECK_THROWS_AS(text_field(request, "none"), Error);
  CHECK_THROWS_AS(int_field(request, "key", 0, 1), Error);
  CHECK_THROWS_AS(int_field(request, "port", 1, 79), Error);
}

}  // namespace
