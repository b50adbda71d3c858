#include "weyl/tasks/registration.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/argmin.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/det.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>

#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"
#include "weyl/core/quantile.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/ops/lie/log.h"
#include "weyl/tasks/label_statistics.h"

namespace weyl {
namespace {

constexpr const char* kRegistration = RegistrationOptions::name_in_config;
constexpr const char* kCarried = "pose";
constexpr const char* kCopy = "copy";
constexpr const char* kDescriptor = "descriptor";
constexpr int64_t kRegistrationChunk = 256;  // samples at a time when a whole set is read

const Poses& copies_of(const Input& input) {
  const auto* poses = std::get_if<Poses>(&input);
  require(poses != nullptr, kRegistration, ": the input must be poses, got ", name_of(carrier_of(input)));
  return *poses;
}

const Tensor& carried(const Named& named) {
  const auto found = named.find(kCarried);
  require(found != named.end(), kRegistration, ": there are no poses '", kCarried, "'");
  return found->second;
}

/// The tokens of one copy in each sample, (B, n) rows of the batch, padded with 0 where `there` (B, n) is false.
struct CopyRows {
  Tensor rows, there;

  Tensor of(const Tensor& x) const {
    const std::vector<int64_t> tail = x.sizes().slice(1).vec();
    std::vector<int64_t> shape{rows.size(0), rows.size(1)};
    shape.insert(shape.end(), tail.begin(), tail.end());
    return at::index_select(x, 0, rows.flatten()).view(shape);
  }
};

struct Copies {
  CopyRows a, b;
  std::vector<int64_t> order,
      sizes;  // the rows of A and B of the first sample, of the second, ..., and how many of each
};

CopyRows padded(const std::vector<std::vector<int64_t>>& rows) {
  size_t longest = 0;
  for (const auto& r : rows) {
    longest = std::max(longest, r.size());
  }
  const auto n = static_cast<int64_t>(longest), samples = static_cast<int64_t>(rows.size());
  CopyRows copy{at::zeros({samples, n}, at::kLong), at::zeros({samples, n}, at::kBool)};
  for (int64_t s = 0; s < samples; ++s) {
    const auto count = static_cast<int64_t>(rows[static_cast<size_t>(s)].size());
    copy.rows[s].narrow(0, 0, count).copy_(at::tensor(rows[static_cast<size_t>(s)], at::kLong));
    copy.there[s].narrow(0, 0, count).fill_(true);
  }
  return copy;
}

Copies copies_in(const Poses& poses, const Interface& interface) {
  const Tensor second = second_copy(poses, interface).cpu().contiguous();
  const auto* is_second = second.const_data_ptr<bool>();
  std::vector<std::vector<int64_t>> a, b;
  Copies copies;
  for (int64_t s = 0; s < poses.graphs.count(); ++s) {
    std::vector<int64_t> first_rows, second_rows;
    for (int64_t i = poses.graphs.offsets[s]; i < poses.graphs.offsets[s + 1]; ++i) {
      (is_second[i] ? second_rows : first_rows).push_back(i);
    }
    require(!first_rows.empty() && !second_rows.empty(), kRegistration, ": sample ", s,
            " must have tokens of both copies (feature copy 0 and 1), got ", first_rows.size(), " and ",
            second_rows.size());
    for (const auto* rows : {&first_rows, &second_rows}) {
      copies.order.insert(copies.order.end(), rows->begin(), rows->end());
      copies.sizes.push_back(static_cast<int64_t>(rows->size()));
    }
    a.push_back(std::move(first_rows));
    b.push_back(std::move(second_rows));
  }
  copies.a = padded(a);
  copies.b = padded(b);
  return copies;
}

Tensor compact_of(const Tensor& matrices, LieGroup group) {
  return lie::compact_elements(matrices.to(at::kCPU, at::kDouble), group);
}

/// What the model says of each token (N, C), each copy a graph of its own.
Tensor descriptors(Model& model, const Poses& poses, const Copies& copies) {
  const at::Device device = poses.elements.device();
  const Tensor order = at::tensor(copies.order, at::kLong).to(device);
  Poses apart = poses;
  apart.elements = at::index_select(poses.elements, 0, order);
  apart.scalars = at::index_select(poses.scalars, 0, order);
  apart.graphs = Segments::of_sizes(copies.sizes, device);
  const Named outputs = model(Input(apart));
  const auto found = outputs.find(kDescriptor);
  require(found != outputs.end(), kRegistration, ": the model has no output '", kDescriptor, "'");
  return at::zeros_like(found->second).index_copy(0, order, found->second);
}

/// log W_ij (B, nA, nB) in float64, very small where i or j is none.
Tensor log_weights(const Tensor& f, const Copies& copies) {
  const Tensor wide = f.to(at::kDouble);
  const auto to = [&](const Tensor& x) { return x.to(f.device()); };
  const CopyRows a{to(copies.a.rows), to(copies.a.there)}, b{to(copies.b.rows), to(copies.b.there)};
  const Tensor l =
      at::bmm(a.of(wide), b.of(wide).transpose(1, 2)) / std::sqrt(static_cast<double>(f.size(1)));
  const Tensor none = at::logical_not(at::logical_and(a.there.unsqueeze(2), b.there.unsqueeze(1)));
  constexpr double nothing = -1e9;
  const Tensor masked = l.masked_fill(none, nothing);
  return (at::log_softmax(masked, 2) + at::log_softmax(masked, 1)).masked_fill(none, nothing);
}

/// The true pairs (B, nA, nB) bool.
Tensor true_pairs(const Poses& poses, const Tensor& there, const Copies& copies) {
  const at::NoGradGuard no_grad;
  const Tensor from = compact_of(there, poses.group), to = compact_of(poses.elements, poses.group);
  const Tensor a = copies.a.of(from), b = copies.b.of(to);
  const int64_t B = a.size(0), n = a.size(1), m = b.size(1), c = a.size(2);
  const Tensor far =
      lie::frobenius_distances(a.unsqueeze(2).expand({B, n, m, c}).reshape({-1, c}),
                               b.unsqueeze(1).expand({B, n, m, c}).reshape({-1, c}), poses.group)
          .view({B, n, m});
  const Tensor none =
      at::logical_not(at::logical_and(copies.a.there.unsqueeze(2), copies.b.there.unsqueeze(1)));
  const Tensor masked = far.masked_fill(none, std::numeric_limits<double>::infinity());
  const Tensor of_a = at::argmin(masked, 2, true) == at::arange(m, at::kLong),
               of_b = at::argmin(masked, 1, true) == at::arange(n, at::kLong).view({1, n, 1});
  return at::logical_and(at::logical_and(of_a, of_b), at::logical_not(none));
}

/// The motions x (B, m, m) by weights W (B, nA, nB), on the CPU in float64.
Tensor motion_of(const Poses& poses, const Tensor& weights, const Copies& copies, double rotations) {
  const int64_t n = dimension_of(poses.group), m = matrix_size(poses.group);
  const Tensor g = poses.elements.to(at::kCPU, at::kDouble);
  const Tensor a = copies.a.of(g), b = copies.b.of(g);  // (B, n, m, m)
  const Tensor W = weights / weights.sum({1, 2}, true);
  const Tensor Ra = a.narrow(2, 0, n).narrow(3, 0, n), Rb = b.narrow(2, 0, n).narrow(3, 0, n);
  const int64_t B = a.size(0);
  // sum_ij W_ij R_j R_i^T, rows of R_j and of R_i.
  const Tensor mixed =
      at::matmul(W.transpose(1, 2), Ra.reshape({B, a.size(1), n * n})).view({B, b.size(1), n, n});
  Tensor M = (m > n ? rotations : 1.0) * at::matmul(Rb, mixed.transpose(2, 3)).sum(1);
  Tensor ta, tb;
  if (m > n) {
    const Tensor xa = a.narrow(2, 0, n).select(3, n), xb = b.narrow(2, 0, n).select(3, n);  // (B, n, D)
    ta = at::matmul(W.sum(2).unsqueeze(1), xa);                                             // (B, 1, D)
    tb = at::matmul(W.sum(1).unsqueeze(1), xb);
    M = M + at::matmul(at::matmul((xb - tb).transpose(1, 2), W.transpose(1, 2)), xa - ta);
  }
  const auto [U, S, Vh] = at::linalg_svd(M, true);
  const Tensor sign = at::det(at::matmul(U, Vh)).sign();
  Tensor last = at::ones_like(S);
  last.select(1, n - 1).copy_(sign);
  const Tensor R = at::matmul(U * last.unsqueeze(1), Vh);
  if (m == n) {
    return R;
  }
  Tensor x = at::eye(m, R.options()).repeat({B, 1, 1});
  x.narrow(1, 0, n).narrow(2, 0, n).copy_(R);
  x.narrow(1, 0, n).select(2, n).copy_(tb.squeeze(1) - at::matmul(R, ta.transpose(1, 2)).squeeze(2));
  return x;
}

/// The inverse of rigid motions (B, m, m).
Tensor inverse_of(const Tensor& x, LieGroup group) {
  const Tensor one = at::eye(x.size(1), at::kDouble).expand_as(x);
  return lie::element_matrices(lie::between(compact_of(x, group), compact_of(one, group), group), group);
}

/// Where the tokens stand in the other copy, by motions x (B, m, m): (N, m, m).
Tensor carried_by(const Tensor& x, const Poses& poses, const Tensor& second) {
  const Tensor graph = poses.graphs.index.cpu();
  const Tensor there = at::index_select(x, 0, graph),
               back = at::index_select(inverse_of(x, poses.group), 0, graph);
  return at::matmul(at::where(second.cpu().view({-1, 1, 1}), back, there),
                    poses.elements.to(at::kCPU, at::kDouble));
}

/// The motions that poses (N, m, m), tokens in the other copy, say: by the first token of A of each sample.
Tensor motion_said(const Poses& poses, const Tensor& there, const Copies& copies) {
  const Tensor first = copies.a.rows.select(1, 0);
  const auto rows = [&](const Tensor& x) {
    return at::index_select(x.detach().to(at::kCPU, at::kDouble), 0, first);
  };
  return at::matmul(rows(there), inverse_of(rows(poses.elements), poses.group));
}

class RegistrationErrors : public Meter {
 public:
  explicit RegistrationErrors(Interface interface) : interface_(std::move(interface)) {}

  void add(const Batch& batch, const Named& predictions) override {
    const at::NoGradGuard no_grad;
    const Poses& poses = copies_of(batch.input);
    const Copies copies = copies_in(poses, interface_);
    const LieGroup group = poses.group;
    const Tensor &truth = carried(batch.labels), &said = carried(predictions);
    const Tensor x = motion_said(poses, truth, copies), y = motion_said(poses, said, copies);
    const Tensor w = lie::logs(compact_of(x, group), compact_of(y, group), group).w;
    const LieBlock turn = rotation_of(group);
    const Tensor angle = w.narrow(1, turn.begin, turn.size).square().sum(1).sqrt().contiguous();
    append(angles_, angle * (180 / std::numbers::pi));
    const int64_t n = dimension_of(group);
    if (moves()) {
      const auto places = [&](const Tensor& g) {
        return copies.a.of(g.detach().to(at::kCPU, at::kDouble)).narrow(2, 0, n).select(3, n);
      };
      const Tensor off = (places(truth) - places(said)).square().sum(2) * copies.a.there.to(at::kDouble);
      append(places_, (off.sum(1) / copies.a.there.sum(1)).sqrt());
    }
    // Which token of B the answer brings a token of A nearest to.
    const Tensor pairs = true_pairs(poses, truth, copies), own = pairs.any(2);
    const auto found = predictions.find(kDescriptor);
    const Tensor guess = found != predictions.end() ? log_weights(found->second.detach().to(at::kCPU), copies)
                                                    : true_pairs(poses, said, copies).to(at::kDouble);
    const Tensor right = pairs.gather(2, at::argmax(guess, 2, true)).squeeze(2);
    matched_ += right.sum().item<int64_t>();
    pairs_ += own.sum().item<int64_t>();
  }

  void merge(const Meter& other) override {
    const auto& more = same_kind<RegistrationErrors>(other, kRegistration);
    require(more.interface_ == interface_, kRegistration,
            ": a meter must be merged with one of the same data");
    const std::vector<double> angles = more.angles_,
                              places = more.places_;  // copies: `other` may be this meter
    angles_.insert(angles_.end(), angles.begin(), angles.end());
    places_.insert(places_.end(), places.begin(), places.end());
    matched_ += more.matched_;
    pairs_ += more.pairs_;
  }

  void tell(Message& message) override { message(angles_, places_, matched_, pairs_); }

  Metrics values() const override {
    Metrics metrics;
    if (angles_.empty()) {
      return metrics;
    }
    metrics["angle_rmse"] = {root_mean_square(angles_), "degrees"};
    metrics["angle_median"] = {median(angles_), "degrees"};
    if (moves()) {
      metrics["place_rmse"] = {root_mean_square(places_), interface_.length_unit};
      metrics["place_median"] = {median(places_), interface_.length_unit};
    }
    if (pairs_ > 0) {
      metrics["match_accuracy"] = {static_cast<double>(matched_) / static_cast<double>(pairs_), ""};
    }
    return metrics;
  }

  std::vector<MetricName> names(const Schema&) const override {
    std::vector<MetricName> all{
        {"angle_rmse"}, {"angle_median"}, {"match_accuracy", /*lower_is_better=*/false}};
    if (moves()) {
      all.push_back({"place_rmse"});
      all.push_back({"place_median"});
    }
    return all;
  }

  static LieBlock rotation_of(LieGroup group) {
    for (const LieBlock& block : blocks_of(group)) {
      if (block.part == LiePart::rotation) {
        return block;
      }
    }
    throw ShapeError(text(kRegistration, ": the group must have rotations, got ", name_of(group)));
  }

 private:
  static void append(std::vector<double>& to, const Tensor& x) {
    const Tensor numbers = x.contiguous();
    to.insert(to.end(), numbers.const_data_ptr<double>(), numbers.const_data_ptr<double>() + numbers.numel());
  }
  static double root_mean_square(const std::vector<double>& x) {
    double sum = 0;
    for (const double e : x) {
      sum += e * e;
    }
    return std::sqrt(sum / static_cast<double>(x.size()));
  }
  bool moves() const { return matrix_size(*interface_.group) > dimension_of(*interface_.group); }

  Interface interface_;
  std::vector<double> angles_, places_;
  int64_t matched_ = 0, pairs_ = 0;
};

}  // namespace

Tensor second_copy(const Poses& poses, const Interface& interface) {
  for (const Columns& c : scalar_columns(interface, Level::node)) {
    if (c.quantity->name == kCopy && c.end == c.begin + 1 && poses.scalars.defined()) {
      return poses.scalars.select(1, c.begin) > 0.5;
    }
  }
  throw ShapeError(text(kRegistration, ": the tokens must have a feature '", kCopy, "'"));
}

std::vector<Quantity> Registration::labels() const {
  return {{.name = kCarried, .kind = Kind::element}};
}

Interface Registration::interface(const Schema& data) const {
  require<ConfigError>(data.carrier() == Carrier::poses, "task ", kRegistration,
                       ": needs poses, the data set holds ", name_of(data.carrier()));
  require<ConfigError>(is_rigid(*data.interface.group), "task ", kRegistration,
                       ": the group must be so2, se2, so3 or se3, got ", name_of(*data.interface.group));
  const Quantity* copy = find_quantity(data.interface.features, kCopy);
  require<ConfigError>(
      copy != nullptr && copy->level == Level::node && copy->kind == Kind::scalar && copy->channels == 1,
      "task ", kRegistration, ": the tokens must have a feature '", kCopy,
      "', one number, 0 or 1, that says of which copy each is");
  Interface result = data.interface;
  result.outputs = {{.name = kDescriptor, .channels = options_.channels}};
  return result;
}

std::vector<Quantity> Registration::predictions(const Interface& model) const {
  std::vector<Quantity> all = model.outputs;
  all.insert(all.begin(), labels()[0]);
  return all;
}

void Registration::fit(const Dataset& train) {
  double translations = 0, turns = 0, count = 0;
  const LieGroup group = *train.schema().interface.group;
  const LieBlock turn = RegistrationErrors::rotation_of(group);
  for_each_chunk(train, kRegistrationChunk, [&](const Batch& batch) {
    const Poses& poses = copies_of(batch.input);
    const Copies copies = copies_in(poses, train.schema().interface);
    const Tensor pairs = true_pairs(poses, carried(batch.labels), copies).nonzero();
    const auto rows = [&](const Tensor& x, const CopyRows& copy, int64_t column) {
      const Tensor at = pairs.select(1, 0) * copy.rows.size(1) + pairs.select(1, column);
      return at::index_select(x, 0, at::index_select(copy.rows.flatten(), 0, at));
    };
    const Tensor w = lie::logs(rows(compact_of(carried(batch.labels), group), copies.a, 1),
                               rows(compact_of(poses.elements, group), copies.b, 2), group)
                         .w.square();
    const double turned = w.narrow(1, turn.begin, turn.size).sum().item<double>();
    turns += turned;
    translations += w.sum().item<double>() - turned;
    count += static_cast<double>(w.size(0));
  });
  require<DataError>(
      count > 0 && std::isfinite(turns) && std::isfinite(translations), "task ", kRegistration,
      ": the training set must have tokens of one copy that stand, by their true places, nearest to one of the "
      "other, got none");
  constexpr double exact = 1e-9;  // less than this is rounding
  const double of_lengths = std::max(std::sqrt(translations / (count * dimension_of(group))), exact),
               of_turns = std::max(std::sqrt(turns / (count * static_cast<double>(turn.size))), exact);
  rotations_ = of_lengths * of_lengths / (2 * of_turns * of_turns);
}

bool Registration::keep(const Task& before, const Interface& from, const Interface& to) {
  const auto* other = dynamic_cast<const Registration*>(&before);
  if (other == nullptr || from.length_unit != to.length_unit) {
    return false;
  }
  rotations_ = other->rotations_;
  return true;
}

NamedTensors Registration::state() const {
  return {{"rotations", at::full({1}, rotations_, at::kDouble)}};
}

void Registration::load(const NamedTensors& state) {
  rotations_ = saved_numbers(state, kRegistration, "rotations", {1}).item<double>();
  require<DataError>(rotations_ > 0, "task ", kRegistration, ": 'rotations' must be positive, got ",
                     rotations_);
}

std::vector<Tensor> Registration::loss_weights(const Batch& batch, const Interface&) const {
  return {loss_weight(copies_of(batch.input).count())};
}

Named Registration::answer(const Poses& poses, const Interface& model, const Tensor& f) const {
  const at::NoGradGuard no_grad;
  const Copies copies = copies_in(poses, model);
  const Tensor W = log_weights(f.detach(), copies).exp().cpu();
  const Tensor x = motion_of(poses, W, copies, rotations_);
  return {{kDescriptor, f}, {kCarried, carried_by(x, poses, second_copy(poses, model))}};
}

Step Registration::step(Model& model, const Batch& batch, const LossShares& shares) const {
  const Poses& poses = copies_of(batch.input);
  const Copies copies = copies_in(poses, model.interface);
  const Tensor f = descriptors(model, poses, copies), all = log_weights(f, copies);
  const Tensor pairs = true_pairs(poses, carried(batch.labels), copies).to(f.device());
  const Tensor counts = pairs.sum({1, 2}).clamp_min(1);
  const Tensor loss = -((all.masked_fill(at::logical_not(pairs), 0)).sum({1, 2}) / (2 * counts)).mean();
  return {shared(loss, shares, 0), model.training() ? Named{} : answer(poses, model.interface, f)};
}

Named Registration::predict(Model& model, const Batch& batch) const {
  const Poses& poses = copies_of(batch.input);
  return answer(poses, model.interface, descriptors(model, poses, copies_in(poses, model.interface)));
}

std::unique_ptr<Meter> Registration::meter(const Interface& model) const {
  return std::make_unique<RegistrationErrors>(model);
}

std::vector<std::pair<std::string, Metrics>> Registration::baselines(const Dataset& data) const {
  const Interface& interface = data.schema().interface;
  RegistrationErrors given(interface), known(interface);
  for_each_chunk(data, kRegistrationChunk, [&](const Batch& batch) {
    const Poses& poses = copies_of(batch.input);
    given.add(batch, {{kCarried, poses.elements}});
    const Copies copies = copies_in(poses, interface);
    const Tensor pairs = true_pairs(poses, carried(batch.labels), copies).to(at::kDouble);
    const Tensor x = motion_of(poses, pairs, copies, rotations_);
    known.add(batch, {{kCarried, carried_by(x, poses, second_copy(poses, interface))}});
  });
  return {{"as given", given.values()}, {"true pairs", known.values()}};
}

}  // namespace weyl
