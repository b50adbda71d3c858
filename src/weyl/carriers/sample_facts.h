#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// What is known of samples that their shapes do not tell, and a model is right for these alone: how far apart the
/// cells of its grids were, what their channels and its classes are called, which charges its molecules had. Empty or absent: not known.
struct SampleFacts {
  /// Distances of cells along each axis, in their order; where the samples differ, the least and the largest.
  struct Spacing {
    std::vector<double> least, most;  // one number an axis

    bool operator==(const Spacing&) const = default;
  };
  std::optional<Spacing> spacing;
  std::string unit;                   // of the spacing
  std::vector<std::string> channels;  // in their order: "FLAIR", "T1w"; "red", "green", "blue"
  std::vector<std::string> classes;   // by number
  /// Whole numbers that frames of atoms had, ascending, by name: the "charge" -1, 0.
  std::map<std::string, std::vector<int64_t>> states;

  bool empty() const { return !spacing && channels.empty() && classes.empty() && states.empty(); }
  bool operator==(const SampleFacts&) const = default;
};

/// Spacings are one when they are within this share of one another: headers and resampling round, and what a net
/// has learned does not hang on a hundredth.
constexpr double spacing_tolerance = 0.03;

/// Which of the facts are compared: of data without labels, and of what a model is given alone, classes say nothing.
enum class FactsCompared { inputs, inputs_and_classes };

/// Where data are not what a model was trained on, in words: the model's facts, then the data's; "": nowhere. Spacings
/// must be in the model's range within spacing_tolerance on every axis, names the same in the same order, states among
/// the model's; what one side does not know contradicts nothing.
std::string contradiction(const SampleFacts& model, const SampleFacts& data, FactsCompared compared);

/// Where two models cannot be right for the same data, in words: "": nowhere. Their ranges of spacing must have values
/// in common, within spacing_tolerance, and their names be the same in the same order, and their states the same.
std::string disagreement(const SampleFacts& one, const SampleFacts& other);

/// What holds for samples of both kinds: the range that covers both spacings, the states of both; names of `one` where
/// it has some, else of `other`.
SampleFacts covering(const SampleFacts& one, const SampleFacts& other);

/// As text for people: "cells of 3.5 x 3.5 x 3.5 mm; channels FLAIR, T1w; classes background, tumour"; "": nothing is
/// known.
std::string description(const SampleFacts& facts);

/// As JSON text, "" for no facts, and back. DataError naming `where`: no JSON, or numbers that no spacing can be.
std::string to_json_text(const SampleFacts& facts);
SampleFacts sample_facts(std::string_view json, std::string_view where);

}  // namespace weyl
