/* A library that someone else left in the folder in which a user stands (libraries_test.cpp): being loaded is enough to
   run what it likes. */
#include <fcntl.h>
#include <unistd.h>

__attribute__((constructor)) static void planted(void) {
  close(open("PWNED", O_WRONLY | O_CREAT, 0644));
}
