/* Divides cores among the replicas of a job. */
#include "spec/threads.h"

int threads_of_replica(double processors, double cores, int n_replicas)
{
	if (n_replicas <= 1 && processors <= 0)
		return 0;
	double share = processors > 0 ? processors : cores / (n_replicas > 1 ? n_replicas : 1);

	return share < 1 ? 1 : share < THREADS_MAX ? (int) share : THREADS_MAX;
}
