#pragma once

namespace weyl {

/// From here on an exception for want of memory or threads that nobody can catch (it left a destructor or a thread) ends the
/// program as one that `report` sees does: one line, exit code 4, no unfinished file. Every other one does what it did.
void leave_when_out_of_memory();

/// From here on a library that ends the process itself (libgomp does when a thread cannot be started) leaves no unfinished
/// file and the exit code 4. For a program that leaves by _exit.
void leave_when_a_library_exits();

}  // namespace weyl
