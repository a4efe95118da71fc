#include <string>
#include <string_view>

#include "core/host/counters.hpp"
#include "core/host/proc_text.hpp"
#include "fuzz/targets.hpp"

namespace wulf::fuzz {
namespace {

Json parse(const std::string& text) {
  constexpr long kTicks = 100;
  return {{"stat", proc_text::parse_stat(text, kTicks)},
          {"interrupts", proc_text::parse_interrupts(text)},
          {"softnet", proc_text::parse_softnet(text)},
          {"protocols", proc_text::parse_protocols(text)},
          {"interfaces", proc_text::parse_interfaces(text)}};
}

}  // namespace

void proc(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t half = text.find('\f');  // parts the earlier snapshot from the later
  const Json before = parse(std::string(text.substr(0, half)));
  const Json after = parse(half == std::string_view::npos ? "" : std::string(text.substr(half + 1)));
  const Json delta = counters_delta(before, after);
  (void)delta.dump();
}

}  // namespace wulf::fuzz
