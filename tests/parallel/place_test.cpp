// Who is which rank, by the variables that starters set.
#include "weyl/parallel/place.h"

#include <gtest/gtest.h>

#include <map>

#include "weyl/core/check.h"

namespace weyl {
namespace place_test {

std::optional<RankPlace> place(const std::map<std::string, std::string>& set) {
  return rank_place([&](const std::string& name) -> std::optional<std::string> {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(RankPlace, AlonePrograms) {
  EXPECT_FALSE(place({}));
  EXPECT_FALSE(place({{"RANK", "1"}, {"WORLD_SIZE", "2"}}));  // somebody else's: no address
  EXPECT_FALSE(place({{"OMPI_COMM_WORLD_RANK", "1"}}));
  EXPECT_FALSE(place({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"WEYL_ALONE", "1"}}));
}

/// Where nobody says who shares a host, an address of the loopback does.
TEST(RankPlace, OfOneHost) {
  const auto loop = place({{"RANK", "2"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "127.0.0.1"}});
  ASSERT_TRUE(loop);
  EXPECT_FALSE(loop->local_rank);
  EXPECT_EQ(loop->local_size, 3);
  const auto elsewhere = place({{"RANK", "2"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "node0"}});
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->local_size, 1);
}

TEST(RankPlace, OfEachStarter) {
  const auto torchrun = place({{"RANK", "5"},
                               {"WORLD_SIZE", "8"},
                               {"MASTER_ADDR", "node0"},
                               {"MASTER_PORT", "1234"},
                               {"LOCAL_RANK", "1"},
                               {"LOCAL_WORLD_SIZE", "4"}});
  ASSERT_TRUE(torchrun);
  EXPECT_EQ(torchrun->rank, 5);
  EXPECT_EQ(torchrun->size, 8);
  EXPECT_EQ(torchrun->local_rank, 1);
  EXPECT_EQ(torchrun->local_size, 4);
  EXPECT_EQ(torchrun->address, "node0:1234");
  const auto open_mpi = place({{"OMPI_COMM_WORLD_RANK", "2"},
                               {"OMPI_COMM_WORLD_SIZE", "3"},
                               {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                               {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}});
  ASSERT_TRUE(open_mpi);
  EXPECT_EQ(open_mpi->rank, 2);
  EXPECT_EQ(open_mpi->local_size, 3);
  EXPECT_EQ(open_mpi->address, "");
  EXPECT_EQ(open_mpi->from, "Open MPI (OMPI_COMM_WORLD_RANK)");
  const auto mpich = place({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MASTER_ADDR", "10.0.0.1"}});
  ASSERT_TRUE(mpich);
  EXPECT_EQ(mpich->size, 2);
  EXPECT_EQ(mpich->address, "10.0.0.1:29500");
  const auto own = place({{"WEYL_RANK", "1"},
                          {"WEYL_RANKS", "2"},
                          {"PMI_RANK", "0"},
                          {"PMI_SIZE", "1"},
                          {"MASTER_ADDR", "elsewhere"}});
  ASSERT_TRUE(own);
  EXPECT_EQ(own->rank, 1);
  EXPECT_EQ(own->local_size, 2);
  EXPECT_EQ(own->address, "");  // of this host alone
}

// The variables stand in a batch script and in an interactive shell too, whose one process would wait for others for ever.
TEST(RankPlace, OfSlurmInAStepThatSrunStartedAlone) {
  std::map<std::string, std::string> set{{"SLURM_PROCID", "1"},
                                         {"SLURM_STEP_NUM_TASKS", "4"},
                                         {"SLURM_LOCALID", "1"},
                                         {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}};
  EXPECT_FALSE(place(set));
  set["SLURM_STEP_ID"] = "4294967291";
  EXPECT_FALSE(place(set));
  set["SLURM_STEP_ID"] = "0";
  const auto found = place(set);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size, 4);
  EXPECT_EQ(found->local_size, 2);
}

TEST(RankPlace, RefusesWhatIsNoPlace) {
  EXPECT_THROW(place({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}), ConfigError);
  EXPECT_THROW(place({{"PMI_RANK", "x"}, {"PMI_SIZE", "2"}}), ConfigError);
  EXPECT_THROW(place({{"PMI_RANK", "-1"}, {"PMI_SIZE", "2"}}), ConfigError);
  EXPECT_THROW(place({{"PMI_RANK", "0"}, {"PMI_SIZE", "0"}}), ConfigError);
}

}  // namespace place_test
}  // namespace weyl
