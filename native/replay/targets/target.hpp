#pragma once

#include <string>
#include <utility>

#include "replay/program/source.hpp"

namespace wulf::replay {

/// Something that a program can be written as: the request's field of that name. An addition is one file that
/// registers itself.
class Target {
 public:
  Target(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help)) {}
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  Target(Target&&) = delete;
  Target& operator=(Target&&) = delete;
  virtual ~Target() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& help() const { return help_; }

  /// `place` is that field: a file's path, or a folder's that is there. Rank by rank, so that memory goes by
  /// the largest of them, and by the number of tags. Throws `write` where the file system takes no more, and
  /// bad-parameter for a program that the format can't hold; what is written so far stays there.
  virtual void write(const Loaded& loaded, const std::string& place) const = 0;

 private:
  std::string name_;
  std::string help_;
};

}  // namespace wulf::replay
