#include "core/perf/ring.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

namespace wulf {
namespace {

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

EventRing::EventRing(int cpu, clockid_t clock, std::size_t pages) : cpu_(cpu), clock_(clock), pages_(pages) {}

EventRing::~EventRing() {
  disable();
  if (memory_ != nullptr) {
    munmap(memory_, mapped_);
  }
}

void EventRing::map(int event) {
  const std::size_t page = page_size();
  for (std::size_t pages = pages_; pages > 0; pages /= 2) {  // perf_event_mlock_kb may allow less
    mapped_ = (pages + 1) * page;
    void* memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (memory != MAP_FAILED) {
      memory_ = static_cast<std::byte*>(memory);
      return;
    }
  }
  throw std::system_error(errno, std::generic_category(), "no ring for events could be mapped");
}

void EventRing::add(std::uint64_t tracepoint) {
  perf_event_attr asked{};
  asked.size = sizeof(asked);
  asked.type = PERF_TYPE_TRACEPOINT;
  asked.config = tracepoint;
  asked.sample_period = 1;  // NOLINT(cppcoreguidelines-pro-type-union-access): as the kernel's header has it
  // a kernel thread has no user's registers, which is how it is told from a task, in any PID namespace
  asked.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER;
  asked.sample_regs_user = 1;
  asked.sample_id_all = 1;
  asked.disabled = 1;
  asked.use_clockid = 1;
  asked.clockid = clock_;
  asked.watermark = 1;                 // nobody is woken: a wake-up would be noise
  asked.wakeup_watermark = ~0U >> 1U;  // NOLINT(cppcoreguidelines-pro-type-union-access): likewise
  File event(static_cast<int>(syscall(SYS_perf_event_open, &asked, -1, cpu_, -1, PERF_FLAG_FD_CLOEXEC)));
  if (event.fd() < 0) {
    throw std::system_error(errno, std::generic_category(), "perf_event_open");
  }
  if (memory_ == nullptr) {
    map(event.fd());
  } else if (ioctl(event.fd(), PERF_EVENT_IOC_SET_OUTPUT, events_.front().fd()) != 0) {
    throw std::system_error(errno, std::generic_category(), "PERF_EVENT_IOC_SET_OUTPUT");
  }
  events_.push_back(std::move(event));
}

void EventRing::enable() const noexcept {
  for (const File& event : events_) {
    ioctl(event.fd(), PERF_EVENT_IOC_ENABLE, 0);
  }
}

void EventRing::disable() const noexcept {
  for (const File& event : events_) {
    ioctl(event.fd(), PERF_EVENT_IOC_DISABLE, 0);
  }
}

void EventRing::drain(const std::function<void(const PerfRecord&)>& take) {
  if (memory_ == nullptr) {
    return;
  }
  auto* control = reinterpret_cast<perf_event_mmap_page*>(memory_);
  const std::size_t page = page_size();
  const Bytes ring(memory_ + page, mapped_ - page);
  const std::uint64_t head = std::atomic_ref(control->data_head).load(std::memory_order_acquire);
  std::uint64_t tail = control->data_tail;
  while (tail < head) {
    const std::size_t at = tail % ring.size();
    perf_event_header header{};
    std::memcpy(&header, ring.data() + at, sizeof(header));  // records are multiples of 8 bytes, as it is
    if (header.size < sizeof(header)) {
      break;  // no record of the kernel's
    }
    const std::size_t first = std::min<std::size_t>(header.size, ring.size() - at);
    Bytes record = ring.subspan(at, first);
    if (first < header.size) {
      joined_.assign(record.begin(), record.end());
      joined_.insert(joined_.end(), ring.begin(),
                     ring.begin() + static_cast<std::ptrdiff_t>(header.size - first));
      record = joined_;
    }
    if (const auto parsed = parse_perf_record(record)) {
      take(*parsed);
    }
    tail += header.size;
  }
  std::atomic_ref(control->data_tail).store(head, std::memory_order_release);
}

}  // namespace wulf
