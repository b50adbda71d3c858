#pragma once

#include <string>
#include <vector>

namespace weyl {

/// Draws what a run's files hold, as .png and .svg into `out`, each with the run's name and its figures of merit:
/// learning_curve (metrics.csv: the training loss and up to three metrics, shown_metrics, on axes of their own), and of
/// each label parity_<label> (plots/parity_<label>.csv, written at the end of training, whose two columns name the axes, and
/// parity_<label>.json, which has the title's figures); units of metrics are those of result.json;
/// of tasks with classes confusion (plots/confusion.csv: the classes' names, then their counts, a row for each true
/// class); of segmentations overlay_<i>.png (plots/overlay_<i>.safetensors: see app/draw/picture_data.h); of bodies in motion film_<i>, them
/// at several times (plots/film_<i>.safetensors: see app/draw/picture_data.h), and rollout_<i> (rollout_<i>.safetensors in the folder
/// `rollouts`, which is plots where it is empty); of attention attention_<sample>.png (attention_<sample>.safetensors in the folder
/// `attention`, likewise). Returns the files.
/// DataError when the run has no metrics.csv with rows, or when its best model cannot be read.
std::vector<std::string> draw_run(const std::string& run, const std::string& out,
                                  const std::string& rollouts = "", const std::string& attention = "");

/// Draws PATH, what write_overlay (app/draw/picture_data.h) has written, as PICTURE.png. `name` ends its title. DataError: the file
/// cannot be read.
void draw_overlay(const std::string& path, const std::string& name, const std::string& picture);

}  // namespace weyl
