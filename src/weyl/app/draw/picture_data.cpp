#include "weyl/app/draw/picture_data.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_inv.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <numbers>
#include <vector>

#include "weyl/carriers/background.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/quote.h"
#include "weyl/core/random.h"
#include "weyl/core/text_number.h"
#include "weyl/data/base/sample_checks.h"
#include "weyl/predict/body_film.h"
#include "weyl/tasks/completion.h"
#include "weyl/train/run/append_file.h"
#include "weyl/train/run/journal.h"

namespace weyl {
namespace {

constexpr int64_t most_pairs = 4000;
constexpr uint64_t parity_seed = 0;

// What one picture is drawn from. `note`: what is to be known of the numbers.
struct Pairs {
  std::string unit, note;
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

// Which pairs are drawn, in their order: all, or as many as a picture can show, any as likely as any other. Every k-th
// would be the first component of each vector where k is their length.
std::vector<int64_t> drawn_pairs(const std::string& name, const Pairs& pairs) {
  const auto count = static_cast<int64_t>(pairs.labels.size());
  std::vector<int64_t> drawn = Stream(parity_seed, "parity " + name).permutation(count);
  drawn.resize(static_cast<size_t>(std::min(count, most_pairs)));
  std::ranges::sort(drawn);
  return drawn;
}

std::string csv_of(const std::string& name, const Pairs& pairs, const std::vector<int64_t>& drawn) {
  std::string csv = csv_cell(with_unit(name, pairs.unit)) + "," +
                    csv_cell(with_unit("predicted " + name, pairs.unit)) + "\n";
  for (const int64_t i : drawn) {
    csv += exact_text(pairs.labels[i]) + "," + exact_text(pairs.predictions[i]) + "\n";
  }
  return csv;
}

// What all pairs come to whose label is known, whether or not they are drawn.
Json summary_of(const Pairs& pairs, size_t drawn) {
  double error = 0, squared = 0, mean = 0, variance = 0;
  int64_t count = 0;
  const auto known = [&](size_t i) {
    return std::isfinite(pairs.labels[i]) && std::isfinite(pairs.predictions[i]);
  };
  for (size_t i = 0; i < pairs.labels.size(); ++i) {
    if (known(i)) {
      const double off = pairs.predictions[i] - pairs.labels[i];
      error += std::abs(off);
      squared += off * off;
      mean += pairs.labels[i];
      ++count;
    }
  }
  const auto n = static_cast<double>(count);
  mean /= n;
  for (size_t i = 0; i < pairs.labels.size(); ++i) {
    variance += known(i) ? (pairs.labels[i] - mean) * (pairs.labels[i] - mean) : 0;
  }
  Json json = Json::object();
  json.set("mae", count > 0 ? Json::object().set("value", error / n).set("unit", pairs.unit) : Json())
      .set("r2", variance > 0 ? Json(1 - squared / variance) : Json())
      .set("pairs", count)
      .set("drawn", static_cast<int64_t>(drawn))
      .set("of", static_cast<int64_t>(pairs.labels.size()))
      .set("seed", static_cast<int64_t>(parity_seed))
      .set("note", pairs.note);
  return json;
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
      to.note = "seen from the pose beside the gap";
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
    for (const auto& [name, value] : predictor(batch)) {
      const Quantity* label = find_quantity(known, name);
      const auto found = batch.labels.find(name);
      if (label == nullptr || found == batch.labels.end() || !found->second.is_floating_point() ||
          found->second.numel() != value.numel() || value.numel() == 0) {
        continue;
      }
      const Tensor truth = found->second.detach().to(at::kCPU, at::kDouble).contiguous();
      const Tensor said = value.detach().to(at::kCPU, at::kDouble).contiguous();
      const auto* poses = std::get_if<Poses>(&batch.input);
      if (label->kind == Kind::element && interface.group && poses != nullptr) {
        // Absolute places say little of a prediction: those of the other poses give them away.
        const auto flank = batch.labels.find("flank");
        const auto seen = [&](const Tensor& elements) {
          return label->level == Level::node || flank == batch.labels.end()
                     ? at::matmul(at::linalg_inv(poses->elements.to(at::kCPU, at::kDouble)), elements)
                     : seen_from_flank(*poses, flank->second, elements);
        };
        add_elements(pairs, name, *interface.group, interface.length_unit, seen(truth), seen(said));
      } else {
        add_numbers(pairs[name], label->unit, truth, said);
      }
    }
  });
  for (const auto& [name, both] : pairs) {
    make_folder(folder);
    std::string file = folder + "/";
    for (const char c : visible("parity_" + name)) {
      file += c == '/' ? '_' : c;
    }
    const std::vector<int64_t> drawn = drawn_pairs(name, both);
    write_file_atomically(file + ".json", summary_of(both, drawn.size()).dump() + "\n",
                          Existing::replace_link);
    write_file_atomically(file + ".csv", csv_of(name, both, drawn), Existing::replace_link);
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

/// The slice along the last axis that shows most of the first mask (X, Y, Z) that is not empty, else the middle.
int64_t slice_to_show(std::initializer_list<Tensor> masks) {
  for (const Tensor& shown : masks) {
    const Tensor cells = shown.ne(0).sum(at::IntArrayRef({0, 1}));
    if (cells.sum().item<int64_t>() > 0) {
      return at::argmax(cells).item<int64_t>();
    }
  }
  return masks.begin()->size(2) / 2;
}

/// A sample in a title: "case NAME", or "sample 3" where it has no name.
std::string sample_in_title(const Dataset& data, int64_t sample) {
  const std::string name = case_name(data, sample);
  return name.empty() ? text("sample ", sample) : "case " + visible(name);
}

/// The slice of (.., X, Y, Z), as it is looked at: x to the right, y upwards.
Tensor slice_of(const Tensor& x, int64_t z) {
  return x.select(-1, z).transpose(-1, -2).flip(-2);
}

}  // namespace

bool write_overlay(const Predictor& predictor, const Dataset& data, int64_t sample, const std::string& path,
                   const std::string& begin) {
  const Quantity* mask = find_quantity(predictor.outputs(), "mask");
  if (mask == nullptr || mask->kind != Kind::category || !predictor.interface().grid) {
    return false;
  }
  const Batch batch = data.batch({&sample, 1});
  const Named predictions = predictor(batch.input);
  const auto meter = predictor.task()->meter(predictor.interface());
  meter->add(batch, predictions);
  const auto confusion = meter->confusion();
  std::string classes;
  for (const std::string& name : confusion.value().classes) {
    classes += name + "\n";
  }
  std::string title = begin + sample_in_title(data, sample);
  Tensor image = std::get<Grid>(batch.input).values[0], truth = batch.labels.at("mask")[0][0].clamp_min(0),
         said = predictions.at("mask")[0][0];
  const bool volume = truth.dim() == 3;
  if (volume) {
    const int64_t z = slice_to_show({truth, said});
    // Readers turn volumes whose files say their directions to right, anterior, superior.
    title += text(data.axes(sample).empty() ? ", slice along the last axis " : ", axial slice ", z + 1,
                  " of ", truth.size(2));
    image = slice_of(image, z);
    truth = slice_of(truth, z);
    said = slice_of(said, z);
  }
  const Metrics metrics = meter->values();  // none of a sample without a label
  const auto dice = metrics.find("dice");
  const std::string predicted =
      dice == metrics.end()
          ? "predicted"
          : text("predicted, Dice ", short_number(dice->second.value), volume ? " (volume)" : "");
  const auto bytes = [](const Tensor& of) { return of.to(at::kCPU, at::kByte).contiguous(); };
  save_tensors(path, {{"image", picture(image)}, {"truth", bytes(truth)}, {"prediction", bytes(said)}},
               {{"format", "weyl.overlay"}, {"classes", classes}, {"title", title}, {"predicted", predicted}},
               Existing::replace_link);
  return true;
}

void write_overlays(const Predictor& predictor, const Dataset& test, const std::string& folder,
                    int64_t count) {
  const Quantity* mask = find_quantity(predictor.outputs(), "mask");
  if (mask == nullptr || mask->kind != Kind::category || !predictor.interface().grid) {
    return;
  }
  count = std::min(count, test.size());
  make_folder(folder);
  for (int64_t i = 0; i < count; ++i) {
    write_overlay(predictor, test, i * test.size() / count, text(folder, "/overlay_", i, ".safetensors"));
  }
}

namespace {

/// A map (H, W) of weights over a grey picture (H, W, 3): from black over red to white, the darkest the least of them. Where
/// there is no weight (NaN) the picture alone.
Tensor heat_over(const Tensor& map, const Tensor& grey) {
  const Tensor known = at::isfinite(map), x = map.to(at::kDouble).nan_to_num(0);
  double low = 0, high = 0;
  if (known.any().item<bool>()) {
    const Tensor values = x.masked_select(known);
    low = values.min().item<double>();
    high = values.max().item<double>();
  }
  const Tensor t = high > low ? ((x - low) / (high - low)).clamp(0, 1) : x * 0;
  const Tensor colour =
      at::stack({(3 * t).clamp(0, 1), (3 * t - 1).clamp(0, 1), (3 * t - 2).clamp(0, 1)}, 2) * 255;
  const Tensor base = grey.to(at::kDouble);
  return at::where(known.unsqueeze(2), 0.3 * base + 0.7 * colour, base).round().to(at::kByte);
}

std::string range_of(const Tensor& map) {
  const Tensor values = map.masked_select(at::isfinite(map));
  return values.numel() == 0 ? "no token here"
                             : text(short_number(values.min().item<double>()), " to ",
                                    short_number(values.max().item<double>()));
}

}  // namespace

void write_attention(const Predictor& predictor, const Dataset& test, const std::string& folder,
                     int64_t sample) {
  require<ConfigError>(sample >= 0 && sample < test.size(), "--attention: the test split has samples 0 to ",
                       test.size() - 1, ", got ", sample);
  const at::NoGradGuard no_grad;
  const Batch batch = test.batch({&sample, 1});
  Model& model = predictor.model();
  const auto* grid = std::get_if<Grid>(&batch.input);
  std::vector<Tensor> maps;
  if (grid != nullptr) {
    maps = model.attention_maps(to(batch, model.device(), model.dtype()).input);
  }
  require<ConfigError>(!maps.empty(),
                       "--attention: must be of a model with attention over grids (steerable, with ",
                       "encoder.depth above 0 and attention), this one has none");
  std::string title = text("Largest attention weight of each token, ", sample_in_title(test, sample));
  Tensor image = grid->values[0];
  if (image.dim() == 4) {
    const int64_t z = slice_to_show({image.ne(background_of(grid->values)[0]).any(0)});
    title += text(", slice along the last axis ", z + 1, " of ", image.size(3));
    image = slice_of(image, z);
    for (Tensor& map : maps) {
      map = slice_of(map, z);
    }
  }
  const Tensor grey = picture(image);
  std::vector<Tensor> pictures;
  std::string words;
  for (size_t layer = 0; layer < maps.size(); ++layer) {
    const Tensor heads = maps[layer][0];
    pictures.push_back(grey);
    words += text("layer ", layer + 1, "\n");
    for (int64_t h = 0; h < heads.size(0); ++h) {
      pictures.push_back(heat_over(heads[h], grey));
      words += text("head ", h + 1, ": ", range_of(heads[h]), "\n");
    }
    const Tensor mean = heads.mean(0);
    pictures.push_back(heat_over(mean, grey));
    words += text("mean of heads: ", range_of(mean), "\n");
  }
  make_folder(folder);
  save_tensors(text(folder, "/attention_", sample, ".safetensors"),
               {{"pictures", at::stack(pictures).contiguous()}},
               {{"format", "weyl.pictures"},
                {"words", words},
                {"columns", std::to_string(maps.front().size(1) + 2)},
                {"title", title}},
               Existing::replace_link);
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
                  {"title", text("Sample ", sample, " of the test split",
                                 film->step.empty() ? "" : ", a step is " + film->step)},
                  {"unit", film->unit}},
                 Existing::replace_link);
  }
  return count;
}

}  // namespace weyl
