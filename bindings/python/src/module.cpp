#include "answers.hpp"
#include "callables.hpp"
#include "calls.hpp"
#include "engine.hpp"

// The package around it (braid/*.py) is the interface; this module is a part of it.
NB_MODULE(_braid, module) {
    module.attr("version") = BRAID_VERSION;
    // Databases that are still open when the interpreter ends are closed by the package.
    nanobind::set_leak_warnings(false);
    braid::python::set_up_calls();
    braid::python::bind_chunks(module);
    braid::python::bind_answers(module);
    braid::python::bind_callables(module);
    braid::python::bind_engine(module);
    braid::python::bind_measures(module);
    braid::python::bind_tools(module);
}
