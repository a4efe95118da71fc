#pragma once

#include <nlohmann/json.hpp>

namespace wulf {

/// JSON whose objects keep the order in which they were written, since people read sessions too.
using Json = nlohmann::ordered_json;

}  // namespace wulf
