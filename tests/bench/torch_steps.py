"""Trains a small model on the CPU with DistributedDataParallel; rank 0 prints how long a step takes."""

import timed_steps
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(
    torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
features, labels = torch.randn(256, 256), torch.randint(0, 10, (256,))


def step():
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(features), labels).backward()
    optimizer.step()


timed_steps.take(step, dist.get_rank() == 0)
dist.destroy_process_group()
