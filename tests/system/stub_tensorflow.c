/* A library that looks like TensorFlow's from outside and does what a test wants to see:
 *
 *     cc -shared -fPIC -DSTUB_VERSION='"2.11.0"' -o libtensorflow_cc.so.2 stub_tensorflow.c
 *
 *     STUB_VERSION          what TF_Version says
 *     STUB_ABORTS_LOADING   it aborts when it is loaded, and says why
 *     STUB_HANGS_LOADING    it never comes back from being loaded
 *     STUB_ABORTS           TF_NewServer aborts
 *     STUB_CRASHES          TF_NewServer dies of a memory fault
 *     STUB_EXITS            TF_NewServer calls exit(0)
 *     STUB_CODE             TF_NewServer fails with this code
 *     STUB_WITHOUT_SERVER   there is no TF_NewServer and no TF_ServerStart
 *
 * It greets its loader. TF_NewServer writes the bytes it got to the file $STUB_BYTES, where
 * that is set. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef STUB_VERSION
#define STUB_VERSION "2.99.0"
#endif
#ifndef STUB_CODE
#define STUB_CODE 0
#endif

struct TF_Status {
	int code;
};

__attribute__((constructor)) static void greet(void)
{
	fprintf(stderr, "the stub greets everybody\n");
	if (getenv("STUB_TELLS_GPUS"))
		fprintf(stderr, "the stub sees [%s]\n",
			getenv("CUDA_VISIBLE_DEVICES") ? getenv("CUDA_VISIBLE_DEVICES") : "unset");
#ifdef STUB_ABORTS_LOADING
	fprintf(stderr, "Check failed: the stub does not want to be loaded\n");
	abort();
#endif
#ifdef STUB_HANGS_LOADING
	fprintf(stderr, "the stub hangs\n");
	for (;;)
		pause();
#endif
}

const char *TF_Version(void)
{
	return STUB_VERSION;
}

struct TF_Status *TF_NewStatus(void)
{
	return calloc(1, sizeof(struct TF_Status));
}

void TF_DeleteStatus(struct TF_Status *status)
{
	free(status);
}

int TF_GetCode(const struct TF_Status *status)
{
	return status->code;
}

const char *TF_Message(const struct TF_Status *status)
{
	return status->code ? "the stub says no" : "";
}

#ifndef STUB_WITHOUT_SERVER
void *TF_NewServer(const void *bytes, size_t len, struct TF_Status *status)
{
	FILE *file = getenv("STUB_BYTES") ? fopen(getenv("STUB_BYTES"), "wb") : NULL;

	if (file) {
		fwrite(bytes, 1, len, file);
		fclose(file);
	}
#ifdef STUB_ABORTS
	fprintf(stderr, "Check failed: the stub cannot make servers\n");
	abort();
#endif
#ifdef STUB_EXITS
	exit(0);
#endif
#ifdef STUB_CRASHES
	raise(SIGSEGV);
#endif
	status->code = STUB_CODE;
	return status->code ? NULL : status;
}

void TF_ServerStart(void *server, struct TF_Status *status)
{
	status->code = server ? 0 : 13;
}
#endif

const char *TF_ServerTarget(void *server)
{
	return server ? "grpc://stub:1" : "";
}
