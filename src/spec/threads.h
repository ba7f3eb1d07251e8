/* How many threads each replica of a job computes with, where all replicas share one machine. Pure.
 *
 * A numerical library starts a thread for each core of the machine, in each process: four workers
 * on two cores have eight, which wait for each other most of the time. What OpenMP reads (5.2,
 * section 21.2) is read by MKL, OpenBLAS and PyTorch too; torchrun sets it to 1. */
#pragma once

#define THREADS_VARIABLE "OMP_NUM_THREADS"
#define THREADS_MAX 1024 /* whatever a file asks for */

/* From 1 to THREADS_MAX: so many as the replica's own `processors`, or its equal part of the usable
 * `cores` where that is 0. */
int threads_of_replica(double processors, double cores, int n_replicas);
