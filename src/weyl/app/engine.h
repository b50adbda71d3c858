#pragma once

/// What weyl-engine looks for, by name, in the libraries that it opens; each returns the exit code.

/// In libweyl_program.so: the program with weyl's own systems.
extern "C" int weyl_engine(int argc, char** argv);

/// In libweyl_base.so, for when libweyl_program.so cannot be opened: says in one line what the loader `said` of it, `library`,
/// and what to do; of `doctor`, what can be said without it.
extern "C" int weyl_without_engine(int argc, char** argv, const char* library, const char* said);
