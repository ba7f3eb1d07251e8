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

typedef int (*write_fn)(const char *path, const void *bytes, size_t len, struct err *err);

static int write_out(BIO *pem, const char *path, write_fn write, struct err *err)
{
	char *bytes;
	long len = BIO_get_mem_data(pem, &bytes);

	return write(path, bytes, (size_t) len, err);
}

/* Of several servers that start at the same time, one creates the key. */
static int ensure_key(const char *key_file, struct err *err)
{
	if (access(key_file, F_OK) == 0)
		return 0;
	EVP_PKEY *key = EVP_EC_gen(CURVE);
	BIO *pem = BIO_new(BIO_s_secmem());

	must(key && pem);
	must(PEM_write_bio_PrivateKey(pem, key, NULL, NULL, 0, NULL, NULL));
	int rc = write_out(pem, key_file, file_create, err);

	EVP_PKEY_free(key);
	BIO_free(pem);
	return rc == ERR_EXISTS ? 0 : rc;
}

static int read_key(const char *key_file, EVP_PKEY **ret_key, struct err *err)
{
	char *bytes CLEANUP(mem_free_secret) = NULL;
	size_t len;
	int rc = file_read_whole(key_file, LONGEST_FILE, &bytes, &len, err);

	if (rc < 0)
		return rc;
	BIO *pem = BIO_new_mem_buf(bytes, (int) len);

	must(pem != NULL);
	*ret_key = PEM_read_bio_PrivateKey(pem, NULL, NULL, ""); /* "": asks for no password */
	BIO_free(pem);
	if (*ret_key && EVP_PKEY_is_a(*ret_key, "EC"))
		return 0;
	EVP_PKEY_free(TAKE(*ret_key));
	return err_set(err, ERR_INVALID,
		       "'%s' has no certificate next to it, and no key (EC, PEM) "
		       "for one",
		       key_file);
}

static int write_certificate(const char *certificate_file, EVP_PKEY *key, struct err *err)
{
	X509 *certificate = certificate_new(key, EVP_sha256());
	BIO *pem = BIO_new(BIO_s_mem());

	must(pem && PEM_write_bio_X509(pem, certificate));
	int rc = write_out(pem, certificate_file, file_replace, err);

	X509_free(certificate);
	BIO_free(pem);
	return rc;
}

/* Each of several servers writes a certificate, and all of them are of the same key. */
int certificate_ensure(const char *certificate_file, const char *key_file, struct err *err)
{
	EVP_PKEY *key = NULL;

	if (access(certificate_file, F_OK) == 0) {
		if (access(key_file, F_OK) == 0)
			return 0;
		return err_set(err, ERR_INVALID, "'%s' has no '%s' next to it", certificate_file,
			       key_file);
	}
	int rc = ensure_key(key_file, err);

	if (rc == 0)
		rc = read_key(key_file, &key, err);
	if (rc == 0)
		rc = write_certificate(certificate_file, key, err);
	EVP_PKEY_free(key);
	return rc;
}

/* The pin. */

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
	BIO *pem = BIO_new_mem_buf(bytes, (int) len);

	must(pem != NULL);
	X509 *certificate = PEM_read_bio_X509(pem, NULL, NULL, NULL);

	BIO_free(pem);
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

/* Tokens. */

#define PREFIX "sha256:"

static struct token_hash hash_of(const char *token)
{
	struct token_hash hash;

	SHA256((const unsigned char *) token, strlen(token), hash.bytes);
	return hash;
}

char *token_hash_text(const char *token)
{
	struct token_hash hash = hash_of(token);
	struct text text = {0};

	text_add(&text, PREFIX);
	for (size_t i = 0; i < sizeof(hash.bytes); i++)
		text_addf(&text, "%02x", hash.bytes[i]);
	return text_take(&text);
}

bool token_is_hash(const char *text)
{
	return text_starts_with(text, PREFIX);
}

int token_hash_read(const char *text, struct token_hash *ret_hash, struct err *err)
{
	struct token_hash hash;
	size_t len = 0;

	if (!token_is_hash(text) ||
	    !OPENSSL_hexstr2buf_ex(hash.bytes, sizeof(hash.bytes), &len, text + strlen(PREFIX),
				   '\0') ||
	    len != sizeof(hash.bytes))
		return err_set(err, ERR_INVALID,
			       "not the hash of a token (expected " PREFIX
			       " and 64 hexadecimal digits)");
	*ret_hash = hash;
	return 0;
}

bool token_is_known(const char *given, const void *data)
{
	const struct token_hash *hash = data;
	struct token_hash own = hash_of(given);

	return CRYPTO_memcmp(own.bytes, hash->bytes, sizeof(own.bytes)) == 0;
}
