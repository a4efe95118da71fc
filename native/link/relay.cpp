#include "link/relay.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <utility>

#include "core/json/error.hpp"

namespace wulf::link {
namespace {

Json describe_line(const Line& line, std::uint64_t overflow, std::uint64_t refused, bool open) {
  const LineCounts& counts = line.counts();
  return {{"setting", describe_setting(line.setting())},
          {"open", open},
          {"frames", counts.frames},
          {"bytes", counts.bytes},
          {"lost", counts.lost},
          {"queue_full", counts.queue_full},
          {"too_long", counts.too_long},
          {"duplicated", counts.duplicated},
          {"reordered", counts.reordered},
          {"overflow", overflow},
          {"refused", refused}};
}

Json describe_lateness(const Histogram& late) {
  if (late.count() == 0) {
    return nullptr;
  }
  constexpr double kMost = 0.99;
  return {{"frames", late.count()},
          {"median", late.quantile(0.5) / static_cast<double>(kSecond)},
          {"p99", late.quantile(kMost) / static_cast<double>(kSecond)},
          {"max", to_seconds(static_cast<Nanoseconds>(late.greatest()))}};
}

/// Has the calling thread run when it wants to, where this user may ask for that: a frame that is due can't
/// wait for the end of somebody's time slice.
void go_first() {
  prctl(PR_SET_TIMERSLACK, 1UL);  // 50 µs by default, by which every sleep would be longer
  constexpr int kFirst = -20;
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kFirst);
}

}  // namespace

/// One end of a link, and the line that begins there.
struct Relay::Port {
  Port(File tap, std::uint64_t seed) : file(std::move(tap)), line(seed) {}
  File file;
  Line line;
  std::weak_ptr<Port> peer;
  std::uint64_t overflow = 0;  ///< frames dropped because too many were on the way
  std::uint64_t refused = 0;   ///< frames that this end's device did not take, such as one that is down
  bool open = true;            ///< the device is there
};

/// Ports by Direction: where that direction begins.
struct Relay::Link {
  std::array<std::shared_ptr<Port>, 2> ports;
};

Relay::Relay()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)),
      commanded_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      scratch_(kLongestFrame) {
  if (epoll_.fd() < 0 || commanded_.fd() < 0) {
    throw system_error("internal", "epoll_create1 or eventfd", errno);
  }
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, commanded_.fd(), &event) != 0) {
    throw system_error("internal", "epoll_ctl", errno);
  }
  thread_ = std::thread([this] { loop(); });
}

Relay::~Relay() {
  call([this] { ended_ = true; });
  thread_.join();
}

void Relay::add(const std::string& name, File node, File port, std::uint64_t seed) {
  call([&] {
    if (links_.contains(name)) {
      throw bad_parameter("name", "there is a link '" + name + "' already");
    }
    auto link = std::make_unique<Link>();
    link->ports = {std::make_shared<Port>(std::move(node), seed),
                   std::make_shared<Port>(std::move(port), ~seed)};
    link->ports[0]->peer = link->ports[1];
    link->ports[1]->peer = link->ports[0];
    watch(*link->ports[0]);
    watch(*link->ports[1]);
    links_.emplace(name, std::move(link));
  });
}

void Relay::remove(const std::string& name) {
  call([&] {
    for (const auto& port : find(name).ports) {
      port->open = false;
      port->file = File();
    }
    links_.erase(name);
  });
}

void Relay::set(const std::string& name, Direction direction, const Setting& setting) {
  call([&] { find(name).ports.at(static_cast<std::size_t>(direction))->line.set(setting); });
}

Json Relay::status() {
  Json answer;
  call([&] {
    Json links = Json::array();
    for (const auto& [name, link] : links_) {
      const auto& [node, port] = link->ports;
      links.push_back({{"name", name},
                       {"out", describe_line(node->line, node->overflow, port->refused, node->open)},
                       {"in", describe_line(port->line, port->overflow, node->refused, port->open)}});
    }
    answer = {{"links", links}, {"late", describe_lateness(late_)}};
  });
  return answer;
}

Relay::Link& Relay::find(const std::string& name) {
  const auto found = links_.find(name);
  if (found == links_.end()) {
    throw bad_parameter("name", "there is no link '" + name + "' here");
  }
  return *found->second;
}

/// Has the thread run `command` between two frames, and waits; what it throws is thrown here. Frames never
/// wait for a lock that way.
void Relay::call(const std::function<void()>& command) {
  std::packaged_task<void()> task(command);
  std::future<void> done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    commands_.emplace_back([&task] { task(); });
  }
  eventfd_write(commanded_.fd(), 1);
  done.get();
}

void Relay::run_commands() {
  eventfd_t count = 0;
  eventfd_read(commanded_.fd(), &count);
  std::deque<std::function<void()>> commands;
  {
    const std::lock_guard lock(mutex_);
    commands.swap(commands_);
  }
  for (const auto& command : commands) {
    command();
  }
}

void Relay::watch(Port& port) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = &port}};
  if (epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, port.file.fd(), &event) != 0) {
    throw system_error("internal", "epoll_ctl", errno);
  }
}

void Relay::loop() {
  go_first();
  std::array<epoll_event, kEvents> events{};
  while (!ended_) {
    urgency_.follow(now());
    const int ready = wait(events);
    bool commanded = false;
    for (int i = 0; i < ready; ++i) {
      auto* port = static_cast<Port*>(events.at(static_cast<std::size_t>(i)).data.ptr);
      if (port == nullptr) {
        commanded = true;
      } else {
        receive(*port);
      }
    }
    deliver_due();
    if (commanded) {  // last, since a command may take ports away
      run_commands();
    }
  }
}

/// Sleeps until a device has a frame, a command came, or the next frame is nearly due; returns how many of
/// `events` there are.
int Relay::wait(std::array<epoll_event, kEvents>& events) const {
  if (flights_.empty()) {
    return epoll_wait(epoll_.fd(), events.data(), kEvents, -1);
  }
  const Nanoseconds left = flights_.front().arrival - (urgency_.urgent() ? kShortLead : kLead) - now();
  if (left > 0) {
    pollfd watched{epoll_.fd(), POLLIN, 0};  // ppoll, since epoll's own time-out counts milliseconds
    const timespec time{left / kSecond, left % kSecond};
    ppoll(&watched, 1, &time, nullptr);
  }
  return epoll_wait(epoll_.fd(), events.data(), kEvents, 0);
}

void Relay::receive(Port& port) {
  for (std::size_t i = 0; i < kBatch; ++i) {
    // It does not block.  NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection)
    const ssize_t got = read(port.file.fd(), scratch_.data(), scratch_.size());
    if (got < 0 && errno != EAGAIN && errno != EINTR) {  // the device was deleted
      epoll_ctl(epoll_.fd(), EPOLL_CTL_DEL, port.file.fd(), nullptr);
      port.open = false;
    }
    if (got <= 0) {
      return;
    }
    forward(port, static_cast<std::size_t>(got), now());
    deliver_due();
  }
}

void Relay::forward(Port& port, std::size_t bytes, Nanoseconds current) {
  const auto to = port.peer.lock();
  const Fate fate = port.line.admit(bytes, current);
  if (fate.copies == 0 || !to) {
    return;
  }
  if (flights_.size() + fate.copies > kMostFlights) {
    ++port.overflow;
    return;
  }
  for (std::size_t i = 0; i < fate.copies; ++i) {
    launch(to, bytes, fate.arrival, fate.arrival > current);
  }
}

void Relay::launch(const std::shared_ptr<Port>& to, std::size_t bytes, Nanoseconds arrival, bool timed) {
  std::vector<char> frame;
  if (!spare_.empty()) {
    frame = std::move(spare_.back());
    spare_.pop_back();
  }
  frame.assign(scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(bytes));
  flights_.push_back({arrival, ++launched_, to, std::move(frame), timed});
  std::push_heap(flights_.begin(), flights_.end());
}

void Relay::deliver_due() {
  constexpr std::size_t kMostSpare = 4096;
  while (!flights_.empty()) {
    const Nanoseconds late = now() - flights_.front().arrival;
    if (late < 0) {
      return;
    }
    std::pop_heap(flights_.begin(), flights_.end());
    Flight flight = std::move(flights_.back());
    flights_.pop_back();
    if (flight.timed) {
      late_.record(late);
    }
    if (write(flight.to->file.fd(), flight.frame.data(), flight.frame.size()) < 0) {
      ++flight.to->refused;
    }
    if (spare_.size() < kMostSpare) {
      spare_.push_back(std::move(flight.frame));
    }
  }
}

}  // namespace wulf::link
