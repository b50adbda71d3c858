// What a checkpoint says beside its weights: settings, and which rows of a table its optimiser has moved.
#include "weyl/data/containers/weights.h"

#include <gtest/gtest.h>

#include "tests/data/folder.h"
#include "tests/data/pytorch_file.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace checkpoint_record_test {

const std::string fixtures = WEYL_SOURCE_DIR "/tests/fixtures/pytorch/";

PytorchFile with_settings() {
  PytorchFile file;
  file.open().word("state_dict").open().word("w").tensor({2}, {1, 2}).close();
  file.word("hyper_parameters").open();
  file.word("num_heads").whole(8).word("cutoff_upper").real(4.5).word("vector_cutoff").truth(true);
  file.word("derivative").truth(false).word("activation").word("silu").word("prior_model").none();
  file.word("lr_list").empty_list().whole(3).word("a key that is no name").close().close();
  return file;
}

TEST(CheckpointRecord, ReadsSettingsWithoutExecuting) {
  const auto bytes = with_settings().bytes();
  const Settings settings = parse_hyper_parameters(bytes, "x");
  EXPECT_EQ(settings.size(), 7u);
  for (const auto& [key, said] : {std::pair<const char*, const char*>{"num_heads", "8"},
                                  {"cutoff_upper", "4.5"},
                                  {"vector_cutoff", "true"},
                                  {"derivative", "false"},
                                  {"activation", "silu"},
                                  {"prior_model", "none"},
                                  {"lr_list", "something else"}}) {
    ASSERT_TRUE(settings.contains(key)) << key;
    EXPECT_EQ(text_of(settings.at(key)), said) << key;
  }
  EXPECT_EQ(settings.at("num_heads").number, 8);
  EXPECT_EQ(settings.at("vector_cutoff").kind, Setting::Kind::boolean);
}

TEST(CheckpointRecord, FilesThatSayNothingHaveNone) {
  PytorchFile bare;
  bare.open().word("w").tensor({2}, {1, 2}).close();
  EXPECT_TRUE(parse_hyper_parameters(bare.bytes(), "x").empty());
  EXPECT_TRUE(parse_trained_rows(bare.bytes(), 2, 1, "x").empty());
  PytorchFile no_dict;
  no_dict.open().word("hyper_parameters").word("yes").word("w").tensor({2}, {1, 2}).close();
  EXPECT_TRUE(parse_hyper_parameters(no_dict.bytes(), "x").empty());
  const Folder folder;
  const float values[] = {1, 2};
  const TensorBytes tensors[] = {{"w", ElementType::f32, {2}, std::as_bytes(std::span(values))}};
  write_safetensors(folder / "w.safetensors", tensors);
  EXPECT_TRUE(read_hyper_parameters(folder / "w.safetensors").empty());
  EXPECT_TRUE(read_trained_rows(folder / "w.safetensors", 2, 1).empty());
}

/// A checkpoint whose optimiser has two tables (3, 2) and another parameter.
std::vector<std::byte> with_moments(const std::vector<double>& first, const std::vector<double>& second) {
  PytorchFile file;
  file.open().word("optimizer_states").open().whole(0).open().word("state").open();
  file.whole(0).open().word("exp_avg").tensor({3, 2}, {1, 1, 1, 1, 1, 1}).word("exp_avg_sq");
  file.tensor({3, 2}, first).close();
  file.whole(1).open().word("exp_avg_sq").tensor({6}, {1, 1, 1, 1, 1, 1}).close();
  file.whole(2).open().word("exp_avg_sq").tensor({3, 2}, second).close();
  file.close().close().close().word("w").tensor({1}, {1}).close();
  return file.bytes();
}

TEST(CheckpointRecord, RowsThatTheOptimiserHasMoved) {
  using Rows = std::vector<bool>;
  EXPECT_EQ(parse_trained_rows(with_moments({0, 0, 0, 1e-30, 0, 0}, {0, 0, 0, 0, 0, 0}), 3, 2, "x"),
            (Rows{false, true, false}));
  EXPECT_EQ(parse_trained_rows(with_moments({1, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 2}), 3, 2, "x"),
            (Rows{true, false, true}));
  EXPECT_EQ(parse_trained_rows(with_moments({0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}), 3, 2, "x"), Rows{});
  EXPECT_EQ(parse_trained_rows(with_moments({1, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}), 2, 3, "x"), Rows{});
  const Rows golden = read_trained_rows(fixtures + "torchmd_et.ckpt", 10, 12);
  ASSERT_EQ(golden.size(), 10u);
  for (size_t z = 0; z < golden.size(); ++z) {
    EXPECT_EQ(golden[z], z == 1 || z == 6 || z == 7 || z == 8) << z;
  }
}

TEST(CheckpointRecord, BrokenFilesAreRefusedAndOddOptimisersSayNothing) {
  auto bytes = with_settings().bytes();
  bytes.resize(bytes.size() / 2);
  EXPECT_TRUE(message_of<DataError>([&] { parse_hyper_parameters(bytes, "w.pt"); }).starts_with("w.pt: "));
  PytorchFile beyond;  // a tensor larger than its storage
  beyond.open().word("optimizer_states").open().word("exp_avg_sq").word("no tensor").word("a").open();
  beyond.word("exp_avg_sq").tensor({3, 2}, {1}).close().close().word("w").tensor({1}, {1}).close();
  EXPECT_TRUE(parse_trained_rows(beyond.bytes(), 3, 2, "x").empty());
}

}  // namespace checkpoint_record_test
}  // namespace weyl
