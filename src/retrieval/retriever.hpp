#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "braid/answer.hpp"
#include "braid/backend.hpp"
#include "braid/core/vocabulary.hpp"
#include "braid/embedder.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/retrieval/paging.hpp"
#include "braid/retrieval/query_embedder.hpp"
#include "braid/types.hpp"

namespace braid::core {
class Crew;
}

namespace braid::retrieval {

struct RetrieverOptions {
    core::VocabularyPtr vocabulary;           // of applications; none: braid's own alone
    std::vector<Profile> profiles;            // besides the built-in ones; same name replaces
    std::string default_profile = "default";  // of requests that name none
    LogSink log;
    std::vector<CustomStage> stages;  // besides the built-in ones; same name replaces
    std::function<Timestamp()> now;   // what stages count ages from; none: the system's clock
    CursorLimits cursors;
    /// Serves expand_query and use_hyde; none: the plain query is searched, with a warning.
    std::shared_ptr<const QueryPreprocessor> preprocessor;
    QueryEmbedder hypothesis_embedder;  // for use_hyde's text, a passage; none: the queries' one
    QueryMemory remembered;             // spares asking the embedder
    std::vector<std::string> english_embedders;  // that know no other language
};

/// The profile a request asks for; NotFound lists those there are.
Result<Profile> profile_of(const Request& request, const RetrieverOptions& options);

/// Turns requests into answers over any Backend: plan, search words while the query is embedded,
/// search vectors, fuse, stages, cut, fetch the survivors, write the receipts. Safe for concurrent
/// use. Destroying it waits for embedders and language models that nobody waits for any more; they
/// are asked to stop.
class Retriever {
public:
    /// The backend must outlive it.
    Retriever(const Backend& backend, QueryEmbedder embedder, RetrieverOptions options);
    ~Retriever();
    Retriever(const Retriever&) = delete;
    Retriever& operator=(const Retriever&) = delete;
    Retriever(Retriever&&) = delete;
    Retriever& operator=(Retriever&&) = delete;

    /// One leg down: the other answers, and the answer says so. All legs down: the first error.
    /// With a deadline the answer is there before it: vectors that are not made by then are gone
    /// without.
    ///
    /// The query is searched in the `forms` given, if there are any; otherwise they are filled in.
    ///
    /// With a cursor, the page after the one that gave it: a piece of the same ranking, on the same
    /// snapshot and at the same depth. NotFound once the cursor has expired; Unavailable if what
    /// failed or worked on the first page no longer does.
    Result<Answer> retrieve(const Request& request, const Principal& principal,
                            const CallLimits& limits, QueryForms* forms = nullptr) const;

    /// The same with the request's own stages only, whatever the profile says.
    Result<Answer> retrieve_own_stages(const Request& request, const Principal& principal,
                                       const CallLimits& limits, QueryForms* forms = nullptr) const;

    /// Where a request searches. NotFound for an unknown profile, and as above for a cursor.
    Result<SearchTarget> target_of(const Request& request, const Principal& principal) const;

    /// Where a chunk stands in each leg and in the whole ranking. NotFound if no collection of the
    /// request has such a chunk that the principal may see. Both ask again and again, in variations
    /// of the request: writes meanwhile may show.
    Result<Explanation> explain(const Request& request, const std::string& chunk_id,
                                const Principal& principal, const CallLimits& limits) const;
    /// Why the answer does not hold a chunk, and what would bring it in. NotFound as above.
    Result<WhyNot> why_not(const Request& request, const std::string& chunk_id,
                           const Principal& principal, const CallLimits& limits) const;

private:
    Result<Answer> answer(const Request& request, const Principal& principal,
                          const CallLimits& limits, const Profile& profile, Page page,
                          QueryForms* forms) const;

    const Backend& backend_;
    QueryEmbedder embedder_;
    RetrieverOptions options_;
    std::unique_ptr<CursorTable> cursors_;
    std::unique_ptr<core::Crew> crew_;  // goes first: it uses the others
};

}  // namespace braid::retrieval
