#include "weyl/core/atomic_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace weyl {
namespace unfinished_file_test {

TEST(UnfinishedFile, IsKnownByItsName) {
  EXPECT_EQ(process_of_unfinished(unfinished_name("runs/a/model.safetensors", 3)), ::getpid());
  EXPECT_EQ(process_of_unfinished("a.17-0.tmp"), 17);
  EXPECT_EQ(process_of_unfinished("a.b.c.4194304-12.tmp"), 4194304);
  for (const char* name : {"", ".tmp", "a.tmp", "a.17.tmp", "a-17.tmp", "a.17-.tmp", "a.-1.tmp", ".17-0.tmp",
                           "17-0.tmp", "a.17-0.tmp2", "a.17-0", "a.x7-0.tmp", "a.17-0 .tmp", "a.17--1.tmp",
                           "a.99999999999999999999-0.tmp"}) {
    EXPECT_FALSE(process_of_unfinished(name).has_value()) << name;
  }
}

}  // namespace unfinished_file_test
}  // namespace weyl
