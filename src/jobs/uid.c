/* Random numbers in the form of a UUID. */
#include "jobs/uid.h"

#include "base/mem.h"

#include <errno.h>
#include <sys/random.h>

int job_uid_new(char **ret_uid, struct err *err)
{
	unsigned char b[16];

	if (getrandom(b, sizeof(b), 0) != sizeof(b))
		return err_set_errno(err, errno, "cannot get random numbers");
	b[6] = (b[6] & 0x0f) | 0x40;
	b[8] = (b[8] & 0x3f) | 0x80;
	*ret_uid =
		mem_format("%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			   b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
			   b[12], b[13], b[14], b[15]);
	return 0;
}

int job_uid_set_new(struct job *job, struct err *err)
{
	char *uid CLEANUP(mem_free_text) = NULL;
	int rc = job_uid_new(&uid, err);

	if (rc == 0)
		job_set_uid(job, uid);
	return rc;
}
