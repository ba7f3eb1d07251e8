#include "local/ports.h"

#include "base/text.h"
#include "jobs/record.h"

#define HOST "127.0.0.1"

/* Ports of a private network cannot be tested from outside; no other program takes one there. */
static bool claim_local_port(int number, void *data)
{
	struct local_ports *ports = data;

	return ports->are_private || port_reservations_take(&ports->reserved, number);
}

static struct local_address *find_local_address(const struct local_ports *ports, const char *role,
						int index)
{
	for (size_t i = 0; i < ports->n_addresses; i++) {
		struct local_address *address = &ports->addresses[i];

		if (address->index == index && text_equals(address->role, role))
			return address;
	}
	return NULL;
}

int local_ports_find_taken(struct local_ports *ports, const char *role, int index)
{
	struct local_address *address = find_local_address(ports, role, index);

	if (!address)
		return 0;
	bool is_taken = address->was_used && !ports->are_private && !port_is_free(address->port);

	address->was_used = true;
	return is_taken ? address->port : 0;
}

static void append_local_address(struct local_ports *ports, const char *role, int index, int port)
{
	mem_grow(&ports->addresses, &ports->capacity, ports->n_addresses,
		 sizeof(*ports->addresses));
	ports->addresses[ports->n_addresses++] = (struct local_address){
		.role = mem_copy_text(role),
		.index = index,
		.port = port,
		.text = mem_format(HOST ":%d", port),
	};
}

static size_t count_missing(const struct local_ports *ports, const struct job *job)
{
	size_t missing = 0;

	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++)
			missing += !find_local_address(ports, job->roles[i].name, index);
	return missing;
}

static void assign_missing_ports(struct local_ports *ports, const struct job *job,
				 const int *numbers)
{
	for (size_t i = 0; i < job->n_roles; i++) {
		const char *role = job->roles[i].name;

		for (int index = 0; index < job->roles[i].replicas; index++)
			if (!find_local_address(ports, role, index))
				append_local_address(ports, role, index, *numbers++);
	}
}

static int claim_missing(struct local_ports *ports, const struct job *job, struct err *err)
{
	bool lacks_coordinator = ports->coordinator_port == 0;
	size_t count = count_missing(ports, job) + lacks_coordinator;
	int *numbers CLEANUP(mem_free_any) = mem_new_array(count, sizeof(*numbers));
	struct claim_request request = {.kind = CLAIM_PORT,
					.owner_uid = job->uid,
					.count = count,
					.is_free = claim_local_port,
					.data = ports};
	int rc = port_range(&request.low, &request.high, err);

	if (rc == 0)
		rc = ports->claims->functions->claim(ports->claims, &request, numbers, err);
	if (rc < 0)
		return rc;
	if (lacks_coordinator)
		ports->coordinator_port = numbers[0];
	assign_missing_ports(ports, job, numbers + lacks_coordinator);
	return 0;
}

int local_ports_publish(struct local_ports *ports, const struct job *job, const char *role,
			int index, struct err *err)
{
	struct local_address *address = find_local_address(ports, role, index);

	if (!address) {
		int rc = claim_missing(ports, job, err);

		if (rc < 0)
			return rc;
		address = find_local_address(ports, role, index);
	}
	if (!address)
		return err_set(err, ERR_NOT_FOUND, "job '%s' has no %s-%d", job->name, role, index);
	address->is_published = true;
	return 0;
}

int local_ports_unpublish(struct local_ports *ports, const char *uid, const char *role, int index,
			  struct err *err)
{
	struct local_address *address = find_local_address(ports, role, index);

	if (address)
		address->is_published = false;
	for (size_t i = 0; i < ports->n_addresses; i++)
		if (ports->addresses[i].is_published)
			return 0;
	return local_ports_release(ports, uid, err);
}

int local_ports_release(struct local_ports *ports, const char *uid, struct err *err)
{
	if (ports->coordinator_port == 0)
		return 0;
	int rc = ports->claims->functions->release(ports->claims, CLAIM_PORT, uid, err);

	if (rc == 0)
		local_ports_done(ports);
	return rc;
}

void local_ports_done(struct local_ports *ports)
{
	for (size_t i = 0; i < ports->n_addresses; i++) {
		free(ports->addresses[i].role);
		free(ports->addresses[i].text);
	}
	free(ports->addresses);
	port_reservations_done(&ports->reserved);
	*ports = (struct local_ports){.claims = ports->claims, .are_private = ports->are_private};
}

void local_ports_observe(const struct local_ports *ports, struct arena *arena,
			 struct observed *observed)
{
	observed->addresses =
		arena_take_array(arena, ports->n_addresses, sizeof(*observed->addresses));
	for (size_t i = 0; i < ports->n_addresses; i++) {
		const struct local_address *address = &ports->addresses[i];

		if (address->is_published)
			observed->addresses[observed->n_addresses++] = (struct observed_address){
				.role = arena_copy_text(arena, address->role),
				.index = address->index,
				.address = arena_copy_text(arena, address->text),
			};
	}
}

struct tf_cluster local_ports_cluster(const struct local_ports *ports, const struct job *job,
				      struct arena *arena)
{
	struct tf_cluster_address *addresses =
		arena_take_array(arena, ports->n_addresses, sizeof(*addresses));
	size_t count = 0;

	for (size_t i = 0; i < ports->n_addresses; i++) {
		const struct local_address *known = &ports->addresses[i];
		const struct role *role = job_role(job, known->role);

		if (role && known->index < role->replicas)
			addresses[count++] =
				(struct tf_cluster_address){known->role, known->index, known->text};
	}
	return (struct tf_cluster){
		.job = job,
		.addresses = addresses,
		.n_addresses = count,
		.coordinator_host = HOST,
		.coordinator_port = ports->coordinator_port,
	};
}
