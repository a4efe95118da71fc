"""What applications print, as the tools' own sources and releases have it; shortened, numbers of small machines."""

STREAM = """\
-------------------------------------------------------------
STREAM version $Revision: 5.10 $
-------------------------------------------------------------
This system uses 8 bytes per array element.
-------------------------------------------------------------
Array size = 10000000 (elements), Offset = 0 (elements)
Memory per array = 76.3 MiB (= 0.1 GiB).
Number of Threads requested = 2
Number of Threads counted = 2
-------------------------------------------------------------
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           18124.9     0.009021     0.008828     0.009461
Scale:          11853.4     0.013661     0.013498     0.014184
Add:            13443.6     0.018203     0.017852     0.018895
Triad:          13436.2     0.018111     0.017862     0.018519
-------------------------------------------------------------
Solution Validates: avg error less than 1.000000e-13 on all three arrays
-------------------------------------------------------------
"""

STREAM_WRONG = STREAM.replace(
    "Solution Validates: avg error less than 1.000000e-13 on all three arrays",
    "Failed Validation on array b[], AvgRelAbsErr > epsilon (1.000000e-13)\n     Expected Value: 1.0, AvgAbsErr: 1.0",
)

NETPIPE = """\
       1 3.596163   0.00000212
       4 14.209874   0.00000215
    4096 8193.540000   0.00000381
   65536 39215.686275   0.00001275
"""

IMB_PINGPONG = """\
#------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.2, MPI-1 part
#------------------------------------------------------------
# Message lengths were user defined
# List of Benchmarks to run:
# PingPong
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
         1024         1000         1.92       533.46


# All processes entering MPI_Finalize
"""

IMB_ALLREDUCE = """\
#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8         1000         3.41         3.52         3.46


# All processes entering MPI_Finalize
"""

IMB_BARRIER = """\
#---------------------------------------------------
# Benchmarking Barrier
# #processes = 4
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         1.05         1.07         1.06
"""

OSU_LATENCY = """\
# OSU MPI Latency Test v7.3
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       0.27
"""

OSU_BANDWIDTH = """\
# OSU MPI Bandwidth Test v5.9
# Size      Bandwidth (MB/s)
65536                9214.53
"""

OSU_BARRIER = """\
# OSU MPI Barrier Latency Test v7.3
# Avg Latency(us)
             0.91
"""

LAMMPS = """\
LAMMPS (7 Jan 2022)
Created 1 atoms
Setting up Verlet run ...
Per MPI rank memory allocation (min/avg/max) = 3.071 | 3.071 | 3.071 Mbytes
Step Temp E_pair E_mol TotEng Press
       0         1.44   -6.7733681            0   -4.6139081   -5.0196704
      50    0.7574531   -5.7585055            0   -4.6223613    0.20726105
     100    0.7600000   -5.7620000            0   -4.6220000    0.19000000
Loop time of 0.5 on 2 procs for 100 steps with 4000 atoms

Performance: 86400.000 tau/day, 200.000 timesteps/s
99.2% CPU use with 2 MPI tasks x 1 OpenMP threads
Total wall time: 0:00:00
"""

GROMACS = """\
                      :-) GROMACS - gmx mdrun, 2022.5-Debian_2022.5_2 (-:

               Core t (s)   Wall t (s)        (%)
       Time:       12.300        6.150      200.0
                 (ns/day)    (hour/ns)
Performance:       28.103        0.854
Finished mdrun on rank 0 Sun Nov 22 03:45:13 2026
"""

PHYML_STATS = """\
                                  ---  PhyML 3.3.3:3.3.20220408-3  ---

. Sequence filename: 			sequences.phy
. Number of taxa: 			4
. Log-likelihood: 			-150.28996
. Random seed:				7
"""

PHYML_TREE = "(taxon00001:0.1,taxon00002:0.1,(taxon00003:0.2,taxon00004:0.1)4:0.1);\n"

PHYML_OUT = ". Completed the bootstrap analysis successfully.\n\n. Time used 0h0m2s\n"

IQTREE = """\
IQ-TREE MPI multicore version 2.0.7 for Linux 64-bit built Jan 21 2022
Alignment has 4 sequences with 600 columns, 220 distinct patterns
BEST SCORE FOUND : -3310.042
Total CPU time used: 3.1 sec (0h:0m:3s)
Total wall-clock time used: 1.602 sec (0h:0m:1s)
"""

BLAST = """\
hit 0 query00001 family00001_0001 83 1.74e-18 79 64
hit 0 query00001 family00001_0003 60 1.63e-12 75 57
hit 0 query00002 family00002_0005 106 5.32e-25 78 68
hit 0 query00002 family00002_0003 88 4.09e-20 69 59
rank 0 2 4 0.293696 0.328196
version 2.12.0+
whole query00001 family00001_0002 155 4.98e-38 80 79
whole query00001 family00001_0006 135 1.34e-32 80 75
whole query00001 family00001_0001 83 1.74e-18 79 64
whole query00002 family00002_0005 106 5.32e-25 78 68
whole query00002 family00002_0004 96 2.76e-22 78 66
whole query00002 family00002_0006 90 1.17e-20 80 66
unsplit 3 6 0.286105 0.383525
hit 1 query00001 family00001_0002 155 4.98e-38 80 79
hit 1 query00001 family00001_0006 135 1.34e-32 80 75
hit 1 query00002 family00002_0004 96 2.76e-22 78 66
hit 1 query00002 family00002_0006 90 1.17e-20 80 66
rank 1 2 4 0.237442 0.260080
"""
"""BLAST+ 2.12.0 by wulf's driver: 2 ranks, 2 families of 6 members, 80 sites, 3 hits."""
