#include "core/json/params.hpp"
#include "core/session/registry.hpp"
#include "replay/service.hpp"

namespace wulf::replay {
namespace {

class Drop final : public Question {
 public:
  Drop() : Question("drop", "forgets a program, and gives its memory back") {}

  [[nodiscard]] Json answer(const Json& request, Programs& programs) const override {
    refuse_unknown_fields(request, {"id", "op", "program"});
    programs.drop(request);
    return Json::object();
  }
};

const Registered<Question> registered_drop{std::make_unique<Drop>()};

}  // namespace
}  // namespace wulf::replay
