#pragma once

/// What weyl-engine looks for, by this name, in the library that it opens: the program with weyl's own systems. Returns
/// the exit code.
extern "C" int weyl_engine(int argc, char** argv);
