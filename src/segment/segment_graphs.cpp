#include "braid/segment/segment_graphs.hpp"

#include <string>
#include <utility>

#include "braid/core/limits.hpp"
#include "braid/dense/graph_builder.hpp"
#include "braid/segment/segment.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/section_file_writer.hpp"

namespace braid::segment {
namespace {

constexpr std::string_view kOriginSection = "graph.of";

/// The section of one part's graph, in a file of many.
std::string graph_section(std::size_t number) {
    return std::string(dense::kGraphSection) + "." + part_section(number);
}

/// A file of graphs, seen as the source of one of them.
class GraphSource final : public store::SectionSource {
public:
    GraphSource(const store::SectionFile& file, std::size_t number)
        : file_(file), number_(number) {}

    Result<store::Section> section(std::string_view) const override {
        return file_.section(graph_section(number_));
    }

private:
    const store::SectionFile& file_;
    std::size_t number_;
};

/// The same for writing.
class GraphSink final : public store::SectionSink {
public:
    GraphSink(store::SectionSink& file, std::size_t number) : file_(file), number_(number) {}

    Result<> begin(std::string_view) override { return file_.begin(graph_section(number_)); }
    Result<> write(std::span<const std::byte> bytes) override { return file_.write(bytes); }
    std::uint64_t offset() const noexcept override { return file_.offset(); }

private:
    store::SectionSink& file_;
    std::size_t number_;
};

/// The vectors of a part if it should have a graph; null if it need not.
Result<std::shared_ptr<const Part>> part_for_graph(const Segment::Space& space,
                                                   std::uint64_t least) {
    if (space.meta().vectors < least) return nullptr;
    BRAID_TRY(auto part, space.part());
    if (part->vectors() == nullptr || part->vectors()->transform() == nullptr) return nullptr;
    return part;
}

}  // namespace

Result<std::shared_ptr<const SegmentGraphs>> SegmentGraphs::open(const store::Directory& directory,
                                                                 const store::SectionFile& of) {
    BRAID_TRY(auto file, store::SectionFile::open(
                             directory, store::section_file_name(kGraphKind, of.generation())));
    BRAID_TRY(const store::Section origin, file->section(kOriginSection));
    BRAID_TRY(const auto bytes, origin.bytes());
    store::ByteReader reader(bytes, file->path());
    BRAID_TRY(const std::uint64_t identity, reader.u64("the segment it was made from"));
    BRAID_CHECK(reader.expect_end("the segment it was made from"));
    if (identity != of.identity()) {
        return fail(ErrorCode::Conflict, file->path() + ": it was made from another segment");
    }
    BRAID_CHECK(file->intact());
    return std::shared_ptr<const SegmentGraphs>(new SegmentGraphs(std::move(file)));  // NOLINT
}

Result<dense::CodeGraph> SegmentGraphs::of_part(std::size_t number,
                                                const dense::VectorsMeta& meta) const {
    return dense::CodeGraph::open(GraphSource(*file_, number), meta);
}

std::string_view method_name(dense::VectorMethod method) noexcept {
    switch (method) {
        case dense::VectorMethod::Scan:
            return "code scan";
        case dense::VectorMethod::Graph:
            return "graph";
        case dense::VectorMethod::Exact:
            break;
    }
    return "exact scan";
}

bool graphs_due(const Segment& segment, std::uint64_t least) {
    for (const auto& space : segment.spaces()) {
        const auto part = part_for_graph(*space, least);
        // Read errors are reported by whoever searches it.
        if (part && *part && !(*part)->vectors()->has_graph()) return true;
    }
    return false;
}

Result<> build_graphs(store::Directory& directory, const Segment& segment, std::uint64_t least,
                      std::uint64_t memory_bytes, const std::stop_token& stop) {
    const std::string name = store::section_file_name(kGraphKind, segment.generation());
    if (auto removed = directory.remove(name);
        !removed && removed.error().code != ErrorCode::NotFound) {
        return removed;
    }
    BRAID_TRY(const auto writer,
              store::SectionFileWriter::create(directory, kGraphKind, segment.generation()));
    store::ByteWriter origin;
    origin.u64(segment.file().identity());
    BRAID_CHECK(writer->begin(kOriginSection));
    BRAID_CHECK(writer->write(origin.view()));
    for (std::size_t i = 0; i < segment.spaces().size(); ++i) {
        BRAID_TRY(const auto part, part_for_graph(*segment.spaces()[i], least));
        if (!part) continue;
        GraphSink sink(*writer, i);
        dense::GraphOptions options;
        options.memory_bytes = memory_bytes;
        options.scratch = &directory;
        BRAID_CHECK(
            dense::build_graph(*part->vectors(), sink, options, {.stop = stop, .progress = {}}));
        BRAID_CHECK(part->intact());
    }
    BRAID_CHECK(writer->finish());
    BRAID_TRY(auto graphs, SegmentGraphs::open(directory, segment.file()));
    segment.use(std::move(graphs));
    return {};
}

Result<> check_graphs(const store::Directory& directory, const Segment& segment,
                      core::Findings& findings, const CallLimits& limits) {
    const auto looked_at = [&]() -> Result<> {
        BRAID_TRY(const auto graphs, SegmentGraphs::open(directory, segment.file()));
        const store::SectionFile& file = graphs->file();
        findings.report().bytes += file.size_bytes();
        for (std::uint64_t block = 0; block < file.blocks(); ++block) {
            BRAID_CHECK(core::check_limits(limits));
            BRAID_CHECK(file.verify_block(block));
        }
        for (std::size_t i = 0; i < segment.spaces().size(); ++i) {
            BRAID_TRY(const auto part, part_for_graph(*segment.spaces()[i], 1));
            if (!part) continue;
            const auto graph = graphs->of_part(i, part->vectors()->meta());
            if (!graph && graph.error().code != ErrorCode::NotFound) {
                return tl::unexpected(graph.error());
            }
        }
        return {};
    }();
    if (looked_at || looked_at.error().code == ErrorCode::NotFound) return {};
    if (looked_at.error().code != ErrorCode::Corruption &&
        looked_at.error().code != ErrorCode::Conflict &&
        looked_at.error().code != ErrorCode::Unsupported) {
        return looked_at;
    }
    findings.note(looked_at.error().message +
                  "; searches work without it, and it is rebuilt when the database is next opened "
                  "for writing");
    return {};
}

}  // namespace braid::segment
