/* Random numbers in the form of a UUID. */
#include "jobs/uid.h"

#include "base/mem.h"
#include "io/random.h"

char *job_uid_new(void)
{
	unsigned char b[16];

	random_bytes(b, sizeof(b));
	b[6] = (b[6] & 0x0f) | 0x40;
	b[8] = (b[8] & 0x3f) | 0x80;
	return mem_format("%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			  b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
			  b[12], b[13], b[14], b[15]);
}

void job_uid_set_new(struct job *job)
{
	char *uid CLEANUP(mem_free_text) = job_uid_new();

	job_set_uid(job, uid);
}
