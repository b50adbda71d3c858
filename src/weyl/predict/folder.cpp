#include "weyl/predict/folder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>

#include <filesystem>
#include <set>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/data/images/prediction.h"
#include "weyl/train/journal.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

// A cell of a CSV file; a comma or a quote in a path needs quotes.
std::string cell(const std::string& words) {
  if (words.find_first_of(",\"\n") == std::string::npos) {
    return words;
  }
  std::string result = "\"";
  for (const char c : words) {
    result += c == '"' ? "\"\"" : std::string(1, c);
  }
  return result + "\"";
}

class Writer {
 public:
  Writer(std::string folder, const Dataset& data, bool probabilities)
      : folder_(std::move(folder)), data_(data), probabilities_(probabilities) {}

  /// `row` of the predictions of a batch.
  void add(int64_t sample, const Named& predictions, int64_t row) {
    const auto mask = predictions.find("mask");
    if (mask != predictions.end()) {
      write_mask(sample, mask->second[row][0], predictions.at("probabilities")[row]);
      return;
    }
    const Tensor p = predictions.at("probabilities")[row].to(at::kCPU, at::kDouble);
    if (table_.empty()) {
      table_ = "sample,source,class";
      for (int64_t k = 0; k < p.size(0); ++k) {
        table_ += ",p_" + std::to_string(k);
      }
    }
    table_ += "\n" + std::to_string(sample) + "," + cell(data_.source(sample)) + "," +
              std::to_string(predictions.at("class")[row].item<int64_t>());
    for (int64_t k = 0; k < p.size(0); ++k) {
      table_ += "," + exact_text(p[k].item<double>());
    }
  }

  void finish() const {
    if (!table_.empty()) {
      const std::string path = folder_ + "/predictions.csv";
      require_new(path);
      write_file_atomically(path, table_ + "\n");
    }
  }

 private:
  static void require_new(const std::string& path) {
    require<ConfigError>(!fs::exists(path), path, ": must not be there yet: predictions replace no file");
  }

  void write_mask(int64_t sample, const Tensor& classes, const Tensor& probabilities) {
    const std::string source = data_.source(sample);
    require<DataError>(!source.empty(), "--out: sample ", sample,
                       " has no file of its own whose format a prediction could take: give a .safetensors "
                       "file");
    std::string stem = stem_of(source);
    if (!stems_.insert(stem).second) {
      stem += "_" + std::to_string(sample);
      stems_.insert(stem);
    }
    write(source, stem, classes.cpu(), probabilities.size(0));
    if (probabilities_) {
      write(source, stem + "_probabilities", probabilities.cpu(), 0);
    }
  }

  void write(const std::string& source, const std::string& stem, const Tensor& values,
             int64_t classes) const {
    const std::string path = folder_ + "/" + stem;
    require_new(prediction_path(source, path));
    write_prediction(source, path, values, classes);
  }

  std::string folder_;
  const Dataset& data_;
  bool probabilities_;
  std::set<std::string> stems_;
  std::string table_;
};

}  // namespace

int64_t predict_into_folder(const Predictor& predictor, std::shared_ptr<const Dataset> data,
                            const std::string& where, const std::string& folder, bool probabilities,
                            const PredictorCalls& calls) {
  const auto gives = [&](const char* name) { return find_quantity(predictor.outputs(), name) != nullptr; };
  require<ConfigError>(
      predictor.interface().grid && gives("probabilities") && (gives("mask") || gives("class")),
      "a folder takes the classes of images and volumes alone, this model gives others: give a .safetensors "
      "file");
  std::error_code error;
  fs::create_directories(folder, error);
  require<DataError>(!error, folder, ": must be a folder that can be written, but ", error.message());
  Writer writer(folder, *data, probabilities);
  int64_t sample = 0;
  const int64_t done = predictor.each(
      data, where,
      [&](const Batch& batch) {
        const Named predictions = predictor(batch.input);
        require(at::isfinite(predictions.at("probabilities")).all().item<bool>(),
                "probabilities must be finite, got NaN (larger inputs may need --dtype float64)");
        for (int64_t row = 0; row < batch.count(); ++row) {
          writer.add(sample++, predictions, row);
        }
      },
      calls);
  if (done == data->size()) {
    writer.finish();
  }
  return done;
}

}  // namespace weyl
