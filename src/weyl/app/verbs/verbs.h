#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weyl/app/cli/command_line.h"

namespace weyl {

struct ModelOptions;
struct Recipe;
struct System;
using Systems = std::vector<System>;

/// Each verb does what the command says, prints its result on stdout and returns the exit code. Errors are
/// thrown. `known`, `systems`: those that configs and models may be of. The first ten need no torch and are answered
/// by `weyl` itself, `config check` where there is no engine.
int run(const ConfigSchemaCommand& command, const ModelOptions& known);
int run(const ConfigExplainCommand& command, const ModelOptions& known);
/// `more` throws for what only the engine can tell of a recipe.
int run(const ConfigCheckCommand& command, const ModelOptions& known,
        const std::function<std::vector<std::string>(const Recipe&)>& more = {});
int run(const CompletionCommand& command);
int run(const CompareCommand& command);
int run(const ScaleFitCommand& command);
int run(const ScalePlotCommand& command);
int run(const ScaleReportCommand& command);
/// What a model file or run is, from the file's metadata alone; empty when that is not enough (a config, foreign
/// weights).
std::optional<int> run_from_metadata(const InfoCommand& command, const ModelOptions& known);
/// `info --verify`.
int verify(const InfoCommand& command);
/// When the engine cannot be started: what can be said without it, and that it is missing.
int run_without_engine(const DoctorCommand& command, const std::string& reason);

int run(const ConfigCheckCommand& command, const Systems& systems);
int run(const ConfigNewCommand& command, const Systems& systems);
int run(const TrainCommand& command, const Systems& systems);
int run(const CrossvalCommand& command, const Systems& systems);
int run(const EvalCommand& command, const Systems& systems);
int run(const PredictCommand& command, const Systems& systems);
int run(const ServeCommand& command, const Systems& systems);
int run(const AuditCommand& command, const Systems& systems);
int run(const InfoCommand& command, const Systems& systems);
int run(const ImportCommand& command, const Systems& systems);
int run(const DataMakeCommand& command);
int run(const DataInspectCommand& command);
int run(const DataConvertCommand& command);
int run(const DataSplitCommand& command);
int run(const BenchCommand& command, const Systems& systems);
int run(const ScalePlanCommand& command, const Systems& systems);
int run(const ScaleRunCommand& command, const Systems& systems);
int run(const PlotCommand& command, const Systems& systems);
int run(const DoctorCommand& command);

}  // namespace weyl
