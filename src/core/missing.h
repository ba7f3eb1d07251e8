/* What a job that goes on lacks: addresses, and attempts that have not been started. */
#pragma once

#include "core/decision.h"

/* Plans the addresses that are missing, or, when all are there and no restart waits, the starts. No
 * replica starts while an older attempt of it lives. */
void missing_plan(struct decision *decision);
