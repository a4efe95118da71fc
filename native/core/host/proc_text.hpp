#pragma once

#include <string>

#include "core/json/json.hpp"

/// Parsers of the kernel's counter files: pure functions from a file's text to a tree of numbers.
/// Formats: proc(5) and the kernel's Documentation/filesystems/proc.rst. A malformed line is left out.
namespace wulf::proc_text {

/// /proc/stat → {"cpu": {"all": {"user": s, …, "softirq": s, "steal": s, …}, "0": {…}}, "ctxt": n, "intr": n,
/// …}. CPU times are in seconds; `ticks` is sysconf(_SC_CLK_TCK).
[[nodiscard]] Json parse_stat(const std::string& text, long ticks);

/// /proc/interrupts → {"24:virtio0-input.0": {"0": n, "1": n}, "LOC:Local timer interrupts": {…}}: per CPU.
/// /proc/softirqs has the same form: {"NET_RX": {"0": n, "1": n}, …}.
[[nodiscard]] Json parse_interrupts(const std::string& text);

/// /proc/net/softnet_stat → {"0": {"processed": n, "dropped": n, "squeezed": n}, …}: per CPU.
[[nodiscard]] Json parse_softnet(const std::string& text);

/// /proc/net/snmp and /proc/net/netstat → {"Tcp": {"RetransSegs": n, …}, "Udp": {…}, …}.
[[nodiscard]] Json parse_protocols(const std::string& text);

/// /proc/net/snmp6 → {"Udp6RcvbufErrors": n, …}: a name and a figure a line.
[[nodiscard]] Json parse_names(const std::string& text);

/// /proc/net/dev → {"eth0": {"rx_bytes": n, "rx_packets": n, "rx_errors": n, "rx_dropped": n, "rx_fifo": n,
/// "rx_frame": n, "tx_bytes": n, …, "collisions": n, "tx_carrier": n}}. The kernel sums there: rx_frame is
/// length, overrun, CRC and alignment errors, tx_carrier also aborted (16 collisions) and late ones
/// (net/core/net-procfs.c).
[[nodiscard]] Json parse_interfaces(const std::string& text);

}  // namespace wulf::proc_text
