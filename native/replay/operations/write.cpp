#include <string>
#include <vector>

#include "core/json/params.hpp"
#include "replay/operations/one_of.hpp"
#include "replay/service.hpp"
#include "replay/targets/target.hpp"

namespace wulf::replay {
namespace {

class Write final : public Question {
 public:
  Write()
      : Question("write", "writes a program for another simulator: a GOAL file, or a folder of SimGrid's") {}

  [[nodiscard]] Json answer(const Json& request, Programs& programs) const override {
    std::vector<std::string> known{"id", "op", "program"};
    const auto& target = one_of<Target>(request, known);
    refuse_unknown_fields(request, known);
    target.write(*programs.of(request), text_field(request, target.name()));
    return Json::object();
  }
};

const Registered<Question> registered_write{std::make_unique<Write>()};

}  // namespace
}  // namespace wulf::replay
