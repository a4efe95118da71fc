#if WULF_CATCH2 == 2
#define CATCH_CONFIG_MAIN  // version 3 brings its own main
#endif
#include "tests/catch.hpp"
