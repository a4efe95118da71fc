#include "core/proc_text.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace wulf::proc_text {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

std::optional<std::int64_t> number(std::string_view text, int base = 10) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

/// Names beside figures: as many as there are of both, and only what is a number.
template <typename Names, typename Convert>
Json zip(const Names& names, const std::vector<std::string>& words, std::size_t first, Convert convert) {
  Json json = Json::object();
  for (std::size_t i = 0; i < names.size() && first + i < words.size(); ++i) {
    if (const auto value = number(words[first + i])) {
      json[std::string(names[i])] = convert(*value);
    }
  }
  return json;
}

std::int64_t as_is(std::int64_t value) { return value; }

/// {"CPU0", "CPU2"} → {"0", "2"}
std::vector<std::string> cpu_numbers(std::vector<std::string> words) {
  for (std::string& word : words) {
    word = word.starts_with("CPU") ? word.substr(3) : word;
  }
  return words;
}

/// What the figures of one line are called: "24:virtio0-input.0", "LOC:Local timer interrupts".
std::string interrupt_label(const std::vector<std::string>& words, std::size_t cpus) {
  std::string irq = words[0].substr(0, words[0].size() - 1);
  const std::size_t first = 1 + cpus;
  if (words.size() <= first) {
    return irq;
  }
  if (number(irq)) {
    return irq + ":" + words.back();  // controller, kind and, last, the device
  }
  std::string description;
  for (std::size_t i = first; i < words.size(); ++i) {
    description += (description.empty() ? "" : " ") + words[i];
  }
  return irq + ":" + description;
}

}  // namespace

Json parse_stat(const std::string& text, long ticks) {
  static constexpr std::array<std::string_view, 10> kTimes{
      "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"};
  const auto in_seconds = [ticks](std::int64_t value) {
    return static_cast<double>(value) / static_cast<double>(ticks);
  };
  Json json = Json::object();
  for (const std::string& line : lines_of(text)) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 2) {
      continue;
    }
    if (words[0].starts_with("cpu")) {
      const std::string cpu = words[0] == "cpu" ? "all" : words[0].substr(3);
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
  std::vector<std::string> cpus;
  for (const std::string& line : lines_of(text)) {
    const std::vector<std::string> words = words_of(line);
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
  for (const std::string& line : lines_of(text)) {
    const std::vector<std::string> words = words_of(line);
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
  std::vector<std::string> names;
  for (const std::string& line : lines_of(text)) {
    std::vector<std::string> words = words_of(line);
    if (words.size() < 2 || !words[0].ends_with(':')) {
      continue;
    }
    if (!names.empty() && names[0] == words[0]) {
      const std::string protocol = words[0].substr(0, words[0].size() - 1);
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
  for (const std::string& line : lines_of(text)) {
    const std::vector<std::string> words = words_of(line);
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
  for (const std::string& line : lines_of(text)) {
    const std::size_t colon = line.rfind(':');  // an alias has a colon in its name
    const std::vector<std::string> names = words_of(line.substr(0, colon));
    if (colon == std::string::npos || names.size() != 1) {
      continue;
    }
    const std::vector<std::string> words = words_of(line.substr(colon + 1));
    Json counters = zip(kReceive, words, 0, as_is);
    counters.update(zip(kTransmit, words, kTransmitColumn, as_is));
    json[names[0]] = std::move(counters);
  }
  return json;
}

}  // namespace wulf::proc_text
