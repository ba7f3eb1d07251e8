/* The random part of waits, so that many clients of one server do not come back together. */
#pragma once

/* A number from 0 to 1 that nobody else has. */
double kube_jitter(void);
