#pragma once

#include <span>

#include "braid/local/manifest.hpp"
#include "braid/result.hpp"
#include "braid/store/directory.hpp"

/// A lost manifest need not cost the collection: there is a copy of it (docs/formats/manifest.md).
namespace braid::local {

/// Writes, durably, a copy of a manifest that is in place. If that fails there is no copy: it must
/// never name files that a later manifest gives up. An error only if an old copy may be left.
Result<> keep_copy(store::Directory& files, std::span<const std::byte> manifest);

/// Makes the copy say what the manifest says. False: an old copy may be left, and no file that it
/// names may be removed.
bool renew_copy(store::Directory& files, const Manifest& manifest);

/// What the manifest said, from its copy and from the logs begun since. NotFound if there is no
/// copy.
Result<Manifest> recover_manifest(store::Directory& files);

/// Corruption if there is anything that only a manifest can have named: the manifest is lost,
/// rather than not written yet.
Result<> require_no_records(store::Directory& files);

}  // namespace braid::local
