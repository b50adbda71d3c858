// Uses both libraries of the installed package, a group and a tensor op, and says so by its exit code.
#include <ATen/ops/ones.h>
#include <weyl/algebra/finite/finite_group.h>
#include <weyl/core/check.h>
#include <weyl/nn/linear.h>

#include <cstdio>
#include <string>

int main() {
  const weyl::GroupPtr group = weyl::named_group("octahedron");
  const weyl::Linear linear(group->order(), 2);
  const auto y = linear(at::ones({3, group->order()}));
  std::string message;
  try {
    weyl::named_group("octohedron");
  } catch (const weyl::ConfigError& error) {
    message = error.what();  // exceptions cross the libraries' boundary with their type
  }
  std::printf("%ld x %ld; %s\n", static_cast<long>(y.size(0)), static_cast<long>(y.size(1)), message.c_str());
  return y.size(0) == 3 && y.size(1) == 2 && !message.empty() ? 0 : 1;
}
