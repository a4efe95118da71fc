#include "trace/file/file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "trace/format/crc.hpp"
#include "trace/format/encode.hpp"

namespace wulf::trace {

namespace {

/// File descriptors below are those that programs expect for themselves.
constexpr int least_descriptor = 200;

/// A limit on a file's size (RLIMIT_FSIZE) ends a process by default: for the time of a write it is an error
/// alone.
class SizeLimitIsError {
 public:
  SizeLimitIsError() {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &blocked, &_before);
  }
  ~SizeLimitIsError() {
    if (sigismember(&_before, SIGXFSZ) == 0) {
      sigset_t one;
      sigemptyset(&one);
      sigaddset(&one, SIGXFSZ);
      const timespec at_once{};
      const int why = errno;
      while (sigtimedwait(&one, nullptr, &at_once) == SIGXFSZ) {
      }
      errno = why;
    }
    pthread_sigmask(SIG_SETMASK, &_before, nullptr);
  }
  SizeLimitIsError(const SizeLimitIsError&) = delete;
  SizeLimitIsError& operator=(const SizeLimitIsError&) = delete;
  SizeLimitIsError(SizeLimitIsError&&) = delete;
  SizeLimitIsError& operator=(SizeLimitIsError&&) = delete;

 private:
  sigset_t _before{};
};

int open_file(const char* path) {
  const int low = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (low < 0) {
    return -1;
  }
  const int high = fcntl(low, F_DUPFD_CLOEXEC, least_descriptor);
  if (high < 0) {
    return low;
  }
  ::close(low);
  return high;
}

void say(const char* text) {
  const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
  (void)written;  // there is nobody else to tell
}

}  // namespace

bool File::open(const char* folder, int rank) {
  char path[4096];
  const int needed = std::snprintf(path, sizeof(path), "%s/rank-%06d.wtr", folder, rank);
  errno = ENAMETOOLONG;
  _file = needed < static_cast<int>(sizeof(path)) ? open_file(path) : -1;
  const int why = errno;
  _process = getpid();
  _rank = rank;
  struct stat found {};
  if (_file < 0 || fstat(_file, &found) != 0) {
    (void)std::fprintf(
        stderr, "wulf: rank %d is not traced: %s can't be made: %s%s\n", rank, path, std::strerror(why),
        why == EEXIST ? "; it is the trace of a program that ran before: name another folder" : "");
    return false;
  }
  _device = found.st_dev;
  _inode = found.st_ino;
  return true;
}

bool File::write_header(const char* header, std::size_t length) const {
  std::uint8_t head[file_head];
  std::memcpy(head, file_magic, sizeof(file_magic));
  put_little(put_little(head + sizeof(file_magic), file_version), static_cast<std::uint32_t>(length));
  const bool done = write_at(0, head, sizeof(head)) &&
                    write_at(sizeof(head), reinterpret_cast<const std::uint8_t*>(header), length);
  if (!done) {
    (void)std::fprintf(stderr, "wulf: rank %d is not traced: its file can't be written: %s\n", _rank,
                       std::strerror(errno));
  }
  return done;
}

bool File::ours() const {
  struct stat found {};
  return _file >= 0 && getpid() == _process && fstat(_file, &found) == 0 && found.st_dev == _device &&
         found.st_ino == _inode;
}

bool File::write_at(std::uint64_t offset, const std::uint8_t* data, std::size_t length) const {
  const SizeLimitIsError guard;
  while (length > 0) {
    const ssize_t written = pwrite(_file, data, length, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      errno = written == 0 ? ENOSPC : errno;
      return false;
    }
    data += written;
    offset += static_cast<std::uint64_t>(written);
    length -= static_cast<std::size_t>(written);
  }
  return true;
}

bool File::write_chunk(const std::uint8_t* chunk, std::size_t length, Totals& totals) const {
  if (!ours()) {
    cut(totals, EBADF);
    return false;
  }
  if (!write_at(totals.bytes, chunk, length)) {
    cut(totals, errno);
    return false;
  }
  totals.bytes += length;
  return true;
}

void File::write_done(const Totals& totals) const {
  if (!ours()) {
    return;
  }
  std::uint8_t last[chunk_head + sizeof(Totals)];
  put_totals(last + chunk_head, totals);
  put_chunk_head(last, done_magic, sizeof(Totals), 0, crc32(last + chunk_head, sizeof(Totals)));
  (void)write_at(totals.bytes, last, sizeof(last));  // a file without it is read as one that was torn
}

/// What was written of the chunk that did not fit makes room for the end, which says that the trace is cut.
void File::cut(Totals& totals, int why) const {
  totals.ended = static_cast<std::uint64_t>(Ended::unwritable);
  totals.detail = static_cast<std::uint64_t>(why);
  if (getpid() != _process) {
    return;
  }
  if (ours()) {
    const int status = ftruncate(_file, static_cast<off_t>(totals.bytes));
    (void)status;
    write_done(totals);
  }
  char text[256];
  (void)std::snprintf(
      text, sizeof(text),
      "wulf: the trace of rank %d is cut after %llu bytes, since its file can't be written (error %d); "
      "the program goes on\n",
      _rank, static_cast<unsigned long long>(totals.bytes), why);
  say(text);
}

}  // namespace wulf::trace
