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

void fields(Fields& f, TestTimeRotations& o) {
  f("count", o.count,
    "1: none; 24 in space: the rotations of the cube; else the multiples of a turn / count: of the plane, in "
    "space about `axis`. A grid turns exactly by 1, 2, 4 and 24, points by any",
    {1, 360});
  f("axis", o.axis, "in space, unless there are 24");
  f("random", o.random,
    "of points: rotations drawn uniformly, the same for all inputs, beside the input as it is");
}

void fields(Fields& f, ClassificationOptions& o) {
  f("label_smoothing", o.label_smoothing, "share of every label that is spread over all classes", {0, 1});
  f("class_weights", o.class_weights, "of the classes in the loss, one each; none: all alike", {0, 1e9});
  f("names", o.names, "of the classes in their order, for reports; none: their numbers");
  f.renamed("turns", "test_time_rotations");
  f("test_time_rotations", o.test_time_rotations,
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
  f.renamed("turns", "test_time_rotations");
  f("test_time_rotations", o.test_time_rotations,
    "rotations at test time, in validation too: class probabilities are averaged over them");
  f("window", o.window, "prediction window by window, for inputs larger than the memory of the device");
}

void fields(Fields& f, ForceFieldOptions& o) {
  f("forces", o.forces,
    "gradient: minus the derivative of the energy, conservative; direct: an output of the model, not "
    "conservative; none: energies alone");
  f("stress", o.stress,
    "the derivative of the energy by strain over the volume, of frames periodic in space");
  f("reference", o.reference,
    "energy taken off before learning: none, one number an atom, or one for each element, by least squares");
  f("energy_weight", o.energy_weight, "of energies in the loss; 0: energies are no labels", {0, 1e9});
  f("force_weight", o.force_weight, "of forces in the loss; 0: forces are no labels", {0, 1e9});
  f("stress_weight", o.stress_weight, "of stress in the loss; 0: stress is no label", {0, 1e9});
  f("energy_loss", o.energy_loss, "what an error of energy costs");
  f("force_loss", o.force_loss, "what an error of a component of a force costs");
  f("stress_loss", o.stress_loss, "what an error of a component of stress costs");
  f("huber_delta", o.huber_delta, "where `huber` goes from squares to lines, in units of the training forces",
    {1e-9, 1e9});
  f("energy_per_atom", o.energy_per_atom,
    "errors of energies in the loss are divided by the number of atoms: graphs of all sizes count alike");
  f("units", o.units, "of energies in reports: meV, eV, kcal/mol, ...; forces are in this per length");
}

void fields(Fields& f, PropertyOptions& o) {
  f("targets", o.targets, "labels of graphs to be predicted, by name");
  f("reference", o.reference,
    "taken off before learning. Of extensive targets: none, one number a node, or one for each type, by "
    "least "
    "squares; of others: none, or the mean");
  f("normalise", o.normalise, "outputs in units of the standard deviation of what is to be predicted");
  f("loss", o.loss, "what an error costs");
  f("huber_delta", o.huber_delta, "where `huber` goes from squares to lines, in units of the deviation",
    {1e-9, 1e9});
  f.renamed("turns", "test_time_rotations");
  f("test_time_rotations", o.test_time_rotations,
    "rotations at test time, in validation too, over which predictions are averaged");
}

void fields(Fields& f, TaskOptions& o) {
  f.variant("name", o.task, "what is learned; its options stand in the table of its name");
}

std::vector<std::string> notes_of(const TaskOptions& options) {
  const auto* potential = std::get_if<ForceFieldOptions>(&options.task);
  if (potential == nullptr || potential->forces != ForceSource::direct) {
    return {};
  }
  return {
      "forces are a direct output of the model, not the derivative of its energy: not conservative, their "
      "sum is not zero, and molecular dynamics with them does not keep the energy"};
}

}  // namespace weyl
