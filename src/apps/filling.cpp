#include "braid/apps/filling.hpp"

#include <algorithm>

#include "braid/apps/decisions/decisions.hpp"
#include "braid/apps/vocabulary.hpp"
#include "braid/core/vocabulary.hpp"

namespace braid::apps {

Result<Filling> filling(std::string_view profile) {
    if (profile == "decisions") {
        return Filling{.collection = "decisions",
                       .documents = {},
                       .schema = decisions_form(),
                       .other_schema = decisions_form(false),
                       .other_note = kDecisionsWithoutOkapi,
                       .record = [](const Value& line) { return decision_chunk(line); }};
    }
    const auto& profiles = vocabulary().profiles;
    const auto found = std::ranges::find(profiles, profile, &Profile::name);
    for (const core::SharedDocuments& shared : vocabulary().shared_documents) {
        if (found == profiles.end() || found->collections != shared.collections) continue;
        Filling both;
        both.collection = shared.preferred;
        for (const std::string& name : shared.collections) {
            if (name != shared.preferred) both.documents = name;
        }
        return both;
    }
    return invalid_argument("the profile \"" + std::string(profile) +
                            "\" does not define how files are stored; use artifacts or decisions");
}

}  // namespace braid::apps
