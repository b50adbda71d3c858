#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// Facts about samples that their shapes do not tell, such as the distances between the cells of grids, the names of
/// channels and classes, and the charges of molecules. A model is right only for samples with the facts of its training
/// data. Empty or absent: not known.
struct SampleFacts {
  /// The distances of cells along each axis, in order. Where the samples differ: the least and the largest.
  struct Spacing {
    std::vector<double> least, most;  // one number an axis

    bool operator==(const Spacing&) const = default;
  };
  std::optional<Spacing> spacing;
  std::string unit;                   // of the spacing
  std::vector<std::string> channels;  // in their order: "FLAIR", "T1w"; "red", "green", "blue"
  std::vector<std::string> classes;   // by number
  /// The whole numbers that frames of atoms had, ascending, by name: -1, 0 for "charge".
  std::map<std::string, std::vector<int64_t>> states;

  bool empty() const { return !spacing && channels.empty() && classes.empty() && states.empty(); }
  bool operator==(const SampleFacts&) const = default;
};

/// Spacings within this share of one another count as equal: headers and resampling round them, and a network does not
/// depend on a hundredth.
constexpr double spacing_tolerance = 0.03;

/// Which facts are compared. Classes say nothing of data without labels, nor of a model's inputs alone.
enum class FactsCompared { inputs, inputs_and_classes };

/// The first contradiction between the facts of a model and of data, in words: the model's, then the data's. "": none.
/// Spacings must lie in the model's range on every axis, within spacing_tolerance; names must be the same in the same
/// order; states must be among the model's. A fact that one side does not know contradicts nothing.
std::string contradiction(const SampleFacts& model, const SampleFacts& data, FactsCompared compared);

/// Why two models cannot both be right for the same data, in words. "": they can. Their ranges of spacing must overlap
/// within spacing_tolerance, their names must be the same in the same order, and their states must be the same. A fact
/// that one side does not know contradicts nothing.
std::string disagreement(const SampleFacts& one, const SampleFacts& other);

/// The facts of the samples of both together: the range that covers both spacings, the states of both, and the names of
/// `one`, or of `other` where `one` has none.
SampleFacts covering(const SampleFacts& one, const SampleFacts& other);

/// The facts as text for people: "cells of 3.5 x 3.5 x 3.5 mm; channels FLAIR, T1w; classes background, tumour". "":
/// nothing is known.
std::string description(const SampleFacts& facts);

/// The facts as JSON text ("" for none), and back. DataError naming `where`: the text is no JSON, a spacing is not a
/// positive range, or states are not ascending whole numbers.
std::string to_json_text(const SampleFacts& facts);
SampleFacts sample_facts(std::string_view json, std::string_view where);

}  // namespace weyl
