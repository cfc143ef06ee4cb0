#include "braid/cli/config/settings.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "braid/cli/config/env_file.hpp"
#include "braid/cli/config/trust.hpp"
#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;

class SettingsTest : public ::testing::Test {
protected:
    /// In a directory that is trusted, unless a test says otherwise.
    SettingsTest() { trust(true); }
    void trust(bool trusted) {
        const auto name = directory_name(folder.path());
        EXPECT_TRUE(name);
        EXPECT_TRUE(set_trusted(folder / "trusted.json", name.value_or(""), trusted));
    }
    Result<Settings> load() {
        SettingSources sources;
        sources.variable = [this](std::string_view name) -> std::optional<std::string> {
            const auto found = environment.find(std::string(name));
            if (found == environment.end()) return std::nullopt;
            return found->second;
        };
        sources.env_file = folder / ".env";
        sources.config_file = folder / "config.json";
        sources.trust_file = folder / "trusted.json";
        return Settings::load(sources);
    }
    Settings loaded() {
        auto settings = load();
        EXPECT_TRUE(settings) << settings.error().message;
        return *std::move(settings);
    }
    std::string complaint() {
        const auto settings = load();
        return settings ? "(accepted)" : settings.error().message;
    }
    static const Profile& profile(const Settings& settings, const std::string& name) {
        return *std::ranges::find(settings.profiles(), name, &Profile::name);
    }

    braid::testing::TemporaryFolder folder;
    std::map<std::string, std::string> environment;
};

TEST_F(SettingsTest, EnvironmentBeforeEnvFileBeforeConfigBeforeDefault) {
    EXPECT_EQ(loaded().text("data"), "./braid-data");
    EXPECT_EQ(loaded().setting("data").origin, "default");
    EXPECT_TRUE(loaded().profiles().empty());

    folder.write("config.json", R"({"data": "/c", "retrieval": {"top_k": 3}})");
    EXPECT_EQ(loaded().text("data"), "/c");
    EXPECT_EQ(loaded().setting("data").origin, folder / "config.json");

    folder.write(".env", "BRAID_DATA=/e\n");
    EXPECT_EQ(loaded().text("data"), "/e");
    EXPECT_EQ(loaded().number("retrieval.top_k"), 3);

    environment["BRAID_DATA"] = "/v";
    EXPECT_EQ(loaded().text("data"), "/v");
    EXPECT_EQ(loaded().setting("data").origin, "environment");
    environment["BRAID_DATA"] = "";
    EXPECT_EQ(loaded().text("data"), "/e");
}

TEST_F(SettingsTest, ServiceTakesTheWeightsOfItsVariables) {
    environment["RETRIEVAL_TOP_K"] = "7";
    environment["RETRIEVAL_VECTOR_WEIGHT"] = "0.8";
    const Settings settings = loaded();
    const Profile& service = profile(settings, "service");
    EXPECT_EQ(service.top_k, 7U);
    EXPECT_EQ(service.dense_weight, 0.8);
    EXPECT_EQ(service.sparse_weight, 0.5);
    EXPECT_EQ(service.depth_per_hit, 1U);

    environment["RETRIEVAL_BM25_WEIGHT"] = "2";
    EXPECT_EQ(profile(loaded(), "service").sparse_weight, 2.0);
}

TEST_F(SettingsTest, ArtifactsTakesItsVariables) {
    folder.write(".env", "RRF_CONSTANT=30\nOVERFETCH_MULTIPLIER=4\nMAX_HYBRID_SEARCH_RESULTS=9");
    const Profile artifacts = profile(loaded(), "artifacts");
    EXPECT_EQ(artifacts.k, 30);
    EXPECT_EQ(artifacts.depth_per_hit, 4U);
    EXPECT_EQ(artifacts.max_top_k, 9U);
    EXPECT_EQ(artifacts.rank_base, 0);
}

TEST_F(SettingsTest, ConfigAddsProfilesWhichVariablesStandAbove) {
    folder.write("config.json",
                 R"({"profiles": {"mine": {"base": "topic", "top_k": 3},
                                   "service": {"top_k": 4, "depth": 9}}})");
    EXPECT_EQ(profile(loaded(), "mine").method, FusionMethod::WeightedSum);
    EXPECT_EQ(profile(loaded(), "service").top_k, 4U);
    environment["RETRIEVAL_TOP_K"] = "7";
    EXPECT_EQ(profile(loaded(), "service").top_k, 7U);
    EXPECT_EQ(profile(loaded(), "service").depth, 9U);
}

TEST_F(SettingsTest, TheKeyMayHaveEitherName) {
    environment["OPENAI_API_KEY"] = "general";
    EXPECT_EQ(loaded().text("openai.apiKey"), "general");
    environment["BRAID_OPENAI_API_KEY"] = "own";
    EXPECT_EQ(loaded().text("openai.apiKey"), "own");
    environment.clear();
    folder.write("config.json", R"({"openai": {"apiKey": "k", "embeddingModel": "m"}})");
    EXPECT_EQ(loaded().text("openai.embeddingModel"), "m");
}

TEST_F(SettingsTest, AVariableOfTheServiceChoosesIt) {
    EXPECT_EQ(loaded().default_profile(), "default");
    environment["RRF_CONSTANT"] = "30";
    EXPECT_EQ(loaded().default_profile(), "default");
    environment["RETRIEVAL_BM25_WEIGHT"] = "0.5";
    EXPECT_EQ(loaded().default_profile(), "service");
    EXPECT_EQ(loaded().profile("")->name, "service");
    environment["BRAID_PROFILE"] = "topic";
    EXPECT_EQ(loaded().default_profile(), "topic");
    EXPECT_EQ(loaded().profile("artifacts")->k, 30);
    EXPECT_FALSE(loaded().profile("nope"));
    environment["BRAID_PROFILE"] = "nope";
    EXPECT_TRUE(has(complaint(), "BRAID_PROFILE: there is no profile \"nope\"")) << complaint();
}

TEST_F(SettingsTest, ADirectoryThatIsNotTrustedSaysHowToRankAndNoMore) {
    folder.write(".env",
                 "BRAID_OPENAI_BASE_URL=http://evil.example/v1\nBRAID_LLM_MODEL=m\n"
                 "OPENAI_API_KEY=k\nRETRIEVAL_TOP_K=4\nBRAID_DATA=./here\nBRAID_EMBEDDER=openai\n"
                 "BRAID_HOST=127.0.0.1\nBRAID_OFFLINE=false\n");
    folder.write("config.json", R"({"offline": true})");
    EXPECT_EQ(loaded().text("openai.baseUrl"), "http://evil.example/v1");
    trust(false);
    const Settings settings = loaded();
    EXPECT_EQ(settings.text("openai.baseUrl"), "https://api.openai.com/v1");
    EXPECT_EQ(settings.text("openai.apiKey"), "");
    EXPECT_EQ(settings.text("llm.model"), "");
    EXPECT_EQ(settings.text("embedder"), "bge-small-en-v1.5");
    EXPECT_TRUE(settings.on("offline"));
    EXPECT_EQ(settings.number("retrieval.top_k"), 4);
    EXPECT_EQ(settings.text("data"), "./here");
    // What changes nothing (BRAID_HOST) is not worth a word.
    EXPECT_EQ(settings.ignored(),
              (std::vector<std::string>{"BRAID_EMBEDDER", "OPENAI_API_KEY", "BRAID_OPENAI_BASE_URL",
                                        "BRAID_LLM_MODEL", "BRAID_OFFLINE"}));
    ASSERT_EQ(settings.warnings().size(), 1U);
    EXPECT_TRUE(has(settings.warnings()[0], "BRAID_OPENAI_BASE_URL")) << settings.warnings()[0];
}

TEST_F(SettingsTest, AKeyGoesToAnAddressOfItsOwnSourceOrOneBelow) {
    folder.write("config.json", R"({"openai": {"apiKey": "of config", "baseUrl": "http://c"}})");
    EXPECT_EQ(loaded().text("openai.apiKey"), "of config");
    // A key that other programs use too is no key for this address.
    environment["OPENAI_API_KEY"] = "general";
    EXPECT_EQ(loaded().text("openai.apiKey"), "of config");
    environment["BRAID_OPENAI_API_KEY"] = "of environment";
    EXPECT_EQ(loaded().text("openai.apiKey"), "of environment");
    environment.erase("BRAID_OPENAI_API_KEY");
    environment["BRAID_OPENAI_BASE_URL"] = "http://e";
    const Settings settings = loaded();
    EXPECT_EQ(settings.text("openai.apiKey"), "");
    ASSERT_EQ(settings.withheld().size(), 1U);
    EXPECT_TRUE(has(settings.withheld()[0], "http://e")) << settings.withheld()[0];
    EXPECT_FALSE(has(settings.withheld()[0], "of config"));
    EXPECT_EQ(settings.text("llm.apiKey"), "general");
}

TEST_F(SettingsTest, PrincipalsAreNamedInTheConfiguration) {
    folder.write("config.json", R"({"principals": {
        "ann": {"clearance": "normal", "scopes": ["sales"], "namespaces": ["a", "b-*"]}}})");
    const auto ann = loaded().visitor("ann");
    ASSERT_TRUE(ann);
    EXPECT_EQ(ann->principal, (Principal{"ann", "normal", {"sales"}}));
    EXPECT_TRUE(ann->namespaces.allow("b-1"));
    EXPECT_FALSE(ann->namespaces.allow("default"));
    EXPECT_FALSE(loaded().visitor("bob"));
    folder.write("config.json", R"({"principals": {"ann": {"scopes": ["sales"]}}})");
    EXPECT_TRUE(has(complaint(), "principals.ann.scopes")) << complaint();
    folder.write("config.json", R"({"principals": {"ann": {"namespaces": []}}})");
    EXPECT_TRUE(has(complaint(), "principals.ann.namespaces")) << complaint();
}

TEST_F(SettingsTest, WrongValuesNameVariableAndPlace) {
    environment["RETRIEVAL_TOP_K"] = "many";
    EXPECT_TRUE(has(complaint(), "RETRIEVAL_TOP_K (environment)")) << complaint();
    environment["RETRIEVAL_TOP_K"] = "0";
    EXPECT_TRUE(has(complaint(), "from 1 to 10000"));
    environment["RETRIEVAL_TOP_K"] = "2.5";
    EXPECT_TRUE(has(complaint(), "integer"));
    environment.clear();
    folder.write(".env", "# c\nRETRIEVAL_BM25_WEIGHT=-1");
    EXPECT_TRUE(has(complaint(), ".env"));
    folder.write(".env", "BRAID_DURABILITY=some");
    EXPECT_TRUE(has(complaint(), "full|relaxed"));
    folder.write(".env", "A=1\nno equals sign\n");
    EXPECT_TRUE(has(complaint(), ".env:2"));
}

TEST_F(SettingsTest, ConfigWithUnknownKeysNamesTheNearest) {
    for (const auto& [text, words] :
         std::map<std::string, std::string>{{R"({"dta": "x"})", "\"data\""},
                                            {R"({"retrieval": {"topk": 5}})", "\"top_k\""},
                                            {R"({"retrieval": {"top_k": "5"}})", "retrieval.top_k"},
                                            {R"({"retrieval": 5})", "retrieval"},
                                            {R"({"data": 5})", "data"},
                                            {R"({"profiles": {"p": {"topk": 5}}})", "top_k"},
                                            {R"({"offline": "yes"})", "offline"},
                                            {"{", "config.json"},
                                            {"[]", "config.json"}}) {
        folder.write("config.json", text);
        EXPECT_TRUE(has(complaint(), words)) << complaint();
        EXPECT_TRUE(has(complaint(), "config.json")) << complaint();
    }
}

TEST_F(SettingsTest, StrangeVariablesInTheEnvFileAreNoticed) {
    folder.write(".env", "OTHER=1\nBRAID_DTA=x\n");
    const Settings settings = loaded();
    ASSERT_EQ(settings.warnings().size(), 1U);
    EXPECT_TRUE(has(settings.warnings()[0], "BRAID_DATA"));
}

TEST(EnvFile, ReadsQuotesCommentsAndExports) {
    const auto variables = parse_env(
        "A=1\r\n\n# note\nexport B = two words  # said\nC='a # b'\nD=\"x\\n\\\"y\\\"\" # z\nE=\n"
        "F=a#b\nG=#c\n",
        ".env");
    ASSERT_TRUE(variables) << variables.error().message;
    EXPECT_EQ(*variables, (std::vector<EnvVariable>{{"A", "1"},
                                                    {"B", "two words"},
                                                    {"C", "a # b"},
                                                    {"D", "x\n\"y\""},
                                                    {"E", ""},
                                                    {"F", "a#b"},
                                                    {"G", ""}}));
    for (const char* text : {"A", "=1", "A B=1", "A='x", "A=\"x\" y"}) {
        EXPECT_FALSE(parse_env(text, ".env")) << text;
    }
}

TEST(EnvFile, TheExampleHasExactlyTheVariablesThereAre) {
    const std::ifstream file(std::string(BRAID_SOURCE_DIR) + "/.env.example");
    std::stringstream text;
    text << file.rdbuf();
    const auto variables = parse_env(text.str(), ".env.example");
    ASSERT_TRUE(variables) << variables.error().message;
    std::vector<std::string> named;
    for (const auto& [name, value] : *variables) named.push_back(name);
    std::vector<std::string> known;
    for (const SettingSpec& spec : setting_specs()) {
        known.emplace_back(spec.variable);
        const auto found = std::ranges::find(*variables, spec.variable, &EnvVariable::first);
        if (found == variables->end()) continue;
        EXPECT_EQ(found->second, spec.otherwise) << spec.variable;
    }
    std::ranges::sort(named);
    std::ranges::sort(known);
    EXPECT_EQ(named, known);
}

}  // namespace
}  // namespace braid::cli
