// Logarithms of all pairs: the vector kernel beside the same formulas on one number at a time (libm), in one
// interleaved run on one thread. Times are of the processor, which a busy machine does not stretch. Counters:
// ns a pair of either, their ratio, the largest difference, and the sheet's figure for scalar C++.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>
#include <vector>

#include "weyl/algebra/lie/group_list.h"
#include "weyl/algebra/lie/groups.h"
#include "weyl/core/random.h"
#include "weyl/core/worst_of.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/lie/pairs.h"

namespace weyl {
namespace {

namespace formulas = kernels::WEYL_ISA::lie;
constexpr int64_t N = 512;

/// Random elements close enough to be on one chart.
template <class G, class T>
std::vector<T> random_planes() {
  Stream stream(1, "lie bench");
  std::vector<T> planes(G::compact * N);
  for (int64_t i = 0; i < N; ++i) {
    typename G::template Tangent<double> w;
    for (int k = 0; k < G::dof; ++k) {
      w[k] = 0.25 * stream.normal();
    }
    const auto g = G::exp(w);
    for (int c = 0; c < G::compact; ++c) {
      planes[c * N + i] = static_cast<T>(g[c]);
    }
  }
  return planes;
}

template <class G, class T>
void scalar_logs(const std::vector<T>& planes, std::vector<T>& w) {
  const auto element = [&](int64_t i) {
    typename G::template Element<T> g;
    for (int c = 0; c < G::compact; ++c) {
      g[c] = planes[c * N + i];
    }
    return g;
  };
  for (int64_t i = 0; i < N; ++i) {
    const auto anchor = G::anchor(element(i));
    for (int64_t j = 0; j < N; ++j) {
      const auto log = G::log(G::from_anchor(anchor, element(j)));
      for (int k = 0; k < G::dof; ++k) {
        w[(i * G::dof + k) * N + j] = i == j ? T(0) : log[k];
      }
    }
  }
}

template <class G, class T>
void run(benchmark::State& state, double sheet_ns) {
  const std::vector<T> planes = random_planes<G, T>();
  std::vector<T> w(N * N * G::dof), right(w.size()), gradient(w.size(), T(1)), ga(G::dof * N), gb(G::dof * N);
  const kernels::LieElements<T> g{G::group, N, N, planes.data()};
  std::vector<double> vectors, scalar, backward;
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
  };
  for (auto _ : state) {
    const double start = now();
    kernels::best<kernels::LieLogs<T>>().pairs(g, g, w.data(), nullptr, 0, N);
    const double middle = now();
    scalar_logs<G, T>(planes, right);
    const double end = now();
    kernels::best<kernels::LieLogsBackward<T>>().pairs(g, g, gradient.data(), ga.data(), gb.data(), 0, N);
    backward.push_back((now() - end) / (N * N));
    state.SetIterationTime(1e-9 * (middle - start));
    vectors.push_back((middle - start) / (N * N));
    scalar.push_back((end - middle) / (N * N));
  }
  double error = 0;
  for (size_t k = 0; k < w.size(); ++k) {
    error = worst_of(error, static_cast<double>(std::abs(w[k] - right[k])));
  }
  const auto median = [](std::vector<double>& v) {
    std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
    return v[v.size() / 2];
  };
  state.counters["vector_ns"] = median(vectors);
  state.counters["scalar_ns"] = median(scalar);
  state.counters["ratio"] = state.counters["scalar_ns"] / state.counters["vector_ns"];
  state.counters["backward_ns"] = median(backward);
  state.counters["error"] = error;
  if (sheet_ns > 0) {
    state.counters["sheet_scalar_ns"] = sheet_ns;
  }
}

template <class G>
void add(double sheet_ns) {
  const std::string name(name_of(G::group));
  const auto time = [](benchmark::internal::Benchmark* b) {
    b->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(7);
  };
  time(benchmark::RegisterBenchmark((name + "/float32").c_str(),
                                    [=](benchmark::State& s) { run<G, float>(s, sheet_ns); }));
  time(benchmark::RegisterBenchmark((name + "/float64").c_str(),
                                    [=](benchmark::State& s) { run<G, double>(s, sheet_ns); }));
}

}  // namespace
}  // namespace weyl

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  weyl::add<weyl::formulas::SO2>(0);
  weyl::add<weyl::formulas::SE2>(0);
  weyl::add<weyl::formulas::SO3>(0);
  weyl::add<weyl::formulas::SE3>(30);
  weyl::add<weyl::formulas::AFF2>(60);
  weyl::add<weyl::formulas::AFF3>(500);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
