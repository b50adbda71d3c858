#include "weyl/app/cli/command_line.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/data/format_words.h"
#include "weyl/makers/makers.h"

namespace weyl {
namespace command_line_test {

Parsed parse(std::vector<std::string> arguments) {
  return parse_command_line(arguments);
}

template <class C>
C expect(std::vector<std::string> arguments) {
  const Parsed parsed = parse(arguments);
  EXPECT_TRUE(parsed.command.has_value()) << parsed.err;
  EXPECT_TRUE(parsed.command && std::holds_alternative<C>(*parsed.command));
  return parsed.command && std::holds_alternative<C>(*parsed.command) ? std::get<C>(*parsed.command) : C();
}

// A usage error is one line on stderr, exit code 2.
std::string error_of(std::vector<std::string> arguments) {
  const Parsed parsed = parse(arguments);
  EXPECT_FALSE(parsed.command.has_value());
  EXPECT_EQ(parsed.exit_code, exit_usage);
  EXPECT_TRUE(parsed.out.empty());
  EXPECT_EQ(std::count(parsed.err.begin(), parsed.err.end(), '\n'), 1) << parsed.err;
  return parsed.err;
}

TEST(CommandLine, ReadsTrainWithOverridesAnywhere) {
  const auto c =
      expect<TrainCommand>({"train", "a.toml", "train.epochs=5", "--out", "runs/x", "model.system=platonic",
                            "--device", "cuda:1", "--threads", "2", "--quiet", "--json"});
  EXPECT_EQ(c.config.path, "a.toml");
  EXPECT_EQ(c.config.overrides, (std::vector<std::string>{"train.epochs=5", "model.system=platonic"}));
  EXPECT_EQ(c.out, "runs/x");
  EXPECT_EQ(c.machine.device, "cuda:1");
  EXPECT_EQ(c.machine.threads, 2);
  EXPECT_TRUE(c.output.quiet && c.output.json);
}

TEST(CommandLine, TurnsDtypeAndSeedOfTrainIntoOverrides) {
  const auto c = expect<TrainCommand>({"train", "a.toml", "--dtype", "float64", "--seed", "7"});
  EXPECT_EQ(c.config.overrides, (std::vector<std::string>{"train.precision=float64", "train.seed=7"}));
}

TEST(CommandLine, ResumesARunWithAnotherBudgetAlone) {
  const auto c = expect<TrainCommand>(
      {"train", "--resume", "runs/x", "train.epochs=5", "train.steps=7", "--data-changed"});
  EXPECT_TRUE(c.config.path.empty());
  EXPECT_EQ(c.config.overrides, (std::vector<std::string>{"train.epochs=5", "train.steps=7"}));
  EXPECT_TRUE(c.data_changed);
  EXPECT_EQ(
      expect<TrainCommand>({"train", "train.max_seconds=7", "--resume", "runs/x"}).config.overrides.size(),
      1u);
  EXPECT_EQ(expect<TrainCommand>({"train", "--resume", "runs/x", "model.platonic.linear=spectral"})
                .config.overrides.size(),
            1u);
  for (const char* other :
       {"train.batch=4", "model.system=lie", "model.platonic.width=96", "data.nbody.path=x"}) {
    EXPECT_NE(error_of({"train", "--resume", "runs/x", "train.epochs=5", other})
                  .find(std::string(
                            "only its budget (train.epochs, train.steps, train.flops, train.max_seconds) may "
                            "be changed, and the form of its linear maps (model.platonic.linear), got '") +
                        other + "'"),
              std::string::npos);
  }
  error_of({"train", "a.toml", "--data-changed"});
}

TEST(CommandLine, ResumesARunAndNothingElse) {
  EXPECT_EQ(expect<TrainCommand>({"train", "--resume", "runs/x"}).resume, "runs/x");
  EXPECT_NE(error_of({"train", "--resume", "runs/x", "--out", "y"}).find("--resume"), std::string::npos);
  EXPECT_NE(error_of({"train"}).find("CONFIG"), std::string::npos);
  error_of({"train", "a.toml", "--resume", "runs/x"});
}

TEST(CommandLine, ReadsEveryOtherVerb) {
  const auto eval =
      expect<EvalCommand>({"eval", "runs/x", "--data", "d", "--split", "valid", "--dtype", "float64"});
  EXPECT_EQ(eval.model, "runs/x");
  EXPECT_EQ(eval.data, "d");
  EXPECT_EQ(eval.split, "valid");
  EXPECT_EQ(eval.machine.dtype, "float64");

  EXPECT_EQ(expect<EvalCommand>({"eval", "m"}).split, "");
  const auto keys = expect<EvalCommand>({"eval", "m", "--data", "d", "data.molecules.energy=E"});
  EXPECT_EQ(keys.overrides, std::vector<std::string>{"data.molecules.energy=E"});
  EXPECT_NE(error_of({"eval", "m", "data.molecules.energy=E"}).find("goes with --data PATH"),
            std::string::npos);

  const auto predict = expect<PredictCommand>({"predict", "m", "d", "--out", "o", "--gradient"});
  EXPECT_EQ(predict.model + predict.data + predict.out, "mdo");
  EXPECT_TRUE(predict.gradient);
  EXPECT_TRUE(predict.others.empty());
  const auto several = expect<PredictCommand>({"predict", "m", "n", "p", "d", "--out", "o"});
  EXPECT_EQ(several.model + several.data, "md");
  EXPECT_EQ(several.others, (std::vector<std::string>{"n", "p"}));
  const auto in_bohr =
      expect<PredictCommand>({"predict", "m", "d", "data.molecules.length_unit=Bohr", "--out", "o"});
  EXPECT_EQ(in_bohr.model + in_bohr.data, "md");
  EXPECT_EQ(in_bohr.overrides, std::vector<std::string>{"data.molecules.length_unit=Bohr"});
  EXPECT_FALSE(predict.force);
  EXPECT_TRUE(expect<PredictCommand>({"predict", "m", "d", "--out", "o", "--force"}).force);

  const auto audit = expect<AuditCommand>({"audit", "a.toml", "model.x=1", "--samples", "8"});
  EXPECT_EQ(audit.subject.overrides.size(), 1u);
  EXPECT_EQ(audit.samples, 8);

  EXPECT_TRUE(expect<EvalCommand>({"eval", "m", "--as-is"}).as_is);
  EXPECT_TRUE(expect<PredictCommand>({"predict", "m", "d", "--out", "o", "--as-is"}).as_is);
  const auto serve = expect<ServeCommand>({"serve", "m", "n", "--template", "f.xyz", "--ipi", ":31415"});
  EXPECT_EQ(serve.models, (std::vector<std::string>{"m", "n"}));
  EXPECT_EQ(serve.frame, "f.xyz");
  EXPECT_EQ(serve.ipi, ":31415");
  EXPECT_FALSE(expect<EvalCommand>({"eval", "m"}).as_is);
  EXPECT_EQ(expect<InfoCommand>({"info", "m"}).subject.path, "m");
  const auto import = expect<ImportCommand>(
      {"import", "w", "--config", "c", "a=1", "--energy-unit", "kcal/mol", "--out", "o"});
  EXPECT_EQ(import.config.overrides.size(), 1u);
  EXPECT_EQ(import.energy_unit, "kcal/mol");
  EXPECT_FALSE(import.force);
  EXPECT_TRUE(expect<ImportCommand>({"import", "w", "--config", "c", "--out", "o", "--force"}).force);

  const auto make = expect<DataMakeCommand>({"data", "make", "nbody", "--out", "o", "train=20"});
  EXPECT_EQ(make.maker + make.out, "nbodyo");
  EXPECT_EQ(make.overrides, (std::vector<std::string>{"train=20"}));
  EXPECT_EQ(expect<DataInspectCommand>({"data", "inspect", "p"}).path, "p");
  EXPECT_EQ(expect<DataConvertCommand>({"data", "convert", "i", "o"}).out, "o");
  EXPECT_EQ(expect<DataSplitCommand>({"data", "split", "p", "--out", "o"}).out, "o");
  EXPECT_EQ(expect<DataSplitCommand>({"data", "split", "p", "--out", "o", "stress_order=vasp"}).options,
            std::vector<std::string>{"stress_order=vasp"});

  EXPECT_TRUE(expect<ConfigSchemaCommand>({"config", "schema", "--markdown"}).markdown);
  EXPECT_EQ(expect<ConfigExplainCommand>({"config", "explain", "train.batch"}).key, "train.batch");
  EXPECT_EQ(expect<ConfigCheckCommand>({"config", "check", "a.toml", "x=1"}).config.overrides.size(), 1u);
  EXPECT_EQ(expect<ConfigNewCommand>({"config", "new", "--data", "d", "--task", "property"}).task,
            "property");
  EXPECT_EQ(expect<ConfigNewCommand>({"config", "new", "d", "--out", "c.toml"}).data, "d");

  const auto bench = expect<BenchCommand>({"bench", "a.toml", "--compare", "b.toml", "c.toml", "x=1"});
  EXPECT_EQ(bench.compare, (std::vector<std::string>{"b.toml", "c.toml"}));
  const auto against =
      expect<BenchCommand>({"bench", "a.toml", "--against", "model.x=1", "--against", "model.y=2", "z=3"});
  EXPECT_EQ(against.against, (std::vector<std::string>{"model.x=1", "model.y=2"}));
  EXPECT_EQ(against.config.overrides, (std::vector<std::string>{"z=3"}));  // of both sides
  EXPECT_EQ(bench.config.overrides, (std::vector<std::string>{"x=1"}));
  EXPECT_EQ(expect<PlotCommand>({"plot", "r", "--out", "p"}).out, "p");
  expect<DoctorCommand>({"doctor", "--json"});
}

TEST(CommandLine, NamesTheNearestVerbAndFlag) {
  EXPECT_NE(error_of({"trian"}).find("'train'"), std::string::npos);
  EXPECT_NE(error_of({"data", "inspekt", "x"}).find("'inspect'"), std::string::npos);
  EXPECT_NE(error_of({"train", "a.toml", "--devise", "cpu"}).find("'--device'"), std::string::npos);
  EXPECT_NE(error_of({"eval", "m", "--splt=test"}).find("'--split'"), std::string::npos);
}

TEST(CommandLine, RefusesWrongValues) {
  error_of({"train", "a.toml", "--device", "gpu"});
  error_of({"train", "a.toml", "--device", "cuda:x"});
  error_of({"train", "a.toml", "--threads", "0"});
  error_of({"train", "a.toml", "--dtype", "float16"});
  error_of({"train", "a.toml", "epochs"});
  error_of({"eval", "m", "--split", "dev"});
  error_of({"predict", "m", "d"});
  error_of({"serve", "m", "--ipi", "unix:weyl"});
  error_of({"serve", "m", "--template", "f.xyz"});
  error_of({"data", "split", "p", "--out", "o", "--train", "0.9", "--valid", "0.2"});
  error_of({"bench", "a.toml", "--scattered"});
  EXPECT_EQ(error_of({"bench", "a.toml", "--against", "model.x=1", "--against", "train.batch=4"}),
            "weyl bench: --against must be an option of the model (model.key=value), got train.batch=4\n");
  error_of({"info"});
  error_of({"info", "a", "b"});
  error_of({"data"});
}

TEST(CommandLine, HelpsWithEveryMakerAndItsOptions) {
  const std::string page = parse({"data", "make", "--help"}).out;
  for (const auto& [name, makes] : makers()) {
    EXPECT_NE(page.find("\n  " + name + " "), std::string::npos) << name;
    EXPECT_NE(page.find(makes), std::string::npos) << name;
    const Parsed own = parse({"data", "make", name, "--help"});
    EXPECT_EQ(own.exit_code, exit_done);
    EXPECT_NE(own.out.find("Usage: weyl data make " + name), std::string::npos) << own.out;
    EXPECT_NE(own.out.find("\n  threads "), std::string::npos) << own.out;
    EXPECT_EQ(parse({"data", "make", "--out", "x", name, "seed=1", "--help"}).out, own.out);
  }
  EXPECT_NE(
      parse({"data", "make", "nbody", "-h"}).out.find("must be an integer from 0 to 10000; default 3000"),
      std::string::npos);
  EXPECT_EQ(parse({"data", "make", "nbdy", "--help"}).out, page);  // lists those there are
}

TEST(CommandLine, HelpListsTheFileFormats) {
  for (const auto& [verb, use] : {std::pair{"inspect", FormatUse::inspect},
                                  {"convert", FormatUse::convert},
                                  {"split", FormatUse::split}}) {
    const std::string page = parse({"data", verb, "--help"}).out;
    const auto formats = formats_for(use);
    EXPECT_GT(formats.size(), 5u);
    for (const std::string& words : formats) {
      EXPECT_NE(page.find("\n  " + words + "\n"), std::string::npos) << verb << " " << words;
    }
  }
  const std::string convert = parse({"data", "convert", "--help"}).out;
  EXPECT_NE(convert.find("Options (key=value) of poses:\n  format  "), std::string::npos) << convert;
  EXPECT_NE(convert.find("Options (key=value) of frames of atoms:\n  energy  "), std::string::npos)
      << convert;
}

TEST(CommandLine, DoesNotKnowVerbsThatAreNotBuilt) {
  const std::string help = parse({"--help"}).out;
  for (const char* verb : {"md", "new", "report"}) {
    error_of({verb});
    EXPECT_EQ(help.find(std::string("\n  ") + verb), std::string::npos) << verb;
  }
}

TEST(CommandLine, HelpsWithEveryVerbAndShowsAnExample) {
  const std::string help = parse({"--help"}).out;
  for (const std::string& verb : verb_names()) {
    EXPECT_NE(help.find("  " + verb), std::string::npos) << verb;
    const Parsed own = parse({verb, "--help"});
    EXPECT_EQ(own.exit_code, exit_done);
    EXPECT_NE(own.out.find("weyl " + verb), std::string::npos) << verb;
    EXPECT_NE(own.out.find("Examples:"), std::string::npos) << verb;
  }
  for (const char* verb : {"make", "inspect", "convert", "split"}) {
    EXPECT_NE(parse({"data", verb, "--help"}).out.find(std::string("weyl data ") + verb), std::string::npos);
  }
  EXPECT_EQ(parse({"--version"}).out.rfind("weyl ", 0), 0u);
  EXPECT_EQ(parse({}).exit_code, exit_usage);
}

TEST(CommandLine, EveryVerbTakesThreadsAndQuiet) {
  const std::vector<std::vector<std::string>> verbs{{"train"},
                                                    {"crossval"},
                                                    {"eval"},
                                                    {"predict"},
                                                    {"serve"},
                                                    {"audit"},
                                                    {"info"},
                                                    {"import"},
                                                    {"data", "make"},
                                                    {"data", "inspect"},
                                                    {"data", "convert"},
                                                    {"data", "split"},
                                                    {"config", "schema"},
                                                    {"config", "explain"},
                                                    {"config", "check"},
                                                    {"config", "new"},
                                                    {"bench"},
                                                    {"compare"},
                                                    {"plot"},
                                                    {"scale", "fit"},
                                                    {"scale", "plan"},
                                                    {"scale", "run"},
                                                    {"scale", "plot"},
                                                    {"scale", "report"},
                                                    {"completion"},
                                                    {"doctor"}};
  EXPECT_EQ(verbs.size(), std::variant_size_v<Command>);
  for (std::vector<std::string> verb : verbs) {
    verb.push_back("--help");
    const std::string page = parse(verb).out;
    for (const char* flag : {"--threads", "--quiet"}) {
      EXPECT_NE(page.find(flag), std::string::npos) << verb[0] << " " << verb[1] << " " << flag;
    }
  }
  const Parsed threads = parse({"compare", "a", "b", "--threads", "3"});
  ASSERT_TRUE(threads.command.has_value()) << threads.err;
  EXPECT_EQ(output_of(*threads.command).threads, 3);
}

}  // namespace command_line_test
}  // namespace weyl
