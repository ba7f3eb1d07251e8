/* The random part of waits, so that many clients of one server do not retry at the same time. */
#pragma once

/* A random number from 0 to 1 from the kernel. */
double kube_jitter(void);
