#include <cmath>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/params.hpp"
#include "core/registry.hpp"
#include "replay/builder.hpp"
#include "replay/service.hpp"
#include "replay/source.hpp"

namespace wulf::replay {
namespace {

/// The one source that the request has a field of.
const Source& source_of(const Json& request, std::vector<std::string>& known) {
  const Source* chosen = nullptr;
  std::string names;
  for (const Source* each : Registry<Source>::all()) {
    known.push_back(each->name());
    names += (names.empty() ? "" : ", ") + each->name();
    if (request.contains(each->name())) {
      if (chosen != nullptr) {
        throw bad_parameter(each->name(),
                            "both '" + chosen->name() + "' and '" + each->name() + "' are given: leave one");
      }
      chosen = each;
    }
  }
  if (chosen == nullptr) {
    throw bad_parameter("", "nothing to load is given: one of " + names);
  }
  return *chosen;
}

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

class Load final : public Question {
 public:
  Load() : Question("load", "a program from a trace, a GOAL file or a schedule; answers its number") {}

  [[nodiscard]] Json answer(const Json& request, Programs& programs) const override {
    std::vector<std::string> known{"id", "op", "collectives", "compute"};
    const Source& source = source_of(request, known);
    refuse_unknown_fields(request, known);
    Loaded loaded = source.load(request.at(source.name()), request.value("collectives", Json::object()),
                                compute_scale(request));
    const Program& program = loaded.program;
    Json answer{{"ranks", program.ranks()},
                {"ops", program.ops()},
                {"messages", program.messages.count()},
                {"live", program.live.count()},
                {"bytes", program.total_bytes()},
                {"compute", program.compute_seconds()},
                {"coverage", coverage(loaded)},
                {"notes", loaded.notes}};
    answer["program"] = programs.add(std::move(loaded));
    return answer;
  }
};

const Registered<Question> registered_load{std::make_unique<Load>()};

}  // namespace
}  // namespace wulf::replay
