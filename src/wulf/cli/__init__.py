"""One module a command; no logic. `main` imports a command's module only when that command runs."""
