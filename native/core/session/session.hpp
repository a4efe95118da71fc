#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "core/host/threads.hpp"
#include "core/json/json.hpp"
#include "core/json/lines.hpp"

namespace wulf {

/// What a session can be asked to do. `handle` gets the request, returns the answer's fields and throws
/// Error.
struct Operation {
  std::function<Json(const Json& request)> handle;
  bool lengthy = false;  ///< runs in a thread of its own; the others are answered in the order they came
};

/// A session as ARCHITECTURE.md defines it: requests as JSON Lines in, one answer line for each out.
class Session {
 public:
  Session(std::map<std::string, Operation> operations, int in, int out);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  Session(Session&&) = delete;
  Session& operator=(Session&&) = delete;
  /// Waits for every operation in progress. A program calls std::_Exit instead, so that nothing can hold it
  /// up.
  ~Session();

  /// Prints one line, whole, whoever else prints.
  void print(const Json& line);

  /// Serves until `in` closes or nobody reads `out`. Short requests that came before the end are still
  /// answered, unless that takes longer than a second; lengthy ones are left in progress.
  void serve();

  static constexpr std::size_t kLongestLine = 1U << 20U;
  static constexpr std::size_t kMostLengthy = 64;  ///< in progress at once; beyond, the answer is `limit`

 private:
  void read_requests();
  void dispatch_requests();
  void dispatch(const LineSplitter::Line& line);
  void start(const Operation& operation, const Json& request);
  void answer(const Operation& operation, const Json& request);
  void refuse(const Json& id, const std::exception& error);
  void drain();

  std::map<std::string, Operation> operations_;
  int in_;
  int out_;
  int output_lost_;  ///< an eventfd that becomes readable when nobody reads `out`

  std::mutex output_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<LineSplitter::Line> queue_;
  bool busy_ = false;
  bool ended_ = false;
  Threads lengthy_;
  Threads dispatcher_;
};

}  // namespace wulf
