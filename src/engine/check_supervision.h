/* The process that works for a check: it starts the jobs that core/check wants, feeds it what they
 * print and how they end, and shows what comes of it. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "engine/check_run_settings.h"

/* `outer_gone_fd` is that of io/guard; -1: there is no outer process. */
int check_supervision_run(const struct check_run_settings *settings, int outer_gone_fd,
			  int *ret_exit_code, struct err *err) MUST_USE;
