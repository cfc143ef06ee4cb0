#include "braid/cli/commands/list.hpp"

#include <array>

namespace braid::cli {

std::span<const CommandSpec* const> all_commands() {
    static const std::array kCommands{
        &kIngestCommand,
        &kRetrieveCommand,
        &kSearchCommand,
        &kContextCommand,
        &kExplainCommand,
        &kWhyNotCommand,
        &kDoctrineCommand,
        &kGetCommand,
        &kAddCommand,
        &kUpdateCommand,
        &kDeleteCommand,
        &kCollectionsCommand,
        &kCollectionsCreateCommand,
        &kCollectionsDropCommand,
        &kStatsCommand,
        &kFacetsCommand,
        &kAnalyzeCommand,
        &kReembedCommand,
        &kCompactCommand,
        &kPurgeCommand,
        &kCheckCommand,
        &kRepairCommand,
        &kBackupCommand,
        &kRestoreCommand,
        &kMigrateCommand,
        &kExportCommand,
        &kImportCommand,
        &kServeCommand,
        &kOpenCommand,
        &kKeysAddCommand,
        &kMcpCommand,
        &kRunCommand,
        &kFeaturesCommand,
        &kRankTrainCommand,
        &kRankShowCommand,
        &kRankDropCommand,
        &kEvalCommand,
        &kFuseCommand,
        &kTuneCommand,
        &kAbReportCommand,
        &kCompareCommand,
        &kBenchSparseCommand,
        &kBenchDenseCommand,
        &kBenchHybridCommand,
        &kConfigShowCommand,
        &kConfigTrustCommand,
        &kDoctorCommand,
        &kCompletionCommand,
        &kManualCommand,
    };
    return kCommands;
}

}  // namespace braid::cli
