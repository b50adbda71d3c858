#include "weyl/models/steerable/options.h"

#include <algorithm>

#include "weyl/carriers/quantity.h"
#include "weyl/config/unused_options.h"
#include "weyl/core/check.h"
#include "weyl/models/shared_options.h"

namespace weyl::steerable {

void fields(Fields& f, Stage& o) {
  f("middle", o.middle, "channels between the two convolutions; 0: one convolution alone", {0, 1e5});
  f("channels", o.channels, "channels after them", {1, 1e5});
  f("kernel", o.kernel, "pixels of a kernel along an axis", {2, 31});
  f("stride", o.stride, "stride of the first convolution", {1, 64});
  f("same", o.same, "the first convolution pads with zeros, so that stride 1 keeps the size (odd kernels)");
  f("pool", o.pool, "average pooling at the end, over so many pixels along an axis; 1: none", {1, 64});
  f("activation", o.activation,
    "after the first convolution: relu or gelu of lengths, cg (products of irreps), gated, or none: a norm "
    "alone, which must be joint, irrep or layer");
  f("decoder", o.decoder, "segmentation: the same in the decoder");
}

void fields(Fields& f, PositionOptions& o) {
  f("radial", o.radial,
    "how they fall off with the distance: r^-2, a Gaussian, a table of learned numbers; none: no such "
    "vectors");
  f("width", o.width, "of the Gaussian, in distances of neighbouring tokens", {1e-6, 1e6});
  f("reach", o.reach, "of the table, in distances of neighbouring tokens; zero beyond", {1e-6, 1e6});
}

void fields(Fields& f, EncoderOptions& o) {
  also_called_as_usual(f);
  f.also_called("depth", {"blocks", "n_layers", "num_layers", "n_layer", "layers", "n_blocks", "num_blocks"});
  f("depth", o.depth, "transformer blocks after the stages; 0: a convolution net", {0, 1000});
  f("heads", o.heads, "attention heads (divide the channels of every irrep)", {1, 1e5});
  f("hidden", o.hidden, "hidden channels of the blocks' MLPs: this factor times those of the features",
    {1, 64});
  f("norm", o.norm, "before attention, before MLPs and at the end");
  f("activation", o.activation, "of the MLPs: relu or gelu of lengths");
  f("scale", o.scale,
    "scores are divided by the root of a head's channels (the paper), or of all numbers of a token (the "
    "authors' code in space)");
  f("positions", o.positions, "positional vectors of keys and values");
  f("skip_empty", o.skip_empty,
    "tokens that see nothing but background neither attend nor are attended to. Background is as for `margin`, and a token "
    "sees all cells that the stages make it from; cells must be equal to it, so that noise leaves no token out");
}

void fields(Fields& f, HeadOptions& o) {
  f("channels", o.channels,
    "channels of the last convolution; the outputs of a segmentation use the first of them. 0: in "
    "segmentation as many as outputs, in classification (with `kernel`) those of the last stage",
    {0, 1e5});
  f("kernel", o.kernel,
    "classification: pixels of a last convolution without padding (its output's lengths are averaged over "
    "the pixels); 0: none. Segmentation uses the kernel of its first stage",
    {0, 31});
  f("hidden", o.hidden, "classification: hidden width of the MLP on the invariants; 0: one linear layer",
    {0, 1e5});
  f("irreps", o.irreps,
    "what the last convolution gives: all irreps, or the trivial one alone; in classification with `kernel`");
  f("batch_norm", o.batch_norm, "classification: batch norm in the MLP");
  f("scale_and_bias", o.scale_and_bias,
    "segmentation: a learned scale and bias of each output, whose lengths alone are never negative");
  f("dropout", o.dropout, "classification: dropout of the MLP's hidden layer", {0, 0.99});
}

void fields(Fields& f, Options& o) {
  f("orders", o.orders, "images: the orders 0 .. orders - 1 of SO(2)", {1, 64});
  f("degree", o.degree, "volumes: the degrees 0 .. degree of SO(3)", {0, 16});
  f("ratio", o.ratio,
    "volumes: channels of the degrees, relative to those of degree 0, which `channels` means (4, 2, 1); "
    "empty: the same",
    {1, 1e5});
  f("margin", o.margin,
    "cells of background around the input, on each side, so that tokens cover all of it: in each channel the median of "
    "the cells at the border of the sample. By default as many as convolutions without padding (same = false) cut away, and so many more that "
    "turns of the grid stay exact; 0: none, what lies at the border is hardly seen",
    {0, 4096});
  f("low_pass", o.low_pass,
    "before each stride and pool the features are smoothed by a Gaussian, half the new spacing wide (standard deviation), "
    "so that what the new grid cannot carry does not turn up in it as something else");
  f("stages", o.stages, "from the input on: two convolutions and a pooling each");
  f("rings", o.rings, "rings of a kernel on which filters live; 0: half its size", {0, 16});
  f("profile", o.profile, "how rings become pixels");
  f("spline", o.spline, "profile interpolated: degree of the splines, 0 to 5", {0, 5});
  f("cut", o.cut, "no filters of orders that the pixels of a ring cannot carry");
  f("coupling", o.coupling, "images: filter orders m - m1, or the authors' forms");
  f("restricted", o.restricted,
    "fewer weights: the same for all input orders (images), for all filter degrees (volumes)");
  f("all_degrees", o.all_degrees,
    "volumes: filters of every degree that joins two irreps, up to the sum of theirs; false: up to `degree`");
  f("centre", o.centre, "a ring of radius zero more: the middle of a kernel by itself, of order 0");
  f("norm", o.norm,
    "after convolutions: to length one over all irreps of a channel (joint) or each (irrep), by the root "
    "mean square over all channels (layer), by running mean squares (batch), or none");
  f("bias_init", o.bias_init, "initial value of the biases in relu and gelu of lengths", {-10, 0});
  f("attention", o.attention,
    "false: the transformer's blocks without attention (its heads, scale, positions), their MLPs alone");
  f("encoder", o.encoder, "the transformer after the stages");
  f("skips", o.skips, "segmentation: how the decoder joins the stages");
  f("head", o.head, "from steerable features to outputs");
}

SteerableType type_of(const Options& options, int64_t dimension, int64_t channels, const std::string& where) {
  if (dimension == 2 || options.ratio.empty()) {
    const int64_t irreps = dimension == 2 ? options.orders : options.degree + 1;
    return {dimension, std::vector<int64_t>(static_cast<size_t>(irreps), channels)};
  }
  SteerableType type{dimension, {}};
  for (const int64_t part : options.ratio) {
    require<ConfigError>(channels * part % options.ratio.front() == 0, where, ": ", channels,
                         " channels of degree 0 must be a multiple of ", options.ratio.front(),
                         ", for model.steerable.ratio");
    type.channels.push_back(channels * part / options.ratio.front());
  }
  return type;
}

RingOptions rings_of(const Options& options, int64_t kernel) {
  return {kernel,          options.rings > 0 ? options.rings : std::max<int64_t>(1, kernel / 2),
          options.profile, options.spline,
          options.cut,     options.centre};
}

void check(const Options& options, int64_t dimension, bool segmentation) {
  require<ConfigError>(!options.stages.empty(), "model.steerable.stages: must have a stage, got none");
  require<ConfigError>(dimension == 2 || options.ratio.empty() ||
                           static_cast<int64_t>(options.ratio.size()) == options.degree + 1,
                       "model.steerable.ratio: must have a number for each of the ", options.degree + 1,
                       " degrees, got ", options.ratio.size());
  require<ConfigError>(
      dimension == 2 || !options.all_degrees || options.degree <= 8,
      "model.steerable.all_degrees: needs filters up to twice model.steerable.degree, of which there are "
      "16; the degree must be at most 8, got ",
      options.degree);
  const bool alike =
      dimension == 2 || std::all_of(options.ratio.begin(), options.ratio.end(),
                                    [&](int64_t part) { return part == options.ratio.front(); });
  const auto require_norm = [&](const char* key, NormLaw law) {
    require<ConfigError>(alike || law != NormLaw::joint, "model.steerable.", key,
                         ": 'joint' needs the same channels in every degree, got a ratio; irrep, layer "
                         "and batch do not");
  };
  require_norm("norm", options.norm);
  const EncoderOptions& encoder = options.encoder;
  if (encoder.depth > 0) {
    require_norm("encoder.norm", encoder.norm);
    const PositionOptions& p = encoder.positions;
    require<ConfigError>(
        !options.attention || p.radial != RadialLaw::table || (p.reach >= 1 && p.reach <= 400),
        "model.steerable.encoder.positions.reach: must be from 1 to 400, got ", p.reach);
  }
  require<ConfigError>(
      options.encoder.activation == Activation::relu || options.encoder.activation == Activation::gelu,
      "model.steerable.encoder.activation: must be relu or gelu, got ",
      names_of(options.encoder.activation)[static_cast<size_t>(options.encoder.activation)]);
  for (size_t s = 0; s < options.stages.size(); ++s) {
    const Stage& stage = options.stages[s];
    const std::string where = "model.steerable.stages[" + std::to_string(s) + "]";
    require<ConfigError>((!stage.same && stage.middle == 0) || stage.kernel % 2 == 1, where,
                         ".kernel: must be odd where a convolution keeps the size, got ", stage.kernel);
    const bool linear = options.norm == NormLaw::batch || options.norm == NormLaw::none;
    const auto require_bend = [&](const char* key, Activation activation) {
      require<ConfigError>(
          !linear || activation != Activation::none, where, key,
          ": 'none' needs a model.steerable.norm that is not linear (joint, irrep, layer), got ",
          names_of(options.norm)[static_cast<size_t>(options.norm)]);
    };
    require_bend(".activation", stage.activation);
    if (segmentation && (s > 0 || stage.middle > 0)) {  // else the decoder's last step is a convolution alone
      require_bend(".decoder", stage.decoder);
    }
  }
  // The input is of order 0: filters of one order alone make features of that order from it.
  const RingOptions first = rings_of(options, options.stages.front().kernel);
  const int64_t highest = dimension == 2 ? options.orders - 1 : options.degree;
  require<ConfigError>(!options.cut || is_carried(first, dimension, first.rings - 1, highest),
                       "model.steerable.stages[0].kernel: must have pixels that carry ",
                       dimension == 2 ? "order " : "degree ", highest, ", got ", first.size,
                       " (a larger kernel, fewer ", dimension == 2 ? "orders" : "degrees",
                       ", or model.steerable.cut=false)");
  // Lengths that a norm has made one say nothing.
  const NormLaw last = options.encoder.depth > 0 ? options.encoder.norm : options.norm;
  const bool constant = last == NormLaw::irrep || (last == NormLaw::joint && dimension == 2);
  require<ConfigError>(segmentation || options.head.kernel > 0 || !constant,
                       "model.steerable.head.kernel: must be a kernel after the norm '",
                       names_of(last)[static_cast<size_t>(last)], "', which makes all lengths equal, got 0");
  require<ConfigError>(segmentation || options.head.kernel > 0 || options.head.channels == 0,
                       "model.steerable.head.channels: must be 0 in classification without a last "
                       "convolution (head.kernel = 0), got ",
                       options.head.channels);
  require<ConfigError>(options.head.kernel != 1, "model.steerable.head.kernel: must be 0 or 2 to 31, got 1");
}

namespace {

bool bends_lengths(Activation activation) {
  return activation == Activation::relu || activation == Activation::gelu;
}

}  // namespace

void require_effects(const Options& o, const Interface* interface) {
  // What is not known yet is taken to be read.
  const bool known = interface != nullptr && !interface->outputs.empty();
  const bool plane = !known || interface->dimension == 2, space = !known || interface->dimension == 3;
  const bool masks = !known || interface->outputs.front().level == Level::node;
  const bool classes = !known || interface->outputs.front().level == Level::graph;
  bool lengths = o.encoder.depth > 0;  // whose MLPs bend them
  for (size_t s = 0; s < o.stages.size(); ++s) {
    const Stage& stage = o.stages[s];
    const bool decoded =
        masks && (s > 0 || stage.middle > 0);  // else the decoder's last step is a convolution alone
    lengths = lengths || bends_lengths(stage.activation) || (decoded && bends_lengths(stage.decoder));
    const Conditional options[] = {
        {"decoder", decoded,
         masks ? "in a first stage with middle = 0, which ends the decoder with a convolution"
               : "without a decoder, which segmentation alone has"}};
    refuse_unused("model.steerable.stages[" + std::to_string(s) + "]", stage, Stage{}, options);
  }
  const bool blocks = o.encoder.depth > 0, attends = blocks && o.attention;
  const RadialLaw radial = o.encoder.positions.radial;
  const bool conv_head = classes && o.head.kernel > 0, mlp_head = classes && o.head.hidden > 0;
  const char* without_blocks = "with encoder.depth = 0";
  const char* without_attention = blocks ? "with attention = false" : without_blocks;
  const char* without_space = "on images";
  const char* without_plane = "on volumes";
  const char* without_masks = "in classification";
  const char* without_classes = "in segmentation";
  const char* without_hidden = classes ? "with head.hidden = 0" : without_classes;
  const bool coarser =
      std::ranges::any_of(o.stages, [](const Stage& s) { return s.stride > 1 || s.pool > 1; });
  const Conditional options[] = {
      {"low_pass", coarser, "where no stage has a stride or a pool"},
      {"orders", plane, without_plane},
      {"coupling", plane, without_plane},
      {"degree", space, without_space},
      {"ratio", space, without_space},
      {"all_degrees", space, without_space},
      {"spline", o.profile == RingProfile::interpolated, "with another profile than \"interpolated\""},
      {"bias_init", lengths, "where no activation is relu or gelu"},
      {"attention", blocks, without_blocks},
      {"encoder.heads", attends, without_attention},
      {"encoder.scale", attends, without_attention},
      {"encoder.positions", attends, without_attention},
      {"encoder.skip_empty", attends, without_attention},
      {"encoder.hidden", blocks, without_blocks},
      {"encoder.norm", blocks, without_blocks},
      {"encoder.activation", blocks, without_blocks},
      {"encoder.positions.width", radial == RadialLaw::gaussian, "without radial = \"gaussian\""},
      {"encoder.positions.reach", radial == RadialLaw::table, "without radial = \"table\""},
      {"skips", masks, without_masks},
      {"head.scale_and_bias", masks, without_masks},
      {"head.kernel", classes, without_classes},
      {"head.irreps", masks || conv_head, "in classification with head.kernel = 0"},
      {"head.hidden", classes, without_classes},
      {"head.batch_norm", mlp_head, without_hidden},
      {"head.dropout", mlp_head, without_hidden}};
  refuse_unused("model.steerable", o, Options{}, options);
}

}  // namespace weyl::steerable
