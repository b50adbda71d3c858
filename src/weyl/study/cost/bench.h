#pragma once

#include <map>
#include <optional>
#include <string>

#include "weyl/carriers/batch.h"
#include "weyl/models/model.h"
#include "weyl/ops/autograd/plain_attention.h"
#include "weyl/tasks/task.h"

namespace weyl {

struct BenchOptions {
  int64_t repeats = 9;    // every time is the median of so many, all sides interleaved, each run once before
  bool reference = true;  // also time the model as plain torch expressions
  PlainAttention plain_attention = PlainAttention::pairs;  // what attention is in these
  Model* other = nullptr;    // one more side, for the same batch: the model with other options
  bool wait_places = false;  // also where the host waits for the device (slow)
};

/// One side of a comparison. Memory is the most that tensors took on the model's device beyond what was alive
/// before the train step.
struct BenchSide {
  double forward_ms = 0, predict_ms = 0, train_step_ms = 0, peak_mb = 0;
};

/// How many times as long one side took as another, repeat by repeat: median and quartiles. On a busy machine
/// it holds when times do not.
struct BenchRatio {
  double median = 0, low = 0, high = 0;
};

struct BenchCase {
  std::string name;
  std::string device;  // as the driver calls it, or "cpu"
  int64_t parameters = 0, tokens = 0;
  BenchSide kernels;
  BenchSide other;                  // by kernels too
  BenchSide reference;              // the same model under UseReferences: the definition in torch expressions
  double matmul_ms = 0;             // the matrix products of a forward pass alone: same shapes, same layouts
  double matmul_train_step_ms = 0;  // those of a train step
  BenchRatio forward_speedup, predict_speedup, train_step_speedup;     // reference / kernels
  BenchRatio forward_of_other, predict_of_other, train_step_of_other;  // other / kernels
  BenchRatio forward_over_matmul, train_step_over_matmul;              // kernels / matrix products alone
  double gflops = 0;  // of the train step: floating-point operations (task.h: three forward passes, about
                      // half of a step with forces as gradients) by time
  double dense_gflops = 0;       // what dense matrices would need for this time, where maps go by irreps
  double tokens_per_second = 0;  // of the train step
  double percent_of_peak = 0;    // of the rate of one large square matrix product, measured in the same run
  double error = 0;              // largest difference of an output between kernels and torch expressions
  std::optional<double> error_of_other;  // between the model and the other with its weights, which must fit
  std::optional<int64_t> host_waits;     // of a train step, for the device (host_waits.h)
  std::map<std::string, int64_t> wait_places;  // where asked for
};

/// Times a model on a batch of its own dtype: in evaluation mode the forward pass without gradients and, with
/// a task, its prediction (of a force field energies and their gradient), and the train step (forward, loss,
/// backward, one optimiser step of rate zero, so that weights stay). The loss is the task's, or the mean
/// square of all outputs without a task. Operations are counted as those of one forward and one backward pass
/// to first order. A device has done all its work when a clock is read. Leaves the model in evaluation mode,
/// without gradients; the other model gets its weights where all of them fit by name and shape.
BenchCase bench(const std::string& name, Model& model, const Task* task, const Batch& batch,
                const BenchOptions& options = {});

}  // namespace weyl
