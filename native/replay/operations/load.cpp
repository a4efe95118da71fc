#include <cmath>
#include <string>
#include <vector>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "replay/operations/one_of.hpp"
#include "replay/program/builder.hpp"
#include "replay/program/first_messages.hpp"
#include "replay/program/own_messages.hpp"
#include "replay/program/source.hpp"
#include "replay/service.hpp"

namespace wulf::replay {
namespace {

std::int64_t compute_scale(const Json& request) {
  constexpr double kLargest = 1e6;
  const Json given = request.value("compute", Json(1.0));
  if (!given.is_number() || !(given.get<double>() >= 0) || given.get<double>() > kLargest) {
    throw bad_parameter("compute", "compute is " + given.dump() + ", but must be a factor from 0 to 1e6");
  }
  return std::llround(given.get<double>() * static_cast<double>(ProgramBuilder::kUnscaled));
}

Json coverage(const Loaded& loaded) {
  Json left_out = Json::array();
  for (const LeftOut& each : loaded.left_out) {
    left_out.push_back(
        {{"what", each.what}, {"calls", each.calls}, {"seconds", each.seconds}, {"why", each.why}});
  }
  return {{"share", loaded.share}, {"left_out", std::move(left_out)}};
}

/// What the request's `copy` says that a rank's messages to itself cost.
CopyCosts copy_costs(const Json& json) {
  if (!json.is_object()) {
    throw bad_parameter("copy",
                        "copy is " + json.dump() +
                            R"(, but must be an object: {"send_ps": 0, "receive_ps": 0, "byte_fp": 0})");
  }
  constexpr std::int64_t kLongest = kPerSecond;
  constexpr std::int64_t kMostPerByte = 1LL << 50U;
  refuse_unknown_fields(json, {"send_ps", "receive_ps", "byte_fp"});
  return {.send = int_field(json, "send_ps", 0, kLongest),
          .receive = int_field(json, "receive_ps", 0, kLongest),
          .byte_fp = int_field(json, "byte_fp", 0, kMostPerByte)};
}

class Load final : public Question {
 public:
  Load() : Question("load", "a program from a trace, a GOAL file or a schedule; answers its number") {}

  [[nodiscard]] Json answer(const Json& request, Programs& programs) const override {
    std::vector<std::string> known{"id", "op", "collectives", "compute", "copy", "connect_ps"};
    const auto& source = one_of<Source>(request, known);
    refuse_unknown_fields(request, known);
    Loaded loaded = source.load(request.at(source.name()), request.value("collectives", Json::object()),
                                compute_scale(request));
    const double compute = loaded.program.compute_seconds();
    const Copies copies = request.contains("copy")
                              ? copy_own_messages(loaded.program, copy_costs(request.at("copy")))
                              : Copies{};
    loaded.first_copy = copies.first;
    const std::uint64_t connecting =
        connect_first_messages(loaded.program, int_or(request, "connect_ps", 0, 0, kPerSecond * 60));
    const Program& program = loaded.program;
    Json answer{{"ranks", program.ranks()},
                {"ops", program.ops()},
                {"messages", program.messages.count()},
                {"live", program.live.count()},
                {"graph", !program.graph.empty()},
                {"bytes", program.total_bytes()},
                {"compute", compute},
                {"copies", {{"messages", copies.messages}, {"bytes", copies.bytes}}},
                {"connecting", connecting},
                {"coverage", coverage(loaded)},
                {"notes", loaded.notes}};
    answer["program"] = programs.add(std::move(loaded));
    return answer;
  }
};

const Registered<Question> registered_load{std::make_unique<Load>()};

}  // namespace
}  // namespace wulf::replay
