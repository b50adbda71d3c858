#pragma once

#include <memory>
#include <string>

#include "weyl/saved/predictor.h"

namespace weyl {

/// Pairs of label and prediction of the test split, of each label that the task predicts as it stands, for parity plots:
/// `folder`/parity_<label>.csv, two columns named with their units, at most 4000 pairs that are drawn at random with a fixed
/// seed; and parity_<label>.json, what all pairs come to: `mae` {value, unit}, `r2`, `pairs` (whose label is known), and
/// `drawn`, `of`, `seed`, `note`. Elements of Lie groups are seen from the first pose beside the gap, g_f^-1 g, and come as their
/// parts, each with a unit of its own: parity_<label>_translation (in the data's unit of length), _rotation (rad; of the
/// rotation vectors that are one rotation the nearer to the label), _scale and _shear (logarithms). Nothing is written for
/// sets whose labels are all classes.
void write_parity(const Predictor& predictor, std::shared_ptr<const Dataset> test, const std::string& folder);

/// Writes pictures of up to `count` samples of a segmentation, evenly taken, as FOLDER/overlay_<i>.safetensors with
/// `image` (H, W, 3), `truth` and `prediction` (H, W), u8, and in the metadata the names of the classes, one a line,
/// a `title` with case, plane and slice, and the sample's mean Dice (`predicted`). A volume shows the slice along the last
/// axis with the most foreground, first axis to the right and second upwards. Nothing for other tasks.
void write_overlays(const Predictor& predictor, const Dataset& test, const std::string& folder,
                    int64_t count = 4);

/// Writes such a picture of one sample; its title begins with `begin`. False, and nothing is written, for other tasks. A volume
/// without foreground shows the slice with most of the prediction.
bool write_overlay(const Predictor& predictor, const Dataset& data, int64_t sample, const std::string& path,
                   const std::string& begin = "");

/// Writes how the tokens of one sample of a grid attend (Model::attention_maps; figure 3 of the steerable transformer's paper) as
/// FOLDER/attention_<sample>.safetensors: `pictures` (K, H, W, 3), u8, a row for each layer: the sample, each head, the mean of
/// the heads; in the metadata `words` of each picture, one a line, `columns` and a `title`. A volume shows the slice along the
/// last axis with the most that is not background (carriers/background.h). ConfigError: the model has no attention over grids, or
/// there is no such sample.
void write_attention(const Predictor& predictor, const Dataset& test, const std::string& folder,
                     int64_t sample);

/// Writes up to `count` samples of bodies in motion, evenly taken, as FOLDER/<name>_<i>.safetensors, as they were and as
/// the model says (predict/body_film.h), with a title of the sample's number: what read_film reads (app/draw/film.h). Nothing
/// for other tasks. Returns how many.
int64_t write_films(const Predictor& predictor, const Dataset& test, const std::string& folder,
                    const std::string& name = "film", int64_t count = 3);

}  // namespace weyl
