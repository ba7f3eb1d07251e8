#include "http/certificate.h"

#include "base/base64.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CURVE "P-256"
#define NAME "muster"
#define DAYS 3650
#define SECONDS_A_DAY 86400
#define LONGEST_FILE ((size_t) 1024 * 1024)

/* Creation. OpenSSL's functions fail only for lack of memory. */

static void must(int is_done)
{
	if (!is_done)
		mem_abort();
}

static X509 *certificate_new(EVP_PKEY *key, const EVP_MD *digest)
{
	X509 *certificate = X509_new();
	uint64_t serial = 0;

	must(certificate && RAND_bytes((unsigned char *) &serial, sizeof(serial)) == 1);
	X509_NAME *name = X509_get_subject_name(certificate);

	must(X509_set_version(certificate, X509_VERSION_3));
	must(ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1));
	must(X509_gmtime_adj(X509_getm_notBefore(certificate), -SECONDS_A_DAY) != NULL);
	must(X509_time_adj_ex(X509_getm_notAfter(certificate), DAYS, 0, NULL) != NULL);
	must(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *) NAME, -1,
					-1, 0));
	must(X509_set_issuer_name(certificate, name));
	must(X509_set_pubkey(certificate, key));
	must(X509_sign(certificate, key, digest) > 0);
	return certificate;
}

static int write_out(BIO *pem, const char *path, struct err *err)
{
	char *bytes;
	long len = BIO_get_mem_data(pem, &bytes);

	return file_replace(path, bytes, (size_t) len, err);
}

/* The certificate is written last: if it exists, so does the key. */
static int write_new_certificate(const char *certificate_file, const char *key_file,
				 struct err *err)
{
	EVP_PKEY *key = EVP_EC_gen(CURVE);
	BIO *key_pem = BIO_new(BIO_s_secmem()), *certificate_pem = BIO_new(BIO_s_mem());

	must(key && key_pem && certificate_pem);
	X509 *certificate = certificate_new(key, EVP_sha256());

	must(PEM_write_bio_PrivateKey(key_pem, key, NULL, NULL, 0, NULL, NULL));
	must(PEM_write_bio_X509(certificate_pem, certificate));
	int rc = write_out(key_pem, key_file, err);

	if (rc == 0)
		rc = write_out(certificate_pem, certificate_file, err);
	X509_free(certificate);
	EVP_PKEY_free(key);
	BIO_free(key_pem);
	BIO_free(certificate_pem);
	return rc;
}

int certificate_ensure(const char *certificate_file, const char *key_file, struct err *err)
{
	bool has_certificate = access(certificate_file, F_OK) == 0;
	bool has_key = access(key_file, F_OK) == 0;

	if (has_certificate && !has_key)
		return err_set(err, ERR_INVALID, "'%s' has no '%s' next to it", certificate_file,
			       key_file);
	/* A key without a certificate was left by a killed start. */
	return has_certificate ? 0 : write_new_certificate(certificate_file, key_file, err);
}

/* The pin. */

static X509 *read_certificate(const char *bytes, size_t len)
{
	BIO *pem = BIO_new_mem_buf(bytes, (int) len);

	must(pem != NULL);
	X509 *certificate = PEM_read_bio_X509(pem, NULL, NULL, NULL);

	BIO_free(pem);
	return certificate;
}

static char *pin_of(const X509 *certificate)
{
	unsigned char digest[SHA256_DIGEST_LENGTH], *key = NULL;
	int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &key);
	struct text pin = {0};

	must(len > 0);
	SHA256(key, (size_t) len, digest);
	OPENSSL_free(key);
	text_add(&pin, "sha256//");
	base64_add(&pin, digest, sizeof(digest));
	return text_take(&pin);
}

int certificate_pin(const char *certificate_file, char **ret_pin, struct err *err)
{
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len;
	int rc = file_read_whole(certificate_file, LONGEST_FILE, &bytes, &len, err);

	if (rc < 0)
		return rc;
	X509 *certificate = read_certificate(bytes, len);

	if (!certificate)
		return err_set(err, ERR_INVALID, "'%s' has no certificate (expected PEM)",
			       certificate_file);
	*ret_pin = pin_of(certificate);
	X509_free(certificate);
	return 0;
}

/* From a secret. */

void certificate_of_secret(const char *secret, struct certificate *ret_certificate)
{
	static const unsigned char purpose[] = "muster: key of a server, version 1";
	unsigned char seed[SHA256_DIGEST_LENGTH];
	unsigned int len = sizeof(seed);

	must(HMAC(EVP_sha256(), secret, (int) strlen(secret), purpose, sizeof(purpose) - 1, seed,
		  &len) != NULL);
	ret_certificate->key =
		EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, sizeof(seed));
	OPENSSL_cleanse(seed, sizeof(seed));
	must(ret_certificate->key != NULL);
	ret_certificate->certificate = certificate_new(ret_certificate->key, NULL);
}

void certificate_done(struct certificate *certificate)
{
	X509_free(certificate->certificate);
	EVP_PKEY_free(certificate->key);
}

char *certificate_pin_of_secret(const char *secret)
{
	struct certificate certificate CLEANUP(certificate_done) = {0};

	certificate_of_secret(secret, &certificate);
	return pin_of(certificate.certificate);
}
