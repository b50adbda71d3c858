#pragma once

#include <optional>
#include <string>

#include "weyl/app/command_line.h"

namespace weyl {

/// Each verb does what the command says, prints its result on stdout and returns the exit code. Errors are
/// thrown. The first five need no torch and are answered by `weyl` itself.
int run(const ConfigSchemaCommand& command);
int run(const ConfigExplainCommand& command);
int run(const ConfigCheckCommand& command);
/// Of a model file or run, from the file's metadata alone; empty when that is not enough (a config, foreign
/// weights).
std::optional<int> run_from_metadata(const InfoCommand& command);
/// When the engine cannot be started: what can be said without it, and that it is missing.
int run_without_engine(const DoctorCommand& command, const std::string& reason);

int run(const TrainCommand& command);
int run(const EvalCommand& command);
int run(const PredictCommand& command);
int run(const AuditCommand& command);
int run(const InfoCommand& command);
int run(const ImportCommand& command);
int run(const DataMakeCommand& command);
int run(const DataInspectCommand& command);
int run(const DataConvertCommand& command);
int run(const DataSplitCommand& command);
int run(const BenchCommand& command);
int run(const PlotCommand& command);
int run(const DoctorCommand& command);

/// Prints `weyl: <message>` (one line) on stderr and returns the exit code of this kind of error: ConfigError
/// 2, DataError 3, std::bad_alloc 4, anything else 1.
int report(const std::exception& error);

}  // namespace weyl
