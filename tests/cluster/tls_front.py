"""tls_front.py NODE CERTIFICATE KEY SECRET...: a node behind TLS and authentication, on a free port.

Prints its port. Every request must bring one of the secrets as its Authorization header ("Basic …",
"Bearer …"), else it is answered with 401; others are given to NODE, which speaks plain HTTP.
"""

import http.client
import http.server
import socketserver
import ssl
import sys
import urllib.parse


class Front(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    node = ""
    secrets: frozenset[str] = frozenset()

    def reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Authorization") not in self.secrets:
            self.reply(401, b'{"error":{"type":"security_exception","reason":"no valid credentials"}}')
            return
        node = http.client.HTTPConnection(self.node, timeout=60)
        kind = self.headers.get("Content-Type")
        node.request(self.command, self.path, body, {"Content-Type": kind} if kind else {})
        answer = node.getresponse()
        self.reply(answer.status, answer.read())
        node.close()

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = forward

    def log_message(self, *arguments: object) -> None:
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that does not trust the certificate goes away


def main() -> None:
    node, certificate, key, *secrets = sys.argv[1:]
    Front.node = urllib.parse.urlsplit(node).netloc
    Front.secrets = frozenset(secrets)
    server = Server(("127.0.0.1", 0), Front)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
