#pragma once

#include <cstdint>
#include <string>

#include "weyl/config/fields.h"

namespace weyl {

struct Schema;
struct Splits;

/// Charged (and other) particles in motion, as made by `weyl data make nbody` or read from the original .npy
/// files: a folder with train, valid and test.
struct NbodyDataOptions {
  static constexpr const char* name_in_config = "nbody";
  std::string path = "data/nbody";
  int64_t train = 0, valid = 0, test = 0;  // the first so many samples of a split; 0: all
  int64_t input_frame = 30;                // frame k is time 0.1 (k + 1)
  int64_t target_frame = 40;
  bool speed = true;          // adds the norm of the velocity as a scalar feature
  bool charge_types = false;  // the sign of the charge as the type of a particle, 0 or 1
  bool flip_charges = false;  // in training, of all particles of a system at once
};
void fields(Fields& f, NbodyDataOptions& o);
/// Charged particles as points: positions (N, 3), scalars charge and (option) speed = |v|, vector velocity,
/// all at input_frame, float64; label displacement (N, 1, 3) = x(target_frame) - x(input_frame); horizon the
/// time between the two. With flip_charges each training sample has, in every other draw of (seed, epoch, sample), the
/// opposite charges: forces go by products of charges, so that it moves the same.
Schema declared_schema(const NbodyDataOptions& options);
/// Opens a folder of weyl.nbody files or of the original .npy files (loc_, vel_, charges_ then train, valid, test).
/// DataError: no such folder, no split at all, a broken file, a frame that is not there, fewer samples than the options
/// ask for.
Splits open_set(const NbodyDataOptions& options);

/// Step of the integration of planets, in the reduced unit of time.
constexpr double kPlanetTimeStep = 0.001;
/// Steps between the two times of a system, unless the maker is asked for another number; the paper's.
constexpr int64_t planet_steps = 100;

/// Stars with planets, as made by `weyl data make planets`: a folder with train, valid and test.
struct PlanetsDataOptions {
  static constexpr const char* name_in_config = "planets";
  std::string path = "data/planets";
  int64_t train = 0, valid = 0, test = 0;  // the first so many samples of a split; 0: all
};
void fields(Fields& f, PlanetsDataOptions& o);
/// Stars with planets as points: positions (N, 3), scalar mass, vector velocity, float64; label displacement (N, 1, 3),
/// from one time to the other; horizon the time between the two, 0.1 unless the files say otherwise.
Schema declared_schema(const PlanetsDataOptions& options);
/// Opens a folder of tensor files that `weyl data make planets` wrote (open_tensor_splits). DataError: see there; also
/// files whose systems were followed for different times.
Splits open_set(const PlanetsDataOptions& options);

}  // namespace weyl
