#pragma once

#include <nanobind/nanobind.h>

#include "engine.hpp"

namespace braid::python {

/// `Engine.ingest_paths` and `Engine.ingest_bytes`.
void bind_ingest(nanobind::class_<Engine>& engine);

}  // namespace braid::python
