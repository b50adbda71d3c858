#include "weyl/models/lie/options.h"

#include <algorithm>

#include "weyl/algebra/lie/group_numbers.h"
#include "weyl/carriers/quantity.h"
#include "weyl/config/unused_options.h"
#include "weyl/models/shared_options.h"

namespace weyl::lie {

void fields(Fields& f, Options& o) {
  f("variant", o.variant,
    "score of two tokens: G, the weighted norm of the logarithm of their relative pose; C, a small network "
    "on it; A, queries and keys of the raw numbers, the control without the symmetry");
  also_called_as_usual(f);
  f("width", o.width, "channels of a token", {1, 1e6});
  f("heads", o.heads, "attention heads (divide the width)", {1, 1e6});
  f("blocks", o.blocks, "transformer blocks", {0, 1000});
  f("ffn_factor", o.ffn_factor, "hidden width of the feed-forward part, in widths", {1, 64});
  f("metric", o.metric,
    "what the score of G weighs: a weight for each block of the algebra; one for all; or a full metric w' M w, "
    "E (E + 1) / 2 numbers a head, which stores all pairs");
  f("directed", o.directed,
    "the score of G gets a learned linear term in w as well, one number a coordinate and head, so that a pair's two "
    "directions score differently");
  f("order", o.order,
    "what the order of tokens in a sample says: nothing; bias: scores get p (j - i) + q |j - i|, two learned numbers a "
    "head; causal: a token attends to those before it alone. With either, tokens may no longer be permuted (G and C)");
  f("neighbours", o.neighbours,
    "a token attends to those alone whose w is shorter than this, |w| < neighbours, all coordinates weighing the same; 0: to "
    "all. For long sequences of SE(2) and SE(3), whose time then grows with the tokens (G and C)",
    {0, 1e6});
  f("nearest", o.nearest,
    "a token attends to so many of the others alone, those whose w is shortest (and those as short as the last of them); 0: to "
    "all. With neighbours, of those within it; in time and memory as there (G and C)",
    {0, 1e6});
  f("chart", o.chart,
    "where the chart of the logarithm ends: leave such pairs out (affine groups), take (g - 1/g)/2 or the "
    "logarithms of the polar factors in its place, for every pair, or fail");
  f("factor", o.factor,
    "outputs that are elements, g Delta of a token g: Delta = exp(delta), or direct, a rotation and a symmetric factor without a chart, "
    "for answers that are no exponential (task.completion.answer = \"element\")");
  f("move_tokens", o.move_tokens,
    "each block but the last moves the tokens too, g -> g exp(delta), and the next one sees them moved (not "
    "in the paper; G and C)");
  f("length_scale", o.length_scale,
    "the length that counts as much as one radian, in the unit of the poses: about the distance of neighbours",
    {1e-9, 1e9});
}

void require_effects(const Options& o, const Interface* interface) {
  const bool poses = o.variant != Variant::A;
  const bool elements =
      interface == nullptr ||
      std::ranges::any_of(interface->outputs, [](const Quantity& q) { return q.kind == Kind::element; });
  const bool places = interface == nullptr || !interface->group ||
                      matrix_size(*interface->group) > dimension_of(*interface->group);
  const bool charted = interface == nullptr || !interface->group || !is_rigid(*interface->group);
  const Conditional options[] = {
      {"metric", o.variant == Variant::G, "without variant = \"G\", whose score it is"},
      {"directed", o.variant == Variant::G, "without variant = \"G\", whose score it is"},
      {"order", poses, "with variant = \"A\", which sees all tokens alike"},
      {"neighbours", poses, "with variant = \"A\", which takes no logarithms"},
      {"nearest", poses, "with variant = \"A\", which takes no logarithms"},
      {"chart", poses && charted,
       poses ? "on rigid motions, all of which have a logarithm"
             : "with variant = \"A\", which takes no logarithms"},
      {"factor", elements, "without an output that is an element"},
      {"move_tokens", poses && o.blocks > 1,
       poses ? "with fewer than two blocks" : "with variant = \"A\", which sees poses once"},
      {"length_scale", places, "of rotations, which have no lengths"}};
  refuse_unused("model.lie", o, Options{}, options);
}

}  // namespace weyl::lie
