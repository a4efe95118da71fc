"""What the agent does about MPI: finds it, builds wulf-mpi with it, starts and watches its launcher.

find       which MPIs a node has
build      wulf-mpi from its source, with the node's own compiler
files      the built program, from one node to another
processes  whether ranks run; whether a node reaches the others by ssh
wheel      an MPI from PyPI, where there is none and the user asked for one
supervise  a launcher that ends with its session, whatever dies
"""
