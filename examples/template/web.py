"""A page on which you draw a digit, or pick one, and see how the newest model classifies it.

    python3 web.py --model-dir /tmp/models/export --port 8080

The model is the newest file NUMBER.keras in the directory, as examples/parameter_server/train.py exports
them. Each request checks the directory first, so that a newer model is used automatically; the page
requests its number every two seconds. Needs tensorflow (or tensorflow-cpu), tf-keras and scikit-learn.
"""

import argparse
import http.server
import json
import os
import pathlib
import random
import threading

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # as the models were made
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy
import tensorflow as tf
from sklearn.datasets import load_digits

PAGE = (pathlib.Path(__file__).parent / "page.html").read_bytes()
LONGEST_QUESTION = 10_000  # bytes: 64 numbers are far fewer


class NewestModel:
    """The newest model of a folder; None where there is none yet."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.lock = threading.Lock()  # requests come in threads of their own
        self.name = self.model = None
        self.number = -1
        self.refused = set()

    def look(self):
        """Loads what is newer than what there is; gives the name of what is used now."""
        with self.lock:
            models = {int(path.stem): path for path in self.folder.glob("*.keras") if path.stem.isdecimal()}
            for number in sorted(models, reverse=True):
                if number <= self.number or self.load(number, models[number]):
                    break
            return self.name

    def load(self, number, path):
        """Whether it can be used: one that is broken is told once, and the one before it serves on."""
        if (version := (path, os.path.getmtime(path))) in self.refused:
            return False
        try:
            self.model = tf.keras.models.load_model(path, compile=False)
        except Exception as fault:  # whatever a file may make of TensorFlow
            self.refused.add(version)
            print(f"cannot use {path}: {fault}", flush=True)
            return False
        self.name, self.number = path.name, number
        print(f"uses {path}", flush=True)
        return True

    def predict(self, pixels):
        """How likely each of the ten digits is; pixels are 8 x 8 numbers from 0 to 16, as scikit-learn has them."""
        image = numpy.asarray(pixels, dtype="float32").reshape(1, 8, 8) / 16
        with self.lock:
            return tf.nn.softmax(self.model(image))[0].numpy().tolist()


class Handler(http.server.BaseHTTPRequestHandler):
    newest = None  # set by main
    digits = load_digits()

    def answer(self, body, kind="application/json", code=200):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/":
            self.answer(PAGE, "text/html; charset=utf-8")
        elif self.path == "/model":
            self.answer({"model": self.newest.look()})
        elif self.path == "/digit":
            index = random.randrange(len(self.digits.target))
            self.answer({"pixels": self.digits.data[index].tolist(), "digit": int(self.digits.target[index])})
        else:
            self.answer({"error": "no such page"}, code=404)

    def do_POST(self):
        if self.path != "/predict":
            self.answer({"error": "no such page"}, code=404)
            return
        try:
            length = min(int(self.headers.get("Content-Length", 0)), LONGEST_QUESTION)
            pixels = [float(pixel) for pixel in json.loads(self.rfile.read(length))]
            if len(pixels) != 64:
                raise ValueError("64 pixels are expected")
        except (TypeError, ValueError) as fault:
            self.answer({"error": str(fault)}, code=400)
            return
        if not self.newest.look():
            self.answer({"error": "there is no model yet"}, code=503)
            return
        likely = self.newest.predict(pixels)
        self.answer({"model": self.newest.name, "digit": likely.index(max(likely)), "likely": likely})

    def log_message(self, *arguments):
        """The page asks every two seconds: that is no news."""


def main():
    parser = argparse.ArgumentParser(description="Shows what the newest model makes of a digit.")
    parser.add_argument("--model-dir", required=True)
    parser.add_argument("--host", default="", help="address to listen on (default: all)")
    parser.add_argument("--port", type=int, default=8080, help="0: one that is free")
    arguments = parser.parse_args()
    Handler.newest = NewestModel(arguments.model_dir)
    with http.server.ThreadingHTTPServer((arguments.host, arguments.port), Handler) as server:
        print(f"listens on port {server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
