"""How xhpl is built from HPL's source tree: a Make.wulf, as HPL's Makefile wants one for each architecture."""

from __future__ import annotations

from pathlib import PurePath

ARCH = "wulf"
PRODUCT = f"bin/{ARCH}/xhpl"
NEEDS = ("Makefile", "Make.top", "testing/ptest", "src", "include")
"""What makes a folder HPL's source tree."""

FOLDER = "@FOLDER@"
"""Stands for the folder that the tree is copied to, which the node that builds knows."""

COMMANDS = (("make", f"arch={ARCH}"),)

_VARIABLES = {
    "SHELL": "/bin/sh",
    "CD": "cd",
    "CP": "cp",
    "LN_S": "ln -sf",
    "MKDIR": "mkdir -p",
    "RM": "/bin/rm -f",
    "TOUCH": "touch",
    "ARCH": ARCH,
    "TOPdir": FOLDER,
    "INCdir": "$(TOPdir)/include",
    "BINdir": "$(TOPdir)/bin/$(ARCH)",
    "LIBdir": "$(TOPdir)/lib/$(ARCH)",
    "HPLlib": "$(LIBdir)/libhpl.a",
    "MPinc": "",
    "MPlib": "",
    "LAinc": "",
    "F2CDEFS": "-DAdd_ -DF77_INTEGER=int -DStringSunStyle",
    "HPL_INCLUDES": "-I$(INCdir) -I$(INCdir)/$(ARCH) $(LAinc) $(MPinc)",
    "HPL_LIBS": "$(HPLlib) $(LAlib) $(MPlib) -lm",
    "HPL_OPTS": "",
    "HPL_DEFS": "$(F2CDEFS) $(HPL_OPTS) $(HPL_INCLUDES)",
    "CCNOOPT": "$(HPL_DEFS)",
    "CCFLAGS": "$(HPL_DEFS) -fomit-frame-pointer -O3 -funroll-loops",
    "LINKFLAGS": "$(CCFLAGS)",
    "ARCHIVER": "ar",
    "ARFLAGS": "r",
    "RANLIB": "echo",
}
"""The BLAS is called by its Fortran interface, which all of them have. Nothing is compiled for the building node's own
instructions: all but a few per cent of HPL's time is spent in the BLAS, which chooses by itself."""


def make_file(mpicc: str, blas: str) -> str:
    """Make.wulf.

    Parameters
    ----------
    mpicc
        The MPI's compiler, which knows its headers and libraries.
    blas
        Path of the library that is linked; any other of its name can be chosen when it is run.
    """
    folder = str(PurePath(blas).parent)
    own = "" if folder.startswith("/usr/lib") else f" -Wl,-rpath,{folder}"
    variables = _VARIABLES | {"CC": mpicc, "LINKER": mpicc, "LAlib": f"{blas}{own}"}
    return "".join(f"{name:<12} = {value}".rstrip() + "\n" for name, value in variables.items())


def c_compiler(mpicxx: str, name: str = "mpicc") -> str:
    """The C compiler, or another, beside an MPI's C++ compiler: mpicc.openmpi for mpicxx.openmpi."""
    path = PurePath(mpicxx)
    return str(path.with_name(path.name.replace("mpicxx", name).replace("mpic++", name)))
