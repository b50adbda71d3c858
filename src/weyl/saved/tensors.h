#pragma once

#include "weyl/core/tensor_file.h"
#include "weyl/saved/predictor.h"

namespace weyl {

/// Predictions of many batches, gathered as the tensors of a file that other programs compare with (docs/cli.md):
/// each output under its own name, and the model's own outputs side by side in families by level, `graph_scalars`,
/// `object_vectors`, `node_multivectors`, `values` (of grids), `elements` (of poses).
class PredictionTensors {
 public:
  explicit PredictionTensors(const Predictor& predictor) : predictor_(predictor) {}

  /// Adds what the predictor gave for a batch. ShapeError: an output that it declares is missing, or not finite (but
  /// for the stress of graphs without a volume, which is NaN).
  void add(const Named& predictions);
  /// Predicts for a whole set (Predictor::each) and adds that; of an empty one every output by its name and shape. `gradient`:
  /// what asks for Predictor::gradient too, for messages; empty: nothing does. Beside them stand, int64, `offsets` (B + 1), where the
  /// nodes of each sample of points or poses begin and end; `samples` (B), of a part of a set, the number of each sample in the whole one; and
  /// `real` (N), of models with that feature, 0 for nodes that are images of others (data/atoms/oc20.h). Returns how many samples were used. With calls.ranks
  /// the first rank alone has something to be done with.
  int64_t add_all(const std::shared_ptr<const Dataset>& data, const std::string& where,
                  std::string_view gradient, const PredictorCalls& calls = {});

  /// All batches, one after the other. ConfigError: outputs of samples of different sizes.
  NamedTensors done() const;

 private:
  const Predictor& predictor_;
  std::map<std::string, std::vector<Tensor>> parts_;
};

/// Metadata of such a file: `format`, the program, the models' files, the outputs with their units, notes; and of the
/// data that were predicted `samples`, {carrier, count, least_tokens, mean_tokens, most_tokens}.
std::map<std::string, std::string> prediction_metadata(const Predictor& predictor, const std::string& models,
                                                       const Dataset& data);

}  // namespace weyl
