#include <array>
#include <cstdint>
#include <deque>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "braid/backend.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/config/cluster.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/numbers.hpp"
#include "braid/core/sha256.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/chunk_json.hpp"

namespace braid::cli {
namespace {

constexpr std::size_t kBatch = 500;
constexpr std::size_t kUnderWay = 2;  // batches being written while the next is read

constexpr auto kMigrateFlags = std::to_array<FlagSpec>({
    {.name = "collection",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "only this one (default: all)"},
});

/// What became of one collection.
struct Migrated {
    std::string name;
    std::uint64_t chunks = 0;
    std::uint64_t written = 0;  // the others were there already
    std::string hash;           // of all chunks, in the order of namespaces and ids
};

/// A chunk without its version: versions are each backend's own.
std::string printed(Chunk chunk) {
    chunk.version = 0;
    return json::print(wire::chunk_to_value(chunk)) + "\n";
}

class Migration {
public:
    Migration(const Session& session, Database& from, Database& to)
        : session_(session),
          from_database_(from),
          to_database_(to),
          from_(from.backend()),
          to_(to.backend()) {
        limits_.stop = session.interrupts.token();
    }

    Result<Migrated> run(const CollectionInfo& info) {
        if (!info.damage.empty()) {
            return fail(ErrorCode::Unavailable,
                        "collection \"" + info.name + "\" cannot be read: " + info.damage);
        }
        const std::vector<std::string> names{info.name};
        BRAID_TRY(const ReaderPtr source, from_.snapshot(names, limits_));
        BRAID_CHECK(prepare(info));
        Migrated done{.name = info.name};
        core::Sha256 hash;
        for (const std::string& space : info.namespaces) {
            const ReadScope scope{.collection = info.name, .namespace_ = space};
            auto copied = copy(*source, scope, done, hash);
            // Waits for what is in progress, whatever happened.
            auto written = settle(0, scope, done);
            BRAID_CHECK(std::move(copied));
            BRAID_CHECK(std::move(written));
        }
        BRAID_TRY(const std::string ranker, from_database_.ranker(info.name));
        if (!ranker.empty()) BRAID_CHECK(to_database_.set_ranker(info.name, ranker));
        done.hash = core::to_hex(hash.finish());
        BRAID_CHECK(verify(info, done));
        return done;
    }

private:
    /// The target's collection: created, or found to have the same schema.
    Result<> prepare(const CollectionInfo& info) {
        const auto there = to_.describe(info.name, {});
        empty_ = false;
        if (!there) {
            if (there.error().code != ErrorCode::NotFound) {
                return tl::unexpected<Error>(there.error());
            }
            empty_ = true;
            return to_.create_collection(info.name, info.schema);
        }
        Schema theirs = there->schema;
        if (theirs.vectors.dimension == 0) theirs.vectors.dimension = info.schema.vectors.dimension;
        if (theirs == info.schema) return {};
        return fail(ErrorCode::Conflict, "collection \"" + info.name +
                                             "\" already exists with another schema; drop it, "
                                             "or migrate to another place");
    }

    Result<> copy(const Reader& source, const ReadScope& scope, Migrated& done,
                  core::Sha256& hash) {
        for (std::string after;;) {
            BRAID_TRY(auto chunks, source.scan(scope, after, kBatch, true));
            if (chunks.empty()) return {};
            after = chunks.back().chunk_id;
            done.chunks += chunks.size();
            BRAID_TRY(auto missing, not_there(scope, std::move(chunks), hash));
            BRAID_CHECK(settle(kUnderWay - 1, scope, done));
            if (missing.empty()) continue;
            writing_.push_back(std::async(std::launch::async, [this, scope,
                                                               missing = std::move(missing)] {
                return to_.upsert(scope.collection, scope.namespace_, missing, {.limits = limits_});
            }));
        }
    }

    /// Waits until no more than that many batches are in progress.
    Result<> settle(std::size_t left, const ReadScope& scope, Migrated& done) {
        Result<> all;
        while (writing_.size() > left) {
            const auto report = writing_.front().get();
            writing_.pop_front();
            if (report) done.written += report->written;
            if (!report && all) all = tl::unexpected<Error>(report.error());
            if (session_.verbose()) {
                session_.note(scope.collection + ": " + std::to_string(done.chunks) + " chunks, " +
                              std::to_string(done.written) + " written");
            }
        }
        return all;
    }

    /// Chunks that the target lacks or holds in another form: after an interruption, the rest.
    Result<std::vector<Chunk>> not_there(const ReadScope& scope, std::vector<Chunk> chunks,
                                         core::Sha256& hash) {
        std::vector<std::optional<Chunk>> there(chunks.size());
        if (!empty_) {
            std::vector<std::string> ids;
            for (const Chunk& chunk : chunks) ids.push_back(chunk.chunk_id);
            const std::vector<std::string> names{scope.collection};
            BRAID_TRY(const ReaderPtr target, to_.snapshot(names, limits_));
            BRAID_TRY(there, target->fetch(scope, ids, true));
        }
        std::vector<Chunk> missing;
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            const std::string text = printed(chunks[i]);
            hash.update(std::as_bytes(std::span(text)));
            if (there[i] && printed(*there[i]) == text) continue;
            missing.push_back(std::move(chunks[i]));
        }
        return missing;
    }

    /// Reads everything back: there must be as many chunks, with the same hash.
    Result<> verify(const CollectionInfo& info, const Migrated& done) {
        BRAID_TRY(const CollectionInfo there, to_.describe(info.name, {}));
        const std::vector<std::string> names{info.name};
        BRAID_TRY(const ReaderPtr target, to_.snapshot(names, limits_));
        std::uint64_t chunks = 0;
        core::Sha256 hash;
        for (const std::string& space : there.namespaces) {
            const ReadScope scope{.collection = info.name, .namespace_ = space};
            for (std::string after;;) {
                BRAID_TRY(const auto page, target->scan(scope, after, kBatch, true));
                if (page.empty()) break;
                after = page.back().chunk_id;
                chunks += page.size();
                for (const Chunk& chunk : page) {
                    const std::string text = printed(chunk);
                    hash.update(std::as_bytes(std::span(text)));
                }
            }
        }
        if (chunks != done.chunks) {
            return fail(ErrorCode::Conflict,
                        "collection \"" + info.name + "\": " + std::to_string(done.chunks) +
                            " chunks were migrated, but " + std::to_string(chunks) + " are there");
        }
        if (core::to_hex(hash.finish()) != done.hash) {
            return fail(ErrorCode::Conflict, "collection \"" + info.name +
                                                 "\": the copy differs from what was migrated; did "
                                                 "another program write to it?");
        }
        return {};
    }

    const Session& session_;
    Database& from_database_;
    Database& to_database_;
    Backend& from_;
    Backend& to_;
    CallLimits limits_;
    bool empty_ = false;  // the target was made in this run
    std::deque<std::future<Result<WriteReport>>> writing_;
};

bool names_cluster(const std::string& place) {
    return place.starts_with("http://") || place.starts_with("https://");
}

Result<Database> open_place(const Session& session, const std::string& place, bool read_only) {
    if (names_cluster(place)) {
        BRAID_TRY(const ClusterEndpoint endpoint,
                  cluster_endpoint(session.arguments, session.settings, place));
        return Database::cluster(endpoint);
    }
    OpenOptions options;
    options.create = !read_only;
    options.read_only = read_only;
    return Database::open(place, options);
}

Result<> run_migrate(Session& session) {
    const std::string& from = session.arguments.operands.at(0);
    const std::string& to = session.arguments.operands.at(1);
    if (from == to) return invalid_argument("FROM and TO are the same place");
    session.interrupts.hold();
    BRAID_TRY(Database source, open_place(session, from, true));
    BRAID_TRY(Database target, open_place(session, to, false));
    Migration migration(session, source, target);
    std::vector<CollectionInfo> infos;
    if (const auto name = session.arguments.text("collection")) {
        BRAID_TRY(infos.emplace_back(), source.backend().describe(*name, {}));
    } else {
        BRAID_TRY(infos, source.backend().collections({}));
    }
    if (infos.empty()) session.note(from + " holds no collections: nothing was copied");
    Array listed;
    for (const CollectionInfo& info : infos) {
        auto done = migration.run(info);
        if (!done) {
            if (done.error().code == ErrorCode::Cancelled) {
                return fail(ErrorCode::Cancelled, "interrupted; run the same command to continue");
            }
            return tl::unexpected<Error>(std::move(done).error());
        }
        listed.emplace_back(Object{{"collection", Value(done->name)},
                                   {"chunks", Value(done->chunks)},
                                   {"written", Value(done->written)},
                                   {"hash", Value(done->hash)}});
        if (session.json() || session.quiet()) continue;
        session.out.line(plain(done->name) + ": " +
                         core::count_of(done->chunks, "chunk", "chunks") + ", " +
                         std::to_string(done->written) + " written; read back and compared");
    }
    if (session.json()) session.out.json(Object{{"collections", std::move(listed)}});
    return {};
}

}  // namespace

const CommandSpec kMigrateCommand{
    .name = "migrate",
    .operands = "FROM TO",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "copy collections between a folder and a cluster",
    .details = R"(FROM and TO are folders of databases, or nodes of a cluster (URLs separated by
commas), in any combination. Chunks are copied with their vectors; then all of
TO is read back and compared by counts and hashes. FROM is only read. Run the
command again after an interruption: what is there already is not written again.

  braid migrate ./braid-data http://127.0.0.1:9200
  braid migrate https://node1:9200,https://node2:9200 ./copy --collection notes)",
    .flags = kMigrateFlags,
    .run = run_migrate,
    .whole_database = true,
};

}  // namespace braid::cli
