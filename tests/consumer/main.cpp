// Uses both libraries of the installed package, a group and a tensor op, and says so by its exit code.
#include <ATen/ops/ones.h>
#include <weyl/algebra/finite/finite_group.h>
#include <weyl/core/check.h>
#include <weyl/ops/frames/group_linear.h>
#include <weyl/ops/frames/group_tables.h>

#include <cstdio>
#include <string>

int main() {
  const weyl::GroupTables tables(weyl::named_group("octahedron"));
  const auto weight = weyl::expand_group_kernel(at::ones({24, 2, 3}), tables);
  std::string message;
  try {
    weyl::named_group("octohedron");
  } catch (const weyl::ConfigError& error) {
    message = error.what();  // exceptions cross the libraries' boundary with their type
  }
  std::printf("weight %ld x %ld; %s\n", static_cast<long>(weight.size(0)), static_cast<long>(weight.size(1)),
              message.c_str());
  return weight.size(0) == 48 && weight.size(1) == 72 && !message.empty() ? 0 : 1;
}
