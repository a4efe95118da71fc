#include "profile/writing.hpp"

#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "interpose/ticks.hpp"
#include "profile/calls.hpp"

namespace wulf::profile {

namespace {

using interpose::counts_cycles;
using interpose::nano;

constexpr const char* place_names[places] = {"same", "other", "open"};

/// Seconds of so many ticks, by both clocks' lengths of the whole run.
double seconds(const Run& run, std::uint64_t spent) {
  const auto clock = static_cast<double>(run.clock_end - run.clock_begin);
  const auto counted = static_cast<double>(run.ticks_end - run.ticks_begin);
  return counted > 0 ? static_cast<double>(spent) * (clock / counted) / static_cast<double>(nano) : 0;
}

double between(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(to - from) / static_cast<double>(nano);
}

/// A text that JSON can hold as it is: what would need an escape becomes a blank.
void tame(char* text) {
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\' || static_cast<unsigned char>(*text) < ' ') {
      *text = ' ';
    }
  }
}

void write_head(std::FILE* file, const Run& run) {
  char host[256] = {};
  (void)gethostname(host, sizeof(host) - 1);
  tame(host);
  (void)std::fprintf(file, R"({"version": 1, "rank": %d, "ranks": %d, "host": "%s", "library": "%s", )",
                     run.rank, run.ranks, host, run.library);
  (void)std::fprintf(file, R"("several_threads": %s, "clock": "%s", )",
                     run.threads == MPI_THREAD_MULTIPLE ? "true" : "false",
                     counts_cycles ? "counter" : "clock_gettime");
  (void)std::fprintf(file, R"("init": %.9f, "seconds": %.9f, "finalize": %.9f, "cost": %.3e,)",
                     between(run.clock_before, run.clock_begin), between(run.clock_begin, run.clock_end),
                     between(run.clock_end, run.clock_after), seconds(run, run.cost));
}

void write_calls(std::FILE* file, const Run& run) {
  (void)std::fputs("\n \"calls\": {", file);
  const char* before = "";
  for (std::size_t row = 0; row < row_count; row++) {
    const Entry& entry = run.entries[row];
    if (entry.calls == 0) {
      continue;
    }
    (void)std::fprintf(file, R"(%s
  "%s": {"kind": "%s", "calls": %llu, "bytes": %llu)",
                       before, rows[row].name, rows[row].kind, static_cast<unsigned long long>(entry.calls),
                       static_cast<unsigned long long>(entry.bytes));
    for (std::size_t place = 0; place < places; place++) {
      (void)std::fprintf(file, R"(, "%s": %.9f)", place_names[place], seconds(run, entry.ticks[place]));
    }
    (void)std::fputs("}", file);
    before = ",";
  }
  (void)std::fputs("},", file);
}

/// Per place a list of [class, messages, bytes]: class i holds messages of 2^(i-1) to 2^i - 1 bytes.
void write_sizes(std::FILE* file, const Ledger& ledger) {
  (void)std::fputs("\n \"sent\": {", file);
  for (std::size_t place = 0; place < places; place++) {
    (void)std::fprintf(file, R"(%s"%s": [)", place == 0 ? "" : ", ", place_names[place]);
    const char* before = "";
    for (std::size_t i = 0; i < sizes; i++) {
      const SizeClass& of = ledger.sent[place][i];
      if (of.messages != 0) {
        (void)std::fprintf(file, "%s[%zu, %llu, %llu]", before, i,
                           static_cast<unsigned long long>(of.messages),
                           static_cast<unsigned long long>(of.bytes));
        before = ", ";
      }
    }
    (void)std::fputs("]", file);
  }
  (void)std::fputs("}}\n", file);
}

}  // namespace

void learn_library(Run& run) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  PMPI_Get_library_version(text, &length);
  (void)std::snprintf(run.library, sizeof(run.library), "%s", text);
  run.library[std::strcspn(run.library, ",\n")] = '\0';
  tame(run.library);
}

void write_profile(const Run& run, const Ledger& ledger) {
  char target[4096];
  char partial[4096];
  const int length = std::snprintf(target, sizeof(target), "%s/rank-%d.json", run.folder, run.rank);
  (void)std::snprintf(partial, sizeof(partial), "%s/.rank-%d.%d", run.folder, run.rank,
                      static_cast<int>(getpid()));
  std::FILE* file = length < static_cast<int>(sizeof(partial)) ? std::fopen(partial, "we") : nullptr;
  bool done = file != nullptr;
  if (done) {
    write_head(file, run);
    write_calls(file, run);
    write_sizes(file, ledger);
    const bool failed = std::ferror(file) != 0;
    done = std::fclose(file) == 0 && !failed && std::rename(partial, target) == 0;
  }
  if (!done) {
    const int why = errno;
    (void)std::fprintf(stderr, "wulf: rank %d's profile can't be written to %s: %s\n", run.rank, run.folder,
                       std::strerror(why));
    (void)unlink(partial);
  }
}

}  // namespace wulf::profile
