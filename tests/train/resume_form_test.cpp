// A run of a Platonic Transformer goes on in the other form of its linear maps, dense or by irreps: the same function of the
// same weights, whose optimiser and average know of neither.
#include <gtest/gtest.h>

#include "tests/train/resume.h"
#include "weyl/core/check.h"
#include "weyl/models/platonic/options.h"

namespace weyl {
namespace resume_form_test {

using platonic::LinearForm;

class ResumeFormTest : public ResumeTest {
 protected:
  // In float64, so that two forms stay together over the nine steps of a run.
  void begin_as(LinearForm form) {
    platonic::Options model;
    model.width = 48;
    model.heads = 12;
    model.blocks = 1;
    model.ffn_factor = 2;
    model.rope_on_values = true;
    model.dropout = 0.1;
    model.linear = form;
    recipe_.model.system = model;
    recipe_.train.precision = Precision::float64;
  }
  static LinearForm form_of(const Recipe& recipe) {
    return recipe.model.system.get_if<platonic::Options>()->linear;
  }
  static TrainRequest changed_to(const char* form) {
    TrainRequest request;
    request.changes = {std::string("model.platonic.linear=") + form};
    return request;
  }
  std::string refusal(const TrainRequest& request) {
    Notes notes;
    try {
      go_on("run", notes, request);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  }
  /// The largest difference of the weights at the ends of two runs, beside the largest weight.
  double difference(const std::string& a, const std::string& b) {
    const auto last = [&](const std::string& run) {
      return load_model(folder_ / (run + "/last/model.safetensors")).model->parameters();
    };
    const auto left = last(a), right = last(b);
    EXPECT_EQ(left.size(), right.size());
    double worst = 0, size = 0;
    for (size_t i = 0; i < left.size(); ++i) {
      EXPECT_EQ(left[i].name, right[i].name);
      worst = std::max(worst, (left[i].tensor - right[i].tensor).abs().max().item<double>());
      size = std::max(size, left[i].tensor.abs().max().item<double>());
    }
    return worst / size;
  }
};

TEST_F(ResumeFormTest, InItsOwnFormARunHasTheBitsOfOneThatWasNeverStopped) {
  begin_as(LinearForm::spectral);
  train_through("through");
  train_until("run", 4);
  Notes notes;
  TrainRequest few;
  few.stop = stop_after(2);
  EXPECT_EQ(go_on("run", notes, few).ending, Ending::interrupted);
  EXPECT_EQ(go_on("run", notes, changed_to("spectral")).ending, Ending::finished);
  EXPECT_EQ(notes.all(), "");
  expect_same_bits(folder_ / "through", folder_ / "run");
}

TEST_F(ResumeFormTest, InTheOtherFormItEndsWithTheSameWeightsToRounding) {
  for (const LinearForm form : {LinearForm::dense, LinearForm::spectral}) {
    const bool dense = form == LinearForm::dense;
    const char *before = dense ? "dense" : "spectral", *after = dense ? "spectral" : "dense";
    begin_as(form);
    for (const char* run : {"through", "run", "early"}) {
      fs::remove_all(folder_ / run);
    }
    train_through("through");
    train_until("early", 4);
    train_until("run", 4);
    Notes notes;
    EXPECT_EQ(go_on("run", notes, changed_to(after)).steps, 9);
    EXPECT_EQ(notes.all(), std::string("linear maps are worked out as model.platonic.linear = \"") + after +
                               "\" from here on, they were \"" + before +
                               "\": the same function of the same weights, but the run ends with other "
                               "bits\n");
    const LinearForm other = dense ? LinearForm::spectral : LinearForm::dense;
    EXPECT_EQ(form_of(read_recipe(folder_ / "run/config.toml")), other);
    EXPECT_EQ(form_of(read_checkpoint(folder_ / "run").recipe), other);
    EXPECT_LT(difference("through", "run"), 1e-10) << before;
    EXPECT_GT(difference("through", "run"), 0) << before;   // it did go on in another form
    EXPECT_GT(difference("early", "run"), 1e-3) << before;  // and moved on
  }
}

TEST_F(ResumeFormTest, TheFormIsKeptFromTheMomentItIsTaken) {
  begin_as(LinearForm::dense);
  train_until("run", 4);
  // Ended before the first checkpoint that knows of it.
  TrainRequest none = changed_to("spectral");
  none.stop = stop_after(0);
  Notes notes;
  go_on("run", notes, none);
  EXPECT_EQ(form_of(read_checkpoint(folder_ / "run").recipe), LinearForm::dense);
  // Back to what the checkpoint has is no change at all.
  TrainRequest back = changed_to("dense");
  back.stop = stop_after(0);
  Notes quiet;
  go_on("run", quiet, back);
  EXPECT_EQ(quiet.all(), "");
  EXPECT_EQ(form_of(read_recipe(folder_ / "run/config.toml")), LinearForm::dense);
  go_on("run", notes, none);
  Notes on;
  EXPECT_EQ(go_on("run", on).steps, 9);
  EXPECT_TRUE(has(on.all(), "they were \"dense\"")) << on.all();
  EXPECT_EQ(form_of(read_checkpoint(folder_ / "run").recipe), LinearForm::spectral);
}

TEST_F(ResumeFormTest, NothingElseOfTheModelMayChange) {
  begin_as(LinearForm::dense);
  train_until("run", 4);
  const auto before = bits_of(folder_ / "run");
  for (const char* other :
       {"model.platonic.use_key=true", "model.platonic.recompute=true", "model.frames=pca"}) {
    TrainRequest request;
    request.changes = {"model.platonic.linear=spectral", other};
    EXPECT_TRUE(has(refusal(request), std::string("got '") + other + "'")) << refusal(request);
  }
  EXPECT_TRUE(has(refusal(changed_to("auto")), "must be dense or spectral of a run that goes on, got auto"));
  EXPECT_TRUE(has(refusal(changed_to("fourier")), "model.platonic.linear"));
  EXPECT_EQ(before, bits_of(folder_ / "run"));
  EXPECT_EQ(form_of(read_recipe(folder_ / "run/config.toml")), LinearForm::dense);
  fs::remove_all(folder_ / "run");
  recipe_.model.system = transformer::Options{.width = 16, .heads = 2, .blocks = 1};
  train_until("run", 4);
  EXPECT_TRUE(has(refusal(changed_to("spectral")), "model.platonic")) << refusal(changed_to("spectral"));
}

}  // namespace resume_form_test
}  // namespace weyl
