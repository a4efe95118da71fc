"""Who takes changes back when nobody confirms them: a process, its twin, a unit at boot, and how they are started."""
