#pragma once

#include <cstddef>
#include <cstdint>

/// What can be thrown at the parsers: each takes any bytes, and ends the process where a promise is broken.
/// libFuzzer drives them (main.cpp), and the native tests replay the corpus without it.
namespace wulf::fuzz {

/// wulf-net's stdin: everything that a line reaches without touching the network. Every line that is not
/// blank has to be answered by exactly one line of JSON.
void session(const std::uint8_t* data, std::size_t size);

/// wulf-node's, up to where a probe would measure; all probes' parameters.
void node(const std::uint8_t* data, std::size_t size);

/// wulf-mpi's on two ranks, up to where they would start; needs an MPI, and no rank.
void mpi(const std::uint8_t* data, std::size_t size);

/// wulf-link's, without its devices.
void link(const std::uint8_t* data, std::size_t size);

/// What a stranger sends to the port: the header, the key's check, and the run's parameters behind it.
void header(const std::uint8_t* data, std::size_t size);

/// The kernel's counter files, and the difference of two snapshots.
void proc(const std::uint8_t* data, std::size_t size);

/// The kernel's descriptions of tracepoints and their records, and what is told of them: who took the CPU.
void perf(const std::uint8_t* data, std::size_t size);

/// wulf-replay's stdin: all that it may be asked of programs that stand in the request itself.
void questions(const std::uint8_t* data, std::size_t size);

/// The file of a traced rank; and the records of two of them, which become a program.
void trace(const std::uint8_t* data, std::size_t size);

/// A GOAL schedule, as text or binary.
void goal(const std::uint8_t* data, std::size_t size);

/// A program as JSON, its networks and their topologies, and what the engines make of them.
void replay(const std::uint8_t* data, std::size_t size);

}  // namespace wulf::fuzz
