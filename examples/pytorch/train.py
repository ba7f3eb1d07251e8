"""Trains a small network on handwritten digits with PyTorch's DistributedDataParallel.

    muster run -w 2 train.py --epochs 12 --checkpoint-dir /tmp/digits
    muster launch --nnodes 1:4 --nproc-per-node 2 train.py --checkpoint-dir /tmp/digits

The same script runs under torchrun, and alone. When one of the workers is asked to end (TERM, or INT from Ctrl-C), all
of them save at the same step and end; started again with the same --checkpoint-dir, with any number of workers, they go on at that
step. Needs torch and scikit-learn, whose package has the 1,797 digits in it.
"""

import argparse
import os
import pathlib
import sys

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn.parallel import DistributedDataParallel

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))  # where it is in muster's sources
import muster_elastic


def read_arguments():
    parser = argparse.ArgumentParser(description="Trains a network that reads handwritten digits.")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=64, help="of all workers together")
    parser.add_argument("--checkpoint-dir", type=pathlib.Path, help="goes on from here after a restart")
    return parser.parse_args()


def begin():
    """Meets the other workers; this process's device."""
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        torch.cuda.set_device(device)
    else:
        device = torch.device("cpu")
    if "RANK" not in os.environ:  # alone, without muster or torchrun
        os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    return device


def load_data(device):
    """Training and test images, 8 x 8 with values in 0..1, and their labels."""
    digits = load_digits()
    images = (digits.images / 16.0).astype("float32")
    parts = train_test_split(images, digits.target, test_size=0.2, random_state=1)
    return [torch.from_numpy(part).to(device) for part in parts]


def build_model():
    torch.manual_seed(1)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))


class Checkpoint:
    """The newest one, which worker 0 writes. A file is complete when it has its name."""

    def __init__(self, folder, model, optimizer):
        self.path = folder / "digits.pt" if folder else None
        self.parts = {"model": model, "optimizer": optimizer}

    def restore(self):
        """The step at which training goes on."""
        if not self.path or not self.path.exists():
            return 0
        saved = torch.load(self.path, map_location="cpu")
        for name, part in self.parts.items():
            part.load_state_dict(saved[name])
        return saved["step"]

    def save(self, step):
        if self.path and dist.get_rank() == 0:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            begun = self.path.with_suffix(".begun")
            torch.save({"step": step, **{name: part.state_dict() for name, part in self.parts.items()}}, begun)
            begun.rename(self.path)
        dist.barrier()


def batches_of(epoch, n_images, batch_size):
    """Each worker's share of each batch: an order of the epoch's own, the same for all workers."""
    order = torch.randperm(n_images, generator=torch.Generator().manual_seed(epoch))
    whole = order[:n_images // batch_size * batch_size]
    return [batch[dist.get_rank()::dist.get_world_size()] for batch in whole.split(batch_size)]


def main():
    arguments = read_arguments()
    device = begin()
    train_images, test_images, train_labels, test_labels = load_data(device)
    model = DistributedDataParallel(build_model().to(device))
    optimizer = torch.optim.Adam(model.parameters(), 0.003)
    loss_of = nn.CrossEntropyLoss()
    checkpoint = Checkpoint(arguments.checkpoint_dir, model.module, optimizer)
    step = checkpoint.restore()
    training = muster_elastic.Training()
    if dist.get_rank() == 0:
        print(f"workers: {dist.get_world_size()}" + (f", goes on at step {step}" if step else ""), flush=True)

    steps_per_epoch = len(train_labels) // arguments.batch_size
    for epoch in range(step // steps_per_epoch, arguments.epochs):
        batches = batches_of(epoch, len(train_labels), arguments.batch_size)
        for batch in batches[step % steps_per_epoch:]:
            optimizer.zero_grad()
            loss = loss_of(model(train_images[batch]), train_labels[batch])
            loss.backward()
            optimizer.step()
            step += 1
            if step % steps_per_epoch == 0 or training.must_end():  # which asks all workers, so it takes as long as a small all-reduce
                checkpoint.save(step)
                training.saved(step)  # exits if a worker was asked to end
        if dist.get_rank() == 0:
            print(f"epoch {epoch + 1}/{arguments.epochs}: loss {loss.item():.4f}", flush=True)

    with torch.no_grad():
        accuracy = (model.module(test_images).argmax(1) == test_labels).float().mean().item()
    if dist.get_rank() == 0:
        print(f"test accuracy {accuracy:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
