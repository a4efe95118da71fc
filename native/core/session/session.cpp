#include "core/session/session.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "core/json/error.hpp"

namespace wulf {
namespace {

Json answer_head(const Json& id, bool ok) { return {{"id", id}, {"ok", ok}}; }

/// The request's id, or null where it has none that can be answered to.
Json id_of(const Json& request) {
  const Json* id = request.find("id");
  return id != nullptr && id->is_integer() ? *id : Json(nullptr);
}

Json parse(const LineSplitter::Line& line) {
  if (line.too_long) {
    throw Error("limit", "the request is longer than " + std::to_string(Session::kLongestLine) + " bytes");
  }
  std::optional<Json> request = parse_json(line.text);
  if (!request || !request->is_object()) {
    throw Error("bad-json", R"(a request is one JSON object a line, such as {"id": 1, "op": "ping"})");
  }
  return std::move(*request);
}

}  // namespace

Session::Session(std::map<std::string, Operation> operations, int in, int out)
    : operations_(std::move(operations)),
      in_(in),
      out_(out),
      output_lost_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (output_lost_ < 0) {
    throw system_error("internal", "eventfd", errno);
  }
}

Session::~Session() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  dispatcher_.join();
  lengthy_.join();
  close(output_lost_);
}

void Session::print(const Json& line) {
  // Text from outside may be no UTF-8: replaced rather than thrown over.
  const std::string text = line.dump() + "\n";
  const std::lock_guard lock(output_);
  if (!write_all(out_, text)) {
    eventfd_write(output_lost_, 1);
  }
}

void Session::serve() {
  dispatcher_.start([this] { dispatch_requests(); });
  read_requests();
  drain();
}

void Session::read_requests() {
  // Only reads and queues: a blocked stdout never hides that stdin has closed.
  LineSplitter lines(kLongestLine);
  std::array<char, 16384> buffer{};
  std::array<pollfd, 2> watched{{{in_, POLLIN, 0}, {output_lost_, POLLIN, 0}}};
  while (true) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) {
      return;
    }
    if (watched[1].revents != 0) {
      return;
    }
    const ssize_t got = read(in_, buffer.data(), buffer.size());
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
      return;
    }
    lines.feed({buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
    while (auto line = lines.next()) {
      if (line->too_long || line->text.find_first_not_of(" \t\r") != std::string::npos) {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(*line));
      }
    }
    changed_.notify_all();
  }
}

void Session::dispatch_requests() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ended_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    const LineSplitter::Line line = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    dispatch(line);
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void Session::dispatch(const LineSplitter::Line& line) {
  Json id = nullptr;
  try {
    const Json request = parse(line);
    id = id_of(request);
    if (id.is_null()) {
      throw bad_parameter("id", "a request needs an 'id' that is an integer");
    }
    const Json* op = request.find("op");
    const auto found =
        op != nullptr && op->is_string() ? operations_.find(op->get<std::string>()) : operations_.end();
    if (found == operations_.end()) {
      throw Error("unknown-op", "there is no operation " + (op == nullptr ? "(no 'op')" : op->dump()) +
                                    R"(; {"op": "describe"} lists them)");
    }
    start(found->second, request);
  } catch (const std::exception& error) {
    refuse(id, error);
  }
}

void Session::start(const Operation& operation, const Json& request) {
  if (!operation.lengthy) {
    answer(operation, request);
    return;
  }
  if (lengthy_.running() >= kMostLengthy) {
    throw Error("limit",
                "already " + std::to_string(kMostLengthy) + " requests in progress: wait for an answer");
  }
  lengthy_.start([this, &operation, request] { answer(operation, request); });
}

void Session::answer(const Operation& operation, const Json& request) {
  const Json id = id_of(request);
  try {
    Json line = answer_head(id, true);
    line.update(operation.handle(request));
    print(line);
  } catch (const std::exception& error) {
    refuse(id, error);
  }
}

void Session::refuse(const Json& id, const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  Json line = answer_head(id, false);
  line["error"] = to_json(known != nullptr ? *known : Error("internal", error.what()));
  print(line);
}

void Session::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::seconds(1), [this] { return queue_.empty() && !busy_; });
}

}  // namespace wulf
