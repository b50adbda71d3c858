#include "weyl/app/draw/picture_data.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numbers>
#include <vector>

#include "weyl/carriers/pose_elements.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/quote.h"
#include "weyl/predict/body_film.h"
#include "weyl/train/run/append_file.h"
#include "weyl/train/run/journal.h"

namespace weyl {
namespace {

constexpr size_t most_pairs = 4000;

// What one picture is drawn from.
struct Pairs {
  std::string unit;
  std::vector<double> labels, predictions;
};
using PairsByName = std::map<std::string, Pairs>;

// "displacement / length", as an axis or a column is named.
std::string with_unit(std::string name, const std::string& unit) {
  if (!unit.empty()) {
    name += unit.find_first_of("/ ") == std::string::npos ? " / " + unit : " / (" + unit + ")";
  }
  return name;
}

std::string csv_of(const std::string& name, const Pairs& pairs) {
  const size_t every = (pairs.labels.size() + most_pairs - 1) / most_pairs;
  std::string csv = csv_cell(with_unit(name, pairs.unit)) + "," +
                    csv_cell(with_unit("predicted " + name, pairs.unit)) + "\n";
  for (size_t i = 0; i < pairs.labels.size(); i += every) {
    csv += exact_text(pairs.labels[i]) + "," + exact_text(pairs.predictions[i]) + "\n";
  }
  return csv;
}

const char* suffix_of(LiePart part) {
  switch (part) {
    case LiePart::translation:
      return "_translation";
    case LiePart::rotation:
      return "_rotation";
    case LiePart::scale:
      return "_scale";
    case LiePart::traceless_symmetric:
      return "_shear";
  }
  return "";
}

// Of the vectors w + 2 pi k w/|w| that are the same rotation, the one nearest to the label's.
void unwind(std::span<double> w, std::span<const double> label) {
  constexpr double turn = 2 * std::numbers::pi;
  double square = 0, along = 0;
  for (size_t i = 0; i < w.size(); ++i) {
    square += w[i] * w[i];
    along += w[i] * label[i];
  }
  const double norm = std::sqrt(square);
  if (norm > 0) {
    const double turns = std::round((along / norm - norm) / turn);
    for (double& x : w) {
      x *= 1 + turns * turn / norm;
    }
  }
}

// Matrices (B, m, m) of both sides, part by part.
void add_elements(PairsByName& pairs, const std::string& name, LieGroup group, const std::string& length_unit,
                  const Tensor& labels, const Tensor& predictions) {
  const Tensor truths = polar_coordinates(group, labels), all_said = polar_coordinates(group, predictions);
  const int64_t dof = degrees_of_freedom(group);
  for (int64_t row = 0; row < truths.size(0); ++row) {
    const double *truth_row = truths.const_data_ptr<double>() + row * dof,
                 *said_row = all_said.const_data_ptr<double>() + row * dof;
    const std::vector<double> truth(truth_row, truth_row + dof);
    std::vector<double> said(said_row, said_row + dof);
    for (const LieBlock& block : blocks_of(group)) {
      const auto begin = static_cast<size_t>(block.begin), size = static_cast<size_t>(block.size);
      const auto part = std::span(said).subspan(begin, size);
      if (block.part == LiePart::rotation) {
        unwind(part, std::span(truth).subspan(begin, size));
      }
      Pairs& to = pairs[name + suffix_of(block.part)];
      to.unit = block.part == LiePart::translation ? length_unit
                : block.part == LiePart::rotation  ? "rad"
                                                   : "";
      to.labels.insert(to.labels.end(), truth.begin() + block.begin,
                       truth.begin() + block.begin + block.size);
      to.predictions.insert(to.predictions.end(), part.begin(), part.end());
    }
  }
}

void add_numbers(Pairs& pairs, const std::string& unit, const Tensor& labels, const Tensor& predictions) {
  const auto add = [](std::vector<double>& to, const Tensor& values) {
    const double* first = values.const_data_ptr<double>();
    to.insert(to.end(), first, first + values.numel());
  };
  pairs.unit = unit;
  add(pairs.labels, labels);
  add(pairs.predictions, predictions);
}

}  // namespace

void write_parity(const Predictor& predictor, std::shared_ptr<const Dataset> test,
                  const std::string& folder) {
  const std::vector<Quantity> known = test->schema().labels;
  if (std::all_of(known.begin(), known.end(), [](const Quantity& q) { return q.kind == Kind::category; })) {
    return;  // classes have a table of their own
  }
  const Interface& interface = predictor.interface();
  PairsByName pairs;
  predictor.each(std::move(test), "test data", [&](const Batch& batch) {
    for (const auto& [name, value] : predictor(batch.input)) {
      const Quantity* label = find_quantity(known, name);
      const auto found = batch.labels.find(name);
      if (label == nullptr || found == batch.labels.end() || !found->second.is_floating_point() ||
          found->second.numel() != value.numel() || value.numel() == 0) {
        continue;
      }
      const Tensor truth = found->second.detach().to(at::kCPU, at::kDouble).contiguous();
      const Tensor said = value.detach().to(at::kCPU, at::kDouble).contiguous();
      if (label->kind == Kind::element && interface.group) {
        add_elements(pairs, name, *interface.group, interface.length_unit, truth, said);
      } else {
        add_numbers(pairs[name], label->unit, truth, said);
      }
    }
  });
  for (const auto& [name, both] : pairs) {
    make_folder(folder);
    std::string file = visible("parity_" + name + ".csv");
    std::replace(file.begin(), file.end(), '/', '_');
    write_file_atomically(folder + "/" + file, csv_of(name, both), Existing::replace_link);
  }
}

namespace {

/// (C, H, W) to (H, W, 3) of 0 .. 255: three channels are red, green and blue, else the first is grey; the
/// darkest and the brightest of them are black and white.
Tensor picture(const Tensor& values) {
  Tensor x = values.size(0) == 3 ? values : values.slice(0, 0, 1).expand({3, values.size(1), values.size(2)});
  x = x.detach().to(at::kCPU, at::kDouble);
  const double low = x.min().item<double>(), high = x.max().item<double>();
  const Tensor bright = high > low ? (x - low) * (255 / (high - low)) : x * 0 + 127;
  return bright.round().to(at::kByte).permute({1, 2, 0}).contiguous();
}

/// The slice of (.., X, Y, Z), as it is looked at: x to the right, y upwards.
Tensor slice_of(const Tensor& x, int64_t z) {
  return x.select(-1, z).transpose(-1, -2).flip(-2);
}

}  // namespace

void write_overlays(const Predictor& predictor, const Dataset& test, const std::string& folder,
                    int64_t count) {
  const Quantity* mask = find_quantity(predictor.outputs(), "mask");
  if (mask == nullptr || mask->kind != Kind::category || !predictor.interface().grid) {
    return;
  }
  count = std::min(count, test.size());
  make_folder(folder);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t sample = i * test.size() / count;
    const Batch batch = test.batch({&sample, 1});
    const Named predictions = predictor(batch.input);
    const auto meter = predictor.task()->meter(predictor.interface());
    meter->add(batch, predictions);
    const auto confusion = meter->confusion();
    std::string classes;
    for (const std::string& name : confusion.value().classes) {
      classes += name + "\n";
    }
    char title[64];
    std::snprintf(title, sizeof title, "predicted (sample %lld, Dice %.3f)", static_cast<long long>(sample),
                  meter->values().at("dice").value);
    Tensor image = std::get<Grid>(batch.input).values[0], truth = batch.labels.at("mask")[0][0],
           said = predictions.at("mask")[0][0];
    if (truth.dim() == 3) {
      const int64_t z = at::argmax(truth.ne(0).sum(at::IntArrayRef({0, 1}))).item<int64_t>();
      image = slice_of(image, z);
      truth = slice_of(truth, z);
      said = slice_of(said, z);
    }
    const auto bytes = [](const Tensor& mask) { return mask.to(at::kCPU, at::kByte).contiguous(); };
    save_tensors(text(folder, "/overlay_", i, ".safetensors"),
                 {{"image", picture(image)}, {"truth", bytes(truth)}, {"prediction", bytes(said)}},
                 {{"format", "weyl.overlay"}, {"classes", classes}, {"title", title}},
                 Existing::replace_link);
  }
}

int64_t write_films(const Predictor& predictor, const Dataset& test, const std::string& folder,
                    const std::string& name, int64_t count) {
  count = std::min(count, test.size());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t sample = i * test.size() / count;
    const auto film = film_of(predictor, test.batch({&sample, 1}), test.schema().horizon);
    if (!film) {
      return i;
    }
    std::string times;
    for (const std::string& time : film->times) {
      times += time + "\n";
    }
    NamedTensors tensors{{"truth", film->truth}, {"prediction", film->prediction}};
    if (film->ground.defined()) {
      tensors["ground"] = film->ground;
    }
    make_folder(folder);
    save_tensors(text(folder, "/", name, "_", i, ".safetensors"), tensors,
                 {{"format", "weyl.film"},
                  {"times", times},
                  {"title", text("Sample ", sample, " of the test split")},
                  {"unit", film->unit}},
                 Existing::replace_link);
  }
  return count;
}

}  // namespace weyl
