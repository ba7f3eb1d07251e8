/* What `nvidia-smi -L` says of machines, for the tests of GPUs. */
#pragma once

static const char four_gpus[] = "Driver Version: 550.54.14\n"
				"GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-aa000000-0000)\n"
				"GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-ab000000-0000)\n"
				"GPU 2: Tesla T4 (UUID: GPU-ba000000-0000)\n"
				"GPU 3: Tesla T4 (UUID: GPU-bb000000-0000)\n";
static const char mig_devices[] = "GPU 0: NVIDIA A100 (UUID: GPU-aa)\n"
				  "  MIG 3g.20gb     Device  0: (UUID: MIG-c1)\n"
				  "  MIG 3g.20gb     Device  1: (UUID: MIG-c2)\n"
				  "GPU 1: NVIDIA A100 (UUID: GPU-ab)\n";
