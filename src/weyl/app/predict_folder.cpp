#include "weyl/app/predict_folder.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <set>

#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/progress.h"
#include "weyl/app/subject.h"
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

  void add(int64_t sample, const Named& predictions) {
    const auto mask = predictions.find("mask");
    if (mask != predictions.end()) {
      write_mask(sample, mask->second[0][0], predictions.at("probabilities")[0]);
      return;
    }
    const Tensor p = predictions.at("probabilities")[0].to(at::kCPU, at::kDouble);
    if (table_.empty()) {
      table_ = "sample,source,class";
      for (int64_t k = 0; k < p.size(0); ++k) {
        table_ += ",p_" + std::to_string(k);
      }
    }
    table_ += "\n" + std::to_string(sample) + "," + cell(data_.source(sample)) + "," +
              std::to_string(predictions.at("class")[0].item<int64_t>());
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

int predict_folder(const PredictCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  const Subject subject =
      load_subject(command.model, device_of(command.machine), dtype_of(command.machine.dtype));
  const auto& task = subject.recipe.task.task;
  require<ConfigError>(
      subject.task != nullptr && subject.schema.carrier() == Carrier::grid &&
          (std::holds_alternative<ClassificationOptions>(task) ||
           std::holds_alternative<SegmentationOptions>(task)),
      "--out: a folder takes the classes of images and volumes alone, this model gives others: "
      "give a .safetensors file");
  require<ConfigError>(!command.gradient, "--gradient: the data must be points");
  const auto data = open_for_prediction(subject, command.data);
  std::error_code error;
  fs::create_directories(command.out, error);
  require<DataError>(!error, command.out, ": must be a folder that can be written, but ", error.message());
  Progress progress("predict", data->size(), Progress::style_for_stderr(command.talk.quiet));
  Writer writer(command.out, *data, command.probabilities);
  const at::NoGradGuard no_grad;
  int64_t samples = 0;
  const auto predict = [&](const Batch& batch) {
    const Named predictions = subject.task->predict(*subject.model, batch);
    require(at::isfinite(predictions.at("probabilities")).all().item<bool>(),
            "probabilities must be finite, got NaN (larger inputs may need --dtype float64)");
    writer.add(samples, predictions);
    progress.update(++samples);
  };
  stream(command.data, *data, 1, *subject.model, predict, subject.task->moves_inputs());
  writer.finish();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  progress.clear();
  if (command.talk.json) {
    std::cout << Json::object().set("samples", samples).set("seconds", seconds).set("out", command.out).dump()
              << "\n";
  } else {
    std::cout << command.out << "\n";
    say(text(samples, " samples in ", clock_text(seconds)));
  }
  return exit_done;
}

}  // namespace weyl
