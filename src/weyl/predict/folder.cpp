#include "weyl/predict/folder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/quote.h"
#include "weyl/data/base/sample_checks.h"
#include "weyl/data/clouds/clouds.h"
#include "weyl/data/clouds/ply.h"
#include "weyl/data/images/image.h"
#include "weyl/data/images/prediction.h"
#include "weyl/parallel/ranks.h"
#include "weyl/train/run/journal.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

// Beside the predictions of a batch of clouds: the places of their nodes (N, 3), and where each cloud begins and ends (B + 1).
constexpr const char *kPlaces = "places of nodes", *kOffsets = "offsets of clouds";

/// Of each file its folder below the deepest one that holds them all; empty: it lies there, or nobody knows the file.
std::vector<fs::path> folders_below_common(const std::vector<std::string>& files) {
  std::vector<fs::path> folders;
  std::optional<fs::path> common;
  for (const std::string& file : files) {
    folders.push_back(file.empty() ? fs::path() : fs::absolute(file).lexically_normal().parent_path());
    if (file.empty()) {
      continue;
    }
    const fs::path held = common.value_or(folders.back());
    const auto apart = std::mismatch(held.begin(), held.end(), folders.back().begin(), folders.back().end());
    common.emplace();
    std::for_each(held.begin(), apart.first, [&](const fs::path& part) { *common /= part; });
  }
  for (fs::path& folder : folders) {
    folder = folder.empty() || folder == *common ? fs::path() : folder.lexically_relative(*common);
  }
  return folders;
}

class Writer {
 public:
  Writer(std::string folder, const Dataset& data, const Task& task, bool masks,
         std::vector<std::string> names, bool probabilities, Overwrite overwrite)
      : folder_(std::move(folder)),
        data_(data),
        task_(task),
        clouds_(dynamic_cast<const CloudSet*>(&data)),
        points_(data.schema().carrier() == Carrier::points),
        names_(std::move(names)),
        probabilities_(probabilities),
        overwrite_(std::move(overwrite)) {
    for (int64_t sample = 0; sample < data_.size(); ++sample) {
      overwrite_.add_input(file_of(sample));
    }
    if (masks) {
      name_masks();
    }
    if (!masks || points_) {
      overwrite_.at(table_path());
    }
  }

  /// `row` of the predictions of a batch.
  void add(int64_t sample, const Named& predictions, int64_t row) {
    const auto mask = predictions.find("mask");
    if (mask != predictions.end() && points_) {
      const auto* offsets = predictions.at(kOffsets).const_data_ptr<int64_t>();
      const auto nodes = [&](const Tensor& x) { return x.slice(0, offsets[row], offsets[row + 1]).cpu(); };
      write_points(sample, nodes(predictions.at(kPlaces)), nodes(mask->second),
                   nodes(predictions.at("probabilities")));
      return;
    }
    if (mask != predictions.end()) {
      write_mask(sample, mask->second[row][0], predictions.at("probabilities")[row]);
      return;
    }
    const Tensor p = predictions.at("probabilities")[row].to(at::kCPU, at::kDouble);
    const auto deviations = predictions.find("probabilities_std");  // of several models
    if (table_.empty()) {
      named_ = std::ssize(names_) == p.size(0);
      table_ = named_ ? "sample,source,class,class_name" : "sample,source,class";
      for (const char* ending : {"", "_std"}) {
        for (int64_t k = 0; k < p.size(0) && (*ending == '\0' || deviations != predictions.end()); ++k) {
          table_ += ",p_" + std::to_string(k) + ending;
        }
      }
    }
    const auto number = predictions.at("class")[row].item<int64_t>();
    table_ +=
        "\n" + std::to_string(sample) + "," + csv_cell(data_.source(sample)) + "," + std::to_string(number);
    if (named_) {
      table_ += "," + csv_cell(names_.at(static_cast<size_t>(number)));
    }
    for (int64_t k = 0; k < p.size(0); ++k) {
      table_ += "," + exact_text(p[k].item<double>());
    }
    for (int64_t k = 0; k < p.size(0) && deviations != predictions.end(); ++k) {
      table_ += "," + exact_text(deviations->second[row][k].item<double>());
    }
  }

  /// Before anything is predicted: a folder that cannot be made is refused then.
  void make_folders() const {
    std::set<std::string> folders{folder_};
    for (const std::string& stem : stems_) {
      folders.insert(fs::path(stem).parent_path().string());
    }
    std::ranges::for_each(folders, make_folder);
  }

  void finish() const {
    if (!table_.empty()) {
      write_file_atomically(table_path(), table_ + "\n", overwrite_.at(table_path()));
    }
  }

 private:
  std::string table_path() const { return folder_ + "/predictions.csv"; }

  /// The file that a sample is in, alone or with others; empty: nobody knows it.
  std::string file_of(int64_t sample) const {
    return clouds_ != nullptr ? clouds_->file(sample) : data_.source(sample);
  }

  // Names every file and asks whether it may be written. Those of clouds lie in folders as the clouds do: the same names stand
  // in many folders of classes or scenes.
  void name_masks() {
    std::set<std::string> taken;
    std::vector<std::string> files;
    for (int64_t sample = 0; points_ && sample < data_.size(); ++sample) {
      files.push_back(file_of(sample));
    }
    const std::vector<fs::path> below = folders_below_common(files);
    for (int64_t sample = 0; sample < data_.size(); ++sample) {
      const std::string source = data_.source(sample);
      require<DataError>(!source.empty() || points_, "--out: sample ", sample,
                         " has no file of its own whose format a prediction could take: give a .safetensors "
                         "file");
      std::string stem = case_name(data_, sample);
      stem = stem.empty() ? text("sample_", sample) : stem;
      stem = points_ ? (below[static_cast<size_t>(sample)] / stem).string() : stem;
      while (!taken.insert(stem).second ||
             (probabilities_ && !points_ && !taken.insert(text(stem, probabilities_ending)).second)) {
        stem += text("_", sample);
      }
      stems_.push_back(folder_ + "/" + stem);
      if (points_) {
        overwrite_.at(stems_.back() + ".ply");
        continue;
      }
      overwrite_.at(prediction_path(source, stems_.back()));
      require<ConfigError>(
          !probabilities_ || !is_image_file(source), source,
          ": --probabilities of pictures go into a .safetensors file (--out), which a folder's "
          ".png cannot hold");
      if (probabilities_) {
        overwrite_.at(prediction_path(source, text(stems_.back(), probabilities_ending)));
      }
    }
  }

  void write_mask(int64_t sample, const Tensor& classes, const Tensor& probabilities) {
    const std::string source = data_.source(sample), &stem = stems_.at(static_cast<size_t>(sample));
    // What the task makes of probabilities, as one part of each class, of those of certain classes.
    const auto finish = [&](const Tensor& most_probable) {
      std::vector<int64_t> sizes = most_probable.sizes().vec();
      sizes.insert(sizes.begin(), probabilities.size(0));
      const Tensor certain =
          at::zeros(sizes, at::kByte).scatter_(0, most_probable.unsqueeze(0), 1).unsqueeze(0);
      return task_.likeliest(certain)[0][0];
    };
    const CellPredictions there = data_.as_in_file(sample, {classes.cpu(), probabilities.cpu(), finish});
    write(source, stem, there.classes, probabilities.size(0));
    if (probabilities_) {
      write(source, text(stem, probabilities_ending), there.probabilities, 0);
    }
  }

  /// Of nodes (M, 3), (M, 1), (M, K).
  void write_points(int64_t sample, const Tensor& positions, const Tensor& classes,
                    const Tensor& probabilities) {
    const auto whole =
        clouds_ != nullptr ? std::optional(clouds_->points_in_file(sample, last_)) : std::nullopt;
    const auto rows = [&](const Tensor& of_nodes) {
      return whole ? of_nodes.index_select(0, whole->nodes).contiguous() : of_nodes.contiguous();
    };
    const auto values = [](const auto* data, const Tensor& x) { return std::span(data, x.numel()); };
    const Tensor places = (whole ? whole->positions : positions).to(at::kDouble).contiguous();
    const Tensor said = rows(classes),
                 shares = probabilities_ ? rows(probabilities.to(at::kFloat)) : Tensor();
    ClassifiedPoints points{.positions = values(places.const_data_ptr<double>(), places),
                            .classes = values(said.const_data_ptr<int64_t>(), said),
                            .probabilities = {},
                            .count = probabilities.size(1),
                            .names = names_};
    if (probabilities_) {
      points.probabilities = values(shares.const_data_ptr<float>(), shares);
    }
    const std::string path = stems_.at(static_cast<size_t>(sample)) + ".ply";
    write_file_atomically(path, ply_of(points), overwrite_.at(path));
    table_ += text(table_.empty() ? "sample,source,output\n" : "\n", sample, ",", csv_cell(file_of(sample)),
                   ",", csv_cell(path.substr(folder_.size() + 1)));
  }

  void write(const std::string& source, const std::string& stem, const Tensor& values,
             int64_t classes) const {
    write_prediction(source, stem, values, classes, overwrite_.at(prediction_path(source, stem)));
  }

  std::string folder_;
  const Dataset& data_;
  const Task& task_;
  const CloudSet* clouds_;  // null: other samples, of which the nodes are all there is
  bool points_;
  std::vector<std::string> names_;  // of the classes, or none
  bool named_ = false;              // there is one for each probability
  bool probabilities_;
  Overwrite overwrite_;
  LastFile last_;                   // of clouds
  std::vector<std::string> stems_;  // of the samples' masks: path without the ending
  std::string table_;
};

}  // namespace

int64_t predict_into_folder(const Predictor& predictor, const std::shared_ptr<const Dataset>& data,
                            const std::string& where, const std::string& folder, bool probabilities,
                            Overwrite overwrite, const PredictorCalls& calls) {
  const auto gives = [&](const char* name) { return find_quantity(predictor.outputs(), name) != nullptr; };
  const bool classes = gives("class") || gives("mask");
  require<ConfigError>(
      gives("probabilities") && classes,
      "a folder takes classes alone, of samples, of points or of the cells of images and volumes, this model gives "
      "others: give a .safetensors file");
  const bool of_points = gives("mask") && !predictor.interface().grid;  // whose clouds have other classes
  std::optional<Writer> writer;
  if (is_first(calls.ranks)) {
    writer.emplace(
        folder, *data, *predictor.task(), gives("mask"),
        names_of_classes(predictor.saved().recipe.task,
                         of_points ? std::vector<std::string>() : predictor.saved().trained_on.classes),
        probabilities, std::move(overwrite));
    writer->make_folders();
  }
  int64_t sample = 0;
  const auto predict = [&](const Batch& batch) {
    Named predictions = predictor(batch.input);
    require(at::isfinite(predictions.at("probabilities")).all().item<bool>(),
            "probabilities must be finite, got NaN (larger inputs may need --dtype float64)");
    if (of_points) {
      const auto& points = std::get<Points>(batch.input);
      predictions[kPlaces] = points.positions;
      predictions[kOffsets] = at::tensor(points.graphs.offsets, at::kLong);
    }
    return predictions;
  };
  const auto use = [&](const Named& predictions) {
    const auto offsets = predictions.find(kOffsets);
    const int64_t count =
        offsets != predictions.end() ? offsets->second.size(0) - 1 : predictions.at("probabilities").size(0);
    for (int64_t row = 0; row < count; ++row) {
      writer->add(sample++, predictions, row);
    }
  };
  const int64_t done = predictor.each_predicted(data, where, predict, use, calls);
  if (writer && done == data->size()) {
    writer->finish();
  }
  return done;
}

}  // namespace weyl
