#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/json/json.hpp"
#include "core/session/session.hpp"
#include "replay/program/source.hpp"

namespace wulf::replay {

/// The programs that a session holds, by number.
class Programs {
 public:
  [[nodiscard]] std::uint64_t add(Loaded loaded);
  /// The program that a request's field `program` names; kept while somebody uses it. Throws bad-parameter.
  [[nodiscard]] std::shared_ptr<const Loaded> of(const Json& request) const;
  /// Forgets it. Errors as `of`.
  void drop(const Json& request);

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<const Loaded>> programs_;
  std::uint64_t last_ = 0;
};

/// Something to ask of programs. An addition is one file in operations/ that registers itself.
class Question {
 public:
  Question(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help)) {}
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
  Question(Question&&) = delete;
  Question& operator=(Question&&) = delete;
  virtual ~Question() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& help() const { return help_; }

  [[nodiscard]] virtual Json answer(const Json& request, Programs& programs) const = 0;

 private:
  std::string name_;
  std::string help_;
};

/// wulf-replay's own operations: one for each Question.
class Service {
 public:
  [[nodiscard]] std::map<std::string, Operation> operations();

  /// What `--describe` lists behind "ops": questions, sources, targets, engines.
  [[nodiscard]] static Json describe();

 private:
  Programs programs_;
};

}  // namespace wulf::replay
