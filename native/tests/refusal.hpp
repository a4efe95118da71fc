#pragma once

#include <functional>
#include <string>

#include "core/json/error.hpp"

namespace wulf::tests {

/// The error that a call ends with, as "code: message"; empty where there is none.
inline std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code() + ": " + error.what();
  }
  return "";
}

}  // namespace wulf::tests
