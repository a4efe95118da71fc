#include "node/os/process_maker.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "node/os/files.hpp"
#include "node/os/unavailable.hpp"

namespace wulf::node {
namespace {

constexpr int kNotStarted = 127;

/// What the maker answers.
struct Reply {
  Nanoseconds spent;
  int error;   ///< errno, where no process could be made
  int status;  ///< of the process that failed, as of waitpid(2)
};

int exec(char* const* words) {
  execve(words[0], words, environ);
  return kNotStarted;
}

/// One process; false where it failed, with the reason in `reply`.
bool make_one(std::string_view how, char* const* words, Reply& reply) {
  pid_t child = 0;
  if (how == "spawn") {
    reply.error = posix_spawn(&child, words[0], nullptr, nullptr, words, environ);
  } else {
    child = fork();
    if (child == 0) {
      _exit(how == "fork" ? 0 : exec(words));  // either ends at once
    }
    reply.error = child < 0 ? errno : 0;
  }
  reply.status = reply.error == 0 ? wait_for(child) : 0;
  return reply.error == 0 && reply.status == 0;
}

/// The life of the maker: counts in by its standard input, replies out by its standard output.
[[noreturn]] void serve(std::string_view how, char* const* words) {
  std::uint64_t count = 0;
  while (read(STDIN_FILENO, &count, sizeof count) == sizeof count) {
    Reply reply{};
    const Nanoseconds start = now();
    while (count > 0 && make_one(how, words, reply)) {
      --count;
    }
    reply.spent = now() - start;
    if (write(STDOUT_FILENO, &reply, sizeof reply) != sizeof reply) {
      break;
    }
  }
  _exit(0);
}

/// Before everything else: registries and streams are not made yet. The C library of GNU hands constructors
/// the arguments of main.
[[gnu::constructor(101)]] void be_another(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == kNothing) {
    _exit(0);
  }
  if (argc >= 3 && std::string_view(argv[1]) == kMakeProcesses) {
    serve(argv[2], argv + 3);
  }
}

struct Ends {
  File in;
  File out;
};

Ends make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Unavailable("no pipe can be made", errno);
  }
  return {File(ends[0]), File(ends[1])};
}

}  // namespace

ProcessMaker::ProcessMaker(const std::string& how, const std::vector<std::string>& words)
    : what_(words.empty() ? "a forked process" : words.front()) {
  std::vector<std::string> texts{own_program(), kMakeProcesses, how};
  texts.insert(texts.end(), words.begin(), words.end());
  std::vector<char*> line;
  line.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    line.push_back(text.data());
  }
  line.push_back(nullptr);
  Ends requests = make_pipe();
  Ends replies = make_pipe();
  maker_.emplace_back([&] {
    const bool joined =
        dup2(requests.in.fd(), STDIN_FILENO) >= 0 && dup2(replies.out.fd(), STDOUT_FILENO) >= 0;
    return joined ? exec(line.data()) : kNotStarted;
  });
  requests_ = std::move(requests.out);
  replies_ = std::move(replies.in);
}

Nanoseconds ProcessMaker::make(std::uint64_t count) {
  Reply reply{};
  if (write(requests_.fd(), &count, sizeof count) != sizeof count ||
      read(replies_.fd(), &reply, sizeof reply) != sizeof reply) {
    throw Unavailable("the process that makes others has ended: can this program start itself?");
  }
  if (reply.error != 0) {
    throw Unavailable("no process can be made", reply.error);
  }
  if (reply.status != 0) {
    throw Unavailable(what_ + " could not be run: it ended with " +
                      (WIFEXITED(reply.status) ? "status " + std::to_string(WEXITSTATUS(reply.status))
                                               : "signal " + std::to_string(WTERMSIG(reply.status))));
  }
  return reply.spent;
}

}  // namespace wulf::node
