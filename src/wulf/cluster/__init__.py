"""The nodes and what runs on them: inventory, programs, sessions, launchers, addresses.

inventory  which nodes there are and how they are reached
programs   the probes and the agent, as files with a digest
session    one running program on one node: requests out, answers in
launchers  how a program gets onto a node and starts there: one module each
addresses  where the probes find each other
"""
