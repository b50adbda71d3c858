#include "weyl/models/platonic/options.h"

namespace weyl::platonic {

void fields(Fields& f, RopeOptions& o) {
  f("sigma", o.sigma, "size of the frequencies, in radians per unit of length", {0, 1e6});
  f("init", o.init, "initial frequencies: Gaussian, or a spiral that is the same in every layer");
  f("learned", o.learned, "train the frequencies");
}

void fields(Fields& f, ApeOptions& o) {
  f("sigma", o.sigma, "standard deviation of the frequencies, in radians per unit of length", {0, 1e6});
  f("learned", o.learned, "train the frequencies");
}

void fields(Fields& f, Options& o) {
  f("group", o.group,
    "the frames: trivial, tetrahedron, octahedron, icosahedron, each with _full; cyclic_n, dihedral_n, ...");
  f("axis", o.axis, "rotation axis of cyclic_3d_n and dihedral_3d_n");
  f("generators", o.generators,
    "a group of your own: orthogonal matrices, row by row, that generate it; replaces `group`");
  f("width", o.width, "channels of a node, all frames together (a multiple of the group's order)", {1, 1e6});
  f("heads", o.heads,
    "attention heads, all frames together (a multiple of the group's order that divides the width)",
    {1, 1e6});
  f("blocks", o.blocks, "transformer blocks", {0, 1000});
  f("ffn_factor", o.ffn_factor, "hidden width of the feed-forward part, in widths", {0, 64});
  f("activation", o.activation, "nonlinearity of the feed-forward part");
  f("norm", o.norm, "norm over the channels of one frame");
  f("attention", o.attention, "softmax (quadratic in nodes), or linear: a dynamic convolution");
  f("scores", o.scores, "attention pattern of each frame by itself, or one for all frames (softmax only)");
  f("linear_norm", o.linear_norm,
    "linear attention divides by the typical number of nodes, or by the graph's own");
  f("use_key", o.use_key, "learned keys; without them keys are constant before their rotation");
  f("rope", o.rope,
    "rotary position encoding; `rope = false` switches it off, and then keys are always learned");
  f("rope_on_values", o.rope_on_values, "rotate values too, and the result back");
  f("ape", o.ape, "absolute position encoding; off by default, since it knows the origin (see `centre`)");
  f("centre", o.centre,
    "count positions from each graph's centroid: exact under translations, also with `ape`");
  f("position_vector", o.position_vector,
    "give each node its position as one more vector; exact under translations with `centre` alone");
  f("layer_scale", o.layer_scale, "initial value of a learned factor per channel on each residual branch",
    {-1e3, 1e3});
  f("dropout", o.dropout,
    "dropout of the outputs of both residual branches (attention after its output projection, feed-forward "
    "after its "
    "second matrix) and of the hidden layer of the feed-forward part; attention weights keep all",
    {0, 0.99});
  f("drop_path", o.drop_path, "probability that a residual branch is skipped", {0, 0.99});
  f("drop_path_by", o.drop_path_by,
    "what drop path skips as one: a graph, or a node (the authors' ragged code)");
  f("pooling", o.pooling, "how nodes become a graph; authors_* divide twice, for imported weights only");
  f("ffn_readout", o.ffn_readout, "readout with a hidden layer");
  f("both_readouts", o.both_readouts,
    "build the scalar and the vector readout even where one has no output, as the authors do");
  f("authors_tables", o.authors_tables,
    "round the group's matrices to float32, as the authors' weights were trained");
}

}  // namespace weyl::platonic
