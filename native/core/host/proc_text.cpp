#include "core/host/proc_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace wulf::proc_text {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::string_view kBlanks = " \t";

/// What stands between any of `marks`, empty parts left out: views of `text`.
Words parts_of(std::string_view text, std::string_view marks) {
  Words parts;
  for (std::size_t begin = text.find_first_not_of(marks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(marks, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(marks, end);
  }
  return parts;
}

Words lines_of(std::string_view text) { return parts_of(text, "\n"); }

Words words_of(std::string_view line) { return parts_of(line, kBlanks); }

std::optional<std::int64_t> number(std::string_view text, int base = 10) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

/// Names beside figures: as many as there are of both, and only what is a number.
template <typename Names, typename Convert>
Json zip(const Names& names, const Words& words, std::size_t first, Convert convert) {
  Json::Object members;
  for (std::size_t i = 0; i < names.size() && first + i < words.size(); ++i) {
    if (const auto value = number(words[first + i])) {
      members.push_back({std::string(names[i]), convert(*value)});
    }
  }
  return members;
}

std::int64_t as_is(std::int64_t value) { return value; }

/// {"CPU0", "CPU2"} → {"0", "2"}
Words cpu_numbers(Words words) {
  for (std::string_view& word : words) {
    word.remove_prefix(word.starts_with("CPU") ? 3 : 0);
  }
  return words;
}

/// What the figures of one line are called: "24:virtio0-input.0", "LOC:Local timer interrupts".
std::string interrupt_label(const Words& words, std::size_t cpus) {
  std::string label(words[0].substr(0, words[0].size() - 1));
  const std::size_t first = 1 + cpus;
  if (words.size() <= first) {
    return label;
  }
  const bool device = number(label).has_value();  // after controller and kind it is the last word
  for (std::size_t i = device ? words.size() - 1 : first; i < words.size(); ++i) {
    label += i == first || device ? ':' : ' ';
    label += words[i];
  }
  return label;
}

}  // namespace

Json parse_stat(const std::string& text, long ticks) {
  static constexpr std::array<std::string_view, 10> kTimes{
      "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"};
  const auto in_seconds = [ticks](std::int64_t value) {
    return static_cast<double>(value) / static_cast<double>(ticks);
  };
  Json json = Json::object();
  for (const std::string_view line : lines_of(text)) {
    const Words words = words_of(line);
    if (words.size() < 2) {
      continue;
    }
    if (words[0].starts_with("cpu")) {
      const std::string_view cpu = words[0] == "cpu" ? "all" : words[0].substr(3);
      json["cpu"][cpu] = zip(kTimes, words, 1, in_seconds);
    } else if (words[0] == "ctxt" || words[0] == "intr" || words[0] == "processes") {
      // The first figure of `intr` is the total; the rest is in /proc/interrupts, with names.
      if (const auto value = number(words[1])) {
        json[words[0]] = *value;
      }
    }
  }
  return json;
}

Json parse_interrupts(const std::string& text) {
  Json json = Json::object();
  Words cpus;
  for (const std::string_view line : lines_of(text)) {
    const Words words = words_of(line);
    if (words.empty()) {
      continue;
    }
    if (cpus.empty()) {
      cpus = cpu_numbers(words);
    } else if (words[0].ends_with(':')) {
      json[interrupt_label(words, cpus.size())] = zip(cpus, words, 1, as_is);
    }
  }
  return json;
}

Json parse_softnet(const std::string& text) {
  static constexpr std::array<std::string_view, 3> kNames{"processed", "dropped", "squeezed"};
  constexpr std::size_t kCpuColumn =
      12;  // since Linux 5.10; offline CPUs have no line, so lines are no CPU numbers
  Json json = Json::object();
  std::int64_t line_number = 0;
  for (const std::string_view line : lines_of(text)) {
    const Words words = words_of(line);
    std::optional<std::int64_t> cpu = line_number++;
    if (words.size() > kCpuColumn) {
      cpu = number(words[kCpuColumn], 16);
    }
    for (std::size_t i = 0; cpu && i < kNames.size() && i < words.size(); ++i) {
      if (const auto value = number(words[i], 16)) {
        json[std::to_string(*cpu)][std::string(kNames[i])] = *value;
      }
    }
  }
  return json;
}

Json parse_protocols(const std::string& text) {
  // Lines come in pairs: "Tcp: name name …", "Tcp: figure figure …".
  Json json = Json::object();
  Words names;
  for (const std::string_view line : lines_of(text)) {
    Words words = words_of(line);
    if (words.size() < 2 || !words[0].ends_with(':')) {
      continue;
    }
    if (!names.empty() && names[0] == words[0]) {
      const std::string_view protocol = words[0].substr(0, words[0].size() - 1);
      names.erase(names.begin());
      json[protocol] = zip(names, words, 1, as_is);
      names.clear();
    } else {
      names = std::move(words);
    }
  }
  return json;
}

Json parse_names(const std::string& text) {
  Json json = Json::object();
  for (const std::string_view line : lines_of(text)) {
    const Words words = words_of(line);
    if (words.size() != 2) {
      continue;
    }
    if (const auto value = number(words[1])) {
      json[words[0]] = *value;
    }
  }
  return json;
}

Json parse_interfaces(const std::string& text) {
  static constexpr std::array<std::string_view, 6> kReceive{"rx_bytes",   "rx_packets", "rx_errors",
                                                            "rx_dropped", "rx_fifo",    "rx_frame"};
  static constexpr std::array<std::string_view, 7> kTransmit{
      "tx_bytes", "tx_packets", "tx_errors", "tx_dropped", "tx_fifo", "collisions", "tx_carrier"};
  constexpr std::size_t kTransmitColumn = 8;
  Json json = Json::object();
  for (const std::string_view line : lines_of(text)) {
    const std::size_t colon = line.rfind(':');  // an alias has a colon in its name
    const Words names = words_of(line.substr(0, colon));
    if (colon == std::string_view::npos || names.size() != 1) {
      continue;
    }
    const Words words = words_of(line.substr(colon + 1));
    Json counters = zip(kReceive, words, 0, as_is);
    counters.update(zip(kTransmit, words, kTransmitColumn, as_is));
    json[names[0]] = std::move(counters);
  }
  return json;
}

}  // namespace wulf::proc_text
