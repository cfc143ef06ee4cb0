#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include "braid/net/client/http_client.hpp"
#include "braid/net/http/server.hpp"
#include "braid/net/http/socket_file.hpp"
#include "core/temporary_folder.hpp"
#include "net/raw_client.hpp"
#include "net/test_handler.hpp"

namespace braid::net {
namespace {

using std::chrono::milliseconds;
using testing::RawClient;
using testing::RawResponse;
using testing::TestHandler;

class SocketTest : public ::testing::Test {
protected:
    std::string path(const std::string& name) const { return folder / name; }
    HttpServerOptions socket_options() const {
        HttpServerOptions options;
        options.host = "";
        options.socket_path = path("braid.sock");
        return options;
    }

    braid::testing::TemporaryFolder folder;
    TestHandler handler;
};

TEST_F(SocketTest, AnswersAtASocketOfItsOwnersOnly) {
    handler.answer = [](const IncomingRequest& request) {
        return TestHandler::text(200, request.peer);
    };
    auto server = HttpServer::start(socket_options(), handler);
    ASSERT_TRUE(server) << server.error().message;
    EXPECT_EQ(server->port(), 0);
    struct stat found {};
    ASSERT_EQ(::stat(path("braid.sock").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
    EXPECT_TRUE(is_listening(path("braid.sock")));

    HttpClientOptions options;
    options.unix_socket = path("braid.sock");
    const HttpClient client(options);
    const auto response = client.send({.url = "http://localhost/x"}, {});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "unix");

    server->drain(milliseconds(0));
    EXPECT_FALSE(std::filesystem::exists(path("braid.sock")));
    EXPECT_EQ(client.send({.url = "http://localhost/x"}, {}).error().code, ErrorCode::Unavailable);
}

TEST_F(SocketTest, ReplacesASocketThatNobodyServesButNoOther) {
    // What a server leaves behind that was killed.
    const auto left = listen_at(path("braid.sock"));
    ASSERT_TRUE(left);
    EXPECT_EQ(HttpServer::start(socket_options(), handler).error().code, ErrorCode::Locked);
    ::close(*left);
    EXPECT_FALSE(is_listening(path("braid.sock")));
    {
        const auto server = HttpServer::start(socket_options(), handler);
        ASSERT_TRUE(server) << server.error().message;
        RawClient raw(path("braid.sock"));
        raw.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
        EXPECT_EQ(raw.read_response().value_or(RawResponse{}).status, 200);
    }
    std::ofstream(path("braid.sock")) << "a file";
    EXPECT_EQ(HttpServer::start(socket_options(), handler).error().code, ErrorCode::AlreadyExists);
    EXPECT_TRUE(std::filesystem::exists(path("braid.sock")));

    HttpServerOptions far = socket_options();
    far.socket_path = path(std::string(200, 'x'));
    EXPECT_EQ(HttpServer::start(far, handler).error().code, ErrorCode::InvalidArgument);
}

struct Freer {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
    void operator()(std::FILE* file) const {
        (void)std::fclose(file);  // NOLINT(cppcoreguidelines-owning-memory): what it is for
    }
};
template <class T>
using Owned = std::unique_ptr<T, Freer>;

/// A certificate for 127.0.0.1 that vouches for itself, and its key.
void write_certificate(const std::string& certificate_path, const std::string& key_path) {
    const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
    const Owned<X509> certificate(X509_new());
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_set_version(certificate.get(), 2);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_NAME* const name = X509_get_subject_name(certificate.get());
    const std::string text = "braid test";
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(text.data()), -1, -1, 0);
    X509_set_issuer_name(certificate.get(), name);
    const Owned<X509_EXTENSION> address(
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1"));
    X509_add_ext(certificate.get(), address.get(), -1);
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    const Owned<std::FILE> certificate_file(std::fopen(certificate_path.c_str(), "w"));
    PEM_write_X509(certificate_file.get(), certificate.get());
    const Owned<std::FILE> key_file(std::fopen(key_path.c_str(), "w"));
    PEM_write_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
}

TEST_F(SocketTest, SpeaksTls) {
    write_certificate(path("certificate.pem"), path("key.pem"));
    handler.answer = [](const IncomingRequest& request) {
        return TestHandler::text(request.tls ? 200 : 500, request.peer + request.body);
    };
    HttpServerOptions options;
    options.tls_certificate = path("certificate.pem");
    options.tls_key = path("key.pem");
    options.read_timeout = milliseconds(2000);
    auto server = HttpServer::start(options, handler);
    ASSERT_TRUE(server) << server.error().message;

    HttpClientOptions trusting;
    trusting.allow_private = true;
    trusting.ca_file = path("certificate.pem");
    const HttpClient client(trusting);
    const std::string url = "https://127.0.0.1:" + std::to_string(server->port());
    const std::string body(300'000, 'x');
    for (int i = 0; i < 3; ++i) {
        const auto response = client.send({.method = "POST", .url = url, .body = body}, {});
        ASSERT_TRUE(response) << response.error().message;
        EXPECT_EQ(response->status, 200);
        EXPECT_EQ(response->body, "127.0.0.1" + body);
    }
    EXPECT_EQ(server->counters().accepted, 1U);

    RawClient plain(server->port());
    plain.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_FALSE(plain.read_response().has_value());
    EXPECT_FALSE(plain.hung());
    RawClient silent(server->port());
    EXPECT_TRUE(silent.ends());
    EXPECT_TRUE(server->drain(milliseconds(10'000)));
}

TEST_F(SocketTest, RefusesAKeyThatIsNotTheCertificates) {
    write_certificate(path("certificate.pem"), path("key.pem"));
    write_certificate(path("other.pem"), path("other-key.pem"));
    HttpServerOptions options;
    options.tls_certificate = path("certificate.pem");
    options.tls_key = path("other-key.pem");
    const auto server = HttpServer::start(options, handler);
    ASSERT_FALSE(server);
    EXPECT_EQ(server.error().code, ErrorCode::IoError);
}

}  // namespace
}  // namespace braid::net
