#include "node/noise/decoder.hpp"

#include <algorithm>
#include <array>

namespace wulf::node {
namespace {

/// EXIT_DEAD, EXIT_ZOMBIE: a program that ends has given up its memory, and looks as a kernel thread does.
constexpr std::uint64_t kEnding = 0x30;

/// All states but R; what lies above says that it was preempted (the kernel's include/trace/events/sched.h).
constexpr std::uint64_t kStates = 0xFF;

std::optional<EventField> optional_field(const EventFormat& format, const std::string& name) {
  const EventField* field = name.empty() ? nullptr : format.field(name);
  return field == nullptr ? std::nullopt : std::optional(*field);
}

bool same_place(const EventField& one, const EventField& other) {
  return one.offset == other.offset && one.size == other.size;
}

std::uint64_t unsigned_at(Bytes raw, const std::optional<EventField>& field) {
  return field ? static_cast<std::uint64_t>(number_at(raw, *field).value_or(0)) : 0;
}

std::string text_of(Bytes raw, const std::optional<EventField>& field) {
  return field ? text_at(raw, *field) : std::string();
}

}  // namespace

const char* name_of(Source source) noexcept {
  constexpr std::array<const char*, kSources> kNames{"interrupt",     "softirq", "timer", "nmi",
                                                     "kernel_thread", "task",    "idle",  "entry",
                                                     "unexplained",   "unknown"};
  return kNames.at(static_cast<std::size_t>(source));
}

bool EventDecoder::learn_common(const EventFormat& format) {
  const EventField* type = format.field("common_type");
  const EventField* pid = format.field("common_pid");
  if (type == nullptr || pid == nullptr) {
    return false;
  }
  if (!type_ || !pid_) {
    type_ = *type;
    pid_ = *pid;
  }
  return same_place(*type_, *type) && same_place(*pid_, *pid);
}

bool EventDecoder::add_switch(const EventFormat& format) {
  Rule rule{.kind = Event::Kind::kSwitch,
            .name = "",
            .named = optional_field(format, "next_comm"),
            .pid = optional_field(format, "next_pid"),
            .leaving = optional_field(format, "prev_comm"),
            .state = optional_field(format, "prev_state")};
  if (!rule.named || !rule.pid || !rule.leaving || !learn_common(format)) {
    return false;
  }
  return rules_.insert_or_assign(format.id, std::move(rule)).second;
}

bool EventDecoder::add_nmi(const EventFormat& format) {
  Rule rule{.kind = Event::Kind::kSpan,
            .source = Source::kNmi,
            .naming = Naming::kFunction,
            .name = "",
            .named = optional_field(format, "handler"),
            .length = optional_field(format, "delta_ns")};
  if (!rule.named || !rule.length || !learn_common(format)) {
    return false;
  }
  return rules_.insert_or_assign(format.id, std::move(rule)).second;
}

bool EventDecoder::add_bracket(const Bracket& bracket, const EventFormat& enter, const EventFormat& leave) {
  const bool is_fixed = bracket.naming == Naming::kFixed;
  Rule first{.kind = Event::Kind::kEnter,
             .source = bracket.source,
             .naming = bracket.naming,
             .name = is_fixed ? bracket.name : "",
             .id = optional_field(enter, bracket.id),
             .named = is_fixed ? std::nullopt : optional_field(enter, bracket.name),
             .symbols = enter.symbols};
  Rule last{.kind = Event::Kind::kLeave,
            .source = bracket.source,
            .name = first.name,
            .id = optional_field(leave, bracket.id)};
  const bool lacks_id = !bracket.id.empty() && (!first.id || !last.id);
  if (lacks_id || (!is_fixed && !first.named) || !learn_common(enter) || !learn_common(leave)) {
    return false;
  }
  rules_.insert_or_assign(enter.id, std::move(first));
  rules_.insert_or_assign(leave.id, std::move(last));
  return true;
}

Culprit EventDecoder::culprit(const Rule& rule, Bytes raw) {
  Culprit who{.source = rule.source, .name = rule.name};
  if (!rule.named) {
    return who;
  }
  const std::uint64_t number = rule.naming == Naming::kText ? 0 : unsigned_at(raw, rule.named);
  if (rule.naming == Naming::kFunction) {
    who.address = number;
  } else if (rule.naming == Naming::kSymbol) {
    const auto symbol = rule.symbols.find(number);
    who.name = symbol == rule.symbols.end() ? "number " + std::to_string(number) : symbol->second;
  } else {
    who.name = text_of(raw, rule.named);
  }
  return who;
}

std::optional<Event> EventDecoder::decode(const PerfRecord& record) const {
  if (record.kind == PerfRecord::Kind::kLost) {
    return Event{.kind = Event::Kind::kLost, .at = record.at, .id = record.lost};
  }
  if (!type_ || !pid_) {
    return std::nullopt;
  }
  const auto type = number_at(record.raw, *type_);
  const auto pid = number_at(record.raw, *pid_);
  if (!type || !pid) {
    return std::nullopt;
  }
  const auto found = rules_.find(static_cast<std::uint64_t>(*type));
  if (found == rules_.end()) {
    return std::nullopt;
  }
  const Rule& rule = found->second;
  Event event{.kind = rule.kind,
              .at = record.at,
              .id = unsigned_at(record.raw, rule.id),
              .thread = record.thread,
              .pid = *pid,
              .in_user_task = record.in_user_task};
  if (rule.kind == Event::Kind::kSwitch) {
    const auto next = static_cast<std::int64_t>(unsigned_at(record.raw, rule.pid));
    event.who = {.source = next == 0 ? Source::kIdle : Source::kTask,
                 .name = text_of(record.raw, rule.named),
                 .pid = next};
    event.leaving = text_of(record.raw, rule.leaving);
    const std::uint64_t state = unsigned_at(record.raw, rule.state);
    event.runnable = rule.state && (state & kStates) == 0;
    if ((state & kEnding) != 0) {
      event.in_user_task = std::nullopt;
    }
    return event;
  }
  event.who = culprit(rule, record.raw);
  if (rule.length) {
    event.length = std::clamp<std::int64_t>(number_at(record.raw, *rule.length).value_or(0), 0, record.at);
  }
  return event;
}

}  // namespace wulf::node
