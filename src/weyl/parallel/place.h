#pragma once

#include <functional>
#include <optional>
#include <string>

namespace weyl {

/// Where one of several processes that work together (a rank) stands among them, as whoever started it says.
struct RankPlace {
  int rank = 0, size = 1;         // 0 .. size - 1
  std::optional<int> local_rank;  // among those of the same host; absent: nobody says
  int local_size = 1;
  std::string address;  // HOST:PORT at which the ranks meet; empty: at a file that all see
  std::string from;     // who says so, for the reader of a log: "Open MPI (OMPI_COMM_WORLD_RANK)"
};

/// A variable of the environment by its name, absent where it is not set.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;
Variables environment_variables();

/// The place that the environment tells, absent where it tells none, so that the process is alone; so it is with WEYL_ALONE,
/// which sweeps set for the trainings that they start. The first of:
///
///   WEYL_RANK, WEYL_RANKS                        children of `--ranks N`, all on this host
///   RANK, WORLD_SIZE, MASTER_ADDR                torchrun and what is like it; LOCAL_RANK, LOCAL_WORLD_SIZE
///   OMPI_COMM_WORLD_RANK, _SIZE                  mpirun of Open MPI; _LOCAL_RANK, _LOCAL_SIZE
///   PMI_RANK, PMI_SIZE                           mpiexec of MPICH and Intel MPI; MPI_LOCALRANKID, MPI_LOCALNRANKS
///   SLURM_PROCID, SLURM_STEP_NUM_TASKS           srun; SLURM_LOCALID, SLURM_STEP_TASKS_PER_NODE. Only in a step that srun
///                                                started (SLURM_STEP_ID, a number that SLURM gives no batch script and no
///                                                interactive shell): these have the variables too and are alone
///
/// Wherever MASTER_ADDR is set it is the address, with MASTER_PORT or 29500. Without it the ranks meet at a file. A group of
/// which a variable is missing is not told of. ConfigError naming the variable: it is no number, or a rank is not below its
/// number of ranks.
std::optional<RankPlace> rank_place(const Variables& variables = environment_variables());

}  // namespace weyl
