#include "compat/dist_test.h"

#include "base/text.h"

void dist_test_add_model(struct call *call, const struct options *old)
{
	bool is_census = text_equals(option_text(old, "model-name"), "CENSUS_WIDENDEEP");

	call_add_value(call, "--model", is_census ? "census" : "mnist");
	call_add_flag(call, "--sync-replicas", old, "sync-replicas");
}
