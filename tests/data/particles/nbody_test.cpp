#include "weyl/data/particles/nbody.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "tests/data/folder.h"
#include "weyl/carriers/consistency.h"
#include "weyl/core/check.h"
#include "weyl/core/tensor_file.h"
#include "weyl/data/containers/npy.h"
#include "weyl/data/open.h"
#include "weyl/makers/particles/nbody.h"

namespace weyl {
namespace nbody_test {

std::vector<int64_t> ints(std::initializer_list<int64_t> x) {
  return x;
}

NbodyDataOptions small(const std::string& path) {
  return {.path = path, .train = 4, .valid = 0, .test = 0, .input_frame = 1, .target_frame = 3};
}

TEST(NbodySet, ReadsWhatTheMakerMakes) {
  const Folder folder;
  const NbodyMakerOptions maker{.train = 6, .valid = 3, .test = 2, .steps = 600};
  ASSERT_TRUE(make_nbody(maker, folder.path()));
  const Splits splits = open_set(small(folder.path()));
  ASSERT_TRUE(splits.train && splits.valid && splits.test);
  EXPECT_EQ(splits.train->size(), 4);  // of 6
  EXPECT_EQ(splits.valid->size(), 3);  // 0: all
  EXPECT_EQ(splits.test->size(), 2);
  const Schema& schema = splits.valid->schema();
  EXPECT_NEAR(schema.horizon, 0.2, 1e-12);
  EXPECT_EQ(schema.interface.typical_nodes, 5);
  EXPECT_EQ(schema.interface.features, declared_schema(small("")).interface.features);

  const auto made = simulate_nbody(maker, 10000, 3);  // frames are (F, 5, 3) each
  const Batch second = splits.valid->batch(ints({1}));
  const auto& p = std::get<Points>(second.input);
  const auto* at_input = &made.positions[(1 * 5 + 1) * 15];
  const auto* at_target = &made.positions[(1 * 5 + 3) * 15];
  const auto* velocity = &made.velocities[(1 * 5 + 1) * 15];
  for (int64_t i = 0; i < 5; ++i) {
    double square = 0;
    for (int64_t d = 0; d < 3; ++d) {
      EXPECT_EQ(p.positions[i][d].item<double>(), at_input[3 * i + d]);
      EXPECT_EQ(p.vectors[i][0][d].item<double>(), velocity[3 * i + d]);
      EXPECT_EQ(second.labels.at("displacement")[i][0][d].item<double>(),
                at_target[3 * i + d] - at_input[3 * i + d]);
      square += velocity[3 * i + d] * velocity[3 * i + d];
    }
    EXPECT_EQ(p.scalars[i][0].item<double>(), made.charges[5 + i]);
    EXPECT_NEAR(p.scalars[i][1].item<double>(), std::sqrt(square), 1e-14);
  }
}

TEST(NbodySet, DeclaresItsSchemaWithoutAFile) {
  NbodyDataOptions options;
  options.path = "/nowhere";
  const Schema schema = declared_schema({options});
  EXPECT_NEAR(schema.horizon, 1, 1e-12);
  ASSERT_EQ(schema.interface.features.size(), 3u);
  EXPECT_EQ(schema.interface.features[1].name, "speed");
  options.speed = false;
  EXPECT_EQ(declared_schema({options}).interface.features.size(), 2u);
  ASSERT_EQ(schema.labels.size(), 1u);
  EXPECT_EQ(schema.labels[0].role, Role::offset);
}

void save_original(const std::string& path, const Tensor& t) {
  const Tensor c = t.contiguous();
  Array array{ElementType::f64, c.sizes().vec(), std::vector<std::byte>(c.nbytes())};
  std::memcpy(array.bytes.data(), c.const_data_ptr(), c.nbytes());
  write_npy(path, array);
}

TEST(NbodySet, ReadsTheOriginalFiles) {
  const Folder made, originals;
  ASSERT_TRUE(make_nbody({.train = 6, .valid = 3, .test = 0, .steps = 600}, made.path()));
  for (const std::string split : {"train", "valid"}) {
    const NamedTensors t = load_tensors(made / (split + ".safetensors"));
    const std::string suffix = "_" + split + "_charged5_initvel1small.npy";
    save_original(originals / ("loc" + suffix), t.at("positions").transpose(2, 3));
    save_original(originals / ("vel" + suffix), t.at("velocities").transpose(2, 3));
    save_original(originals / ("charges" + suffix), t.at("charges").unsqueeze(2));
  }
  const Splits a = open_set(small(made.path())), b = open_set(small(originals.path()));
  EXPECT_FALSE(b.test);
  ASSERT_EQ(b.train->size(), a.train->size());
  for (int64_t i = 0; i < b.valid->size(); ++i) {
    const Batch x = a.valid->batch(std::vector<int64_t>{i}), y = b.valid->batch(std::vector<int64_t>{i});
    EXPECT_TRUE(at::equal(std::get<Points>(x.input).positions, std::get<Points>(y.input).positions));
    EXPECT_TRUE(at::equal(std::get<Points>(x.input).vectors, std::get<Points>(y.input).vectors));
    EXPECT_TRUE(at::equal(std::get<Points>(x.input).scalars, std::get<Points>(y.input).scalars));
    EXPECT_TRUE(at::equal(x.labels.at("displacement"), y.labels.at("displacement")));
  }
  EXPECT_NEAR(b.train->schema().horizon, a.train->schema().horizon, 1e-12);
}

TEST(NbodySet, OpensByPath) {
  const Folder folder;
  ASSERT_TRUE(make_nbody({.train = 2, .valid = 3, .test = 4, .steps = 600}, folder.path()));
  const DataOptions options{small("/elsewhere")};
  EXPECT_EQ(open_file(folder.path(), options)->size(), 4);  // the test split
  EXPECT_EQ(open_file(folder / "valid.safetensors", options)->size(), 3);
  EXPECT_EQ(open_splits(all_of({small("")}, folder.path())).train->size(), 2);
  // beyond the file: no label, but still an input
  NbodyDataOptions far = small("");
  far.target_frame = 40;
  EXPECT_TRUE(open_file(folder / "valid.safetensors", {far})->schema().labels.empty());
}

TEST(NbodySet, GivesAModelTheFeaturesThatItKnows) {
  const Folder folder;
  ASSERT_TRUE(make_nbody({.train = 2, .valid = 0, .test = 0, .steps = 600}, folder.path()));
  Interface told = declared_schema(small("")).interface;
  const std::string file = folder / "train.safetensors";
  EXPECT_EQ(open_file(file, {small("")}, &told)->schema().interface.features.size(), 3u);
  std::erase_if(told.features, [](const Quantity& q) { return q.name == "speed"; });
  EXPECT_EQ(open_file(file, {small("")}, &told)->schema().interface.features.size(), 2u);
  told.features[0].name = "mass";
  EXPECT_EQ(message_of<DataError>([&] { open_file(file, {small("")}, &told); }),
            file + ": must give the model's features mass, velocity, gives charge, velocity");
}

/// Opposite charges of a whole system, of some in each epoch; all else stays.
TEST(NbodySet, FlipsTheChargesOfWholeSystems) {
  const Folder folder;
  ASSERT_TRUE(make_nbody({.train = 20, .valid = 0, .test = 0, .steps = 600}, folder.path()));
  NbodyDataOptions o = small(folder.path());
  o.train = 0;
  o.charge_types = true;
  std::vector<int64_t> all(20);
  std::iota(all.begin(), all.end(), 0);
  const auto changed = [&](int64_t epoch) {
    const auto set = open_set(o).train;
    const Batch before = set->batch(all), after = set->augmented(all, {}, {.seed = 7, .epoch = epoch});
    require_consistent(after, set->schema());
    const auto &p = std::get<Points>(before.input), &q = std::get<Points>(after.input);
    EXPECT_TRUE(at::equal(p.positions, q.positions) && at::equal(p.vectors, q.vectors));
    EXPECT_TRUE(at::equal(p.scalars.select(1, 1), q.scalars.select(1, 1)));  // speeds
    EXPECT_TRUE(at::equal(before.labels.at("displacement"), after.labels.at("displacement")));
    EXPECT_TRUE(at::equal(q.types, (q.scalars.select(1, 0) > 0).to(at::kLong)));
    const Tensor signs = (q.scalars.select(1, 0) / p.scalars.select(1, 0)).view({20, 5});
    EXPECT_TRUE(at::equal(signs, signs.narrow(1, 0, 1).expand_as(signs)));
    return signs.select(1, 0);
  };
  EXPECT_EQ(changed(0).min().item<double>(), 1);  // nothing, unless it is asked for
  o.flip_charges = true;
  for (const int64_t epoch : {0, 1}) {
    EXPECT_EQ(changed(epoch).min().item<double>(), -1);
    EXPECT_EQ(changed(epoch).max().item<double>(), 1);
    EXPECT_TRUE(at::equal(changed(epoch), changed(epoch)));
  }
  EXPECT_FALSE(at::equal(changed(0), changed(1)));
}

TEST(NbodySet, RefusesToUseFewerSamplesThanAskedFor) {
  const Folder folder;
  ASSERT_TRUE(make_nbody({.train = 3, .valid = 2, .test = 2, .steps = 600}, folder.path()));
  NbodyDataOptions options = small(folder.path());
  EXPECT_EQ(message_of<DataError>([&] { open_set(options); }),
            folder / "train.safetensors" +
                ": data.nbody.train must be at most 3, the samples there are (0: all), got 4");
  options.train = 3;
  EXPECT_EQ(open_set(options).train->size(), 3);
  options.test = 5;
  EXPECT_NE(message_of<DataError>([&] { open_set(options); }).find("data.nbody.test must be at most 2"),
            std::string::npos);
  // What another path holds is used whole, whatever this set was cut to.
  EXPECT_EQ(open_file(folder.path(), {options})->size(), 2);
  EXPECT_EQ(open_splits(all_of({options}, folder.path())).train->size(), 3);
}

TEST(NbodySet, SaysWhatIsWrong) {
  const Folder folder;
  const auto data_error = [&](const NbodyDataOptions& o) {
    return message_of<DataError>([&] { open_set(o); });
  };
  EXPECT_NE(data_error(small("/nowhere/nbody")).find("weyl data make nbody --out /nowhere/nbody"),
            std::string::npos);
  EXPECT_NE(data_error(small(folder.path())).find("holds neither"), std::string::npos);
  ASSERT_TRUE(make_nbody({.train = 4, .valid = 0, .test = 0, .steps = 400}, folder.path()));
  EXPECT_NE(data_error(small(folder.path())).find("target_frame must be one of 0 .. 2, got 3"),
            std::string::npos);
  NbodyDataOptions backwards = small(folder.path());
  backwards.target_frame = 1;
  EXPECT_THROW(open_set(backwards), ConfigError);

  NamedTensors t = load_tensors(folder / "train.safetensors");
  const auto spoiled = [&](const char* name, const Tensor& value,
                           std::map<std::string, std::string> metadata) {
    NamedTensors changed = t;
    changed[name] = value;
    save_tensors(folder / "train.safetensors", changed, metadata);
    NbodyDataOptions o = small(folder.path());
    o.target_frame = 2;
    return data_error(o);
  };
  const std::map<std::string, std::string> good{
      {"format", "weyl.nbody"}, {"format_version", "1"}, {"frame_interval", "0.1"}};
  EXPECT_EQ(spoiled("charges", t["charges"], good), "");
  EXPECT_NE(spoiled("charges", t["charges"].slice(1, 1), good).find("charges must be (4, 5), got (4, 4)"),
            std::string::npos);
  EXPECT_NE(spoiled("velocities", t["velocities"].slice(0, 1), good).find("velocities must be"),
            std::string::npos);
  EXPECT_NE(spoiled("positions", t["positions"].to(at::kLong), good).find("floating-point"),
            std::string::npos);
  EXPECT_NE(spoiled("positions", t["positions"] * NAN, good).find("positions must be finite"),
            std::string::npos);
  EXPECT_NE(spoiled("charges", t["charges"], {}).find("not a weyl.nbody file"), std::string::npos);
  auto bad = good;
  bad["frame_interval"] = "fast";
  EXPECT_NE(spoiled("charges", t["charges"], bad).find("must be a positive number, got 'fast'"),
            std::string::npos);
  bad = good;
  bad["format_version"] = "9";
  EXPECT_NE(spoiled("charges", t["charges"], bad).find("format_version must be 1, got 9"), std::string::npos);
}

}  // namespace nbody_test
}  // namespace weyl
