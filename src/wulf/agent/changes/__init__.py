"""Changing a node's settings so that it can always be undone.

host        what a change needs of its node: folder, mechanisms, clocks; tests bring a machine of their own
state/      what stands on its disk
  journal   what was written, line by line, before it was
  entry     one write as the journal tells it
  lock      one process at a time changes; one campaign holds the node
  deadlines until when a change must be confirmed, and a controller be heard of
watch/      who takes back what nobody confirms
  watchdog  the process on the node that does
  twin      a second one, which goes on when it is killed
  atboot    a unit that takes back what a boot would keep
  arming    starts them, and makes sure that they know
preflight   what must hold before anything is begun
apply       write, read back, classify
revert      the way back
keep        confirming, prolonging, keeping, ending
status      what is open here, and what is wrong
operations  the agent's requests; byhand: its words on a command line
"""
