#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/perf/event_format.hpp"
#include "core/perf/sample.hpp"
#include "node/noise/event.hpp"

namespace wulf::node {

/// Where a culprit's name comes from.
enum class Naming : std::uint8_t { kText, kSymbol, kFunction, kFixed };

/// Two tracepoints around what takes a CPU: a row of the table in tracepoints.cpp.
struct Bracket {
  std::string system;  ///< "irq"
  std::string enter;
  std::string leave;
  Source source;
  std::string
      id;  ///< the field that both have, and that joins them; empty: the last to begin is the first to end
  Naming naming;
  std::string name;  ///< the field that names it, or the name
};

/// Turns tracepoints' records into events, by their formats. What no format was given of is left out.
class EventDecoder {
 public:
  /// False where the format lacks a field that is needed.
  [[nodiscard]] bool add_switch(const EventFormat& format);
  [[nodiscard]] bool add_nmi(const EventFormat& format);
  [[nodiscard]] bool add_bracket(const Bracket& bracket, const EventFormat& enter, const EventFormat& leave);

  /// Nothing where the record is of no tracepoint that was added, or too short.
  [[nodiscard]] std::optional<Event> decode(const PerfRecord& record) const;

 private:
  struct Rule {
    Event::Kind kind;
    Source source = Source::kTask;
    Naming naming = Naming::kFixed;
    std::string name;
    // gcc warns of members that a designated list leaves out, unless they have an initializer
    // NOLINTBEGIN(readability-redundant-member-init)
    std::optional<EventField> id{};
    std::optional<EventField> named{};
    std::optional<EventField> pid{};  ///< of a switch: who is next
    std::optional<EventField> leaving{};
    std::optional<EventField> state{};
    std::optional<EventField> length{};
    std::map<std::uint64_t, std::string> symbols{};
    // NOLINTEND(readability-redundant-member-init)
  };

  /// Keeps what all records begin with; false where it is elsewhere than in those before.
  [[nodiscard]] bool learn_common(const EventFormat& format);
  [[nodiscard]] static Culprit culprit(const Rule& rule, Bytes raw);

  std::optional<EventField> type_;
  std::optional<EventField> pid_;
  std::map<std::uint64_t, Rule> rules_;
};

}  // namespace wulf::node
