// The header of a rank's file: one JSON object.

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "trace/calls/sites.hpp"
#include "trace/file/clock.hpp"
#include "trace/life.hpp"

namespace wulf::trace {

namespace {

constexpr std::size_t command_most = 1024;
constexpr std::size_t header_most = 8192;

char text[header_most];

/// A text that JSON can hold as it is: what would need an escape, and what is cut of UTF-8, becomes a
/// question mark.
void tame(char* at) {
  for (; *at != '\0'; at++) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte == '"' || byte == '\\' || byte < ' ' || byte >= 0x7FU) {
      *at = '?';
    }
  }
}

void learn_library(char (&name)[MPI_MAX_LIBRARY_VERSION_STRING]) {
  int length = 0;
  PMPI_Get_library_version(name, &length);
  name[std::strcspn(name, ",\n")] = '\0';
  for (char* at = name; *at != '\0'; at++) {
    *at = *at == '\t' ? ' ' : *at;
  }
  tame(name);
}

/// The words of the command, with blanks between.
void learn_command(char (&command)[command_most]) {
  std::FILE* file = std::fopen("/proc/self/cmdline", "re");
  const std::size_t got = file == nullptr ? 0 : std::fread(command, 1, sizeof(command) - 1, file);
  if (file != nullptr) {
    (void)std::fclose(file);
  }
  for (std::size_t i = 0; i + 1 < got; i++) {
    command[i] = command[i] == '\0' ? ' ' : command[i];
  }
  tame(command);
}

}  // namespace

const char* header_text(int rank, int size, int thread_level, std::uint64_t init_ns, std::uint64_t cost_ns) {
  char host[256] = {};
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  char command[command_most] = {};
  (void)gethostname(host, sizeof(host) - 1);
  tame(host);
  learn_library(library);
  learn_command(command);
  const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  int threads = 0;
  while (threads < 3 && levels[threads] != thread_level) {
    threads++;
  }
  const int length = std::snprintf(
      text, sizeof(text),
      R"({"rank": %d, "size": %d, "host": "%s", "pid": %d, "mpi": "%s", "clock": "%s", "begin_realtime_ns": %llu, )"
      R"("begin_monotonic_ns": %llu, "init_ns": %llu, "cost_ns": %llu, "threads": %d, "sites": %s, "command": "%s"})",
      rank, size, host, static_cast<int>(getpid()), library,
      interpose::counts_cycles ? "counter" : "clock_gettime",
      static_cast<unsigned long long>(run_clock.begin_realtime()),
      static_cast<unsigned long long>(run_clock.begin_monotonic()), static_cast<unsigned long long>(init_ns),
      static_cast<unsigned long long>(cost_ns), threads, record_sites ? "true" : "false", command);
  return length > 0 && length < static_cast<int>(sizeof(text)) ? text : nullptr;
}

}  // namespace wulf::trace
