#include "braid/cli/commands/ingest_report.hpp"

#include <algorithm>

#include "braid/cli/commands/ingest_files.hpp"
#include "braid/core/numbers.hpp"

namespace braid::cli {
namespace {

double per_second(std::uint64_t count, double seconds) {
    return static_cast<double>(count) / std::max(seconds, 1e-3);
}

std::string tenths(double seconds) {
    return core::fixed(seconds, 1) + " s";
}

std::string stored_line(const IngestTotals& totals, const std::string& collection, bool dry_run) {
    const ingest::DirectoryReport& texts = totals.texts;
    std::string text =
        (dry_run ? "Would store " : "Stored ") + core::count_of(totals.stored, "chunk", "chunks");
    if (texts.written > 0) text += " of " + core::count_of(texts.written, "file", "files");
    text += std::string(" in ") + (totals.created ? "the new collection \"" : "collection \"") +
            collection + "\"";
    if (totals.replaced > 0) text += ", " + core::grouped(totals.replaced) + " of them replaced";
    if (totals.removed > 0) {
        text += ", " + core::count_of(totals.removed, "outdated one", "outdated ones") + " removed";
    }
    if (totals.unchanged > 0) {
        text +=
            ", " + core::count_of(totals.unchanged, "unchanged one", "unchanged ones") + " skipped";
    }
    if (texts.unchanged > 0) {
        text += ", " + core::count_of(texts.unchanged, "unchanged file", "unchanged files") +
                " skipped";
    }
    const double rate = per_second(totals.stored, totals.seconds);
    if (rate >= 1 && !dry_run) {
        text += " (" + core::grouped(static_cast<std::uint64_t>(rate)) + " chunks/s";
        if (texts.tokens > 0) {
            text += ", " +
                    core::grouped(
                        static_cast<std::uint64_t>(per_second(texts.tokens, totals.seconds))) +
                    " tokens/s";
        }
        if (texts.written > 0) {
            text += "; in parallel: reading " + tenths(texts.times.reading) + ", cutting " +
                    tenths(texts.times.parsing) + ", embedding and writing " +
                    tenths(texts.times.storing);
        }
        text += ")";
    }
    return text + ".";
}

}  // namespace

std::vector<std::string> report_lines(const IngestTotals& totals, const std::string& collection,
                                      const ingest::DirectoryOptions& options) {
    std::vector<std::string> lines{stored_line(totals, collection, options.dry_run)};
    if (!options.documents.empty() && totals.texts.written > 0) {
        lines.push_back((options.dry_run ? "Would store " : "Stored ") +
                        core::count_of(totals.texts.written, "document", "documents") +
                        " whole in collection \"" + options.documents + "\".");
    }
    for (std::string& line : file_lines(totals.texts, options)) lines.push_back(std::move(line));
    if (totals.failed_lines > 0) {
        lines.push_back("Failed: " + core::count_of(totals.failed_lines, "line", "lines") + ".");
    }
    return lines;
}

Value report_value(const IngestTotals& totals, const std::string& collection,
                   const std::vector<std::string>& paths, const ingest::DirectoryOptions& options) {
    const ingest::DirectoryReport& texts = totals.texts;
    Object report{{"collection", Value(collection)},
                  {"created", totals.created},
                  {"chunks", totals.stored},
                  {"replaced", totals.replaced},
                  {"unchanged", totals.unchanged},
                  {"removed", totals.removed},
                  {"paths", Array(paths.begin(), paths.end())},
                  {"dry_run", options.dry_run},
                  {"text_files", texts.files},
                  {"stored_files", texts.written},
                  {"unchanged_files", texts.unchanged},
                  {"skipped_files", count_of_state(texts.outcomes, ingest::FileState::Skipped)},
                  {"failed_files", Array(texts.failed.begin(), texts.failed.end())},
                  {"failed_lines", totals.failed_lines},
                  {"renamed_files", Array(texts.renamed.begin(), texts.renamed.end())},
                  {"gone_documents", Array(texts.gone.begin(), texts.gone.end())},
                  {"pruned", options.prune && !options.dry_run},
                  {"files", ingest::files_to_value(texts.outcomes)},
                  {"tokens", texts.tokens},
                  {"chunks_per_second", per_second(totals.stored, totals.seconds)},
                  {"tokens_per_second", per_second(texts.tokens, totals.seconds)},
                  {"reading_seconds", texts.times.reading},
                  {"parsing_seconds", texts.times.parsing},
                  {"storing_seconds", texts.times.storing},
                  {"seconds", totals.seconds},
                  {"warnings", Array(totals.warnings.begin(), totals.warnings.end())},
                  {"warning_count", totals.warning_count}};
    if (!options.documents.empty()) report.set("documents", Value(options.documents));
    return report;
}

Result<> failures_of(const IngestTotals& totals) {
    const std::size_t files = totals.texts.failed.size();
    const std::uint64_t lines = totals.failed_lines;
    if (files == 0 && lines == 0) return {};
    std::string what = files > 0 ? core::count_of(files, "file", "files") : "";
    if (lines > 0) {
        what += (what.empty() ? "" : " and ") + core::count_of(lines, "line", "lines");
    }
    return fail(lines > 0 ? ErrorCode::InvalidArgument : ErrorCode::IoError,
                what + " could not be read");
}

Error with_count(Error error, const IngestTotals& totals) {
    error.message += " (" + core::count_of(totals.stored, "chunk", "chunks") +
                     (totals.stored == 1 ? " was stored before)" : " were stored before)");
    return error;
}

}  // namespace braid::cli
