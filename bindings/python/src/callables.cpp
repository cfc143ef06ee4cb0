#include "callables.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "answers.hpp"
#include "braid/pipeline.hpp"
#include "braid/service/log.hpp"
#include "calls.hpp"

namespace braid::python {
namespace {

/// What a stage sees of a hit: a copy, because Python may keep it.
struct SeenHit {
    std::string collection;
    Shared<Chunk> chunk;
    double score = 0;
    bool matches = false;
};

/// `work()`, with Python's exceptions as errors. Takes the GIL, which the caller must not count on
/// having.
template <class Work>
auto guarded(const std::string& what, Work&& work) -> decltype(work()) {
    const nb::gil_scoped_acquire gil;
    try {
        return work();
    } catch (nb::python_error& error) {
        if (error.matches(PyExc_KeyboardInterrupt)) {
            PyErr_SetInterrupt();  // raised again where the call returns to Python
            return fail(ErrorCode::Cancelled, what + " was interrupted");
        }
        const auto type = nb::cast<std::string>(error.type().attr("__name__"));
        std::string text;
        try {
            text = nb::cast<std::string>(nb::str(error.value()));
        } catch (const std::exception&) {
            text = "(an exception without a text)";
        }
        return fail(ErrorCode::Unavailable, what + ": " + type + ": " + text);
    } catch (const std::exception& error) {
        return fail(ErrorCode::Unavailable, what + ": " + error.what());
    }
}

std::vector<float> floats_of(nb::handle row) {
    if (auto floats = to_floats(row, "vector")) return *std::move(floats);
    std::vector<float> out;
    for (const nb::handle item : nb::iter(row)) {
        const auto number = static_cast<float>(nb::cast<double>(nb::float_(item)));
        if (!std::isfinite(number)) {
            raise(ErrorCode::InvalidArgument, "\"vector\" must hold finite numbers only");
        }
        out.push_back(number);
    }
    return out;
}

class PythonEmbedder final : public Embedder {
public:
    PythonEmbedder(HeldPtr embedder, EmbedderFingerprint fingerprint, std::size_t batch_size)
        : embedder_(std::move(embedder)),
          fingerprint_(std::move(fingerprint)),
          batch_size_(std::max<std::size_t>(batch_size, 1)) {}

    const EmbedderFingerprint& fingerprint() const override { return fingerprint_; }

    Result<std::vector<Embedding>> embed(std::span<const std::string_view> texts, TextRole role,
                                         const CallLimits& limits) const override {
        std::vector<Embedding> out;
        out.reserve(texts.size());
        while (!texts.empty()) {
            if (limits.stopped()) return fail(ErrorCode::Cancelled, "embedding was cancelled");
            if (limits.expired()) {
                return fail(ErrorCode::DeadlineExceeded, "there was no time to embed all texts");
            }
            const auto batch = texts.first(std::min(texts.size(), batch_size_));
            const auto embedded =
                guarded("embedder \"" + fingerprint_.model + "\"",
                        [&]() -> Result<> { return embed_batch(batch, role, out); });
            if (!embedded) return tl::unexpected(embedded.error());
            texts = texts.subspan(batch.size());
        }
        return out;
    }

    std::size_t count_tokens(std::string_view text) const override {
        constexpr std::size_t bytes_per_token = 4;
        return (text.size() + bytes_per_token - 1) / bytes_per_token;
    }

private:
    Result<> embed_batch(std::span<const std::string_view> texts, TextRole role,
                         std::vector<Embedding>& out) const {
        const auto bad = [&](const std::string& message) {
            return fail(ErrorCode::Unavailable,
                        "embedder \"" + fingerprint_.model + "\" gave " + message);
        };
        nb::list list;
        for (const std::string_view text : texts) list.append(text);
        const nb::object rows =
            embedder_->get().attr("embed")(list, role == TextRole::Query ? "query" : "passage");
        const std::size_t before = out.size();
        for (const nb::handle row : nb::iter(rows)) {
            const std::vector<float>& vector = out.emplace_back().vector = floats_of(row);
            if (fingerprint_.dimension != 0 && vector.size() != fingerprint_.dimension) {
                return bad("a vector of " + std::to_string(vector.size()) + " numbers, not " +
                           std::to_string(fingerprint_.dimension));
            }
        }
        if (out.size() - before != texts.size()) {
            return bad(std::to_string(out.size() - before) + " vectors for " +
                       std::to_string(texts.size()) + " texts");
        }
        return {};
    }

    HeldPtr embedder_;
    EmbedderFingerprint fingerprint_;
    std::size_t batch_size_;
};

class PythonPreprocessor final : public QueryPreprocessor {
public:
    explicit PythonPreprocessor(nb::object preprocessor) : preprocessor_(std::move(preprocessor)) {}

    Result<std::vector<std::string>> expand(std::string_view query,
                                            const CallLimits& /*limits*/) const override {
        constexpr std::size_t most = 3;
        using Texts = std::vector<std::string>;
        return guarded("preprocessor", [&]() -> Result<Texts> {
            const nb::object given = preprocessor_.get().attr("expand")(query);
            Texts texts;
            for (const nb::handle item : nb::iter(given)) {
                auto text = nb::cast<std::string>(item);
                const bool blank = text.find_first_not_of(" \t\r\n") == std::string::npos;
                if (blank || text == query || std::ranges::find(texts, text) != texts.end()) {
                    continue;
                }
                if (texts.size() == most) break;
                texts.push_back(std::move(text));
            }
            return texts;
        });
    }

    Result<std::string> hypothetical_answer(std::string_view query,
                                            const CallLimits& /*limits*/) const override {
        return guarded("preprocessor", [&]() -> Result<std::string> {
            auto text = nb::cast<std::string>(preprocessor_.get().attr("answer")(query));
            if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
                return fail(ErrorCode::Unavailable, "preprocessor: the answer is blank");
            }
            return text;
        });
    }

private:
    Held preprocessor_;
};

std::optional<StageEffect::Kind> kind_by_name(std::string_view name) {
    using Kind = StageEffect::Kind;
    constexpr std::pair<std::string_view, Kind> kinds[] = {
        {"pass", Kind::Pass}, {"keep", Kind::Keep},     {"multiply", Kind::Multiply},
        {"add", Kind::Add},   {"divide", Kind::Divide}, {"replace", Kind::Replace},
        {"drop", Kind::Drop}};
    for (const auto& [word, kind] : kinds) {
        if (word == name) return kind;
    }
    return std::nullopt;
}

/// (kind, value, detail, below), as braid.Effect is.
Result<StageEffect> effect_of(nb::handle effect) {
    StageEffect out;
    const auto name = nb::cast<std::string>(effect.attr("kind"));
    const auto kind = kind_by_name(name);
    if (!kind) return invalid_argument("there is no effect \"" + name + "\"");
    out.kind = *kind;
    out.value = nb::cast<double>(effect.attr("value"));
    const nb::object detail = effect.attr("detail");
    if (!detail.is_none()) out.detail = to_object(detail);
    out.below = nb::cast<bool>(effect.attr("below"));
    return out;
}

Result<std::vector<StageEffect>> run_stage(const Held& stage, const StageInput& input,
                                           const Object& parameters) {
    nb::list hits;
    for (const StageHit& hit : input.hits) {
        hits.append(nb::cast(
            SeenHit{std::string(hit.collection), share(hit.chunk), hit.score, hit.matches}));
    }
    const nb::object effects =
        stage.get().attr("run")(input.query, hits, to_python(Value(parameters)));
    std::vector<StageEffect> out;
    out.reserve(input.hits.size());
    for (const nb::handle effect : nb::iter(effects)) {
        BRAID_TRY(out.emplace_back(), effect_of(effect));
    }
    return out;
}

}  // namespace

Held::~Held() {
    // Once the interpreter is gone there is nothing left to give the object back to.
    if (Py_IsInitialized() == 0) {
        (void)object_.release();
        return;
    }
    const nb::gil_scoped_acquire gil;
    object_.reset();
}

Result<std::shared_ptr<const Embedder>> make_embedder(const HeldPtr& embedder) {
    EmbedderFingerprint fingerprint;
    std::size_t batch_size = 1;
    const auto read = guarded("embedder", [&]() -> Result<> {
        const nb::object& object = embedder->get();
        fingerprint.model = nb::cast<std::string>(object.attr("model"));
        fingerprint.model_hash = nb::cast<std::string>(object.attr("model_hash"));
        fingerprint.dimension = nb::cast<std::size_t>(object.attr("dimension"));
        batch_size = nb::cast<std::size_t>(object.attr("batch_size"));
        fingerprint.token_limit = nb::cast<std::size_t>(object.attr("token_limit"));
        return {};
    });
    if (!read) return tl::unexpected(read.error());
    if (fingerprint.dimension == 0) {
        const std::string_view text = "dimension";
        const PythonEmbedder probe(embedder, fingerprint, batch_size);
        BRAID_TRY(const auto vectors, probe.embed(std::span(&text, 1), TextRole::Passage, {}));
        fingerprint.dimension = vectors.front().vector.size();
    }
    return std::make_shared<const PythonEmbedder>(embedder, std::move(fingerprint), batch_size);
}

std::shared_ptr<const QueryPreprocessor> make_preprocessor(nb::object preprocessor) {
    return std::make_shared<const PythonPreprocessor>(std::move(preprocessor));
}

CustomStage make_stage(const std::string& name, nb::object stage) {
    CustomStage out;
    out.name = name;
    out.wants_vectors = nb::cast<bool>(stage.attr("wants_vectors"));
    out.run = [name, held = std::make_shared<const Held>(std::move(stage))](
                  const StageInput& input, const Object& parameters) {
        // The engine names the stage in its warning.
        return guarded("Python", [&] { return run_stage(*held, input, parameters); });
    };
    return out;
}

LogSink make_log_sink(nb::object log) {
    return [held = std::make_shared<const Held>(std::move(log))](const LogEvent& event) {
        if (Py_IsInitialized() == 0) return;
        const auto logged = guarded("log", [&]() -> Result<> {
            held->get()(service::name_of(event.level), event.name, event.message);
            return {};
        });
        (void)logged;
    };
}

void bind_callables(nb::module_& module) {
    nb::class_<SeenHit>(module, "StageHit")
        .def_ro("collection", &SeenHit::collection)
        .def_ro("chunk", &SeenHit::chunk)
        .def_prop_ro("chunk_id", [](const SeenHit& self) { return self.chunk->chunk_id; })
        .def_prop_ro("content", [](const SeenHit& self) { return self.chunk->content; })
        .def_prop_ro("metadata",
                     [](const SeenHit& self) { return to_python(Value(self.chunk->metadata)); })
        .def_ro("score", &SeenHit::score)
        .def_ro("matches", &SeenHit::matches);
    module.def(
        "run_stage",
        [](const Shared<Answer>& answer, const std::string& name, nb::object stage,
           const nb::dict& parameters) {
            Pipeline pipeline;
            pipeline.add_stage(make_stage(name, std::move(stage)), to_object(parameters));
            Request request;
            request.query = answer->query;
            auto changed = run_call(
                nullptr, [&](const CallLimits&) { return pipeline.apply(request, *answer); });
            return share(value_or_raise(std::move(changed)));
        },
        nb::arg("answer"), nb::arg("name"), nb::arg("stage"), nb::arg("parameters"));
}

}  // namespace braid::python
