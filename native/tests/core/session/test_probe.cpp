#include <memory>
#include <string>
#include <vector>

#include "core/json/error.hpp"
#include "core/session/probe.hpp"
#include "core/session/registry.hpp"
#include "tests/catch.hpp"
#include "tests/refusal.hpp"

namespace {

using namespace wulf;
using wulf::tests::refusal;

/// A kind of probe that only says what it is.
class Weighing : public Probe {
 public:
  using Probe::Probe;

  [[nodiscard]] std::vector<Param> params() const override {
    return {{"load", ParamType::kInt, "kg", 1, 0, 9, "what is weighed"}};
  }
  [[nodiscard]] std::vector<Metric> metrics() const override { return {{"mass", "kg", "lower", "its mass"}}; }

 private:
  [[nodiscard]] std::vector<Param> common_params() const override {
    return {{"seconds", ParamType::kFloat, "s", 0.1, 0.0, 1.0, "how long"}};
  }
  [[nodiscard]] Json needs() const override { return {{"scales", 2}}; }
};

const Registered<Weighing> registered_light{std::make_unique<Weighing>("light", "small", "a feather")};
const Registered<Weighing> registered_heavy{std::make_unique<Weighing>("heavy", "", "a stone")};

std::vector<std::string> fields(const Json& json) {
  std::vector<std::string> names;
  for (const auto& [name, value] : json.members()) {
    names.push_back(name);
  }
  return names;
}

TEST_CASE("a probe is described with its kind's parameters, and with a group where it has one") {
  const Json list = Registry<Weighing>::describe();
  REQUIRE(list.size() == 2);
  CHECK(fields(list[0]) == std::vector<std::string>{"name", "help", "scales", "params", "metrics"});
  CHECK(fields(list[1]) == std::vector<std::string>{"name", "group", "help", "scales", "params", "metrics"});
  CHECK(list[0].at("name") == "heavy");
  CHECK(list[0].at("params")[0].at("name") == "load");
  CHECK(list[0].at("params")[1].at("name") == "seconds");
}

TEST_CASE("a request names a probe, and gets every parameter of it") {
  const Weighing& light = Registry<Weighing>::named_in({{"probe", "light"}}, "probe");
  CHECK(light.settle({{"load", 3}}) == Json({{"load", 3}, {"seconds", 0.1}}));
  CHECK(refusal([&] { (void)light.settle({{"load", 10}}); }).starts_with("bad-parameter: load is 10"));
  CHECK(refusal([] {
          (void)Registry<Weighing>::named_in({{"probe", "air"}}, "probe");
        }) == "bad-parameter: there is no probe 'air'; known: heavy, light");
  CHECK(refusal([] {
          (void)Registry<Weighing>::named_in(Json::object(), "probe");
        }).starts_with("bad-parameter: 'probe' is missing"));
}

TEST_CASE("an outcome is answered whole, without what nobody saw meanwhile") {
  Outcome outcome;
  CHECK(fields(outcome.answer()) == std::vector<std::string>{"metrics", "seconds", "counters", "info"});
  outcome.seconds = 0.5;
  outcome.during["client"] = 7;
  const Json answer = outcome.answer();
  CHECK(fields(answer) == std::vector<std::string>{"metrics", "seconds", "counters", "during", "info"});
  CHECK(answer.at("seconds") == 0.5);
  CHECK(answer.at("during") == Json({{"client", 7}}));
}

}  // namespace
