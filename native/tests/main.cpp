#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN  // version 3 brings its own main
#endif
#include "tests/catch.hpp"
