#pragma once

// Catch2's version 2 (Debian 12) and version 3 have their headers in different places.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
