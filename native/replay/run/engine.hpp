#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/session/registry.hpp"
#include "replay/run/run.hpp"

namespace wulf::replay {

/// A way to run programs on networks. An addition is one file that registers itself.
class Engine {
 public:
  Engine(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help)) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(Engine&&) = delete;
  virtual ~Engine() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& help() const { return help_; }

  /// A run for each network, in their order. Throws `deadlock`, and bad-parameter for what the engine can't.
  [[nodiscard]] virtual std::vector<Run> run(const Program& program, std::span<const Network> networks,
                                             const RunOptions& options) const = 0;

 private:
  std::string name_;
  std::string help_;
};

}  // namespace wulf::replay
