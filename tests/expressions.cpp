// Linked into the tests that CMake runs a second time, as NAME.expressions (weyl_test(... EXPRESSIONS)): with
// WEYL_TEST_EXPRESSIONS set no kernel runs in the whole process, as on a device that has none, and one that is fetched
// all the same is a failure.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "weyl/kernels/dispatch.h"
#include "weyl/ops/autograd/without_kernels.h"

namespace weyl {
namespace {

void refuse(const char* kernel, kernels::InstructionSet) {
  ADD_FAILURE() << kernel << " ran where there are no kernels";
}

class Expressions : public testing::Environment {
 public:
  void SetUp() override {
    if (std::getenv("WEYL_TEST_EXPRESSIONS") != nullptr) {
      without_.emplace();
      kernels::watch_kernels(&refuse);
    }
  }
  void TearDown() override {
    if (without_.has_value()) {
      kernels::watch_kernels(nullptr);
      without_.reset();
    }
  }

 private:
  std::optional<WithoutKernels> without_;
};

[[maybe_unused]] const testing::Environment* const expressions =
    testing::AddGlobalTestEnvironment(new Expressions);

}  // namespace
}  // namespace weyl
