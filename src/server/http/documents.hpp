#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/operations.hpp"
#include "braid/value.hpp"

namespace braid::server {

/// A part of a form that a page sends.
struct FormPart {
    std::string name;      // of the field
    std::string filename;  // empty: a plain field
    std::string_view body;
};

/// The parts of a multipart/form-data body, which they borrow. InvalidArgument if it is not one, or
/// has more than a thousand.
Result<std::vector<FormPart>> read_form(std::string_view content_type, std::string_view body);

/// `POST /v1/documents` with files instead of JSON: a form of files and fields ("collection",
/// "namespace", "document_id", "title", "metadata" as JSON), or one file as the body itself, named
/// by the parameter "name". Each file is a document; one that cannot be read does not stop the
/// others: {"documents": […], "failed": [{"name", "error"}]}. InvalidArgument if none could be.
Result<Value> post_files(const service::Operations& operations, const Object& params,
                         std::string_view content_type, std::string_view body,
                         const service::Caller& caller);

/// The same with JSON: one document.
Result<Value> post_document(const service::Operations& operations, const Object& params,
                            const service::Caller& caller);

}  // namespace braid::server
