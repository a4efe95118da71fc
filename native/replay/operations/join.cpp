#include <memory>
#include <string>
#include <vector>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "core/session/registry.hpp"
#include "replay/program/joined.hpp"
#include "replay/service.hpp"

namespace wulf::replay {
namespace {

class Join final : public Question {
 public:
  Join()
      : Question("join",
                 "programs beside each other as one, the first's ranks first: jobs that share a network") {}

  [[nodiscard]] Json answer(const Json& request, Programs& programs) const override {
    refuse_unknown_fields(request, {"id", "op", "programs"});
    const Json* numbers = request.find("programs");
    if (numbers == nullptr || !numbers->is_array() || numbers->size() < 2) {
      throw bad_parameter("programs", "programs must be a list of two programs' numbers or more");
    }
    std::vector<std::shared_ptr<const Loaded>> kept;
    std::vector<const Program*> own;
    for (const Json& number : *numbers) {
      kept.push_back(programs.of({{"program", number}}));
      own.push_back(&kept.back()->program);
    }
    Loaded all;
    all.program = joined(own);
    Json answer{{"ranks", all.program.ranks()}, {"ops", all.program.ops()}};
    answer["program"] = programs.add(std::move(all));
    return answer;
  }
};

const Registered<Question> registered_join{std::make_unique<Join>()};

}  // namespace
}  // namespace wulf::replay
