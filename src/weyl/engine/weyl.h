/* weyl.h: trained models in a program of any language. C99; one shared library, libweyl_potential.so.
 *
 *   weyl_model *model = NULL;
 *   const char *paths[] = {"runs/water"};
 *   if (weyl_load(paths, 1, NULL, 1, &model) != WEYL_OK) { puts(weyl_last_error()); exit(1); }
 *   double energy, forces[3 * 21];
 *   weyl_atoms atoms = {.count = 21, .numbers = Z, .positions = x};
 *   weyl_results results = {.energy = &energy, .forces = forces};
 *   if (weyl_compute(model, &atoms, &results) != WEYL_OK) puts(weyl_last_error());
 *   weyl_free(model);
 *
 * Lengths are in Angstrom, energies in eV, whatever the model was trained in. Arrays are dense and row-major. No call ends
 * the process or lets an exception through: each returns a status, and a line that says what was wrong. Any number of
 * threads may use one model at a time; weyl_free must be the last use. */
#ifndef WEYL_H
#define WEYL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has no `using` */

/* Grows with every change of this file. A program that opens the library by itself compares it with weyl_api_version(). */
#define WEYL_API_VERSION 1

typedef enum {
  WEYL_OK = 0,
  WEYL_FAILED = 1, /* none of the others */
  WEYL_USAGE = 2,  /* the call cannot mean this model: what is asked for, a dtype, a null pointer */
  WEYL_DATA = 3,   /* a file, or the atoms, are not what they must be */
  WEYL_MEMORY = 4
} weyl_status;

int weyl_api_version(void);
const char* weyl_version(void); /* "0.2.0" */

/* What was wrong with the last call of this thread that did not return WEYL_OK; "" before. Stays until the next such call. */
const char* weyl_last_error(void);

/* A trained model, or several of the same inputs, whose predictions are then means (a committee). */
typedef struct weyl_model weyl_model;

/* `paths`: run folders or model files. `dtype`: "float32" or "float64" in which the model computes, NULL for the file's.
 * `threads`: above 0, how many threads LibTorch computes with from now on, in this thread and in all that have not computed
 * yet; 0 leaves it as it is. Above 1, a child process of fork() cannot compute. Refuses another LibTorch in the process than
 * the library was built with, as far as the files beside it say which it is. */
weyl_status weyl_load(const char* const* paths, size_t count, const char* dtype, int threads,
                      weyl_model** model);
void weyl_free(weyl_model* model); /* NULL is nothing */

/* One JSON object: weyl_version, models, dtype, system, task, carrier, inputs, outputs (name, level, kind, channels, unit),
 * elements, length_unit, reach, gradient_forces, exact (symmetries), trained_on, notes. Belongs to the model. */
const char* weyl_info(const weyl_model* model);

/* Atomic numbers of the elements that the model knows: how many, and the first `room` of them into `numbers` (or NULL). */
size_t weyl_elements(const weyl_model* model, int32_t* numbers, size_t room);
/* How far in Angstrom an atom can change what any of the models says of another; -1 where there is no such distance. */
double weyl_reach(const weyl_model* model);
/* 1 where forces are derivatives of the energy; else they do not conserve it, and there is no stress. */
int weyl_gradient_forces(const weyl_model* model);
/* How many models there are. */
size_t weyl_members(const weyl_model* model);

/* Atoms. Members that are 0 or NULL are absent. */
typedef struct {
  size_t count;
  const int32_t* numbers;  /* (count) atomic numbers */
  const double* positions; /* (count, 3) */
  const double* cell;      /* (3, 3), rows are lattice vectors */
  const int32_t* pbc;      /* (3), not 0 where periodic; absent: along all three where there is a cell */
  double charge, spin;     /* read where the model has been trained with such a feature */
} weyl_atoms;

/* Where results go. NULL: not asked for. What a model cannot give is WEYL_USAGE, but for the stress of atoms that do not
 * fill space, which is NaN, as are deviations of one model. */
typedef struct {
  double* energy;     /* 1 */
  double* forces;     /* (count, 3) eV/Angstrom */
  double* stress;     /* (3, 3) eV/Angstrom^3, positive under tension */
  double* energies;   /* (count) of atoms; their sum is the energy; 0 of atoms that are not owned */
  double* virials;    /* (count, 3, 3) eV of atoms; their sum is -volume times the stress */
  double* energy_std; /* standard deviations over the models, divided by their number: 1 */
  double* forces_std; /* (count, 3), number by number */
} weyl_results;

weyl_status weyl_compute(const weyl_model* model, const weyl_atoms* atoms, const weyl_results* results);
/* Several samples, which go through the model together. */
weyl_status weyl_compute_batch(const weyl_model* model, size_t samples, const weyl_atoms* atoms,
                               const weyl_results* results);
/* A part of a larger system: `owned` (count) is not 0 for the atoms whose energies are summed. The others, within the reach
 * of these, only feel their forces, which belong to the atoms that they are images or copies of; forces that are no
 * derivatives they do not feel (0). For models that have a reach. */
weyl_status weyl_compute_cluster(const weyl_model* model, const weyl_atoms* atoms, const uint8_t* owned,
                                 const weyl_results* results);

/* Any model and data: named tensors in, named tensors out, as the tensor files of docs/cli.md have them. */
typedef enum { WEYL_F32 = 0, WEYL_F64 = 1, WEYL_I64 = 2, WEYL_BOOL = 3 } weyl_dtype;
typedef struct {
  const char* name;
  weyl_dtype dtype;
  size_t axes;
  const int64_t* shape;
  const void* data;
} weyl_tensor;
typedef struct weyl_tensors weyl_tensors;

/* Tensors that the model does not read are passed over. `gradient`: not 0 for the tensor `gradient` too, the derivatives of the model's own scalars of graphs by positions. */
weyl_status weyl_predict(const weyl_model* model, const weyl_tensor* inputs, size_t count, int gradient,
                         weyl_tensors** outputs);
size_t weyl_tensors_count(const weyl_tensors* tensors);
/* One of them, by index; its memory belongs to `tensors`. Past the end all members are 0. */
weyl_tensor weyl_tensors_get(const weyl_tensors* tensors, size_t index);
void weyl_tensors_free(weyl_tensors* tensors); /* NULL is nothing */

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
#endif
