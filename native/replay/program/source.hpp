#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.hpp"
#include "core/session/registry.hpp"
#include "replay/program/program.hpp"

namespace wulf::replay {

/// What the program does not hold of what it was made from.
struct LeftOut {
  std::string what;  ///< "MPI_Win_flush"
  std::uint64_t calls = 0;
  double seconds = 0;
  std::string why;
};

/// A collective of MPI_COMM_WORLD for which the program has no messages, since it was asked to keep its call.
struct KeptCall {
  std::string_view call;  ///< "allreduce", as in MPI_Allreduce
  std::uint32_t rank = 0;
  std::uint32_t op = 0;  ///< of all ranks', the operation before which it stands
  std::int32_t root = 0;
  std::uint64_t bytes = 0;  ///< these and `bytes2` as the trace's record has them
  std::uint64_t bytes2 = 0;
};

/// A program and how much of its origin it holds.
struct Loaded {
  Program program;
  double share = 1;  ///< of the trace's time that the model covers: 0 … 1
  std::vector<LeftOut> left_out;
  std::vector<std::string> notes;
  std::vector<KeptCall> kept;        ///< by rank, then in their order
  std::uint32_t first_copy = kNone;  ///< the first duration that is no computing, but a message to oneself
};

/// Something that a program can be made from: the request's field of that name. An addition is one file that
/// registers itself.
class Source {
 public:
  Source(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help)) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  Source(Source&&) = delete;
  Source& operator=(Source&&) = delete;
  virtual ~Source() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& help() const { return help_; }

  /// `value` is that field; `collectives` the request's, or an empty object; `compute` scales durations
  /// (20 fractional bits, for ProgramBuilder).
  [[nodiscard]] virtual Loaded load(const Json& value, const Json& collectives,
                                    std::int64_t compute) const = 0;

 private:
  std::string name_;
  std::string help_;
};

}  // namespace wulf::replay
