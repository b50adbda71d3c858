// Every kernel against its torch expression: value, gradients and second derivatives, float32 and float64, on every
// instruction set that the processor has.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <mutex>
#include <set>

#include "tests/closeness.h"
#include "tests/oracles/case_derivatives.h"
#include "tests/oracles/kernel_cases.h"
#include "weyl/core/instruction_set.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl {
namespace kernels_test {

using kernels::InstructionSet;

constexpr InstructionSet all_sets[] = {InstructionSet::baseline, InstructionSet::v3, InstructionSet::v4};

/// The tables that were fetched while cases ran, as "VectorNorm<float>, 1", the number that of the instruction set.
std::mutex mutex;
std::set<std::string> fetched;
bool compared_first = false, compared_second = false;  // all cases have run

/// "Attention<float>" from how a compiler writes best<Kernel>(): [with Kernel = Attention<float>], and some with
/// its namespaces.
std::string kernel_in(const std::string& function) {
  const std::string before = "Kernel = ", space = "weyl::kernels::";
  const size_t begin = function.find(before) + before.size();
  const std::string name = function.substr(begin, function.find_last_of(']') - begin);
  return name.starts_with(space) ? name.substr(space.size()) : name;
}

void note(const char* kernel, InstructionSet set) {
  const std::lock_guard lock(mutex);
  fetched.insert(kernel_in(kernel) + ", " + std::to_string(static_cast<int>(set)));
}

class Kernels : public testing::Test {
 protected:
  void SetUp() override { kernels::watch_kernels(&note); }
  void TearDown() override { kernels::watch_kernels(nullptr); }
};

template <class F>
void expect_agreement(const F& of, double KernelTolerances::* float32, double KernelTolerances::* float64) {
  for (const KernelCase& c : kernel_cases()) {
    if (c.timed) {
      continue;  // bench/ prints their errors
    }
    const std::vector<at::Tensor> exact = [&] {
      const UseReferences scope;
      return of(c, {at::kDouble});
    }();
    for (const InstructionSet set : all_sets) {
      if (set > kernels::best_instruction_set()) {
        continue;
      }
      const kernels::UseInstructionSet at_most(set);
      const std::string name = c.name + ", instruction set " + std::to_string(static_cast<int>(set));
      expect_close(of(c, {at::kDouble}), exact, c.tolerances.*float64, name + ", float64");
      expect_close(of(c, {at::kFloat}), exact, c.tolerances.*float32, name + ", float32");
    }
  }
}

void expect_first_agreement() {
  expect_agreement(&values_and_gradients, &KernelTolerances::float32, &KernelTolerances::float64);
}
void expect_second_agreement() {
  expect_agreement(&second_derivatives, &KernelTolerances::second_float32, &KernelTolerances::second_float64);
}

TEST_F(Kernels, AgreeWithTheirTorchExpressions) {
  expect_first_agreement();
  compared_first = true;
}

TEST_F(Kernels, SecondDerivativesAgree) {
  expect_second_agreement();
  compared_second = true;
}

/// All tables that the library holds, as `fetched` has them: specialisations of kernels::compiled.
std::set<std::string> tables_of_the_library() {
  std::set<std::string> tables;
  FILE* nm = popen("'" WEYL_NM "' --dynamic --defined-only --demangle '" WEYL_BASE_LIBRARY "'", "r");
  std::array<char, 4096> line{};
  while (nm != nullptr && std::fgets(line.data(), line.size(), nm) != nullptr) {
    const std::string text = line.data(), before = "weyl::kernels::compiled<weyl::kernels::",
                      between = ", (weyl::kernels::InstructionSet)";
    const size_t begin = text.find(before), end = text.find(between);
    if (begin != std::string::npos && end != std::string::npos) {
      tables.insert(text.substr(begin + before.size(), end - begin - before.size()) + ", " +
                    text.substr(end + between.size(), 1));
    }
  }
  EXPECT_TRUE(nm != nullptr && pclose(nm) == 0)
      << WEYL_NM << " must list the symbols of " << WEYL_BASE_LIBRARY;
  return tables;
}

/// Those of `tables` that this processor can run and no case has fetched, one a line.
std::string without_a_case(const std::set<std::string>& tables) {
  std::string absent;
  for (const std::string& table : tables) {
    // Those of a whole net, which is no op: tests/models/geomformer/message_plan_test.cpp runs them on every set.
    if (table.starts_with("MessageNets") || table.starts_with("RadialFunctions")) {
      continue;
    }
    // Attention fetches the tiles of its own set itself, without `best`.
    const std::string tiles = "LieTiles", attention = "LieAttention";
    const std::string by = table.rfind(tiles, 0) == 0 ? attention + table.substr(tiles.size()) : table;
    if (table.back() - '0' <= static_cast<int>(kernels::best_instruction_set()) && !fetched.contains(by)) {
      absent += table + "\n";
    }
  }
  return absent;
}

TEST_F(Kernels, EveryTableOfTheLibraryHasACase) {
  if (!compared_first) {
    expect_first_agreement();
  }
  if (!compared_second) {
    expect_second_agreement();
  }
  std::set<std::string> tables = tables_of_the_library();
  EXPECT_GE(tables.size(), 34u);
  EXPECT_EQ(without_a_case(tables), "") << "must have a case in tests/oracles";
  for (const std::string& table : fetched) {
    EXPECT_TRUE(tables.contains(table)) << table;
  }
  tables.insert("NoKernel<float>, 0");  // control
  EXPECT_EQ(without_a_case(tables), "NoKernel<float>, 0\n");
}

TEST_F(Kernels, ResultsDoNotDependOnTheOtherGraphsOrTheThreads) {
  const Segments all = Segments::of_sizes(std::vector<int64_t>{5, 18, 7}),
                 one = Segments::of_sizes(std::vector<int64_t>{18});
  const at::Tensor p = noise({30, 64}, 1).to(at::kFloat), bias = noise({2, 16}, 2).to(at::kFloat),
                   angles = noise({30, 4, 4}, 3).to(at::kFloat);
  const at::Tensor whole = rotary_attention(p, bias, angles, all, 4, 0.5, true);
  EXPECT_TRUE(at::equal(whole.slice(0, 5, 23), rotary_attention(p.slice(0, 5, 23), bias,
                                                                angles.slice(0, 5, 23), one, 4, 0.5, true)));
  const int threads = at::get_num_threads();
  at::set_num_threads(3);
  EXPECT_TRUE(at::equal(whole, rotary_attention(p, bias, angles, all, 4, 0.5, true)));
  at::set_num_threads(threads);
}

TEST_F(Kernels, ALargeAngleIsStillRight) {
  // Through the kernel's own sine and cosine, and beyond them through the C library's.
  for (const double size : {1.0, 300.0, 1e4, 1e6}) {
    const at::Tensor angles = (at::arange(64, at::kDouble) * 0.0157 * size + 0.1).view({8, 2, 4});
    const at::Tensor p = noise({8, 32}, 1);
    const Segments graphs = Segments::of_sizes(std::vector<int64_t>{8});
    const auto run = [&](at::ScalarType type) {
      return rotary_attention(p.to(type), {}, angles.to(at::kFloat).to(type), graphs, 2, 1, true)
          .to(at::kDouble);
    };
    const at::Tensor kernel64 = run(at::kDouble), kernel32 = run(at::kFloat);
    const UseReferences scope;
    EXPECT_LT((kernel64 - run(at::kDouble)).abs().max().item<double>(), 1e-12) << size;
    EXPECT_LT((kernel32 - run(at::kDouble)).abs().max().item<double>(), 1e-5) << size;
  }
}

TEST_F(Kernels, AForbiddenPairHasNoWeight) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3});
  const at::Tensor q = noise({3, 1, 4}, 1), v = noise({3, 1, 4}, 2);
  at::Tensor bias = at::zeros({9, 1}, at::kDouble);
  bias[1] = -INFINITY;  // query 0 does not see key 1
  at::Tensor other = v.clone();
  other[1] += 100;
  EXPECT_TRUE(at::equal(ragged_attention(q, q, v, graphs, 1, bias)[0],
                        ragged_attention(q, q, other, graphs, 1, bias)[0]));
}

}  // namespace kernels_test
}  // namespace weyl
