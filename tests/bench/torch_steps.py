"""Trains a small model on the CPU with DistributedDataParallel; rank 0 prints how long a step takes."""

import statistics
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 200
FIRST_STEPS = 20  # not counted

dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(
    torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
features, labels = torch.randn(256, 256), torch.randint(0, 10, (256,))
times = []
for _ in range(FIRST_STEPS + STEPS):
    begin = time.perf_counter()
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(features), labels).backward()
    optimizer.step()
    times.append(time.perf_counter() - begin)
if dist.get_rank() == 0:
    print(f"{1000 * statistics.median(times[FIRST_STEPS:]):.3f} ms a step", flush=True)
dist.destroy_process_group()
