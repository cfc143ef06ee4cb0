#pragma once

#include <span>

#include "braid/cli/args/arguments.hpp"

namespace braid::cli {

extern const CommandSpec kAbReportCommand;
extern const CommandSpec kAddCommand;
extern const CommandSpec kAnalyzeCommand;
extern const CommandSpec kBackupCommand;
extern const CommandSpec kBenchDenseCommand;
extern const CommandSpec kBenchHybridCommand;
extern const CommandSpec kBenchSparseCommand;
extern const CommandSpec kCheckCommand;
extern const CommandSpec kCollectionsCommand;
extern const CommandSpec kCollectionsCreateCommand;
extern const CommandSpec kCollectionsDropCommand;
extern const CommandSpec kCompletionCommand;
extern const CommandSpec kCompactCommand;
extern const CommandSpec kCompareCommand;
extern const CommandSpec kConfigShowCommand;
extern const CommandSpec kConfigTrustCommand;
extern const CommandSpec kContextCommand;
extern const CommandSpec kDeleteCommand;
extern const CommandSpec kDoctorCommand;
extern const CommandSpec kDoctrineCommand;
extern const CommandSpec kEvalCommand;
extern const CommandSpec kExplainCommand;
extern const CommandSpec kExportCommand;
extern const CommandSpec kFacetsCommand;
extern const CommandSpec kFeaturesCommand;
extern const CommandSpec kFuseCommand;
extern const CommandSpec kGetCommand;
extern const CommandSpec kImportCommand;
extern const CommandSpec kIngestCommand;
extern const CommandSpec kKeysAddCommand;
extern const CommandSpec kManualCommand;
extern const CommandSpec kMcpCommand;
extern const CommandSpec kMigrateCommand;
extern const CommandSpec kOpenCommand;
extern const CommandSpec kPurgeCommand;
extern const CommandSpec kRankDropCommand;
extern const CommandSpec kRankShowCommand;
extern const CommandSpec kRankTrainCommand;
extern const CommandSpec kReembedCommand;
extern const CommandSpec kRepairCommand;
extern const CommandSpec kRestoreCommand;
extern const CommandSpec kRetrieveCommand;
extern const CommandSpec kRunCommand;
extern const CommandSpec kSearchCommand;
extern const CommandSpec kServeCommand;
extern const CommandSpec kStatsCommand;
extern const CommandSpec kTuneCommand;
extern const CommandSpec kUpdateCommand;
extern const CommandSpec kWhyNotCommand;

/// Every command, in the order help lists them.
std::span<const CommandSpec* const> all_commands();

}  // namespace braid::cli
