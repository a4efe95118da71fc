#include "core/perf/event_format.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace wulf {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  text = trimmed(text);
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) {
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// What follows `key` in one of the parts that semicolons end.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(';'), line.size());
    const std::string_view part = trimmed(line.substr(0, end));
    if (part.starts_with(key)) {
      return part.substr(key.size());
    }
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return std::nullopt;
}

/// "	field:char prev_comm[16];	offset:8;	size:16;	signed:0;"
std::optional<EventField> field_of(std::string_view line) {
  constexpr std::size_t kLargest = 1U << 16U;  // no record is longer
  const auto declared = value_of(line, "field:");
  const auto offset = value_of(line, "offset:");
  const auto size = value_of(line, "size:");
  if (!declared || !offset || !size) {
    return std::nullopt;
  }
  const auto at = number_of(*offset);
  const auto bytes = number_of(*size);
  // "char prev_comm[16]", "void * hrtimer", "__data_loc char[] name"
  std::string_view name = declared->ends_with(']') ? declared->substr(0, declared->rfind('[')) : *declared;
  const std::size_t blank = name.find_last_of(" *");
  name = blank == std::string_view::npos ? name : name.substr(blank + 1);
  if (!at || !bytes || name.empty() || *at > kLargest || *bytes > kLargest) {
    return std::nullopt;
  }
  return EventField{.name = std::string(name),
                    .offset = static_cast<std::size_t>(*at),
                    .size = static_cast<std::size_t>(*bytes),
                    .is_signed = value_of(line, "signed:").value_or("0") == "1",
                    .elsewhere = declared->starts_with("__data_loc")};
}

/// `{ 1, "TIMER" }, …` of the first __print_symbolic.
std::map<std::uint64_t, std::string> symbols_of(std::string_view print) {
  std::map<std::uint64_t, std::string> found;
  const std::size_t start = print.find("__print_symbolic(");
  if (start == std::string_view::npos) {
    return found;
  }
  print.remove_prefix(start);
  while (true) {
    const std::size_t open = print.find('{');
    const std::size_t close = print.find('}', std::min(open, print.size()));
    if (open == std::string_view::npos || close == std::string_view::npos) {
      return found;
    }
    const std::string_view entry = print.substr(open + 1, close - open - 1);
    const std::size_t comma = entry.find(',');
    const std::size_t quote = entry.find('"');
    const std::size_t last = entry.rfind('"');
    if (comma < quote && quote < last && last != std::string_view::npos) {
      if (const auto number = number_of(entry.substr(0, comma))) {
        found.emplace(*number, entry.substr(quote + 1, last - quote - 1));
      }
    }
    print.remove_prefix(close + 1);
  }
}

}  // namespace

const EventField* EventFormat::field(std::string_view wanted) const noexcept {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const EventField& one) { return one.name == wanted; });
  return found == fields.end() ? nullptr : &*found;
}

std::optional<EventFormat> parse_event_format(std::string_view text) {
  EventFormat format;
  bool has_id = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("name:")) {
      format.name = trimmed(line.substr(5));
    } else if (line.starts_with("ID:")) {
      const auto id = number_of(line.substr(3));
      has_id = id.has_value();
      format.id = id.value_or(0);
    } else if (line.starts_with("field:")) {
      if (auto field = field_of(line)) {
        format.fields.push_back(std::move(*field));
      }
    } else if (line.starts_with("print fmt:")) {
      format.symbols = symbols_of(line);
    }
  }
  return format.name.empty() || !has_id || format.fields.empty() ? std::nullopt : std::optional(format);
}

std::optional<std::int64_t> number_at(Bytes record, const EventField& field) noexcept {
  if (field.size == 0 || field.size > sizeof(std::int64_t) || field.offset > record.size() ||
      record.size() - field.offset < field.size) {
    return std::nullopt;
  }
  // byte by byte, as the machine that wrote it keeps them: records never leave it
  const auto read = [&]<typename T>(T value) {
    std::memcpy(&value, record.data() + field.offset, sizeof(T));
    return static_cast<std::int64_t>(value);
  };
  switch (field.size) {
    case 1:
      return field.is_signed ? read(std::int8_t{}) : read(std::uint8_t{});
    case 2:
      return field.is_signed ? read(std::int16_t{}) : read(std::uint16_t{});
    case 4:
      return field.is_signed ? read(std::int32_t{}) : read(std::uint32_t{});
    case 8:
      return read(std::int64_t{});
    default:
      return std::nullopt;
  }
}

std::string text_at(Bytes record, const EventField& field) {
  std::size_t at = field.offset;
  std::size_t size = field.size;
  if (field.elsewhere) {
    const auto place = number_at(record, {.name = "", .offset = field.offset, .size = 4});
    if (!place) {
      return "";
    }
    constexpr std::int64_t kLow = 0xFFFF;
    at = static_cast<std::size_t>(*place & kLow);
    size = static_cast<std::size_t>((*place >> 16) & kLow);
  }
  if (at > record.size()) {
    return "";
  }
  const Bytes text = record.subspan(at, std::min(size, record.size() - at));
  const auto* first = reinterpret_cast<const char*>(text.data());
  return {first, std::find(first, first + text.size(), '\0')};
}

}  // namespace wulf
