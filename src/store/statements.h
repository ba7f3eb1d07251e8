/* The statements for muster.db, by number; the texts are in store/sqlite.c. */
#pragma once

enum statement_number {
	CREATE_JOB,
	CREATE_BODY,
	GET,
	CHANGE_JOB,
	CHANGE_BODY,
	IS_THERE,
	REMOVE_JOB,
	REMOVE_BODY,
	REMEMBER_VERSION,
	LIST_SUMMARIES,
	LIST_ALL,
	LIST_CLAIMED,
	LIST_CLAIMS,
	CLAIM,
	RELEASE,
	RELEASE_OF_JOB,
	STATEMENT_COUNT,
};
