"""PyTorch: the workers find each other, measure the links between them, add up a tensor, and train a small network.

gloo connects all of them; processes that have a GPU add up with NCCL, too.
"""

import contextlib
import datetime
import importlib
import math
import os
import time

import torch
import torch.distributed as dist
from torch import nn

from muster_check.events import Fault, Progress, tell, tell_data, training

ROUNDS = 20  # round trips of a link; the shortest counts
LARGE = 1 << 21  # numbers of 4 bytes in a large message
REPEATS = 3  # of a large message; the fastest counts


class Network(nn.Module):
    """One hidden layer of 100; as that of the models of TensorFlow."""

    steps = 200
    classes = 10
    share = 1 / 3

    def __init__(self, mean):
        super().__init__()
        self.register_buffer("mean", mean)
        self.layers = nn.Sequential(nn.Linear(len(mean), 100), nn.ReLU(), nn.Linear(100, self.classes))
        nn.init.zeros_(self.layers[2].weight)
        nn.init.zeros_(self.layers[2].bias)

    def forward(self, images):
        return self.layers(images.float() / 255 - self.mean)


@contextlib.contextmanager
def faults(what):
    """Turns an error of PyTorch, which may come from a peer that has ended or does not answer, into a Fault."""
    try:
        yield
    except RuntimeError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise Fault("training", f"{what} failed: {lines[0] if lines else type(error).__name__}") from error


def join(limit):
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}.items():
        os.environ.setdefault(name, value)
    with faults("joining the other workers"):
        dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=limit))


def name_of(rank):
    return f"worker-{rank}"


def exchange(there, back, peer, begins):
    """One message to the peer, and one back; or the same as the peer sees it."""
    if begins:
        dist.send(there, peer)
        dist.recv(back, peer)
    else:
        dist.recv(there, peer)
        dist.send(back, peer)


def duration_of(work):
    began = time.monotonic()
    work()
    return time.monotonic() - began


def measure_clock(peer, begins):
    """How many seconds the peer's clock is ahead, which writes its time halfway: by the fastest of several answers."""
    message, found = torch.zeros(1, dtype=torch.float64), []
    for _ in range(ROUNDS):
        sent = time.time()
        if begins:
            exchange(message, message, peer, begins)
            received = time.time()
            found.append((received - sent, float(message) - (sent + received) / 2))
        else:
            dist.recv(message, peer)
            dist.send(message.fill_(time.time()), peer)
    return min(found)[1] if found else None


def measure_link(peer, begins):
    """What one end finds of the other; both do the same at the same time."""
    small, large = torch.zeros(1), torch.zeros(LARGE)
    trips = [duration_of(lambda: exchange(small, small, peer, begins)) for _ in range(ROUNDS)]
    clock = measure_clock(peer, begins)
    seconds = min(duration_of(lambda: exchange(large, small, peer, begins)) for _ in range(REPEATS))
    return {"roundTrip": min(trips), "clock": clock, "bandwidth": large.nbytes / seconds}


def measure_links():
    """One link after the other, so that none disturbs another."""
    own, size = dist.get_rank(), dist.get_world_size()
    for asking in range(size):
        for asked in range(size):
            if asking == asked:
                continue
            with faults(f"the link from {name_of(asking)} to {name_of(asked)}"):
                if own == asking:
                    found = measure_link(asked, True)
                    tell("network", **{"from": name_of(own), "to": name_of(asked), **found})
                elif own == asked:
                    measure_link(asking, False)
                dist.barrier()


def find_device():
    if not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)) % torch.cuda.device_count())
    torch.cuda.set_device(device)
    return device


def tell_devices(device):
    name = f"GPU:{device.index} ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else "CPU:0"
    tell("devices", task=name_of(dist.get_rank()), devices=[name])


def add_up(device, group, backend):
    """Bytes a second of an all-reduce; a Fault unless the sum is right."""
    size, own = dist.get_world_size(), dist.get_rank()

    def reduce():
        numbers = torch.full((LARGE,), float(own + 1), device=device)
        dist.all_reduce(numbers, group=group)
        return float(numbers.min()), float(numbers.max())  # waits for the GPU
    with faults(f"the all-reduce of {backend}"):
        wanted = size * (size + 1) / 2
        if reduce() != (wanted, wanted):
            raise Fault("training", f"the all-reduce of {backend} gave a wrong sum")
        return 4 * LARGE / min(duration_of(reduce) for _ in range(REPEATS))


def try_collectives(device):
    backend, speed = "gloo", add_up(torch.device("cpu"), None, "gloo")
    if device.type == "cuda":
        with faults("NCCL"):
            group = dist.new_group(backend="nccl")
        backend, speed = "gloo and NCCL", add_up(device, group, "NCCL")
    tell("ran", task=name_of(dist.get_rank()), backend=backend, bandwidth=speed)


def evaluate(network, images, labels):
    with torch.no_grad():
        logits = network(images)
        right = (logits.argmax(dim=1) == labels).float().mean()
        return float(nn.functional.cross_entropy(logits, labels)), float(right)


def train(arguments, device):
    try:
        digits, dataset_of, result = (importlib.import_module(f"muster_check.{name}")
                                      for name in ("digits", "dataset", "result"))
    except ImportError as error:
        raise Fault("data", f"the digits need numpy ({error}); install it, or check without a model (--model none)") from error

    def on_device(columns):
        return (torch.from_numpy(columns[digits.IMAGE]).to(device),
                torch.from_numpy(columns[dataset_of.LABEL]).long().to(device))
    arguments.steps = arguments.steps or Network.steps
    dataset = digits.load(arguments.data_dir)
    tell_data(dataset)
    torch.manual_seed(1)
    network = Network(torch.from_numpy(digits.mean_of(dataset.training))).to(device)
    images, labels = on_device(dataset.training)
    proof = on_device(dataset.validation)
    before, _ = evaluate(network, *proof)
    with faults("training"):
        parallel = nn.parallel.DistributedDataParallel(network)
        optimizer = torch.optim.SGD(parallel.parameters(), lr=0.3)
        random = torch.Generator().manual_seed(arguments.worker)
        progress = Progress(arguments.worker, arguments.steps)
        with training(arguments.worker):
            for number in range(1, arguments.steps + 1):
                chosen = torch.randint(len(labels), (arguments.batch_size,), generator=random).to(device)
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(parallel(images[chosen]), labels[chosen])
                loss.backward()
                optimizer.step()
                progress.tell(number, loss.item())
        dist.barrier()
    if arguments.worker != 0:
        return 0
    after, accuracy = evaluate(network, *proof)
    return result.judge(Network, dataset.validation[dataset_of.LABEL], arguments.steps, before,
                        after if math.isfinite(after) else math.nan, accuracy)


def run(arguments):
    join(arguments.timeout)
    arguments.worker = dist.get_rank()
    device = find_device()
    measure_links()
    tell_devices(device)
    try_collectives(device)
    code = 0 if arguments.no_training else train(arguments, device)
    dist.destroy_process_group()
    return code
