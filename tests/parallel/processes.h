// Ranks as forked processes of a test. The test must not have computed with several threads before: a child has none of them.
#pragma once

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/parallel/ranks.h"

namespace weyl {

/// Runs `work` in as many processes, which meet at `file`, or at `address`. The exit code of each: 0 when its expectations held, 1 when not, 9
/// for a RankError of one line, minus the signal that ended it, 7 for anything else. `before` is called in each before it meets the others.
inline std::vector<int> run_ranks(int ranks, const std::string& file,
                                  const std::function<void(const std::shared_ptr<Ranks>&)>& work,
                                  std::chrono::milliseconds timeout = std::chrono::seconds(60),
                                  const std::string& address = "",
                                  const std::function<void(int rank)>& before = {}) {
  std::vector<pid_t> children;
  for (int r = 0; r < ranks; ++r) {
    children.push_back(fork());
    if (children.back() == 0) {
      int code = 7;
      at::set_num_threads(
          1);  // LibTorch makes its pool anew after a fork, which must not happen in two threads at once
      if (before) {
        before(r);
      }
      try {
        work(std::make_shared<Ranks>(
            RankPlace{.rank = r, .size = ranks, .local_size = ranks, .address = address},
            Meeting{.file = file, .timeout = timeout}));
        code = ::testing::Test::HasFailure() ? 1 : 0;
      } catch (const RankError& e) {
        code = std::string_view(e.what()).find('\n') == std::string_view::npos ? 9 : 8;
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
      _exit(code);
    }
  }
  std::vector<int> codes;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  }
  return codes;
}

}  // namespace weyl
