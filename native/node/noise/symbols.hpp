#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <set>
#include <string>

#include "node/noise/attribution.hpp"

namespace wulf::node {

/// The names of functions that begin at these addresses, out of /proc/kallsyms: "ffffffff81000000 T _stext
/// [module]" a line. An address that no line has stays without a name, as all do where the kernel hides them
/// (kernel.kptr_restrict).
[[nodiscard]] std::map<std::uint64_t, std::string> function_names(std::istream& kallsyms,
                                                                  const std::set<std::uint64_t>& addresses);

/// Gives culprits that are functions the names that this kernel has for them.
void name_functions(Culprits& culprits, const std::string& kallsyms = "/proc/kallsyms");

}  // namespace wulf::node
