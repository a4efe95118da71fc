#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wulf {

using Bytes = std::span<const std::byte>;

/// Where a field of a tracepoint's record lies.
struct EventField {
  std::string name;
  std::size_t offset = 0;
  std::size_t size = 0;
  bool is_signed = false;
  bool elsewhere = false;  ///< __data_loc: four bytes that say where the text is
};

/// A tracepoint's `format` file (the kernel's Documentation/trace/events.rst): no offset is known without it.
struct EventFormat {
  std::string name;
  std::uint64_t id = 0;
  std::vector<EventField> fields;
  std::map<std::uint64_t, std::string> symbols;  ///< of __print_symbolic: a number's name

  /// Null where it has no such field.
  [[nodiscard]] const EventField* field(std::string_view wanted) const noexcept;
};

/// Nothing where the text is no such file: without name, ID, or any field.
[[nodiscard]] std::optional<EventFormat> parse_event_format(std::string_view text);

/// A field's number; nothing where the record is too short for it, or the field is no number of 1 to 8 bytes.
[[nodiscard]] std::optional<std::int64_t> number_at(Bytes record, const EventField& field) noexcept;

/// A field's text up to its first null; empty where the record is too short for it.
[[nodiscard]] std::string text_at(Bytes record, const EventField& field);

}  // namespace wulf
