#include "net/channel/waiter.hpp"

#include <sys/epoll.h>

#include <cerrno>

#include "core/json/error.hpp"

namespace wulf::net {

Waiter::Waiter(const Socket& socket, Waiting waiting) : waiting_(waiting) {
  if (waiting == Waiting::kBlock) {
    return;
  }
  socket.set_blocking(false);
  if (waiting == Waiting::kEpoll) {
    readable_ = watch(socket, EPOLLIN);
    writable_ = watch(socket, EPOLLOUT);
  }
}

std::vector<int> Waiter::files() const {
  return waiting_ == Waiting::kEpoll ? std::vector<int>{readable_.fd(), writable_.fd()} : std::vector<int>{};
}

void Waiter::wait(int epoll) noexcept {
  epoll_event event{};
  epoll_wait(epoll, &event, 1, -1);
}

Socket Waiter::watch(const Socket& socket, unsigned events) {
  Socket epoll(epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = events;
  if (epoll.fd() < 0 || epoll_ctl(epoll.fd(), EPOLL_CTL_ADD, socket.fd(), &event) != 0) {
    throw system_error(errno == EMFILE || errno == ENFILE ? "limit" : "internal", "cannot make an epoll",
                       errno);
  }
  return epoll;
}

}  // namespace wulf::net
