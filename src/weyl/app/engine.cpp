// `weyl-engine`: the verbs that need torch. Started by `weyl`, with the same command line.
#include <unistd.h>

#include "weyl/program.h"

int main(int argc, char** argv) {
  // Without LibTorch's destructors, which take 65 ms for nothing.
  _exit(weyl::run_program(argc, argv, weyl::built_in_systems()));
}
