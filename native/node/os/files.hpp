#pragma once

#include <cstddef>
#include <string>

#include "core/host/file.hpp"
#include "core/json/json.hpp"

namespace wulf::node {

/// Opens with O_CLOEXEC. Throws Unavailable, with the path.
[[nodiscard]] File open_file(const std::string& path, int flags);

/// Gives the calling thread a table of files of its own, without those of the session. What it opens from now
/// on is not shared with the other threads, so that a system call need not count references to it, as in a
/// program of one thread; and a child inherits nothing of the session but the standard streams.
void private_files() noexcept;

/// A regular file that every system has and that anyone may read: for what needs some file.
[[nodiscard]] std::string ordinary_file();

/// Writes so many bytes, 8 KiB at a time as lmbench's lmdd: a file system that keeps a file in pieces as
/// large as they were written (ext4 and XFS of late) reads, maps and dirties large pieces several times as
/// fast. False: the system said no, by errno.
[[nodiscard]] bool fill(int fd, std::size_t bytes);

/// The program's own file. Throws Unavailable where it has been deleted or replaced since it was started.
[[nodiscard]] std::string own_program();

/// Pure: the mount that holds the absolute, resolved `path`, by the text of /proc/self/mountinfo (proc(5)):
/// {"mount": "/tmp", "type": "tmpfs"}, or nulls where none does.
[[nodiscard]] Json mount_of(const std::string& mountinfo, const std::string& path);

/// {"path", "mount", "type"} of what holds `path`, links resolved.
[[nodiscard]] Json file_system_of(const std::string& path);

/// What stands behind a program's name: {"path": "/bin/sh", "is": "/usr/bin/dash"}, links resolved.
[[nodiscard]] Json behind(const std::string& path);

}  // namespace wulf::node
