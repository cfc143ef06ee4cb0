#include "braid/embed/onnx_encoder.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "braid/core/parallel.hpp"
#include "braid/core/sha256.hpp"
#include "braid/embed/model_cache.hpp"
#include "braid/embed/model_file.hpp"
#include "braid/embed/ort_api.hpp"

namespace braid::embed {
namespace {

constexpr std::string_view kRuntimeFile = "runtime/libonnxruntime.so.1.31.1";

Result<std::filesystem::path> runtime_path(const OnnxEncoderFiles& files,
                                           const ModelLocator& locator) {
    if (!files.runtime.empty()) return files.runtime;
    auto found = locator.find(kRuntimeFile);
    if (!found) return fail("models need ONNX Runtime", std::move(found).error());
    return found;
}

struct ReadTokenizer {
    WordPiece pieces;
    std::string sha256;
};

Result<ReadTokenizer> read_tokenizer(const OnnxEncoderFiles& files) {
    BRAID_TRY(ModelFile file, read_model_file(files.tokenizer, files.tokenizer_sha256));
    BRAID_TRY(WordPiece pieces, WordPiece::parse(file.text()));
    return ReadTokenizer{.pieces = std::move(pieces), .sha256 = std::move(file.sha256)};
}

struct OpenModel {
    OnnxSession session;
    std::string sha256;
};

/// From what an earlier start kept of the model, or from the model's file.
Result<OpenModel> open_model(const OnnxEncoderFiles& files,
                             const std::shared_ptr<const OnnxRuntime>& runtime,
                             const std::filesystem::path& cache_folder) {
    const ModelCache cache(cache_folder, files.model, runtime->version());
    if (auto kept = cache.find();
        kept && (files.model_sha256.empty() || kept->model_sha256 == files.model_sha256)) {
        auto session =
            OnnxSession::open(runtime, kept->graph, {.prepared = kept->file, .save_to = {}});
        if (session) {
            return OpenModel{.session = *std::move(session), .sha256 = kept->model_sha256};
        }
    }
    BRAID_TRY(ModelFile file, read_model_file(files.model, files.model_sha256));
    if (const auto place = cache.begin()) {
        auto session = OnnxSession::open(runtime, file.bytes, {.prepared = {}, .save_to = *place});
        if (session) {
            cache.finish(*place, file.sha256);
            return OpenModel{.session = *std::move(session), .sha256 = std::move(file.sha256)};
        }
        cache.abandon(*place);
    }
    BRAID_TRY(OnnxSession session, OnnxSession::open(runtime, file.bytes));
    return OpenModel{.session = std::move(session), .sha256 = std::move(file.sha256)};
}

}  // namespace

std::string shape_text(const std::vector<std::int64_t>& shape) {
    std::string text = "[";
    for (const std::int64_t extent : shape) {
        if (text.size() > 1) text += ", ";
        text += extent < 0 ? "any" : std::to_string(extent);
    }
    return text + "]";
}

Result<OnnxEncoder> OnnxEncoder::load(const OnnxEncoderFiles& files, const ModelLocator& locator) {
    // Reads the vocabulary alongside the model: each takes about as long as the other.
    auto reading = std::async(std::launch::async, [&] { return read_tokenizer(files); });
    BRAID_TRY(const std::filesystem::path library, runtime_path(files, locator));
    BRAID_TRY(const auto runtime, OnnxRuntime::load(library));
    auto model = open_model(files, runtime, locator.cache());
    BRAID_TRY(ReadTokenizer tokenizer, reading.get());
    if (!model) return tl::unexpected<Error>(std::move(model).error());

    OnnxEncoder encoder(std::move(model->session), std::move(tokenizer.pieces));
    BRAID_CHECK(encoder.bind_inputs());
    const std::string both = model->sha256 + tokenizer.sha256;
    encoder.hash_ = core::sha256_hex(both);
    encoder.runtime_version_ = runtime->version();
    return encoder;
}

Result<> OnnxEncoder::bind_inputs() {
    bool has_ids = false;
    bool has_mask = false;
    for (const OnnxPort& input : session_.inputs()) {
        if (input.name == "input_ids") {
            feeds_.push_back(Feed::Ids);
            has_ids = true;
        } else if (input.name == "attention_mask") {
            feeds_.push_back(Feed::Ones);
            has_mask = true;
        } else if (input.name == "token_type_ids") {
            feeds_.push_back(Feed::Types);
        } else {
            return invalid_argument(
                "the model has an input '" + input.name +
                "'; expected input_ids, attention_mask and perhaps token_type_ids");
        }
        const bool any_length = input.shape.size() == 2 && input.shape[1] < 0 &&
                                (input.shape[0] < 0 || input.shape[0] == 1);
        if (input.element_type != ort::kInt64 || !any_length) {
            return invalid_argument("the model's input '" + input.name + "' has shape " +
                                    shape_text(input.shape) + " and element type " +
                                    std::to_string(input.element_type) +
                                    "; expected [any, any] of 64-bit integers (type 7)");
        }
    }
    if (has_ids && has_mask) return {};
    return invalid_argument(std::string("the model has no input ") +
                            (has_ids ? "attention_mask" : "input_ids"));
}

Result<> OnnxEncoder::use_output(const std::string& name, std::size_t rank,
                                 std::string_view purpose) {
    const std::vector<OnnxPort>& outputs = session_.outputs();
    const auto found = std::ranges::find_if(
        outputs, [&](const OnnxPort& output) { return name.empty() || output.name == name; });
    if (found == outputs.end()) {
        std::string names;
        for (const OnnxPort& output : outputs) names += (names.empty() ? "" : ", ") + output.name;
        return invalid_argument("the model has no output '" + name + "'; it has " + names);
    }
    if (found->element_type != ort::kFloat || found->shape.size() != rank) {
        return invalid_argument(
            "the model's output '" + found->name + "' has shape " + shape_text(found->shape) +
            " and element type " + std::to_string(found->element_type) + "; expected " +
            std::to_string(rank) + " dimensions of floats (type 1) for " + std::string(purpose));
    }
    output_ = static_cast<std::size_t>(found - outputs.begin());
    return {};
}

Result<OnnxTensor> OnnxEncoder::run(std::span<const std::int64_t> ids,
                                    std::span<const std::int64_t> types) const {
    const std::vector<std::int64_t> ones(ids.size(), 1);
    const std::vector<std::int64_t> zeros(types.empty() ? ids.size() : 0, 0);
    if (types.empty()) types = zeros;
    std::vector<std::span<const std::int64_t>> rows;
    rows.reserve(feeds_.size());
    for (const Feed feed : feeds_) {
        rows.push_back(feed == Feed::Ids ? ids : (feed == Feed::Ones ? ones : types));
    }
    return session_.run(rows, output_);
}

Result<> run_each(std::size_t workers, std::size_t count, const CallLimits& limits,
                  const std::function<Result<>(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    std::mutex mutex;
    Error error{ErrorCode::Cancelled, ""};
    const auto give_up = [&](Error reason) {
        const std::scoped_lock lock(mutex);
        if (!failed.exchange(true)) error = std::move(reason);
    };
    if (workers == 0) workers = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
    core::run_parallel(std::min(workers, count), [&](std::size_t /*worker*/) {
        for (std::size_t i = next++; i < count && !failed; i = next++) {
            if (limits.stopped()) {
                return give_up({ErrorCode::Cancelled, "the model was told to stop"});
            }
            if (limits.expired()) {
                return give_up({ErrorCode::DeadlineExceeded, "no time left for the model"});
            }
            try {
                if (auto done = work(i); !done) return give_up(std::move(done).error());
            } catch (const std::exception& exception) {  // out of memory
                return give_up({ErrorCode::ResourceExhausted, exception.what()});
            }
        }
    });
    if (failed) return tl::unexpected<Error>(std::move(error));
    return {};
}

}  // namespace braid::embed
