/* Random elastic jobs in a random world, in virtual time: agents and their server over a bad
 * network.
 *
 *     elastic [--runs N] [--first SEED]    until a run breaks a rule, whose seed is said
 *     elastic --seed S                     one run again
 *     elastic --crowd                      a thousand agents, some with a slow network
 *
 * Calls and answers are lost, late and doubled; connections take time to stand, end, and end for
 * one side only; agents are killed, freeze, and are cut off in either direction; the server is
 * away, and goes on with what it kept, with a backup (as after a full disk), or with nothing.
 * Workers train while all of their world are there, fail by chance, and end slowly. Then all goes
 * well, and the job has to end. */
#include "base/mem.h"
#include "rendezvous/json.h"
#include "rendezvous/member.h"
#include "sim/dice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START ((msec) 1000000)
#define FEW_AGENTS 7
#define MESSAGES_OF_ONE 60 /* under way at most, for each agent */
#define TICK 50
#define ID_SIZE 40
#define GOAL 300 /* ticks of a whole world at work */
#define TICKS_OF_HARM 1200
#define TICKS_TO_THE_END 6000

static const struct member_settings manner = {
	.hold = MSEC_PER_SECOND,
	.answer_time = 2 * MSEC_PER_SECOND,
	.isolation_time = 30 * MSEC_PER_SECOND,
	.patience = 100 * MSEC_PER_SECOND,
	.first_patience = 100 * MSEC_PER_SECOND,
	.drain_time = 2 * MSEC_PER_SECOND,
};

struct message {
	msec due; /* 0: the place is free */
	int agent; /* whose; one of this number that came since is another one */
	int life;
	size_t place; /* of the call, and its number */
	int64_t number;
	bool is_answer;
	struct member_report report;
	struct member_order order;
};

struct agent {
	int life; /* 0: there was none yet; each new one is another member */
	bool is_there;
	struct member member;
	bool stands[MEMBER_CALLS]; /* the connection of this place of a call */
	msec set_up_time; /* that another one takes */
	int64_t runs; /* a generation; 0: no workers */
	msec ends_at; /* of workers that were asked to end */
	msec frozen_until, deaf_until, mute_until;
	bool is_held; /* the server keeps a call of it */
	int64_t held_call;
	size_t held_place;
	struct member_order held_known;
	msec held_until;
};

struct play {
	struct dice dice;
	msec now;
	struct rendezvous_settings settings;
	struct rendezvous *rendezvous;
	msec server_back_at;
	struct json *backup; /* of what the server keeps; NULL: none was made */
	bool was_behind; /* a server went on with it */
	int n_agents, n_messages;
	struct agent *agents;
	struct message *messages;
	int n_trained;
	bool is_calm;
	bool has_places; /* a person gave each agent one */
	int bad; /* agent whose workers fail again and again; -1: none */
	int64_t last_generation;
	char first[ID_SIZE]; /* rank 0 of the last world */
	const char *broken; /* the first rule that did not hold; NULL */
};

static void hold(struct play *play, bool is_true, const char *rule)
{
	if (!is_true && !play->broken)
		play->broken = rule;
}

static const char *id_of(const struct play *play, int agent)
{
	static char id[ID_SIZE];

	snprintf(id, sizeof(id), "%d.%d", agent, play->agents[agent].life);
	return id;
}

static void post_once(struct play *play, const struct message *message, msec set_up_time)
{
	for (int i = 0; i < play->n_messages; i++)
		if (!play->messages[i].due) {
			play->messages[i] = *message;
			play->messages[i].due =
				play->now + 1 + set_up_time + dice_below(&play->dice, 40);
			if (!play->is_calm && dice_one_in(&play->dice, 20))
				play->messages[i].due += dice_below(&play->dice, 4000);
			return;
		}
}

static void post(struct play *play, const struct message *message)
{
	struct agent *agent = &play->agents[message->agent];
	msec cut_until = message->is_answer ? agent->deaf_until : agent->mute_until;
	bool must_connect = !message->is_answer && !agent->stands[message->place];
	msec set_up_time = must_connect ? agent->set_up_time : 0;

	if (play->now < cut_until || (!play->is_calm && dice_one_in(&play->dice, 25)))
		return;
	agent->stands[message->place] = true;
	post_once(play, message, set_up_time);
	if (!play->is_calm && dice_one_in(&play->dice, 25))
		post_once(play, message, set_up_time);
}

static bool is_server_there(const struct play *play)
{
	return play->now >= play->server_back_at;
}

/* The server. */

static void answer_call(struct play *play, int number, size_t place, int64_t call,
			const struct member_order *order)
{
	const struct message message = {
		.agent = number,
		.life = play->agents[number].life,
		.place = place,
		.number = call,
		.is_answer = true,
		.order = *order,
	};

	post(play, &message);
}

static void answer_held_call(struct play *play, int number)
{
	struct agent *agent = &play->agents[number];

	if (!agent->is_held)
		return;
	const struct member_order order =
		rendezvous_order_for(play->rendezvous, id_of(play, number));

	agent->is_held = false;
	answer_call(play, number, agent->held_place, agent->held_call, &order);
}

static void answer_held(struct play *play)
{
	for (int i = 0; i < play->n_agents; i++) {
		const struct agent *agent = &play->agents[i];

		if (!agent->is_held)
			continue;
		const struct member_order order =
			rendezvous_order_for(play->rendezvous, id_of(play, i));

		if (!member_order_equals(&order, &agent->held_known) ||
		    play->now >= agent->held_until)
			answer_held_call(play, i);
	}
}

/* Those that were set aside are taken where the others are too few, and lead none. */
static void check_aside(struct play *play, const struct world *world)
{
	const struct member_table *table = &play->rendezvous->members;
	size_t n_excluded = 0, n_others;

	for (size_t i = 0; i < table->count; i++) {
		const struct member_entry *entry = table->members[i];

		if (!entry->is_excluded || entry->is_leaving)
			continue;
		n_excluded += world_rank(world, entry->id) >= 0;
		if (strcmp(entry->id, play->first) == 0)
			*play->first = '\0';
	}
	n_others = world->n_members - n_excluded;
	n_others -= n_others % (size_t) play->settings.terms.unit;
	hold(play, n_excluded == 0 || n_others < (size_t) play->settings.terms.min,
	     "a machine that was set aside trains only where others are too few");
}

/* It would take what it runs for this one. */
static void check_generation(struct play *play, const struct world *world)
{
	for (int i = 0; i < play->n_agents; i++)
		if (play->agents[i].is_there && world_rank(world, id_of(play, i)) >= 0)
			hold(play, play->agents[i].member.report.newest < world->generation,
			     "no member knows another world of its generation");
}

static void check_new_world(struct play *play, const struct world *world)
{
	const struct rendezvous_settings *settings = &play->settings;

	hold(play, world->n_members >= (size_t) settings->terms.min, "a world has MIN members");
	hold(play, world->n_members <= (size_t) settings->terms.max,
	     "a world has no more than MAX");
	hold(play, world->n_members % (size_t) settings->terms.unit == 0,
	     "a world has whole units");
	for (size_t i = 0; i < world->n_members; i++)
		hold(play, world_rank(world, world->members[i].id) == (int) i,
		     "a member has one rank");
	check_generation(play, world);
	check_aside(play, world);
	if (!play->has_places && *play->first && world->reason != WORLD_FORGOTTEN &&
	    member_table_find(&play->rendezvous->members, play->first))
		hold(play,
		     rendezvous_order_for(play->rendezvous, play->first).order == RENDEZVOUS_GO ||
			     world_rank(world, play->first) == 0,
		     "rank 0 stays the same member for as long as that is there");
	snprintf(play->first, sizeof(play->first), "%s", world->members[0].id);
}

/* Also when it was not chosen for the next one. */
static void check_orders(struct play *play, const struct world *world)
{
	for (int i = 0; i < play->n_agents; i++) {
		const char *id = id_of(play, i);

		if (rendezvous_order_for(play->rendezvous, id).order == RENDEZVOUS_RUN)
			hold(play,
			     world_rank(world, id) ==
				     member_table_find(&play->rendezvous->members, id)->rank,
			     "who is to run is in the world");
	}
}

static void check_server(struct play *play)
{
	const struct world *world = &play->rendezvous->world;

	if (play->n_agents == FEW_AGENTS) /* it takes long */
		check_orders(play, world);
	hold(play, world->generation >= play->last_generation, "generations go up");
	if (world->generation > play->last_generation)
		check_new_world(play, world);
	play->last_generation = world->generation;
	if (!member_table_find(&play->rendezvous->members, play->first))
		*play->first = '\0';
}

static void serve(struct play *play, const struct message *message)
{
	static const char offer[] = "{\"host\":\"a\",\"ports\":[1,2,3,4,5,6,7,8]}";
	struct agent *agent = &play->agents[message->agent];

	/* What an earlier agent said comes from a member that is gone, or soon will be. */
	if (message->life != agent->life)
		return;
	struct member_report report = message->report;

	if (report.activity == MEMBER_HAS_FAILED && dice_one_in(&play->dice, 2))
		report.is_cause = true;
	answer_held_call(play, message->agent);
	int rc = member_call_apply(play->rendezvous, id_of(play, message->agent), &report, offer,
				   (instant){play->now}, NULL);
	check_server(play);
	if (rc < 0 && rc != ERR_REFUSED)
		return; /* it came after a later call */
	if (message->report.has_left) {
		answer_call(play, message->agent, message->place, message->number,
			    &message->report.known);
		return;
	}
	agent->is_held = true;
	agent->held_call = message->number;
	agent->held_place = message->place;
	agent->held_known = message->report.known;
	agent->held_until = play->now + manner.hold;
}

static void run_server(struct play *play)
{
	const struct rendezvous_event time = {.type = RENDEZVOUS_TIME};

	if (!is_server_there(play))
		return;
	if (rendezvous_wake_at(play->rendezvous).since_boot <= play->now)
		(void) rendezvous_step(play->rendezvous, &time, (instant){play->now}, NULL);
	check_server(play);
	answer_held(play);
}

/* For both sides, or for one of them. */
static void end_connections(struct play *play, int number)
{
	struct agent *agent = &play->agents[number];
	int sides = dice_below(&play->dice, 3);

	if (sides != 0)
		agent->is_held = false;
	for (size_t i = 0; i < MEMBER_CALLS && sides != 1; i++) {
		agent->stands[i] = false;
		if (agent->is_there)
			member_lost_call(&agent->member, i, (instant){play->now});
	}
}

static struct json *kept_by_server(const struct play *play)
{
	struct json *kept = json_new_object();

	rendezvous_record_set(kept, play->rendezvous, (instant){play->now});
	return kept;
}

static void back_up(struct play *play)
{
	json_free(play->backup);
	play->backup = kept_by_server(play);
}

/* Another server goes on with what was kept, which is no more than the JSON. */
static void restore_server(struct play *play, const struct json *kept)
{
	rendezvous_free(play->rendezvous);
	hold(play,
	     rendezvous_record_read(kept, &play->settings, (instant){play->server_back_at},
				    &play->rendezvous, NULL) == 0,
	     "what is kept is read");
}

static void restore_newest(struct play *play)
{
	struct json *kept CLEANUP(json_cleanup) = kept_by_server(play);

	restore_server(play, kept);
}

/* The record was damaged, or the newest could not be written. */
static void restore_backup(struct play *play)
{
	restore_server(play, play->backup);
	play->last_generation = play->rendezvous->world.generation;
	play->was_behind = true;
	*play->first = '\0';
}

/* Its folder is gone. */
static void restore_nothing(struct play *play)
{
	rendezvous_free(play->rendezvous);
	play->rendezvous = rendezvous_new(&play->settings, (instant){play->server_back_at});
	play->last_generation = 0;
	play->was_behind = true;
	*play->first = '\0';
}

/* All connections end, with the calls that are under way. */
static void take_server_away(struct play *play)
{
	play->server_back_at = play->now + 100 + dice_below(&play->dice, 8000);
	for (int i = 0; i < play->n_agents; i++)
		end_connections(play, i);
	for (int i = 0; i < play->n_messages; i++)
		if (!play->messages[i].is_answer)
			play->messages[i].due = 0;
	if (dice_one_in(&play->dice, 6))
		restore_nothing(play);
	else if (play->backup && dice_one_in(&play->dice, 3))
		restore_backup(play);
	else
		restore_newest(play);
}

/* Agents. */

static void come(struct play *play, struct agent *agent)
{
	*agent = (struct agent){.life = agent->life + 1, .is_there = true};
	agent->set_up_time = dice_one_in(&play->dice, 3) ? dice_below(&play->dice, 2000) : 0;
	member_begin(&agent->member, &manner, (instant){play->now});
	if (play->has_places)
		agent->member.report.node_rank = (int) dice_below(&play->dice, play->n_agents);
}

/* Its workers die with it. Its server learns it, unless no connection can say so. */
static void kill_agent(struct play *play, int number)
{
	struct agent *agent = &play->agents[number];
	const struct rendezvous_event lost = {.type = RENDEZVOUS_LOST, .id = id_of(play, number)};

	agent->is_there = agent->is_held = false;
	agent->runs = 0;
	if (!is_server_there(play) || !dice_one_in(&play->dice, 2))
		return;
	(void) rendezvous_step(play->rendezvous, &lost, (instant){play->now}, NULL);
	check_server(play);
}

static void start_workers(struct play *play, int number, int64_t generation)
{
	const struct world *world = &play->rendezvous->world;
	struct agent *agent = &play->agents[number];
	int n_running = 1;

	for (int i = 0; i < play->n_agents; i++)
		n_running += play->agents[i].runs == generation;
	/* An order may still come from a server that knew more, and told nobody else. */
	hold(play, play->was_behind || n_running <= play->settings.terms.max,
	     "no more than MAX run a world");
	hold(play, play->was_behind || generation <= world->generation,
	     "nobody runs a world before it is agreed upon");
	hold(play,
	     play->was_behind || generation < world->generation ||
		     world_rank(world, id_of(play, number)) >= 0,
	     "who runs a world is in it");
	agent->runs = generation;
	agent->ends_at = MSEC_NEVER;
	member_started(&agent->member, generation, (instant){play->now});
}

static void end_workers(struct play *play, struct agent *agent, bool have_succeeded)
{
	agent->runs = 0;
	member_ended(&agent->member, have_succeeded, (instant){play->now});
}

static void move_workers(struct play *play, int number)
{
	struct agent *agent = &play->agents[number];
	int64_t wanted = member_wants(&agent->member);

	if (!agent->runs) {
		if (wanted)
			start_workers(play, number, wanted);
	} else if (agent->runs != wanted && agent->ends_at == MSEC_NEVER) {
		agent->ends_at = play->now + dice_below(&play->dice, 3000);
	} else if (play->now >= agent->ends_at) {
		end_workers(play, agent, dice_one_in(&play->dice, 2));
	} else if (agent->runs == wanted && agent->ends_at == MSEC_NEVER) {
		if (play->n_trained >= GOAL)
			end_workers(play, agent, true);
		else if (!play->is_calm &&
			 dice_one_in(&play->dice, number == play->bad ? 30 : 1500))
			member_failed(&agent->member);
		else if (!play->is_calm && dice_one_in(&play->dice, 1500))
			member_wants_restart(&agent->member);
	}
}

static void run_agent(struct play *play, int number)
{
	struct agent *agent = &play->agents[number];
	struct member *member = &agent->member;

	if (!agent->is_there || play->now < agent->frozen_until)
		return;
	member_time(member, (instant){play->now});
	if (agent->runs)
		member_progressed(member, play->n_trained);
	move_workers(play, number);
	if (member->end != MEMBER_GOES_ON) {
		hold(play, !agent->runs, "an agent that ends leaves no worker");
		agent->is_there = false;
		return;
	}
	if (!member_is_call_due(member, (instant){play->now}))
		return;
	const struct world *world = &play->rendezvous->world;
	int rank = world_rank(world, id_of(play, number));

	if (member->report.newest == world->generation && rank >= 0)
		member->report.last_rank = rank;
	const size_t place = member_called(member, (instant){play->now});
	const struct message message = {
		.agent = number,
		.life = agent->life,
		.place = place,
		.number = member->calls[place].number,
		.report = member->calls[place].told,
	};

	post(play, &message);
}

static void deliver(struct play *play, struct message *message)
{
	struct agent *agent = &play->agents[message->agent];
	bool is_hers = agent->is_there && agent->life == message->life;

	if (message->is_answer && is_hers && play->now < agent->frozen_until)
		return; /* it waits in the kernel */
	if (message->is_answer && is_hers &&
	    message->number == agent->member.calls[message->place].number)
		member_answered(&agent->member, message->place, &message->order,
				(instant){play->now});
	else if (!message->is_answer && is_server_there(play))
		serve(play, message);
	message->due = 0;
}

/* Everything. */

static void train(struct play *play)
{
	int n_at_work = 0;

	for (int i = 0; i < play->n_agents; i++)
		n_at_work += play->agents[i].runs == play->last_generation &&
			     play->now >= play->agents[i].frozen_until;
	if (play->last_generation && (size_t) n_at_work == play->rendezvous->world.n_members)
		play->n_trained++;
}

static void tick(struct play *play)
{
	play->now += TICK;
	for (int i = 0; i < play->n_messages; i++)
		if (play->messages[i].due && play->messages[i].due <= play->now)
			deliver(play, &play->messages[i]);
	run_server(play);
	for (int i = 0; i < play->n_agents; i++)
		run_agent(play, i);
	train(play);
}

static void do_harm(struct play *play)
{
	int number = dice_below(&play->dice, play->n_agents);
	struct agent *agent = &play->agents[number];

	switch (agent->is_there ? dice_below(&play->dice, 9) : 9) {
	case 0:
		kill_agent(play, number);
		break;
	case 1:
		agent->frozen_until = play->now + dice_below(&play->dice, 12000);
		break;
	case 2:
		agent->deaf_until = play->now + dice_below(&play->dice, 12000);
		break;
	case 3:
		agent->mute_until = play->now + dice_below(&play->dice, 12000);
		break;
	case 4:
		agent->mute_until = agent->deaf_until = play->now + dice_below(&play->dice, 50000);
		break;
	case 5:
		member_drain(&agent->member, (instant){play->now});
		break;
	case 6:
		if (is_server_there(play))
			take_server_away(play);
		break;
	case 7:
		if (is_server_there(play))
			back_up(play);
		break;
	case 8:
		end_connections(play, number);
		break;
	case 9:
		come(play, agent);
		break;
	default:
		break;
	}
}

static bool is_over(const struct play *play)
{
	for (int i = 0; i < play->n_agents; i++)
		if (play->agents[i].is_there)
			return false;
	return play->rendezvous->phase == RENDEZVOUS_CLOSED;
}

static void calm_down(struct play *play)
{
	play->is_calm = true;
	for (int i = 0; i < play->n_agents; i++) {
		struct agent *agent = &play->agents[i];

		agent->frozen_until = agent->deaf_until = agent->mute_until = play->now;
		if (!agent->is_there && play->rendezvous->phase != RENDEZVOUS_CLOSED)
			come(play, agent);
	}
}

static struct rendezvous_settings any_settings(struct dice *dice)
{
	int unit = dice_one_in(dice, 4) ? 2 : 1;
	int min = unit * (1 + dice_below(dice, 3 / unit));

	return (struct rendezvous_settings){
		.terms.unit = unit,
		.terms.min = min,
		.terms.max = min + dice_below(dice, 4),
		.terms.join_time = 60 * MSEC_PER_SECOND,
		.terms.last_call = dice_below(dice, 3) * MSEC_PER_SECOND,
		.lease = 5 * MSEC_PER_SECOND,
		.terms.restarts =
			{
				.most = dice_one_in(dice, 3) ? 2 : -1,
				.window = dice_one_in(dice, 2) ? 20 * MSEC_PER_SECOND : 0,
				.max_no_progress = dice_one_in(dice, 3) ? 3 : 0,
			},
	};
}

static void open_play(struct play *play, int n_agents)
{
	play->n_agents = n_agents;
	play->n_messages = n_agents * MESSAGES_OF_ONE;
	play->agents = mem_new_array((size_t) play->n_agents, sizeof(*play->agents));
	play->messages = mem_new_array((size_t) play->n_messages, sizeof(*play->messages));
}

static void close_play(struct play *play)
{
	rendezvous_free(play->rendezvous);
	json_free(play->backup);
	free(play->agents);
	free(play->messages);
}

/* True when every rule held. */
static bool run(uint64_t seed)
{
	struct play play = {.dice = {seed}, .now = START};

	open_play(&play, FEW_AGENTS);
	play.settings = any_settings(&play.dice);
	play.has_places = dice_one_in(&play.dice, 4);
	play.bad = dice_one_in(&play.dice, 3) ? dice_below(&play.dice, play.n_agents) : -1;
	play.rendezvous = rendezvous_new(&play.settings, (instant){play.now});
	for (int i = 0; i < TICKS_OF_HARM; i++) {
		if (dice_one_in(&play.dice, 40))
			do_harm(&play);
		tick(&play);
	}
	calm_down(&play);
	for (int i = 0; i < TICKS_TO_THE_END && !is_over(&play); i++)
		tick(&play);
	hold(&play, is_over(&play), "in the end the job and all its agents end");
	if (play.broken)
		printf("seed %" PRIu64 ": it did not hold that %s\n", seed, play.broken);
	close_play(&play);
	return !play.broken;
}

/* One of a hundred needs two seconds for each connection, as after a lost packet or two. All have
 * news at once: that their processes run. */
static bool run_crowd(void)
{
	struct play play = {.dice = {1}, .now = START, .is_calm = true, .bad = -1};

	open_play(&play, 1000);
	play.settings = (struct rendezvous_settings){
		.terms.unit = 1,
		.terms.min = play.n_agents / 2,
		.terms.max = play.n_agents,
		.terms.join_time = 600 * MSEC_PER_SECOND,
		.lease = 5 * MSEC_PER_SECOND,
		.terms.last_call = 30 * MSEC_PER_SECOND,
	};
	play.rendezvous = rendezvous_new(&play.settings, (instant){play.now});
	for (int i = 0; i < play.n_agents; i++) {
		come(&play, &play.agents[i]);
		play.agents[i].set_up_time = i % 100 == 0 ? 2 * MSEC_PER_SECOND : 0;
	}
	for (int i = 0; i < 60 * MSEC_PER_SECOND / TICK; i++) {
		tick(&play);
		play.n_trained = 0; /* they do not end */
	}
	hold(&play, play.rendezvous->world.generation == 1, "one world is enough");
	hold(&play, play.rendezvous->world.n_members == (size_t) play.n_agents, "all train in it");
	for (int i = 0; i < play.n_agents; i++)
		hold(&play, play.agents[i].runs == 1, "each has workers");
	if (play.broken)
		printf("a thousand agents: it did not hold that %s\n", play.broken);
	close_play(&play);
	return !play.broken;
}

static unsigned long long number_of(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
	unsigned long long n_runs = 10000;
	unsigned long long first = 1;

	if (argc == 2 && strcmp(argv[1], "--crowd") == 0)
		return run_crowd() ? 0 : 1;
	for (int i = 1; i < argc; i += 2) {
		if (strcmp(argv[i], "--runs") == 0) {
			n_runs = number_of(argv[i + 1]);
		} else if (strcmp(argv[i], "--first") == 0) {
			first = number_of(argv[i + 1]);
		} else if (strcmp(argv[i], "--seed") == 0) {
			first = number_of(argv[i + 1]);
			n_runs = 1;
		} else {
			fprintf(stderr, "usage: elastic [--runs N] [--first SEED] | --seed SEED\n");
			return 2;
		}
	}
	for (unsigned long long seed = first; seed < first + n_runs; seed++)
		if (!run(seed))
			return 1;
	printf("%llu runs, every rule held\n", n_runs);
	return 0;
}
