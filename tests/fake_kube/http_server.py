"""An HTTP/1.1 server whose answers are Python functions, down to the last byte: it can answer half a line, nothing at all,
byte by byte when the test says so, or cut the connection.

    with HttpServer(answer) as server:
        ... server.url ...

`answer(exchange)` is called in a thread of each connection, once for each request.
"""

import contextlib
import json
import socket
import ssl
import struct
import subprocess
import threading
import urllib.parse


TLS_HANDSHAKE = b"\x16"  # what a client begins with that takes this for an HTTPS server


class Gone(Exception):
    """The client closed the connection."""


class Exchange:
    """One request, and the means to answer it."""

    def __init__(self, server, connection, reader, first_line, headers, body):
        self.server, self.connection, self.reader = server, connection, reader
        self.method, target, _ = first_line.split(" ")
        self.target = target
        parts = urllib.parse.urlsplit(target)
        self.path, self.query = parts.path, dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        self.headers, self.body = headers, body
        self.keeps_open = True

    def json(self):
        return json.loads(self.body)

    def write(self, data):
        """Bytes as they are."""
        try:
            self.connection.sendall(data.encode() if isinstance(data, str) else data)
        except OSError as error:
            raise Gone from error

    def head(self, status, *headers):
        self.write("\r\n".join([f"HTTP/1.1 {status} Because", *headers, *self.server.headers, "", ""]))

    def answer(self, status, body="", *headers):
        """A whole answer; what is not a text is sent as JSON."""
        if not isinstance(body, (str, bytes)):
            body, headers = json.dumps(body), ("Content-Type: application/json", *headers)
        data = body.encode() if isinstance(body, str) else body
        self.head(status, f"Content-Length: {len(data)}", *headers)
        self.write(data)

    def begin(self, status=200, *headers):
        """The head of an answer that comes in chunks."""
        self.head(status, "Transfer-Encoding: chunked", *headers)

    def chunk(self, data):
        data = data.encode() if isinstance(data, str) else data
        self.write(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self):
        self.write("0\r\n\r\n")

    def close(self):
        """Ends the connection after this answer, properly."""
        self.keeps_open = False

    def cut(self):
        """Ends the connection at once, as a machine that died and came back does."""
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.keeps_open = False

    def cut_now(self):
        """The same from another thread, while the answer is being written."""
        self.cut()
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def wait_for_the_end(self):
        """Until the client closes the connection, or the server ends."""
        with contextlib.suppress(OSError):
            while self.connection.recv(4096):
                pass
        self.keeps_open = False

    def ends_within(self, seconds):
        """Whether the client closes the connection in this time."""
        self.connection.settimeout(seconds)
        try:
            has_ended = not self.connection.recv(1)
        except TimeoutError:
            has_ended = False
        except OSError:
            has_ended = True
        self.connection.settimeout(None)
        self.keeps_open &= not has_ended
        return has_ended


class HttpServer:
    """Listens on a port of loopback until `close`. `tls` is an ssl.SSLContext."""

    def __init__(self, answer, tls=None, host="127.0.0.1"):
        self.answer, self.tls = answer, tls
        self.exchanges = []
        self.headers = []  # of every answer
        self.n_connections = 0
        self.lock = threading.Lock()
        self.connections = set()
        self.host = host
        # Bound for as long as the server lives, so that no other program gets the port while it restarts.
        self.place = socket.socket()
        self.place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self.place.bind((host, 0))
        self.port = self.place.getsockname()[1]
        self.restarting = threading.Lock()
        self._listen()
        self.origin = f"{'https' if tls else 'http'}://{host}:{self.port}"
        self.url = self.origin + "/"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def restart(self, tls=None):
        """As a server that died and is back at the same address, perhaps with another certificate."""
        with self.restarting:
            self._stop()
            self.tls = tls or self.tls
            self._listen()

    def close(self):
        self._stop()
        self.place.close()

    def _stop(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            connections = list(self.connections)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _listen(self):
        self.listener = socket.create_server((self.host, self.port), reuse_port=True)
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def _accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        # Head and body are two writes: without this each answer on a kept connection takes 40 ms.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.tls:
            connection = self.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        with self.lock:
            self.n_connections += 1
            self.connections.add(connection)
        try:
            if self.tls:
                connection.do_handshake()
            with connection.makefile("rb") as reader:
                self._converse(connection, reader)
        except ssl.SSLError:
            self._see_off(connection)
        except (OSError, Gone):
            pass
        finally:
            with self.lock:
                self.connections.discard(connection)
            connection.close()

    @staticmethod
    def _see_off(connection):
        """Closes so that the last word arrives: what came in unread would make the kernel cut the connection."""
        with contextlib.suppress(OSError):
            socket.socket.shutdown(connection, socket.SHUT_WR)
            while socket.socket.recv(connection, 4096):
                pass

    def _converse(self, connection, reader):
        keeps_open = True
        while keeps_open:
            if reader.peek(1)[:1] == TLS_HANDSHAKE:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                self._see_off(connection)
                return
            first = reader.readline().decode("latin-1").strip()
            if first.count(" ") != 2:
                return
            headers = {}
            while line := reader.readline().decode("latin-1").strip():
                name, _, value = line.partition(":")
                headers[name.lower()] = value.strip()
            body = reader.read(int(headers.get("content-length", 0)))
            exchange = Exchange(self, connection, reader, first, headers, body)
            with self.lock:
                self.exchanges.append(exchange)
            self.answer(exchange)
            keeps_open = exchange.keeps_open


def make_certificate(folder):
    """(certificate, key) of a server at 127.0.0.1 that is its own authority."""
    certificate, key = folder / "server.pem", folder / "server.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=server", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key,
                    "-out", certificate], check=True, capture_output=True)
    return certificate, key


def tls_context(certificate, key, client_authority=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if client_authority:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(client_authority)
    return context
