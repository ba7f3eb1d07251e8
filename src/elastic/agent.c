#include "elastic/agent.h"

#include "base/line_text.h"
#include "base/names.h"
#include "elastic/liveness.h"
#include "elastic/orchestrator.h"
#include "io/network_address.h"
#include "io/port.h"
#include "jobs/processes.h"
#include "jobs/record.h"
#include "jobs/registration.h"
#include "rendezvous/world_failure.h"

#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <unistd.h>

/* Workers keep running this long without a server, which a user may have to restart. */
#define ISOLATION_TIME (10LL * 60 * MSEC_PER_SECOND)
#define PATIENCE (60 * MSEC_PER_SECOND) /* with a server that was reached before */
#define ANSWER_TIME (3 * MSEC_PER_SECOND)
#define STARTUP_TIME (3 * MSEC_PER_SECOND) /* of a server */
#define LONGEST_REFUSAL 1000 /* bytes of a server's sentence */
#define DRAIN_TIME (2 * MSEC_PER_SECOND)
/* Shortest time between two reports of the number of machines. */
#define COUNT_SPACING (5 * MSEC_PER_SECOND)

/* A connection to the server. */
struct agent_line {
	struct agent *agent;
	size_t place;
	struct http_asker *asker;
};

struct agent {
	struct backend backend; /* first member, so that both pointers are equal */
	const struct agent_request *request;
	struct agent_settings settings;
	struct backend *processes;
	char *id; /* of the member */
	char *key; /* of its calls */
	char *host; /* this machine's address for the others */
	char *interface; /* to the others, of the newest world; NULL: not looked for */
	char *path; /* of its calls */
	char *offer; /* NULL before the first observation of the job */
	char *job_name; /* NULL likewise */
	char *report_folder; /* for its processes; NULL before the first */
	int *ports;
	struct port_reservations reserved; /* reserved ports, among all musters of this machine */
	int n_processes;

	struct member member;
	struct agent_line lines[MEMBER_CALLS]; /* by the place of the call */
	char *server_address;
	struct host_lookup *lookup; /* of the server that was lost; NULL: none is under way */
	struct host_lookup *own_name; /* likewise; NULL: nobody needs this machine's address */
	struct liveness_port *liveness; /* NULL: none could be opened */
	struct loop_watch *timer;
	char *uid; /* of the job, set by the server; NULL: not yet received */
	struct arena *world_arena;
	struct world world; /* the newest; generation 0: none */
	int64_t first_world; /* generation of the first one; 0: none */
	struct world_cluster cluster; /* this machine's place in it */
	char *machine; /* the name of this machine in its newest failures; NULL: none yet */
	int restarts;
	char *why; /* why calls have failed since; NULL: the last one succeeded */
	bool is_loss_told;
	char *news; /* to be observed once */
	char *seen_news; /* observed by the pass in progress or the last one */
	int n_joined; /* as last reported, at this time */
	instant joined_told_at;
	struct observed_world seen;

	struct arena *own_failure_arena;
	const struct failure *own_failure; /* of this machine's processes, as reported */
	struct world_failure failure; /* of the job, from the server */
	bool is_failure_news; /* to be observed once */

	struct listening listening; /* if we replaced another server */
	struct orchestrator *server; /* NULL: another process is the server */
};

static struct agent *elastic_agent_of(struct backend *backend)
{
	return (struct agent *) backend;
}

static void notify_agent_news(void *data)
{
	const struct agent *agent = data;

	agent->settings.on_news(agent->settings.data);
}

static void report_agent_trouble(const struct agent *agent, const char *sentence)
{
	agent->settings.on_trouble(sentence, agent->settings.data);
}

/* Calls. */

static void send_member_request(struct agent *agent, instant now)
{
	struct text body CLEANUP(text_done) = {0};

	for (int i = 0; agent->report_folder && i < agent->n_processes; i++) {
		char *path CLEANUP(mem_free_text) = tf_cluster_progress_file(
			agent->report_folder, "worker", i, (int) agent->member.report.generation);

		member_progressed(&agent->member, progress_file_read(path));
	}
	const struct agent_line *line = &agent->lines[member_called(&agent->member, now)];
	const struct member_report *report = &agent->member.calls[line->place].told;
	bool has_failure = report->failure && report->failure == report->generation;
	const struct member_request request = {
		.uid = agent->uid ? agent->uid : "",
		.terms = agent->request->terms,
		.offer = agent->offer,
		.report = *report,
		.liveness_port = agent->liveness ? liveness_port_number(agent->liveness) : 0,
		.world = agent->world.generation,
		.failure = has_failure ? agent->own_failure : NULL,
		.known_failure = agent->failure.number,
	};

	member_request_add(&request, &body);
	line->asker->functions->ask(line->asker, agent->path, text_of(&body), body.len);
}

/* Before the first observation of the job there is no offer. */
static void call_if_due(struct agent *agent)
{
	instant now = loop_monotonic_now();

	if (agent->offer && member_is_call_due(&agent->member, now))
		send_member_request(agent, now);
	loop_timer_arm(agent->timer, member_wake_at(&agent->member));
}

static int open_line(struct agent *agent, size_t place, struct err *err);

static void close_line(struct agent_line *line)
{
	if (line->asker)
		line->asker->functions->free(line->asker);
	line->asker = NULL;
}

/* The server may have come back at another address. Only from the timer: an answer cannot replace
 * the line that it came on. */
static void follow_server(struct agent *agent)
{
	char *address CLEANUP(mem_free_text) = NULL;
	struct err err;

	if (!agent->lookup || !host_lookup_is_done(agent->lookup, &address))
		return;
	host_lookup_free(TAKE(agent->lookup));
	if (!address || text_equals(address, agent->server_address))
		return;
	free(agent->server_address);
	agent->server_address = TAKE(address);
	for (size_t i = 0; i < MEMBER_CALLS; i++) {
		close_line(&agent->lines[i]);
		member_lost_call(&agent->member, i, loop_monotonic_now());
		if (open_line(agent, i, &err) < 0)
			report_agent_trouble(agent, err.text);
	}
}

/* The third lost call in a row is reported, once. At first the server may be as young as we are. */
static bool is_loss_new(const struct agent *agent)
{
	msec silence = instant_since(agent->member.heard_at, loop_monotonic_now());

	return !agent->is_loss_told && agent->member.n_lost >= 3 &&
	       !agent->member.report.has_left && (agent->uid || silence >= STARTUP_TIME);
}

static void report_loss(struct agent *agent, const char *sentence)
{
	if (!agent->lookup && agent->member.n_lost > 1)
		agent->lookup = host_lookup_new(agent->request->host);
	if (!agent->member.report.has_left)
		text_keep(&agent->why, sentence);
	if (!is_loss_new(agent))
		return;
	agent->is_loss_told = true;
	char *told CLEANUP(mem_free_text) = mem_format(
		"%s; %s, and muster tries again", sentence,
		agent->member.has_workers ? "the processes keep running" : "nothing runs");

	report_agent_trouble(agent, told);
}

static void on_agent_timer(void *data)
{
	struct agent *agent = data;
	const struct agent_request *request = agent->request;
	enum member_end end = agent->member.end;
	int64_t wanted = member_wants(&agent->member);
	int n_lost = agent->member.n_lost;

	member_time(&agent->member, loop_monotonic_now());
	if (agent->member.n_lost > n_lost) {
		/* On this machine, the port may have been taken by a program that is no server of
		 * muster. */
		char *owner CLEANUP(mem_free_text) = request->serves_at && !agent->server
							     ? port_owner_name(request->port)
							     : NULL;
		char *sentence CLEANUP(mem_free_text) =
			mem_format("%s port %d does not answer%s%s%s", request->host, request->port,
				   owner ? " (the port belongs to " : "", owner ? owner : "",
				   owner ? ")" : "");

		report_loss(agent, sentence);
	}
	follow_server(agent);
	if (agent->member.end != end || member_wants(&agent->member) != wanted)
		notify_agent_news(agent);
	call_if_due(agent);
}

/* Answers. */

static int make_server(struct agent *agent, const struct listening *listening, struct err *err)
{
	const char *token = agent->request->token;
	const struct orchestrator_settings settings = {
		.loop = agent->settings.loop,
		.listening = listening,
		.tls = agent->request->tls,
		.access = {token ? http_is_same_secret : NULL, token},
		.folder = agent->request->server_folder,
		.lease = agent->request->lease,
		.on_idle =
			notify_agent_news, /* this server may end: all other machines have left */
		.data = agent,
	};

	return listening->fd < 0 ? 0 : orchestrator_new(&settings, &agent->server, err);
}

/* The server of the beginning had just ended, and was never reached: this agent replaces it. A
 * server that was reached is restarted by those who started it. */
static void serve_if_none_does(struct agent *agent)
{
	const struct agent_request *request = agent->request;
	struct err err = {0};

	if (!request->serves_at || agent->server || agent->uid ||
	    listening_open_port(request->serves_at, request->port, &agent->listening.fd, NULL) < 0)
		return;
	if (make_server(agent, &agent->listening, &err) == 0)
		return;
	report_agent_trouble(agent, err.text);
	listening_done(&agent->listening);
	agent->listening = (struct listening){.fd = -1};
}

static void handle_member_call_lost(struct agent *agent, size_t call, const char *sentence)
{
	member_lost_call(&agent->member, call, loop_monotonic_now());
	report_loss(agent, sentence);
}

/* Whether this machine's own name is an address that others reach it by: Debian makes it 127.0.1.1,
 * and in a container it may be unknown. A name whose lookup takes long is of no use either. */
static bool is_own_name_reachable(const struct agent *agent)
{
	char *found CLEANUP(mem_free_text) = NULL;
	struct in6_addr address;

	return host_lookup_is_done(agent->own_name, &found) && found &&
	       network_address_parse(found, &address) && !network_address_is_loopback(&address) &&
	       network_address_is_here(&address);
}

/* Its own address leads to the interface, unless that is a name; then another machine's does. */
static void find_interface(struct agent *agent, const struct world_cluster *cluster)
{
	free(TAKE(agent->interface));
	if (!agent->own_name || !cluster->peer_host || is_own_name_reachable(agent))
		return;
	agent->interface = own_host_interface_towards(agent->host);
	if (!agent->interface)
		agent->interface = own_host_interface_towards(cluster->peer_host);
}

/* Takes the arena over, unless the world cannot be parsed. */
static int apply_answered_world(struct agent *agent, const struct member_answer *answer,
				struct arena **arena, struct err *err)
{
	const struct world world = {
		.generation = answer->order.generation,
		.reason = answer->order.reason,
		.members = answer->members,
		.n_members = answer->n_members,
	};
	struct world_cluster cluster = {0};

	if (world_cluster_read(&world, agent->id, *arena, &cluster, err) < 0)
		return err_prefix(err, "world %" PRId64 " of the server", world.generation);
	arena_free(agent->world_arena);
	agent->world_arena = TAKE(*arena);
	agent->world = world;
	agent->member.report.last_rank = cluster.world.group;
	if (!agent->first_world)
		agent->first_world = world.generation;
	agent->cluster = cluster;
	find_interface(agent, &cluster);
	return 0;
}

/* By a command on another machine. */
static bool is_drained(const struct agent *agent)
{
	const struct member_report *report = &agent->member.report;

	return report->known.order == RENDEZVOUS_GO && report->known.verdict == RENDEZVOUS_OPEN &&
	       !report->drains && !agent->why;
}

/* Number of machines of the smallest world. */
static int count_needed(const struct member_terms *terms)
{
	return (terms->min + terms->unit - 1) / terms->unit * terms->unit;
}

static bool are_too_few(const struct agent *agent, const struct member_answer *answer)
{
	return answer->n_joined && answer->n_joined < count_needed(&agent->request->terms);
}

/* "waiting for more machines (1 of 2)" */
static void add_waiting(struct agent *agent, const struct member_answer *answer, struct text *news)
{
	if (are_too_few(agent, answer))
		text_addf(news, "waiting for more machines (%d of %d)", answer->n_joined,
			  count_needed(&agent->request->terms));
	else if (agent->world.generation)
		text_add(news, "waiting for the next world");
	else
		text_addf(news, "waiting for a place in the world, which has at most %d machine%s",
			  agent->request->terms.max, agent->request->terms.max == 1 ? "" : "s");
	agent->n_joined = answer->n_joined;
	agent->joined_told_at = loop_monotonic_now();
}

/* If no restart is left, the end follows soon. */
static void add_wait(struct agent *agent, const struct member_answer *answer, struct text *news)
{
	if (answer->order.is_last)
		return;
	if (!agent->world.generation)
		text_addf(news, "joined job '%s' at %s port %d, ", agent->request->job_id,
			  agent->request->host, agent->request->port);
	add_waiting(agent, answer, news);
	if (agent->world.generation)
		text_addf(news, ": %s", world_reason_sentences[answer->order.reason]);
}

/* "world 3: this machine has ranks 2 to 3 of 6 (more machines have joined)" */
static void add_own_ranks(const struct agent *agent, const struct member_order *order,
			  struct text *news)
{
	const struct tf_cluster_world *world = &agent->cluster.world;

	text_addf(news, "world %" PRId64 ": this machine has rank%s ", agent->world.generation,
		  agent->n_processes == 1 ? "" : "s");
	replica_names_add_ranks(news, world->first_rank, agent->n_processes, world->size);
	text_addf(news, " (%s)", world_reason_sentences[order->reason]);
}

static void make_news(struct agent *agent, const struct member_answer *answer)
{
	const struct world *world = &agent->world;
	const struct member_order *order = &answer->order;
	bool is_alone = world->n_members == 1 && world->generation == 1;
	struct text news CLEANUP(text_done) = {0};

	if (order->order == RENDEZVOUS_RUN && !is_alone)
		add_own_ranks(agent, order, &news);
	else if (order->is_excluded)
		text_addf(&news,
			  "this machine was set aside, because its processes were the first to "
			  "fail %d times; it trains again if too few other machines are left",
			  RENDEZVOUS_MACHINE_FAILURES);
	else if (order->order == RENDEZVOUS_WAIT)
		add_wait(agent, answer, &news);
	else if (is_drained(agent) && agent->server && world->n_members > 1)
		text_add(&news, "this machine was drained; its agent stays as the job's server "
				"until the other machines have ended");
	else if (is_drained(agent))
		text_add(&news, "this machine was drained, and leaves the job");
	if (news.len)
		agent->news = text_take(&news);
}

/* While there are too few machines. */
static void make_news_of_count(struct agent *agent, const struct member_answer *answer)
{
	struct text news CLEANUP(text_done) = {0};
	bool is_due = instant_since(agent->joined_told_at, loop_monotonic_now()) >= COUNT_SPACING;

	if (!are_too_few(agent, answer) || answer->n_joined == agent->n_joined || !is_due ||
	    answer->order.is_last || agent->news)
		return;
	add_waiting(agent, answer, &news);
	agent->news = text_take(&news);
}

static bool is_same_world_failure(const struct failure *a, const struct failure *b)
{
	return a && b && a->attempt == b->attempt && text_equals(a->machine, b->machine);
}

/* A failure of a world in which this machine took part is reported once: a later version of it only
 * has more consequences. */
static void accept_world_failure(struct agent *agent, const struct member_answer *answer)
{
	const struct failure *failure = answer->failure;
	bool is_own = is_same_world_failure(failure, agent->own_failure);

	agent->failure.number = answer->failure_number;
	if (!failure)
		return;
	if (!is_same_world_failure(failure, agent->failure.first))
		agent->is_failure_news =
			agent->first_world && failure->attempt >= agent->first_world && !is_own;
	world_failure_restore(&agent->failure, failure, answer->failure_number);
	if (is_own)
		agent->failure.first->machine = agent->failure.first->machine_job = NULL;
}

static int accept_member_answer(struct agent *agent, size_t call,
				const struct member_answer *answer, struct arena **arena,
				struct err *err)
{
	const struct member_order *order = &answer->order;
	struct member_order known = agent->member.report.known;
	bool is_first = !agent->uid;
	bool lacks_world =
		order->order == RENDEZVOUS_RUN && order->generation != agent->world.generation;

	if (member_is_answer_late(&agent->member, call)) {
		member_answered(&agent->member, call, order, loop_monotonic_now());
		return 0;
	}
	int rc = lacks_world ? apply_answered_world(agent, answer, arena, err) : 0;

	if (rc < 0)
		return rc;
	text_keep(&agent->uid, answer->uid);
	agent->restarts = answer->restarts;
	accept_world_failure(agent, answer);
	member_answered(&agent->member, call, order, loop_monotonic_now());
	if (is_first || !member_order_equals(&known, &agent->member.report.known)) {
		free(TAKE(agent->news));
		make_news(agent, answer);
	} else {
		make_news_of_count(agent, answer);
	}
	if (agent->n_joined == 0)
		agent->n_joined = answer->n_joined;
	return 0;
}

/* A server that cannot be understood counts as missing. */
static void on_whole_answer(struct agent *agent, size_t call, const struct json *body)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct member_answer answer;
	struct err err = {0};
	int rc = member_answer_read(body, arena, &answer, &err);

	if (rc == 0 && !agent->member.report.has_left) { /* else it is the reason for leaving */
		free(TAKE(agent->why));
		if (agent->is_loss_told)
			report_agent_trouble(agent, "the job's server responds again");
		agent->is_loss_told = false;
	}
	if (rc == 0)
		rc = accept_member_answer(agent, call, &answer, &arena, &err);
	if (rc < 0)
		handle_member_call_lost(agent, call, err.text);
}

static void handle_member_refused(struct agent *agent, size_t call, const char *sentence)
{
	text_keep(&agent->why, sentence);
	member_refused(&agent->member, call, loop_monotonic_now());
}

/* One side does not know the token or the key of the other. Once a job was joined, a user may fix
 * that while its processes run. */
static void lack_trust(struct agent *agent, size_t call, const char *sentence)
{
	if (agent->uid)
		handle_member_call_lost(agent, call, sentence);
	else
		handle_member_refused(agent, call, sentence);
}

/* Host and a random part: "node1-5f0c77e19a3b". */
static void make_id(struct agent *agent)
{
	char host[256] = "", *uid CLEANUP(mem_free_text) = job_uid_new();

	gethostname(host, sizeof(host) - 1);
	char *name CLEANUP(mem_free_text) = name_to_dns1035(host, 40, "machine");

	free(agent->id);
	free(agent->path);
	agent->id = mem_format("%s-%.8s%.4s", name, uid, uid + 9);
	agent->path = mem_format("/v1/jobs/%s/members/%s", agent->request->job_id, agent->id);
}

/* The server had lost this member, and now another agent has its id: it joins as a new one. What
 * was asked under the old id is not waited for. */
static void join_anew(struct agent *agent, const char *sentence)
{
	char *told CLEANUP(mem_free_text) = mem_format("%s; it joins again as a new one", sentence);
	instant now = loop_monotonic_now();

	make_id(agent);
	if (agent->liveness)
		liveness_port_rename(agent->liveness, agent->id);
	for (size_t i = 0; i < MEMBER_CALLS; i++)
		member_lost_call(&agent->member, i, now);
	report_agent_trouble(agent, told);
}

static void on_refusal(struct agent *agent, size_t call, int status, const struct json *body)
{
	const char *said = json_get_string(body, "error", NULL);
	char *sentence CLEANUP(mem_free_text) =
		said ? mem_copy_bytes(said, line_text_whole_characters(
						    said, strnlen(said, LONGEST_REFUSAL)))
		     : NULL;
	char *other CLEANUP(mem_free_text) =
		mem_format("what responds at %s port %d with %d is not a server of muster",
			   agent->request->host, agent->request->port, status);
	char *wrong_token CLEANUP(mem_free_text) =
		mem_format("the job's server %s: %s",
			   agent->request->token ? "has another token" : "needs its token",
			   agent->request->token_advice);
	bool is_final = body && (status == 400 || status == 409 || status == 410);

	/* The other answers come from a server that is not ours, or not ready. */
	if (status == 401)
		lack_trust(agent, call, wrong_token);
	else if (status == 403 && sentence)
		join_anew(agent, sentence);
	else if (is_final)
		handle_member_refused(agent, call, sentence ? sentence : other);
	else
		handle_member_call_lost(agent, call, sentence ? sentence : other);
}

static void on_orchestrator_answer(int status, const void *bytes, size_t len, const struct err *err,
				   void *data)
{
	const struct agent_line *line = data;
	struct agent *agent = line->agent;
	struct json *body CLEANUP(json_cleanup) = NULL;

	if (!agent->member.calls[line->place].is_open) /* it took too long */
		return;
	if (!status && err->code == ERR_REFUSED) {
		lack_trust(agent, line->place, err->text);
	} else if (!status) {
		handle_member_call_lost(agent, line->place, err->text);
		serve_if_none_does(agent);
	} else if (json_read(bytes ? bytes : "", len, &body, NULL) == 0 && status == 200) {
		on_whole_answer(agent, line->place, body);
	} else {
		on_refusal(agent, line->place, status, body);
	}
	notify_agent_news(agent);
	call_if_due(agent);
}

/* Observing. */

/* Of the processes of the member's own generation, and whether any process is live. */
static void report(struct agent *agent, const struct observed *observed)
{
	int n_failed = 0, n_succeeded = 0, n_asking = 0; /* for a restart */
	bool is_any_live = false;

	if (!agent->member.has_workers)
		return;
	for (size_t i = 0; i < observed->n_replicas; i++) {
		const struct observed_replica *object = &observed->replicas[i];
		bool is_own = object->attempt == agent->member.report.generation;

		is_any_live |= observed_is_live(object);
		n_succeeded += is_own && object->phase == OBSERVED_SUCCEEDED;
		if (!is_own || object->phase != OBSERVED_FAILED ||
		    observed_was_asked_to_end(object))
			continue;
		n_asking += member_code_asks_restart(object->exit_code);
		n_failed += !member_code_asks_restart(object->exit_code);
	}
	if (n_failed)
		member_failed(&agent->member);
	else if (n_asking)
		member_wants_restart(&agent->member);
	if (!is_any_live)
		member_ended(&agent->member, n_succeeded == agent->n_processes,
			     loop_monotonic_now());
}

/* NULL: the verdict says it all. */
static const char *explain_verdict(const struct agent *agent, enum rendezvous_verdict verdict,
				   struct arena *arena)
{
	const struct member_terms *terms = &agent->request->terms;
	struct text text CLEANUP(text_done) = {0};

	if (agent->why || verdict != RENDEZVOUS_TIMED_OUT || agent->n_joined == 0)
		return arena_copy_text(arena, agent->why);
	text_addf(&text, "only %d of %d machine%s took part for ", agent->n_joined,
		  count_needed(terms), count_needed(terms) == 1 ? "" : "s");
	text_add_duration(&text, terms->join_time);
	text_add(&text, " (limit: --rdzv-conf join_timeout)");
	return arena_copy_text(arena, text_of(&text));
}

static void observe_member_order(struct agent *agent, struct arena *arena)
{
	const struct member *member = &agent->member;
	const struct member_order *order = &member->report.known;
	bool is_over = member->end != MEMBER_GOES_ON;
	const struct member_terms *terms = &agent->request->terms;
	bool may_serve_on = order->verdict != RENDEZVOUS_OPEN || is_drained(agent);

	free(agent->seen_news);
	agent->seen_news = TAKE(agent->news);
	agent->seen = (struct observed_world){
		.generation = (int) member_wants(member),
		.size = (int) agent->world.n_members,
		.ranks_of = (int) agent->world.generation,
		.first_rank = agent->cluster.world.first_rank,
		.n_ranks = agent->cluster.world.size,
		.may_save = member_may_save(member),
		.ends_by_failure = terms->max == 1 && terms->restarts.most == 0,
		.is_over = is_over &&
			   !(may_serve_on && agent->server && !orchestrator_is_idle(agent->server)),
		.verdict = order->verdict,
		.why = explain_verdict(agent, order->verdict, arena),
		.news = agent->seen_news,
		.failure = agent->failure.first,
		.is_failure_news = agent->is_failure_news,
	};
	agent->is_failure_news = false;
}

static struct offer offer_of(const struct agent *agent)
{
	return (struct offer){
		.host = agent->host,
		.role = agent->request->role_name,
		.n_processes = agent->n_processes,
		.ports = agent->ports,
	};
}

static bool reserve_offered_port(int number, void *data)
{
	return port_reservations_take(data, number);
}

/* On the first observation; the claims last as long as the job. */
static int make_offer(struct agent *agent, const struct job *job, struct err *err)
{
	int n_processes = job_replica_count(job);
	size_t n_ports = offer_port_count(n_processes);
	int *ports CLEANUP(mem_free_any) = mem_new_array(n_ports, sizeof(*ports));
	struct claim_request request = {
		.kind = CLAIM_PORT,
		.owner_uid = job->uid,
		.count = n_ports,
		.is_free = reserve_offered_port,
		.data = &agent->reserved,
	};
	struct text text CLEANUP(text_done) = {0};
	int rc = port_range(&request.low, &request.high, err);

	if (rc == 0)
		rc = agent->settings.claims->functions->claim(agent->settings.claims, &request,
							      ports, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; agent->request->own_port && i < n_ports; i += (size_t) n_processes + 1)
		ports[i] = agent->request->own_port;
	agent->job_name = mem_copy_text(job->name);
	agent->n_processes = n_processes;
	agent->ports = TAKE(ports);
	const struct offer offer = offer_of(agent);

	offer_add(&offer, &text);
	agent->offer = text_take(&text);
	return 0;
}

static int agent_observe(struct backend *backend, const struct job *job, struct arena *arena,
			 struct observed *ret_observed, struct err *err)
{
	struct agent *agent = elastic_agent_of(backend);
	int rc = agent->offer ? 0 : make_offer(agent, job, err);

	if (rc == 0)
		rc = agent->processes->functions->observe(agent->processes, job, arena,
							  ret_observed, err);
	if (rc < 0)
		return rc;
	if (job->stop_reason)
		member_drain(&agent->member, loop_monotonic_now());
	const struct offer offer = offer_of(agent);

	report(agent, ret_observed);
	observe_member_order(agent, arena);
	/* The addresses of the present world, if any, else those of the offer. */
	for (size_t i = 0; agent->world.generation && i < ret_observed->n_addresses; i++) {
		struct observed_address *address = &ret_observed->addresses[i];

		if (address->index < agent->n_processes)
			address->address = offer_address(&offer, agent->world.generation,
							 address->index, arena);
	}
	ret_observed->world = &agent->seen;
	/* After this pass, so that a failure is reported with what the pass finds out about it. */
	loop_timer_arm(agent->timer, member_wake_at(&agent->member));
	return 0;
}

/* Unless there are newer ones. */
static void agent_observe_again(struct backend *backend)
{
	struct agent *agent = elastic_agent_of(backend);

	if (!agent->news)
		agent->news = TAKE(agent->seen_news);
	agent->is_failure_news |= agent->seen.is_failure_news;
}

/* Acting. */

void agent_join_world(struct tf_cluster *cluster, struct arena *arena, void *data)
{
	struct agent *agent = data;
	struct tf_cluster_world *world = arena_take(arena, sizeof(*world));

	*world = agent->cluster.world;
	world->job_id = agent->request->job_id;
	world->role_name = agent->request->role_name;
	world->has_virtual_local_rank = agent->request->has_virtual_local_rank;
	world->interface = arena_copy_text(arena, agent->interface);
	world->machine = agent->request->machine;
	world->restarts = agent->restarts;
	world->max_restarts = agent->request->terms.restarts.most;
	cluster->world = world;
	if (!agent->report_folder)
		agent->report_folder = mem_copy_text(cluster->report_folder);
	cluster->dense_cluster = agent->cluster.dense_cluster;
	cluster->coordinator_host = agent->cluster.coordinator_host;
	cluster->coordinator_port = agent->cluster.coordinator_port;
	if (!agent->request->master_host)
		return;
	cluster->coordinator_host = agent->request->master_host;
	cluster->coordinator_port = agent->request->master_port;
}

static int agent_apply(struct backend *backend, const struct job *job, const struct action *action,
		       struct err *err)
{
	struct agent *agent = elastic_agent_of(backend);
	int rc = agent->processes->functions->apply(agent->processes, job, action, err);

	if (rc == 0 && action->type == ACTION_START &&
	    agent->member.report.generation != action->attempt) {
		free(agent->machine);
		agent->machine = mem_format("%s (machine %d)", agent->host,
					    world_rank(&agent->world, agent->id));
		member_started(&agent->member, action->attempt, loop_monotonic_now());
		call_if_due(agent);
	}
	return rc;
}

static int agent_last_lines(struct backend *backend, const struct job *job, const char *role,
			    int index, int attempt, size_t most, struct arena *arena,
			    struct printed *ret_printed, struct err *err)
{
	struct backend *processes = elastic_agent_of(backend)->processes;

	return processes->functions->last_lines(processes, job, role, index, attempt, most, arena,
						ret_printed, err);
}

static int agent_last_stacks(struct backend *backend, struct arena *arena, const char ***ret_lines,
			     size_t *ret_count, struct err *err)
{
	struct backend *processes = elastic_agent_of(backend)->processes;

	return processes->functions->last_stacks(processes, arena, ret_lines, ret_count, err);
}

static void agent_report_failure(struct backend *backend, const struct failure *failure)
{
	struct agent *agent = elastic_agent_of(backend);

	if (!failure->role || failure->machine ||
	    failure->attempt != agent->member.report.generation)
		return;
	struct arena *arena = arena_new();
	struct failure *copy = status_failure_copy(failure, arena);

	agent->own_failure = world_failure_report(copy, arena_copy_text(arena, agent->machine),
						  agent->job_name, arena);
	arena_free(agent->own_failure_arena);
	agent->own_failure_arena = arena;
	member_explained(&agent->member);
	call_if_due(agent);
}

static void agent_free(struct backend *backend)
{
	struct agent *agent = elastic_agent_of(backend);

	if (agent->processes)
		agent->processes->functions->free(agent->processes);
	for (size_t i = 0; i < MEMBER_CALLS; i++)
		close_line(&agent->lines[i]);
	host_lookup_free(agent->lookup);
	host_lookup_free(agent->own_name);
	free(agent->server_address);
	liveness_port_free(agent->liveness);
	orchestrator_free(agent->server);
	listening_done(&agent->listening);
	loop_watch_free(agent->timer);
	arena_free(agent->world_arena);
	arena_free(agent->own_failure_arena);
	world_failure_done(&agent->failure);
	free(agent->id);
	mem_free_secret(&agent->key);
	free(agent->host);
	free(agent->interface);
	free(agent->path);
	free(agent->offer);
	free(agent->job_name);
	free(agent->report_folder);
	free(agent->machine);
	free(agent->ports);
	port_reservations_done(&agent->reserved);
	free(agent->uid);
	free(agent->why);
	free(agent->news);
	free(agent->seen_news);
	free(agent);
}

static const struct backend_functions agent_functions = {
	.name = "agent",
	.observe = agent_observe,
	.observe_again = agent_observe_again,
	.apply = agent_apply,
	.last_lines = agent_last_lines,
	.last_stacks = agent_last_stacks,
	.take_failure = agent_report_failure,
	.free = agent_free,
};

/* Creation and end. */

static int open_line(struct agent *agent, size_t place, struct err *err)
{
	const struct agent_request *request = agent->request;
	struct agent_line *line = &agent->lines[place];
	const struct http_asker_settings settings = {
		.host = request->host,
		.address = agent->server_address,
		.port = request->port,
		.token = request->token,
		.pin = request->pin,
		.pin_advice = request->pin_advice,
		.answer_limit = LIMIT_MEMBER_ANSWER,
		.patience = MEMBER_HOLD + ANSWER_TIME + MSEC_PER_SECOND, /* exceeds the member's */
		.on_answer = on_orchestrator_answer,
		.data = line,
	};

	*line = (struct agent_line){.agent = agent, .place = place};
	return request->new_asker(agent->settings.loop, &settings, &line->asker, err);
}

/* Without a liveness port only the lease says that this agent is lost. */
static int reach_server(struct agent *agent, struct err *err)
{
	char *own CLEANUP(mem_free_text) = NULL;
	char name[HOST_NAME_MAX + 1] = "";
	const struct agent_request *request = agent->request;
	int rc = own_host_towards(request->host, request->port, &agent->server_address, &own, err);

	if (rc < 0)
		return rc;
	/* The server's name may be 127.0.1.1 on its machine, which the others know by that name. */
	bool has_server_name = network_address_names_loopback(own) &&
			       !network_address_names_loopback(request->host);

	agent->host = mem_copy_text(request->own_address ? request->own_address
				    : has_server_name    ? request->host
							 : own);
	if (!network_address_names_loopback(agent->host) &&
	    gethostname(name, sizeof(name) - 1) == 0)
		agent->own_name = host_lookup_new(name);
	agent->liveness = liveness_port_new(agent->settings.loop, own, agent->id, NULL);
	for (size_t i = 0; rc == 0 && i < MEMBER_CALLS; i++)
		rc = open_line(agent, i, err);
	return rc;
}

int agent_new(const struct agent_settings *settings, struct agent **ret_agent, struct err *err)
{
	const struct member_settings member = {
		.hold = MEMBER_HOLD,
		.answer_time = ANSWER_TIME,
		.isolation_time = ISOLATION_TIME,
		.patience = PATIENCE,
		.first_patience = settings->request->patience,
		.drain_time = DRAIN_TIME,
	};
	struct agent *agent = mem_new(sizeof(*agent));

	agent->backend.functions = &agent_functions;
	agent->settings = *settings;
	agent->request = settings->request;
	agent->listening.fd = -1;
	agent->timer = loop_new_timer(settings->loop, on_agent_timer, agent);
	member_begin(&agent->member, &member, loop_monotonic_now());
	agent->member.report.node_rank = settings->request->node_rank;
	agent->key = job_uid_new();
	agent->member.report.key = agent->key;
	make_id(agent);
	int rc = make_server(agent, settings->request->listening, err);

	if (rc == 0)
		rc = reach_server(agent, err);
	if (rc < 0)
		agent_free(&agent->backend);
	else
		*ret_agent = agent;
	return rc;
}

struct backend *agent_accept(struct agent *agent, struct backend *take_processes)
{
	agent->processes = take_processes;
	return &agent->backend;
}
