#include "weyl/parallel/place.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "weyl/core/check.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

constexpr const char* kDefaultPort = "29500";  // of torchrun
// Step numbers from here on are SLURM's own: the batch script, an interactive shell, external processes.
constexpr int64_t kFirstReservedStep = 0xfffffff0;

int64_t number(const std::string& name, const std::string& text) {
  const std::optional<int64_t> value = parse_integer(text);
  require<ConfigError>(value && *value >= 0, "environment: ", name, " must be a whole number from 0, got '",
                       text, "'");
  return *value;
}

/// What one kind of starter calls rank and size, in all and on the host.
struct Names {
  const char* who;
  const char *rank, *size, *local_rank, *local_size;
};

constexpr Names kStarters[] = {
    {"--ranks", "WEYL_RANK", "WEYL_RANKS", "WEYL_RANK", "WEYL_RANKS"},
    {"the environment", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"SLURM", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"},
};

/// Whether these variables mean what they say.
bool counts(const Names& names, const Variables& variables) {
  const std::string_view rank = names.rank;
  if (rank == "RANK") {
    return variables("MASTER_ADDR").has_value();  // RANK alone is anybody's
  }
  if (rank == "SLURM_PROCID") {
    const auto step = variables("SLURM_STEP_ID");
    return step && number("SLURM_STEP_ID", *step) < kFirstReservedStep;
  }
  return true;
}

/// SLURM writes 4(x2),3 for two nodes of four and one of three: the first number is taken, and only cores are divided by it.
std::string first_number(const std::string& text) {
  return text.substr(0, text.find_first_of("(,"));
}

/// Whether this address is of the host itself, so that all who meet there are on one.
bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

}  // namespace

Variables environment_variables() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::optional<RankPlace> rank_place(const Variables& variables) {
  if (variables("WEYL_ALONE")) {
    return {};
  }
  for (const Names& names : kStarters) {
    const auto rank = variables(names.rank), size = variables(names.size);
    if (!rank || !size || !counts(names, variables)) {
      continue;
    }
    const int64_t r = number(names.rank, *rank), n = number(names.size, *size);
    require<ConfigError>(n >= 1 && r < n, "environment: ", names.rank, " must be below ", names.size,
                         ", got ", r, " of ", n);
    const auto local = [&](const char* name, const char* of_slurm) -> std::optional<int> {
      for (const char* one : {name, of_slurm}) {
        if (const auto value = variables(one)) {
          return static_cast<int>(number(one, first_number(*value)));
        }
      }
      return {};
    };
    RankPlace place{.rank = static_cast<int>(r), .size = static_cast<int>(n)};
    const auto host = variables("MASTER_ADDR");
    const bool one_host = host && is_loopback(*host);
    place.local_rank = local(names.local_rank, "SLURM_LOCALID");
    place.local_size =
        std::max(1, local(names.local_size, "SLURM_STEP_TASKS_PER_NODE").value_or(one_host ? place.size : 1));
    if (host && names.rank != kStarters[0].rank) {
      place.address = *host + ":" + variables("MASTER_PORT").value_or(kDefaultPort);
    }
    place.from = text(names.who, " (", names.rank, ")");
    return place;
  }
  return {};
}

}  // namespace weyl
