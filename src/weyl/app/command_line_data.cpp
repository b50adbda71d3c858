#include "weyl/app/command_line_data.h"

#include "weyl/app/command_line_draft.h"
#include "weyl/core/check.h"
#include "weyl/data/files/format_words.h"
#include "weyl/data/makers/makers.h"

namespace weyl {
namespace {

// A page of one maker's own: its options. Empty when there is no such maker.
std::string maker_help(const std::string& name) {
  for (const auto& [known, makes] : makers()) {
    if (known == name) {
      return text(makes, "\nUsage: weyl data make ", name, " --out PATH [key=value...]\n\n",
                  "Options (key=value):\n", describe_maker(name),
                  "\nThe flags are those of `weyl data make --help`.\n");
    }
  }
  return "";
}

Verb add_data_make(CLI::App& data) {
  std::vector<std::string> lines;
  std::string names;
  for (const auto& [name, makes] : makers()) {
    lines.push_back(name + std::string(name.size() < 16 ? 16 - name.size() : 1, ' ') + makes);
    names += (names.empty() ? "" : ", ") + name;
  }
  lines.emplace_back("The options of one: weyl data make MAKER --help");
  const auto draft = begin<DataMakeCommand>(
      data, "make", "make a data set",
      block("Makers:", lines) + examples({"data make nbody --out data/nbody",
                                          "data make nbody --out data/small train=300 valid=100 test=100",
                                          "data make pose_sequences --out data/se3 group=se3",
                                          "data make glyphs --out data/glyphs-any rotation=any",
                                          "data make molecules --out data/ethanol molecule=ethanol"}));
  auto& [app, c] = draft;
  add_path(app, "MAKER", c->maker, "what to make: " + names);
  add_overrides(app, c->overrides, "options of the maker");
  add_out(app, c->out, "PATH", "folder to write", true);
  add_threads(app, c->threads, "threads, default all cores; the data do not depend on it");
  Verb verb = draft.done();
  verb.help = [c = c] { return maker_help(c->maker); };
  return verb;
}

Verb add_data_inspect(CLI::App& data) {
  const auto draft =
      begin<DataInspectCommand>(data, "inspect", "fields, units, ranges, missing values, warnings",
                                block("Formats:", formats_for(FormatUse::inspect)) +
                                    examples({"data inspect data/nbody/train.safetensors --json"}));
  auto& [app, c] = draft;
  add_path(app, "PATH", c->path, "data file or folder");
  return draft.done();
}

Verb add_data_convert(CLI::App& data) {
  std::string footer = block("Conversions:", formats_for(FormatUse::convert));
  for (const auto& [holds, options] : conversion_options()) {
    footer += "Options (key=value) of " + holds + ":\n" + options + "\n";
  }
  const auto draft = begin<DataConvertCommand>(
      data, "convert", "from one format to another, chosen by the names",
      footer + examples({"data convert n_body_system/dataset data/nbody",
                         "data convert trajectory.txt poses.safetensors",
                         "data convert trajectory.txt poses.safetensors length=64 stride=32",
                         "data convert trajectory.txt gaps/train.safetensors length=8 hole=true",
                         "data convert rmd17_ethanol.npz ethanol.xyz to=eV"}));
  auto& [app, c] = draft;
  add_path(app, "IN", c->in, "data file or folder");
  add_path(app, "OUT", c->out, "file or folder to write");
  add_overrides(app, c->options, "options of the conversion");
  return draft.done();
}

Verb add_data_split(CLI::App& data) {
  const auto draft = begin<DataSplitCommand>(
      data, "split", "one file into train, valid and test, at random",
      block("Formats:", formats_for(FormatUse::split)) +
          examples({"data split all.safetensors --out data/mine --train 0.9 --valid 0.05",
                    "data split frames.extxyz --out data/mine"}));
  auto& [app, c] = draft;
  add_path(app, "PATH", c->path, "data file");
  add_out(app, c->out, "DIR", "folder to write", true);
  add_fraction(app, "--train", c->train, "fraction, default 0.8");
  add_fraction(app, "--valid", c->valid, "fraction, default 0.1; the rest is the test split");
  add_seed(app, c->seed, "of the random order, default 0");
  return draft.done([](DataSplitCommand& s) {
    require<ConfigError>(s.train + s.valid <= 1 + 1e-12,
                         "--train and --valid are fractions that sum to at most 1, got ", s.train + s.valid);
  });
}

}  // namespace

std::vector<Verb> add_data_verbs(CLI::App& root) {
  CLI::App& data =
      add_group(root, "data", "make, inspect, convert and split data",
                examples({"data make nbody --out data/nbody", "data inspect data/nbody/train.safetensors"}));
  return {add_data_make(data), add_data_inspect(data), add_data_convert(data), add_data_split(data)};
}

}  // namespace weyl
