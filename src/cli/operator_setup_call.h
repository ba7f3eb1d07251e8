/* `muster operator install`, `uninstall` and `upgrade-from-training-operator`. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "command/options.h"
#include "operator/operator.h"

/* Whether the command line is one of them; ERR_INVALID for an option that does not belong to it. */
int operator_setup_check(const struct options *options, bool *ret_is_setup,
			 struct err *err) MUST_USE;
/* The login and the namespaces are those of `settings`. */
int operator_setup_call(const struct options *options, const struct operator_settings *settings,
			struct err *err) MUST_USE;
