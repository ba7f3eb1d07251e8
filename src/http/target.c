/* libcurl itself parses URLs, so that both see the same host. */
#include "http/target.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/network_address.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

static void free_url(CURLU **url)
{
	curl_url_cleanup(*url);
}

static void free_part(char **part)
{
	curl_free(*part);
}

/* A part of the URL; NULL: absent. Free it with free_part. */
static char *part_of(CURLU *url, CURLUPart which, unsigned flags)
{
	char *part = NULL;

	return curl_url_get(url, which, &part, flags) == CURLUE_OK ? part : NULL;
}

/* As Go's clients do: localhost and every loopback address. */
static bool is_loopback_url_host(const char *host)
{
	return text_equals(host, "[::1]") || network_address_names_loopback(host);
}

static char *url_path_of(CURLU *url)
{
	char *path CLEANUP(free_part) = part_of(url, CURLUPART_PATH, 0);
	char *query CLEANUP(free_part) = part_of(url, CURLUPART_QUERY, 0);

	return mem_format("%s%s%s", path ? path : "/", query ? "?" : "", query ? query : "");
}

static int read_parts(CURLU *url, const char *server_name, struct http_target *target)
{
	char *scheme CLEANUP(free_part) = part_of(url, CURLUPART_SCHEME, 0);
	char *host CLEANUP(free_part) = part_of(url, CURLUPART_HOST, 0);
	char *own_port CLEANUP(free_part) = part_of(url, CURLUPART_PORT, 0);
	char *port CLEANUP(free_part) = part_of(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
	char *user CLEANUP(free_part) = part_of(url, CURLUPART_USER, 0);

	if (!scheme || !host || !*host || !port || user ||
	    (!text_equals(scheme, "http") && !text_equals(scheme, "https")))
		return ERR_INVALID;
	target->place = own_port ? mem_format("%s:%s", host, own_port) : mem_copy_text(host);
	target->path = url_path_of(url);
	target->is_loopback = is_loopback_url_host(host);
	target->origin = mem_format("%s://%s", scheme, target->place);
	if (server_name && !text_equals(server_name, host)) {
		target->connect_to = mem_format("%s:%s:%s:%s", server_name, port, host, port);
		target->host_header = mem_format("Host: %s", target->place);
		if (curl_url_set(url, CURLUPART_HOST, server_name, 0) != CURLUE_OK)
			return ERR_INVALID;
	}
	char *whole CLEANUP(free_part) = part_of(url, CURLUPART_URL, 0);

	target->url = mem_copy_text(whole);
	return whole ? 0 : ERR_INVALID;
}

int http_target_read(const char *url, const char *server_name, struct http_target *ret_target,
		     struct err *err)
{
	CURLU *parsed CLEANUP(free_url) = curl_url();
	struct http_target target = {0};

	if (!parsed)
		mem_abort();
	if (curl_url_set(parsed, CURLUPART_URL, url, 0) != CURLUE_OK ||
	    read_parts(parsed, server_name, &target) < 0) {
		http_target_done(&target);
		return err_set(err, ERR_INVALID,
			       "the address of the server must be http:// or https://, a host, "
			       "perhaps a port, and no user name");
	}
	*ret_target = target;
	return 0;
}

void http_target_done(struct http_target *target)
{
	free(target->url);
	free(target->origin);
	free(target->place);
	free(target->path);
	free(target->connect_to);
	free(target->host_header);
	*target = (struct http_target){0};
}
