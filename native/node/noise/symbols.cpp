#include "node/noise/symbols.hpp"

#include <charconv>
#include <fstream>
#include <istream>
#include <string_view>

namespace wulf::node {

std::map<std::uint64_t, std::string> function_names(std::istream& kallsyms,
                                                    const std::set<std::uint64_t>& addresses) {
  std::map<std::uint64_t, std::string> found;
  std::string line;
  while (found.size() < addresses.size() && std::getline(kallsyms, line)) {
    const std::string_view text = line;
    std::uint64_t address = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), address, 16);
    if (error != std::errc() || !addresses.contains(address)) {
      continue;
    }
    std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
    if (name.size() < 4) {
      continue;
    }
    name.remove_prefix(3);  // " T "
    found.try_emplace(address, name.substr(0, name.find('\t')));
  }
  return found;
}

void name_functions(Culprits& culprits, const std::string& kallsyms) {
  std::set<std::uint64_t> addresses;
  for (std::size_t number = 0; number < culprits.size(); ++number) {
    if (culprits.at(number).address != 0) {
      addresses.insert(culprits.at(number).address);
    }
  }
  if (addresses.empty()) {
    return;
  }
  std::ifstream file(kallsyms);
  const auto names = function_names(file, addresses);
  for (std::size_t number = 0; number < culprits.size(); ++number) {
    Culprit& one = culprits.at(number);
    if (one.address != 0) {
      const auto name = names.find(one.address);
      one.name = name == names.end() ? "a function without a name here" : name->second;
    }
  }
}

}  // namespace wulf::node
