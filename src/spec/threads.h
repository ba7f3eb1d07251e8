/* How many threads each replica of a job computes with, if all replicas share one machine. Pure.
 *
 * A numerical library starts a thread for each core of the machine, in each process: four workers
 * on two cores have eight, which wait for each other most of the time. MKL, OpenBLAS and PyTorch
 * too read the variable of OpenMP (5.2, section 21.2); torchrun sets it to 1. */
#pragma once

#define THREADS_VARIABLE "OMP_NUM_THREADS"
#define THREADS_MAX 1024 /* whatever a file requests */

/* From 1 to THREADS_MAX: the replica's own `processors`, or if that is 0, its equal share of the
 * usable `cores`. 0, no limit: it is the only replica, so its libraries choose, as under torchrun.
 */
int threads_of_replica(double processors, double cores, int n_replicas);
