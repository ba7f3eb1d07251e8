"""The server's side of a WebSocket on an Exchange of http_server: frames as the test wants them, whole or in halves."""

import base64
import hashlib
import struct

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def accept(exchange, protocol=None, *headers):
    """Answers the handshake."""
    key = exchange.headers["sec-websocket-key"].encode()
    token = base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()
    chosen = [f"Sec-WebSocket-Protocol: {protocol}"] if protocol else []
    exchange.head(101, "Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Accept: {token}", *chosen, *headers)
    exchange.close()


def frame(data, opcode=BINARY, final=True, length=None):
    """The bytes of a frame; `length` is what it says of itself, if not the truth."""
    length = len(data) if length is None else length
    head = bytes([opcode | (0x80 if final else 0)])
    if length < 126:
        head += bytes([length])
    elif length < 1 << 16:
        head += b"\x7e" + struct.pack(">H", length)
    else:
        head += b"\x7f" + struct.pack(">Q", length)
    return head + data


def read_frame(exchange):
    """(opcode, bytes) of the client's next frame; None at the end. The client has to mask."""
    head = exchange.reader.read(2)
    if len(head) < 2:
        return None
    assert head[1] & 0x80, "a client has to mask what it sends"
    length = head[1] & 0x7F
    if length == 126:
        [length] = struct.unpack(">H", exchange.reader.read(2))
    elif length == 127:
        [length] = struct.unpack(">Q", exchange.reader.read(8))
    mask = exchange.reader.read(4)
    data = exchange.reader.read(length)
    key = int.from_bytes((mask * (length // 4 + 1))[:length], "big")
    return head[0] & 0x0F, (int.from_bytes(data, "big") ^ key).to_bytes(length, "big")


def close(exchange, code=1000):
    exchange.write(frame(struct.pack(">H", code), CLOSE))
