#pragma once

#include <span>

#include "braid/local/manifest.hpp"
#include "braid/result.hpp"
#include "braid/store/directory.hpp"

/// A lost manifest need not cost the collection: there is a copy of it (docs/formats/manifest.md).
namespace braid::local {

/// Writes the copy of a manifest that is in place, durably. If that fails there is none: a copy
/// never names files that a later manifest lets go of. An error only if an old one may be left.
Result<> keep_copy(store::Directory& files, std::span<const std::byte> manifest);

/// Has the copy say what the manifest says. False: an old one may be left, and with it no file that
/// it names may go.
bool renew_copy(store::Directory& files, const Manifest& manifest);

/// What the manifest said, from its copy and from the logs that were begun since. NotFound if there
/// is no copy.
Result<Manifest> recover_manifest(store::Directory& files);

/// Corruption if there is anything that only a manifest can have named: it is lost, not yet to
/// come.
Result<> require_no_records(store::Directory& files);

}  // namespace braid::local
