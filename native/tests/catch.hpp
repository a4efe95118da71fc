#pragma once

// Catch2's version 2 (Debian 12) and version 3 (Ubuntu 24.04) have their headers, and names, in different
// places. Tests are written for version 2.
#if WULF_CATCH2 == 3
#include <catch2/catch_all.hpp>
#include <string>

using Catch::Approx;

namespace Catch {
inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }
}  // namespace Catch
#else
#include <catch2/catch.hpp>
#endif
