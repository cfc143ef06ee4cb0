#include <chrono>

#include "braid/database.hpp"
#include "braid/llm/preprocess.hpp"

namespace braid {

Result<std::shared_ptr<const QueryPreprocessor>> make_chat_preprocessor(
    const ChatEndpoint& endpoint) {
    llm::LlmPreprocessorOptions options;
    options.chat.base_url = endpoint.base_url;
    options.chat.api_key = endpoint.api_key;
    options.chat.model = endpoint.model;
    options.chat.offline = endpoint.offline;
    options.time_limit = std::chrono::milliseconds(endpoint.timeout_ms);
    return llm::make_llm_preprocessor(options);
}

}  // namespace braid
