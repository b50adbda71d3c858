#include "weyl/train/loop/compute_settings.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "weyl/train/run/environment.h"

namespace weyl {
namespace device_arithmetic_test {

bool convolutions_in_tf32() {
  return at::globalContext().allowTF32CuDNN(at::Float32Op::CONV);
}

TEST(Tf32, IsOffUnlessATrainingAsksForIt) {
  use_tf32(true);
  EXPECT_TRUE(convolutions_in_tf32());
  use_tf32(false);
  EXPECT_FALSE(convolutions_in_tf32());
  EXPECT_FALSE(at::globalContext().allowTF32CuDNN(at::Float32Op::RNN));
  EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
  {
    const Tf32 none(false);
    EXPECT_FALSE(convolutions_in_tf32());
    const Tf32 tf32(true);
    EXPECT_TRUE(convolutions_in_tf32());
    EXPECT_TRUE(at::globalContext().allowTF32CuBLAS());
  }
  EXPECT_FALSE(convolutions_in_tf32());
  EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
}

TEST(Deterministic, IsForAsLongAsItLives) {
  setenv("NCCL_ALGO", "Ring", 1);
  unsetenv("CUBLAS_WORKSPACE_CONFIG");
  {
    const Deterministic none(false);
    EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
    EXPECT_EQ(std::getenv("CUBLAS_WORKSPACE_CONFIG"), nullptr);
    const Deterministic on(true);
    EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
    EXPECT_FALSE(at::globalContext().deterministicAlgorithmsWarnOnly());
    EXPECT_STREQ(std::getenv("CUBLAS_WORKSPACE_CONFIG"), ":4096:8");
    EXPECT_STREQ(std::getenv("NCCL_ALGO"), "Ring") << "what the environment has stays";
  }
  EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
  unsetenv("NCCL_ALGO");
  const Deterministic on(true);
  EXPECT_STREQ(std::getenv("NCCL_ALGO"), "^NVLS");
}

TEST(DeviceArithmetic, HasNoEffectOnTheCpuAndIsRecordedElsewhere) {
  TrainOptions options;
  const at::Device gpu(at::kCUDA, 0);
  EXPECT_TRUE(notes_on_arithmetic(options, at::kCPU).empty());
  options.tf32 = options.deterministic = true;
  EXPECT_EQ(notes_on_arithmetic(options, at::kCPU).size(), 2u);
  EXPECT_TRUE(notes_on_arithmetic(options, gpu).empty());
  const Json here = environment(at::kCPU, options), there = environment(gpu, options);
  EXPECT_EQ(here.find("tf32"), nullptr);
  EXPECT_EQ(here.find("device_name"), nullptr) << "cpu has the processor's name";
  ASSERT_NE(there.find("device_name"), nullptr);
  EXPECT_FALSE(there.find("device_name")->string_or("").empty());
  ASSERT_NE(there.find("tf32"), nullptr);
  EXPECT_EQ(there.find("tf32")->dump(), "true");
  EXPECT_EQ(there.find("deterministic")->dump(), "true");
  EXPECT_NE(there.find("CUBLAS_WORKSPACE_CONFIG"), nullptr);
  options.tf32 = false;
  EXPECT_NE(differences(environment(gpu, options), there).find("tf32 true -> false"), std::string::npos);
}

}  // namespace device_arithmetic_test
}  // namespace weyl
