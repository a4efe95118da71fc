#include "core/json/params.hpp"
#include "core/session/registry.hpp"
#include "replay/program/array.hpp"
#include "replay/service.hpp"

namespace wulf::replay {
namespace {

class SpillQuestion final : public Question {
 public:
  SpillQuestion()
      : Question("spill",
                 "keeps the large arrays of programs that are loaded or replayed from now on in "
                 "files of `folder`: for those larger than memory") {}

  [[nodiscard]] Json answer(const Json& request, Programs& /*programs*/) const override {
    refuse_unknown_fields(request, {"id", "op", "folder"});
    spill_arrays_to(text_field(request, "folder"));
    return Json::object();
  }
};

const Registered<Question> registered_spill_question{std::make_unique<SpillQuestion>()};

}  // namespace
}  // namespace wulf::replay
