#include "weyl/tasks/options.h"

namespace weyl {

void fields(Fields& f, TrajectoryOptions& o) {
  f("baseline", o.baseline, "the simple answer that the model corrects");
  f("normalise", o.normalise, "outputs in units of the root mean square of what is to be predicted");
}

void fields(Fields& f, CompletionOptions& o) {
  f("gap_weight", o.gap_weight, "of the part of the loss that asks which tokens stand beside the gap",
    {0, 1e6});
  f("pose_weight", o.pose_weight, "of the part of the loss that asks what stands in it", {0, 1e6});
}

void fields(Fields& f, TestTurns& o) {
  f("count", o.count,
    "1: none; 24 in space: the rotations of the cube; else the multiples of a turn / count: of the plane, in "
    "space about `axis`. A grid turns exactly by 1, 2, 4 and 24, points by any",
    {1, 360});
  f("axis", o.axis, "in space, unless there are 24");
}

void fields(Fields& f, ClassificationOptions& o) {
  f("label_smoothing", o.label_smoothing, "share of every label that is spread over all classes", {0, 1});
  f("class_weights", o.class_weights, "of the classes in the loss, one each; none: all alike", {0, 1e9});
  f("names", o.names, "of the classes in their order, for reports; none: their numbers");
  f("turns", o.turns,
    "rotations at test time, in validation too: class probabilities are averaged over them");
}

void fields(Fields& f, Region& o) {
  f("name", o.name, "its metrics are dice_<name>, ...; must be given");
  f("labels", o.labels, "the classes it is made of", {0, 1e6});
}

void fields(Fields& f, WindowOptions& o) {
  f("size", o.size,
    "cells along each axis, one number: along all; none: the whole input at once. Smaller inputs are padded "
    "with zeros",
    {1, 1e6});
  f("overlap", o.overlap, "of neighbouring windows, as a share of their size, at least", {0, 0.95});
  f("blending", o.blending,
    "how much a cell says by its place in the window: all alike, falling linearly from the centre, or as a "
    "Gaussian of an eighth of the window");
}

void fields(Fields& f, SegmentationOptions& o) {
  f("cross_entropy", o.cross_entropy, "weight of the cross-entropy in the loss", {0, 1e6});
  f("focal", o.focal, "weight of the focal loss, alpha (1 - p)^gamma times the cross-entropy", {0, 1e6});
  f("dice", o.dice, "weight of the Dice loss, 1 - Dice of the probabilities", {0, 1e6});
  f("focal_alpha", o.focal_alpha, "factor of the focal loss", {0, 1e6});
  f("focal_gamma", o.focal_gamma, "how little the focal loss asks of what is nearly right", {0, 100});
  f("dice_smooth", o.dice_smooth, "pixels added to both sides of the fraction in the Dice loss", {0, 1e9});
  f("dice_background", o.dice_background, "class 0 counts in the Dice loss too");
  f("class_weights", o.class_weights,
    "of the classes in cross-entropy and focal loss, one each; none: all alike", {0, 1e9});
  f("names", o.names, "of the classes in their order, for reports; none: their numbers");
  f("regions", o.regions, "classes taken together, scored beside the classes; `dice` is then their mean");
  f("turns", o.turns,
    "rotations at test time, in validation too: class probabilities are averaged over them");
  f("window", o.window, "prediction window by window, for inputs larger than the memory of the device");
}

void fields(Fields& f, TaskOptions& o) {
  f.variant("name", o.task, "what is learned; its options stand in the table of its name");
}

}  // namespace weyl
