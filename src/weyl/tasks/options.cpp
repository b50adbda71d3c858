#include "weyl/tasks/options.h"

#include "weyl/config/unused_options.h"

namespace weyl {

void fields(Fields& f, TrajectoryOptions& o) {
  f("baseline", o.baseline, "the simple answer that the model corrects");
  f("normalise", o.normalise, "outputs in units of the root mean square of what is to be predicted");
}

void fields(Fields& f, CompletionOptions& o) {
  f("answer", o.answer,
    "what a model gives: a correction, learned by the logarithm of what it leaves, or the element itself, learned by the Frobenius "
    "norm, which no chart bounds (the lie system's `factor` says how it is made)");
  f("whole", o.whole,
    "of some sequences, those without a token of flank 1, nothing is missing, and the model learns to say so: `missing`, the "
    "logarithm of the odds that an element is");
  f("gap_weight", o.gap_weight, "of the part of the loss that asks which tokens stand beside the gap",
    {0, 1e6});
  f("pose_weight", o.pose_weight, "of the part of the loss that asks what stands in it", {0, 1e6});
}

void fields(Fields& f, PoseCorrectionOptions& o) {
  f("angle_weight", o.angle_weight,
    "of rotations in the loss, beside translations; both are in units of what is to be corrected", {0, 1e6});
}

void fields(Fields& f, RegistrationOptions& o) {
  f("channels", o.channels, "numbers of each token by which it is matched with those of the other copy",
    {1, 1024});
}

void fields(Fields& f, TestTimeRotations& o) {
  f("count", o.count,
    "1: none; 24 in space: the rotations of the cube; else the multiples of a turn / count: of the plane, in "
    "space about `axis`. A grid turns exactly by 1, 2, 4 and 24, points by any; in classification volumes of shapes too, which "
    "are then made anew of the turned shape",
    {1, 360});
  f("axis", o.axis, "in space, unless there are 24");
  f("random", o.random,
    "of points: rotations drawn uniformly, the same for all inputs, beside the input as it is");
}

void fields(Fields& f, TestTimeMirrors& o) {
  f("axes", o.axes, "axes along which inputs are mirrored, by number from 0; none: all", {0, 2});
}

void fields(Fields& f, LargestComponent& o) {
  f("classes", o.classes, "the classes of which the largest part alone is kept; none: all but 0", {1, 1e6});
}

void fields(Fields& f, ClassificationOptions& o) {
  f("loss", o.loss,
    "cross-entropy of the softmax, or binary: of the sigmoid of each class by itself, the mean over classes");
  f("label_smoothing", o.label_smoothing, "share of every label that is spread over all classes", {0, 1});
  f("class_weights", o.class_weights, "of the classes in the loss, one each; none: all alike", {0, 1e9});
  f("names", o.names, "of the classes in their order, for reports; none: their numbers");
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
}

void fields(Fields& f, SegmentationOptions& o) {
  f("cross_entropy", o.cross_entropy, "weight of the cross-entropy in the loss", {0, 1e6});
  f("focal", o.focal, "weight of the focal loss, alpha (1 - p)^gamma times the cross-entropy", {0, 1e6});
  f("dice", o.dice,
    "weight of the Dice loss, 1 - Dice of the probabilities of all classes, of images and volumes of all but 0",
    {0, 1e6});
  f("focal_alpha", o.focal_alpha, "factor of the focal loss", {0, 1e6});
  f("focal_gamma", o.focal_gamma, "how little the focal loss asks of what is nearly right", {0, 100});
  f("class_weights", o.class_weights,
    "of the classes in cross-entropy and focal loss, one each; none: all alike", {0, 1e9});
  f("names", o.names, "of the classes in their order, for reports; none: their numbers");
  f("regions", o.regions,
    "classes taken together, scored beside the classes; `dice` is then their mean. A region of one class may have its name");
  f("tolerance", o.tolerance,
    "how far apart surfaces may be that `surface_dice` counts as one, in the unit of length of the data (mm of volumes)",
    {0, 1e6});
  f("hd95", o.hd95,
    "the larger of the 95th percentiles of the distances from one surface to the other and back, or that of all distances "
    "together, as medpy has it");
  f("test_time_rotations", o.test_time_rotations,
    "rotations at test time, in validation too: class probabilities are averaged over them");
  f("test_time_mirrors", o.test_time_mirrors,
    "mirror images at test time, in validation too: class probabilities of each window are averaged over all mirror images "
    "along the axes, 8 of volumes");
  f.also_called("test_time_mirrors", {"mirror_axes", "tta", "use_mirroring", "test_time_augmentation"});
  f("window", o.window, "prediction window by window, for inputs larger than the memory of the device");
  f("largest_component", o.largest_component,
    "keeps of every class but 0 only the largest part whose cells have faces (of images, sides) in common; what else was "
    "of the class becomes 0. In validation, eval and predict; probabilities stay as they are");
}

void fields(Fields& f, ForceFieldOptions& o) {
  f("forces", o.forces,
    "gradient: minus the derivative of the energy, conservative; direct: an output of the model, not "
    "conservative; none: energies alone");
  f("stress", o.stress,
    "the derivative of the energy by strain over the volume, of frames periodic in space");
  f("reference", o.reference,
    "energy taken off before learning: none, one number an atom, or one for each element: that of its isolated "
    "atom where the training data have one, else by least squares");
  f("references", o.references,
    "file of the energies of single atoms, taken off in place of these: lines of a symbol, a number "
    "and, unless it is that of the labels, a unit; none: as `reference` says");
  f("normalise", o.normalise,
    "outputs and the loss in units of the root mean square of the training forces (without forces: of what "
    "energies an atom are left); false: in eV and eV/Angstrom");
  f("pooled", o.pooled,
    "reads the energy from the pooled features of a graph, as other programs do, not as a sum over its "
    "atoms; then nothing makes it grow with the number of atoms");
  f("energy_weight", o.energy_weight, "of energies in the loss; 0: energies are no labels", {0, 1e9});
  f("force_weight", o.force_weight, "of forces in the loss; 0: forces are no labels", {0, 1e9});
  f("stress_weight", o.stress_weight, "of stress in the loss; 0: stress is no label", {0, 1e9});
  f("energy_loss", o.energy_loss, "what an error of energy costs");
  f("force_loss", o.force_loss,
    "what an error of a component of a force costs; norm: the length of an atom's error, not its square");
  f("stress_loss", o.stress_loss, "what an error of a component of stress costs");
  f("huber_delta", o.huber_delta,
    "where `huber` goes from squares to lines, in units of the training forces (eV and eV/Angstrom with "
    "normalise = false)",
    {1e-9, 1e9});
  f("energy_per_atom", o.energy_per_atom,
    "errors of energies in the loss are divided by the number of atoms: graphs of all sizes count alike");
  f("units", o.units, "of energies in reports: meV, eV, kcal/mol, ...; forces are in this per length");
}

void fields(Fields& f, HeldSum& o) {
  f("target", o.target, "numbers of nodes, such as charges; must be given");
  f("to", o.to, "the feature of graphs that their sum is, such as charge; empty: zero");
}

void fields(Fields& f, PropertyOptions& o) {
  f("targets", o.targets,
    "labels of graphs or nodes to be predicted, by name: numbers, vectors, symmetric tensors");
  f("weights", o.weights, "of the targets in the loss, in their order; none: all count alike", {0, 1e9});
  f("held", o.held,
    "targets of nodes whose sum over a graph is known, and holds exactly for what is predicted");
  f("reference", o.reference,
    "taken off before learning. Of extensive targets that are not `pooled`, and of nodes: none, one number a "
    "node, or one for each type, by least squares; of others: none, or the mean; of tensors their diagonal's, of "
    "vectors none");
  f("normalise", o.normalise,
    "outputs in units of the standard deviation of what is to be predicted, of vectors and tensors of the root mean "
    "square of their components");
  f("pooled", o.pooled,
    "reads extensive targets from the pooled features of a graph, as other programs do, not as sums over its "
    "nodes; then nothing makes them grow with the number of nodes");
  f("loss", o.loss, "what an error costs");
  f("huber_delta", o.huber_delta, "where `huber` goes from squares to lines, in units of the deviation",
    {1e-9, 1e9});
  f("test_time_rotations", o.test_time_rotations,
    "rotations at test time, in validation too, over which predictions are averaged");
}

void fields(Fields& f, RigidMotionOptions& o) {
  f("baseline", o.baseline,
    "the simple answer that the model corrects: none, or that objects go on as the velocities of their nodes "
    "say");
  f("normalise", o.normalise,
    "outputs in units of the root mean square of the displacements and turns of the training set, the loss "
    "in units of the mean square of what its vertices move");
  f("norm_weight", o.norm_weight,
    "of the root of each object's mean square, added to the loss: with it bodies in free flight, whose "
    "errors are "
    "small, are not left to pay for guesses at the few that collide; in metres with normalise = false",
    {0, 1e9});
  f("rollout", o.rollout,
    "steps that predictions go, each from where the one before has left the objects; measured are as many as "
    "the labels have",
    {1, 1e5});
}

void fields(Fields& f, WeightCourse& o) {
  f("start", o.start, "when the training begins", {0, 1e6});
  f("end", o.end, "when it ends", {0, 1e6});
}

void fields(Fields& f, RelaxationOptions& o) {
  f("target", o.target,
    "a number of graphs that is learned with the places, by its label; none: places alone");
  f("displacement_weight", o.displacement_weight,
    "of the displacements in the loss; they are no output where this and distance_weight are 0");
  f("distance_weight", o.distance_weight, "of the distances between the predicted places in the loss");
  f("normalise", o.normalise,
    "displacements and distances in the loss in units of the root mean square of the displacements; false: in "
    "the unit of lengths");
}

void fields(Fields& f, TaskOptions& o) {
  f.also_called("name", {"type", "task"});
  f.variant("name", o.task, "what is learned; its options stand in the table of its name");
}

namespace {

constexpr const char* without_count = "with test_time_rotations.count = 1";
constexpr const char* without_huber = "where no loss is \"huber\"";

/// What the rotations themselves say; whether they are in space only the data know.
Conditional axis_of(const TestTimeRotations& r) {
  return {"test_time_rotations.axis", r.count > 1 && r.count != 24 && !r.random,
          r.count == 1 ? without_count
          : r.random   ? "with test_time_rotations.random = true"
                       : "with the 24 rotations of the cube"};
}
Conditional random_of(const TestTimeRotations& r) {
  return {"test_time_rotations.random", r.count > 1, without_count};
}

void refuse(const TrajectoryOptions&) {}

void refuse(const CompletionOptions&) {}

void refuse(const PoseCorrectionOptions&) {}

void refuse(const RegistrationOptions&) {}

void refuse(const RigidMotionOptions&) {}

void refuse(const ClassificationOptions& o) {
  const Conditional options[] = {
      {"class_weights", o.loss == ClassLoss::cross_entropy, "with loss = \"binary\""},
      axis_of(o.test_time_rotations),
      random_of(o.test_time_rotations)};
  refuse_unused("task.classification", o, ClassificationOptions{}, options);
}

void refuse(const SegmentationOptions& o) {
  const bool windows = !o.window.size.empty();
  const Conditional options[] = {
      {"focal_alpha", o.focal > 0, "with focal = 0"},
      {"focal_gamma", o.focal > 0, "with focal = 0"},
      {"class_weights", o.cross_entropy > 0 || o.focal > 0, "with cross_entropy = 0 and focal = 0"},
      {"window.overlap", windows, "without window.size"},
      axis_of(o.test_time_rotations),
      random_of(o.test_time_rotations)};
  refuse_unused("task.segmentation", o, SegmentationOptions{}, options);
}

void refuse(const ForceFieldOptions& o) {
  const bool energies = o.energy_weight > 0, forces = o.forces != ForceSource::none && o.force_weight > 0,
             stress = o.stress && o.stress_weight > 0;
  const auto huber = [](bool learned, auto law) { return learned && law == decltype(law)::huber; };
  const char* without_forces =
      o.forces == ForceSource::none ? "with forces = \"none\"" : "with force_weight = 0";
  const char* without_stress = o.stress ? "with stress_weight = 0" : "with stress = false";
  const Conditional options[] = {
      // A weight of 0 says nothing else than forces = "none" and stress = false do.
      {"force_weight", o.forces != ForceSource::none || o.force_weight == 0, without_forces},
      {"references", o.reference == Reference::elements, "without reference = \"elements\""},
      {"stress_weight", o.stress || o.stress_weight == 0, without_stress},
      {"energy_loss", energies, "with energy_weight = 0"},
      {"energy_per_atom", energies, "with energy_weight = 0"},
      {"force_loss", forces, without_forces},
      {"stress_loss", stress, without_stress},
      {"huber_delta",
       huber(energies, o.energy_loss) || huber(forces, o.force_loss) || huber(stress, o.stress_loss),
       without_huber}};
  refuse_unused("task.force_field", o, ForceFieldOptions{}, options);
}

void refuse(const PropertyOptions& o) {
  const Conditional options[] = {{"huber_delta", o.loss == ErrorLaw::huber, without_huber},
                                 {"weights", o.targets.size() > 1, "of one target alone"},
                                 axis_of(o.test_time_rotations),
                                 random_of(o.test_time_rotations)};
  refuse_unused("task.property", o, PropertyOptions{}, options);
}

void refuse(const RelaxationOptions& o) {
  const auto counts = [](const WeightCourse& w) { return w.start > 0 || w.end > 0; };
  const Conditional options[] = {{"normalise", counts(o.displacement_weight) || counts(o.distance_weight),
                                  "with displacement_weight and distance_weight = 0"}};
  refuse_unused("task.relaxation", o, RelaxationOptions{}, options);
}

}  // namespace

void require_effects(const TaskOptions& options) {
  std::visit([](const auto& o) { refuse(o); }, options.task);
}

std::vector<std::string> notes_of(const TaskOptions& options) {
  const auto* potential = std::get_if<ForceFieldOptions>(&options.task);
  std::vector<std::string> notes;
  if (potential == nullptr) {
    return notes;
  }
  const bool direct = potential->forces == ForceSource::direct;
  if (direct) {
    notes.emplace_back(
        "forces are a direct output of the model, not the derivative of its energy: not conservative, their "
        "sum is not zero, and molecular dynamics with them does not keep the energy");
  }
  if (potential->energy_weight == 0) {
    notes.emplace_back(
        direct ? "energies were not learned (energy_weight = 0): they say nothing"
               : "energies were not learned (energy_weight = 0): of one composition their differences follow "
                 "from forces, each composition has a constant of its own that nothing says");
  }
  return notes;
}

}  // namespace weyl
